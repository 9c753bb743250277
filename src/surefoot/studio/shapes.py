"""A model's shapes as instances of unit balls, tubes, boxes and its own meshes, which a page draws in batches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.motions import solids

BALL, TUBE, BOX, MESH = "balls", "tubes", "boxes", "mesh"
_G = mujoco.mjtGeom
_HIDDEN = 3  # geoms of this group and above are usually for contacts alone, drawn as something else in a lower group
_PLAIN = np.array([0.5, 0.5, 0.5, 1.0], np.float32)  # MuJoCo's colour of a geom that was given none

Row = tuple[int, tuple[float, float, float], float]  # geom, scale, shift


@dataclass(frozen=True)
class Instances:
    """n copies of a unit solid (radius or half size 1): which geom each belongs to, its size and colour.

    Attributes:
        geom: (n,) ids.
        scale: (n, 3) [m].
        along: (n,) how far it is shifted along its geom's z axis [m].
        color: (n, 3) bytes.
        is_round: whether all are balls that look the same however they are turned.
    """

    geom: np.ndarray
    scale: np.ndarray
    along: np.ndarray
    color: np.ndarray
    is_round: bool = False

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


def instances(model: mujoco.MjModel, bodies: Collection[int]) -> dict[str, Instances]:
    """The visible shapes of some bodies, by the solid they are copies of; planes and fields are left out."""
    rows: dict[str, list[Row]] = {}
    for geom in visible(model, bodies):
        for kind, scale, along in parts(model, geom):
            rows.setdefault(kind, []).append((geom, scale, along))
    return {kind: _gathered(model, kind, found) for kind, found in rows.items()}


def visible(model: mujoco.MjModel, bodies: Collection[int]) -> list[int]:
    """The geoms of some bodies that are to be seen.

    Those of group 3 and above are seen only on bodies that have no others at all: then they are all there is.
    """
    geoms = [g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in bodies and color_of(model, g)[3] > 0.0]
    shown = [g for g in geoms if model.geom_group[g] < _HIDDEN]
    return shown or geoms


def color_of(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """(4,) red, green, blue and opacity, 0 … 1; its material's if it has none of its own."""
    material = int(model.geom_matid[geom])
    own = model.geom_rgba[geom]
    return np.asarray(model.mat_rgba[material] if material >= 0 and (own == _PLAIN).all() else own)


def solid(model: mujoco.MjModel, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of what instances of a kind are copies of."""
    if kind == BALL:
        return welded(solids.ball(np.ones(3)))
    if kind == TUBE:
        return welded(solids.cylinder(1.0, 1.0))
    if kind == BOX:
        return welded(solids.box(np.ones(3)))
    mesh = int(kind.removeprefix(MESH))
    vertex, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    return (
        np.array(model.mesh_vert[vertex : vertex + model.mesh_vertnum[mesh]]),
        np.array(model.mesh_face[face : face + model.mesh_facenum[mesh]]),
    )


def welded(shape: solids.Solid) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles in which points that have place and normal in common are one.

    A page makes its own normals from the triangles that meet in a vertex: without this a ball shows a seam.
    """
    corners = np.round(np.hstack([shape.vertices, shape.normals]), 6)
    _, first, place = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    triangles = place.reshape(-1)[shape.triangles]
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return shape.vertices[first], triangles[whole]


def parts(model: mujoco.MjModel, geom: int) -> list[tuple[str, tuple[float, float, float], float]]:
    """The solids a geom is made of: kind, scale, and shift along its z axis."""
    kind, (x, y, z) = int(model.geom_type[geom]), (float(s) for s in model.geom_size[geom])
    if kind == _G.mjGEOM_SPHERE:
        return [(BALL, (x, x, x), 0.0)]
    if kind == _G.mjGEOM_ELLIPSOID:
        return [(BALL, (x, y, z), 0.0)]
    if kind == _G.mjGEOM_CAPSULE:
        return [(BALL, (x, x, x), y), (BALL, (x, x, x), -y), (TUBE, (x, x, y), 0.0)]
    if kind == _G.mjGEOM_CYLINDER:
        return [(TUBE, (x, x, y), 0.0)]
    if kind == _G.mjGEOM_BOX:
        return [(BOX, (x, y, z), 0.0)]
    if kind == _G.mjGEOM_MESH:
        return [(f"{MESH}{int(model.geom_dataid[geom])}", (1.0, 1.0, 1.0), 0.0)]
    return []


def _gathered(model: mujoco.MjModel, kind: str, rows: list[Row]) -> Instances:
    geom, scale = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    color = np.array([np.round(255.0 * color_of(model, row[0])[:3]) for row in rows]).astype(np.uint8)
    is_round = kind == BALL and bool((scale == scale[:, :1]).all())
    return Instances(geom, scale, np.array([row[2] for row in rows]), color, is_round)
