"""Edits of motions for export: another frame rate, in place, or one loop without a seam.

`find_loop` looks for the cleanest whole cycle: between footstrikes, else between starts of the controller's phase, else
where the pose repeats itself. The edits keep a simulated model's `qpos` consistent with root and rotations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.leaf_bones import leaf_bone_ends
from surefoot.motions.motion import Motion
from surefoot.motions.signals import frame_time, windowed_variance

MAX_FPS = 100_000.0
MAX_FRAMES = 1_000_000
_TURNING = np.radians(10.0)  # net yaw of a cycle beyond which it is a turn and not a drift
_BLENDED = ("qvel", "torque", "contact_force", "center_of_pressure", "com", "slip", "feedback")
_KEPT = ("state", "phase")  # copied from the nearest frame
_SHORTEST, _LONGEST = 0.2, 5.0  # [s] of a cycle
_SLACK = 0.025  # [s] by which a cycle's end is moved to where the pose fits best
_AHEAD = 0.05  # [s] over which a difference of joint speeds counts as a difference of pose
_SEAM = 0.3  # largest mismatch at the seam, as a share of the pose's deviation from its mean within the cycle
_STILL = 0.02  # [rad] a pose that deviates less is not a gait
_SEARCH_FPS = (120.0, 30.0)  # of the search for a repeated pose: steps of its period and of its start
_LIVELY = 0.3  # of the largest deviation of any stretch of its length: least deviation of a cycle
_SHORTER = 0.05  # by which a shorter cycle may have a larger mismatch
_SAME = 1e-6  # [m, rad]


def frame_rate(motion: Motion) -> float:
    """Mean frames per second; 1 for a single frame.

    Args:
        motion: any.

    Raises:
        OutputError: there are no frames, or their times do not increase.
    """
    if not len(motion) or (np.diff(motion.time) <= 0.0).any():
        raise OutputError("a motion needs frames at increasing times")
    return (len(motion) - 1) / float(np.ptp(motion.time)) if len(motion) > 1 else 1.0


def resample(motion: Motion, fps: float, *, whole: bool = False) -> Motion:
    """The motion at evenly spaced frames.

    Args:
        motion: between its frames, rotations go the shortest way and everything else is interpolated linearly.
        fps: frames per second.
        whole: keep the last frame by stretching time by up to half a frame; by default the remainder is cut off.

    Raises:
        OutputError: `fps` is out of range, or the motion would have too many frames.
    """
    if not 0.0 < fps <= MAX_FPS:
        raise OutputError(f"frames per second must be within 0 … {MAX_FPS:g}, got {fps}")
    frame_rate(motion)
    start, span = float(motion.time[0]), float(np.ptp(motion.time))
    count = (max(round(span * fps), 1) if whole else int(span * fps + 1e-6)) + 1 if span else 1
    if count > MAX_FRAMES:
        raise OutputError(f"a motion has at most {MAX_FRAMES} frames, {fps:g} frames a second take {count}")
    even = start + np.arange(count) / fps
    there = start + np.linspace(0.0, span, count) if whole else np.minimum(even, motion.time[-1])
    if count == len(motion) and np.abs(there - motion.time).max() < 1e-9:
        return replace(motion, time=even)
    before = np.clip(np.searchsorted(motion.time, there, side="right") - 1, 0, max(len(motion) - 2, 0))
    after = np.minimum(before + 1, len(motion) - 1)
    gap = motion.time[after] - motion.time[before]
    share = np.divide(there - motion.time[before], gap, out=np.zeros(count), where=gap > 0.0)

    def blend(table: np.ndarray) -> np.ndarray:
        weight = share.reshape(-1, *[1] * (table.ndim - 1))
        return np.asarray((1.0 - weight) * table[before] + weight * table[after])

    others: dict[str, Any] = {name: blend(getattr(motion, name)) for name in _BLENDED if getattr(motion, name).size}
    near = np.where(share < 0.5, before, after)
    others |= {name: getattr(motion, name)[near] for name in _KEPT if getattr(motion, name).size}
    if motion.qpos.size:
        others["qpos"] = blend(motion.qpos)
        if motion.scene is not None:
            others["qpos"] = interpolate_qpos(motion.scene.model, motion.qpos[before], motion.qpos[after], share)
    return replace(
        motion,
        time=even,
        root_position=blend(motion.root_position),
        rotations=quat.slerp(motion.rotations[before], motion.rotations[after], share[:, None]),
        **others,
    )


def in_place(motion: Motion) -> Motion:
    """The motion without travel and net turn, as on a treadmill of constant speed that turns along.

    It stays over the origin and faces where it faced at first. Bob, sway, surge and height remain. `qvel` would no
    longer fit and is dropped.

    Args:
        motion: any.

    Raises:
        OutputError: the motion has numbers that are not finite.
    """
    _check(motion)
    if len(motion) < 2:
        return motion
    since = motion.time - motion.time[0]
    heading = quat.yaw(motion.rotations[:, 0])
    turn = (heading[-1] - heading[0]) * since / since[-1]  # (n,) so far
    path = motion.root_position[:, 0] + 1j * motion.root_position[:, 1]
    arc = travel_on_arc(since, turn)
    start, speed = np.linalg.lstsq(np.column_stack([np.ones_like(arc), arc]), path)[0]
    strayed = np.exp(-1j * turn) * (path - start - speed * arc)
    strayed -= (strayed[-1] - strayed[0]) * since / since[-1]
    strayed -= strayed.mean()
    places = np.column_stack([strayed.real, strayed.imag, motion.root_position[:, 2]])
    back = quat.about_vertical(-turn)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(back, rotations[:, 0])
    moved: dict[str, Any] = {
        name: places + quat.rotate(back, getattr(motion, name) - motion.root_position)
        for name in ("com", "center_of_pressure")
        if getattr(motion, name).size
    }
    if motion.contact_force.size:
        moved["contact_force"] = quat.rotate(back[:, None], motion.contact_force)
    qpos = _follow(motion, motion.qpos, motion.root_position, places, rotations[:, 0])
    return replace(motion, root_position=places, rotations=rotations, qpos=qpos, qvel=np.zeros(0), **moved)


def cut_loop(motion: Motion) -> Motion:
    """One whole cycle, from time 0 on, whose last frame equals its first one except for horizontal travel and turn.

    What the ends differ by is spread evenly over the cycle. A net turn of less than 10° counts as drift and is removed,
    and so is a climb; a larger turn stays.

    Args:
        motion: one with a cycle.

    Raises:
        OutputError: the motion has no cycle, or numbers that are not finite.
    """
    _check(motion)
    first, last = find_loop(motion)
    cut = motion.select(slice(first, last + 1))
    since = cut.time - cut.time[0]
    share = since / since[-1] - 0.5
    goal = cut.rotations[0].copy()  # (joints, 4) of the last frame
    turn = np.diff(quat.yaw(cut.rotations[:, 0])[[0, -1]])
    if abs(turn[0]) > _TURNING:
        goal[0] = quat.multiply(quat.about_vertical(turn), goal[:1])[0]
    residual = quat.log(quat.multiply(quat.inverse(cut.rotations[-1]), goal))  # (joints, 3)
    rotations = quat.multiply(cut.rotations, quat.exp(share[:, None, None] * residual))
    gap = cut.root_position[0] - cut.root_position[-1]
    places = cut.root_position + share[:, None] * gap * np.array([0.0, 0.0, 1.0])
    qpos = cut.qpos
    if cut.scene is not None and qpos.size:
        qpos = close_loop_qpos(cut.scene.model, qpos, share)
    qpos = _follow(cut, qpos, cut.root_position + share[:, None] * gap, places, rotations[:, 0])
    return replace(cut, time=since, root_position=places, rotations=rotations, qpos=qpos)


def find_loop(motion: Motion) -> tuple[int, int]:
    """First and last frame of the whole cycle whose ends fit best; an `OutputError` if there is none."""
    if len(motion) >= 3:
        poses = pose_vectors(motion)
        for candidates in (_between_strikes(motion), _between_wraps(motion), _alike(motion, poses)):
            found = _cleanest(motion.time, poses, list(candidates))
            if found is not None:
                return found
    raise OutputError(
        f"cannot cut a loop: this motion has no cycle of {_SHORTEST:g} … {_LONGEST:g} s that ends nearly as it began"
    )


def pose_vectors(motion: Motion) -> np.ndarray:
    """(n, 3 · joints) rotation vectors of the joints from their mean [rad], the root's without its yaw.

    Each joint is weighted by how much of the body it moves, so that fingers and toes hardly count.
    """
    turns = quat.make_continuous(motion.rotations)
    turns[:, 0] = quat.multiply(quat.about_vertical(-quat.yaw(turns[:, 0])), turns[:, 0])
    turns = quat.make_continuous(turns)
    mean = turns.mean(axis=0)
    size = np.linalg.norm(mean, axis=-1, keepdims=True)
    mean = np.where(size > 1e-6, mean / np.maximum(size, 1e-6), turns[0])
    vectors = quat.log(quat.multiply(quat.inverse(mean), turns))
    return np.asarray(_levers(motion)[:, None] * vectors).reshape(len(motion), -1)


def _levers(motion: Motion) -> np.ndarray:
    """(joints,) length of the longest chain below each joint, as a share of the longest of all."""
    parents, lengths = motion.skeleton.parents, np.linalg.norm(motion.skeleton.offsets, axis=1)
    levers = np.linalg.norm(leaf_bone_ends(motion), axis=1)
    for _ in parents:  # at most as many passes as the chain is long
        longer = levers.copy()
        np.maximum.at(longer, parents[parents >= 0], (levers + lengths)[parents >= 0])
        if np.array_equal(longer, levers):
            break
        levers = longer
    return np.asarray(levers / max(float(levers.max()), 1e-9))


def _between_strikes(motion: Motion) -> Iterator[tuple[int, int]]:
    """Cycles from each footstrike to the next one of the same foot."""
    if not motion.contact_force.size:
        return
    found = footstrikes(motion)
    for foot in range(motion.contact_force.shape[1]):
        yield from pairwise(frame for frame, which in found if which == foot)


def _between_wraps(motion: Motion) -> Iterator[tuple[int, int]]:
    """Cycles of the controller's phase."""
    wraps = [int(i) + 1 for i in np.flatnonzero(np.diff(motion.phase) < -0.5)]
    yield from pairwise(wraps)


def _alike(motion: Motion, poses: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cycles near the shortest one of those that end most nearly as they began."""
    pace = frame_time(motion.time)
    finer, coarser = (max(round(1.0 / (fps * pace)), 1) for fps in _SEARCH_FPS)
    speeds = _AHEAD * np.gradient(poses, motion.time, axis=0)
    found = []
    for lag in range(max(int(_SHORTEST / pace), 2), min(int(_LONGEST / pace), len(poses) - 1) + 1, finer):
        starts = np.arange(0, len(poses) - lag, coarser)
        ends, strayed = starts + lag, np.sqrt(np.maximum(windowed_variance(poses, lag)[starts], 0.0))
        seams = np.sqrt(((poses[ends] - poses[starts]) ** 2 + (speeds[ends] - speeds[starts]) ** 2).sum(axis=1))
        seams = np.where(strayed >= _LIVELY * strayed.max(), seams / np.maximum(strayed, _STILL), np.inf)
        found.append((float(seams.min()), int(starts[seams.argmin()]), lag))
    good = _SHORTER + min((seam for seam, _, _ in found), default=0.0)
    for i, (seam, first, lag) in enumerate(found):
        if seam <= good and seam <= min(item[0] for item in found[i : i + 1 + int(_SLACK / (pace * finer))]):
            around = range(max(first - coarser, 0), min(first + coarser, len(poses) - 1 - lag) + 1)
            yield from ((start, start + lag) for start in around)
            return


def _cleanest(time: np.ndarray, poses: np.ndarray, candidates: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The candidate with the least mismatch at its seam, after moving its end to where it fits best."""
    speeds = _AHEAD * np.gradient(poses, time, axis=0)
    slack = int(_SLACK / frame_time(time))
    best, found = _SEAM, None
    for first, last in candidates:
        ends = np.arange(max(last - slack, first + 2), min(last + slack, len(time) - 1) + 1)
        if not len(ends):
            continue
        seams = np.sqrt(
            ((poses[ends] - poses[first]) ** 2).sum(axis=1) + ((speeds[ends] - speeds[first]) ** 2).sum(axis=1)
        )
        end = int(ends[np.argmin(seams)])
        strayed = float(np.sqrt(poses[first:end].var(axis=0).sum()))
        if _SHORTEST <= time[end] - time[first] <= _LONGEST and strayed > _STILL and seams.min() < best * strayed:
            best, found = float(seams.min()) / strayed, (first, end)
    return found


def _check(motion: Motion) -> None:
    frame_rate(motion)
    if not motion.is_finite:
        raise OutputError("a motion with numbers that are not finite has no cycle and no mean travel")


def unit_rotations(motion: Motion, kind: str) -> np.ndarray:
    """(n, joints, 4) continuous rotations of length 1, for a file of some kind.

    Raises:
        OutputError: the motion has frames whose times do not increase, or numbers that are not finite.
    """
    frame_rate(motion)
    lengths = np.linalg.norm(motion.rotations, axis=-1, keepdims=True)
    if not (motion.is_finite and lengths.all()):
        raise OutputError(f"cannot write {kind} of numbers that are not finite, or of rotations of length zero")
    return quat.make_continuous(motion.rotations / lengths)


def travel_on_arc(distance: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """(n,) where a path of lengths (n,) that turns evenly by angles (n,) [rad] leads, as complex numbers x + iy."""
    return np.asarray(distance * np.exp(0.5j * turn) * np.sinc(0.5 * turn / np.pi))


def _follow(motion: Motion, qpos: np.ndarray, here: np.ndarray, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """`qpos` with the root moved from `here` (n, 3) [m]; empty if the body is not known."""
    if motion.scene is None or not qpos.size:
        return np.zeros(0)
    return move_root_qpos(motion.scene.model, qpos, here, places, turns)


def interpolate_qpos(model: mujoco.MjModel, one: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, nq) coordinates a share (n,) of the way from one table (n, nq) to another."""
    found, step = one.copy(), np.zeros(model.nv)
    for frame, goal, part in zip(found, other, share, strict=True):
        mujoco.mj_differentiatePos(model, step, 1.0, frame, goal)
        mujoco.mj_integratePos(model, frame, step, part)
    return found


def close_loop_qpos(model: mujoco.MjModel, qpos: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, nq) coordinates, each frame moved by its share (n,) of the way from the last frame to the first."""
    found, step = qpos.copy(), np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, step, 1.0, qpos[-1], qpos[0])
    for frame, part in zip(found, share, strict=True):
        mujoco.mj_integratePos(model, frame, step, part)
    return found


def move_root_qpos(
    model: mujoco.MjModel, qpos: np.ndarray, here: np.ndarray, places: np.ndarray, turns: np.ndarray
) -> np.ndarray:
    """Move the root from `here` (n, 3) to other positions (n, 3) [m] and orientations (n, 4).

    Returns:
        (n, nq), or (0,) if the root's joints cannot take it there: a planar body does not turn.
    """
    found, joints = qpos.copy(), np.flatnonzero(model.jnt_bodyid == 1)
    for joint in joints:
        start = int(model.jnt_qposadr[joint])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            found[:, start : start + 3], found[:, start + 3 : start + 7] = places, turns
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
            found[:, start] += (places - here) @ model.jnt_axis[joint]
    data = mujoco.MjData(model)
    for frame, place, turn in zip(found, places, turns, strict=True):
        data.qpos[:] = frame
        mujoco.mj_kinematics(model, data)
        off = quat.log(quat.multiply(quat.inverse(data.xquat[1]), turn))
        if np.linalg.norm(data.xpos[1] - place) > _SAME or np.linalg.norm(off) > _SAME:
            return np.zeros(0)
    return found
