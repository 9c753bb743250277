"""Where a body is put: its root as a start says, and its soles on the ground."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mujoco
import numpy as np

from surefoot.characters.link_geometry import geom_points, solid_geoms
from surefoot.characters.table import CharacterTable
from surefoot.native.kernels import python_impl
from surefoot.native.vectors import from_yaw_roll_pitch, multiply
from surefoot.skills.schema import Start
from surefoot.terrains.terrain import Terrain

_NEAR = 1e-4  # [m] over which the slope of the ground is measured


def place_root(table: CharacterTable, start: Start, qpos: np.ndarray, qvel: np.ndarray) -> int:
    """Write a start's root pose and velocity at height 0; return where in `qpos` the height is."""
    if table.root == "planar":
        qpos[1], qpos[2] = 0.0, start.torso
        qvel[0], qvel[1], qvel[2] = start.speed, start.climb, start.torso_rate
        return 1
    turn = python_impl(from_yaw_roll_pitch)(start.heading + start.yaw, start.roll, start.torso)
    qpos[:3], qpos[3:7] = 0.0, turn if table.imported is None else python_impl(multiply)(turn, tuple(qpos[3:7]))
    c, s = math.cos(start.heading), math.sin(start.heading)
    facing = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    qvel[:3] = facing @ (start.speed, start.sideways, start.climb)
    spin, inverse = facing @ (start.roll_rate, -start.torso_rate, start.yaw_rate), np.empty(4)
    mujoco.mju_negQuat(inverse, qpos[3:7])
    mujoco.mju_rotVecQuat(qvel[3:6], spin, inverse)  # a free joint turns about its own axes
    return 2


def _plane_below(terrain: Terrain, point: np.ndarray) -> tuple[float, float]:
    """Height of the ground below a point [m] and the secant of its angle there, on the gentler side of an edge."""
    x, y = point[:2, None] + _NEAR * np.array([[0.0, 1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0]])
    here, *around = terrain.height(x, y)
    rises = np.abs(np.reshape(around, (2, 2)) - here).min(axis=1)  # along x and along y
    return float(here), float(np.sqrt(1.0 + ((rises / _NEAR) ** 2).sum()))


def clearance(
    model: mujoco.MjModel, scratch: mujoco.MjData, table: CharacterTable, terrain: Terrain, qpos: np.ndarray
) -> float:
    """How far down a configuration can be moved until a sole touches the ground, a plane below each end [m].

    Args:
        model: of the character.
        scratch: where it is computed.
        table: of the character.
        terrain: below it.
        qpos: (nq,) the configuration.
    """
    scratch.qpos[:] = qpos
    mujoco.mj_kinematics(model, scratch)
    lowest = np.inf
    for point, radius in _soles(model, scratch, table):
        ground, secant = _plane_below(terrain, point)
        lowest = min(lowest, point[2] - radius * secant - ground)
    return float(lowest)


def _soles(model: mujoco.MjModel, data: mujoco.MjData, table: CharacterTable) -> Iterator[tuple[np.ndarray, float]]:
    """Points of the soles [m], each with the radius of the shape around it."""
    if table.imported is not None:
        feet = [model.body(name).id for soles in table.imported.limbs.soles for name in soles]
        for geom in solid_geoms(model, feet):
            points, radius = geom_points(model, data, geom)
            yield from ((point, radius) for point in points)
        return
    for segment in table.segments:
        body = data.body(segment.name)
        axes = body.xmat.reshape(3, 3)
        for shape in segment.shapes:
            if shape.sole:
                yield from ((body.xpos + axes @ np.asarray(end), shape.radius) for end in (shape.start, shape.end))
