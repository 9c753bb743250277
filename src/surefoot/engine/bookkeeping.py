"""What every physics step does around a controller's law, whichever it is.

Before the law: which feet touch the ground, pushes that act, whether the character has fallen. After it: whether
another controller takes over. After the contact solve: foot loads, centre of pressure, slip, torques.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel, records
from surefoot.native.physics import ELSEWHERE, GROUND, OTHER
from surefoot.native.userdata import SLOT
from surefoot.reflexes.handover import ASKED, TAKEN
from surefoot.terrains.ground_kernels import move_platform


@kernel
def begin_moment(world: Any, row: Any, is_new: bool) -> bool:
    """What comes before the law; false if the body has blown up, so that no law may act on it."""
    body_on_ground = detect_foot_contacts(world, row.touch)
    apply_pushes(world, row)
    move_platform(world, row)
    if is_new:
        detect_fall(world, row, body_on_ground)
    return not freeze_if_blown_up(world, row)


@kernel
def apply_pushes(world: Any, row: Any) -> None:
    """Write the wrench of every push that acts during this step; clear those that ended.

    Bodies no push acts on are left alone, so that a viewer's own perturbation survives.
    """
    if world.time > row.header[0].pushed_until:  # the usual case: nothing is pending, nothing to clear
        return
    pushes = row.pushes
    for i in range(len(pushes)):
        push = pushes[i]
        due = push.start - 0.5 * world.dt <= world.time < push.stop - 0.5 * world.dt
        if due or push.acting != 0.0:
            for k in range(6):
                world.xfrc[int(push.body), k] = 0.0
    for i in range(len(pushes)):
        push = pushes[i]
        push.acting = 0.0
        if push.start - 0.5 * world.dt <= world.time < push.stop - 0.5 * world.dt:
            push.acting = 1.0
            _add_wrench(world, push)


@kernel
def _add_wrench(world: Any, push: Any) -> None:
    """Add force, and its moment about the body's COM if it acts at another point of the body."""
    body = int(push.body)
    wrench = world.xfrc[body]
    wrench[0] += push.fx
    wrench[1] += push.fy
    wrench[2] += push.fz
    if push.at_point != 0.0:
        axes, origin, center = world.xmat[body], world.xpos[body], world.xipos[body]
        rx = origin[0] + axes[0] * push.px + axes[1] * push.py + axes[2] * push.pz - center[0]
        ry = origin[1] + axes[3] * push.px + axes[4] * push.py + axes[5] * push.pz - center[1]
        rz = origin[2] + axes[6] * push.px + axes[7] * push.py + axes[8] * push.pz - center[2]
        wrench[3] += ry * push.fz - rz * push.fy
        wrench[4] += rz * push.fx - rx * push.fz
        wrench[5] += rx * push.fy - ry * push.fx


TOUCHED, TOO_LOW, TILTED, NOT_FINITE = 1.0, 2.0, 3.0, 4.0
FARTHEST, FASTEST = 1e5, 1e3  # [m], [rad]; [m/s], [rad/s]: beyond them a body has blown up


@kernel
def detect_fall(world: Any, row: Any, body_on_ground: bool) -> None:
    """Judge this step and write the first fall's time and cause into the clock."""
    clock = row.clock[0]
    if _is_beyond(world.qvel, FASTEST) or _is_beyond(world.qpos, FARTHEST):
        clock.blown_up = 1.0
    limits = records(row.slots[int(row.header[0].active)], 0, 1, SLOT)[0]
    if clock.fallen_at <= world.time:
        return
    cause = NOT_FINITE if clock.blown_up != 0.0 else 0.0
    if cause == 0.0:
        cause = _posture(world, clock, limits)
        if body_on_ground and limits.fall_touch != 0.0:
            cause = TOUCHED
    if cause != 0.0:
        clock.fallen_at = world.time
        clock.fall_cause = cause


@kernel
def _is_beyond(values: Any, limit: float) -> bool:
    for value in values:
        if not abs(value) < limit:  # true of NaN too
            return True
    return False


@kernel
def freeze_if_blown_up(world: Any, row: Any) -> bool:
    """Hold a body whose numbers blew up in place, limp: what follows stays finite, and cheap."""
    if row.clock[0].blown_up == 0.0:
        return False
    for i in range(len(world.qvel)):
        world.qvel[i] = 0.0
    for i in range(len(world.qpos)):
        if not abs(world.qpos[i]) < FARTHEST:
            world.qpos[i] = 0.0
    for i in range(len(world.ctrl)):
        world.ctrl[i] = 0.0
    for body in range(len(world.xfrc)):
        for k in range(6):
            world.xfrc[body, k] = 0.0
    return True


@kernel
def _posture(world: Any, clock: Any, limits: Any) -> float:
    """Judge height and tilt of the pelvis."""
    pelvis = int(world.anatomy[0].pelvis)
    lowest = np.inf
    for side in range(2):
        lowest = min(lowest, world.xpos[int(world.leg[side, 2]), 2])
    height = world.xpos[pelvis, 2] - (lowest - world.anatomy[0].sole_depth)
    axes, body = world.xmat[pelvis], world.anatomy[0]
    up = axes[6] * body.up_x + axes[7] * body.up_y + axes[8] * body.up_z
    if up >= limits.fall_tilt_cosine:
        clock.tilted_since = -1.0
    elif clock.tilted_since < 0.0:
        clock.tilted_since = world.time
    elif world.time - clock.tilted_since > limits.fall_tilt_time:
        return TILTED
    if height < limits.fall_height * world.anatomy[0].standing_height:
        return TOO_LOW
    return 0.0


LOADED = 1.0  # [N] normal force above which the sliding of a contact point counts as slip


@kernel
def report_loads(world: Any, row: Any) -> None:
    """Write this step's forces into the row, where the next step finds them as state."""
    center, total = row.center_of_pressure, 0.0
    center[0] = center[1] = center[2] = 0.0
    for foot in range(len(row.touch)):
        for k in range(3):
            row.contact_force[foot, k] = 0.0
    first_time = row.clock[0].sensed < world.time
    row.clock[0].sensed = world.time
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.geom_body[contact.geom1], world.geom_body[contact.geom2]
        sign = 1.0
        if world.part[two] == GROUND:
            one, two, sign = two, one, -1.0
        if world.part[one] != GROUND or world.part[two] < 0.0 or contact.efc_address < 0:
            continue
        foot = int(world.part[two])
        normal, along, across = _in_contact_frame(world, contact)
        for k in range(3):
            row.contact_force[foot, k] += sign * (
                normal * contact.frame[k] + along * contact.frame[3 + k] + across * contact.frame[6 + k]
            )
            center[k] += normal * contact.pos[k]
        total += normal
    if total > 0.0:
        for k in range(3):
            center[k] /= total
    if first_time:
        for foot in range(len(row.slip)):
            row.slip[foot] += _foot_slip(world, foot) * world.dt
    for k in range(3):
        row.com[k] = world.subtree_com[int(world.anatomy[0].pelvis), k]
    for j in range(len(row.torque)):
        row.torque[j] = world.actuator_force[j]
        row.report[0].peak_torque = max(row.report[0].peak_torque, abs(row.torque[j]))


@kernel
def _in_contact_frame(world: Any, contact: Any) -> tuple[float, float, float]:
    """Normal and two tangential forces of one contact, from either friction cone."""
    at = contact.efc_address
    if contact.dim == 1:
        return world.efc_force[at], 0.0, 0.0
    if not world.pyramidal:
        return world.efc_force[at], world.efc_force[at + 1], world.efc_force[at + 2]
    a, b = world.efc_force[at], world.efc_force[at + 1]
    c, d = world.efc_force[at + 2], world.efc_force[at + 3]
    return a + b + c + d, (a - b) * contact.friction[0], (c - d) * contact.friction[1]


@kernel
def _foot_slip(world: Any, foot: int) -> float:
    """Sliding speed of a foot: the mean over its loaded contact points, so that pivoting on one of them counts [m/s].

    A foot that rolls does not slide: the material point at its contact is at rest.
    """
    total, loaded = 0.0, 0
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.geom_body[contact.geom1], world.geom_body[contact.geom2]
        if world.part[two] == GROUND:
            one, two = two, one
        if world.part[one] != GROUND or world.part[two] != foot or contact.efc_address < 0:
            continue
        if _in_contact_frame(world, contact)[0] > LOADED:
            total += _sliding_speed(world, two, contact)
            loaded += 1
    return total / loaded if loaded else 0.0


@kernel
def _sliding_speed(world: Any, body: int, contact: Any) -> float:
    """Speed of the body's material point at a contact, along the surface [m/s]."""
    center = world.subtree_com[world.rootid[body]]
    spin, linear = world.cvel[body, :3], world.cvel[body, 3:]
    x, y, z = contact.pos[0] - center[0], contact.pos[1] - center[1], contact.pos[2] - center[2]
    vx = linear[0] + spin[1] * z - spin[2] * y
    vy = linear[1] + spin[2] * x - spin[0] * z
    vz = linear[2] + spin[0] * y - spin[1] * x
    normal = vx * contact.frame[0] + vy * contact.frame[1] + vz * contact.frame[2]
    return math.sqrt(max(0.0, vx * vx + vy * vy + vz * vz - normal * normal))


@kernel
def detect_foot_contacts(world: Any, touch: Any) -> bool:
    """Set `touch` per foot; true if any other part of the character bears on the ground."""
    for foot in range(len(touch)):
        touch[foot] = 0.0
    fallen = False
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.part[world.geom_body[contact.geom1]], world.part[world.geom_body[contact.geom2]]
        if two == GROUND:
            one, two = two, one
        if one != GROUND or two == ELSEWHERE or contact.exclude != 0:
            continue
        if two == OTHER:
            fallen = True
        elif two >= 0.0:
            touch[int(two)] = 1.0
    return fallen


_PATIENCE = 0.5  # [s] after which a body on both feet is handed over without a footstrike


@kernel
def hand_over(world: Any, row: Any, steps_before: float) -> None:
    """Let a waiting controller have the body if a step has just begun; `steps_before` is of before this moment.

    A law that is not ready yet holds the body: a fast gait slows down first.
    What the old one remembers and has learned means nothing to the new one, which has commands of its own.
    """
    header = row.header[0]
    if header.handover != ASKED or header.hold != 0.0:
        return
    on_both = row.touch[0] != 0.0 and row.touch[1] != 0.0
    if row.report[0].steps == steps_before and not (on_both and world.time - header.asked >= _PATIENCE):
        return
    header.active = 1.0 - header.active
    header.handover = TAKEN
    for i in range(len(row.memory)):
        row.memory[i] = 0.0
    for i in range(len(row.commands)):
        row.commands[i], row.other_commands[i] = row.other_commands[i], row.commands[i]
    for i in range(len(row.table)):
        row.table[i] = 0.0
