"""GENBICON's step machine: when a step begins and ends, starting by a weight shift, stopping (GENBICON §4.1, §4.4)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.foot_roll import advance_push_off, ground_under, remember_pitch
from surefoot.controllers.genbicon.memory import SHIFT, STEP, begin_stand, begin_step
from surefoot.controllers.genbicon.style import Style
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import COMMAND_GIVEN, Row
from surefoot.native.vectors import Vector, norm, subtract, to_heading_frame
from surefoot.reflexes.handover import command_or, switch_skill
from surefoot.reflexes.leg_ik import middle_angle
from surefoot.reflexes.limb_servo import ankle_of, hip_of
from surefoot.reflexes.pendulum import GRAVITY, capture_point, horizontal_norm, pendulum_frequency, sway_offset
from surefoot.reflexes.servo import clamp, nearest_turn

# Constants beyond the paper; docs/genbicon.md gives the reason of each.
LEG_LENGTH = 0.92  # [m] of the person for whom styles are written
_EARLIEST_STRIKE = 0.5  # [phase]
_OVERDUE = 1.6  # [phase]
LANDING_PHASE = 0.87  # [phase]
_ROLLING_LANDING_PHASE = 0.95  # [phase]
_STRIKE_LOAD = 0.1  # [weight]
FLAT_COSINE = 0.985  # of a foot's tilt
_ACCELERATION = 0.6  # [m/s²]
_TURN_TO_STOP = 1.5  # [rad]
_SLOWEST_TURN = 0.2  # [speed]
_STOP_COMMAND = 0.5
_MOST_INTEGRAL = 1.5  # [m/s]
_MOST_SIDE_INTEGRAL = 0.3  # [m/s]
_STAND_SPEED = 0.25  # [m/s]
_STAND_STAGGER = 0.16  # [m]
_FAST_FROM, _FAST_RANGE = 1.2, 0.6  # [m/s]
_FAST_NARROWING = 0.2  # [width]
_SOFT_FROM, _SOFT_RANGE = 1.2, 0.3  # [m/s]
_LONG_FROM, _LONG_RANGE = 0.75, 0.15  # [s]
_QUICK_FROM, _QUICK_RANGE = 1.1, 0.7  # [m/s]
_HASTY = 0.3
_USUAL_RATE = 0.4
_FREE_DEVIATION, _MOST_DEVIATION = 0.15, 0.4  # [m]
_LONGEST_SHIFT = 0.8  # [s]
_REST = 0.15  # [s]
_TOPPLING_MARGIN = 0.8  # [sole]
_EVEN_LOAD = 0.2  # [weight]
_STAGGER = 0.03  # [m]
_SPEED, _HEADING, _TIME, _WIDTH, _SIDEWAYS, _STOP = 0, 1, 3, 5, 6, 7  # places of the commands


@kernel
def wanted_width(row: Row, limbs: Limbs, style: Style, walker: Any) -> float:
    """Lateral distance between the feet [m]; very fast walks are narrower, steps sideways wider, so as not to cross."""
    usual = style.numbers[0].step_width * limbs.biped[0].leg_length / LEG_LENGTH
    width = command_or(row, _WIDTH, usual * (1.0 - _FAST_NARROWING * fast_walk_share(walker)))
    return width + abs(_side_way(row, walker))  # type: ignore[no-any-return]


@kernel
def _side_way(row: Row, walker: Any) -> float:
    """How far to the left a step is told to take the body [m]."""
    return command_or(row, _SIDEWAYS, 0.0) * walker.period if walker.wish != 0.0 else 0.0


@kernel
def compensated_speed(walker: Any, numbers: Any) -> float:
    """Wanted speed, plus what footstrikes and double support take from it, plus what earlier steps missed [m/s]."""
    return walker.speed + numbers.loss * walker.speed * abs(walker.speed) + numbers.drag + walker.integral  # type: ignore[no-any-return]


@kernel
def sideways_speed(row: Row, walker: Any) -> float:
    """Wanted speed to the left, plus what earlier steps missed; a walker that is to stand has none [m/s]."""
    return command_or(row, _SIDEWAYS, 0.0) + walker.side_integral if walker.wish != 0.0 else 0.0


@kernel
def fast_walk_share(walker: Any) -> float:
    """0 for a usual walk, 1 for a very fast one."""
    return clamp((abs(walker.speed) - _FAST_FROM) / _FAST_RANGE, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def knee_softness(walker: Any, numbers: Any) -> float:
    """How far the stance knee gives way: 0 in usual walks, 1 in very fast ones or with very long-lasting steps."""
    fast = numbers.softening * clamp((abs(walker.speed) - _SOFT_FROM) / _SOFT_RANGE, 0.0, 1.0)
    return max(fast, clamp((walker.period - _LONG_FROM) / _LONG_RANGE, 0.0, 1.0))  # type: ignore[no-any-return]


@noinline
def advance_steps(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, velocity: Vector
) -> None:
    """Advance the wanted speed, the phase and the mode by one physics step."""
    numbers = style.numbers[0]
    walks = numbers.walks != 0.0 and command_or(row, _STOP, 0.0) < _STOP_COMMAND and intent.hold == 0.0
    walker.wish = 1.0 if walks else 0.0
    turn = abs(nearest_turn(command_or(row, _HEADING, walker.heading) - walker.heading))
    slower = max(_SLOWEST_TURN, 1.0 - turn / _TURN_TO_STOP)
    wanted = command_or(row, _SPEED, numbers.speed) * slower if walks else 0.0
    walker.speed += clamp(wanted - walker.speed, -_ACCELERATION * world.dt, _ACCELERATION * world.dt)
    if row.commands[COMMAND_GIVEN + _TIME] != 0.0:
        landing = LANDING_PHASE + numbers.rolling * (_ROLLING_LANDING_PHASE - LANDING_PHASE)
        walker.period = row.commands[_TIME] / landing
    else:
        walker.period = step_time(numbers.step_time, numbers.quicker, walker.speed, limbs.biped[0].leg_length)
    if walker.mode == STEP:
        _advance_step(world, row, limbs, style, walker, com, velocity)
    else:
        _advance_double_stance(world, row, limbs, walker, com, velocity)


@kernel
def _advance_step(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, com: Vector, velocity: Vector
) -> None:
    """Advance the phase of a step; at footstrike, measure the step and begin the next one or stand."""
    side, time, numbers = int(walker.swing), world.time, style.numbers[0]
    haste = (1.0 - fast_walk_share(walker)) * numbers.hurry * _foothold_deviation(world, row, limbs, walker, numbers)
    walker.phase += world.dt / walker.period * (1.0 + haste)
    if walker.pushing != 0.0:
        advance_push_off(world, row, limbs, style, walker, haste > _HASTY)
    loaded = row.contact_force[side, 2] > _STRIKE_LOAD * limbs.biped[0].mass * GRAVITY
    touches = row.touch[side] != 0.0 and (loaded or walker.phase >= 1.0)
    if row.touch[side] == 0.0:
        walker.unloaded = 1.0
    bearing = ankle_of(world, limbs, 1 - side)
    if _is_flat(world, limbs, 1 - side):
        walker.ground = bearing[2] - limbs.legs[1 - side].depth
        if numbers.rolling != 0.0:
            walker.ground = ground_under(world, limbs, 1 - side)
    if not (touches and walker.unloaded != 0.0 and walker.phase > _EARLIEST_STRIKE) and walker.phase < _OVERDUE:
        return
    moved, _ = to_heading_frame(walker.heading, com[0] - walker.mark_x, com[1] - walker.mark_y)
    taken = max(time - walker.mark_time, world.dt)
    walker.pace = moved / taken
    walker.integral += numbers.speed_integral * (walker.speed - moved / taken)
    walker.integral = clamp(walker.integral, -_MOST_INTEGRAL, _MOST_INTEGRAL)
    landed = ankle_of(world, limbs, side)
    _advance_side_integral(row, walker, numbers, bearing, landed, taken)
    switch_skill(row)
    stagger, _ = to_heading_frame(walker.heading, landed[0] - bearing[0], landed[1] - bearing[1])
    walker.usual += _USUAL_RATE * (stagger - walker.usual)
    if walker.wish == 0.0 and is_slow(velocity) and abs(stagger) < _STAND_STAGGER and touches:
        begin_stand(walker, time)
        return
    walker.lift_ground = walker.ground
    walker.ground = landed[2] - limbs.legs[side].depth
    begin_step(walker, 1 - side, bearing, time, com[0], com[1])
    walker.knee = knee_bend(world, limbs, side)
    if numbers.rolling != 0.0:
        walker.ground = ground_under(world, limbs, side)
        walker.pushing = 1.0 if numbers.double_support > 0.0 else 0.0
        remember_pitch(world, limbs, style, walker)


@kernel
def _advance_side_integral(row: Row, walker: Any, numbers: Any, bearing: Vector, landed: Vector, taken: float) -> None:
    """At a footstrike, add what the last step missed of a commanded sideways speed.

    The middle between the feet goes sideways evenly, while the COM sways.
    """
    x, y = 0.5 * (bearing[0] + landed[0]), 0.5 * (bearing[1] + landed[1])
    wanted = command_or(row, _SIDEWAYS, 0.0)
    _, moved = to_heading_frame(walker.heading, x - walker.middle_x, y - walker.middle_y)
    walker.middle_x, walker.middle_y = x, y
    if wanted == 0.0:
        walker.side_integral = 0.0
        return
    missed = walker.side_integral + numbers.speed_integral * (wanted - moved / taken)
    walker.side_integral = clamp(missed, -_MOST_SIDE_INTEGRAL, _MOST_SIDE_INTEGRAL)


@kernel
def _foothold_deviation(world: World, row: Row, limbs: Limbs, walker: Any, numbers: Any) -> float:
    """How much further than usual the balancing foothold is from the usual one [m]: such steps are hastened."""
    side = int(walker.swing)
    bearing = ankle_of(world, limbs, 1 - side)
    ahead, left = to_heading_frame(walker.heading, walker.aim_x - bearing[0], walker.aim_y - bearing[1])
    width = numbers.step_width * limbs.biped[0].leg_length / LEG_LENGTH * (1.0 if side == 0 else -1.0)
    way = _side_way(row, walker)
    width += way + (abs(way) if side == 0 else -abs(way))
    off = horizontal_norm(ahead - walker.usual, left - width)
    return clamp(off - _FREE_DEVIATION, 0.0, _MOST_DEVIATION)  # type: ignore[no-any-return]


@kernel
def knee_bend(world: World, limbs: Limbs, side: int) -> float:
    """Bend of a knee from neutral, positive in the sense in which it can bend [rad]."""
    chain, a, b = limbs.legs[side], hip_of(world, limbs, side), ankle_of(world, limbs, side)
    return chain.bend * middle_angle(chain, norm(subtract(b, a)))  # type: ignore[no-any-return]


@kernel
def _is_flat(world: World, limbs: Limbs, side: int) -> bool:
    """Whether a foot stands flat: the axis that is vertical in its neutral orientation is upright."""
    link = limbs.links[int(limbs.legs[side].end)]
    w, x, y, z = link.w, link.x, link.y, link.z
    # in the body's own frame that axis is the third row of its neutral rotation
    ux, uy, uz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    m = world.xmat[int(link.body)]
    return m[6] * ux + m[7] * uy + m[8] * uz > FLAT_COSINE  # type: ignore[no-any-return]


@kernel
def _advance_double_stance(world: World, row: Row, limbs: Limbs, walker: Any, com: Vector, velocity: Vector) -> None:
    """On both feet: end a weight shift, step when toppling, or begin to walk."""
    time, biped = world.time, limbs.biped[0]
    switch_skill(row)
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    walker.ground = 0.5 * (left[2] - limbs.legs[0].depth + right[2] - limbs.legs[1].depth)
    omega = pendulum_frequency(com[2] - walker.ground)
    x, y = capture_point(com, velocity, omega)
    lx, ly = to_heading_frame(walker.heading, left[0] - x, left[1] - y)
    rx, ry = to_heading_frame(walker.heading, right[0] - x, right[1] - y)
    if walker.mode == SHIFT:
        side = int(walker.swing)
        outward = 1.0 if side == 0 else -1.0
        beside = -outward * (ry if side == 0 else ly)  # of the capture point, from the stance ankle
        enough = beside <= 0.5 * abs(ly - ry) * sway_offset(omega, walker.period)
        if enough or time - walker.since > _LONGEST_SHIFT:
            lift_foot(world, limbs, walker, side, com)
        return
    toppling = (
        max(lx, rx) + _TOPPLING_MARGIN * biped.ahead < 0.0
        or min(lx, rx) - _TOPPLING_MARGIN * biped.behind > 0.0
        or max(ly, ry) + _TOPPLING_MARGIN * biped.half_width < 0.0
        or min(ly, ry) - _TOPPLING_MARGIN * biped.half_width > 0.0
    )
    if toppling:
        side = 0 if walker.load < 0.5 else 1
        if abs(walker.load - 0.5) < _EVEN_LOAD:  # the foot that is left behind
            side = (0 if lx < rx else 1) if forward_speed(walker, velocity) > 0.0 else (0 if lx > rx else 1)
        lift_foot(world, limbs, walker, side, com)
    elif walker.wish != 0.0 and time - walker.since > _REST:
        walker.mode, walker.since = SHIFT, time
        if abs(lx - rx) > _STAGGER:
            walker.swing = 0.0 if lx < rx else 1.0
        else:
            walker.swing = 1.0 - walker.swing


@kernel
def forward_speed(walker: Any, velocity: Vector) -> float:
    """Speed along the heading [m/s]."""
    return to_heading_frame(walker.heading, velocity[0], velocity[1])[0]


@kernel
def is_slow(velocity: Vector) -> bool:
    """Whether the COM is slow enough to stand."""
    return horizontal_norm(velocity[0], velocity[1]) < _STAND_SPEED


@kernel
def lift_foot(world: World, limbs: Limbs, walker: Any, side: int, com: Vector) -> None:
    """Begin a step of a foot from where it is; the other foot bears."""
    bearing, lifted = ankle_of(world, limbs, 1 - side), ankle_of(world, limbs, side)
    walker.ground = bearing[2] - limbs.legs[1 - side].depth
    walker.lift_ground = lifted[2] - limbs.legs[side].depth
    begin_step(walker, side, lifted, world.time, com[0], com[1])
    walker.middle_x, walker.middle_y = 0.5 * (bearing[0] + lifted[0]), 0.5 * (bearing[1] + lifted[1])
    walker.knee = knee_bend(world, limbs, 1 - side)


@noinline
def step_time(base: float, quicker: float, speed: float, leg_length: float) -> float:
    """Duration of a step [s]: it grows with √leg length and falls with the speed of a fast walk."""
    scale = math.sqrt(leg_length / LEG_LENGTH)
    fast = clamp((abs(speed) / scale - _QUICK_FROM) / _QUICK_RANGE, 0.0, 1.0)
    return scale * base * (1.0 - quicker * fast)
