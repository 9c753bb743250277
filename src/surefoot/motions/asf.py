"""Motions from ASF skeletons and AMC channels, and back to AMC.

A bone begins where its parent ends and turns about its beginning: that is its joint. At rest all joints have the
skeleton's axes; a bone's turns M are about axes C of its own, so its rotation is C M C⁻¹. An order XYZ means turns
about fixed axes, x first: R = Rz Ry Rx. What an AMC file does not have is a frame rate.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import amc_text, asf_text, bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.asf_text import Bone
from surefoot.motions.motion import Motion, Skeleton


def load(
    amc_path: str | Path,
    asf_path: str | Path,
    *,
    fps: float = 120.0,
    scale: float = 1.0,
    up: str = "y",
    forward: str = "z",
) -> Motion:
    """Read a motion and its skeleton.

    Args:
        amc_path: of the channels.
        asf_path: of the skeleton they belong to.
        fps: frames per second, which the files do not tell.
        scale: units of the files per metre.
        up: the files' axis that points up: x, y, z, -x, -y or -z.
        forward: the files' axis that points forward.
    """
    frame, scale = bvh.axes(up, forward), bvh.positive(scale)
    if not 0.0 < fps < np.inf:
        raise OutputError(f"frames per second must be a positive number, got {fps}")
    skeleton = asf_text.read(Path(asf_path))
    values, degrees = amc_text.read(Path(amc_path), skeleton)
    bones, unit = skeleton.bones, np.pi / 180.0 if degrees else 1.0
    rotations, root = np.zeros((len(values), len(bones), 4)), np.zeros((len(values), 3))
    for i, bone in enumerate(bones):
        own = _own_axes(bone, skeleton.degrees)
        turn = np.tile(own, (len(values), 1))
        for axis in reversed(bone.order):
            if f"r{axis}" in bone.channels:
                turn = quat.about(turn, "xyz".index(axis), unit * _channel(values, bone, f"r{axis}"))
        rotations[:, i] = quat.multiply(turn, quat.inverse(own))
        for axis in "xyz":
            if f"t{axis}" in bone.channels:
                root[:, "xyz".index(axis)] = _channel(values, bone, f"t{axis}")
    rotations[..., 1:] = rotations[..., 1:] @ frame
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    parents = np.array([bone.parent for bone in bones])
    ends = np.array([bone.length * bone.direction for bone in bones])
    return Motion(
        time=np.arange(len(values)) / fps,
        skeleton=Skeleton(
            tuple(bone.name for bone in bones),
            parents,
            np.where(parents[:, None] < 0, 0.0, ends[parents]) @ frame / scale,
        ),
        root_position=root @ frame / scale,
        rotations=quat.continuous(rotations),
    )


def channels(
    motion: Motion, asf_path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z"
) -> dict[str, np.ndarray]:
    """(frames, channels) of every bone that has some, lengths in the file's units, angles in degrees.

    The motion is of this skeleton. Turns that a bone cannot make are left out; angles go on smoothly, in that of the
    two ways to write them that leaves out less, then in the one with less turning.
    """
    frame, scale = bvh.axes(up, forward), bvh.positive(scale)
    skeleton = asf_text.read(Path(asf_path))
    if tuple(bone.name for bone in skeleton.bones) != motion.skeleton.names:
        raise OutputError(f"{asf_path}: not the skeleton of this motion, whose bones are the same in the same order")
    root, found = scale * motion.root_position @ frame.T, {}
    for i, bone in enumerate(skeleton.bones):
        if not bone.channels:
            continue
        own = _own_axes(bone, skeleton.degrees)
        turn = motion.rotations[:, i]
        turn = np.concatenate([turn[:, :1], turn[:, 1:] @ frame.T], axis=1)
        turn = quat.multiply(quat.multiply(quat.inverse(own), turn), own)
        angles = np.degrees(_angles(turn, bone))
        found[bone.name] = np.column_stack(
            [(angles if name[0] == "r" else root)[:, "xyz".index(name[1])] for name in bone.channels]
        )
    return found


def text(motion: Motion, asf_path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z") -> str:
    """What an AMC file of a motion of this skeleton holds; the frame rate is lost."""
    table = channels(motion, asf_path, scale=scale, up=up, forward=forward)
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for now in range(len(motion)):
        lines.append(str(now + 1))
        lines += [f"{name} " + " ".join(f"{v:.9f}" for v in rows[now].tolist()) for name, rows in table.items()]
    return "\n".join(lines) + "\n"


def unit(asf_path: str | Path) -> float:
    """Metres per unit if the file's `:units length` is units per inch, as in CMU's files."""
    return 0.0254 / asf_text.read(Path(asf_path)).length


def _own_axes(bone: Bone, degrees: bool) -> np.ndarray:
    """(4,) rotation C from the skeleton's axes to those the bone turns about."""
    found = np.array([1.0, 0.0, 0.0, 0.0])
    for axis in reversed(bone.order):
        i = "xyz".index(axis)
        found = quat.about(found, i, np.asarray(bone.axis[i] * (np.pi / 180.0 if degrees else 1.0)))
    return found


def _channel(values: np.ndarray, bone: Bone, name: str) -> np.ndarray:
    return np.asarray(values[:, bone.column + bone.channels.index(name)])


def _angles(turns: np.ndarray, bone: Bone) -> np.ndarray:
    """(n, 3) angles [rad] about x, y and z that make the turns (n, 4) in the bone's order."""
    axes = ["xyz".index(axis) for axis in reversed(bone.order)]
    one = quat.angles(turns, axes)
    ways = np.stack([one, quat.other_way(one)])
    ways -= 2.0 * np.pi * np.round(ways[:, :1] / (2.0 * np.pi))
    left_out = [f"r{'xyz'[axis]}" not in bone.channels for axis in axes]
    least = (1.0 - np.cos(ways)).sum(axis=1) @ np.where(left_out, 1.0, 1e-6)  # (2,)
    return np.asarray(ways[int(np.argmin(least))][:, np.argsort(axes)])
