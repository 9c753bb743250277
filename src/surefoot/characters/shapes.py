"""Points of a compiled body's shapes, whatever they are: where its soles end and what is lowest."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np

_RIM = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def points_of(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[np.ndarray, float]:
    """(n, 3) points in world axes and a radius around them that together span a shape [m]."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    radius, local = 0.0, np.zeros((1, 3))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        radius = size[0]
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        radius, local = size[0], np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        local = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * size
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        rings = [
            np.column_stack([np.cos(a) * np.cos(_RIM), np.cos(a) * np.sin(_RIM), np.full(16, np.sin(a))])
            for a in np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
        ]
        local = np.concatenate(rings) * size
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        rim = np.column_stack([size[0] * np.cos(_RIM), size[0] * np.sin(_RIM), np.full(16, size[1])])
        local = np.concatenate([rim, rim * (1.0, 1.0, -1.0)])
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        local = model.mesh_vert[first : first + count].astype(float)
    return data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T, float(radius)


def solid_geoms(model: mujoco.MjModel, bodies: list[int]) -> list[int]:
    """Shapes of some bodies that can touch the ground."""
    wanted = np.isin(model.geom_bodyid, bodies) & ((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    return [int(g) for g in np.flatnonzero(wanted)]
