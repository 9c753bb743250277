"""A body for a skeleton without shapes: limbs that are thicker the more bones hang from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions import meshes
from surefoot.motions.body_parts import SkeletonError, find_body_parts
from surefoot.motions.forward_kinematics import parents_first, rest_positions
from surefoot.motions.leaf_bones import leaf_bone_ends
from surefoot.motions.meshes import Color, TriangleMesh
from surefoot.motions.motion import Motion, Skeleton

FALLBACK_COLOR: Color = (0.30, 0.42, 0.58, 1.0)
_SPINE, _NO_SPINE = 0.55, 0.1  # [leg lengths] of an added spine, and largest height of a body that needs one
_SMALLEST = 0.2  # [m]
_THICK = 0.052  # radius [sizes] of a limb from which bones of the length of one size hang
_TAPER = 0.7  # radius of a last bone's end, as a share of that of its beginning
_HEAD, _ABOVE = np.array([0.058, 0.050, 0.068]), 0.045  # [sizes] radii, and from the head's joint to its middle


@dataclass(frozen=True)
class Bone:
    """A bone from a joint to an end (3,) in its frame [m], which is the joint `child`, or −1 if nothing follows."""

    end: np.ndarray
    child: int


def rest_size(skeleton: Skeleton) -> float:
    """Largest extent of a skeleton at rest [m]."""
    return max(float(np.ptp(rest_positions(skeleton), axis=0).max()), _SMALLEST)


def bones_by_joint(motion: Motion) -> list[list[Bone]]:
    """For every joint, bones to its children or to its end; a body without a spine gets one."""
    skeleton, ends, rest = motion.skeleton, leaf_bone_ends(motion), rest_positions(motion.skeleton)
    found = []
    for joint, parent in enumerate(skeleton.parents):
        children = np.flatnonzero(skeleton.parents == joint).tolist()
        own = [Bone(skeleton.offsets[child], child) for child in children] or [Bone(ends[joint], -1)]
        if parent < 0 and rest[:, 2].max() < -_NO_SPINE * rest[:, 2].min():
            own.append(Bone(np.array([0.0, 0.0, -_SPINE * rest[:, 2].min()]), -1))
        found.append(own)
    return found


def fallback_meshes(motion: Motion, spacing: float) -> list[dict[Color, TriangleMesh]]:
    """For every joint, rounded limbs along its bones in its frame, in rings at most `spacing` apart [m]."""
    size, every = rest_size(motion.skeleton), bones_by_joint(motion)
    hanging = np.zeros(len(every))  # [m] all bones from each joint on
    for joint in reversed(parents_first(motion.skeleton)):
        hanging[joint] = sum(_length(bone) + (hanging[bone.child] if bone.child >= 0 else 0.0) for bone in every[joint])

    def radius(length: float) -> float:
        return float(_THICK * np.sqrt(size * length))

    found: list[list[TriangleMesh]] = []
    for own in every:
        limbs = []
        for bone in own:
            first = radius(_length(bone) + (hanging[bone.child] if bone.child >= 0 else 0.0))
            after = [_length(b) + (hanging[b.child] if b.child >= 0 else 0.0) for b in every[bone.child]]
            last = min(radius(max(after)), first) if bone.child >= 0 else _TAPER * first
            limbs.append(meshes.tapered_capsule(bone.end, (first, last), spacing))
        found.append(limbs)
    head = _head(motion)
    if head is not None:
        way = motion.skeleton.offsets[head]
        way = way / max(float(np.linalg.norm(way)), 1e-9)
        found[head].append(meshes.ellipsoid_or_capsule(size * _HEAD).transformed(size * _ABOVE * way, np.eye(3)))
    return [{FALLBACK_COLOR: meshes.merge_meshes(limbs)} for limbs in found]


def _length(bone: Bone) -> float:
    return float(np.linalg.norm(bone.end))


def _head(motion: Motion) -> int | None:
    try:
        return find_body_parts(motion)[0].head
    except SkeletonError:
        return None
