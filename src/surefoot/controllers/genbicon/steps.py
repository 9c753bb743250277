"""When a step begins and ends; starting by a weight shift, stopping on two feet (GENBICON §4.1, §4.4)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.memory import SHIFT, STEP, begin_stand, begin_step
from surefoot.native.kernels import kernel, noinline
from surefoot.native.userdata import COMMAND_GIVEN
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.handover import command_or, switch_skill
from surefoot.reflexes.leg_ik import middle_angle
from surefoot.reflexes.pendulum import GRAVITY, frequency, sway_offset
from surefoot.reflexes.servo import clamp, nearest_turn

_EARLIEST = 0.5  # phase before which a touch is a scuff, no footstrike
_OVERDUE = 1.6  # phase at which a foot that met no ground is given up
_ACCELERATION = 0.6  # [m/s²] of the speed it tries to keep
_BIG_TURN = 1.5  # [rad] a turn for which it would stop walking ahead
_MOST = 1.5  # [m/s] the speed controller may add
_SLOW, _ABREAST = 0.25, 0.16  # [m/s], [m]: slow enough, and feet near enough side by side, to stop
_LOADED = 0.1  # of the weight, on a foot that has struck before its time is over
LANDS = 0.87  # phase at which a foot usually lands: a step that is told to last so long has a longer path
_NARROWER = 0.2  # share of its width that a very fast walk does without
_USUAL_RATE = 0.4  # of the last step in the estimate of the usual one
_USUAL = 0.15  # [m] a foothold may be off without haste
_LONGEST_SHIFT = 0.8  # [s]
_REST = 0.15  # [s] on two feet before it may go again
_SPEED, _HEADING, _TIME, _WIDTH, _STOP = 0, 1, 3, 5, 7  # places of the commands


@kernel
def wanted_width(row: Any, limbs: Any, style: Any, walker: Any) -> float:
    """Distance of the feet that it tries to keep: less in a very fast walk [m]."""
    usual = style.numbers[0].step_width * limbs.biped[0].leg_length / 0.92
    return command_or(row, _WIDTH, usual * (1.0 - _NARROWER * fast(walker)))  # type: ignore[no-any-return]


@kernel
def driven_speed(walker: Any, numbers: Any) -> float:
    """Speed that pendulum and feet are told: the wanted one, what footstrikes take of it, what was missed so far."""
    return walker.speed + numbers.loss * walker.speed * abs(walker.speed) + walker.integral  # type: ignore[no-any-return]


@kernel
def fast(walker: Any) -> float:
    """0 for a walk, 1 for a very fast one."""
    return clamp((abs(walker.speed) - 1.2) / 0.6, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def softness(walker: Any) -> float:
    """How far the stance knee gives way: 0 for usual walks, 1 for very fast or very long steps."""
    return max(clamp((abs(walker.speed) - 1.2) / 0.3, 0.0, 1.0), clamp((walker.period - 0.75) / 0.15, 0.0, 1.0))  # type: ignore[no-any-return]


@kernel
def ankle_of(world: Any, limbs: Any, side: int) -> Vector:
    """Where an ankle is [m]."""
    at = world.xanchor[int(limbs.links[int(limbs.legs[side].end)].joint)]
    return at[0], at[1], at[2]


@noinline
def take_steps(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector
) -> None:
    """Advance the walker's clock and modes by a physics step."""
    numbers, biped = style.numbers[0], limbs.biped[0]
    walks = numbers.walks != 0.0 and command_or(row, _STOP, 0.0) < 0.5 and intent.hold == 0.0
    walker.wish = 1.0 if walks else 0.0
    turn = (
        abs(nearest_turn(row.commands[_HEADING] - walker.heading))
        if row.commands[COMMAND_GIVEN + _HEADING] != 0.0
        else 0.0
    )
    wanted = command_or(row, _SPEED, numbers.speed) * max(0.2, 1.0 - turn / _BIG_TURN) if walks else 0.0
    walker.speed += clamp(wanted - walker.speed, -_ACCELERATION * world.dt, _ACCELERATION * world.dt)
    if row.commands[COMMAND_GIVEN + _TIME] != 0.0:
        walker.period = row.commands[_TIME] / LANDS
    else:
        walker.period = step_time(numbers.step_time, walker.speed, biped.leg_length)
    if walker.mode == STEP:
        _while_stepping(world, row, limbs, walker, numbers, com, velocity)
    else:
        _on_both_feet(world, row, limbs, walker, com, velocity)


@kernel
def _while_stepping(world: Any, row: Any, limbs: Any, walker: Any, numbers: Any, com: Vector, velocity: Vector) -> None:
    side, time = int(walker.swing), world.time
    haste = (1.0 - fast(walker)) * numbers.hurry * _off_course(world, limbs, walker, numbers)
    walker.phase += world.dt / walker.period * (1.0 + haste)
    loaded = row.contact_force[side, 2] > _LOADED * limbs.biped[0].mass * GRAVITY
    touches = row.touch[side] != 0.0 and (loaded or walker.phase >= 1.0)
    if row.touch[side] == 0.0:
        walker.unloaded = 1.0
    bearing = ankle_of(world, limbs, 1 - side)
    level = bearing[2] - limbs.legs[1 - side].depth
    if _is_flat(world, limbs, 1 - side):
        walker.ground = level
    if not (touches and walker.unloaded != 0.0 and walker.phase > _EARLIEST) and walker.phase < _OVERDUE:
        return
    # footstrike: how fast was the step, and what comes next
    moved, _ = to_heading_frame(walker.heading, com[0] - walker.mark_x, com[1] - walker.mark_y)
    taken = max(time - walker.mark_time, world.dt)
    walker.integral += numbers.speed_integral * (walker.speed - moved / taken)
    walker.integral = clamp(walker.integral, -_MOST, _MOST)
    switch_skill(row)
    landed = ankle_of(world, limbs, side)
    apart_x, _ = to_heading_frame(walker.heading, landed[0] - bearing[0], landed[1] - bearing[1])
    walker.usual += _USUAL_RATE * (apart_x - walker.usual)
    if walker.wish == 0.0 and slow(velocity) and abs(apart_x) < _ABREAST and touches:
        begin_stand(walker, time)
        return
    walker.lift_ground = walker.ground
    walker.ground = landed[2] - limbs.legs[side].depth
    begin_step(walker, 1 - side, bearing, time, com[0], com[1])
    walker.knee = bend_of(world, limbs, side)


@kernel
def _off_course(world: Any, limbs: Any, walker: Any, numbers: Any) -> float:
    """How far the foothold that balances is from the usual one, beyond what is usual [m]: then steps are hastened."""
    side = int(walker.swing)
    bearing = ankle_of(world, limbs, 1 - side)
    ahead, left = to_heading_frame(walker.heading, walker.aim_x - bearing[0], walker.aim_y - bearing[1])
    width = numbers.step_width * limbs.biped[0].leg_length / 0.92 * (1.0 if side == 0 else -1.0)
    off = math.sqrt((ahead - walker.usual) ** 2 + (left - width) ** 2)
    return clamp(off - _USUAL, 0.0, 0.4)  # type: ignore[no-any-return]


@kernel
def bend_of(world: Any, limbs: Any, side: int) -> float:
    """How far a knee is bent from neutral, positive in the sense in which it bends [rad]."""
    chain = limbs.legs[side]
    hip, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.end)]
    a, b = world.xanchor[int(hip.joint)], world.xanchor[int(ankle.joint)]
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return chain.bend * middle_angle(chain, math.sqrt(x * x + y * y + z * z))  # type: ignore[no-any-return]


@kernel
def _is_flat(world: Any, limbs: Any, side: int) -> bool:
    """Whether a foot stands flat: its neutral up axis is upright."""
    link = limbs.links[int(limbs.legs[side].end)]
    w, x, y, z = link.w, link.x, link.y, link.z
    # neutral up in the body's own frame is the third row of its neutral rotation
    ux, uy, uz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    m = world.xmat[int(link.body)]
    return m[6] * ux + m[7] * uy + m[8] * uz > 0.985  # type: ignore[no-any-return]


@kernel
def _on_both_feet(world: Any, row: Any, limbs: Any, walker: Any, com: Vector, velocity: Vector) -> None:
    time, biped = world.time, limbs.biped[0]
    switch_skill(row)
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    walker.ground = 0.5 * (left[2] - limbs.legs[0].depth + right[2] - limbs.legs[1].depth)
    omega = frequency(com[2] - walker.ground)
    xi, eta = com[0] + velocity[0] / omega, com[1] + velocity[1] / omega  # the capture point
    lx, ly = to_heading_frame(walker.heading, left[0] - xi, left[1] - eta)
    rx, ry = to_heading_frame(walker.heading, right[0] - xi, right[1] - eta)
    if walker.mode == SHIFT:
        side = int(walker.swing)
        outward = 1.0 if side == 0 else -1.0
        width = abs(ly - ry)
        beside = -outward * (ry if side == 0 else ly)  # how far the capture point is from the stance ankle
        enough = beside <= 0.5 * width * sway_offset(omega, walker.period)
        if enough or time - walker.since > _LONGEST_SHIFT:
            lift(world, limbs, walker, side, com)
        return
    margin = 0.8
    toppling = (
        max(lx, rx) + margin * biped.ahead < 0.0
        or min(lx, rx) - margin * biped.behind > 0.0
        or max(ly, ry) + margin * biped.half_width < 0.0
        or min(ly, ry) - margin * biped.half_width > 0.0
    )
    if toppling:
        side = 0 if walker.load < 0.5 else 1
        if abs(walker.load - 0.5) < 0.2:  # the foot that is left behind
            side = (0 if lx < rx else 1) if velocity_ahead(walker, velocity) > 0.0 else (0 if lx > rx else 1)
        lift(world, limbs, walker, side, com)
    elif walker.wish != 0.0 and time - walker.since > _REST:
        walker.mode, walker.since = SHIFT, time
        if abs(lx - rx) > 0.03:
            walker.swing = 0.0 if lx < rx else 1.0
        else:
            walker.swing = 1.0 - walker.swing


@kernel
def velocity_ahead(walker: Any, velocity: Vector) -> float:
    """Speed along the heading [m/s]."""
    return to_heading_frame(walker.heading, velocity[0], velocity[1])[0]


@kernel
def slow(velocity: Vector) -> bool:
    """Whether the COM is slow enough to stand."""
    return math.sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]) < _SLOW


@kernel
def lift(world: Any, limbs: Any, walker: Any, side: int, com: Vector) -> None:
    """Let a foot swing from where it is, the other bears."""
    bearing = ankle_of(world, limbs, 1 - side)
    lifted = ankle_of(world, limbs, side)
    walker.ground = bearing[2] - limbs.legs[1 - side].depth
    walker.lift_ground = lifted[2] - limbs.legs[side].depth
    begin_step(walker, side, lifted, world.time, com[0], com[1])
    walker.knee = bend_of(world, limbs, 1 - side)


@noinline
def step_time(base: float, speed: float, leg_length: float) -> float:
    """Duration of a step: grows with √leg length, falls with the speed of a fast walk [s]."""
    scale = math.sqrt(leg_length / 0.92)
    fast = clamp((abs(speed) / scale - 1.1) / 0.7, 0.0, 1.0)
    return scale * base * (1.0 - 0.22 * fast)
