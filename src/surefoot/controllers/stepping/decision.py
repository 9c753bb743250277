"""The choice between nothing, ankle torque and a step (Kenwright §5.1, figure 13), and comfort (§5.4, figure 15).

Decisions are taken on the capture point p + v/ω instead of the centre of mass: it is where the body would come to rest.
Feet are comfortable if they neither cross nor turn away from the facing direction.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.foot_target import place_goal
from surefoot.controllers.stepping.plan import BALANCE, CAREFUL, COMFORT, SHIFT, STEP, WALK, begin_shift, begin_stand
from surefoot.controllers.stepping.stride import (
    begin_stride,
    is_striding,
    mix,
    told_stride,
    walking_period,
    walking_width,
)
from surefoot.controllers.stepping.support import Region, is_beyond, within_both, within_foot
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.handover import switch_skill
from surefoot.reflexes.limb_servo import point_velocity
from surefoot.reflexes.pendulum import (
    GRAVITY,
    capture_point,
    horizontal_norm,
    pendulum_frequency,
    speed_offset,
    sway_offset,
)
from surefoot.reflexes.servo import clamp, nearest_turn
from surefoot.terrains.ground_kernels import height_at

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_TURN_DIFFERENCE = 0.5  # [comfort_angle]
_EARLIEST_STRIKE, _OVERDUE = 0.5, 1.7  # [phase]
_STRIKE_LOAD = 0.05  # [weight]
_LANDING_HEIGHT = 0.035  # [m]
_MOST_INTEGRAL, _STRIDE_INTEGRAL = 0.6, 0.3  # [m/s]
_MOST_MISSED, _STRIDE_MISSED = 5.0, 0.1  # [m/s]
_STRIDE_RATE = 0.5  # [speed_integral]
_SIDE_INTEGRAL = 0.5  # [speed_integral]
_REST = 0.3  # [s]
_CALM, _OVER_FOOT = 0.06, 0.02  # [m/s], [m]
_LONGEST_SHIFT, _PATIENCE = 1.5, 0.7  # [s]
_UNEVEN_LOAD = 0.12  # [weight]
_BALANCE_LIMIT = 0.03  # [m]
_FREE_DEVIATION = 0.05  # [m]
_BEHIND = 0.07  # [m]
_WALKING_MARGIN, _MOST_SWING_LOAD = 0.015, 0.7  # [m], [weight]
_HANGING = 0.1  # [s]
_DISPLACED = 0.03  # [m]
_STAGGER = 0.03  # [m]
_SLOWEST = 0.02  # [m/s]
_CAREFUL_AHEAD, _CAREFUL_ASIDE = 0.35, 0.2  # [m]


@kernel
def discomfort(plan: Any, stepper: Any, left: Region, right: Region) -> float:
    """How uncomfortably the feet stand; up to 1 they need no step.

    It is the larger of two ratios: how far the feet are from standing side by side, to `comfort_width` [m], and how
    far a foot is turned from the facing direction, to `comfort_angle` [rad].
    """
    along, beside = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    off = horizontal_norm(along, beside - plan.step_width) / plan.comfort_width
    return max(off, foot_turn(stepper, left) / plan.comfort_angle, foot_turn(stepper, right) / plan.comfort_angle)  # type: ignore[no-any-return]


@kernel
def foot_turn(stepper: Any, region: Region) -> float:
    """Angle between a foot and the facing direction [rad]."""
    return abs(nearest_turn(math.atan2(region.ay, region.ax) - stepper.heading))  # type: ignore[no-any-return]


@kernel
def comfortable_place(plan: Any, stepper: Any, stance: Region, side: int) -> tuple[float, float]:
    """World x and y at which a foot stands comfortably beside the other [m]."""
    outward = 1.0 if side == 0 else -1.0
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    return stance.x - s * outward * plan.step_width, stance.y + c * outward * plan.step_width


@kernel
def foot_to_move(plan: Any, stepper: Any, left: Region, right: Region) -> int:
    """The foot whose step helps more: the one that is turned further, or else the one that is behind."""
    a, b = foot_turn(stepper, left), foot_turn(stepper, right)
    if abs(a - b) > _TURN_DIFFERENCE * plan.comfort_angle:
        return 0 if a > b else 1
    along, _ = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    return 0 if along < 0.0 else 1


@kernel
def is_walking(stepper: Any) -> bool:
    """Whether a speed is wanted."""
    return horizontal_norm(stepper.speed, stepper.sideways) > _SLOWEST


@kernel
def _begin_path(stepper: Any, foot: Region) -> None:
    """Begin the path of a foot where it is."""
    stepper.x0, stepper.y0, stepper.z0 = foot.x, foot.y, foot.z
    stepper.yaw0 = math.atan2(foot.ay, foot.ax)
    c, s, up = math.cos(stepper.yaw0), math.sin(stepper.yaw0), foot.up
    stepper.pitch0 = -math.atan2(c * up[0] + s * up[1], up[2])
    stepper.roll0 = -math.atan2(c * up[1] - s * up[0], up[2])
    stepper.vx0, stepper.vy0, stepper.vz0, stepper.pitch_rate0 = 0.0, 0.0, 0.0, 0.0


@kernel
def _leave_ground(world: World, limbs: Limbs, stepper: Any, foot: Region, side: int) -> None:
    """Lift a foot off at the end of a double support: its path goes on as it moves."""
    _begin_path(stepper, foot)
    stepper.unloaded = 0.0
    stepper.goal_x, stepper.goal_y, stepper.goal_pitch, stepper.goal_roll = foot.x, foot.y, 0.0, 0.0
    body = int(limbs.links[int(limbs.legs[side].end)].body)
    velocity, spin = point_velocity(world, body, (foot.x, foot.y, foot.z)), world.cvel[body]
    stepper.vx0, stepper.vy0, stepper.vz0 = velocity
    stepper.pitch_rate0 = math.sin(stepper.yaw0) * spin[0] - math.cos(stepper.yaw0) * spin[1]


@noinline
def lift_foot(world: World, plan: Any, stepper: Any, foot: Region, side: int, kind: float, com: Vector) -> None:
    """Begin a step of a foot from where it is."""
    stepper.mode, stepper.since, stepper.kind = STEP, world.time, kind
    stepper.swing, stepper.phase, stepper.unloaded = float(side), 0.0, 0.0
    stepper.stride, stepper.both = 0.0, 0.0
    stepper.steps += 1.0
    stepper.duration = plan.step_time if kind == WALK else plan.push_time if kind == BALANCE else plan.careful_time
    _begin_path(stepper, foot)
    stepper.goal_x, stepper.goal_y, stepper.goal_z = foot.x, foot.y, foot.z
    stepper.goal_pitch, stepper.goal_roll = stepper.pitch0, stepper.roll0
    stepper.top, stepper.off = foot.z, 0.0
    stepper.mark_x, stepper.mark_y, stepper.mark_time = com[0], com[1], world.time


@noinline
def walk_on(
    world: World, row: Row, limbs: Limbs, plan: Any, stepper: Any, left: Region, right: Region, com: Vector,
    velocity: Vector,
) -> None:  # fmt: skip
    """Go on with a stride from the footstrike with which another controller hands a walk over."""
    side = int(row.report[0].swing)
    foot, stance = (left, right) if side == 0 else (right, left)
    speed, _ = to_heading_frame(stepper.heading, velocity[0], velocity[1])
    if plan.walk_ratio == 0.0 or speed < _SLOWEST or row.touch[0] == 0.0 or row.touch[1] == 0.0:
        return
    stepper.speed, stepper.pace, stepper.ease, stepper.firm = speed, speed, 1.0, 1.0
    lift_foot(world, plan, stepper, foot, side, WALK, com)
    begin_stride(plan, stepper, 1.0)
    stepper.phase = 0.0  # the other foot has borne already
    _leave_ground(world, limbs, stepper, foot, side)
    stepper.strike_pitch = -to_heading_frame(stepper.heading, stance.up[0], stance.up[1])[0]


@kernel
def _restart_as_balance_step(world: World, plan: Any, stepper: Any, foot: Region, side: int, com: Vector) -> None:
    """Turn a step into one that balances: the same step goes on from where the foot is now."""
    lift_foot(world, plan, stepper, foot, side, BALANCE, com)
    stepper.steps, stepper.unloaded = stepper.steps - 1.0, 1.0


@kernel
def _has_no_ground(world: World, row: Row, foot: Region, side: int) -> bool:
    """Whether a foot that should bear has no ground under it."""
    if row.touch[side] != 0.0:
        return False
    return foot.z - height_at(world, int(row.header[0].ground), foot.x, foot.y) > _LANDING_HEIGHT  # type: ignore[no-any-return]


@noinline
def decide(
    world: World, row: Row, limbs: Limbs, plan: Any, stepper: Any, left: Region, right: Region,
    com: Vector, velocity: Vector, mass: float,
) -> None:  # fmt: skip
    """Advance the modes by one physics step."""
    x, y = capture_point(com, velocity, pendulum_frequency(com[2] - stepper.z))
    if stepper.mode == STEP:
        _decide_stepping(world, row, limbs, plan, stepper, left, right, com, velocity, mass, x, y)
        return
    switch_skill(row)
    for side in range(2):
        foot = left if side == 0 else right
        if world.time - stepper.since > _HANGING and _has_no_ground(world, row, foot, side):
            lift_foot(world, plan, stepper, foot, side, BALANCE, com)
            return
    # the third region of figure 13: step; in a walk, shifting weight passes nearer to the edges of staggered feet
    walking = stepper.mode == SHIFT and stepper.kind == WALK
    if is_beyond(left, right, max(plan.margin, _WALKING_MARGIN) if walking else plan.margin, x, y):
        px, py, share = within_both(left, right, x, y)
        side = _catching_foot(stepper, left, right, x - px, y - py, share)
        if walking and (share if stepper.swing == 0.0 else 1.0 - share) < _MOST_SWING_LOAD:
            side = int(stepper.swing)
        lift_foot(world, plan, stepper, left if side == 0 else right, side, BALANCE, com)
    elif stepper.mode == SHIFT:
        _decide_shifting(world, row, limbs, plan, stepper, left, right, com, velocity, x, y)
    elif world.time - stepper.since > _REST:
        _decide_standing(world, plan, stepper, left, right, velocity)


@kernel
def _shorten_step(plan: Any, stepper: Any, stance: Region, x: float, y: float, omega: float) -> None:
    """Shorten a step of a walk that begins with the capture point away from where a steady walk has it."""
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    period = walking_period(plan, stepper)
    lead = speed_offset(omega, period)
    usual = outward * 0.5 * walking_width(plan, stepper) * sway_offset(omega, period) + lead * stepper.sideways
    off = horizontal_norm(along - lead * (stepper.speed + stepper.integral), left - usual)
    stepper.duration = max(plan.push_time, plan.step_time - plan.hurry * max(0.0, off - _FREE_DEVIATION))


@kernel
def _is_behind(plan: Any, stepper: Any, stance: Region, x: float, y: float, omega: float) -> bool:
    """Whether the capture point is so far behind a foot that a walk would fall back: the other foot has to push on."""
    along, _ = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    ahead = 1.0 if stepper.speed >= 0.0 else -1.0
    return ahead * (along - speed_offset(omega, walking_period(plan, stepper)) * stepper.speed) < -_BEHIND  # type: ignore[no-any-return]


@kernel
def _catching_foot(stepper: Any, left: Region, right: Region, dx: float, dy: float, share: float) -> int:
    """The foot that catches the body: the less loaded one, or, of two loaded alike, the one behind."""
    if abs(share - 0.5) > _UNEVEN_LOAD:
        return 1 if share > 0.5 else 0
    behind = (left.x - right.x) * dx + (left.y - right.y) * dy
    if abs(behind) > 1e-3 * math.sqrt(dx * dx + dy * dy):
        return 0 if behind < 0.0 else 1
    return 1 - int(stepper.swing)


@kernel
def _decide_standing(world: World, plan: Any, stepper: Any, left: Region, right: Region, velocity: Vector) -> None:
    """On two feet: begin to walk, or a step for comfort."""
    along, _ = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    if is_walking(stepper):
        side = 1 - int(stepper.swing)
        if abs(along) > _STAGGER:
            side = 0 if along < 0.0 else 1
        begin_shift(stepper, world.time, side, CAREFUL if plan.careful != 0.0 else WALK)
        return
    calm = horizontal_norm(velocity[0], velocity[1]) < _CALM
    if plan.comfort != 0.0 and calm and discomfort(plan, stepper, left, right) > 1.0:
        begin_shift(stepper, world.time, foot_to_move(plan, stepper, left, right), COMFORT)


@kernel
def _decide_shifting(
    world: World, row: Row, limbs: Limbs, plan: Any, stepper: Any, left: Region, right: Region,
    com: Vector, velocity: Vector, x: float, y: float,
) -> None:  # fmt: skip
    """Lift the foot once the body is over the other one, or moving there."""
    side = int(stepper.swing)
    foot, stance = (left, right) if side == 0 else (right, left)
    if stepper.kind == WALK:
        width = abs(to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)[1])
        _, beside = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
        omega = pendulum_frequency(com[2] - stepper.z)
        ready = (beside if side == 0 else -beside) <= 0.5 * width * sway_offset(omega, plan.step_time)
        waited = world.time - stepper.since > _PATIENCE
        ready = ready and (waited or not _is_behind(plan, stepper, stance, x, y, omega))
    else:
        calm = horizontal_norm(velocity[0], velocity[1]) < _CALM
        ready = calm and horizontal_norm(x - stance.x, y - stance.y) < _OVER_FOOT
    if ready:
        lift_foot(world, plan, stepper, foot, side, stepper.kind, com)
        if stepper.kind == COMFORT:
            gx, gy = comfortable_place(plan, stepper, stance, side)
            place_goal(world, row, limbs, stepper, stance, gx, gy, 1.0)
        elif stepper.kind == CAREFUL:
            gx, gy = comfortable_place(plan, stepper, stance, side)
            c, s = math.cos(stepper.heading), math.sin(stepper.heading)
            period = 2.0 * plan.careful_time
            ahead = clamp(stepper.speed * period, -_CAREFUL_AHEAD, _CAREFUL_AHEAD)
            across = clamp(stepper.sideways * period, -_CAREFUL_ASIDE, _CAREFUL_ASIDE)
            gx, gy = gx + c * ahead - s * across, gy + s * ahead + c * across
            place_goal(world, row, limbs, stepper, stance, gx, gy, 1.0 if ahead >= 0.0 else -1.0)
    elif world.time - stepper.since > _LONGEST_SHIFT:
        begin_stand(stepper, world.time)


@noinline
def _decide_stepping(
    world: World, row: Row, limbs: Limbs, plan: Any, stepper: Any, left: Region, right: Region,
    com: Vector, velocity: Vector, mass: float, x: float, y: float,
) -> None:  # fmt: skip
    """Advance the phase of a step; when the foot has landed, begin the next step, shift or stand."""
    side = int(stepper.swing)
    foot, stance = (left, right) if side == 0 else (right, left)
    was_down = stepper.phase < 0.0
    stepper.phase += world.dt / stepper.duration
    if was_down:
        if stepper.phase >= 0.0:
            _leave_ground(world, limbs, stepper, foot, side)
        return
    if stepper.kind >= CAREFUL:  # a push turns a deliberate step into one that balances
        sx, sy = within_foot(stance, x, y)
        on = (x - sx) * (stepper.goal_x - stance.x) + (y - sy) * (stepper.goal_y - stance.y)
        falls = on > 0.0 and stepper.goal_z < stance.z - _BALANCE_LIMIT  # as in a step down
        if math.hypot(x - sx, y - sy) > _BALANCE_LIMIT and not falls:
            _restart_as_balance_step(world, plan, stepper, foot, side, com)
    if row.touch[side] == 0.0:
        stepper.unloaded = 1.0
    loaded = row.contact_force[side, 2] > _STRIKE_LOAD * mass * GRAVITY
    height = foot.z - height_at(world, int(row.header[0].ground), foot.x, foot.y)
    if is_striding(stepper):  # the heel lands first
        tilt = -to_heading_frame(stepper.heading, foot.up[0], foot.up[1])[0]
        height -= 0.5 * (limbs.biped[0].ahead + limbs.biped[0].behind) * max(0.0, tilt)
    landed = row.touch[side] != 0.0 and (loaded or stepper.phase >= 1.0) and height < _LANDING_HEIGHT
    if not (landed and stepper.unloaded != 0.0 and stepper.phase > _EARLIEST_STRIKE):
        if stepper.phase > _OVERDUE and height > _LANDING_HEIGHT:
            # there was no ground: look for it elsewhere
            _restart_as_balance_step(world, plan, stepper, foot, side, com)
            return
        if stepper.phase < _OVERDUE:
            return
    switch_skill(row)
    if stepper.kind == WALK:
        taken = max(world.time - stepper.mark_time, world.dt)
        moved, beside = to_heading_frame(stepper.heading, com[0] - stepper.mark_x, com[1] - stepper.mark_y)
        stepper.pace = moved / taken
        striding = stepper.level * told_stride(stepper)
        rate = plan.speed_integral * mix(1.0, _STRIDE_RATE, striding)
        most, large = mix(_MOST_INTEGRAL, _STRIDE_INTEGRAL, striding), mix(_MOST_MISSED, _STRIDE_MISSED, striding)
        missed = clamp(stepper.speed - moved / taken, -large, large)
        stepper.integral = clamp(stepper.integral + rate * missed, -most, most)
        if stepper.sideways != 0.0:  # steps to one side and to the other partly make up for each other
            missed = _SIDE_INTEGRAL * rate * (stepper.sideways - beside / taken)
            stepper.side_integral = clamp(stepper.side_integral + missed, -_MOST_INTEGRAL, _MOST_INTEGRAL)
        else:
            stepper.side_integral = 0.0
    if is_walking(stepper) and plan.careful == 0.0:
        omega = pendulum_frequency(com[2] - foot.z)
        misplaced = abs(stepper.off) > _DISPLACED and _is_behind(plan, stepper, foot, x, y, omega)
        if misplaced and not is_beyond(left, right, _WALKING_MARGIN, x, y):
            begin_shift(stepper, world.time, 1 - side, WALK)
            return
        last = stepper.stride
        lift_foot(world, plan, stepper, stance, 1 - side, WALK, com)
        begin_stride(plan, stepper, last)
        if stepper.stride == 0.0:
            _shorten_step(plan, stepper, foot, x, y, omega)
        else:
            stepper.strike_pitch = -to_heading_frame(stepper.heading, foot.up[0], foot.up[1])[0]
        return
    if is_beyond(left, right, plan.margin, x, y):
        lift_foot(world, plan, stepper, stance, 1 - side, BALANCE, com)
    elif is_walking(stepper):
        begin_shift(stepper, world.time, 1 - side, CAREFUL)
    else:
        begin_stand(stepper, world.time)
