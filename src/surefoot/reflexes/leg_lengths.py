"""Rest lengths of the legs, adapted to the ground under each foot (Kenwright §5.2, figure 12)."""

from __future__ import annotations

import math

from surefoot.native.pointers import kernel

_SHORTEST = 0.3  # of a leg, that counts as reaching the hip


@kernel
def hip_height_over(foot_z: float, away: float, length: float) -> float:
    """How high the hip is when a leg of this length stands on a foot so far away on the plan [m]."""
    least = _SHORTEST * length
    return foot_z + math.sqrt(max(length * length - away * away, least * least))


@kernel
def hip_height(left_z: float, left_away: float, right_z: float, right_away: float, length: float) -> float:
    """Height of the hips at which both legs reach the ground, the longest at its full length [m]."""
    return min(hip_height_over(left_z, left_away, length), hip_height_over(right_z, right_away, length))


@kernel
def least_hip_height(thigh: float, shin: float, ahead: float, lean: float) -> float:
    """How high the hip is above the ankle when the shin leans forward as far as it can [m].

    Args:
        thigh: its length [m].
        shin: its length [m].
        ahead: of the ankle, where the hip is [m].
        lean: of the shin, forward [rad].
    """
    away = ahead - shin * math.sin(lean)
    return shin * math.cos(lean) + math.sqrt(max(0.0, thigh * thigh - away * away))


@kernel
def rest_length(foot_z: float, away: float, height: float) -> float:
    """Rest length of a leg whose foot is so far away on the plan of hips at a height [m]."""
    return math.sqrt(away * away + (height - foot_z) ** 2)
