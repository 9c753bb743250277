"""Where a body of any origin faces."""

from __future__ import annotations

import math

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion
from surefoot.motions.parts import SkeletonError, parts_of
from surefoot.motions.places import world

_APART = 0.02  # [m] two hips are apart at least for their line to tell left from right


def mean_facing(motion: Motion, start: float = -math.inf, end: float = math.inf) -> float:
    """World yaw a body faces between two moments [s], on average [rad].

    It is told by what is left of it, which bends, flips and falls forward do not turn: the root's own left of a body
    of ours; of a stranger's skeleton, whose root may be turned any way, the line between the hips.
    """
    first = max(int(np.searchsorted(motion.time, start, side="right")) - 1, 0)
    last = int(np.searchsorted(motion.time, end, side="left")) + 1
    across = None if motion.scene is not None else _between_hips(motion, first, last)
    if across is None:
        across = quat.rotate(motion.rotations[first:last, 0], np.array([0.0, 1.0, 0.0])).mean(axis=0)
    return math.atan2(-across[0], across[1])


def _between_hips(motion: Motion, first: int, last: int) -> np.ndarray | None:
    """(3,) mean way from the right hip to the left one [m]; None where there are none that tell anything."""
    try:
        parts, _ = parts_of(motion)
    except SkeletonError:
        return None
    part = Motion(
        motion.time[first:last], motion.skeleton, motion.root_position[first:last], motion.rotations[first:last]
    )
    places, _ = world(part)
    across = (places[:, parts.left.hip] - places[:, parts.right.hip]).mean(axis=0)
    return np.asarray(across) if np.hypot(across[0], across[1]) > _APART else None
