"""A model's shapes as instances of unit balls, tubes and boxes, which a page draws in three batches."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

BALL, TUBE, BOX = "balls", "tubes", "boxes"
_G = mujoco.mjtGeom


@dataclass(frozen=True)
class Instances:
    """n copies of a unit solid (radius or half size 1): which geom each belongs to, its size and colour.

    Attributes:
        geom: (n,) ids.
        scale: (n, 3) [m].
        along: (n,) how far it is shifted along its geom's z axis [m].
        color: (n, 3) bytes.
    """

    geom: np.ndarray
    scale: np.ndarray
    along: np.ndarray
    color: np.ndarray

    def same_but_for_size(self, other: Instances) -> bool:
        """Whether these are the same copies of the same colours, whatever their sizes."""
        return np.array_equal(self.geom, other.geom) and np.array_equal(self.color, other.color)

    def positions(self, data: mujoco.MjData) -> np.ndarray:
        """(n, 3) world positions [m]."""
        axes = data.geom_xmat[self.geom].reshape(-1, 3, 3)[:, :, 2]
        return np.asarray(data.geom_xpos[self.geom] + self.along[:, None] * axes)

    def turns(self, data: mujoco.MjData) -> np.ndarray:
        """(n, 4) world orientations, w first."""
        found = np.empty((len(self.geom), 4))
        for i, geom in enumerate(self.geom):
            mujoco.mju_mat2Quat(found[i], data.geom_xmat[geom])
        return found


def instances(model: mujoco.MjModel, bodies: set[int]) -> dict[str, Instances]:
    """The shapes of some bodies, by the solid they are copies of; shapes of other kinds are left out."""
    rows: dict[str, list[tuple[int, tuple[float, float, float], float]]] = {BALL: [], TUBE: [], BOX: []}
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) not in bodies or model.geom_rgba[geom, 3] == 0.0:
            continue
        kind, (x, y, z) = int(model.geom_type[geom]), (float(s) for s in model.geom_size[geom])
        if kind == _G.mjGEOM_SPHERE:
            rows[BALL].append((geom, (x, x, x), 0.0))
        elif kind == _G.mjGEOM_ELLIPSOID:
            rows[BALL].append((geom, (x, y, z), 0.0))
        elif kind == _G.mjGEOM_CAPSULE:
            rows[BALL] += [(geom, (x, x, x), y), (geom, (x, x, x), -y)]
            rows[TUBE].append((geom, (x, x, y), 0.0))
        elif kind == _G.mjGEOM_CYLINDER:
            rows[TUBE].append((geom, (x, x, y), 0.0))
        elif kind == _G.mjGEOM_BOX:
            rows[BOX].append((geom, (x, y, z), 0.0))
    return {kind: _gathered(model, found) for kind, found in rows.items() if found}


def _gathered(model: mujoco.MjModel, rows: list[tuple[int, tuple[float, float, float], float]]) -> Instances:
    geom = np.array([row[0] for row in rows])
    color = np.round(255.0 * model.geom_rgba[geom, :3]).astype(np.uint8)
    return Instances(geom, np.array([row[1] for row in rows]), np.array([row[2] for row in rows]), color)
