"""How a gyrating platform moves: its hinges get the speeds that bring them to where they should be next."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.ground import PLATFORM


@kernel
def platform_tilt(time: float, angle: float, period: float, ramp: float) -> tuple[float, float]:
    """Angle θ of a platform's normal from the vertical, which grows smoothly during the ramp, and its yaw φ [rad]."""
    s = min(max(time / ramp, 0.0), 1.0)
    return angle * s * s * (3.0 - 2.0 * s), 2.0 * math.pi * time / period


@kernel
def platform_angles(time: float, angle: float, period: float, ramp: float) -> tuple[float, float]:
    """Angles about x, then about y, of a platform whose normal goes round a cone [rad].

    The normal is (sin θ cos φ, sin θ sin φ, cos θ) = Rx(a) Ry(b) ẑ.
    """
    tilt, way = platform_tilt(time, angle, period, ramp)
    x, y, z = math.sin(tilt) * math.cos(way), math.sin(tilt) * math.sin(way), math.cos(tilt)
    return math.atan2(-y, z), math.asin(x)


@kernel
def move_platform(world: Any, row: Any) -> None:
    """Set the speeds of the ground's hinges, if it has any, for the physics step to come."""
    at = int(row.header[0].ground)
    if at < 0 or world.numeric[at] != PLATFORM:
        return
    angle, period, ramp = world.numeric[at + 2], world.numeric[at + 3], world.numeric[at + 4]
    a, b = platform_angles(world.time + world.dt, angle, period, ramp)
    place, speed = int(world.numeric[at + 5]), int(world.numeric[at + 6])
    world.qvel[speed] = (a - world.qpos[place]) / world.dt
    world.qvel[speed + 1] = (b - world.qpos[place + 1]) / world.dt
