"""Where the body is over its stance foot, and how fast it moves (SIMBICON §3.3, figure 3b)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel


@kernel
def hip_midpoint(world: Any, axis: int) -> float:
    """Coordinate of the point midway between the hips, the paper's stand-in for the COM [m]."""
    left, right = world.xpos[int(world.leg[0, 0])], world.xpos[int(world.leg[1, 0])]
    return 0.5 * (left[axis] + right[axis])  # type: ignore[no-any-return]


@kernel
def distance_to_stance_ankle(world: Any, stance: int) -> float:
    """d: how far the hips are ahead of the stance ankle, along x [m]."""
    return hip_midpoint(world, 0) - world.xpos[int(world.leg[stance, 2]), 0]  # type: ignore[no-any-return]


@kernel
def hip_velocity(world: Any) -> float:
    """v: speed of the hips' midpoint along x [m/s]."""
    pelvis = int(world.anatomy[0].pelvis)
    center, spin = world.subtree_com[world.rootid[pelvis]], world.cvel[pelvis, :3]
    y, z = hip_midpoint(world, 1) - center[1], hip_midpoint(world, 2) - center[2]
    return world.cvel[pelvis, 3] + spin[1] * z - spin[2] * y  # type: ignore[no-any-return]


@kernel
def pitch(world: Any, body: int) -> float:
    """World pitch of a body: positive turns x towards z (a torso leans back, a thigh swings forward) [rad]."""
    return math.atan2(world.xmat[body, 6], world.xmat[body, 0])


@kernel
def pitch_rate(world: Any, body: int) -> float:
    """Rate of `pitch` of a body that turns about the y axis [rad/s]."""
    return -world.cvel[body, 1]  # type: ignore[no-any-return]
