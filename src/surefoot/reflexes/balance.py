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
def over_stance_ankle(world: Any, stance: int, heading: float, true_com: bool) -> tuple[float, float, float, float]:
    """D and v of the hips' midpoint, or of the true COM, over the stance ankle [m], [m/s].

    Returns (d, v) in the sagittal plane and (d, v) in the coronal plane of the heading; left is positive.
    """
    ankle = world.xpos[int(world.leg[stance, 2])]
    pelvis = int(world.anatomy[0].pelvis)
    com = world.subtree_com[world.rootid[pelvis]]
    if true_com:
        x, y = com[0] - ankle[0], com[1] - ankle[1]
        vx, vy = _com_velocity(world, pelvis, com)
    else:
        mx, my, mz = hip_midpoint(world, 0), hip_midpoint(world, 1), hip_midpoint(world, 2)
        x, y = mx - ankle[0], my - ankle[1]
        vx, vy = _velocity_at(world, pelvis, mx - com[0], my - com[1], mz - com[2])
    c, s = math.cos(heading), math.sin(heading)
    return c * x + s * y, c * vx + s * vy, c * y - s * x, c * vy - s * vx


@kernel
def _velocity_at(world: Any, body: int, x: float, y: float, z: float) -> tuple[float, float]:
    """Horizontal velocity of a point of a body, given from the COM of its tree [m/s]."""
    v = world.cvel[body]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z


@kernel
def _com_velocity(world: Any, pelvis: int, com: Any) -> tuple[float, float]:
    """Horizontal velocity of the character's COM [m/s]."""
    root, total, px, py = world.rootid[pelvis], 0.0, 0.0, 0.0
    for body in range(1, len(world.mass)):
        if world.rootid[body] == root:
            at, m = world.xipos[body], world.mass[body]
            vx, vy = _velocity_at(world, body, at[0] - com[0], at[1] - com[1], at[2] - com[2])
            total += m
            px += m * vx
            py += m * vy
    return px / total, py / total


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
