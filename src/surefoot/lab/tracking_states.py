"""States of a body against the states of a tracking table's windows: differences as the law measures them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.controllers.tracking.table import ROOT, TrackingTable
from surefoot.motions import quaternions as quat


def displaced(
    qpos: np.ndarray, qvel: np.ndarray, headings: np.ndarray, errors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """States (n, 7 + actuators) and velocities (n, 6 + actuators) moved by differences.

    Args:
        qpos: root and joints.
        qvel: their velocities, the root's as a free joint's.
        headings: (n,) along which differences are seen [rad].
        errors: (n, ROOT + 2 · actuators) differences.
    """
    about, count = quat.about_vertical(headings), qpos.shape[1] - 7
    place = qpos[:, :3] + quat.rotate(about, errors[:, :3])
    turn = quat.multiply(quat.exp(quat.rotate(about, errors[:, 3:6])), qpos[:, 3:7])
    velocity = qvel[:, :3] + quat.rotate(about, errors[:, 6:9])
    joints, rates = errors[:, ROOT : ROOT + count], errors[:, ROOT + count :]
    return (
        np.column_stack([place, turn, qpos[:, 7:] + joints]),
        np.column_stack([velocity, qvel[:, 3:6] + errors[:, 9:ROOT], qvel[:, 6:] + rates]),
    )


def differences(
    qpos: np.ndarray, qvel: np.ndarray, headings: np.ndarray, other_qpos: np.ndarray, other_qvel: np.ndarray
) -> np.ndarray:
    """(n, ROOT + 2 · actuators) by which the other states differ from the first ones: `displaced` undoes it."""
    back = quat.about_vertical(-np.asarray(headings))
    turn = quat.log(quat.multiply(other_qpos[:, 3:7], quat.inverse(qpos[:, 3:7])))
    return np.column_stack([
        quat.rotate(back, other_qpos[:, :3] - qpos[:, :3]), quat.rotate(back, turn),
        quat.rotate(back, other_qvel[:, :3] - qvel[:, :3]), other_qvel[:, 3:6] - qvel[:, 3:6],
        other_qpos[:, 7:] - qpos[:, 7:], other_qvel[:, 6:] - qvel[:, 6:],
    ])  # fmt: skip


def in_first_cycle(
    table: TrackingTable, qpos: np.ndarray, qvel: np.ndarray, cycle: int
) -> tuple[np.ndarray, np.ndarray]:
    """States of a later cycle of a loop, moved back to where the first cycle is."""
    place, turn = np.zeros(2), 0.0
    for _ in range(cycle):
        c, s = np.cos(turn), np.sin(turn)
        place = place + np.array([[c, -s], [s, c]]) @ table.travel
        turn += table.turn
    about = np.tile(quat.about_vertical(np.array(-turn)), (len(qpos), 1))
    own, moves = qpos.copy(), qvel.copy()
    own[:, :3] = quat.rotate(about, qpos[:, :3] - [*place, 0.0])
    own[:, 3:7] = quat.multiply(about, qpos[:, 3:7])
    moves[:, :3] = quat.rotate(about, qvel[:, :3])
    return own, moves


def run_on(table: TrackingTable, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """States (count, 7 + actuators) and velocities of a motion from a window on, over the origin, its root facing x.

    A loop goes round; a motion that is followed once holds its last window.
    """
    qpos, qvel = np.empty((count, table.qpos.shape[1])), np.empty((count, table.qvel.shape[1]))
    place, turn = np.zeros(2), 0.0
    for k in range(count):
        w = first + k
        if not table.loops:
            w = min(w, table.windows - 1)
        elif k and w % table.windows == 0:
            c, s = np.cos(turn), np.sin(turn)
            place, turn = place + np.array([[c, -s], [s, c]]) @ table.travel, turn + table.turn
        w %= table.windows
        about = quat.about_vertical(np.array([turn]))
        qpos[k], qvel[k] = table.qpos[w], table.qvel[w]
        qpos[k, :3] = quat.rotate(about, table.qpos[w : w + 1, :3])[0] + [*place, 0.0]
        qpos[k, 3:7] = quat.multiply(about, table.qpos[w : w + 1, 3:7])[0]
        qvel[k, :3] = quat.rotate(about, table.qvel[w : w + 1, :3])[0]
    back = np.tile(quat.about_vertical(-quat.yaw(qpos[:1, 3:7])), (count, 1))
    origin = np.array([*qpos[0, :2], 0.0])
    qpos[:, :3] = quat.rotate(back, qpos[:, :3] - origin)
    qpos[:, 3:7] = quat.make_continuous(quat.multiply(back, qpos[:, 3:7]))
    qvel[:, :3] = quat.rotate(back, qvel[:, :3])
    return qpos, qvel


def on_path(table: TrackingTable) -> TrackingTable:
    """A loop with its states moved to the middle of the clip's path; feedback may have let them drift beside it.

    What they drift by in a cycle, which would be a jump at its end, is spread over the cycle.
    """
    if not table.loops:
        return table
    about = quat.about_vertical(np.array([table.turn]))
    first, speed = (quat.rotate(about, numbers[:1, :3])[0, :2] for numbers in (table.qpos, table.qvel))
    step = table.travel + first - table.qpos[-1, :2]
    drift = step - 0.5 * (table.qvel[-1, :2] + speed) * table.window
    qpos, share = table.qpos.copy(), np.arange(table.windows) / table.windows
    qpos[:, :2] += share[:, None] * drift
    turned = quat.about_vertical(share * table.turn)  # what a loop that turns is moved by turns with it
    off = np.column_stack([qpos[:, :2] - table.clip[:, :2], np.zeros(table.windows)])
    beside = quat.rotate(quat.inverse(turned), off).mean(axis=0)
    qpos[:, :2] -= quat.rotate(turned, np.tile(beside, (table.windows, 1)))[:, :2]
    return replace(table, qpos=qpos)


def whole_table(table: TrackingTable, qpos: np.ndarray, qvel: np.ndarray, offsets: np.ndarray) -> TrackingTable:
    """A table with the states and offsets of a run through all of its windows."""
    n = table.windows
    return replace(table, qpos=qpos[:n], qvel=qvel[:n], offsets=offsets[:n])


def closed_table(
    table: TrackingTable, qpos: np.ndarray, qvel: np.ndarray, offsets: np.ndarray, weights: np.ndarray
) -> TrackingTable:
    """The cycle of a run through several cycles of a loop that closes best, with what is left spread over it.

    Args:
        table: the loop.
        qpos: (windows + 1, 7 + actuators) of the run from the beginning of a cycle on.
        qvel: (windows + 1, 6 + actuators).
        offsets: (windows, actuators).
        weights: of differences.
    """
    n, far = table.windows, len(offsets)
    own = [in_first_cycle(table, qpos[j : j + 1], qvel[j : j + 1], j // n) for j in range(far + 1)]
    places, moves = (np.concatenate([pair[i] for pair in own]) for i in (0, 1))
    starts = np.arange(min(n, far - n), far - n + 1)
    headings = table.headings[starts % n]
    gaps = differences(places[starts], moves[starts], headings, places[starts + n], moves[starts + n])
    best = int(((gaps * weights) ** 2).sum(axis=1).argmin())
    first = int(starts[best])
    cycle = np.arange(first, first + n)
    share = 0.5 - np.arange(n) / n
    phase = cycle % n
    closed = displaced(places[cycle], moves[cycle], table.headings[phase], share[:, None] * gaps[best])
    found = [np.empty_like(values) for values in (*closed, offsets[:n])]
    for array, values in zip(found, (*closed, offsets[cycle]), strict=True):
        array[phase] = values
    return replace(table, qpos=found[0], qvel=found[1], offsets=found[2])
