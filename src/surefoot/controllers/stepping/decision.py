"""Comfort: feet that neither cross nor turn away from the facing direction (Kenwright §5.4, figure 15).

The decision: nothing, ankle torque, or a step (Kenwright §5.1, figure 13); when steps begin and end.

Decided is on the capture point p + v/ω rather than on the bare centre of mass: it is where the body would come to rest.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.foot_target import settle_goal
from surefoot.controllers.stepping.plan import BALANCE, CAREFUL, COMFORT, SHIFT, STEP, WALK, begin_shift, begin_stand
from surefoot.controllers.stepping.support import is_beyond, within_both, within_foot
from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.handover import switch_skill
from surefoot.reflexes.pendulum import GRAVITY, frequency, speed_offset, sway_offset
from surefoot.reflexes.servo import clamp, nearest_turn
from surefoot.terrains.ground_kernels import height_at

_FAR = 0.6  # [m] beyond which a foot is brought nearer in more than one step


@kernel
def discomfort(plan: Any, stepper: Any, left: Any, right: Any) -> float:
    """How uncomfortable the feet stand: up to 1 they need no step.

    Measured are their distances along and across the facing direction from standing side by side, by `comfort_width`
    [m], and how they are turned away from it, by `comfort_angle` [rad].
    """
    along, beside = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    off = math.sqrt(along * along + (beside - plan.step_width) ** 2) / plan.comfort_width
    return max(off, turned_away(stepper, left) / plan.comfort_angle, turned_away(stepper, right) / plan.comfort_angle)  # type: ignore[no-any-return]


@kernel
def turned_away(stepper: Any, region: Any) -> float:
    """Angle between a foot and the facing direction [rad]."""
    return abs(nearest_turn(math.atan2(region.ay, region.ax) - stepper.heading))  # type: ignore[no-any-return]


@kernel
def comfortable_place(plan: Any, stepper: Any, stance: Any, side: int) -> tuple[float, float]:
    """Where a foot stands well beside the other [m]."""
    outward = 1.0 if side == 0 else -1.0
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    return stance.x - s * outward * plan.step_width, stance.y + c * outward * plan.step_width


@kernel
def foot_to_move(plan: Any, stepper: Any, left: Any, right: Any) -> int:
    """The foot whose step helps more: the one that is turned away more, or else the one that is behind."""
    a, b = turned_away(stepper, left), turned_away(stepper, right)
    if abs(a - b) > 0.5 * plan.comfort_angle:
        return 0 if a > b else 1
    along, _ = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    return 0 if along < 0.0 else 1


_EARLIEST, _OVERDUE = 0.5, 1.7  # phase before which a touch is a scuff, at which a foot without ground is given up
_LOADED = 0.05  # of the weight, on a foot that has landed
_LEVEL = 0.035  # [m] above its ground, that a foot lands: a toe on a riser has not
_MOST = 0.6  # [m/s] that may be added for speed that was missed
_REST = 0.3  # [s] on two feet before a step for walking or comfort
_CALM, _OVER = 0.06, 0.02  # [m/s] of the body, [m] of the capture point from the foot: then the other may be lifted
_LONGEST_SHIFT, _PATIENCE = 1.5, 0.7  # [s]; that a body over the one foot is pressed on by the other
_UNEVEN_LOAD = 0.12  # more of the weight on a foot: the other one can step
_NARROW = 0.03  # [m] beyond the foot that bears, where a careful step is given up
_USUAL = 0.05  # [m] that the capture point may be off without haste
_BEHIND = 0.07  # [m] behind where a walk has it
_ON_ITS_WAY, _MOSTLY = 0.015, 0.7  # [m] beyond both feet; share of the load, with which a foot cannot be lifted
_HANGING = 0.1  # [s] after which a foot that hangs is set down elsewhere
_DISPLACED = 0.03  # [m] from where the pendulum has it, that the ground makes a foot stand
_SLOWEST = 0.02  # [m/s] that counts as walking


@kernel
def capture_point(stepper: Any, com: Vector, velocity: Vector) -> tuple[float, float]:
    """Where the body would come to rest, p + v/ω, on the plan [m]."""
    omega = frequency(com[2] - stepper.z)
    return com[0] + velocity[0] / omega, com[1] + velocity[1] / omega


@kernel
def walks(stepper: Any) -> bool:
    """Whether it is to walk."""
    return math.sqrt(stepper.speed * stepper.speed + stepper.sideways * stepper.sideways) > _SLOWEST


@noinline
def lift(world: Any, plan: Any, stepper: Any, foot: Any, side: int, kind: float, com: Vector) -> None:
    """Let a foot swing from where it is."""
    stepper.mode, stepper.since, stepper.kind = STEP, world.time, kind
    stepper.swing, stepper.phase, stepper.unloaded = float(side), 0.0, 0.0
    stepper.steps += 1.0
    stepper.duration = plan.step_time if kind == WALK else plan.push_time if kind == BALANCE else plan.careful_time
    stepper.x0, stepper.y0, stepper.z0 = foot.x, foot.y, foot.z
    stepper.yaw0 = math.atan2(foot.ay, foot.ax)
    c, s, up = math.cos(stepper.yaw0), math.sin(stepper.yaw0), foot.up
    stepper.pitch0 = -math.atan2(c * up[0] + s * up[1], up[2])
    stepper.roll0 = -math.atan2(c * up[1] - s * up[0], up[2])
    stepper.goal_x, stepper.goal_y, stepper.goal_z = foot.x, foot.y, foot.z
    stepper.goal_pitch, stepper.goal_roll = stepper.pitch0, stepper.roll0
    stepper.top, stepper.off = foot.z, 0.0
    stepper.mark_x, stepper.mark_y, stepper.mark_time = com[0], com[1], world.time


@kernel
def _lift_again(world: Any, plan: Any, stepper: Any, foot: Any, side: int, com: Vector) -> None:
    """Turn a step into one that balances: the same step, from where the foot is now."""
    lift(world, plan, stepper, foot, side, BALANCE, com)
    stepper.steps, stepper.unloaded = stepper.steps - 1.0, 1.0


@kernel
def _hangs(world: Any, row: Any, foot: Any, side: int) -> bool:
    """Whether a foot that should bear has no ground under it."""
    if row.touch[side] != 0.0:
        return False
    return foot.z - height_at(world, int(row.header[0].ground), foot.x, foot.y) > _LEVEL  # type: ignore[no-any-return]


@noinline
def decide(
    world: Any, row: Any, limbs: Any, plan: Any, stepper: Any, left: Any, right: Any, com: Vector, velocity: Vector,
    mass: float,
) -> None:  # fmt: skip
    """Advance modes by a physics step."""
    x, y = capture_point(stepper, com, velocity)
    if stepper.mode == STEP:
        _stepping(world, row, limbs, plan, stepper, left, right, com, velocity, mass, x, y)
        return
    switch_skill(row)
    for side in range(2):
        foot = left if side == 0 else right
        if world.time - stepper.since > _HANGING and _hangs(world, row, foot, side):
            lift(world, plan, stepper, foot, side, BALANCE, com)
            return
    # the third region: step; in a walk weight on its way passes nearer to the edges of feet one ahead of the other
    walking = stepper.mode == SHIFT and stepper.kind == WALK
    if is_beyond(left, right, max(plan.margin, _ON_ITS_WAY) if walking else plan.margin, x, y):
        px, py, share = within_both(left, right, x, y)
        side = _foot_for(stepper, left, right, x - px, y - py, share)
        if walking and (share if stepper.swing == 0.0 else 1.0 - share) < _MOSTLY:
            side = int(stepper.swing)
        lift(world, plan, stepper, left if side == 0 else right, side, BALANCE, com)
    elif stepper.mode == SHIFT:
        _shifting(world, row, limbs, plan, stepper, left, right, com, velocity, x, y)
    elif world.time - stepper.since > _REST:
        _resting(world, plan, stepper, left, right, velocity)


@kernel
def _hurry(plan: Any, stepper: Any, stance: Any, x: float, y: float, omega: float) -> None:
    """Shorten a step of a walk that begins with the capture point where a steady walk does not have it."""
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    outward = 1.0 if stepper.swing == 0.0 else -1.0
    lead = speed_offset(omega, plan.step_time)
    usual = outward * 0.5 * plan.step_width * sway_offset(omega, plan.step_time) + lead * stepper.sideways
    off = math.sqrt((along - lead * (stepper.speed + stepper.integral)) ** 2 + (left - usual) ** 2)
    stepper.duration = max(plan.push_time, plan.step_time - plan.hurry * max(0.0, off - _USUAL))


@kernel
def _is_behind(plan: Any, stepper: Any, stance: Any, x: float, y: float, omega: float) -> bool:
    """Whether the capture point is so far behind a foot that a walk would go back on it: the other has to press on."""
    along, _ = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    ahead = 1.0 if stepper.speed >= 0.0 else -1.0
    return ahead * (along - speed_offset(omega, plan.step_time) * stepper.speed) < -_BEHIND  # type: ignore[no-any-return]


@kernel
def _foot_for(stepper: Any, left: Any, right: Any, dx: float, dy: float, share: float) -> int:
    """The foot that catches the body: the unloaded one, across if need be; of two loaded ones that behind."""
    if abs(share - 0.5) > _UNEVEN_LOAD:
        return 1 if share > 0.5 else 0
    behind = (left.x - right.x) * dx + (left.y - right.y) * dy
    if abs(behind) > 1e-3 * math.sqrt(dx * dx + dy * dy):
        return 0 if behind < 0.0 else 1
    return 1 - int(stepper.swing)


@kernel
def _resting(world: Any, plan: Any, stepper: Any, left: Any, right: Any, velocity: Vector) -> None:
    """On two feet: begin to walk, or to make oneself comfortable."""
    along, _ = to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)
    if walks(stepper):
        side = 1 - int(stepper.swing)
        if abs(along) > 0.03:
            side = 0 if along < 0.0 else 1
        begin_shift(stepper, world.time, side, CAREFUL if plan.careful != 0.0 else WALK)
        return
    calm = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2) < _CALM
    if plan.comfort != 0.0 and calm and discomfort(plan, stepper, left, right) > 1.0:
        begin_shift(stepper, world.time, foot_to_move(plan, stepper, left, right), COMFORT)


@kernel
def _shifting(
    world: Any, row: Any, limbs: Any, plan: Any, stepper: Any, left: Any, right: Any, com: Vector, velocity: Vector,
    x: float, y: float,
) -> None:  # fmt: skip
    """Lift the foot once the body is over the other one, or on its way to it."""
    side = int(stepper.swing)
    foot, stance = (left, right) if side == 0 else (right, left)
    if stepper.kind == WALK:
        width = abs(to_heading_frame(stepper.heading, left.x - right.x, left.y - right.y)[1])
        _, beside = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
        omega = frequency(com[2] - stepper.z)
        ready = (beside if side == 0 else -beside) <= 0.5 * width * sway_offset(omega, plan.step_time)
        waited = world.time - stepper.since > _PATIENCE
        ready = ready and (waited or not _is_behind(plan, stepper, stance, x, y, omega))
    else:
        calm = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2) < _CALM
        ready = calm and math.sqrt((x - stance.x) ** 2 + (y - stance.y) ** 2) < _OVER
    if ready:
        lift(world, plan, stepper, foot, side, stepper.kind, com)
        if stepper.kind == COMFORT:
            gx, gy = comfortable_place(plan, stepper, stance, side)
            settle_goal(world, row, limbs, stepper, stance, gx, gy, 1.0)
        elif stepper.kind == CAREFUL:
            gx, gy = comfortable_place(plan, stepper, stance, side)
            c, s = math.cos(stepper.heading), math.sin(stepper.heading)
            period = 2.0 * plan.careful_time
            ahead, across = clamp(stepper.speed * period, -0.35, 0.35), clamp(stepper.sideways * period, -0.2, 0.2)
            gx, gy = gx + c * ahead - s * across, gy + s * ahead + c * across
            settle_goal(world, row, limbs, stepper, stance, gx, gy, 1.0 if ahead >= 0.0 else -1.0)
    elif world.time - stepper.since > _LONGEST_SHIFT:
        begin_stand(stepper, world.time)


@noinline
def _stepping(
    world: Any, row: Any, limbs: Any, plan: Any, stepper: Any, left: Any, right: Any, com: Vector, velocity: Vector,
    mass: float, x: float, y: float,
) -> None:  # fmt: skip
    side = int(stepper.swing)
    foot, stance = (left, right) if side == 0 else (right, left)
    stepper.phase += world.dt / stepper.duration
    if stepper.kind >= CAREFUL:  # a push turns a deliberate step into one that balances
        sx, sy = within_foot(stance, x, y)
        on = (x - sx) * (stepper.goal_x - stance.x) + (y - sy) * (stepper.goal_y - stance.y)
        falls = on > 0.0 and stepper.goal_z < stance.z - _NARROW  # as it does when it steps down
        if math.hypot(x - sx, y - sy) > _NARROW and not falls:
            _lift_again(world, plan, stepper, foot, side, com)
    if row.touch[side] == 0.0:
        stepper.unloaded = 1.0
    loaded = row.contact_force[side, 2] > _LOADED * mass * GRAVITY
    height = foot.z - height_at(world, int(row.header[0].ground), foot.x, foot.y)
    landed = row.touch[side] != 0.0 and (loaded or stepper.phase >= 1.0) and height < _LEVEL
    if not (landed and stepper.unloaded != 0.0 and stepper.phase > _EARLIEST):
        if stepper.phase > _OVERDUE and height > _LEVEL:
            _lift_again(world, plan, stepper, foot, side, com)  # there was no ground: it is sought elsewhere
            return
        if stepper.phase < _OVERDUE:
            return
    switch_skill(row)
    if stepper.kind == WALK:
        taken = max(world.time - stepper.mark_time, world.dt)
        moved, beside = to_heading_frame(stepper.heading, com[0] - stepper.mark_x, com[1] - stepper.mark_y)
        rate = plan.speed_integral
        stepper.integral = clamp(stepper.integral + rate * (stepper.speed - moved / taken), -_MOST, _MOST)
        if stepper.sideways != 0.0:  # half of it: steps to the one side and to the other make up for each other
            missed = 0.5 * rate * (stepper.sideways - beside / taken)
            stepper.side_integral = clamp(stepper.side_integral + missed, -_MOST, _MOST)
        else:
            stepper.side_integral = 0.0
    if walks(stepper) and plan.careful == 0.0:
        misplaced = abs(stepper.off) > _DISPLACED and _is_behind(plan, stepper, foot, x, y, frequency(com[2] - foot.z))
        if misplaced and not is_beyond(left, right, _ON_ITS_WAY, x, y):
            begin_shift(stepper, world.time, 1 - side, WALK)
            return
        lift(world, plan, stepper, stance, 1 - side, WALK, com)
        _hurry(plan, stepper, foot, x, y, frequency(com[2] - foot.z))
        return
    if is_beyond(left, right, plan.margin, x, y):
        lift(world, plan, stepper, stance, 1 - side, BALANCE, com)
    elif walks(stepper):
        begin_shift(stepper, world.time, 1 - side, CAREFUL)
    else:
        begin_stand(stepper, world.time)
