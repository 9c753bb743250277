"""Where the centre of mass is and how it moves, with what the character carries (GENBICON §4.2, §4.4)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.orientation import Vector
from surefoot.reflexes.pendulum import GRAVITY


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
