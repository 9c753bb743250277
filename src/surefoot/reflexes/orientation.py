"""Orientations in the world as quaternions, and servos that act on them with a torque vector."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel

# Vectors and quaternions (w first) are plain tuples here: a kernel allocates nothing.
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@kernel
def turned(yaw: float, roll: float, pitch: float) -> Quaternion:
    """Orientation of a part turned by `pitch` (x towards z), then `roll` (y towards z), then `yaw` (x towards y)."""
    cz, sz = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    cx, sx = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cy, sy = math.cos(0.5 * pitch), -math.sin(0.5 * pitch)
    w, x, y, z = cz * cx, cz * sx, sz * sx, sz * cx
    return w * cy - y * sy, x * cy - z * sy, w * sy + y * cy, z * cy + x * sy


@kernel
def turn_between(wanted: Quaternion, actual: Any) -> Vector:
    """Rotation vector [rad], in world axes, that takes `actual` to `wanted` the shorter way round."""
    w, x, y, z = wanted
    a, b, c, d = actual[0], -actual[1], -actual[2], -actual[3]
    s = w * a - x * b - y * c - z * d
    i = w * b + x * a + y * d - z * c
    j = w * c - x * d + y * a + z * b
    k = w * d + x * c - y * b + z * a
    if s < 0.0:  # both q and −q are this rotation
        s, i, j, k = -s, -i, -j, -k
    length = math.sqrt(i * i + j * j + k * k)
    scale = 2.0 if length < 1e-9 else 2.0 * math.atan2(length, s) / length
    return scale * i, scale * j, scale * k




@kernel
def within(torque: Vector, limit: float) -> Vector:
    """The same direction, no longer than `limit`."""
    size = length(torque)
    k = limit / size if size > limit else 1.0
    return k * torque[0], k * torque[1], k * torque[2]


@kernel
def length(vector: Vector) -> float:
    """Euclidean length of a vector."""
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


