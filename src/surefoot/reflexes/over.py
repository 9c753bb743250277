"""The path of a swing ankle over an obstacle or a step: four Catmull-Rom segments (GENBICON §4.4)."""

from __future__ import annotations

import math

from surefoot.native.pointers import apart, kernel

_LEAST = 1e-3  # [m] of a segment, so that none takes no time


@kernel
def _segment(s: float, time: float, a: float, b: float, slope_a: float, slope_b: float) -> float:
    """Cubic Hermite at a share s of a segment that takes a time, between two values with their slopes."""
    s2, s3 = s * s, s * s * s
    value = (2.0 * s3 - 3.0 * s2 + 1.0) * a + (3.0 * s2 - 2.0 * s3) * b
    return value + time * ((s3 - 2.0 * s2 + s) * slope_a + (s3 - s2) * slope_b)


@apart
def over_at(
    share: float, x0: float, z0: float, x1: float, z1: float, x3: float, z3: float, x4: float, z4: float
) -> tuple[float, float]:
    """Place along the way and height after a share of the time [m].

    The five knots are the start, the two places between which the foot has to be high and the middle of them, and
    the goal; each segment takes as much of the time as it is long. At both ends it rests.
    """
    x2, z2 = 0.5 * (x1 + x3), 0.5 * (z1 + z3)
    t1 = max(math.hypot(x1 - x0, z1 - z0), _LEAST)
    half = max(math.hypot(x2 - x1, z2 - z1), _LEAST)
    last = max(math.hypot(x4 - x3, z4 - z3), _LEAST)
    t2, t3, t4 = t1 + half, t1 + 2.0 * half, t1 + 2.0 * half + last
    t = min(max(share, 0.0), 1.0) * t4
    dx1, dz1 = (x2 - x0) / t2, (z2 - z0) / t2
    dx2, dz2 = (x3 - x1) / (t3 - t1), (z3 - z1) / (t3 - t1)
    dx3, dz3 = (x4 - x2) / (t4 - t2), (z4 - z2) / (t4 - t2)
    if t < t1:
        s = t / t1
        return _segment(s, t1, x0, x1, 0.0, dx1), _segment(s, t1, z0, z1, 0.0, dz1)
    if t < t2:
        s = (t - t1) / half
        return _segment(s, half, x1, x2, dx1, dx2), _segment(s, half, z1, z2, dz1, dz2)
    if t < t3:
        s = (t - t2) / half
        return _segment(s, half, x2, x3, dx2, dx3), _segment(s, half, z2, z3, dz2, dz3)
    s = (t - t3) / last
    return _segment(s, last, x3, x4, dx3, 0.0), _segment(s, last, z3, z4, dz3, 0.0)
