"""Joint torques by PD on a generated pose, and forces through the Jacobian transpose (Kenwright §5.3, equation 5).

Equation 5 prints its signs reversed: here τ = k_p (θ_d − θ) + k_d (θ̇_d − θ̇). θ_d − θ of a hinge is the share of the
part's turn to its wanted orientation about the hinge's axis.
"""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import apart
from surefoot.reflexes.orientation import Vector
from surefoot.reflexes.servo import clamp


@apart
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
