"""Where the swing foot goes (Kenwright §4.1), and the Bézier curve of its path (§5.5).

Equations 2 and 3, for the moment at which the foot lands, give the foothold; a search moves it to even ground. The
paper has no law for a wanted speed: a linear pendulum that travels V·T in a step has its foot V·α nearer than where it
would come to rest, α = (T/2)(coth(ωT/2) − 1) (`pendulum.speed_offset`).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.plan import BALANCE, WALK
from surefoot.controllers.stepping.slip import step_distance, with_spring_loss
from surefoot.controllers.stepping.stride import roll_speed, walking_period, walking_width
from surefoot.controllers.stepping.support import Region
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.pendulum import pendulum_after, pendulum_frequency, speed_offset, sway_offset
from surefoot.reflexes.servo import clamp
from surefoot.terrains.ground_kernels import height_at

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_SAMPLES = 6  # points
_SETTLED_PHASE = 0.85  # [phase]
_SIDE_BY_SIDE = 0.22  # [m]
_CLOSEST, _CROSSING = 0.11, -0.06  # [m]
_EVEN = 0.015  # [m]
_STEP_UP, _NEAR_EDGE, _FAR_COST = 0.04, 0.40, 0.5  # [m], [m], [m/m]
_SOLE_MARGIN = 0.02  # [m]
_TRIES, _SPACING = 25, 0.02  # count, [m]
_UNEVEN_COST, _CHANGE_COST = 100.0, 0.1  # [m/m], [m]
_DEEPEST, _GAP_COST = 0.45, 1.0  # [leg], [m]
_SLOPE_WEIGHT = 0.25
_STEEPEST_ROLL = 0.6  # [rad]


@kernel
def bezier(s: float, a: float, b: float, c: float, d: float) -> float:
    """A cubic Bézier curve at s of 0 … 1, of four control values."""
    r = 1.0 - s
    return r * r * r * a + 3.0 * r * r * s * b + 3.0 * r * s * s * c + s * s * s * d


@kernel
def travel_share(s: float) -> float:
    """Share of its horizontal way that a foot has gone: a Bézier curve with double end points, from rest to rest."""
    return bezier(clamp(s, 0.0, 1.0), 0.0, 0.0, 1.0, 1.0)  # type: ignore[no-any-return]


@kernel
def control_height(start: float, end: float, top: float) -> float:
    """Height of the two inner control points of a curve whose middle is at `top` [m]."""
    return (8.0 * top - start - end) / 6.0


@noinline
def highest_between(world: World, ground: int, x0: float, y0: float, x1: float, y1: float) -> float:
    """Highest ground on a foot's way [m]."""
    highest = max(height_at(world, ground, x0, y0), height_at(world, ground, x1, y1))
    for i in range(_SAMPLES):
        t = (i + 0.5) / _SAMPLES
        highest = max(highest, height_at(world, ground, x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    return highest  # type: ignore[no-any-return]


@kernel
def stopping_foothold(
    stepper: Any, plan: Any, com: Vector, velocity: Vector, time: float, rise: float, short: float, ux: float,
    uy: float,
) -> Vector:  # fmt: skip
    """World x and y at which the foot has to land after a time for the pendulum to come to rest above it (eq. 2) [m].

    The third number is the pendulum's frequency [1/s]. (ux, uy) is the velocity of its centre of pressure [m/s].
    """
    height = com[2] - stepper.z
    omega = pendulum_frequency(height)
    x, vx = pendulum_after(com[0] - stepper.x, velocity[0] - ux, omega, time)
    y, vy = pendulum_after(com[1] - stepper.y, velocity[1] - uy, omega, time)
    x, vx, y, vy = x + time * ux, vx + ux, y + time * uy, vy + uy
    v = math.sqrt(vx * vx + vy * vy)
    d = with_spring_loss(step_distance(v, height, rise), short, height, plan.spring_bias)
    k = d / v if v > 1e-9 else 0.0
    return stepper.x + x + k * vx, stepper.y + y + k * vy, omega


@kernel
def _keep_feet_apart(stepper: Any, stance: Region, x: float, y: float) -> tuple[float, float]:
    """The same place, moved so that the feet do not stand on each other [m]."""
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    beside = outward * left
    if abs(along) < _SIDE_BY_SIDE:
        beside = max(beside, _CLOSEST) if beside > _CROSSING else min(beside, -_CLOSEST)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    left = outward * beside
    return stance.x + c * along - s * left, stance.y + s * along + c * left


@noinline
def plan_foothold(
    world: World, row: Row, limbs: Limbs, plan: Any, stepper: Any, stance: Region, com: Vector, velocity: Vector,
    short: float,
) -> None:  # fmt: skip
    """Set the goal of a step that balances or walks (equations 2 and 3); near the end of the step it stays.

    Args:
        world: the physics.
        row: the simulation's memory.
        limbs: the body's links.
        plan: PLAN record of the skill.
        stepper: STEPPER record.
        stance: region of the stance foot.
        com: position of the pendulum's mass, displaced by a pull (eq. 3) [m].
        velocity: velocity of the mass [m/s].
        short: by how much the stance leg is too short [m].
    """
    if stepper.phase > _SETTLED_PHASE or stepper.phase < 0.0:
        return
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    u = roll_speed(plan, stepper) if stepper.kind == WALK else 0.0
    remaining = plan.foresight * (max(0.0, 1.0 - stepper.phase) * stepper.duration + 0.5 * stepper.both)
    x, y, omega = stopping_foothold(
        stepper, plan, com, velocity, remaining, stepper.goal_z - stance.z, short, c * u, s * u
    )
    period = walking_period(plan, stepper) if stepper.kind == WALK else stepper.duration
    lead = plan.alpha * speed_offset(omega, period)
    ahead, left = -lead * (stepper.speed + stepper.integral - u), -lead * (stepper.sideways + stepper.side_integral)
    ahead += u * (0.5 * period - 1.0 / omega)
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    _, beside = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    if outward * beside > _CROSSING:  # on its own side; a crossing foot goes right to where the body is caught
        left += outward * 0.5 * walking_width(plan, stepper) * sway_offset(omega, period)
    x, y = x + c * ahead - s * left, y + s * ahead + c * left
    reach = plan.longest_step * limbs.biped[0].leg_length
    dx, dy = x - com[0], y - com[1]
    k = min(1.0, reach / max(math.sqrt(dx * dx + dy * dy), 1e-6))
    x, y = _keep_feet_apart(stepper, stance, com[0] + k * dx, com[1] + k * dy)
    place_goal(world, row, limbs, stepper, stance, x, y, 0.0 if stepper.kind == BALANCE else 1.0)


@noinline
def place_goal(
    world: World, row: Row, limbs: Limbs, stepper: Any, stance: Region, x: float, y: float, ahead: float
) -> None:
    """Put the goal on the ground: at (x, y), or at the best even place along the facing direction [m].

    Places ahead are tried before those behind at the same distance; if `ahead` is negative, those behind come first.
    """
    ground, biped = int(row.header[0].ground), limbs.biped[0]
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    half = 0.5 * (biped.ahead + biped.behind)
    wide = half + _SOLE_MARGIN
    best, best_at, least = 1e9, 0.0, 1e9
    for i in range(_TRIES):
        off = _SPACING * ((i + 1) // 2) * (1.0 if (i % 2 == 1) == (ahead >= 0.0) else -1.0)
        px, py = x + c * off, y + s * off
        here = height_at(world, ground, px, py)
        toe = height_at(world, ground, px + c * wide, py + s * wide)
        heel = height_at(world, ground, px - c * wide, py - s * wide)
        bulge = max(abs(toe + heel - 2.0 * here), _SLOPE_WEIGHT * max(0.0, abs(toe - heel) - 2.0 * wide))
        if here < stance.z - _DEEPEST * biped.leg_length:
            bulge += _GAP_COST
        if abs(here - stance.z) > _STEP_UP:  # steps up or down are taken only from near the edge
            bulge += _FAR_COST * max(0.0, math.hypot(px - stance.x, py - stance.y) - _NEAR_EDGE)
        cost = abs(off) + _UNEVEN_COST * max(0.0, bulge - _EVEN) + (_CHANGE_COST if off * stepper.off < 0.0 else 0.0)
        if cost < least - 1e-6:
            least, best, best_at = cost, bulge, off
        if i == 0 and bulge < _EVEN:
            break
    stepper.off = best_at
    x, y = x + c * best_at, y + s * best_at
    width = biped.half_width
    toe = height_at(world, ground, x + c * half, y + s * half)
    heel = height_at(world, ground, x - c * half, y - s * half)
    left = height_at(world, ground, x - s * width, y + c * width)
    right = height_at(world, ground, x + s * width, y - c * width)
    even = best < _EVEN
    stepper.goal_x, stepper.goal_y, stepper.goal_z = x, y, height_at(world, ground, x, y)
    stepper.goal_pitch = math.atan2(toe - heel, 2.0 * half) if even else 0.0
    stepper.goal_roll = clamp(math.atan2(left - right, 2.0 * width), -_STEEPEST_ROLL, _STEEPEST_ROLL) if even else 0.0
    stepper.top = highest_between(world, ground, stepper.x0, stepper.y0, x, y)
