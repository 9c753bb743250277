"""Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step").

A pendulum, estimated anew from the body in every step, says where to press and where to step; the lower body follows
by inverse kinematics, the upper body holds still or does as it is told. Beyond the paper, whose pose servos alone
stand but cannot step, the pendulum's own force is fed forward through the legs that bear, and the pelvis is held in
the world.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.stepping.center_of_pressure import adapt_height, ground_force, press
from surefoot.controllers.stepping.decision import decide
from surefoot.controllers.stepping.foot_target import aim
from surefoot.controllers.stepping.legs import arm_stiffness, exert, load_torque, stance_leg, swing_leg
from surefoot.controllers.stepping.plan import CAREFUL, HIGHEST, STEP, STEPPER, begin_stand, plan_of, servos_of
from surefoot.controllers.stepping.slip import pull_bias
from surefoot.controllers.stepping.support import foot_region, on_sole, within_foot
from surefoot.native.kernels import array_kernel, kernel, noinline, records
from surefoot.native.links import limbs_of
from surefoot.native.vectors import Vector, add, from_axis_angle, from_yaw_roll_pitch, limit_norm, scale, subtract
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import NONE, TAKEN, command_or
from surefoot.reflexes.limb_servo import (
    com_state,
    framed_target,
    point_velocity,
    quaternion_of,
    relative_target,
    turn_to,
    weight_torque,
)
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.servo import clamp

COMMANDS = {
    "speed": Command("m/s", -1.5, 2.0),  # along the facing direction
    "sideways": Command("m/s", -0.8, 0.8),  # to the left
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw of the facing direction
    "crouch": Command("", 0.4, 1.0),  # of the legs' rest length
    "pull": Command("N", -400.0, 400.0),  # with which the world holds the body back; negative, it drives it on
    "lean": Command(DEGREES, -1.0, 1.0),  # of the trunk, forward negative
    "stop": Command("", 0.0, 1.0),  # 1 stands, 0 walks
}
SPEED, SIDEWAYS, HEADING, CROUCH, PULL, LEAN, STOP = 0, 1, 2, 3, 4, 5, 6

_SIZE = STEPPER.itemsize // 8
_NECK, _SHOULDER, _ELBOW = 2, 7, 8  # places in `limbs.KINDS`
_GRIP = 0.05  # of weight times leg: more yaw torque would twist a foot on the ground
_TOP_LIMIT = 400.0  # [N·m] that holds the pelvis
_REACHING, _HIGHEST_ARM = 1.5, 2.4  # arms before the trunk, by its lean: they balance hips that are behind; [rad]
_EDGE = 0.04  # [m] that is a step down; [rad] of level ground
_HIP_SHARE = 0.5  # of the trunk's lean, that the pelvis has
_SQUATTING, _LEANING, _FEELING = 0.3, 1.0, 0.3  # [1/s] of the legs' length; [rad/s]; [s] to take in a slope


def memory_size() -> int:
    """Numbers it remembers."""
    return _SIZE


@array_kernel
def stepper_of(memory: Any) -> Any:
    """(1,) STEPPER of a memory."""
    return records(memory, 0, 1, STEPPER)


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    _step(world, row, is_new)


@noinline
def _step(world: Any, row: Any, is_new: bool) -> None:
    limbs = limbs_of(world.numeric, int(row.header[0].limbs))
    stepper = stepper_of(row.memory)[0]
    body, velocity, mass = com_state(world, int(limbs.biped[0].pelvis), stepper)
    if is_new and row.header[0].handover == TAKEN:
        row.header[0].handover = NONE
        stepper.heading = row.commands[HEADING] = row.report[0].heading
        begin_stand(stepper, world.time)
    plan = plan_of(row.slots[int(row.header[0].active)])
    if is_new:
        _take_orders(world, row, plan, stepper)
    com = _pendulum(plan, row, stepper, body, mass)
    servos = servos_of(row.slots[int(row.header[0].active)], len(world.ctrl))[0]
    left = foot_region(world, limbs, 0, plan.foot_length, plan.foot_width, _ankle_limit(limbs, servos, stepper, 0))
    right = foot_region(world, limbs, 1, plan.foot_length, plan.foot_width, _ankle_limit(limbs, servos, stepper, 1))
    hips, ankles = _hips(world, limbs), _ankles(world, limbs)
    height, rate = 0.5 * (hips[0][2] + hips[1][2]), _rising(world, limbs, hips)
    if is_new:
        if stepper.z == 0.0 and stepper.height == 0.0:
            stepper.z = 0.5 * (left.z + right.z)
            _feel_slope(stepper, left, right, _FEELING)
        decide(world, row, limbs, plan, stepper, left, right, com, velocity, mass)
        plan = plan_of(row.slots[int(row.header[0].active)])
        servos = servos_of(row.slots[int(row.header[0].active)], len(world.ctrl))[0]
        if stepper.mode == STEP and stepper.kind < CAREFUL:
            stance = right if stepper.swing == 0.0 else left
            aim(world, row, limbs, plan, stepper, stance, com, velocity, stepper.height - height)
        press(plan, stepper, left, right, com, velocity)
        _feel_slope(stepper, left, right, world.dt)
        _lean(row, plan, stepper, world.dt)
        adapt_height(limbs, servos, plan, stepper, hips, ankles, left, right, velocity, world.dt)
    own = world.anatomy[0].mass
    force = ground_force(plan, stepper, com, mass, own + plan.spring_load * (mass - own), height, rate)
    error = _pelvis_error(world, limbs, stepper)
    tilt = scale(1.0 - plan.force, error)  # a pose's hips are as far off as the pelvis is; ours is held in the world
    turn = upper_body(world, row, servos, limbs, plan, stepper, tilt)
    if stepper.mode == STEP:
        turn = add(turn, swing_leg(world, row, servos, limbs, plan, stepper, tilt))
    _bear(world, row, servos, limbs, plan, stepper, left, right, force, turn, body, height, mass, error)
    _report(row, stepper, body, velocity, left, right)


@kernel
def _take_orders(world: Any, row: Any, plan: Any, stepper: Any) -> None:
    steer(stepper, row.commands[HEADING], plan.turn_rate, world.dt)
    going = plan.walks != 0.0 or row.commands[8 + SPEED] != 0.0 or row.commands[8 + SIDEWAYS] != 0.0
    going = going and command_or(row, STOP, 0.0) < 0.5
    speed, sideways = (command_or(row, SPEED, plan.speed), command_or(row, SIDEWAYS, 0.0)) if going else (0.0, 0.0)
    if plan.walks == 0.0 and row.commands[8 + SPEED] == 0.0:
        speed = 0.0
    most = plan.acceleration * world.dt
    stepper.speed += clamp(speed - stepper.speed, -most, most)
    stepper.sideways += clamp(sideways - stepper.sideways, -most, most)
    if stepper.crouch == 0.0:
        stepper.crouch = plan.crouch
    most = _SQUATTING * world.dt
    stepper.crouch += clamp(command_or(row, CROUCH, plan.crouch) - stepper.crouch, -most, most)


@kernel
def _feel_slope(stepper: Any, left: Any, right: Any, dt: float) -> None:
    """Follow the pitch of the ground under the feet that bear, along the facing direction."""
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    share = stepper.share
    along = share * (c * left.up[0] + s * left.up[1]) + (1.0 - share) * (c * right.up[0] + s * right.up[1])
    up = share * left.up[2] + (1.0 - share) * right.up[2]
    stepper.slope += (math.atan2(-along, up) - stepper.slope) * min(1.0, dt / _FEELING)


@kernel
def _pendulum(plan: Any, row: Any, stepper: Any, com: Vector, mass: float) -> Vector:
    """The pendulum's mass: that of the body, displaced by what pulls at it (eq. 3) [m]."""
    back = pull_bias(-command_or(row, PULL, 0.0), mass, plan.pull_scale)
    return com[0] + back * math.cos(stepper.heading), com[1] + back * math.sin(stepper.heading), com[2]


@kernel
def _ankle_limit(limbs: Any, servos: Any, stepper: Any, side: int) -> float:
    """How far an ankle can bend without lifting its heel [rad]; that matters to a leg that lets the other down."""
    down = stepper.mode == STEP and stepper.z0 - stepper.goal_z > _EDGE and abs(stepper.goal_pitch) < _EDGE
    if not down or side == int(stepper.swing):
        return 1e9
    return servos[int(limbs.links[int(limbs.legs[side].end)].first), HIGHEST]  # type: ignore[no-any-return]


@kernel
def _hips(world: Any, limbs: Any) -> tuple[Vector, Vector]:
    a = world.xanchor[int(limbs.links[int(limbs.legs[0].upper)].joint)]
    b = world.xanchor[int(limbs.links[int(limbs.legs[1].upper)].joint)]
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])


@kernel
def _ankles(world: Any, limbs: Any) -> tuple[Vector, Vector]:
    a = world.xanchor[int(limbs.links[int(limbs.legs[0].end)].joint)]
    b = world.xanchor[int(limbs.links[int(limbs.legs[1].end)].joint)]
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])


@kernel
def _rising(world: Any, limbs: Any, hips: tuple[Vector, Vector]) -> float:
    """Vertical speed of the middle of the hips [m/s]."""
    pelvis = int(limbs.biped[0].pelvis)
    middle = scale(0.5, add(hips[0], hips[1]))
    return point_velocity(world, pelvis, middle)[2]  # type: ignore[no-any-return]


@kernel
def _pelvis_error(world: Any, limbs: Any, stepper: Any) -> Vector:
    """Rotation vector from the pelvis' orientation to the wanted one [rad]."""
    frame = from_axis_angle((0.0, 0.0, 1.0), stepper.heading)
    wanted = framed_target(frame, limbs.biped[0], from_yaw_roll_pitch(0.0, 0.0, _HIP_SHARE * stepper.lean))
    return turn_to(wanted, quaternion_of(world, int(limbs.biped[0].pelvis)))  # type: ignore[no-any-return]


@noinline
def upper_body(world: Any, row: Any, servos: Any, limbs: Any, plan: Any, stepper: Any, tilt: Vector) -> Vector:
    """Hold trunk and head in the world, the arms against the trunk; returns the servos' torque at the pelvis [N·m].

    `tilt` is by how much the pelvis is off, as far as joints are to follow it [rad].
    """
    frame = from_axis_angle((0.0, 0.0, 1.0), stepper.heading)
    lean, swing = stepper.lean, _arm_swing(world, limbs, plan, stepper)
    hang = 0.0 if stepper.load_mass > 0.0 else clamp(-_REACHING * lean, 0.0, _HIGHEST_ARM)
    reaction = (0.0, 0.0, 0.0)
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.leg >= 0.0:
            continue
        kind = int(link.kind)
        rate, stiff = (0.0, 0.0, 0.0), 1.0
        if kind <= _NECK:
            share = lean if kind < _NECK else 0.3 * lean
            target = framed_target(frame, link, from_yaw_roll_pitch(0.0, 0.0, share))
            spin = world.cvel[int(link.near)]
            rate = (-plan.force * spin[0], -plan.force * spin[1], -plan.force * spin[2])
        elif kind == _SHOULDER:
            outward = 1.0 if link.side == 0.0 else -1.0
            target = relative_target(
                world, link, from_yaw_roll_pitch(0.0, outward * plan.arm_out, outward * swing + hang)
            )
        elif kind == _ELBOW:
            target = relative_target(world, link, from_yaw_roll_pitch(0.0, 0.0, plan.elbow))
        else:
            target = relative_target(world, link, (1.0, 0.0, 0.0, 0.0))
        if kind > _NECK:
            stiff = arm_stiffness(servos, link, stepper)
        error = turn_to(target, quaternion_of(world, int(link.body)))
        if link.at_pelvis != 0.0:
            error = subtract(error, tilt)
        borne = scale(plan.force, add(weight_torque(world, link), load_torque(world, limbs, link, stepper)))
        servo = exert(world, row, servos, link, borne, error, rate, stiff, stiff)
        if link.at_pelvis != 0.0:
            reaction = add(reaction, servo)
    return reaction


@kernel
def _arm_swing(world: Any, limbs: Any, plan: Any, stepper: Any) -> float:
    """Angle by which the left arm is ahead and the right one behind, as the feet are the other way round [rad]."""
    if stepper.load_mass > 0.0:
        return 0.0
    left, right = _ankles(world, limbs)
    along = math.cos(stepper.heading) * (right[0] - left[0]) + math.sin(stepper.heading) * (right[1] - left[1])
    return plan.arm_swing * along / limbs.biped[0].leg_length  # type: ignore[no-any-return]


@kernel
def _lean(row: Any, plan: Any, stepper: Any, dt: float) -> None:
    """Let the trunk follow its pitch: forward in a crouch or uphill, so that ankles need to bend less."""
    forward = plan.crouch_lean * (1.0 - stepper.crouch) + plan.slope_lean * max(0.0, stepper.slope)
    most = _LEANING * dt
    stepper.lean += clamp(plan.lean + command_or(row, LEAN, 0.0) - forward - stepper.lean, -most, most)


@noinline
def _bear(
    world: Any, row: Any, servos: Any, limbs: Any, plan: Any, stepper: Any, left: Any, right: Any, force: Vector,
    turn: Vector, com: Vector, height: float, mass: float, error: Vector,
) -> None:  # fmt: skip
    """Drive the legs that bear: their shares of the pendulum's force, and of what holds the pelvis upright."""
    biped = limbs.biped[0]
    spin = world.cvel[int(biped.pelvis)]
    kp, kd = plan.pelvis_kp, plan.pelvis_kd
    held = (kp * error[0] - kd * spin[0], kp * error[1] - kd * spin[1], kp * error[2] - kd * spin[2])
    held = scale(plan.force, add(limit_norm(held, _TOP_LIMIT), turn))
    # the paper's pose: the pelvis over where the body should rest; while it steps the pendulum is where it is
    rest = 0.0 if stepper.mode == STEP else 1.0 - plan.force
    x, y = 0.5 * (left.x + right.x), 0.5 * (left.y + right.y)
    shift = (rest * (x - com[0]), rest * (y - com[1]), stepper.height - height)
    for side in range(2):
        share = stepper.share if side == 0 else 1.0 - stepper.share
        if stepper.mode == STEP and side == int(stepper.swing):
            continue
        region = left if side == 0 else right
        x, y = within_foot(region, stepper.x, stepper.y)
        point = on_sole(region, x, y)
        grip = _GRIP * min(row.contact_force[side, 2], mass * GRAVITY) * biped.leg_length
        more = scale(-share, held)
        more = (more[0], more[1], clamp(more[2], -grip, grip))
        tilt = scale(1.0 - plan.force, error)
        stance_leg(world, row, servos, limbs, plan, side, point, scale(share, force), more, shift, tilt)


@kernel
def _report(row: Any, stepper: Any, com: Vector, velocity: Vector, left: Any, right: Any) -> None:
    report = row.report[0]
    stance = right if stepper.swing == 0.0 else left
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    x, y = com[0] - stance.x, com[1] - stance.y
    report.state, report.swing, report.steps = stepper.mode, stepper.swing, stepper.steps
    report.phase = 0.5 * (clamp(stepper.phase, 0.0, 1.0 - 1e-9) + (1.0 if stepper.swing == 0.0 else 0.0))
    report.distance, report.velocity = c * x + s * y, c * velocity[0] + s * velocity[1]
    report.lateral_distance, report.lateral_velocity = c * y - s * x, c * velocity[1] - s * velocity[0]
    report.heading = stepper.heading
