"""Measures of gaits: from a recorded motion, or from a population while it runs.

`measure_gait` reads a simulated motion recorded at 100 frames a second or more; `record_for_measuring` records one at
every physics step. Falls and speeds alone do not show how a walker moves, so there are also the mean cycle of the leg
angles (to compare styles), the clearance between the legs (parts of one body need not collide), and the heading and
the posture of every row of a population.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.foot_contacts import LOADED_FORCE, footstrikes
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

_STRIDE = 2.0  # [s] over which yaw is averaged: the swing of the hips is not a change of heading
_LONGEST_FRAME = 0.011  # [s] 100 frames a second, rounded to physics steps
GRAVITY = 9.81
IN_PLACE = 0.3  # [m/s] a slower gait counts as in place


@dataclass(frozen=True)
class Gait:
    """Measures of a stretch of motion."""

    speed: float  # [m/s] of the root along its mean heading
    sideways: float  # [m/s] of the root across it, to the left
    cadence: float  # [steps/s] footstrikes of both feet
    step_length: float  # [m] distance the root travels per step, from the first to the last footstrike
    foot_spread_at_strike: float  # [m] mean distance between the feet at footstrikes, along the heading
    step_width: float  # [m] how far the left foot is left of the right one at footstrikes, on average; < 0 is crossed
    narrowest: float  # [m] the same at the narrowest footstrike
    sway: float  # [deg] half the peak-to-peak pitch of the torso
    roll: float  # [deg] largest roll of the torso to either side
    drift: float  # [deg] largest turn of the root, averaged over strides, from its heading at the beginning
    flight: float  # share of the time with no foot loaded
    cost_of_transport: float  # |mechanical power| / (weight · speed)
    slip: float  # metres that feet slid under load per metre travelled (per second of a gait in place)
    peak_torque: float  # [N·m]


def record_for_measuring(sim: Simulation, seconds: float) -> Motion:
    """Run a simulation and record every physics step, so that measures do not depend on a frame rate.

    Args:
        sim: is advanced.
        seconds: how long [s].
    """
    return sim.run(seconds, fps=1.0 / sim.model.opt.timestep)


def measure_gait(motion: Motion) -> Gait:
    """Measure a simulated motion.

    Args:
        motion: at least three frames, 100 or more a second: with fewer, short steps and short flights are missed.

    Raises:
        SurefootError: the motion was not simulated, is too short, or has too few frames a second.
    """
    if motion.scene is None or len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("only a simulated motion of some length can be measured")
    if np.median(np.diff(motion.time)) > _LONGEST_FRAME:
        raise SurefootError("a gait is measured at 100 frames a second or more; record the motion with a higher fps")
    duration = float(motion.time[-1] - motion.time[0])
    strikes, feet, ground = footstrikes(motion), foot_positions(motion), motion.root_position[:, :2]
    yaw = np.unwrap(root_yaw(motion))
    heading = float(yaw.mean())
    ahead, left = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    way = ground[-1] - ground[0]
    distance = float(np.hypot(*way))
    struck = [frame for frame, _ in strikes]
    apart = feet[struck, 0, :2] - feet[struck, 1, :2]
    widths = apart[:, 1] * np.cos(yaw[struck]) - apart[:, 0] * np.sin(yaw[struck])
    loaded = motion.contact_force[:, :, 2] > LOADED_FORCE
    model = motion.scene.model
    dofs = [model.joint(j).dofadr[0] for j in motion.scene.table.gains]
    power = np.abs(motion.torque * motion.qvel[:, dofs]).sum(axis=1)
    weight = float(model.body_mass.sum()) * GRAVITY
    slid = float((motion.slip[-1] - motion.slip[0]).sum())
    pitch = np.unwrap(torso_pitch(motion))
    return Gait(
        speed=float(way @ ahead) / duration,
        sideways=float(way @ left) / duration,
        cadence=len(strikes) / duration,
        step_length=float(np.hypot(*(ground[struck[-1]] - ground[struck[0]]) / (len(struck) - 1)))
        if struck[1:]
        else 0.0,
        foot_spread_at_strike=float(np.abs(apart @ ahead).mean()) if strikes else 0.0,
        step_width=float(widths.mean()) if strikes else 0.0,
        narrowest=float(widths.min()) if strikes else 0.0,
        sway=float(np.degrees(np.ptp(pitch)) / 2),
        roll=float(np.degrees(np.abs(body_roll(_torso(motion))).max())),
        drift=_drift(yaw, motion.time),
        flight=float((~loaded.any(axis=1)).mean()),
        cost_of_transport=float(power.mean() * duration / (weight * max(distance, 1e-9))),
        slip=slid / (distance if distance >= IN_PLACE * duration else duration),
        peak_torque=float(np.abs(motion.torque).max()),
    )


def _drift(yaw: np.ndarray, time: np.ndarray) -> float:
    """Largest turn of the yaw, averaged over `_STRIDE` seconds, from its first average [deg]."""
    frame = float(time[1] - time[0])
    if len(yaw) * frame < 2.0 * _STRIDE:
        return float(np.degrees(np.ptp(yaw)))
    mean = smoothed(yaw[:, None], _STRIDE, frame)
    return float(np.degrees(np.abs(mean - mean[0]).max()))


def foot_positions(motion: Motion) -> np.ndarray:
    """(n, 2, 3) ankles of the left and the right foot in the world [m]."""
    names = ("left_foot", "right_foot")
    if motion.scene:
        names = (motion.scene.table.anatomy.left.foot, motion.scene.table.anatomy.right.foot)
    return world_poses(motion)[0][:, [motion.skeleton.names.index(name) for name in names]]


def root_yaw(motion: Motion) -> np.ndarray:
    """(n,) world yaw of the root body, or of the pelvis of a body from a file [rad], within ± π."""
    turns = motion.rotations[:, 0]
    if motion.scene and motion.scene.table.imported:
        turns = _from_upright(motion, motion.scene.table.anatomy.pelvis)
    return yaw_angles(turns)


def yaw_angles(turns: np.ndarray) -> np.ndarray:
    """(n,) yaw of (n, 4) orientations, within ± π [rad]."""
    forward = quat.rotate(turns, np.array([1.0, 0.0, 0.0]))
    return np.asarray(np.arctan2(forward[:, 1], forward[:, 0]))


def _from_upright(motion: Motion, part: str) -> np.ndarray:
    """(n, 4) rotations of a part from its orientation while the body stands upright and faces x."""
    turns = world_poses(motion)[1][:, motion.skeleton.names.index(part)]
    imported = motion.scene.table.imported if motion.scene else None
    if imported is None or part not in imported.limbs.rest:
        return turns
    return quat.multiply(turns, quat.inverse(np.array(imported.limbs.rest[part])))


def _torso(motion: Motion) -> np.ndarray:
    return _from_upright(motion, motion.scene.table.anatomy.torso if motion.scene else motion.skeleton.names[0])


def body_roll(turns: np.ndarray) -> np.ndarray:
    """(n,) roll of (n, 4) orientations: how much the part's left side points up [rad]."""
    return np.asarray(np.arcsin(np.clip(quat.rotate(turns, np.array([0.0, 1.0, 0.0]))[:, 2], -1.0, 1.0)))


def torso_pitch(motion: Motion) -> np.ndarray:
    """(n,) world pitch of the torso [rad], positive leaning back."""
    turns = _torso(motion)
    up = quat.rotate(turns, np.array([0.0, 0.0, 1.0]))
    ahead = quat.rotate(turns, np.array([1.0, 0.0, 0.0]))
    if np.allclose(turns[:, [1, 3]], 0.0):  # planar: any number of turns over head and heels
        return np.asarray(np.arctan2(ahead[:, 2], ahead[:, 0]))
    return np.asarray(np.arctan2(ahead[:, 2], up[:, 2]))


PHASES = 100  # points of the common phase grid
ANGLES = tuple(f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle"))


def mean_cycle(motion: Motion) -> np.ndarray | None:
    """(PHASES, 7) flexions [rad] of hip, knee and ankle, left then right, and pitch of the torso, over the mean cycle.

    A cycle lasts from one footstrike of the right foot to the next. Every whole cycle is sampled at the same evenly
    spaced phases, the first at the footstrike, and the samples are averaged.

    Returns:
        None if the motion holds no whole cycle.
    """
    if motion.scene is None:
        raise SurefootError("only a simulated motion has a style to compare")
    model = motion.scene.model
    columns = [int(model.joint(name).qposadr[0]) for name in ANGLES]
    angles = np.column_stack([motion.qpos[:, columns], np.unwrap(torso_pitch(motion))])
    right = [frame for frame, foot in footstrikes(motion) if foot == 1]
    cycles = [
        [np.interp(np.linspace(first, last, PHASES, endpoint=False), range(len(motion)), a) for a in angles.T]
        for first, last in pairwise(right)
    ]
    return np.mean(cycles, axis=0).T if cycles else None


def style_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Root mean square difference of two mean cycles, over all phases and all seven angles [deg]."""
    return float(np.degrees(np.sqrt(((one - other) ** 2).mean())))


_FAR = 0.5  # [m] beyond which distances do not matter
_FPS = 50.0  # frames per second at which the clearance is measured


def leg_clearance(motion: Motion) -> float:
    """Smallest distance between the solid parts of the left and of the right leg [m]; negative if they overlap."""
    if motion.scene is None or not len(motion):
        raise SurefootError("only a simulated motion has legs whose distance can be measured")
    model, anatomy = motion.scene.model, motion.scene.table.anatomy
    left, right = (_solids(model, model.body(side.thigh).id) for side in (anatomy.left, anatomy.right))
    data, nearest = mujoco.MjData(model), _FAR
    every = max(1, round(1.0 / (_FPS * float(motion.time[1] - motion.time[0])))) if len(motion) > 1 else 1
    for qpos in motion.qpos[::every]:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        for one in left:
            for other in right:
                nearest = min(nearest, mujoco.mj_geomDistance(model, data, one, other, _FAR, None))
    return float(nearest)


def _solids(model: mujoco.MjModel, top: int) -> list[int]:
    """Geoms that can touch something, of a body and of everything attached below it."""
    bodies = {top}
    for body in range(top + 1, model.nbody):
        if int(model.body_parentid[body]) in bodies:
            bodies.add(body)
    geoms = np.flatnonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    return [int(geom) for geom in geoms if int(model.geom_bodyid[geom]) in bodies]


EVERY = 0.05  # [s] between two samples of the heading


def track_heading(
    population: Population, seconds: float, tell: Callable[[float], None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Run a population and sample the heading and the place of every row each `EVERY` seconds.

    Args:
        population: of a body in space; rows that fall stop.
        seconds: how long [s].
        tell: called before every sample with the time since the beginning [s].

    Returns:
        (samples, n) yaws of the roots, unwrapped [rad], and (samples, n, 2) their places [m].
    """
    yaws, places = [], []
    for sample in range(round(seconds / EVERY)):
        if tell is not None:
            tell(sample * EVERY)
        population.run(EVERY, stop_fallen=True)
        yaws.append(yaw_angles(population.qpos[:, 3:7]))
        places.append(population.qpos[:, :2].copy())
    return np.unwrap(np.array(yaws), axis=0), np.array(places)


def smoothed(values: np.ndarray, seconds: float, every: float = EVERY) -> np.ndarray:
    """(samples − k + 1, n) running means of (samples, n) values over the k samples of about `seconds`.

    Args:
        values: (samples, n).
        seconds: over which to average, e.g. a stride [s].
        every: time between two samples [s].
    """
    count = max(1, round(seconds / every))
    window = np.full(count, 1.0 / count)
    return np.stack([np.convolve(column, window, mode="valid") for column in values.T], axis=1)


_SAMPLE = 0.02  # [s] between two samples of the posture
NARROW, ROLLED, TURNED = 0.06, 0.12, 0.03  # [m], [rad], [rad] what still looks like a person walking


@dataclass(frozen=True)
class Posture:
    """Measures (n,) of the rows of a population over a stretch of time."""

    width: np.ndarray  # [m] between the ankles across the heading, nearly the smallest; < 0 is crossed
    roll: np.ndarray  # [rad] largest of the torso
    turn: np.ndarray  # [rad] of the pelvis away from its heading, on average
    flight: np.ndarray  # share of the time with no foot loaded

    def costs(self) -> np.ndarray:
        """(n,) penalties for crossed legs, for rolling and for turning; 0 is none of them."""
        crossed = 10.0 * np.clip(NARROW - self.width, 0.0, 0.3)
        leaning = 4.0 * np.clip(self.roll - ROLLED, 0.0, 1.0)
        return np.asarray(crossed + leaning + np.clip(self.turn - TURNED, 0.0, 1.0))


def track_posture(population: Population, seconds: float) -> Posture:
    """Run a population of a body in space and measure how it carries itself; rows that fall stop."""
    model, anatomy = population.scene.model, population.scene.table.anatomy
    feet = [model.body(leg.foot).id for leg in (anatomy.left, anatomy.right)]
    trunk = [model.body(part).id for part in (anatomy.pelvis, anatomy.torso)]
    widths, rolls, turns, flights = [], [], [], []
    for _ in range(max(1, round(seconds / _SAMPLE))):
        population.run(_SAMPLE, stop_fallen=True)
        heading, places = population.reports["heading"], population.physics("xpos", feet)
        pelvis, torso = population.physics("xmat", trunk).swapaxes(0, 1)
        yaw = np.arctan2(pelvis[:, 3], pelvis[:, 0])
        apart = places[:, 0] - places[:, 1]
        widths.append(apart[:, 1] * np.cos(yaw) - apart[:, 0] * np.sin(yaw))
        rolls.append(np.abs(np.arcsin(np.clip(torso[:, 7], -1.0, 1.0))))
        turns.append(np.angle(np.exp(1j * (yaw - heading))))
        flights.append((population.outputs("contact_force")[:, :, 2] < LOADED_FORCE).all(axis=1))
    return Posture(
        width=np.quantile(widths, 0.05, axis=0),
        roll=np.max(rolls, axis=0),
        turn=np.abs(np.mean(turns, axis=0)),
        flight=np.mean(flights, axis=0),
    )
