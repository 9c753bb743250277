"""A motion that leads from one tracked motion into another: blended where they are most alike, then the other's own.

It is reconstructed and learned like a clip, so that the body really does what a blend of poses only promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from surefoot.characters import load as load_character
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.controllers.tracking.table import FRAMES, TrackingTable
from surefoot.engine.scene import Scene, Setup
from surefoot.lab.state_likeness import unlikeness
from surefoot.lab.tracking_feedback import difference_weights
from surefoot.lab.tracking_reference import MotionToTrack
from surefoot.lab.tracking_states import run_on
from surefoot.motions import quaternions as quat
from surefoot.skills.schema import Skill

_SETTLES = 0.25  # [s] of the other motion before it is entered
_GOES_ON = 1.0  # [s] of the other motion afterwards, which feedback looks ahead at
_LAST, _FIRST = 0.7, 0.3  # share of a motion that does not loop from which it is left, and up to which it is entered


@dataclass(frozen=True)
class Bridge:
    """From a window of one motion into another, as a motion to be tracked; all lengths are in windows of the other.

    Attributes:
        source: skill that is left.
        target: skill that is entered.
        leave: window of the source.
        begin: window of the target that the blend begins with.
        blend: for how long the two are blended.
        settle: for how long the target's own motion follows before it is entered.
        rest: for how long it goes on.
        unlikeness: mean of the squared weighted differences of the states that are blended.
    """

    source: Skill
    target: Skill
    leave: int
    begin: int
    blend: int
    settle: int
    rest: int
    unlikeness: float

    @property
    def character(self) -> str:
        """Name of the body."""
        return self.source.character

    @property
    def windows(self) -> int:
        """Of the bridge."""
        return self.blend + self.settle + self.rest

    @property
    def enter(self) -> int:
        """Window of the target that is entered."""
        table = table_of_skill(self.target)
        window = self.begin + self.blend + self.settle
        return window % table.windows if table.loops else min(window, table.windows - 1)

    def motion(self, timestep: float) -> MotionToTrack:
        """What is to be tracked; windows are whole physics steps [s] already."""
        one, other = table_of_skill(self.source), table_of_skill(self.target)
        model = Scene(Setup(character=self.character, skill="stand")).model
        times = np.arange(self.windows * FRAMES + 1) * other.window / FRAMES
        first = _poses(one, self.leave, times[: self.blend * FRAMES + 1])
        second = _poses(other, self.begin, times)
        poses = second.copy()
        n = len(first)
        share = np.linspace(0.0, 1.0, n)
        share = (share**2 * (3.0 - 2.0 * share))[:, None]
        poses[:n, 7:] = (1.0 - share) * first[:, 7:] + share * second[:n, 7:]
        poses[:n, 2] = ((1.0 - share) * first[:, 2:3] + share * second[:n, 2:3])[:, 0]
        turn = quat.log(quat.multiply(second[:n, 3:7], quat.inverse(first[:, 3:7])))
        poses[:n, 3:7] = quat.multiply(quat.exp(share * turn), first[:, 3:7])
        steps = [np.diff(part[:, :2], axis=0) for part in (first, second)]
        half = 0.5 * (share[1:] + share[:-1])
        steps[1][: n - 1] = (1.0 - half) * steps[0] + half * steps[1][: n - 1]
        poses[:, :2] = np.concatenate([np.zeros((1, 2)), np.cumsum(steps[1], axis=0)])
        own = np.tile(model.qpos0, (len(poses), 1))
        own[:, :7] = poses[:, :7]
        own[:, [int(model.joint(name).qposadr[0]) for name in load_character(self.character).gains]] = poses[:, 7:]
        return MotionToTrack(other.window, own, own.copy(), False, 0.0, 0)


def _poses(table: TrackingTable, first: int, times: np.ndarray) -> np.ndarray:
    """(n, 7 + actuators) poses of a motion at times after the beginning of a window [s], over the origin, facing x."""
    count = int(np.ceil(times[-1] / table.window + 1e-6)) + 1
    qpos, qvel = run_on(table, first, count)
    knots = np.arange(len(qpos)) * table.window
    spins = qvel[:, 3:6]
    turns = quat.log(quat.multiply(quat.inverse(qpos[:-1, 3:7]), qpos[1:, 3:7]))
    at = np.minimum((times / table.window + 1e-9).astype(int), len(qpos) - 2)
    inner = CubicHermiteSpline(knots, np.delete(qpos, np.s_[3:7], axis=1), np.delete(qvel, np.s_[3:6], axis=1))(times)
    s = (times / table.window - at)[:, None]
    part = (-2 * s**3 + 3 * s**2) * turns[at]
    part += table.window * ((s**3 - 2 * s**2 + s) * spins[at] + (s**3 - s**2) * spins[at + 1])
    rotation = quat.multiply(qpos[at, 3:7], quat.exp(part))
    return np.column_stack([inner[:, :3], rotation, inner[:, 3:]])


def find_bridge(source: Skill, target: Skill, seconds: float) -> Bridge:
    """The bridge between two motions that blends what is most alike for as long as it is blended.

    Args:
        source: tracking skill that is left.
        target: tracking skill that is entered.
        seconds: of the blend [s].
    """
    one, other = table_of_skill(source), table_of_skill(target)
    cost = unlikeness(difference_weights(load_character(source.character)), one, other)
    blend = max(round(seconds / other.window), 2)
    mean = np.zeros_like(cost)
    for k in range(blend + 1):
        i, j = (
            _ahead(table, np.arange(table.windows), round(k * other.window / table.window)) for table in (one, other)
        )
        mean += cost[np.ix_(i, j)] / (blend + 1)
    if not one.loops:
        last = one.windows - one.held
        mean[: int(_LAST * last)] = mean[last + 1 :] = np.inf
    if not other.loops:
        mean[:, int(_FIRST * (other.windows - other.held)) + 1 :] = np.inf
    leave, begin = np.unravel_index(int(mean.argmin()), mean.shape)
    settle, rest = (max(round(long / other.window), 1) for long in (_SETTLES, _GOES_ON))
    return Bridge(source, target, int(leave), int(begin), blend, settle, rest, float(mean.min()))


def _ahead(table: TrackingTable, windows: np.ndarray, by: int) -> np.ndarray:
    """Windows so many later; a motion that does not loop stays at its last one."""
    later = windows + by
    return np.asarray(later % table.windows if table.loops else np.minimum(later, table.windows - 1))
