"""Servos of links in three dimensions, and the state of the centre of mass (GENBICON §4.1–§4.4).

A link is a body part with the joint that connects it to its base, the part nearer to the pelvis. A servo acts on the
link's orientation with a torque vector; gravity compensation adds the torque that bears the weight beyond the joint.
The centre of mass (COM) includes what the character carries.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
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
from surefoot.reflexes.servo import actuate, along_axis, world_servo


@kernel
def quaternion_of(world: World, body: int) -> Quaternion:
    """Orientation of a body in the world."""
    q = world.xquat[body]
    return q[0], q[1], q[2], q[3]


@kernel
def body_turn(world: World, link: Any) -> Quaternion:
    """Rotation of a link from its neutral orientation, in the world."""
    return multiply(quaternion_of(world, int(link.body)), inverse((link.w, link.x, link.y, link.z)))  # type: ignore[no-any-return]


@kernel
def base_turn(world: World, link: Any) -> Quaternion:
    """Rotation of a link's base from its neutral orientation, in the world."""
    return multiply(quaternion_of(world, int(link.near)), inverse((link.bw, link.bx, link.by, link.bz)))  # type: ignore[no-any-return]


@kernel
def relative_target(world: World, link: Any, turn: Quaternion) -> Quaternion:
    """World orientation of a link whose rotation from neutral, seen from its base, is `turn`."""
    return multiply(multiply(base_turn(world, link), turn), (link.w, link.x, link.y, link.z))  # type: ignore[no-any-return]


@kernel
def framed_target(frame: Quaternion, link: Any, turn: Quaternion) -> Quaternion:
    """World orientation of a link whose rotation from neutral, seen in the character frame, is `turn`."""
    return multiply(multiply(frame, turn), (link.w, link.x, link.y, link.z))  # type: ignore[no-any-return]


@noinline
def rotation_error(wanted: Quaternion, actual: Quaternion) -> Vector:
    """Rotation vector in world axes from an orientation to the wanted one [rad]."""
    return rotation_between(wanted, actual)  # type: ignore[no-any-return]


@kernel
def link_torque(world: World, link: Any, target: Quaternion, kp: float, kd: float) -> Vector:
    """Torque vector kp·error − kd·ω on a link; ω is measured against its base [N·m]."""
    body = int(link.body)
    error = rotation_error(target, quaternion_of(world, body))
    return world_servo(kp, kd, error, subtract(world.cvel[body], world.cvel[int(link.near)]))  # type: ignore[no-any-return]


@kernel
def framed_torque(world: World, link: Any, target: Quaternion, kp: float, kd: float) -> Vector:
    """Torque vector kp·error − kd·ω on a link; ω is measured in the world [N·m].

    Damped against its base, an ankle would brake the body that passes over a resting foot.
    """
    body = int(link.body)
    return world_servo(kp, kd, rotation_error(target, quaternion_of(world, body)), world.cvel[body])  # type: ignore[no-any-return]


@kernel
def anchor_of(world: World, link: Any) -> Vector:
    """Position of the joint between a link and its base [m]."""
    at = world.xanchor[int(link.joint)]
    return at[0], at[1], at[2]


@kernel
def hip_of(world: World, limbs: Limbs, side: int) -> Vector:
    """Position of a hip [m]."""
    return anchor_of(world, limbs.links[int(limbs.legs[side].upper)])  # type: ignore[no-any-return]


@kernel
def ankle_of(world: World, limbs: Limbs, side: int) -> Vector:
    """Position of an ankle [m]."""
    return anchor_of(world, limbs.links[int(limbs.legs[side].end)])  # type: ignore[no-any-return]


@kernel
def weight_torque(world: World, link: Any) -> Vector:
    """Gravity compensation (equation 8): the torque that bears the weight of everything beyond a joint [N·m].

    The sum of J_iᵀ(−m_i g) over all links beyond the joint is the lever of their common COM times their weight.
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
def hand_torque(world: World, link: Any, hand: Vector, force: Vector) -> Vector:
    """Torque at a link with which the hand beyond it exerts a force on the world: Jᵀ F [N·m]."""
    return cross(subtract(hand, anchor_of(world, link)), force)  # type: ignore[no-any-return]


@kernel
def drive(world: World, row: Row, link: Any, torque: Vector) -> None:
    """Let the hinges of a link exert a torque vector on its far part, each hinge its projection."""
    for k in range(int(link.count)):
        actuator = int(link.first) + k
        actuate(world, row, actuator, link.flip * along_axis(world, actuator, torque), link)


@kernel
def hand_point(world: World, chain: Any) -> Vector:
    """Position of a hand [m]."""
    body = int(chain.body)
    origin = world.xpos[body]
    return add((origin[0], origin[1], origin[2]), rotate(quaternion_of(world, body), (chain.px, chain.py, chain.pz)))  # type: ignore[no-any-return]


@kernel
def point_velocity(world: World, body: int, point: Any) -> Vector:
    """Velocity of the material point of a body at a world position [m/s]."""
    center, v = world.subtree_com[world.rootid[body]], world.cvel[body]
    x, y, z = point[0] - center[0], point[1] - center[1], point[2] - center[2]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z, v[5] + v[0] * y - v[1] * x


@kernel
def momentum(world: World, root: int) -> tuple[Vector, float]:
    """Linear momentum [kg·m/s] and mass [kg] of the body tree whose top body is `root`."""
    total, px, py, pz = 0.0, 0.0, 0.0, 0.0
    for body in range(1, len(world.mass)):
        m = world.mass[body]
        if world.rootid[body] == root and m > 0.0:
            v = point_velocity(world, body, world.xipos[body])
            total += m
            px += m * v[0]
            py += m * v[1]
            pz += m * v[2]
    return (px, py, pz), total


@kernel
def com_state(world: World, pelvis: int, intent: Any) -> tuple[Vector, Vector, float]:
    """Position [m] and velocity [m/s] of the COM of the character with its load, and their mass [kg]."""
    root = world.rootid[pelvis]
    (px, py, pz), total = momentum(world, root)
    com = world.subtree_com[root]
    cx, cy, cz = total * com[0], total * com[1], total * com[2]
    if intent.load_mass > 0.0:
        body, m = int(intent.load_body), intent.load_mass
        at, v = world.xipos[body], point_velocity(world, body, world.xipos[body])
        total += m
        cx, cy, cz = cx + m * at[0], cy + m * at[1], cz + m * at[2]
        px, py, pz = px + m * v[0], py + m * v[1], pz + m * v[2]
    return (cx / total, cy / total, cz / total), (px / total, py / total, pz / total), total


@kernel
def loaded_com(com: Vector, mass: float, heading: float, intent: Any) -> Vector:
    """COM of the unforced pendulum that moves like the body under a lasting horizontal force [m].

    With the force F at height z_F, moments about the foot give m h ẍ = m g x + F z_F. An unforced pendulum whose COM
    is F z_F / (m g) further ahead obeys the same equation. Holding this point over the feet makes the body lean into
    the load.
    """
    ahead = intent.force * intent.force_height / (mass * GRAVITY)
    return com[0] + math.cos(heading) * ahead, com[1] + math.sin(heading) * ahead, com[2]
