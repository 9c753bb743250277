"""How closely a captured gait tracks its clip: joint angles over whole strides, cadence, travel, step width, tilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.controllers.imitation.parameters import Cycle
from surefoot.controllers.imitation.slot import hips_over_ankles, torso_tilt
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.motions import fourier

FPS = 50.0
_SPARSE = 5  # frames between those of which the width is taken
_ENDING = 0.5  # [s] before a fall that are not measured


@dataclass(frozen=True)
class Frames:
    """Frames of one row of a population."""

    time: np.ndarray  # (n,) [s]
    qpos: np.ndarray  # (n, nq)
    reports: np.ndarray  # (n,) `memory.REPORT`
    fallen_at: float  # [s], inf if it did not fall


@dataclass(frozen=True)
class TrackingError:
    """Differences of one run from a cycle; infinite without a whole stride to measure."""

    strides: int
    errors: dict[str, float]  # [rad] root mean square by joint
    cadence: float  # of the clip's
    travel: np.ndarray  # (2,) [m] per cycle, forward and left from the heading
    wanted: np.ndarray  # (2,) the same of the clip
    turn: float  # [rad] of heading per cycle
    width: float  # [m] between the ankles across the heading, on average, positive as long as no leg is crossed
    wanted_width: float  # the same of the clip
    tilt: float  # [rad] root mean square difference of the torso's roll and pitch in the world

    @property
    def error(self) -> float:
        """Mean over all joints [rad]."""
        return float(np.mean(list(self.errors.values())))

    def worst_joint(self, names: Sequence[str]) -> float:
        """The largest error of some joints [rad]."""
        return max(self.errors[name] for name in names)

    @property
    def travel_error(self) -> float:
        """Distance of the travel per cycle from the clip's, by its length, or by half a metre if that is more.

        A fifth of half a metre is 0.1 m: what steps on the spot may stray.
        """
        return float(np.linalg.norm(self.travel - self.wanted)) / max(float(np.linalg.norm(self.wanted)), 0.5)


class BodyPoses:
    """Addresses of a character's joints in `qpos`, and the places of its ankles and its torso in a pose."""

    def __init__(self, scene: Scene) -> None:
        """Read the scene's character."""
        self.table, self._model, self._data = scene.table, scene.model, mujoco.MjData(scene.model)
        self.joints = {name: int(scene.model.joint(name).qposadr[0]) for name in scene.table.gains}
        upper = scene.table.anatomy.upper
        self.legs = tuple(name for name in self.joints if not any(kind in name for kind in upper))
        self.is_planar = self.table.root == "planar"

    def stance(self, qpos: np.ndarray, heading: float) -> tuple[float, float, float]:
        """How far the left ankle is left of the right one, seen along a heading [m]; the torso's roll and pitch [rad].

        Pitch is positive to the back, roll if the left side is up.
        """
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        anatomy = self.table.anatomy
        x, y, _ = self._data.body(anatomy.left.foot).xpos - self._data.body(anatomy.right.foot).xpos
        up = self._data.body(anatomy.torso).xmat[6:]
        return (
            float(np.cos(heading) * y - np.sin(heading) * x),
            float(np.arcsin(up[1])),
            float(np.arctan2(up[0], up[2])),
        )

    def width(self, cycle: Cycle) -> float:
        """Mean step width of a cycle [m]."""
        left, right = hips_over_ankles(cycle, self.table)
        return float((right - left)[:, 1].mean())


def record_frames(population: Population, seconds: float) -> list[Frames]:
    """Advance a population and keep its frames, `FPS` a second; rows that fall stop.

    Args:
        population: begins with its present state.
        seconds: how long [s].
    """
    time, qpos, reports = [], [], []
    for i in range(round(seconds * FPS) + 1):
        if i:
            population.run(1.0 / FPS, stop_fallen=True)
        time.append(i / FPS)
        qpos.append(population.qpos.copy())
        reports.append(population.reports)
    at, poses, told, fallen = np.array(time), np.array(qpos), np.array(reports), population.fallen_at
    return [Frames(at, poses[:, i], told[:, i], float(fallen[i])) for i in range(population.n)]


def measure_tracking(frames: Frames, cycle: Cycle, body: BodyPoses, after: float) -> TrackingError:
    """Compare whole strides of a run with a cycle.

    A stride lasts from one footstrike of the left foot to the next. Its time is divided evenly, whatever the
    controller's own phase is, so that a movement that comes too early or too late counts as an error.

    Args:
        frames: the run.
        cycle: what it should be like.
        body: of the character.
        after: when measuring begins [s].
    """
    joints = body.joints
    time, starts = frames.time, strike_frames(frames, 0)
    starts = starts[(time[starts] >= after) & (time[starts] <= frames.fallen_at - _ENDING)]
    wanted = np.array(cycle.travel)
    if len(starts) < 2:
        nothing = np.full(2, np.inf)
        unknown = dict.fromkeys(joints, np.inf)
        return TrackingError(0, unknown, np.inf, nothing, wanted, np.inf, -np.inf, body.width(cycle), np.inf)
    first, last, count = starts[0], starts[-1], len(starts) - 1
    phase = np.interp(np.arange(first, last), starts, cycle.lands[0] + np.arange(len(starts)))
    errors = {
        name: float(np.sqrt(np.mean((frames.qpos[first:last, at] - cycle_angles(cycle, name, phase)) ** 2)))
        for name, at in joints.items()
    }
    moves, heading = np.diff(frames.qpos[starts, :2], axis=0), frames.reports["heading"][starts[:-1]]
    c, s = np.cos(heading), np.sin(heading)
    travel = np.array([(c * moves[:, 0] + s * moves[:, 1]).mean(), (c * moves[:, 1] - s * moves[:, 0]).mean()])
    turn = float(frames.reports["heading"][last] - frames.reports["heading"][first]) / count
    stances = np.array(
        [body.stance(frames.qpos[i], float(frames.reports["heading"][i])) for i in range(first, last, _SPARSE)]
    )
    tilt = stances[:, 1:] - torso_tilt(cycle, body.table, phase[::_SPARSE])
    return TrackingError(
        count, errors, cycle.period * count / (time[last] - time[first]), travel, wanted, turn,
        float(stances[:, 0].mean()), body.width(cycle), float(np.sqrt(np.mean(tilt**2))),
    )  # fmt: skip


def strike_frames(frames: Frames, leg: int) -> np.ndarray:
    """Frames of a leg's footstrikes: 0 is left, 1 right."""
    swings = frames.reports["state"] == leg
    return np.asarray(np.flatnonzero(swings[:-1] & ~swings[1:]) + 1)


def cycle_angles(cycle: Cycle, joint: str, phase: np.ndarray) -> np.ndarray:
    """(n,) angles of a joint of a cycle [rad]."""
    return fourier.evaluate(np.asarray(cycle.joints.get(joint, [0.0])), phase)
