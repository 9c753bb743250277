"""Closed-form inverse kinematics of a limb of two links: a leg or an arm (GENBICON §4.2, Kenwright §5.5).

In the neutral posture the first link is the vector a, the second is b, and the joint between them turns about n.
Nothing else is assumed: a and b need not be in line, so a knee that sits ahead of the leg's line needs no special case.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    between_frames,
    cross,
    dot,
    from_axis_angle,
    norm,
    rotate,
    scale,
)
from surefoot.reflexes.limb_servo import rotation_error
from surefoot.reflexes.servo import clamp

STRAIGHT = 0.9995  # share of its full length: the longest that a limb is asked to be
LOOKAHEAD = 0.01  # [s] between two targets from whose difference a target's rate is computed


class LimbMotion(NamedTuple):
    """Targets of a moving limb: rotation of its first link, bend of its middle joint [rad], and the rates of both."""

    turn: Quaternion
    bend: float
    spin: Vector  # [rad/s] of the first link, in the axes of `turn`'s frame
    bend_rate: float  # [rad/s]


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


@kernel
def leg_angles(chain: Any, to: Vector, axis: Vector) -> tuple[Quaternion, float]:
    """Rotation of the first link and bend of the middle joint [rad] that bring the end to `to` from the root [m]."""
    bend = middle_angle(chain, norm(to))
    return first_rotation(chain, bend, to, axis), bend


@kernel
def can_reach(chain: Any, to: Vector) -> bool:
    """Whether the end can be at `to` from the root [m], apart from the limits of the first joint."""
    return span(chain, middle_angle(chain, 0.0)) <= norm(to) <= STRAIGHT * chain.reach  # type: ignore[no-any-return]


@kernel
def limb_motion(chain: Any, now: Vector, later: Vector, axis: Vector, fastest: float) -> LimbMotion:
    """Targets of a limb whose end should be at `now`, and at `later` after `LOOKAHEAD` seconds, from its root [m].

    `fastest` limits the rates [rad/s].
    """
    turn, bend = leg_angles(chain, now, axis)
    turn_later, bend_later = leg_angles(chain, later, axis)
    spin = scale(1.0 / LOOKAHEAD, rotation_error(turn_later, turn))
    spin = (clamp(spin[0], -fastest, fastest), clamp(spin[1], -fastest, fastest), clamp(spin[2], -fastest, fastest))
    return LimbMotion(turn, bend, spin, clamp((bend_later - bend) / LOOKAHEAD, -fastest, fastest))
