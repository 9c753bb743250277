"""Joint torques of the stepping law: PD servos on a generated pose, and forces through Jᵀ (Kenwright §5.3, §5.5, §6.3).

Equation 5 prints its signs reversed: here τ = k_p (θ_d − θ) + k_d (θ̇_d − θ̇). For a hinge, θ_d − θ is the part's
rotation to its wanted orientation, projected on the hinge's axis. Inverse kinematics puts the ankle of a standing leg
under a displaced pelvis and that of a swinging leg on its path. Arms bear half of a held load each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.stepping.foot_target import bezier, control_height, travel_share
from surefoot.controllers.stepping.plan import CONTACT_SCALE, KD, KP, LIMIT
from surefoot.controllers.stepping.stride import (
    bearing_pitch,
    front_share,
    hermite,
    is_striding,
    landing_pitch,
    landing_rise,
    mix,
)
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    cross,
    dot,
    from_axis_angle,
    from_yaw_roll_pitch,
    limit_norm,
    multiply,
    rotate,
    scale,
    subtract,
)
from surefoot.reflexes.leg_ik import LOOKAHEAD, leg_angles, limb_motion
from surefoot.reflexes.limb_servo import (
    anchor_of,
    base_turn,
    body_turn,
    hand_point,
    hand_torque,
    point_velocity,
    quaternion_of,
    relative_target,
    rotation_error,
    weight_torque,
)
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.servo import along_axis, clamp, exert, nearest_turn

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_ARRIVAL_PHASE, _SOONER, _DROP = 0.92, 0.17, 0.1  # [phase], [phase], [m]
_SLOPING = 0.1  # [rad]
_LATE_SPEED = 0.35  # [m/s]
_STRIDE_LIFT, _STRIDE_LANDING = 0.02, 0.15  # [m], [m/s]
_ROLL_STIFFNESS, _ROLL_DAMPING, _LEAVING = 6.0, 3.0, 0.3  # [kp], [kd], share
_PULLING = 0.0  # share
_FASTEST = 20.0  # [rad/s]
_LANDING_LEG = 0.995  # [leg]


@noinline
def drive_link(
    world: World, row: Row, servos: np.ndarray, link: Any, torque: Vector, error: Vector, rate: Vector, kp: float,
    kd: float,
) -> Vector:  # fmt: skip
    """Drive the hinges of a link; return the part of their torque vector that the servos exert [N·m].

    Args:
        world: the physics.
        row: the simulation's memory.
        servos: (actuators, GAINS) servos.
        link: LINK record.
        torque: torque that it has to bear [N·m].
        error: rotation vector from its orientation to the wanted one, in world axes [rad].
        rate: wanted angular velocity against its base [rad/s].
        kp: factor on the stiffness.
        kd: factor on the damping.
    """
    spin = subtract(subtract(world.cvel[int(link.body)], world.cvel[int(link.near)]), rate)
    px, py, pz = 0.0, 0.0, 0.0
    for k in range(int(link.count)):
        actuator = int(link.first) + k
        axis, gains = world.xaxis[int(world.joint[actuator])], servos[actuator]
        turn, swing = along_axis(world, actuator, error), along_axis(world, actuator, spin)
        servo = link.flip * (kp * gains[KP] * turn - kd * gains[KD] * swing)
        borne = link.flip * along_axis(world, actuator, torque)
        exert(world, row, actuator, servo + borne, gains[KP], gains[LIMIT])
        px, py, pz = px + servo * axis[0], py + servo * axis[1], pz + servo * axis[2]
    return link.flip * px, link.flip * py, link.flip * pz


@kernel
def _arrival_phase(stepper: Any) -> float:
    """Phase at which a foot is above its goal and only comes down; a foot that steps down passes the edge first."""
    if abs(stepper.goal_pitch) > _SLOPING:
        return _ARRIVAL_PHASE  # type: ignore[no-any-return]
    return _ARRIVAL_PHASE - _SOONER * clamp((stepper.z0 - stepper.goal_z) / _DROP, 0.0, 1.0)  # type: ignore[no-any-return]


@noinline
def foot_orientation(plan: Any, stepper: Any, phase: float) -> Quaternion:
    """Rotation of the swing foot from neutral at a phase."""
    s = travel_share(phase / _arrival_phase(stepper))
    yaw = stepper.yaw0 + s * nearest_turn(stepper.heading - stepper.yaw0)
    pitch = stepper.pitch0 + s * (stepper.goal_pitch - stepper.pitch0)
    if is_striding(stepper):
        end = stepper.goal_pitch + landing_pitch(plan, stepper)
        rate = stepper.pitch_rate0 * stepper.duration
        pitch = mix(pitch, hermite(clamp(phase, 0.0, 1.0), stepper.pitch0, rate, end, 0.0), stepper.stride)
    roll = stepper.roll0 + s * (stepper.goal_roll - stepper.roll0)
    return from_yaw_roll_pitch(yaw, roll, pitch)  # type: ignore[no-any-return]


@kernel
def _stride_path(limbs: Limbs, plan: Any, stepper: Any, phase: float, usual: Vector) -> Vector:
    """Place of the sole's middle at a phase of a stride [m]: it goes on as it left the ground, and lands on its heel.

    `usual` is where it is in a step without a stride [m].
    """
    s, time, share = clamp(phase, 0.0, 1.0), stepper.duration, stepper.stride
    late = _LATE_SPEED * max(0.0, phase - 1.0) * time
    x = hermite(s, stepper.x0, stepper.vx0 * time, stepper.goal_x, 0.0)
    y = hermite(s, stepper.y0, stepper.vy0 * time, stepper.goal_y, 0.0)
    end = stepper.goal_z + landing_rise(limbs, plan, stepper)
    bump = 4.0 * s * (1.0 - s)
    z = hermite(s, stepper.z0, stepper.vz0 * time, end, -_STRIDE_LANDING * time) + bump * bump * _STRIDE_LIFT - late
    return mix(usual[0], x, share), mix(usual[1], y, share), mix(usual[2], z, share)


@noinline
def ankle_target(limbs: Limbs, plan: Any, stepper: Any, phase: float) -> Vector:
    """Target of the swing ankle at a phase [m]: a Bézier curve, clear of the highest ground on the way."""
    side, biped = int(stepper.swing), limbs.biped[0]
    s = travel_share(phase / _arrival_phase(stepper))
    end = stepper.goal_z - plan.sink - _LATE_SPEED * max(0.0, phase - 1.0) * stepper.duration
    top = stepper.top + plan.step_height
    control = control_height(stepper.z0, stepper.goal_z, max(top, max(stepper.z0, stepper.goal_z)))
    z = bezier(clamp(phase, 0.0, 1.0), stepper.z0, control, control, end)
    if phase > 1.0:
        z = end
    sole = (stepper.x0 + s * (stepper.goal_x - stepper.x0), stepper.y0 + s * (stepper.goal_y - stepper.y0), z)
    if is_striding(stepper):
        sole = _stride_path(limbs, plan, stepper, phase, sole)
    to_ankle = (-0.5 * (biped.ahead - biped.behind), 0.0, limbs.legs[side].depth)
    return add(sole, rotate(foot_orientation(plan, stepper, phase), to_ankle))  # type: ignore[no-any-return]


@noinline
def drive_swing_leg(
    world: World, row: Row, servos: np.ndarray, limbs: Limbs, plan: Any, stepper: Any, tilt: Vector
) -> Vector:
    """Drive the swing leg; return the torque vector of its hip's servo [N·m].

    `tilt` is the share of the pelvis' orientation error that the hip follows [rad].
    """
    side = int(stepper.swing)
    chain = limbs.legs[side]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    axis = rotate(from_axis_angle((0.0, 0.0, 1.0), stepper.heading), n)
    at = anchor_of(world, hip)
    later_at = add(at, scale(LOOKAHEAD, point_velocity(world, int(hip.near), at)))
    now = subtract(ankle_target(limbs, plan, stepper, stepper.phase), at)
    later = subtract(ankle_target(limbs, plan, stepper, stepper.phase + LOOKAHEAD / stepper.duration), later_at)
    if is_striding(stepper):  # a knee that is straight when it lands has nothing to give way with
        now, later = limit_norm(now, _LANDING_LEG * chain.reach), limit_norm(later, _LANDING_LEG * chain.reach)
    leg = limb_motion(chain, now, later, axis, _FASTEST)
    wanted = multiply(leg.turn, (hip.w, hip.x, hip.y, hip.z))
    error = subtract(rotation_error(wanted, quaternion_of(world, int(hip.body))), tilt)
    spin = subtract(leg.spin, world.cvel[int(hip.near)])
    borne = scale(plan.force, weight_torque(world, hip))
    servo = drive_link(world, row, servos, hip, borne, error, spin, plan.swing_kp, plan.swing_kd)
    wanted = relative_target(world, knee, from_axis_angle(n, leg.bend))
    error = rotation_error(wanted, quaternion_of(world, int(knee.body)))
    bending = scale(leg.bend_rate, rotate(base_turn(world, knee), n))
    borne = scale(plan.force, weight_torque(world, knee))
    drive_link(world, row, servos, knee, borne, error, bending, plan.swing_kp, plan.swing_kd)
    turn = foot_orientation(plan, stepper, stepper.phase)
    flat = multiply(turn, (ankle.w, ankle.x, ankle.y, ankle.z))
    error = rotation_error(flat, quaternion_of(world, int(ankle.body)))
    turning = (0.0, 0.0, 0.0)
    if is_striding(stepper):
        after = foot_orientation(plan, stepper, stepper.phase + LOOKAHEAD / stepper.duration)
        turning = scale(1.0 / LOOKAHEAD, rotation_error(after, turn))
    still = subtract(turning, world.cvel[int(ankle.near)])
    drive_link(world, row, servos, ankle, scale(plan.force, weight_torque(world, ankle)), error, still, 1.0, 1.0)
    return servo  # type: ignore[no-any-return]


@noinline
def drive_stance_leg(
    world: World, row: Row, servos: np.ndarray, limbs: Limbs, plan: Any, side: int, point: Vector, force: Vector,
    more: Vector, shift: Vector, tilt: Vector, is_rolling: bool, pitch: float, pitch_rate: float,
) -> None:  # fmt: skip
    """Drive a stance leg: the pendulum's force through Jᵀ, and servos on the pose under a displaced pelvis.

    Args:
        world: the physics.
        row: the simulation's memory.
        servos: (actuators, GAINS) servos.
        limbs: the body's links.
        plan: PLAN record of the skill.
        side: 0 left, 1 right.
        point: its centre of pressure [m].
        force: ground reaction at that point [N].
        more: torque vector that the hip exerts in addition [N·m].
        shift: displacement of the pelvis in the pose from where it is [m].
        tilt: share of the pelvis' orientation error that the hip follows [rad].
        is_rolling: whether the foot has a wanted pitch.
        pitch: that pitch, toes up positive [rad].
        pitch_rate: its rate [rad/s].
    """
    chain = limbs.legs[side]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    forward = rotate(body_turn(world, ankle), (1.0, 0.0, 0.0))
    axis = rotate(from_axis_angle((0.0, 0.0, 1.0), math.atan2(forward[1], forward[0])), n)
    foot = anchor_of(world, ankle)
    to = subtract(foot, add(anchor_of(world, hip), shift))
    turn, bend = leg_angles(chain, to, axis)
    none = (0.0, 0.0, 0.0)
    borne = add(scale(plan.force, add(weight_torque(world, hip), _ground_torque(world, hip, point, force))), more)
    error = rotation_error(multiply(turn, (hip.w, hip.x, hip.y, hip.z)), quaternion_of(world, int(hip.body)))
    drive_link(world, row, servos, hip, borne, subtract(error, tilt), none, plan.pose, plan.pose)
    borne = scale(plan.force, add(weight_torque(world, knee), _ground_torque(world, knee, point, force)))
    error = rotation_error(relative_target(world, knee, from_axis_angle(n, bend)), quaternion_of(world, int(knee.body)))
    drive_link(world, row, servos, knee, borne, error, none, plan.pose, plan.pose)
    borne = scale(plan.force, add(weight_torque(world, ankle), _ground_torque(world, ankle, point, force)))
    if is_rolling:
        _roll_foot(world, row, servos, ankle, borne, pitch, pitch_rate, 1.0)
        return
    # the pose turns the shin over a foot that stays: seen from the shin, the foot turns back
    lean = rotation_error(multiply(turn, from_axis_angle(n, bend)), body_turn(world, knee))
    stiff = plan.pose * servos[int(ankle.first), CONTACT_SCALE]
    drive_link(world, row, servos, ankle, borne, scale(-1.0, lean), none, stiff, stiff)


@kernel
def _roll_foot(
    world: World, row: Row, servos: np.ndarray, ankle: Any, borne: Vector, pitch: float, rate: float, firm: float
) -> None:
    """Hold a bearing foot at a pitch [rad] that changes at a rate [rad/s], beside the torque that its ankle bears."""
    forward = rotate(body_turn(world, ankle), (1.0, 0.0, 0.0))
    yaw = math.atan2(forward[1], forward[0])
    wanted = multiply(from_yaw_roll_pitch(yaw, 0.0, pitch), (ankle.w, ankle.x, ankle.y, ankle.z))
    error = rotation_error(wanted, quaternion_of(world, int(ankle.body)))
    rolling = (rate * math.sin(yaw), -rate * math.cos(yaw), 0.0)
    still = subtract(rolling, world.cvel[int(ankle.near)])
    drive_link(world, row, servos, ankle, borne, error, still, firm * _ROLL_STIFFNESS, firm * _ROLL_DAMPING)


@noinline
def drive_leaving_leg(
    world: World, row: Row, servos: np.ndarray, limbs: Limbs, plan: Any, stepper: Any, side: int, point: Vector,
    force: Vector, more: Vector,
) -> None:  # fmt: skip
    """Drive the leg behind in a double support: its foot rolls over the toes, and its knee bends as its load leaves it.

    Args:
        world: the physics.
        row: the simulation's memory.
        servos: (actuators, GAINS) servos.
        limbs: the body's links.
        plan: PLAN record of the skill.
        stepper: STEPPER record.
        side: 0 left, 1 right.
        point: its centre of pressure [m].
        force: ground reaction at that point [N].
        more: torque vector that the hip exerts in addition [N·m].
    """
    chain, biped = limbs.legs[side], limbs.biped[0]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    turn = body_turn(world, ankle)
    forward = rotate(turn, (1.0, 0.0, 0.0))
    yaw = math.atan2(forward[1], forward[0])
    axis = rotate(from_axis_angle((0.0, 0.0, 1.0), yaw), n)
    pitch = bearing_pitch(plan, stepper, stepper.phase, True)
    next_pitch = bearing_pitch(plan, stepper, stepper.phase + LOOKAHEAD / stepper.duration, True)
    from_toes = (-biped.ahead, 0.0, chain.depth)
    toes = subtract(anchor_of(world, ankle), rotate(turn, from_toes))
    at = anchor_of(world, hip)
    later_at = add(at, scale(LOOKAHEAD, point_velocity(world, int(hip.near), at)))
    now = subtract(add(toes, rotate(from_yaw_roll_pitch(yaw, 0.0, pitch), from_toes)), at)
    later = subtract(add(toes, rotate(from_yaw_roll_pitch(yaw, 0.0, next_pitch), from_toes)), later_at)
    leg = limb_motion(chain, now, later, axis, _FASTEST)
    free = front_share(stepper, stepper.phase)
    kp, kd = mix(plan.pose, plan.swing_kp, free), mix(plan.pose, plan.swing_kd, free)
    error = rotation_error(multiply(leg.turn, (hip.w, hip.x, hip.y, hip.z)), quaternion_of(world, int(hip.body)))
    borne = add(scale(plan.force, add(weight_torque(world, hip), _ground_torque(world, hip, point, force))), more)
    drive_link(world, row, servos, hip, borne, error, subtract(leg.spin, world.cvel[int(hip.near)]), kp, kd)
    wanted = relative_target(world, knee, from_axis_angle(n, leg.bend))
    error = rotation_error(wanted, quaternion_of(world, int(knee.body)))
    hinge = rotate(base_turn(world, knee), n)
    borne = scale(plan.force, add(weight_torque(world, knee), _ground_torque(world, knee, point, force)))
    # where the ground would lock it, it lets go instead of pulling against it
    borne = subtract(borne, scale((1.0 - _PULLING) * min(0.0, dot(borne, hinge)), hinge))
    drive_link(world, row, servos, knee, borne, error, scale(leg.bend_rate, hinge), kp, kd)
    borne = scale(plan.force, add(weight_torque(world, ankle), _ground_torque(world, ankle, point, force)))
    _roll_foot(world, row, servos, ankle, borne, pitch, (next_pitch - pitch) / LOOKAHEAD, _LEAVING)


@kernel
def _ground_torque(world: World, link: Any, point: Vector, force: Vector) -> Vector:
    """Torque at a link with which its foot bears a ground reaction: −Jᵀ F [N·m]."""
    return cross(force, subtract(point, anchor_of(world, link)))  # type: ignore[no-any-return]


@kernel
def load_torque(world: World, limbs: Limbs, link: Any, stepper: Any) -> Vector:
    """Torque at a link with which the hands beyond it bear the load, half of it each [N·m]."""
    torque = (0.0, 0.0, 0.0)
    if stepper.load_mass > 0.0:
        half = (0.0, 0.0, 0.5 * stepper.load_mass * GRAVITY)
        for hand in range(2):
            if (link.left_hand if hand == 0 else link.right_hand) != 0.0:
                torque = add(torque, hand_torque(world, link, hand_point(world, limbs.arms[hand]), half))
    return torque


@kernel
def arm_stiffness(servos: np.ndarray, link: Any, stepper: Any) -> float:
    """Factor on the gains of an arm's joint: its contact scale while the hands hold something (Table 2)."""
    return servos[int(link.first), CONTACT_SCALE] if stepper.load_mass > 0.0 else 1.0  # type: ignore[no-any-return]
