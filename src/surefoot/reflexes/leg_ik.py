"""Closed-form inverse kinematics of two links: a leg that puts its ankle, an arm that puts its hand (GENBICON §4.2).

In the neutral posture the first link is the vector a, the second b, and the joint between them turns about n. Nothing
else is assumed: a and b need not be in line, so that a knee placed differently needs no case of its own.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import noinline
from surefoot.native.vectors import Quaternion, Vector, add, between_frames, cross, dot, from_axis_angle, rotate

STRAIGHT = 0.9995  # of its full length: a limb is never asked to be straighter


@noinline
def middle_angle(chain: Any, distance: float) -> float:
    """Angle of the middle joint, from neutral about n, that brings the end to a distance from the root [rad].

    |a + R(n, κ) b|² = |a|² + |b|² + 2 (c₀ + ρ cos(κ − κ₀)) is solved for κ on the side to which the joint bends,
    as far as it can.
    """
    a, b, n = (chain.ax, chain.ay, chain.az), (chain.bx, chain.by, chain.bz), (chain.nx, chain.ny, chain.nz)
    along = dot(a, n) * dot(b, n)
    cosine, sine = dot(a, b) - along, dot(a, cross(n, b))
    size = math.sqrt(cosine * cosine + sine * sine)
    reach = min(distance, STRAIGHT * chain.reach)
    wanted = 0.5 * (reach * reach - dot(a, a) - dot(b, b)) - along
    angle = math.atan2(sine, cosine) + chain.bend * math.acos(min(max(wanted / size, -1.0), 1.0))
    return chain.bend * min(chain.bend * angle, chain.most)  # type: ignore[no-any-return]


@noinline
def span(chain: Any, angle: float) -> float:
    """Distance from the root to the end with the middle joint at an angle from neutral [m]."""
    a, b, n = (chain.ax, chain.ay, chain.az), (chain.bx, chain.by, chain.bz), (chain.nx, chain.ny, chain.nz)
    end = add(a, rotate(from_axis_angle(n, angle), b))
    return math.sqrt(dot(end, end))


@noinline
def first_rotation(chain: Any, angle: float, target: Vector, axis: Vector) -> Quaternion:
    """How the first link is turned from neutral when the end lies at `target` from the root.

    Args:
        chain: the limb.
        angle: of its middle joint, as `middle_angle` gives it [rad].
        target: from the root to the end, in the frame the rotation is wanted in [m].
        axis: where the middle joint's axis should point there; the twist of the knee.
    """
    a, b, n = (chain.ax, chain.ay, chain.az), (chain.bx, chain.by, chain.bz), (chain.nx, chain.ny, chain.nz)
    return between_frames(add(a, rotate(from_axis_angle(n, angle), b)), n, target, axis)  # type: ignore[no-any-return]
