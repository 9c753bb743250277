"""Foot trajectories: Bézier curves from where a foot is to where it will stand, over the terrain (Kenwright §5.5).

Where the swing foot goes: equations 2 and 3 at the moment it lands, on ground that can be stood on (Kenwright §4.1).

The paper has no law for a wanted speed: a linear pendulum that goes V·T a step has its foot V·α nearer than where it
would come to rest, α = (T/2)(coth(ωT/2) − 1) (`pendulum.speed_offset`).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.plan import BALANCE, WALK
from surefoot.controllers.stepping.slip import lossy, step_distance
from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.pendulum import carried_on, frequency, speed_offset, sway_offset
from surefoot.reflexes.servo import clamp
from surefoot.terrains.ground_kernels import height_at

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


@noinline
def highest_between(world: Any, ground: int, x0: float, y0: float, x1: float, y1: float) -> float:
    """Highest ground on a foot's way [m]."""
    highest = max(height_at(world, ground, x0, y0), height_at(world, ground, x1, y1))
    for i in range(_SAMPLES):
        t = (i + 0.5) / _SAMPLES
        highest = max(highest, height_at(world, ground, x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    return highest  # type: ignore[no-any-return]


_SETTLED = 0.85  # phase from which a foot comes down where it is
_SIDE_BY_SIDE = 0.22  # [m] along, within which feet would stand on each other
_CLOSEST, _CROSSES = 0.11, -0.06  # [m] middles of feet side by side; from where on legs cross
_EVEN = 0.015  # [m] that the ground under a sole may bulge
_STEP, _NEAR, _FAR = 0.04, 0.40, 0.5  # [m] up or down; [m] from where that is stepped; bulge, by metres beyond
_EDGE = 0.02  # [m] from an edge, that a sole keeps
_TRIES, _TRY = 25, 0.02  # places tried along the way for an even one, [m] apart
_UNEVEN, _CHANGING = 100.0, 0.1  # what a bulge costs, by its height, and a change of mind [m]
_DEEPEST = 0.45  # of a leg, that a foothold may be below the other


@kernel
def capture(stepper: Any, plan: Any, com: Vector, velocity: Vector, time: float, rise: float, short: float) -> Vector:
    """Where the foot has to be after a time for the pendulum to come to rest above it (eq. 2), on the plan [m].

    The third number is the pendulum's frequency [1/s].
    """
    height = com[2] - stepper.z
    omega = frequency(height)
    x, vx = carried_on(com[0] - stepper.x, velocity[0], omega, time)
    y, vy = carried_on(com[1] - stepper.y, velocity[1], omega, time)
    v = math.sqrt(vx * vx + vy * vy)
    d = lossy(step_distance(v, height, rise), short, height, plan.spring_bias)
    k = d / v if v > 1e-9 else 0.0
    return stepper.x + x + k * vx, stepper.y + y + k * vy, omega


@kernel
def _apart_from(stepper: Any, stance: Any, x: float, y: float) -> tuple[float, float]:
    """The same place, so far from the other foot that they do not stand on each other [m]."""
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    beside = outward * left
    if abs(along) < _SIDE_BY_SIDE:
        beside = max(beside, _CLOSEST) if beside > _CROSSES else min(beside, -_CLOSEST)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    left = outward * beside
    return stance.x + c * along - s * left, stance.y + s * along + c * left


@noinline
def aim(
    world: Any, row: Any, limbs: Any, plan: Any, stepper: Any, stance: Any, com: Vector, velocity: Vector, short: float
) -> None:
    """Set the goal of a step that balances or walks (equations 2 and 3); near its end it stays.

    Args:
        world: the physics.
        row: its memory.
        limbs: the body's links.
        plan: the skill's numbers.
        stepper: what it remembers.
        stance: region of the foot that bears.
        com: the pendulum's mass, displaced by what pulls (eq. 3) [m].
        velocity: of the mass [m/s].
        short: by how much the stance leg is too short [m].
    """
    if stepper.phase > _SETTLED:
        return
    remaining = plan.foresight * max(0.0, 1.0 - stepper.phase) * stepper.duration
    x, y, omega = capture(stepper, plan, com, velocity, remaining, stepper.goal_z - stance.z, short)
    period = plan.step_time if stepper.kind == WALK else stepper.duration
    lead = plan.alpha * speed_offset(omega, period)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    ahead, left = -lead * (stepper.speed + stepper.integral), -lead * (stepper.sideways + stepper.side_integral)
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    _, beside = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    if outward * beside > _CROSSES:  # on its own side; a foot that crosses goes right to where the body is caught
        left += outward * 0.5 * plan.step_width * sway_offset(omega, period)
    x, y = x + c * ahead - s * left, y + s * ahead + c * left
    reach = plan.longest_step * limbs.biped[0].leg_length
    dx, dy = x - com[0], y - com[1]
    k = min(1.0, reach / max(math.sqrt(dx * dx + dy * dy), 1e-6))
    x, y = _apart_from(stepper, stance, com[0] + k * dx, com[1] + k * dy)
    settle_goal(world, row, limbs, stepper, stance, x, y, 0.0 if stepper.kind == BALANCE else 1.0)


@noinline
def settle_goal(world: Any, row: Any, limbs: Any, stepper: Any, stance: Any, x: float, y: float, ahead: float) -> None:
    """Put the goal on the ground: at (x, y), or the nearest place along the facing direction that is even [m].

    `ahead` is −1 or 1 where the one way along is tried before the other.
    """
    ground, biped = int(row.header[0].ground), limbs.biped[0]
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    half = 0.5 * (biped.ahead + biped.behind)
    wide = half + _EDGE
    best, best_at, least = 1e9, 0.0, 1e9
    for i in range(_TRIES):
        off = _TRY * ((i + 1) // 2) * (1.0 if (i % 2 == 1) == (ahead >= 0.0) else -1.0)
        px, py = x + c * off, y + s * off
        here = height_at(world, ground, px, py)
        toe, heel = (
            height_at(world, ground, px + c * wide, py + s * wide),
            height_at(world, ground, px - c * wide, py - s * wide),
        )
        bulge = max(abs(toe + heel - 2.0 * here), 0.25 * max(0.0, abs(toe - heel) - 2.0 * wide))
        if here < stance.z - _DEEPEST * biped.leg_length:
            bulge += 1.0  # a gap
        if abs(here - stance.z) > _STEP:  # up or down, only from near to the edge
            bulge += _FAR * max(0.0, math.hypot(px - stance.x, py - stance.y) - _NEAR)
        cost = abs(off) + _UNEVEN * max(0.0, bulge - _EVEN) + (_CHANGING if off * stepper.off < 0.0 else 0.0)
        if cost < least - 1e-6:
            least, best, best_at = cost, bulge, off
        if i == 0 and bulge < _EVEN:
            break
    stepper.off = best_at
    x, y = x + c * best_at, y + s * best_at
    width = biped.half_width
    toe, heel = (
        height_at(world, ground, x + c * half, y + s * half),
        height_at(world, ground, x - c * half, y - s * half),
    )
    left, right = (
        height_at(world, ground, x - s * width, y + c * width),
        height_at(world, ground, x + s * width, y - c * width),
    )
    even = best < _EVEN
    stepper.goal_x, stepper.goal_y, stepper.goal_z = x, y, height_at(world, ground, x, y)
    stepper.goal_pitch = math.atan2(toe - heel, 2.0 * half) if even else 0.0
    stepper.goal_roll = clamp(math.atan2(left - right, 2.0 * width), -0.6, 0.6) if even else 0.0
    stepper.top = highest_between(world, ground, stepper.x0, stepper.y0, x, y)
