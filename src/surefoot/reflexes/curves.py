"""Catmull-Rom curves over the phase of a step: the motion generator's trajectories (GENBICON §4.1)."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import apart, kernel

KNOTS = 8  # at most, of a curve
WIDTH = 1 + 2 * KNOTS  # numbers of a curve: how many knots, their phases, their values


@kernel
def _slope(phases: Any, values: Any, count: int, k: int) -> float:
    """Catmull-Rom tangent at a knot: the chord between its neighbours."""
    low, high = max(k - 1, 0), min(k + 1, count - 1)
    return (values[high] - values[low]) / (phases[high] - phases[low])  # type: ignore[no-any-return]


@apart
def curve_at(curve: Any, phase: float) -> float:
    """Value of a curve (WIDTH,) at a phase; before its first and after its last knot it is constant."""
    count = int(curve[0])
    if count == 0:
        return 0.0
    phases, values = curve[1 : 1 + KNOTS], curve[1 + KNOTS : WIDTH]
    if count == 1 or phase <= phases[0]:
        return values[0]  # type: ignore[no-any-return]
    if phase >= phases[count - 1]:
        return values[count - 1]  # type: ignore[no-any-return]
    k = 0
    while phase >= phases[k + 1]:
        k += 1
    span = phases[k + 1] - phases[k]
    s = (phase - phases[k]) / span
    m, n = span * _slope(phases, values, count, k), span * _slope(phases, values, count, k + 1)
    p, q = values[k], values[k + 1]
    return p + s * (m + s * (3.0 * (q - p) - 2.0 * m - n + s * (2.0 * (p - q) + m + n)))  # type: ignore[no-any-return]
