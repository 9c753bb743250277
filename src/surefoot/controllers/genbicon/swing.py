"""The swing leg and reaching arms: foothold, path, inverse kinematics and servos (GENBICON §4.2, §4.4).

The pendulum of equations 5–7 says where the foot lands. The ankle goes there on a smooth path, over an obstacle on four
Catmull-Rom segments, and servos follow it, told how fast their targets move.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.genbicon.foot_roll import (
    pitch_spin,
    point_of_sole,
    swing_depth,
    swing_foot_motion,
    swing_foot_pitch,
)
from surefoot.controllers.genbicon.steps import compensated_speed, fast_walk_share, sideways_speed, wanted_width
from surefoot.controllers.genbicon.style import (
    HEIGHT,
    ROLL_HEIGHT,
    ROLL_SWING_OUT,
    SWING_ANKLE,
    SWING_OUT,
    SWING_TOE,
    Style,
    curve_value,
)
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    from_axis_angle,
    from_yaw_roll_pitch,
    limit_norm,
    multiply,
    rotate,
    scale,
    subtract,
    to_heading_frame,
    unit,
)
from surefoot.reflexes.handover import command_or
from surefoot.reflexes.leg_ik import LOOKAHEAD, leg_angles, limb_motion
from surefoot.reflexes.limb_servo import (
    anchor_of,
    base_turn,
    framed_target,
    framed_torque,
    link_torque,
    point_velocity,
    relative_target,
    weight_torque,
)
from surefoot.reflexes.pendulum import pendulum_after, pendulum_frequency, speed_offset, stopping_distance, sway_offset
from surefoot.reflexes.servo import clamp

# Constants beyond the paper; docs/genbicon.md gives the reason of each.
_ARRIVAL_PHASE = 0.9  # [phase]
_ROLLING_ARRIVAL_PHASE = 0.97  # [phase]
SETTLED_PHASE = 0.9  # [phase]
_LIFT_BLEND = 0.35  # [swing]
_LONGEST_LEG = 0.996  # [leg]
_EARLY_PHASE = 0.5  # [phase]
_LATE_SPEED = 0.3  # [m/s]
_SHORTEST_SEGMENT = 1e-3  # [m]
_FAST_FORESIGHT = 0.15  # [rest of the step]
_FASTEST = 15.0  # [rad/s]
_STEP_HEIGHT = 4  # place of the command
_PLACE, _AHEAD = 1.0, 2.0  # what a task has given of a foothold: all of it, or only its place along the heading


@noinline
def sagittal_foothold(
    x: float, v: float, height: float, remaining: float, period: float, speed: float, alpha: float, reach: float
) -> float:
    """Sagittal place of the next foothold, from the stance ankle (equation 7) [m].

    Args:
        x: distance of the COM ahead of the stance ankle [m].
        v: velocity of the COM [m/s].
        height: height of the COM above the ground [m].
        remaining: time over which the pendulum is extrapolated [s].
        period: duration of a step [s].
        speed: wanted speed [m/s].
        alpha: addition to the α of the periodic gait [s].
        reach: longest step, from the COM [m].
    """
    omega = pendulum_frequency(height)
    at, velocity = pendulum_after(x, v, omega, remaining)
    offset = (speed_offset(omega, period) + alpha) * speed
    return at + clamp(stopping_distance(velocity, height) - offset, -reach, reach)  # type: ignore[no-any-return]


@noinline
def lateral_foothold(
    y: float, v: float, height: float, remaining: float, period: float, width: float, speed: float, reach: float
) -> float:
    """Lateral place of the next foothold, from the stance ankle: the stopping point and a share of the width [m].

    `width` is positive when the left foot swings, negative when the right one does.
    """
    omega = pendulum_frequency(height)
    at, velocity = pendulum_after(y, v, omega, remaining)
    outward = 0.5 * width * sway_offset(omega, period) - speed_offset(omega, period) * speed
    return at + clamp(stopping_distance(velocity, height) + outward, -reach, reach)  # type: ignore[no-any-return]


@kernel
def travel_time_share(phase: float) -> float:
    """Share of the time until the foot is above its foothold, of 0 … 1."""
    return clamp(phase / _ARRIVAL_PHASE, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def travel_share(phase: float, eager: float) -> float:
    """Share of the swing foot's way: smoothly from rest to rest (eager 0), or fast at once (eager 1)."""
    s = travel_time_share(phase)
    return s * ((1.0 - eager) * s * (3.0 - 2.0 * s) + eager * (2.0 - s))


@kernel
def late_drop(phase: float, period: float) -> float:
    """How far below the end of its path a foot is sent that has not met the ground in time [m]."""
    return _LATE_SPEED * max(0.0, phase - 1.0) * period


@kernel
def _hermite(s: float, time: float, a: float, b: float, slope_a: float, slope_b: float) -> float:
    """Cubic Hermite curve at a share s of a segment that lasts `time`, between two values with their slopes."""
    s2, s3 = s * s, s * s * s
    value = (2.0 * s3 - 3.0 * s2 + 1.0) * a + (3.0 * s2 - 2.0 * s3) * b
    return value + time * ((s3 - 2.0 * s2 + s) * slope_a + (s3 - s2) * slope_b)


@noinline
def obstacle_path(
    share: float, x0: float, z0: float, x1: float, z1: float, x3: float, z3: float, x4: float, z4: float
) -> tuple[float, float]:
    """Place along the way and height of the ankle over an obstacle, after a share of the time [m] (§4.4).

    The five knots are the start, the first place at which the foot has to be high, the middle, the last such place,
    and the goal. The time of a segment is proportional to its length; the foot rests at both ends.
    """
    x2, z2 = 0.5 * (x1 + x3), 0.5 * (z1 + z3)
    t1 = max(math.hypot(x1 - x0, z1 - z0), _SHORTEST_SEGMENT)
    half = max(math.hypot(x2 - x1, z2 - z1), _SHORTEST_SEGMENT)
    last = max(math.hypot(x4 - x3, z4 - z3), _SHORTEST_SEGMENT)
    t2, t3, t4 = t1 + half, t1 + 2.0 * half, t1 + 2.0 * half + last
    t = min(max(share, 0.0), 1.0) * t4
    dx1, dz1 = (x2 - x0) / t2, (z2 - z0) / t2
    dx2, dz2 = (x3 - x1) / (t3 - t1), (z3 - z1) / (t3 - t1)
    dx3, dz3 = (x4 - x2) / (t4 - t2), (z4 - z2) / (t4 - t2)
    if t < t1:
        s = t / t1
        return _hermite(s, t1, x0, x1, 0.0, dx1), _hermite(s, t1, z0, z1, 0.0, dz1)
    if t < t2:
        s = (t - t1) / half
        return _hermite(s, half, x1, x2, dx1, dx2), _hermite(s, half, z1, z2, dz1, dz2)
    if t < t3:
        s = (t - t2) / half
        return _hermite(s, half, x2, x3, dx2, dx3), _hermite(s, half, z2, z3, dz2, dz3)
    s = (t - t3) / last
    return _hermite(s, last, x3, x4, dx3, 0.0), _hermite(s, last, z3, z4, dz3, 0.0)


@kernel
def plan_foothold(
    row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, velocity: Vector, point: Vector
) -> tuple[float, float]:
    """World x and y of the ankle at the next foothold [m]: equations 5–7, or what a task has given."""
    if intent.foothold == _PLACE:
        return intent.fx, intent.fy
    numbers, biped, side = style.numbers[0], limbs.biped[0], int(walker.swing)
    outward = 1.0 if side == 0 else -1.0
    x, y = to_heading_frame(walker.heading, com[0] - point[0], com[1] - point[1])
    vx, vy = to_heading_frame(walker.heading, velocity[0], velocity[1])
    height = com[2] - walker.ground
    rest = max(0.0, (1.0 - walker.phase) * walker.period)
    remaining = (numbers.foresight + _FAST_FORESIGHT * fast_walk_share(walker)) * rest
    remaining_side = numbers.side_foresight * rest
    reach = numbers.longest_step * biped.leg_length
    width = wanted_width(row, limbs, style, walker)
    speed = compensated_speed(walker, numbers)
    ahead = sagittal_foothold(x, vx, height, remaining, walker.period, speed, numbers.alpha + intent.alpha, reach)
    if intent.foothold == _AHEAD:
        ahead, _ = to_heading_frame(walker.heading, intent.fx - point[0], intent.fy - point[1])
    sideways = sideways_speed(row, walker)
    left = lateral_foothold(y, vy, height, remaining_side, walker.period, outward * width, sideways, reach)
    left = outward * max(outward * left, numbers.narrowest)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return point[0] + c * ahead - s * left, point[1] + s * ahead + c * left


@noinline
def _rolling_height(row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, phase: float) -> float:
    """Height of the swing ankle of a foot that rolls by its style, wherever it was let go [m]."""
    s = clamp((phase - walker.release) / (1.0 - walker.release), 0.0, 1.0)
    ground = walker.lift_ground + s * s * (3.0 - 2.0 * s) * (walker.ground + intent.rise - walker.lift_ground)
    lift = command_or(row, _STEP_HEIGHT, style.numbers[0].step_height) * curve_value(style, ROLL_HEIGHT, s)
    return ground + lift + swing_depth(limbs, int(walker.swing), swing_foot_pitch(style, walker, phase))  # type: ignore[no-any-return]


@noinline
def rolling_ankle_target(
    row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, phase: float, goal_x: float, goal_y: float
) -> Vector:
    """Target of the swing ankle of a foot that rolls, in the world [m].

    The lowest point of the pitched sole follows the curve `height` over the ground, and the heel meets it. The foot
    leaves where its push-off left it, with the speed it had, and comes to rest over its foothold.
    """
    side = int(walker.swing)
    chain = limbs.legs[side]
    there = clamp((phase - walker.release) / (_ROLLING_ARRIVAL_PHASE - walker.release), 0.0, 1.0)
    share = there * there * (3.0 - 2.0 * there)
    start, beside = to_heading_frame(walker.heading, walker.x0, walker.y0)
    goal, goal_beside = to_heading_frame(walker.heading, goal_x, goal_y)
    landing = swing_foot_pitch(style, walker, 1.0)
    heel = -limbs.biped[0].behind
    goal += heel - point_of_sole(chain, heel, landing)[0]  # once the foot is flat, the ankle is where it was planned
    lasts = (_ROLLING_ARRIVAL_PHASE - walker.release) * walker.period
    along = _hermite(there, lasts, start, goal, walker.lift_speed, 0.0)
    outward = curve_value(style, SWING_OUT, phase) + curve_value(style, ROLL_SWING_OUT, phase)
    beside += share * (goal_beside - beside) + (1.0 if side == 0 else -1.0) * outward
    usual = _rolling_height(row, limbs, style, walker, intent, phase)
    begin = _rolling_height(row, limbs, style, walker, intent, walker.release)
    soon = _rolling_height(row, limbs, style, walker, intent, walker.release + LOOKAHEAD / walker.period)
    rising = walker.lift_rise - (soon - begin) / LOOKAHEAD
    blend = _LIFT_BLEND * (1.0 - walker.release)
    late = clamp((phase - walker.release) / blend, 0.0, 1.0)
    z = usual + _hermite(late, blend * walker.period, walker.z0 - begin, 0.0, rising, 0.0)
    z -= late_drop(phase, walker.period)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return c * along - s * beside, s * along + c * beside, z


@kernel
def ankle_target(
    row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, phase: float, goal_x: float, goal_y: float
) -> Vector:
    """Target of the swing ankle at a phase, in the world [m]."""
    rolling = style.numbers[0].rolling
    flat = flat_ankle_target(row, limbs, style, walker, intent, phase, goal_x, goal_y)
    if rolling == 0.0 or intent.over != 0.0:
        return flat  # type: ignore[no-any-return]
    rolled = rolling_ankle_target(row, limbs, style, walker, intent, phase, goal_x, goal_y)
    return add(flat, scale(rolling, subtract(rolled, flat)))  # type: ignore[no-any-return]


@kernel
def flat_ankle_target(
    row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, phase: float, goal_x: float, goal_y: float
) -> Vector:
    """Target of the swing ankle of a foot that stays level, in the world [m]."""
    side, numbers = int(walker.swing), style.numbers[0]
    share, depth = travel_share(phase, numbers.eager), limbs.legs[side].depth
    outward = (1.0 if side == 0 else -1.0) * curve_value(style, SWING_OUT, phase)
    start, beside = to_heading_frame(walker.heading, walker.x0, walker.y0)
    goal, goal_beside = to_heading_frame(walker.heading, goal_x, goal_y)
    beside += share * (goal_beside - beside) + outward
    end = walker.ground + intent.rise
    if intent.over != 0.0:
        x1, z1, x3, z3 = intent.from_x, walker.ground + intent.clear, intent.to_x, walker.ground + intent.clear_to
        along, z = obstacle_path(
            travel_time_share(phase), start, walker.lift_ground, x1, z1, x3, z3, max(goal, x3), end
        )
    else:
        along = start + share * (goal - start)
        z = walker.lift_ground + share * (end - walker.lift_ground)
        z += curve_value(style, HEIGHT, phase) * command_or(row, _STEP_HEIGHT, numbers.step_height)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return c * along - s * beside, s * along + c * beside, z + depth - late_drop(phase, walker.period)


@kernel
def without_push(torque: Vector, heading: float) -> Vector:
    """The torque of an ankle less what would press the ball on the ground: a foot that is to lift must not push."""
    c, s = math.cos(heading), math.sin(heading)
    down = max(c * torque[1] - s * torque[0], 0.0)
    return torque[0] + s * down, torque[1] - c * down, torque[2]


@noinline
def swing_leg_torques(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, frame: Quaternion, torques: np.ndarray
) -> None:
    """Torques of the swing leg."""
    side = int(walker.swing)
    chain, outward = limbs.legs[side], 1.0 if side == 0 else -1.0
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    gx, gy = walker.aim_x, walker.aim_y
    n = (chain.nx, chain.ny, chain.nz)
    axis = rotate(multiply(frame, from_axis_angle((0.0, 0.0, 1.0), outward * style.numbers[0].knee_twist)), n)
    at = anchor_of(world, hip)
    now = subtract(ankle_target(row, limbs, style, walker, intent, walker.phase, gx, gy), at)
    # the same a little later, to give the servos the rates of their targets
    later_at = add(at, scale(LOOKAHEAD, point_velocity(world, int(hip.near), at)))
    soon = walker.phase + LOOKAHEAD / walker.period
    later = subtract(ankle_target(row, limbs, style, walker, intent, soon, gx, gy), later_at)
    if style.numbers[0].rolling != 0.0:  # a knee that is sent straight would be thrown against its stop
        longest = (1.0 - style.numbers[0].rolling * (1.0 - _LONGEST_LEG)) * chain.reach
        now, later = limit_norm(now, longest), limit_norm(later, longest)
    leg = limb_motion(chain, now, later, axis, _FASTEST)
    torque = link_torque(world, hip, multiply(leg.turn, (hip.w, hip.x, hip.y, hip.z)), hip.kp, hip.kd)
    torque = add(torque, scale(hip.kd, subtract(leg.spin, world.cvel[int(hip.near)])))
    _store(torques, int(chain.upper), add(torque, weight_torque(world, hip)))
    torque = link_torque(world, knee, relative_target(world, knee, from_axis_angle(n, leg.bend)), knee.kp, knee.kd)
    torque = add(torque, scale(knee.kd * leg.bend_rate, rotate(base_turn(world, knee), n)))
    _store(torques, int(chain.lower), add(torque, weight_torque(world, knee)))
    pitch, rate = curve_value(style, SWING_ANKLE, walker.phase), 0.0
    if style.numbers[0].rolling != 0.0:
        pitch, rate = swing_foot_motion(style, walker)
    flat = from_yaw_roll_pitch(outward * style.numbers[0].toe_out, 0.0, pitch)
    torque = framed_torque(world, ankle, framed_target(frame, ankle, flat), ankle.kp, ankle.kd)
    if rate != 0.0:
        spin = pitch_spin(math.cos(walker.heading), math.sin(walker.heading), rate)
        torque = add(torque, scale(ankle.kd, spin))
    if style.numbers[0].rolling != 0.0 and row.touch[side] != 0.0 and walker.phase < _EARLY_PHASE:
        torque = without_push(torque, walker.heading)
    _store(torques, int(chain.end), add(torque, weight_torque(world, ankle)))
    if chain.tip >= 0.0:
        toe = limbs.links[int(chain.tip)]
        pose = from_yaw_roll_pitch(0.0, 0.0, curve_value(style, SWING_TOE, walker.phase))
        _store(torques, int(chain.tip), link_torque(world, toe, relative_target(world, toe, pose), toe.kp, toe.kd))


@kernel
def _store(torques: np.ndarray, link: int, torque: Vector) -> None:
    torques[link, 0], torques[link, 1], torques[link, 2] = torque


@kernel
def reach_target(
    world: World, limbs: Limbs, hand: Any, side: int, is_elbow: bool, link: Any, styled: Quaternion, frame: Quaternion
) -> Quaternion:
    """Target of a shoulder or an elbow, between its style's and that which puts the hand where it should be."""
    chain = limbs.arms[side]
    n = (chain.nx, chain.ny, chain.nz)
    to = subtract((hand.x, hand.y, hand.z), anchor_of(world, limbs.links[int(chain.upper)]))
    outward = 1.0 if side == 0 else -1.0
    axis = rotate(multiply(from_axis_angle(unit(to), outward * hand.swivel), frame), n)
    turn, bend = leg_angles(chain, to, axis)
    if is_elbow:
        goal = relative_target(world, link, from_axis_angle(n, bend))
    else:
        goal = multiply(turn, (link.w, link.x, link.y, link.z))
    share = min(hand.reach, 1.0)
    near = styled[0] * goal[0] + styled[1] * goal[1] + styled[2] * goal[2] + styled[3] * goal[3]
    k = -share if near < 0.0 else share
    w, x = (1.0 - share) * styled[0] + k * goal[0], (1.0 - share) * styled[1] + k * goal[1]
    y, z = (1.0 - share) * styled[2] + k * goal[2], (1.0 - share) * styled[3] + k * goal[3]
    size = max(math.sqrt(w * w + x * x + y * y + z * z), 1e-9)
    return w / size, x / size, y / size, z / size
