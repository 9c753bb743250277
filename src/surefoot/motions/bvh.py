"""Motions as BVH files, Y up and +Z forward unless told otherwise: written for Blender, read from anywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError
from surefoot.motions import bvh_text
from surefoot.motions import quaternions as quat
from surefoot.motions.ends import leaf_ends
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.resample import rate, resample

_STRETCH = 0.02  # of the skeleton's size: how far a joint may slide along its parent and still count as fixed
_AXES = {sign + name: (-1.0 if sign else 1.0) * np.eye(3)[i] for i, name in enumerate("xyz") for sign in ("", "-")}


def save(
    motion: Motion, path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z", fps: float | None = None
) -> None:
    """Write a motion, whole or not at all; `load` with the same options gives it back.

    Args:
        motion: its joints are written depth first, which may change their order.
        path: of the file.
        scale: units of the file per metre; 100 for centimetres.
        up: the file's axis that points up: x, y, z, -x, -y or -z.
        forward: the file's axis that points forward.
        fps: frames per second; by default those of the motion.
    """
    replace_file(Path(path), text(motion, scale=scale, up=up, forward=forward, fps=fps).encode())


def text(motion: Motion, *, scale: float = 1.0, up: str = "y", forward: str = "z", fps: float | None = None) -> str:
    """What `save` writes. The root's own offset is left out: its position is in its channels."""
    frame, scale = axes(up, forward), positive(scale)
    if not (np.isfinite(motion.root_position).all() and np.isfinite(motion.rotations).all()):
        raise OutputError("cannot write a BVH of numbers that are not finite")
    pace = rate(motion) if fps is None else fps
    even = resample(motion, pace, whole=fps is None)
    joints = [joint for joint, _ in bvh_text.depth_first(even.skeleton.parents)]
    offsets = np.where(even.skeleton.parents[:, None] < 0, 0.0, even.skeleton.offsets)
    places = [scale * table @ frame.T for table in (offsets, leaf_ends(motion), even.root_position)]
    turns = np.concatenate([even.rotations[..., :1], even.rotations[..., 1:] @ frame.T], axis=-1)
    angles = np.degrees(_zxy(quat.continuous(turns)))[:, joints].reshape(len(even), -1)
    lines = bvh_text.hierarchy(even.skeleton.names, even.skeleton.parents, places[0], places[1])
    lines += ["MOTION", f"Frames: {len(even)}", f"Frame Time: {float(1.0 / pace)!r}"]
    rows = np.hstack([places[2], angles])
    lines += [" ".join([f"{value:.9f}" for value in row]) for row in rows.tolist()]
    return "\n".join(lines) + "\n"


def load(path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z") -> Motion:
    """Read a BVH file of any hierarchy and order of channels.

    Positions replace offsets, as in Blender; joints whose positions change are refused, since bones are rigid here.

    Args:
        path: of the file.
        scale: units of the file per metre; 100 for centimetres.
        up: the file's axis that points up: x, y, z, -x, -y or -z.
        forward: the file's axis that points forward.
    """
    frame, scale = axes(up, forward), positive(scale)
    file = bvh_text.read(Path(path))
    count, offsets = len(file.values), np.array([joint.offset for joint in file.joints])
    size = float(np.abs(offsets).sum(axis=0).max())
    rotations, root = np.zeros((count, len(offsets), 4)), np.tile(offsets[0], (count, 1))
    for i, joint in enumerate(file.joints):
        place, turn = np.tile(joint.offset, (count, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        for column, channel in enumerate(joint.channels, start=joint.column):
            axis, values = "xyz".index(channel[0]), file.values[:, column]
            if channel.endswith("position"):
                place[:, axis] = values
            else:
                turn = quat.about(turn, axis, np.radians(values))
        rotations[:, i] = turn
        if joint.parent < 0:
            root = place
        elif "position" in "".join(joint.channels) and np.abs(place).max() > 0.0:  # all zero: meant to be added
            offsets[i] = np.median(place, axis=0)
            slid = float(np.linalg.norm(place - offsets[i], axis=1).max())
            if slid > _STRETCH * size:
                raise OutputError(
                    f"{path}: joint {joint.name} slides by {slid:.3g} units from where it is fixed to its parent; "
                    "only files with rigid bones can be read"
                )
    rotations[..., 1:] = rotations[..., 1:] @ frame
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return Motion(
        time=np.arange(count) * file.frame_time,
        skeleton=Skeleton(
            tuple(joint.name for joint in file.joints),
            np.array([joint.parent for joint in file.joints]),
            offsets @ frame / scale,
        ),
        root_position=root @ frame / scale,
        rotations=quat.continuous(rotations),
    )


def axes(up: str, forward: str) -> np.ndarray:
    """(3, 3) rotation that takes our vectors (x forward, y left, z up) to the file's."""
    for axis in (up, forward):
        if axis not in _AXES:
            raise OutputError(f"unknown axis {axis!r}; valid: {', '.join(_AXES)}")
    if up[-1] == forward[-1]:
        raise OutputError(f"up and forward must be different axes, got {up!r} and {forward!r}")
    return np.column_stack([_AXES[forward], np.cross(_AXES[up], _AXES[forward]), _AXES[up]])


def positive(scale: float) -> float:
    """The scale, checked."""
    if not 0.0 < scale < np.inf:
        raise OutputError(f"the scale must be a positive number of units per metre, got {scale}")
    return scale


def _zxy(q: np.ndarray) -> np.ndarray:
    """(n, joints, 3) angles [rad] about Z, X, Y, in this order, of (n, joints, 4) rotations.

    Accurate at gimbal lock too. Of the two ways to write a rotation, each frame takes the one nearest to the
    frame before, so that programs may interpolate the angles.
    """
    w, x, y, z = np.moveaxis(q, -1, 0)
    half_sum, half_difference = np.arctan2(y + z, w + x), np.arctan2(z - y, w - x)
    middle = 2.0 * np.arctan2(np.hypot(w + x, y + z), np.hypot(w - x, z - y)) - 0.5 * np.pi
    first, last = half_sum + half_difference, half_sum - half_difference
    one = np.stack([first, middle, last], axis=-1)
    ways = np.stack([one, np.stack([first + np.pi, np.pi - middle, last + np.pi], axis=-1)])
    angles: np.ndarray = _short(ways[0])
    for now in range(1, len(angles)):
        turned = _short(ways[:, now] - angles[now - 1])
        nearer = (turned[1] ** 2).sum(axis=-1) < (turned[0] ** 2).sum(axis=-1)
        angles[now] = angles[now - 1] + np.where(nearer[:, None], turned[1], turned[0])
    return angles


def _short(angles: np.ndarray) -> np.ndarray:
    """The same angles within half a turn of zero [rad]."""
    return np.asarray(angles - 2.0 * np.pi * np.round(angles / (2.0 * np.pi)))
