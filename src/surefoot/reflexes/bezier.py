"""Foot trajectories: Bézier curves from where a foot is to where it will stand, over the terrain (Kenwright §5.5)."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import apart, kernel
from surefoot.reflexes.ground import height_at
from surefoot.reflexes.servo import clamp

_SAMPLES = 6  # of the ground on the way


@kernel
def bezier(s: float, a: float, b: float, c: float, d: float) -> float:
    """A cubic Bézier curve at s of 0 … 1, of four control values."""
    r = 1.0 - s
    return r * r * r * a + 3.0 * r * r * s * b + 3.0 * r * s * s * c + s * s * s * d


@kernel
def way(s: float) -> float:
    """Share of the way on the plan: a Bézier curve that leaves and arrives at rest, with twofold end points."""
    return bezier(clamp(s, 0.0, 1.0), 0.0, 0.0, 1.0, 1.0)  # type: ignore[no-any-return]


@kernel
def control_height(start: float, end: float, top: float) -> float:
    """Height of the two inner control points of a curve that passes over `top` in its middle [m]."""
    return (8.0 * top - start - end) / 6.0


@apart
def highest_between(world: Any, ground: int, x0: float, y0: float, x1: float, y1: float) -> float:
    """Highest ground on a foot's way [m]."""
    highest = max(height_at(world, ground, x0, y0), height_at(world, ground, x1, y1))
    for i in range(_SAMPLES):
        t = (i + 0.5) / _SAMPLES
        highest = max(highest, height_at(world, ground, x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    return highest  # type: ignore[no-any-return]
