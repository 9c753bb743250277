"""Support regions: where the centre of pressure can be, under one foot or both (Kenwright §5.1, figure 13).

The region of a foot is a capsule on the ground: a middle, the vector from it to the end of its axis, and a radius. With
no axis it is the circle of figure 8. Both feet together bear at all points λ a + (1 − λ) b, where a lies in the left
region and b in the right one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, rotate
from surefoot.reflexes.limb_servo import anchor_of, body_turn
from surefoot.reflexes.servo import clamp
from surefoot.terrains.ground_kernels import height_at

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_LEAST_SQUARE, _ON_POINT = 1e-9, 1e-9  # [m²], [m]
_TOE_LOADING = 0.06  # [rad]
_TOLERANCE = 5e-4  # [m]
_THIRDS, _UNUSUAL_SHARE = 14, 1e-3  # iterations, [m]
_ROLLING, _EDGE = 0.06, 0.05  # [rad], [half sole]
_STEEPEST = 0.3  # cosine of a sole's tilt


class Region(NamedTuple):
    """A capsule under a foot, in world axes [m]; `up` is the sole's normal."""

    x: float
    y: float
    z: float
    ax: float
    ay: float
    radius: float
    up: Vector


@kernel
def foot_region(world: World, limbs: Limbs, side: int, length: float, width: float, highest: float) -> Region:
    """The region under a foot, using shares `length` and `width` of its sole.

    `highest` is the largest flexion of its ankle [rad].
    """
    biped, chain = limbs.biped[0], limbs.legs[side]
    link = limbs.links[int(chain.end)]
    turn, ankle = body_turn(world, link), anchor_of(world, link)
    middle = rotate(turn, (0.5 * (biped.ahead - biped.behind), 0.0, -chain.depth))
    along, up = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
    radius = width * biped.half_width
    half = max(0.0, 0.5 * length * (biped.ahead + biped.behind) - radius)
    # an ankle at its limit lifts the heel: the foot bears on its toes
    toes = clamp(1.0 - (highest - world.qpos[int(world.qadr[int(link.first)])]) / _TOE_LOADING, 0.0, 1.0) * half
    half -= toes
    return Region(
        ankle[0] + middle[0] + toes * along[0], ankle[1] + middle[1] + toes * along[1],
        ankle[2] + middle[2] + toes * along[2], half * along[0], half * along[1], radius, up,
    )  # fmt: skip


@noinline
def bearing_part(world: World, row: Row, limbs: Limbs, side: int, region: Region) -> Region:
    """The part of a foot's region that is on the ground: heel or toes of a foot that is tilted against it."""
    biped, ground = limbs.biped[0], int(row.header[0].ground)
    turn = body_turn(world, limbs.links[int(limbs.legs[side].end)])
    along = rotate(turn, (1.0, 0.0, 0.0))
    half = 0.5 * (biped.ahead + biped.behind)
    dx, dy, dz = half * along[0], half * along[1], half * along[2]
    rise = height_at(world, ground, region.x + dx, region.y + dy) - height_at(
        world, ground, region.x - dx, region.y - dy
    )
    end = -clamp((2.0 * dz - rise) / (2.0 * half * _ROLLING), -1.0, 1.0)
    keep, shift = 1.0 - abs(end), end * (1.0 - _EDGE)
    return Region(
        region.x + shift * dx, region.y + shift * dy, region.z + shift * dz, keep * region.ax, keep * region.ay,
        region.radius, region.up,
    )  # fmt: skip


@kernel
def nearest_in(ax: float, ay: float, radius: float, x: float, y: float) -> tuple[float, float]:
    """The point of a capsule around the origin, with the axis ± (ax, ay), that is nearest to (x, y) [m]."""
    square = ax * ax + ay * ay
    t = clamp((x * ax + y * ay) / max(square, _LEAST_SQUARE), -1.0, 1.0) if square > _LEAST_SQUARE else 0.0
    dx, dy = x - t * ax, y - t * ay
    size = math.sqrt(dx * dx + dy * dy)
    k = radius / size if size > radius else 1.0
    return t * ax + k * dx, t * ay + k * dy


@kernel
def within_foot(region: Region, x: float, y: float) -> tuple[float, float]:
    """The point under a foot that is nearest to (x, y) [m]."""
    dx, dy = nearest_in(region.ax, region.ay, region.radius, x - region.x, y - region.y)
    return region.x + dx, region.y + dy


@kernel
def within_shared(left: Region, right: Region, share: float, x: float, y: float) -> tuple[float, float]:
    """The point nearest to (x, y) that both feet bear when the left one has `share` of the load [m]."""
    mx, my = right.x + share * (left.x - right.x), right.y + share * (left.y - right.y)
    ax, ay = share * left.ax + (1.0 - share) * right.ax, share * left.ay + (1.0 - share) * right.ay
    radius = share * left.radius + (1.0 - share) * right.radius
    ox, oy = nearest_in(ax, ay, radius, x - mx, y - my)
    return mx + ox, my + oy


@kernel
def _distance_at_share(left: Region, right: Region, share: float, usual: float, x: float, y: float) -> float:
    """Distance of a point from what both feet bear at a share of the load, plus a small cost of unusual shares [m]."""
    px, py = within_shared(left, right, share, x, y)
    return math.hypot(x - px, y - py) + _UNUSUAL_SHARE * abs(share - usual)


@noinline
def within_both(left: Region, right: Region, x: float, y: float) -> tuple[float, float, float]:
    """The point borne by both feet that is nearest to (x, y) [m], and the left foot's share λ of the load there.

    If (x, y) can be borne at the λ of its projection on the line between the feet, that λ is used. Otherwise λ is
    searched: the distance of (x, y) from what is borne at a share is a convex function of the share.
    """
    dx, dy = left.x - right.x, left.y - right.y
    square = max(dx * dx + dy * dy, _LEAST_SQUARE)
    usual = clamp(((x - right.x) * dx + (y - right.y) * dy) / square, 0.0, 1.0)
    px, py = within_shared(left, right, usual, x, y)
    if math.hypot(x - px, y - py) < _ON_POINT:
        return px, py, usual
    low, high = 0.0, 1.0
    for _ in range(_THIRDS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        if _distance_at_share(left, right, a, usual, x, y) <= _distance_at_share(left, right, b, usual, x, y):
            high = b
        else:
            low = a
    share = 0.5 * (low + high)
    px, py = within_shared(left, right, share, x, y)
    return px, py, share


@kernel
def with_margin(region: Region, margin: float) -> Region:
    """The same capsule with a radius larger by `margin`, or smaller if it is negative [m]."""
    radius = max(0.0, region.radius + margin)
    return Region(region.x, region.y, region.z, region.ax, region.ay, radius, region.up)


@kernel
def is_beyond(left: Region, right: Region, margin: float, x: float, y: float) -> bool:
    """Whether a point is more than `margin` outside the feet's common region; a negative margin lies inside [m]."""
    px, py, _ = within_both(with_margin(left, margin), with_margin(right, margin), x, y)
    return math.hypot(x - px, y - py) > _TOLERANCE


@kernel
def on_sole(region: Region, x: float, y: float) -> Vector:
    """The point of a foot's sole above or below (x, y) [m]."""
    up = region.up
    return x, y, region.z - (up[0] * (x - region.x) + up[1] * (y - region.y)) / max(up[2], _STEEPEST)
