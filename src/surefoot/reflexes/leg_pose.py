"""The lower body's inverse kinematics: a leg from its hip to its ankle, standing or on its way (Kenwright §5.5)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import apart, kernel
from surefoot.reflexes.bezier import bezier, control_height, way
from surefoot.reflexes.joint_servo import exert
from surefoot.reflexes.limb_servo import anchor_of, quaternion_of, relative_target, turn_to, weight_torque
from surefoot.reflexes.mass import point_velocity
from surefoot.reflexes.orientation import Quaternion, Vector, turned
from surefoot.reflexes.servo import clamp, nearest_turn
from surefoot.reflexes.two_links import STRAIGHT, first_rotation, middle_angle, span
from surefoot.reflexes.vectors import about, add, inverse, minus, rotated, scaled, times

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


@apart
def foot_turn(stepper: Any, s: float) -> Quaternion:
    """Orientation of the swing foot after a share of its way, from neutral."""
    yaw = stepper.yaw0 + s * nearest_turn(stepper.heading - stepper.yaw0)
    pitch = stepper.pitch0 + s * (stepper.goal_pitch - stepper.pitch0)
    roll = stepper.roll0 + s * (stepper.goal_roll - stepper.roll0)
    return turned(yaw, roll, pitch)  # type: ignore[no-any-return]


@apart
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
    return add(sole, rotated(foot_turn(stepper, s), to_ankle))  # type: ignore[no-any-return]


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


@apart
def swing_leg(world: Any, row: Any, servos: Any, limbs: Any, plan: Any, stepper: Any, tilt: Vector) -> Vector:
    """Drive the leg that swings; returns the torque vector of its hip's servo [N·m].

    `tilt` is by how much the pelvis is off, as far as the hip is to follow it [rad].
    """
    side = int(stepper.swing)
    chain = limbs.legs[side]
    hip, knee, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    n = (chain.nx, chain.ny, chain.nz)
    axis = rotated(about((0.0, 0.0, 1.0), stepper.heading), n)
    at = anchor_of(world, hip)
    moving = point_velocity(world, int(hip.near), at)
    now = minus(ankle_on_way(limbs, plan, stepper, stepper.phase), at)
    soon = stepper.phase + _SOON / stepper.duration
    later = minus(ankle_on_way(limbs, plan, stepper, soon), add(at, scaled(_SOON, moving)))
    turn, bend = leg_angles(chain, now, axis)
    turn_later, bend_later = leg_angles(chain, later, axis)
    rate = _limited(scaled(1.0 / _SOON, turn_to(turn_later, turn)))
    wanted = times(turn, (hip.w, hip.x, hip.y, hip.z))
    error = turn_to(wanted, quaternion_of(world, int(hip.body)))
    error, spin = minus(error, tilt), minus(rate, world.cvel[int(hip.near)])
    borne = scaled(plan.force, weight_torque(world, hip))
    servo = exert(world, row, servos, hip, borne, error, spin, plan.swing_kp, plan.swing_kd)
    error = turn_to(relative_target(world, knee, about(n, bend)), quaternion_of(world, int(knee.body)))
    bent = times(quaternion_of(world, int(knee.near)), inverse((knee.bw, knee.bx, knee.by, knee.bz)))
    bending = scaled(clamp((bend_later - bend) / _SOON, -_FASTEST, _FASTEST), rotated(bent, n))
    borne = scaled(plan.force, weight_torque(world, knee))
    exert(world, row, servos, knee, borne, error, bending, plan.swing_kp, plan.swing_kd)
    flat = times(foot_turn(stepper, way(stepper.phase / _arrival(stepper))), (ankle.w, ankle.x, ankle.y, ankle.z))
    error = turn_to(flat, quaternion_of(world, int(ankle.body)))
    still = minus((0.0, 0.0, 0.0), world.cvel[int(ankle.near)])
    exert(world, row, servos, ankle, scaled(plan.force, weight_torque(world, ankle)), error, still, 1.0, 1.0)
    return servo  # type: ignore[no-any-return]


@apart
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
    region_turn = times(quaternion_of(world, int(ankle.body)), inverse((ankle.w, ankle.x, ankle.y, ankle.z)))
    forward = rotated(region_turn, (1.0, 0.0, 0.0))
    axis = rotated(about((0.0, 0.0, 1.0), math.atan2(forward[1], forward[0])), n)
    foot = anchor_of(world, ankle)
    to = minus(foot, add(anchor_of(world, hip), shift))
    turn, bend = leg_angles(chain, to, axis)
    none = (0.0, 0.0, 0.0)
    borne = add(scaled(plan.force, add(weight_torque(world, hip), _lever(world, hip, point, force))), more)
    error = turn_to(times(turn, (hip.w, hip.x, hip.y, hip.z)), quaternion_of(world, int(hip.body)))
    exert(world, row, servos, hip, borne, minus(error, tilt), none, plan.pose, plan.pose)
    borne = scaled(plan.force, add(weight_torque(world, knee), _lever(world, knee, point, force)))
    error = turn_to(relative_target(world, knee, about(n, bend)), quaternion_of(world, int(knee.body)))
    exert(world, row, servos, knee, borne, error, none, plan.pose, plan.pose)
    borne = scaled(plan.force, add(weight_torque(world, ankle), _lever(world, ankle, point, force)))
    # the pose turns the shin over a foot that stays: seen from the shin, the foot turns back
    shin = times(quaternion_of(world, int(knee.body)), inverse((knee.w, knee.x, knee.y, knee.z)))
    lean = turn_to(times(turn, about(n, bend)), shin)
    stiff = plan.pose * servos[int(ankle.first), 3]
    exert(world, row, servos, ankle, borne, scaled(-1.0, lean), none, stiff, stiff)


@kernel
def _lever(world: Any, link: Any, point: Vector, force: Vector) -> Vector:
    """Torque at a link by which its foot bears a force of the ground: −Jᵀ F [N·m]."""
    at = anchor_of(world, link)
    x, y, z = point[0] - at[0], point[1] - at[1], point[2] - at[2]
    return z * force[1] - y * force[2], x * force[2] - z * force[0], y * force[0] - x * force[1]
