"""Vectors and quaternions (w first) as plain tuples, for kernels, which allocate nothing."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel, noinline

# Vectors and quaternions (w first) are plain tuples here: a kernel allocates nothing.
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@kernel
def from_yaw_roll_pitch(yaw: float, roll: float, pitch: float) -> Quaternion:
    """Orientation of a part turned by `pitch` (x towards z), then `roll` (y towards z), then `yaw` (x towards y)."""
    cz, sz = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    cx, sx = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cy, sy = math.cos(0.5 * pitch), -math.sin(0.5 * pitch)
    w, x, y, z = cz * cx, cz * sx, sz * sx, sz * cx
    return w * cy - y * sy, x * cy - z * sy, w * sy + y * cy, z * cy + x * sy


@kernel
def rotation_between(wanted: Quaternion, actual: Any) -> Vector:
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
def limit_norm(torque: Vector, limit: float) -> Vector:
    """The same direction, no longer than `limit`."""
    size = norm(torque)
    k = limit / size if size > limit else 1.0
    return k * torque[0], k * torque[1], k * torque[2]


@kernel
def norm(vector: Vector) -> float:
    """Euclidean length of a vector."""
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """A × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def dot(a: Vector, b: Vector) -> float:
    """A · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def add(a: Vector, b: Vector) -> Vector:
    """A + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def subtract(a: Any, b: Any) -> Vector:
    """A − b, of anything that has three numbers."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(k: float, a: Vector) -> Vector:
    """K a."""
    return k * a[0], k * a[1], k * a[2]


@kernel
def unit(a: Vector) -> Vector:
    """The direction of a vector; of none, x."""
    size = math.sqrt(dot(a, a))
    if size < 1e-12:
        return 1.0, 0.0, 0.0
    return a[0] / size, a[1] / size, a[2] / size


@kernel
def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q, then p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def inverse(q: Quaternion) -> Quaternion:
    """The rotation undone."""
    return q[0], -q[1], -q[2], -q[3]


@kernel
def from_axis_angle(axis: Vector, angle: float) -> Quaternion:
    """Rotation about a unit axis [rad]."""
    s = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]


@kernel
def rotate(q: Quaternion, v: Vector) -> Vector:
    """A vector turned by a rotation."""
    axis = (q[1], q[2], q[3])
    first = cross(axis, v)
    first = (first[0] + q[0] * v[0], first[1] + q[0] * v[1], first[2] + q[0] * v[2])
    return add(v, scale(2.0, cross(axis, first)))


@kernel
def _beside(n: Vector, a: Vector) -> Vector:
    """Unit vector perpendicular to n and to the unit vector a; where they are parallel, to a alone."""
    c = cross(n, a)
    if dot(c, c) < 1e-12:
        c = cross((0.0, 0.0, 1.0) if abs(a[2]) < 0.9 else (1.0, 0.0, 0.0), a)
    return unit(c)  # type: ignore[no-any-return]


@noinline
def between_frames(u: Vector, n: Vector, t: Vector, w: Vector) -> Quaternion:
    """Rotation that takes u's direction to t's and turns n, about it, as near to w as can be."""
    a, b = unit(u), unit(t)
    c, d = _beside(n, a), _beside(w, b)
    e, f = cross(a, c), cross(b, d)
    # the matrix Σ new axis ⊗ old axis; its quaternion from the largest diagonal term
    m00, m11 = b[0] * a[0] + d[0] * c[0] + f[0] * e[0], b[1] * a[1] + d[1] * c[1] + f[1] * e[1]
    m22 = b[2] * a[2] + d[2] * c[2] + f[2] * e[2]
    m01, m10 = b[0] * a[1] + d[0] * c[1] + f[0] * e[1], b[1] * a[0] + d[1] * c[0] + f[1] * e[0]
    m02, m20 = b[0] * a[2] + d[0] * c[2] + f[0] * e[2], b[2] * a[0] + d[2] * c[0] + f[2] * e[0]
    m12, m21 = b[1] * a[2] + d[1] * c[2] + f[1] * e[2], b[2] * a[1] + d[2] * c[1] + f[2] * e[1]
    trace = m00 + m11 + m22
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        return 0.25 * s, (m21 - m12) / s, (m02 - m20) / s, (m10 - m01) / s
    if m00 > m11 and m00 > m22:
        s = 2.0 * math.sqrt(1.0 + m00 - m11 - m22)
        return (m21 - m12) / s, 0.25 * s, (m01 + m10) / s, (m02 + m20) / s
    if m11 > m22:
        s = 2.0 * math.sqrt(1.0 + m11 - m00 - m22)
        return (m02 - m20) / s, (m01 + m10) / s, 0.25 * s, (m12 + m21) / s
    s = 2.0 * math.sqrt(1.0 + m22 - m00 - m11)
    return (m10 - m01) / s, (m02 + m20) / s, (m12 + m21) / s, 0.25 * s


@kernel
def to_heading_frame(heading: float, x: float, y: float) -> tuple[float, float]:
    """A horizontal vector in the character frame."""
    c, s = math.cos(heading), math.sin(heading)
    return c * x + s * y, c * y - s * x
