"""Torques of a link: a servo on its orientation, and what bears the weight that hangs on it (GENBICON §4.1, §4.3).

Where the centre of mass is and how it moves, with what the character carries (GENBICON §4.2, §4.4).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    cross,
    inverse,
    multiply,
    rotate,
    rotation_between,
    subtract,
)
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.servo import clamp


@kernel
def quaternion_of(world: Any, body: int) -> Quaternion:
    """Orientation of a body in the world."""
    q = world.xquat[body]
    return q[0], q[1], q[2], q[3]


@kernel
def relative_target(world: Any, link: Any, turn: Quaternion) -> Quaternion:
    """World orientation of a link turned so much from neutral as seen from its base."""
    base = multiply(quaternion_of(world, int(link.near)), inverse((link.bw, link.bx, link.by, link.bz)))
    return multiply(multiply(base, turn), (link.w, link.x, link.y, link.z))  # type: ignore[no-any-return]


@kernel
def framed_target(frame: Quaternion, link: Any, turn: Quaternion) -> Quaternion:
    """World orientation of a link turned so much from neutral as seen in the character frame."""
    return multiply(multiply(frame, turn), (link.w, link.x, link.y, link.z))  # type: ignore[no-any-return]


@noinline
def turn_to(wanted: Quaternion, actual: Quaternion) -> Vector:
    """Rotation vector in world axes from an orientation to the wanted one [rad]."""
    return rotation_between(wanted, actual)  # type: ignore[no-any-return]


@kernel
def link_torque(world: Any, link: Any, target: Quaternion, kp: float, kd: float) -> Vector:
    """Torque vector kp·error − kd·ω on the far part of a link, ω against its base [N·m]."""
    body, base = int(link.body), int(link.near)
    error = turn_to(target, quaternion_of(world, body))
    spin = subtract(world.cvel[body], world.cvel[base])
    return kp * error[0] - kd * spin[0], kp * error[1] - kd * spin[1], kp * error[2] - kd * spin[2]


@kernel
def framed_torque(world: Any, link: Any, target: Quaternion, kp: float, kd: float) -> Vector:
    """Torque vector of a servo in the character frame: ω is the far part's own [N·m].

    Damped against its base, an ankle would brake the body that passes over a foot at rest.
    """
    body = int(link.body)
    error, spin = turn_to(target, quaternion_of(world, body)), world.cvel[body]
    return kp * error[0] - kd * spin[0], kp * error[1] - kd * spin[1], kp * error[2] - kd * spin[2]


@kernel
def anchor_of(world: Any, link: Any) -> Vector:
    """Where a link is joined to its base [m]."""
    at = world.xanchor[int(link.joint)]
    return at[0], at[1], at[2]


@kernel
def weight_torque(world: Any, link: Any) -> Vector:
    """Equation 8 for gravity: the torque that bears everything beyond a joint, Jᵀ of −m g in one product [N·m].

    Summed over all links beyond it, J_iᵀ(−m_i g) is the lever of their common COM times their weight.
    """
    child, mass = int(link.child), link.distal_mass
    com = world.subtree_com[child]
    at = world.xanchor[int(link.joint)]
    x, y = com[0], com[1]
    if link.flip < 0.0:  # what is beyond the joint is everything that MuJoCo does not hang below it
        root = int(world.rootid[child])
        whole, total = world.subtree_com[root], world.anatomy[0].mass
        below = total - mass
        x, y = (total * whole[0] - below * com[0]) / mass, (total * whole[1] - below * com[1]) / mass
    weight = mass * GRAVITY
    return (y - at[1]) * weight, -(x - at[0]) * weight, 0.0


@kernel
def hand_torque(world: Any, link: Any, hand: Vector, force: Vector) -> Vector:
    """Torque at a link by which a hand that hangs on it exerts a force on the world: Jᵀ F [N·m]."""
    return cross(subtract(hand, anchor_of(world, link)), force)  # type: ignore[no-any-return]


@kernel
def drive(world: Any, row: Any, link: Any, torque: Vector) -> None:
    """Let a link's hinges exert their shares of a torque vector on its far part.

    What an actuator damps by itself, implicitly in the integrator, is added back: the net torque is the one asked for.
    """
    first = int(link.first)
    for k in range(int(link.count)):
        actuator = first + k
        axis = world.xaxis[int(world.joint[actuator])]
        share = link.flip * (axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2])
        share = clamp(share + link.kp * row.residual[actuator], -link.limit, link.limit)
        world.ctrl[actuator] = share + world.damping[actuator] * world.qvel[int(world.dof[actuator])]


@kernel
def hand_point(world: Any, chain: Any) -> Vector:
    """Where a hand is [m]."""
    body = int(chain.body)
    origin = world.xpos[body]
    return add((origin[0], origin[1], origin[2]), rotate(quaternion_of(world, body), (chain.px, chain.py, chain.pz)))  # type: ignore[no-any-return]


@kernel
def point_velocity(world: Any, body: int, point: Any) -> Vector:
    """Velocity of a body's material point at a place in the world [m/s]."""
    center, v = world.subtree_com[world.rootid[body]], world.cvel[body]
    x, y, z = point[0] - center[0], point[1] - center[1], point[2] - center[2]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z, v[5] + v[0] * y - v[1] * x


@kernel
def com_state(world: Any, pelvis: int, intent: Any) -> tuple[Vector, Vector, float]:
    """Position [m] and velocity [m/s] of the COM of the character and its load, and their mass [kg]."""
    root, total, px, py, pz = world.rootid[pelvis], 0.0, 0.0, 0.0, 0.0
    for body in range(1, len(world.mass)):
        m = world.mass[body]
        if world.rootid[body] == root and m > 0.0:
            v = point_velocity(world, body, world.xipos[body])
            total += m
            px += m * v[0]
            py += m * v[1]
            pz += m * v[2]
    com = world.subtree_com[root]
    cx, cy, cz = total * com[0], total * com[1], total * com[2]
    if intent.load_mass > 0.0:
        body, m = int(intent.load_body), intent.load_mass
        at, v = world.xipos[body], point_velocity(world, body, world.xipos[body])
        total += m
        cx += m * at[0]
        cy += m * at[1]
        cz += m * at[2]
        px += m * v[0]
        py += m * v[1]
        pz += m * v[2]
    return (cx / total, cy / total, cz / total), (px / total, py / total, pz / total), total


@kernel
def balance_point(com: Vector, mass: float, heading: float, intent: Any) -> Vector:
    """The COM of the pendulum that a lasting horizontal force makes of the body [m].

    With F at the height z_F, moments about the foot give m h ẍ = m g x + F z_F: an unforced pendulum whose COM is
    F z_F / (m g) further on. Held over the feet in place of the COM, it makes the body lean into the load.
    """
    ahead = intent.force * intent.force_height / (mass * GRAVITY)
    return com[0] + math.cos(heading) * ahead, com[1] + math.sin(heading) * ahead, com[2]
