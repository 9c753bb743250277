"""A motion made fit for export: at another frame rate, in place, or as one loop without a seam."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import coordinates, cycle
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion

MAX_FPS = 100_000.0
MAX_FRAMES = 1_000_000
_TURNING = np.radians(10.0)  # net yaw of a cycle from which on it is a turn and not a drift
_BLENDED = ("qvel", "torque", "contact_force", "center_of_pressure", "com", "slip", "feedback")
_KEPT = ("state", "phase")  # those of the nearest frame


def rate(motion: Motion) -> float:
    """Mean recorded frames per second; 1 for a single frame."""
    if not len(motion) or (np.diff(motion.time) <= 0.0).any():
        raise OutputError("a motion needs frames at increasing times")
    return (len(motion) - 1) / float(np.ptp(motion.time)) if len(motion) > 1 else 1.0


def resample(motion: Motion, fps: float, *, whole: bool = False) -> Motion:
    """The same motion at evenly spaced frames.

    Args:
        motion: rotations go the shortest way between its frames, everything else in straight lines.
        fps: frames per second.
        whole: keep the last frame, by stretching time by up to half a frame; by default what is left is cut off.
    """
    if not 0.0 < fps <= MAX_FPS:
        raise OutputError(f"frames per second must be within 0 … {MAX_FPS:g}, got {fps}")
    rate(motion)
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
            others["qpos"] = coordinates.between(motion.scene.model, motion.qpos[before], motion.qpos[after], share)
    return replace(
        motion,
        time=even,
        root_position=blend(motion.root_position),
        rotations=quat.slerp(motion.rotations[before], motion.rotations[after], share[:, None]),
        **others,
    )


def in_place(motion: Motion) -> Motion:
    """Without its travel and its net turn, as on a treadmill of constant speed that turns along.

    It stays over the origin and faces where it faced at first; bob, sway, surge and height are kept. Speeds in
    `qvel` would no longer fit and are left out.
    """
    _check(motion)
    if len(motion) < 2:
        return motion
    since = motion.time - motion.time[0]
    heading = quat.yaw(motion.rotations[:, 0])
    turn = (heading[-1] - heading[0]) * since / since[-1]  # (n,) so far
    path = motion.root_position[:, 0] + 1j * motion.root_position[:, 1]
    arc = since * np.exp(0.5j * turn) * np.sinc(0.5 * turn / np.pi)  # where a constant speed of 1 would have led
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


def loop(motion: Motion) -> Motion:
    """One whole cycle, from time 0 on, whose last frame is its first one but for horizontal travel and turn.

    What little the ends differ by is spread over the cycle, half of it before the middle and half after. A net
    turn of less than 10° is a drift and closed like any joint; a larger one is kept. A climb is closed as well.
    """
    _check(motion)
    first, last = cycle.find(motion)
    cut = replace(motion, **{name: table[first : last + 1] for name, table in _frames(motion).items()})
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
        qpos = coordinates.closed(cut.scene.model, qpos, share)
    qpos = _follow(cut, qpos, cut.root_position + share[:, None] * gap, places, rotations[:, 0])
    return replace(cut, time=since, root_position=places, rotations=rotations, qpos=qpos)


def _check(motion: Motion) -> None:
    rate(motion)
    if not (np.isfinite(motion.root_position).all() and np.isfinite(motion.rotations).all()):
        raise OutputError("a motion with numbers that are not finite has no cycle and no mean travel")


def _frames(motion: Motion) -> dict[str, Any]:
    """All arrays that have a row for every frame."""
    return {name: table for name, table in motion.arrays().items() if not name.startswith("skeleton") and table.size}


def _follow(motion: Motion, qpos: np.ndarray, here: np.ndarray, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """`qpos` with the root moved from `here`; nothing where the body is not known."""
    if motion.scene is None or not qpos.size:
        return np.zeros(0)
    return coordinates.rooted(motion.scene.model, qpos, here, places, turns)
