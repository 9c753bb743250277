"""Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step").

A pendulum, estimated from the body in every control step, gives the centre of pressure and the foothold. The lower body
follows by inverse kinematics; the upper body holds its pose. Beyond the paper, whose pose servos alone can stand but
not step, the pendulum's force is fed forward through the stance legs, and the pelvis is held in the world.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.stepping.center_of_pressure import adapt_height, choose_pressure, ground_force
from surefoot.controllers.stepping.decision import decide, walk_on
from surefoot.controllers.stepping.foot_target import plan_foothold
from surefoot.controllers.stepping.legs import (
    arm_stiffness,
    drive_leaving_leg,
    drive_link,
    drive_stance_leg,
    drive_swing_leg,
    load_torque,
)
from surefoot.controllers.stepping.plan import CAREFUL, HIGHEST, STEP, STEPPER, begin_stand, plan_of, servos_of
from surefoot.controllers.stepping.slip import pull_bias
from surefoot.controllers.stepping.stride import bearing_pitch, choose_stride_pressure, is_striding, update_ease
from surefoot.controllers.stepping.support import Region, bearing_part, foot_region, on_sole, within_foot
from surefoot.native.kernels import array_kernel, kernel, noinline, records
from surefoot.native.limb_records import Limbs, limbs_of
from surefoot.native.physics import World
from surefoot.native.userdata import COMMAND_GIVEN, Row
from surefoot.native.vectors import Vector, add, from_axis_angle, from_yaw_roll_pitch, limit_norm, scale, subtract
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import command_or, take_over
from surefoot.reflexes.leg_ik import LOOKAHEAD
from surefoot.reflexes.limb_servo import (
    ankle_of,
    com_state,
    framed_target,
    hip_of,
    point_velocity,
    quaternion_of,
    relative_target,
    rotation_error,
    weight_torque,
)
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.report import report_com
from surefoot.reflexes.servo import clamp, world_servo

COMMANDS = {
    "speed": Command("m/s", -1.5, 2.0),  # along the facing direction
    "sideways": Command("m/s", -0.8, 0.8),  # to the left
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw of the facing direction
    "crouch": Command("", 0.4, 1.0),  # of the legs' rest length
    "pull": Command("N", -400.0, 400.0),  # with which the world holds the body back; negative, it drives it on
    "lean": Command(DEGREES, -1.0, 1.0),  # of the trunk, forward negative
    "stop": Command("", 0.0, 1.0),  # 1 stands, 0 walks
}
SPEED, SIDEWAYS, HEADING, CROUCH, PULL, LEAN, STOP = range(7)

_SIZE = STEPPER.itemsize // 8
_NECK, _SHOULDER, _ELBOW = 2, 7, 8  # places in `characters.links.KINDS`
# Constants beyond the paper; docs/stepping.md gives the reason of each.
_GRIP = 0.05  # [weight × leg]
_PELVIS_LIMIT = 400.0  # [N·m]
_PELVIS_LEAN, _NECK_LEAN = 0.5, 0.3  # [lean]
_ARM_LEAN, _HIGHEST_ARM = 1.5, 2.4  # [lean], [rad]
_STEP_DOWN, _LEVEL = 0.04, 0.04  # [m], [rad]
_LOWEST_HIP = 0.3  # [m]
_CROUCH_RATE, _LEAN_RATE, _SLOPE_TIME = 0.3, 1.0, 0.3  # [1/s], [rad/s], [s]
_STOP_COMMAND = 0.5


def memory_size() -> int:
    """Numbers of memory."""
    return _SIZE


@array_kernel
def stepper_of(memory: np.ndarray) -> Any:
    """(1,) STEPPER of a memory."""
    return records(memory, 0, 1, STEPPER)


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    _control(world, row, is_new)


@noinline
def _control(world: World, row: Row, is_new: bool) -> None:
    limbs = limbs_of(world.numeric, int(row.header[0].limbs))
    stepper = stepper_of(row.memory)[0]
    body, velocity, mass = com_state(world, int(limbs.biped[0].pelvis), stepper)
    begins = is_new and take_over(row, stepper, HEADING)
    if begins:
        begin_stand(stepper, world.time)
    plan = plan_of(row.slots[int(row.header[0].active)])
    if is_new:
        _follow_commands(world, row, plan, stepper)
    com = _pendulum_mass(plan, row, stepper, body, mass)
    servos = servos_of(row.slots[int(row.header[0].active)], len(world.ctrl))[0]
    left = foot_region(world, limbs, 0, plan.foot_length, plan.foot_width, _ankle_limit(limbs, servos, stepper, 0))
    right = foot_region(world, limbs, 1, plan.foot_length, plan.foot_width, _ankle_limit(limbs, servos, stepper, 1))
    hips = (hip_of(world, limbs, 0), hip_of(world, limbs, 1))
    ankles = (ankle_of(world, limbs, 0), ankle_of(world, limbs, 1))
    height, rate = 0.5 * (hips[0][2] + hips[1][2]), _hip_climb_rate(world, limbs, hips)
    if is_new:
        if stepper.z == 0.0 and stepper.height == 0.0:
            stepper.z = 0.5 * (left.z + right.z)
            _estimate_slope(stepper, left, right, _SLOPE_TIME)
        if begins and row.header[0].family != 0.0:
            walk_on(world, row, limbs, plan, stepper, left, right, com, velocity)
            stepper.height, stepper.height_rate = height, rate
        decide(world, row, limbs, plan, stepper, left, right, com, velocity, mass)
        plan = plan_of(row.slots[int(row.header[0].active)])
        servos = servos_of(row.slots[int(row.header[0].active)], len(world.ctrl))[0]
        if stepper.mode == STEP and stepper.kind < CAREFUL:
            stance = right if stepper.swing == 0.0 else left
            plan_foothold(world, row, limbs, plan, stepper, stance, com, velocity, stepper.height - height)
        update_ease(world, row, plan, stepper, left, right, com, velocity, _burden(world, row, stepper))
        if is_striding(stepper):
            bears = _bearing_parts(world, row, limbs, left, right)
            choose_stride_pressure(plan, stepper, left, right, bears[0], bears[1], com, velocity)
        else:
            choose_pressure(plan, stepper, left, right, com, velocity)
        _estimate_slope(stepper, left, right, world.dt)
        _update_lean(row, plan, stepper, world.dt)
        adapt_height(limbs, servos, plan, stepper, hips, ankles, left, right, velocity, world.dt)
    own = world.anatomy[0].mass
    force = ground_force(plan, stepper, com, mass, own + plan.spring_load * (mass - own), height, rate)
    error = _pelvis_error(world, limbs, stepper)
    tilt = scale(1.0 - plan.force, error)  # the paper's hips follow the pelvis; ours is held in the world
    turn = drive_upper_body(world, row, servos, limbs, plan, stepper, tilt)
    if stepper.mode == STEP and stepper.phase >= 0.0:
        turn = add(turn, drive_swing_leg(world, row, servos, limbs, plan, stepper, tilt))
    _drive_stance_legs(world, row, servos, limbs, plan, stepper, left, right, force, turn, body, height, mass, error)
    stance = right if stepper.swing == 0.0 else left
    report_com(row, stepper, body, velocity, stance.x, stance.y)


@kernel
def _bearing_parts(world: World, row: Row, limbs: Limbs, left: Region, right: Region) -> tuple[Region, Region]:
    """The parts of both feet that are on the ground."""
    return (
        bearing_part(world, row, limbs, 0, left),
        bearing_part(world, row, limbs, 1, right),
    )


@kernel
def _follow_commands(world: World, row: Row, plan: Any, stepper: Any) -> None:
    steer(stepper, row.commands[HEADING], plan.turn_rate, world.dt)
    going = (
        plan.walks != 0.0 or row.commands[COMMAND_GIVEN + SPEED] != 0.0 or row.commands[COMMAND_GIVEN + SIDEWAYS] != 0.0
    )
    going = going and command_or(row, STOP, 0.0) < _STOP_COMMAND
    speed, sideways = (command_or(row, SPEED, plan.speed), command_or(row, SIDEWAYS, 0.0)) if going else (0.0, 0.0)
    if plan.walks == 0.0 and row.commands[COMMAND_GIVEN + SPEED] == 0.0:
        speed = 0.0
    most = plan.acceleration * world.dt
    stepper.speed += clamp(speed - stepper.speed, -most, most)
    stepper.sideways += clamp(sideways - stepper.sideways, -most, most)
    if stepper.crouch == 0.0:
        stepper.crouch = plan.crouch
    most = _CROUCH_RATE * world.dt
    stepper.crouch += clamp(command_or(row, CROUCH, plan.crouch) - stepper.crouch, -most, most)


@kernel
def _estimate_slope(stepper: Any, left: Region, right: Region, dt: float) -> None:
    """Follow the pitch of the ground under the bearing feet, along the facing direction."""
    if is_striding(stepper):  # on level ground, on feet that roll
        stepper.slope -= stepper.slope * min(1.0, dt / _SLOPE_TIME)
        return
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    share = stepper.share
    along = share * (c * left.up[0] + s * left.up[1]) + (1.0 - share) * (c * right.up[0] + s * right.up[1])
    up = share * left.up[2] + (1.0 - share) * right.up[2]
    stepper.slope += (math.atan2(-along, up) - stepper.slope) * min(1.0, dt / _SLOPE_TIME)


@kernel
def _pendulum_mass(plan: Any, row: Row, stepper: Any, com: Vector, mass: float) -> Vector:
    """Position of the pendulum's mass: the body's COM, displaced by a pull (eq. 3) [m]."""
    back = pull_bias(-command_or(row, PULL, 0.0), mass, plan.pull_scale)
    return com[0] + back * math.cos(stepper.heading), com[1] + back * math.sin(stepper.heading), com[2]


@kernel
def _burden(world: World, row: Row, stepper: Any) -> float:
    """Weight of what it carries, and the force it is told that it pulls or pushes with, of its own weight."""
    own = world.anatomy[0].mass * GRAVITY
    return (stepper.load_mass * GRAVITY + abs(command_or(row, PULL, 0.0))) / own  # type: ignore[no-any-return]


@kernel
def _ankle_limit(limbs: Limbs, servos: np.ndarray, stepper: Any, side: int) -> float:
    """Largest flexion of an ankle before its heel lifts [rad]; limited only while the other foot steps down."""
    down = stepper.mode == STEP and stepper.z0 - stepper.goal_z > _STEP_DOWN and abs(stepper.goal_pitch) < _LEVEL
    if not down or side == int(stepper.swing):
        return 1e9
    return servos[int(limbs.links[int(limbs.legs[side].end)].first), HIGHEST]  # type: ignore[no-any-return]


@kernel
def _hip_climb_rate(world: World, limbs: Limbs, hips: tuple[Vector, Vector]) -> float:
    """Vertical speed of the middle of the hips [m/s]."""
    pelvis = int(limbs.biped[0].pelvis)
    middle = scale(0.5, add(hips[0], hips[1]))
    return point_velocity(world, pelvis, middle)[2]  # type: ignore[no-any-return]


@kernel
def _pelvis_error(world: World, limbs: Limbs, stepper: Any) -> Vector:
    """Rotation vector from the pelvis' orientation to the wanted one [rad]."""
    frame = from_axis_angle((0.0, 0.0, 1.0), stepper.heading)
    wanted = framed_target(frame, limbs.biped[0], from_yaw_roll_pitch(0.0, 0.0, _PELVIS_LEAN * stepper.lean))
    return rotation_error(wanted, quaternion_of(world, int(limbs.biped[0].pelvis)))  # type: ignore[no-any-return]


@noinline
def drive_upper_body(
    world: World, row: Row, servos: np.ndarray, limbs: Limbs, plan: Any, stepper: Any, tilt: Vector
) -> Vector:
    """Hold trunk and head in the world and the arms against the trunk; return the servo torque at the pelvis [N·m].

    `tilt` is the share of the pelvis' orientation error that joints follow [rad].
    """
    frame = from_axis_angle((0.0, 0.0, 1.0), stepper.heading)
    lean, swing = stepper.lean, _arm_swing(world, limbs, plan, stepper)
    hang = 0.0 if stepper.load_mass > 0.0 else clamp(-_ARM_LEAN * lean, 0.0, _HIGHEST_ARM)
    reaction = (0.0, 0.0, 0.0)
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.leg >= 0.0:
            continue
        kind = int(link.kind)
        rate, stiff = (0.0, 0.0, 0.0), 1.0
        if kind <= _NECK:
            share = lean if kind < _NECK else _NECK_LEAN * lean
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
        error = rotation_error(target, quaternion_of(world, int(link.body)))
        if link.at_pelvis != 0.0:
            error = subtract(error, tilt)
        borne = scale(plan.force, add(weight_torque(world, link), load_torque(world, limbs, link, stepper)))
        servo = drive_link(world, row, servos, link, borne, error, rate, stiff, stiff)
        if link.at_pelvis != 0.0:
            reaction = add(reaction, servo)
    return reaction


@kernel
def _arm_swing(world: World, limbs: Limbs, plan: Any, stepper: Any) -> float:
    """Angle of the left arm ahead and the right arm back, opposite to the feet [rad]."""
    if stepper.load_mass > 0.0:
        return 0.0
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    along = math.cos(stepper.heading) * (right[0] - left[0]) + math.sin(stepper.heading) * (right[1] - left[1])
    return plan.arm_swing * along / limbs.biped[0].leg_length  # type: ignore[no-any-return]


@kernel
def _update_lean(row: Row, plan: Any, stepper: Any, dt: float) -> None:
    """Follow the wanted pitch of the trunk: forward in a crouch or uphill, so that ankles need to bend less."""
    forward = plan.crouch_lean * (1.0 - stepper.crouch) + plan.slope_lean * max(0.0, stepper.slope)
    most = _LEAN_RATE * dt
    stepper.lean += clamp(plan.lean + command_or(row, LEAN, 0.0) - forward - stepper.lean, -most, most)


@kernel
def _through_ground(stepper: Any, force: Vector, held: Vector, height: float) -> tuple[Vector, Vector]:
    """A ground reaction that turns the pelvis as `held` would about the lateral axis, and what is left of `held` [N·m].

    A straight leg bears no torque of the hip alone: its knee would give way.
    """
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    pitching = -s * held[0] + c * held[1]
    push = -pitching / max(height - stepper.z, _LOWEST_HIP)
    return (
        (force[0] + c * push, force[1] + s * push, force[2]),
        (held[0] + s * pitching, held[1] - c * pitching, held[2]),
    )


@noinline
def _drive_stance_legs(
    world: World, row: Row, servos: np.ndarray, limbs: Limbs, plan: Any, stepper: Any, left: Region, right: Region,
    force: Vector, turn: Vector, com: Vector, height: float, mass: float, error: Vector,
) -> None:  # fmt: skip
    """Drive the stance legs: their shares of the pendulum's force and of the torque that holds the pelvis upright."""
    biped = limbs.biped[0]
    spin = world.cvel[int(biped.pelvis)]
    held = world_servo(plan.pelvis_kp, plan.pelvis_kd, error, spin)
    held = scale(plan.force, add(limit_norm(held, _PELVIS_LIMIT), turn))
    # the paper's pose: the pelvis over where the body should rest; while it steps the pendulum is where it is
    rest = 0.0 if stepper.mode == STEP else 1.0 - plan.force
    x, y = 0.5 * (left.x + right.x), 0.5 * (left.y + right.y)
    shift = (rest * (x - com[0]), rest * (y - com[1]), stepper.height - height)
    strides = is_striding(stepper)
    if strides:
        left, right = _bearing_parts(world, row, limbs, left, right)
        force, held = _through_ground(stepper, force, held, height)
    for side in range(2):
        share = stepper.share if side == 0 else 1.0 - stepper.share
        if stepper.mode == STEP and side == int(stepper.swing) and stepper.phase >= 0.0:
            continue
        region = left if side == 0 else right
        x, y = within_foot(region, stepper.x, stepper.y)
        point = on_sole(region, x, y)
        grip = _GRIP * min(row.contact_force[side, 2], mass * GRAVITY) * biped.leg_length
        more = scale(-share, held)
        more = (more[0], more[1], clamp(more[2], -grip, grip))
        tilt = scale(1.0 - plan.force, error)
        if strides and side == int(stepper.swing):
            drive_leaving_leg(world, row, servos, limbs, plan, stepper, side, point, scale(share, force), more)
            continue
        pitch, pitch_rate = 0.0, 0.0
        if strides:
            pitch = bearing_pitch(plan, stepper, stepper.phase, False)
            later = bearing_pitch(plan, stepper, stepper.phase + LOOKAHEAD / stepper.duration, False)
            pitch_rate = (later - pitch) / LOOKAHEAD
        drive_stance_leg(
            world,
            row,
            servos,
            limbs,
            plan,
            side,
            point,
            scale(share, force),
            more,
            shift,
            tilt,
            strides,
            pitch,
            pitch_rate,
        )
