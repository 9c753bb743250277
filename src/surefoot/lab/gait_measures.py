"""What a gait is like, measured from a recorded motion.

What a style of walking looks like over its cycle, and how much two of them differ.

How near a walker's legs come to each other: bodies whose parts do not collide could walk through themselves.

Where a body in space faces while it goes.

How a body in space carries itself while it runs in a population: what falls alone do not show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.foot_contacts import LOADED_FORCE, footstrikes
from surefoot.motions.motion import Motion

_STRIDE = 2.0  # [s] over which yaw is averaged: the swing of the hips is not a change of heading
GRAVITY = 9.81
IN_PLACE = 0.3  # [m/s] a slower gait counts as in place


@dataclass(frozen=True)
class Gait:
    """Measures of a stretch of motion."""

    speed: float  # [m/s] of the root along its mean heading
    sideways: float  # [m/s] of the root across it, to the left
    cadence: float  # [steps/s] foot strikes of both feet
    step_length: float  # [m] distance between the feet at a strike, along the heading
    step_width: float  # [m] how far the left foot is left of the right one at strikes, on average; < 0 is crossed
    narrowest: float  # [m] the same at the narrowest strike
    sway: float  # [deg] half the peak-to-peak pitch of the torso
    roll: float  # [deg] largest roll of the torso to either side
    drift: float  # [deg] largest turn of the root, averaged over strides, from its heading at the beginning
    flight: float  # share of the time with no foot loaded
    cost_of_transport: float  # |mechanical power| / (weight · speed)
    slip: float  # metres slid under load per metre travelled (per second of a gait in place)
    peak_torque: float  # [N·m]


def poses(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(n, joints, 3) origins [m] and (n, joints, 4) orientations of all parts in the world, by forward kinematics."""
    skeleton = motion.skeleton
    positions, turns = [motion.root_position], [motion.rotations[:, 0]]
    for joint in range(1, len(skeleton.names)):
        parent = int(skeleton.parents[joint])
        positions.append(positions[parent] + quat.rotate(turns[parent], skeleton.offsets[joint]))
        turns.append(quat.multiply(turns[parent], motion.rotations[:, joint]))
    return np.stack(positions, axis=1), np.stack(turns, axis=1)


def foot_positions(motion: Motion) -> np.ndarray:
    """(n, 2, 3) ankles of the left and the right foot in the world [m]."""
    names = ("left_foot", "right_foot")
    if motion.scene:
        names = (motion.scene.table.anatomy.left.foot, motion.scene.table.anatomy.right.foot)
    return poses(motion)[0][:, [motion.skeleton.names.index(name) for name in names]]


def measure_gait(motion: Motion) -> Gait:
    """Measure a simulated motion; record it at 100 frames a second or more."""
    if motion.scene is None or len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("only a simulated motion of some length can be measured")
    duration = float(motion.time[-1] - motion.time[0])
    found, feet = footstrikes(motion), foot_positions(motion)
    yaw = np.unwrap(root_yaw(motion))
    heading = float(yaw.mean())
    ahead, left = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    way = motion.root_position[-1, :2] - motion.root_position[0, :2]
    travelled = float(way @ ahead)
    apart = np.array([feet[frame, 0, :2] - feet[frame, 1, :2] for frame, _ in found]).reshape(-1, 2)
    facings = np.array([yaw[frame] for frame, _ in found])
    widths = apart[:, 1] * np.cos(facings) - apart[:, 0] * np.sin(facings)
    loaded = motion.contact_force[:, :, 2] > LOADED_FORCE
    model = motion.scene.model
    dofs = [model.joint(j).dofadr[0] for j in motion.scene.table.gains]
    power = np.abs(motion.torque * motion.qvel[:, dofs]).sum(axis=1)
    weight = float(model.body_mass.sum()) * GRAVITY
    slid = float((motion.slip[-1] - motion.slip[0]).sum())
    distance = float(np.hypot(*way))
    pitch = np.unwrap(torso_pitch(motion))
    return Gait(
        speed=travelled / duration,
        sideways=float(way @ left) / duration,
        cadence=len(found) / duration,
        step_length=float(np.abs(apart @ ahead).mean()) if found else 0.0,
        step_width=float(widths.mean()) if found else 0.0,
        narrowest=float(widths.min()) if found else 0.0,
        sway=float(np.degrees(np.ptp(pitch)) / 2),
        roll=float(np.degrees(np.abs(body_roll(_torso(motion))).max())),
        drift=_drift(yaw, motion.time),
        flight=float((~loaded.any(axis=1)).mean()),
        cost_of_transport=float(power.mean() * duration / (weight * max(distance, 1e-9))),
        slip=slid / (distance if distance >= IN_PLACE * duration else duration),
        peak_torque=float(np.abs(motion.torque).max()),
    )


def _drift(yaw: np.ndarray, time: np.ndarray) -> float:
    """Largest turn from the heading of the first seconds, of the yaw averaged over `_STRIDE` seconds [deg]."""
    count = max(1, round(_STRIDE / float(time[1] - time[0])))
    if len(yaw) < 2 * count:
        return float(np.degrees(np.ptp(yaw)))
    mean = np.convolve(yaw, np.full(count, 1.0 / count), mode="valid")
    return float(np.degrees(np.abs(mean - mean[0]).max()))


def root_yaw(motion: Motion) -> np.ndarray:
    """(n,) world yaw of the root body, or of the pelvis of a body from a file [rad], within ± π."""
    turns = motion.rotations[:, 0]
    if motion.scene and motion.scene.table.imported:
        turns = _upright(motion, motion.scene.table.anatomy.pelvis)
    forward = quat.rotate(turns, np.array([1.0, 0.0, 0.0]))
    return np.asarray(np.arctan2(forward[:, 1], forward[:, 0]))


def _upright(motion: Motion, part: str) -> np.ndarray:
    """(n, 4) turns of a part from how it is while the body stands upright and faces x."""
    turns = poses(motion)[1][:, motion.skeleton.names.index(part)]
    imported = motion.scene.table.imported if motion.scene else None
    if imported is None or part not in imported.limbs.rest:
        return turns
    return quat.multiply(turns, quat.inverse(np.array(imported.limbs.rest[part])))


def _torso(motion: Motion) -> np.ndarray:
    return _upright(motion, motion.scene.table.anatomy.torso if motion.scene else motion.skeleton.names[0])


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

    A cycle lasts from a right foot strike to the next one. Every whole cycle of the motion is read at the
    same evenly spaced phases, the first at the strike, and these are averaged. None if there is no whole cycle.
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
    """Root of the mean square, over all phases and all seven angles, of two mean cycles' difference [deg]."""
    return float(np.degrees(np.sqrt(((one - other) ** 2).mean())))


_FAR = 0.5  # [m] beyond which distances do not matter
_FPS = 50.0  # frames per second that are looked at


def leg_clearance(motion: Motion) -> float:
    """Least distance between the solid parts of the left and of the right leg [m]; negative if they overlap."""
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
    """Geoms that can touch something, of a body and of all that hangs on it."""
    bodies = {top}
    for body in range(top + 1, model.nbody):
        if int(model.body_parentid[body]) in bodies:
            bodies.add(body)
    geoms = np.flatnonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    return [int(geom) for geom in geoms if int(model.geom_bodyid[geom]) in bodies]


EVERY = 0.05  # [s] between two looks


def track_heading(
    population: Population, seconds: float, tell: Callable[[float], None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Run a population and return (looks, n) yaws of the root, unwrapped [rad], and (looks, n, 2) its places [m].

    Every `EVERY` seconds `tell` is called first, with the time since the beginning [s].
    """
    yaws, places = [], []
    for look in range(round(seconds / EVERY)):
        if tell is not None:
            tell(look * EVERY)
        population.run(EVERY, stop_fallen=True)
        forward = quat.rotate(population.qpos[:, 3:7], np.array([1.0, 0.0, 0.0]))
        yaws.append(np.arctan2(forward[:, 1], forward[:, 0]))
        places.append(population.qpos[:, :2].copy())
    return np.unwrap(np.array(yaws), axis=0), np.array(places)


def smoothed(values: np.ndarray, seconds: float) -> np.ndarray:
    """(looks − k + 1, n) mean over every stretch of k looks, about `seconds` long: the low-pass of a stride."""
    count = max(1, round(seconds / EVERY))
    window = np.full(count, 1.0 / count)
    return np.stack([np.convolve(column, window, mode="valid") for column in values.T], axis=1)


_SLICE = 0.02  # [s] between two looks
NARROW, ROLLED, TURNED = 0.06, 0.12, 0.03  # [m], [rad], [rad] what still looks like a person walking


@dataclass(frozen=True)
class Posture:
    """Measures (n,) of the rows of a population over a stretch of time."""

    width: np.ndarray  # [m] between the ankles across the heading, nearly the smallest; < 0 is crossed
    roll: np.ndarray  # [rad] largest of the torso
    turn: np.ndarray  # [rad] of the pelvis away from its heading, on average
    flight: np.ndarray  # share of the time with no foot loaded

    def costs(self) -> np.ndarray:
        """(n,) what crossing the legs, rolling and turning cost a search; 0 is none of them."""
        crossed = 10.0 * np.clip(NARROW - self.width, 0.0, 0.3)
        leaning = 4.0 * np.clip(self.roll - ROLLED, 0.0, 1.0)
        return np.asarray(crossed + leaning + np.clip(self.turn - TURNED, 0.0, 1.0))


def track_posture(population: Population, seconds: float) -> Posture:
    """Run a population of a body in space for some seconds, leaving out rows that fell, and watch it."""
    model, anatomy = population.scene.model, population.scene.table.anatomy
    left, right, pelvis, torso = (
        model.body(part).id for part in (anatomy.left.foot, anatomy.right.foot, anatomy.pelvis, anatomy.torso)
    )
    places, axes = population.batch.bind("xpos"), population.batch.bind("xmat")
    widths, rolls, turns, flights = [], [], [], []
    for _ in range(max(1, round(seconds / _SLICE))):
        population.run(_SLICE, stop_fallen=True)
        heading = np.array([row.report[0].heading for row in population.rows])
        yaw = np.arctan2(axes[:, pelvis, 3], axes[:, pelvis, 0])
        apart = places[:, left] - places[:, right]
        widths.append(apart[:, 1] * np.cos(yaw) - apart[:, 0] * np.sin(yaw))
        rolls.append(np.abs(np.arcsin(np.clip(axes[:, torso, 7], -1.0, 1.0))))
        turns.append(np.angle(np.exp(1j * (yaw - heading))))
        flights.append([bool((row.contact_force[:, 2] < LOADED_FORCE).all()) for row in population.rows])
    return Posture(
        width=np.quantile(widths, 0.05, axis=0),
        roll=np.max(rolls, axis=0),
        turn=np.abs(np.mean(turns, axis=0)),
        flight=np.mean(flights, axis=0),
    )
