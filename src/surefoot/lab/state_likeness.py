"""Where the states of two tracked motions are alike: there the one may be left for the other."""

from __future__ import annotations

import numpy as np

from surefoot.characters import load as load_character
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.controllers.tracking.table import TrackingTable
from surefoot.lab.tracking_feedback import difference_weights
from surefoot.motions import quaternions as quat
from surefoot.skills.schema import Skill

_APART = 0.15  # [s] between two pairs of windows that are both worth trying
_LAST, _FIRST = 0.7, 0.3  # share of a motion that does not loop from which it is left, and up to which it is entered


def unlikeness(body_weights: np.ndarray, one: TrackingTable, other: TrackingTable) -> np.ndarray:
    """(windows of one, windows of the other) squared weighted differences of states, wherever they are and face.

    Args:
        body_weights: of differences, as `difference_weights` gives them.
        one: a motion.
        other: another motion.
    """
    first, second = (_features(table) * body_weights[2:] for table in (one, other))
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * first @ second.T
    return np.asarray(np.maximum(squares, 0.0))


def _features(table: TrackingTable) -> np.ndarray:
    """(windows, …) states seen along where the root faces: height, tilt, velocities, joints, rates."""
    back = quat.about_vertical(-quat.yaw(table.qpos[:, 3:7]))
    tilt = quat.log(quat.multiply(back, table.qpos[:, 3:7]))
    return np.column_stack([
        table.qpos[:, 2], tilt, quat.rotate(back, table.qvel[:, :3]), table.qvel[:, 3:6], table.qpos[:, 7:],
        table.qvel[:, 6:],
    ])  # fmt: skip


def alike_phases(source: Skill, target: Skill, count: int) -> list[tuple[float, float]]:
    """Shares of two tracked motions at which the one may be left and the other entered, the most alike first.

    A motion that does not loop is left towards its end, and entered near its beginning.

    Args:
        source: skill that is left.
        target: skill that begins.
        count: of pairs, at most.
    """
    one, other = table_of_skill(source), table_of_skill(target)
    cost = unlikeness(difference_weights(load_character(source.character)), one, other)
    if not one.loops:
        last = one.windows - one.held
        cost[: int(_LAST * last)] = cost[last + 1 :] = np.inf
    if not other.loops:
        cost[:, int(_FIRST * (other.windows - other.held)) + 1 :] = np.inf
    found: list[tuple[float, float]] = []
    while len(found) < count and np.isfinite(cost.min()):
        i, j = np.unravel_index(int(cost.argmin()), cost.shape)
        found.append((float(i / one.windows), float(j / other.windows)))
        near = _near(one, int(i))[:, None] & _near(other, int(j))[None]
        cost[near] = np.inf
    return found


def _near(table: TrackingTable, window: int) -> np.ndarray:
    """(windows,) whether windows are too near to one to be worth trying beside it."""
    away = np.abs(np.arange(table.windows) - window)
    if table.loops:
        away = np.minimum(away, table.windows - away)
    return np.asarray(away * table.window < _APART)
