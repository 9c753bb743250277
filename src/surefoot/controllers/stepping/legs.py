"""Joint torques by PD on a generated pose, and forces through the Jacobian transpose (Kenwright §5.3, equation 5).

Equation 5 prints its signs reversed: here τ = k_p (θ_d − θ) + k_d (θ̇_d − θ̇). θ_d − θ of a hinge is the share of the
part's turn to its wanted orientation about the hinge's axis.

The lower body's inverse kinematics: a leg from its hip to its ankle, standing or on its way (Kenwright §5.5).

What the arms of a stepper bear of a thing in its hands (Kenwright §6.3).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.foot_target import bezier, control_height, way
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
)
from surefoot.reflexes.leg_ik import STRAIGHT, first_rotation, middle_angle, span
from surefoot.reflexes.limb_servo import (
    anchor_of,
    hand_point,
    hand_torque,
    point_velocity,
    quaternion_of,
    relative_target,
    turn_to,
    weight_torque,
)
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.servo import clamp, nearest_turn


@noinline
def exert(
    world: Any, row: Any, servos: Any, link: Any, torque: Vector, error: Vector, rate: Vector, kp: float, kd: float
) -> Vector:
    """Drive the hinges of a link; returns the part of their torque vector that servos are for [N·m].

    Args:
        world: the physics.
        row: its memory.
        servos: (actuators, 4) stiffness, damping, limit and contact scale.
        link: the link.
        torque: what it has to bear [N·m].
        error: rotation vector from its orientation to the wanted one, in world axes [rad].
        rate: wanted angular velocity against its base [rad/s].
        kp: how many times the stiffness.
        kd: how many times the damping.
    """
    first, body, base = int(link.first), int(link.body), int(link.near)
    spin, base_spin = world.cvel[body], world.cvel[base]
    wx, wy, wz = (
        spin[0] - base_spin[0] - rate[0], spin[1] - base_spin[1] - rate[1], spin[2] - base_spin[2] - rate[2],
    )  # fmt: skip
    px, py, pz = 0.0, 0.0, 0.0
    for k in range(int(link.count)):
        actuator = first + k
        axis = world.xaxis[int(world.joint[actuator])]
        turn = axis[0] * error[0] + axis[1] * error[1] + axis[2] * error[2]
        swing = axis[0] * wx + axis[1] * wy + axis[2] * wz
        servo = link.flip * (kp * servos[actuator, 0] * turn - kd * servos[actuator, 1] * swing)
        borne = link.flip * (axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2])
        limit = servos[actuator, 2]
        whole = clamp(servo + borne + servos[actuator, 0] * row.residual[actuator], -limit, limit)
        # what an actuator damps by itself, implicitly in the integrator, is added back
        world.ctrl[actuator] = whole + world.damping[actuator] * world.qvel[int(world.dof[actuator])]
        px, py, pz = px + servo * axis[0], py + servo * axis[1], pz + servo * axis[2]
    return link.flip * px, link.flip * py, link.flip * pz


_ARRIVES, _SOONER, _DROP = 0.92, 0.17, 0.1  # phase at which a foot has arrived; by which it does so sooner, [m] down
_SLOPING = 0.1  # [rad] of ground without edges
_SOON = 0.01  # [s] ahead, to know how fast the targets move
_FASTEST = 20.0  # [rad/s] of a target
_LATER = 0.35  # [m/s] of a foot that has not met the ground when its time is over


@kernel
def _arrival(stepper: Any) -> float:
    """Phase at which a foot is above its place and only comes down: a foot that steps down is beyond the edge first."""
    if abs(stepper.goal_pitch) > _SLOPING:
        return _ARRIVES  # type: ignore[no-any-return]
    return _ARRIVES - _SOONER * clamp((stepper.z0 - stepper.goal_z) / _DROP, 0.0, 1.0)  # type: ignore[no-any-return]


@noinline
def foot_turn(stepper: Any, s: float) -> Quaternion:
    """Orientation of the swing foot after a share of its way, from neutral."""
    yaw = stepper.yaw0 + s * nearest_turn(stepper.heading - stepper.yaw0)
    pitch = stepper.pitch0 + s * (stepper.goal_pitch - stepper.pitch0)
    roll = stepper.roll0 + s * (stepper.goal_roll - stepper.roll0)
    return from_yaw_roll_pitch(yaw, roll, pitch)  # type: ignore[no-any-return]


@noinline
def ankle_on_way(limbs: Any, plan: Any, stepper: Any, phase: float) -> Vector:
    """Where the swing ankle should be at a phase [m]: a Bézier curve, clear of the highest ground below it."""
    side, biped = int(stepper.swing), limbs.biped[0]
    s = way(phase / _arrival(stepper))
    end = stepper.goal_z - plan.sink - _LATER * max(0.0, phase - 1.0) * stepper.duration
    top = stepper.top + plan.step_height
    control = control_height(stepper.z0, stepper.goal_z, max(top, max(stepper.z0, stepper.goal_z)))
    z = bezier(clamp(phase, 0.0, 1.0), stepper.z0, control, control, end)
    if phase > 1.0:
        z = end
    sole = (stepper.x0 + s * (stepper.goal_x - stepper.x0), stepper.y0 + s * (stepper.goal_y - stepper.y0), z)
    to_ankle = (-0.5 * (biped.ahead - biped.behind), 0.0, limbs.legs[side].depth)
    return add(sole, rotate(foot_turn(stepper, s), to_ankle))  # type: ignore[no-any-return]


@kernel
def reaches(chain: Any, to: Vector) -> bool:
    """Whether the ankle can be at a place from the hip, but for the limits of the hip [m]."""
    away = math.sqrt(to[0] ** 2 + to[1] ** 2 + to[2] ** 2)
    return span(chain, middle_angle(chain, 0.0)) <= away <= STRAIGHT * chain.reach  # type: ignore[no-any-return]


@kernel
def leg_angles(chain: Any, to: Vector, axis: Vector) -> tuple[Quaternion, float]:
    """Rotation of the thigh and bend of the knee that bring the ankle to a place from the hip [rad]."""
    bend = middle_angle(chain, math.sqrt(to[0] ** 2 + to[1] ** 2 + to[2] ** 2))
    return first_rotation(chain, bend, to, axis), bend


@kernel
def _limited(v: Vector) -> Vector:
    return clamp(v[0], -_FASTEST, _FASTEST), clamp(v[1], -_FASTEST, _FASTEST), clamp(v[2], -_FASTEST, _FASTEST)


@noinline
def swing_leg(world: Any, row: Any, servos: Any, limbs: Any, plan: Any, stepper: Any, tilt: Vector) -> Vector:
    """Drive the leg that swings; returns the torque vector of its hip's servo [N·m].

    `tilt` is by how much the pelvis is off, as far as the hip is to follow it [rad].
    """
    side = int(stepper.swing)
    chain = limbs.legs[side]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    axis = rotate(from_axis_angle((0.0, 0.0, 1.0), stepper.heading), n)
    at = anchor_of(world, hip)
    moving = point_velocity(world, int(hip.near), at)
    now = subtract(ankle_on_way(limbs, plan, stepper, stepper.phase), at)
    soon = stepper.phase + _SOON / stepper.duration
    later = subtract(ankle_on_way(limbs, plan, stepper, soon), add(at, scale(_SOON, moving)))
    turn, bend = leg_angles(chain, now, axis)
    turn_later, bend_later = leg_angles(chain, later, axis)
    rate = _limited(scale(1.0 / _SOON, turn_to(turn_later, turn)))
    wanted = multiply(turn, (hip.w, hip.x, hip.y, hip.z))
    error = turn_to(wanted, quaternion_of(world, int(hip.body)))
    error, spin = subtract(error, tilt), subtract(rate, world.cvel[int(hip.near)])
    borne = scale(plan.force, weight_torque(world, hip))
    servo = exert(world, row, servos, hip, borne, error, spin, plan.swing_kp, plan.swing_kd)
    error = turn_to(relative_target(world, knee, from_axis_angle(n, bend)), quaternion_of(world, int(knee.body)))
    bent = multiply(quaternion_of(world, int(knee.near)), inverse((knee.bw, knee.bx, knee.by, knee.bz)))
    bending = scale(clamp((bend_later - bend) / _SOON, -_FASTEST, _FASTEST), rotate(bent, n))
    borne = scale(plan.force, weight_torque(world, knee))
    exert(world, row, servos, knee, borne, error, bending, plan.swing_kp, plan.swing_kd)
    flat = multiply(foot_turn(stepper, way(stepper.phase / _arrival(stepper))), (ankle.w, ankle.x, ankle.y, ankle.z))
    error = turn_to(flat, quaternion_of(world, int(ankle.body)))
    still = subtract((0.0, 0.0, 0.0), world.cvel[int(ankle.near)])
    exert(world, row, servos, ankle, scale(plan.force, weight_torque(world, ankle)), error, still, 1.0, 1.0)
    return servo  # type: ignore[no-any-return]


@noinline
def stance_leg(
    world: Any, row: Any, servos: Any, limbs: Any, plan: Any, side: int, point: Vector, force: Vector, more: Vector,
    shift: Vector, tilt: Vector,
) -> None:  # fmt: skip
    """Drive a leg that bears: the pendulum's force through Jᵀ, and servos on the pose of a displaced pelvis.

    Args:
        world: the physics.
        row: its memory.
        servos: gains of all actuators.
        limbs: the body's links.
        plan: the skill's numbers.
        side: which leg.
        point: its centre of pressure [m].
        force: of the ground at that point [N].
        more: torque vector that its hip exerts beside that [N·m].
        shift: by which the pose has the pelvis displaced from where it is [m].
        tilt: by which the pelvis is off, as far as the hip is to follow it [rad].
    """
    chain = limbs.legs[side]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    region_turn = multiply(quaternion_of(world, int(ankle.body)), inverse((ankle.w, ankle.x, ankle.y, ankle.z)))
    forward = rotate(region_turn, (1.0, 0.0, 0.0))
    axis = rotate(from_axis_angle((0.0, 0.0, 1.0), math.atan2(forward[1], forward[0])), n)
    foot = anchor_of(world, ankle)
    to = subtract(foot, add(anchor_of(world, hip), shift))
    turn, bend = leg_angles(chain, to, axis)
    none = (0.0, 0.0, 0.0)
    borne = add(scale(plan.force, add(weight_torque(world, hip), _lever(world, hip, point, force))), more)
    error = turn_to(multiply(turn, (hip.w, hip.x, hip.y, hip.z)), quaternion_of(world, int(hip.body)))
    exert(world, row, servos, hip, borne, subtract(error, tilt), none, plan.pose, plan.pose)
    borne = scale(plan.force, add(weight_torque(world, knee), _lever(world, knee, point, force)))
    error = turn_to(relative_target(world, knee, from_axis_angle(n, bend)), quaternion_of(world, int(knee.body)))
    exert(world, row, servos, knee, borne, error, none, plan.pose, plan.pose)
    borne = scale(plan.force, add(weight_torque(world, ankle), _lever(world, ankle, point, force)))
    # the pose turns the shin over a foot that stays: seen from the shin, the foot turns back
    shin = multiply(quaternion_of(world, int(knee.body)), inverse((knee.w, knee.x, knee.y, knee.z)))
    lean = turn_to(multiply(turn, from_axis_angle(n, bend)), shin)
    stiff = plan.pose * servos[int(ankle.first), 3]
    exert(world, row, servos, ankle, borne, scale(-1.0, lean), none, stiff, stiff)


@kernel
def _lever(world: Any, link: Any, point: Vector, force: Vector) -> Vector:
    """Torque at a link by which its foot bears a force of the ground: −Jᵀ F [N·m]."""
    at = anchor_of(world, link)
    x, y, z = point[0] - at[0], point[1] - at[1], point[2] - at[2]
    return z * force[1] - y * force[2], x * force[2] - z * force[0], y * force[0] - x * force[1]


_CONTACT = 3  # place of the contact scale among a servo's numbers


@kernel
def load_torque(world: Any, limbs: Any, link: Any, stepper: Any) -> Vector:
    """Torque at a link by which the hands that hang on it bear the load, half of it each [N·m]."""
    torque = (0.0, 0.0, 0.0)
    if stepper.load_mass > 0.0:
        half = (0.0, 0.0, 0.5 * stepper.load_mass * GRAVITY)
        for hand in range(2):
            if (link.left_hand if hand == 0 else link.right_hand) != 0.0:
                torque = add(torque, hand_torque(world, link, hand_point(world, limbs.arms[hand]), half))
    return torque


@kernel
def arm_stiffness(servos: Any, link: Any, stepper: Any) -> float:
    """How many times stiffer an arm's joint is: by its contact scale while the hands hold something (Table 2)."""
    return servos[int(link.first), _CONTACT] if stepper.load_mass > 0.0 else 1.0  # type: ignore[no-any-return]
