"""Where the centre of pressure can be: capsules under the feet, and what lies between them (Kenwright §5.1, figure 13).

A foot's region is a capsule on the ground: a middle, the vector from it to the end of its axis, and a radius; with no
axis it is the circle of figure 8. Both feet bear at all points λ a + (1 − λ) b of a point a of the left region and b
of the right one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import Vector, inverse, multiply, rotate
from surefoot.reflexes.limb_servo import quaternion_of
from surefoot.reflexes.servo import clamp

_LEAST, _OFF = 1e-9, 1e-9  # [m²], [m]
_ON_TOES = 0.06  # [rad] before an ankle can bend no further, within which the load goes to the toes
_NEAR = 5e-4  # [m] that a point may be off and count as borne
_THIRDS, _UNUSUAL = 14, 1e-3  # times that a range of shares loses a third; [m] that an unusual share costs


class Region(NamedTuple):
    """A capsule under a foot, in world axes [m]; `up` is the direction of the sole's normal."""

    x: float
    y: float
    z: float
    ax: float
    ay: float
    radius: float
    up: Vector


@kernel
def foot_region(world: Any, limbs: Any, side: int, length: float, width: float, highest: float) -> Region:
    """The region under a foot, of which so much of the sole's length and width is used.

    `highest` is how far its ankle can bend [rad].
    """
    biped, chain = limbs.biped[0], limbs.legs[side]
    link = limbs.links[int(chain.end)]
    turn = multiply(quaternion_of(world, int(link.body)), inverse((link.w, link.x, link.y, link.z)))
    ankle = world.xanchor[int(link.joint)]
    middle = rotate(turn, (0.5 * (biped.ahead - biped.behind), 0.0, -chain.depth))
    along, up = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
    radius = width * biped.half_width
    half = max(0.0, 0.5 * length * (biped.ahead + biped.behind) - radius)
    # an ankle that can bend no further lifts the heel: the foot bears on its toes
    toes = clamp(1.0 - (highest - world.qpos[int(world.qadr[int(link.first)])]) / _ON_TOES, 0.0, 1.0) * half
    half -= toes
    return Region(
        ankle[0] + middle[0] + toes * along[0], ankle[1] + middle[1] + toes * along[1],
        ankle[2] + middle[2] + toes * along[2], half * along[0], half * along[1], radius, up,
    )  # fmt: skip


@kernel
def nearest_in(ax: float, ay: float, radius: float, x: float, y: float) -> tuple[float, float]:
    """The point of a capsule around the origin, with the axis ± (ax, ay), that is nearest to (x, y) [m]."""
    square = ax * ax + ay * ay
    t = clamp((x * ax + y * ay) / max(square, _LEAST), -1.0, 1.0) if square > _LEAST else 0.0
    dx, dy = x - t * ax, y - t * ay
    size = math.sqrt(dx * dx + dy * dy)
    k = radius / size if size > radius else 1.0
    return t * ax + k * dx, t * ay + k * dy


@kernel
def within_foot(region: Any, x: float, y: float) -> tuple[float, float]:
    """The point under a foot that is nearest to (x, y) [m]."""
    dx, dy = nearest_in(region.ax, region.ay, region.radius, x - region.x, y - region.y)
    return region.x + dx, region.y + dy


@kernel
def within_shared(left: Any, right: Any, share: float, x: float, y: float) -> tuple[float, float]:
    """The point nearest to (x, y) that both feet bear at when the left one has a share of the load [m]."""
    mx, my = right.x + share * (left.x - right.x), right.y + share * (left.y - right.y)
    ax, ay = share * left.ax + (1.0 - share) * right.ax, share * left.ay + (1.0 - share) * right.ay
    radius = share * left.radius + (1.0 - share) * right.radius
    ox, oy = nearest_in(ax, ay, radius, x - mx, y - my)
    return mx + ox, my + oy


@kernel
def _miss(left: Any, right: Any, share: float, usual: float, x: float, y: float) -> float:
    """How far a point is from what is borne at a share [m]; of shares that do, the nearest to the usual one counts."""
    px, py = within_shared(left, right, share, x, y)
    return math.hypot(x - px, y - py) + _UNUSUAL * abs(share - usual)


@noinline
def within_both(left: Any, right: Any, x: float, y: float) -> tuple[float, float, float]:
    """The point between both feet near to (x, y) [m], and the left foot's share λ of the load there.

    λ is that of the nearest point between the middles where it will do; of feet one ahead of the other a point may be
    under the one although it is between the middles, and λ is sought: how far the point is from what is borne at a
    share is a convex function of it.
    """
    dx, dy = left.x - right.x, left.y - right.y
    square = max(dx * dx + dy * dy, _LEAST)
    usual = clamp(((x - right.x) * dx + (y - right.y) * dy) / square, 0.0, 1.0)
    px, py = within_shared(left, right, usual, x, y)
    if math.hypot(x - px, y - py) < _OFF:
        return px, py, usual
    low, high = 0.0, 1.0
    for _ in range(_THIRDS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        if _miss(left, right, a, usual, x, y) <= _miss(left, right, b, usual, x, y):
            high = b
        else:
            low = a
    share = 0.5 * (low + high)
    px, py = within_shared(left, right, share, x, y)
    return px, py, share


@kernel
def grown(region: Any, margin: float) -> Region:
    """The same capsule with a larger radius, or a smaller one [m]."""
    radius = max(0.0, region.radius + margin)
    return Region(region.x, region.y, region.z, region.ax, region.ay, radius, region.up)


@kernel
def is_beyond(left: Any, right: Any, margin: float, x: float, y: float) -> bool:
    """Whether a point is farther outside of what both feet bear than a margin; a negative one lies inside [m]."""
    px, py, _ = within_both(grown(left, margin), grown(right, margin), x, y)
    return math.hypot(x - px, y - py) > _NEAR


@kernel
def on_sole(region: Any, x: float, y: float) -> Vector:
    """The point of a foot's sole above or below (x, y) [m]."""
    up = region.up
    return x, y, region.z - (up[0] * (x - region.x) + up[1] * (y - region.y)) / max(up[2], 0.3)
