"""What is known only after the contact solve: foot loads, centre of pressure, slip, torques."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.pointers import kernel
from surefoot.native.world import GROUND

LOADED = 1.0  # [N] normal force above which a moving foot counts as slipping


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
    """Speed at which a loaded foot slides: that of its slowest contact, so that rolling is no slip [m/s]."""
    slowest = np.inf
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.geom_body[contact.geom1], world.geom_body[contact.geom2]
        if world.part[two] == GROUND:
            one, two = two, one
        if world.part[one] != GROUND or world.part[two] != foot or contact.efc_address < 0:
            continue
        if _in_contact_frame(world, contact)[0] > LOADED:
            slowest = min(slowest, _sliding_speed(world, two, contact))
    return slowest if slowest < np.inf else 0.0


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
