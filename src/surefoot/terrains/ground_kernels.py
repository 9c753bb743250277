"""Compiled functions of the ground: its height at a place, which a stepping law needs, and how a platform moves."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel, noinline

PLANE, PROFILE, FIELD, PLATFORM = 0.0, 1.0, 2.0, 3.0
"""Kinds of ground. The numbers that follow the kind are, of a plane, slopes along x and y; of a profile, a count,
cosine and sine of the direction, distances and heights; of a field, rows, columns, corner, spacings and heights; of a
platform, the body whose upper side is the ground, angle, period and ramp of its tilt, and the addresses of its first
hinge in `qpos` and `qvel`."""


@noinline
def height_at(world: Any, at: int, x: float, y: float) -> float:
    """Height of the ground at a place of the world [m]; `at` is where its numbers begin, −1 for level ground."""
    if at < 0:
        return 0.0
    kind = world.numeric[at]
    if kind == PROFILE:
        return _profile(world.numeric, at, x, y)  # type: ignore[no-any-return]
    if kind == FIELD:
        return _field(world.numeric, at, x, y)  # type: ignore[no-any-return]
    if kind == PLATFORM:
        body = int(world.numeric[at + 1])
        center, axes = world.xpos[body], world.xmat[body]
        rise = axes[2] * (x - center[0]) + axes[5] * (y - center[1])
        return center[2] - rise / max(axes[8], 0.1)  # type: ignore[no-any-return]
    return world.numeric[at + 1] * x + world.numeric[at + 2] * y  # type: ignore[no-any-return]


@kernel
def _profile(numeric: Any, at: int, x: float, y: float) -> float:
    """Height on a profile; the stretch is found by bisection."""
    count = int(numeric[at + 1])
    along = x * numeric[at + 2] + y * numeric[at + 3]
    xs, zs = at + 4, at + 4 + count
    low, high = 0, count  # between them is the number of corners not beyond the place
    while low < high:
        middle = (low + high) // 2
        if numeric[xs + middle] <= along:
            low = middle + 1
        else:
            high = middle
    if low == 0 or low == count:
        return numeric[zs + max(low - 1, 0)]  # type: ignore[no-any-return]
    run = numeric[xs + low] - numeric[xs + low - 1]
    share = (along - numeric[xs + low - 1]) / run
    return numeric[zs + low - 1] + share * (numeric[zs + low] - numeric[zs + low - 1])  # type: ignore[no-any-return]


@kernel
def _field(numeric: Any, at: int, x: float, y: float) -> float:
    """Height on a field, whose cells are cut from their first corner to their last."""
    rows, columns = int(numeric[at + 1]), int(numeric[at + 2])
    right, up = (x - numeric[at + 3]) / numeric[at + 5], (y - numeric[at + 4]) / numeric[at + 6]
    first = at + 7
    if not (0.0 < right < columns - 1.0 and 0.0 < up < rows - 1.0):
        return numeric[first]  # type: ignore[no-any-return]
    column, row = int(right), int(up)  # neither is negative
    right, up = right - column, up - row
    corner = first + row * columns + column
    between = corner + 1 if right > up else corner + columns
    a, b, c = numeric[corner], numeric[between], numeric[corner + columns + 1]
    return a + max(right, up) * (b - a) + min(right, up) * (c - b)  # type: ignore[no-any-return]


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
    """Set the speeds of the platform's hinges, if there is one, so that it is right after the next physics step."""
    at = int(row.header[0].ground)
    if at < 0 or world.numeric[at] != PLATFORM:
        return
    angle, period, ramp = world.numeric[at + 2], world.numeric[at + 3], world.numeric[at + 4]
    a, b = platform_angles(world.time + world.dt, angle, period, ramp)
    place, speed = int(world.numeric[at + 5]), int(world.numeric[at + 6])
    world.qvel[speed] = (a - world.qpos[place]) / world.dt
    world.qvel[speed + 1] = (b - world.qpos[place + 1]) / world.dt
