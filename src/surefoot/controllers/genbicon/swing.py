"""Where and how the swing foot goes (GENBICON §4.2).

The path of a swing ankle over an obstacle or a step: four Catmull-Rom segments (GENBICON §4.4).

The swing leg and reaching arms: a path, inverse kinematics, and servos that follow it (GENBICON §4.2, §4.4).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.steps import driven_speed, fast, wanted_width
from surefoot.controllers.genbicon.style import HEIGHT, SWING_ANKLE, SWING_OUT, SWING_TOE, value
from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    from_axis_angle,
    from_yaw_roll_pitch,
    inverse,
    multiply,
    rotate,
    scale,
    subtract,
    to_heading_frame,
    unit,
)
from surefoot.reflexes.handover import command_or
from surefoot.reflexes.leg_ik import first_rotation, middle_angle
from surefoot.reflexes.limb_servo import (
    anchor_of,
    framed_target,
    framed_torque,
    link_torque,
    point_velocity,
    quaternion_of,
    relative_target,
    turn_to,
    weight_torque,
)
from surefoot.reflexes.pendulum import carried_on, frequency, speed_offset, stopping_distance, sway_offset
from surefoot.reflexes.servo import clamp

_ARRIVES = 0.9  # of the step: the foot is above its place, and only comes down
_SINKING = 0.3  # [m/s] of a foot that has not met the ground when its time is over


@noinline
def wanted_step(
    x: float, v: float, height: float, remaining: float, period: float, speed: float, alpha: float, reach: float
) -> float:
    """Sagittal place of the next foothold from the stance ankle, equation 7 [m].

    Args:
        x: of the COM, ahead of the stance ankle [m].
        v: of the COM [m/s].
        height: of the COM above the ground [m].
        remaining: time until the foot lands [s]; the pendulum is carried on by it.
        period: of a step [s].
        speed: wanted [m/s].
        alpha: added to that of the periodic gait [s].
        reach: longest step, from the COM [m].
    """
    omega = frequency(height)
    at, velocity = carried_on(x, v, omega, remaining)
    offset = (speed_offset(omega, period) + alpha) * speed
    return at + clamp(stopping_distance(velocity, height) - offset, -reach, reach)  # type: ignore[no-any-return]


@noinline
def wanted_side(
    y: float, v: float, height: float, remaining: float, period: float, width: float, speed: float, reach: float
) -> float:
    """Lateral place of the next foothold from the stance ankle: the capture point and a share of the width [m].

    `width` is signed: positive where the left foot swings.
    """
    omega = frequency(height)
    at, velocity = carried_on(y, v, omega, remaining)
    outward = 0.5 * width * sway_offset(omega, period) - speed_offset(omega, period) * speed
    return at + clamp(stopping_distance(velocity, height) + outward, -reach, reach)  # type: ignore[no-any-return]


@kernel
def arrived(phase: float) -> float:
    """Share of the time until the foot is above its place."""
    return clamp(phase / _ARRIVES, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def share_of_way(phase: float, eager: float) -> float:
    """How much of the way the swing foot has gone: from rest to rest, or (eager 1) at once and then slower."""
    s = arrived(phase)
    return s * ((1.0 - eager) * s * (3.0 - 2.0 * s) + eager * (2.0 - s))


@kernel
def sunk(phase: float, period: float) -> float:
    """How far below its path's end the foot is sent when the ground was not where it should be [m]."""
    return _SINKING * max(0.0, phase - 1.0) * period


_LEAST = 1e-3  # [m] of a segment, so that none takes no time


@kernel
def _segment(s: float, time: float, a: float, b: float, slope_a: float, slope_b: float) -> float:
    """Cubic Hermite at a share s of a segment that takes a time, between two values with their slopes."""
    s2, s3 = s * s, s * s * s
    value = (2.0 * s3 - 3.0 * s2 + 1.0) * a + (3.0 * s2 - 2.0 * s3) * b
    return value + time * ((s3 - 2.0 * s2 + s) * slope_a + (s3 - s2) * slope_b)


@noinline
def over_at(
    share: float, x0: float, z0: float, x1: float, z1: float, x3: float, z3: float, x4: float, z4: float
) -> tuple[float, float]:
    """Place along the way and height after a share of the time [m].

    The five knots are the start, the two places between which the foot has to be high and the middle of them, and
    the goal; each segment takes as much of the time as it is long. At both ends it rests.
    """
    x2, z2 = 0.5 * (x1 + x3), 0.5 * (z1 + z3)
    t1 = max(math.hypot(x1 - x0, z1 - z0), _LEAST)
    half = max(math.hypot(x2 - x1, z2 - z1), _LEAST)
    last = max(math.hypot(x4 - x3, z4 - z3), _LEAST)
    t2, t3, t4 = t1 + half, t1 + 2.0 * half, t1 + 2.0 * half + last
    t = min(max(share, 0.0), 1.0) * t4
    dx1, dz1 = (x2 - x0) / t2, (z2 - z0) / t2
    dx2, dz2 = (x3 - x1) / (t3 - t1), (z3 - z1) / (t3 - t1)
    dx3, dz3 = (x4 - x2) / (t4 - t2), (z4 - z2) / (t4 - t2)
    if t < t1:
        s = t / t1
        return _segment(s, t1, x0, x1, 0.0, dx1), _segment(s, t1, z0, z1, 0.0, dz1)
    if t < t2:
        s = (t - t1) / half
        return _segment(s, half, x1, x2, dx1, dx2), _segment(s, half, z1, z2, dz1, dz2)
    if t < t3:
        s = (t - t2) / half
        return _segment(s, half, x2, x3, dx2, dx3), _segment(s, half, z2, z3, dz2, dz3)
    s = (t - t3) / last
    return _segment(s, last, x3, x4, dx3, 0.0), _segment(s, last, z3, z4, dz3, 0.0)


_SETTLED = 0.9  # phase from which the foot comes down where it is, whatever happens meanwhile
_SOON = 0.01  # [s] ahead, to know how fast the targets move
_FAST_FORESIGHT = 0.15  # more of it in a very fast walk
_FASTEST = 15.0  # [rad/s] of a target
_STEP_HEIGHT, _SIDEWAYS = 4, 6  # places of the commands
_PLACE, _AHEAD = 1.0, 2.0  # what is given of a foothold


@kernel
def aim(
    row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector, point: Vector
) -> tuple[float, float]:
    """World x and y of the next foothold, of the ankle [m] (equations 5–7, or what a task says)."""
    if intent.foothold == _PLACE:
        return intent.fx, intent.fy
    numbers, biped, side = style.numbers[0], limbs.biped[0], int(walker.swing)
    outward = 1.0 if side == 0 else -1.0
    x, y = to_heading_frame(walker.heading, com[0] - point[0], com[1] - point[1])
    vx, vy = to_heading_frame(walker.heading, velocity[0], velocity[1])
    height = com[2] - walker.ground
    rest = max(0.0, (1.0 - walker.phase) * walker.period)
    remaining, remaining_side = (
        (numbers.foresight + _FAST_FORESIGHT * fast(walker)) * rest,
        numbers.side_foresight * rest,
    )
    reach = numbers.longest_step * biped.leg_length
    width = wanted_width(row, limbs, style, walker)
    speed = driven_speed(walker, numbers)
    ahead = wanted_step(x, vx, height, remaining, walker.period, speed, numbers.alpha + intent.alpha, reach)
    if intent.foothold == _AHEAD:
        ahead, _ = to_heading_frame(walker.heading, intent.fx - point[0], intent.fy - point[1])
    sideways = command_or(row, _SIDEWAYS, 0.0) if walker.wish != 0.0 else 0.0
    left = wanted_side(y, vy, height, remaining_side, walker.period, outward * width, sideways, reach)
    left = outward * max(outward * left, numbers.narrowest)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return point[0] + c * ahead - s * left, point[1] + s * ahead + c * left


@kernel
def path_at(
    row: Any, limbs: Any, style: Any, walker: Any, intent: Any, phase: float, goal_x: float, goal_y: float
) -> Vector:
    """Where the swing ankle should be at a phase [m]."""
    side, numbers = int(walker.swing), style.numbers[0]
    share, depth = share_of_way(phase, numbers.eager), limbs.legs[side].depth
    outward = (1.0 if side == 0 else -1.0) * value(style, SWING_OUT, phase)
    start, beside = to_heading_frame(walker.heading, walker.x0, walker.y0)
    goal, goal_beside = to_heading_frame(walker.heading, goal_x, goal_y)
    beside += share * (goal_beside - beside) + outward
    end = walker.ground + intent.rise
    if intent.over != 0.0:
        x1, z1, x3, z3 = intent.from_x, walker.ground + intent.clear, intent.to_x, walker.ground + intent.clear_to
        along, z = over_at(arrived(phase), start, walker.lift_ground, x1, z1, x3, z3, max(goal, x3), end)
    else:
        along = start + share * (goal - start)
        z = walker.lift_ground + share * (end - walker.lift_ground)
        z += value(style, HEIGHT, phase) * command_or(row, _STEP_HEIGHT, numbers.step_height)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return c * along - s * beside, s * along + c * beside, z + depth - sunk(phase, walker.period)


@noinline
def swing_leg(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector,
    point: Vector, frame: Quaternion, torques: Any,
) -> None:  # fmt: skip
    """Torques of the leg that swings."""
    side = int(walker.swing)
    chain, outward = limbs.legs[side], 1.0 if side == 0 else -1.0
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    if walker.phase < _SETTLED or intent.load_mass > 0.0:  # a load is balanced to the last
        walker.aim_x, walker.aim_y = aim(row, limbs, style, walker, intent, com, velocity, point)
    gx, gy = walker.aim_x, walker.aim_y
    n = (chain.nx, chain.ny, chain.nz)
    axis = rotate(multiply(frame, from_axis_angle((0.0, 0.0, 1.0), outward * style.numbers[0].knee_twist)), n)
    at = anchor_of(world, hip)
    now = subtract(path_at(row, limbs, style, walker, intent, walker.phase, gx, gy), at)
    # the same a little later, to give the servos the speed of their targets
    moving = point_velocity(world, int(hip.near), at)
    later_at = add(at, scale(_SOON, moving))
    soon = walker.phase + _SOON / walker.period
    later = subtract(path_at(row, limbs, style, walker, intent, soon, gx, gy), later_at)
    bend, bend_later = _bend(chain, now), _bend(chain, later)
    turn, turn_later = first_rotation(chain, bend, now, axis), first_rotation(chain, bend_later, later, axis)
    rate = _limited(scale(1.0 / _SOON, turn_to(turn_later, turn)))
    pelvis_spin = world.cvel[int(hip.near)]
    torque = link_torque(world, hip, multiply(turn, (hip.w, hip.x, hip.y, hip.z)), hip.kp, hip.kd)
    torque = add(torque, scale(hip.kd, subtract(rate, pelvis_spin)))
    _put(torques, int(chain.upper), add(torque, weight_torque(world, hip)))
    bend_rate = clamp((bend_later - bend) / _SOON, -_FASTEST, _FASTEST)
    torque = link_torque(world, knee, relative_target(world, knee, from_axis_angle(n, bend)), knee.kp, knee.kd)
    torque = add(torque, scale(knee.kd * bend_rate, rotate(quaternion_axis(world, knee), n)))
    _put(torques, int(chain.lower), add(torque, weight_torque(world, knee)))
    flat = from_yaw_roll_pitch(outward * style.numbers[0].toe_out, 0.0, value(style, SWING_ANKLE, walker.phase))
    torque = framed_torque(world, ankle, framed_target(frame, ankle, flat), ankle.kp, ankle.kd)
    _put(torques, int(chain.end), add(torque, weight_torque(world, ankle)))
    if chain.tip >= 0.0:
        toe = limbs.links[int(chain.tip)]
        pose = from_yaw_roll_pitch(0.0, 0.0, value(style, SWING_TOE, walker.phase))
        _put(torques, int(chain.tip), link_torque(world, toe, relative_target(world, toe, pose), toe.kp, toe.kd))


@kernel
def quaternion_axis(world: Any, link: Any) -> Quaternion:
    """How a link's base is turned from neutral in the world."""
    return multiply(quaternion_of(world, int(link.near)), inverse((link.bw, link.bx, link.by, link.bz)))  # type: ignore[no-any-return]


@kernel
def _bend(chain: Any, target: Vector) -> float:
    return middle_angle(chain, math.sqrt(target[0] ** 2 + target[1] ** 2 + target[2] ** 2))  # type: ignore[no-any-return]


@kernel
def _limited(rate: Vector) -> Vector:
    return clamp(rate[0], -_FASTEST, _FASTEST), clamp(rate[1], -_FASTEST, _FASTEST), clamp(rate[2], -_FASTEST, _FASTEST)


@kernel
def _put(torques: Any, link: int, torque: Vector) -> None:
    torques[link, 0], torques[link, 1], torques[link, 2] = torque


@kernel
def reaching(
    world: Any, limbs: Any, hand: Any, side: int, is_elbow: bool, link: Any, styled: Quaternion, frame: Quaternion
) -> Quaternion:
    """Target of a shoulder or an elbow on the way from its style to where the hand should be."""
    chain = limbs.arms[side]
    n = (chain.nx, chain.ny, chain.nz)
    to = subtract((hand.x, hand.y, hand.z), anchor_of(world, limbs.links[int(chain.upper)]))
    bend = _bend(chain, to)
    if is_elbow:
        goal = relative_target(world, link, from_axis_angle(n, bend))
    else:
        outward = 1.0 if side == 0 else -1.0
        axis = rotate(multiply(from_axis_angle(unit(to), outward * hand.swivel), frame), n)
        goal = multiply(first_rotation(chain, bend, to, axis), (link.w, link.x, link.y, link.z))
    share = min(hand.reach, 1.0)
    near = styled[0] * goal[0] + styled[1] * goal[1] + styled[2] * goal[2] + styled[3] * goal[3]
    k = -share if near < 0.0 else share
    w, x = (1.0 - share) * styled[0] + k * goal[0], (1.0 - share) * styled[1] + k * goal[1]
    y, z = (1.0 - share) * styled[2] + k * goal[2], (1.0 - share) * styled[3] + k * goal[3]
    size = max(math.sqrt(w * w + x * x + y * y + z * z), 1e-9)
    return w / size, x / size, y / size, z / size
