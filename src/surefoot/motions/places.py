"""Where a motion's joints are in the world, and how they are turned there."""

from __future__ import annotations

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion, Skeleton


def downward(skeleton: Skeleton) -> list[int]:
    """All joints, each one after its parent."""
    joints = [int(j) for j in np.flatnonzero(skeleton.parents < 0)]
    for joint in joints:  # grows while it is gone through
        joints += [int(j) for j in np.flatnonzero(skeleton.parents == joint)]
    return joints


def chain(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints from the root down to one, itself included."""
    found = [joint]
    while skeleton.parents[found[-1]] >= 0:
        found.append(int(skeleton.parents[found[-1]]))
    return found[::-1]


def world(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(n, joints, 3) places [m] and (n, joints, 4) turns of all joints in the world."""
    skeleton = motion.skeleton
    turns = motion.rotations.copy()
    places = np.empty((*turns.shape[:2], 3))
    for joint in downward(skeleton):
        parent = int(skeleton.parents[joint])
        if parent < 0:
            places[:, joint] = motion.root_position
        else:
            turns[:, joint] = quat.multiply(turns[:, parent], motion.rotations[:, joint])
            places[:, joint] = places[:, parent] + quat.rotate(turns[:, parent], skeleton.offsets[joint])
    return places, turns


def heading(places: np.ndarray, left: int, right: int) -> np.ndarray:
    """(n, 2) where a body faces, by the line from its right hip to its left one; horizontal and of length 1."""
    across = places[:, left, :2] - places[:, right, :2]
    ahead = np.column_stack([across[:, 1], -across[:, 0]])
    return np.asarray(ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9))
