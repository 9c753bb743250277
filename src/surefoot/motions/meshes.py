"""Triangle meshes of the shapes that bodies are made of."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.motions.motion import Motion

Color = tuple[float, float, float, float]  # red, green, blue, opacity, 0 … 1
_AROUND, _RINGS = 20, 5  # corners of a circle, rings from a pole to the equator


@dataclass(frozen=True)
class TriangleMesh:
    """Vertices (n, 3) [m], their outward unit normals (n, 3), and triangles (m, 3), counter-clockwise from outside."""

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray

    def transformed(self, position: np.ndarray, axes: np.ndarray) -> TriangleMesh:
        """The mesh rotated by a matrix (3, 3) and moved by a vector (3,) [m]."""
        return TriangleMesh(position + self.vertices @ axes.T, self.normals @ axes.T, self.triangles)


def mesh_of_geom(model: mujoco.MjModel, geom: int, spacing: float = np.inf) -> TriangleMesh | None:
    """The mesh of a geom in its body's frame; None for types that bodies do not have.

    Rings of vertices along a capsule are at most `spacing` [m] apart, so that it can be bent.
    """
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        solid = ellipsoid_or_capsule(np.full(3, size[0]))
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        solid = ellipsoid_or_capsule(size)
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        solid = ellipsoid_or_capsule(np.full(3, size[0]), float(size[1]), _between(2.0 * float(size[1]), spacing))
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        solid = cylinder(float(size[0]), float(size[1]))
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        solid = box(size)
    else:
        return None
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
    return solid.transformed(model.geom_pos[geom], axes.reshape(3, 3))


def merge_meshes(solids: list[TriangleMesh]) -> TriangleMesh:
    """Several meshes as one."""
    starts = np.cumsum([0] + [len(solid.vertices) for solid in solids[:-1]])
    return TriangleMesh(
        np.concatenate([solid.vertices for solid in solids]),
        np.concatenate([solid.normals for solid in solids]),
        np.concatenate([solid.triangles + start for solid, start in zip(solids, starts, strict=True)]),
    )


def capsule_to(end: np.ndarray, radius: float) -> TriangleMesh:
    """A capsule from the origin to a point (3,) [m]."""
    length = float(np.linalg.norm(end))
    if length < 1e-6:
        return ellipsoid_or_capsule(np.full(3, radius))
    return _along(ellipsoid_or_capsule(np.full(3, radius), 0.5 * length), end)


def tapered_capsule(end: np.ndarray, radii: tuple[float, float], spacing: float) -> TriangleMesh:
    """A rounded cone from the origin to a point (3,) with two radii, in rings at most `spacing` apart [m]."""
    length, (first, last) = float(np.linalg.norm(end)), radii
    if length < 1e-6:
        return ellipsoid_or_capsule(np.full(3, max(radii)))
    straight = ellipsoid_or_capsule(np.ones(3), 0.5 * length, _between(length, spacing))
    share = np.clip(straight.vertices[:, 2:] / length + 0.5, 0.0, 1.0)
    middle = np.column_stack([np.zeros((len(share), 2)), (share - 0.5) * length])
    vertices = middle + ((1.0 - share) * first + share * last) * (straight.vertices - middle)
    return _along(TriangleMesh(vertices, straight.normals, straight.triangles), end)


def _along(upright: TriangleMesh, end: np.ndarray) -> TriangleMesh:
    """A mesh around the z axis, laid between the origin and a point (3,) [m]."""
    quat, axes = np.empty(4), np.empty(9)
    mujoco.mju_quatZ2Vec(quat, np.asarray(end, float))
    mujoco.mju_quat2Mat(axes, quat)
    return upright.transformed(0.5 * np.asarray(end), axes.reshape(3, 3))


def ellipsoid_or_capsule(radii: np.ndarray, half_length: float = 0.0, between: int = 0) -> TriangleMesh:
    """A smooth ellipsoid of radii (3,), or with a half length along z a capsule with rings between its ends [m]."""
    up = np.linspace(0.0, 0.5 * np.pi, _RINGS + 1)
    latitudes = np.concatenate([-up[::-1], np.zeros(between), up if half_length else up[1:]])
    shifts = np.where(np.arange(len(latitudes)) > _RINGS, half_length, -half_length)
    shifts[_RINGS + 1 : _RINGS + 1 + between] = np.linspace(-half_length, half_length, between + 2)[1:-1]
    directions = _lathe(np.cos(latitudes), np.sin(latitudes))
    vertices = directions * radii
    vertices[:, 2] += np.repeat(shifts, _AROUND + 1)
    normals = directions / radii
    return TriangleMesh(vertices, normals / np.linalg.norm(normals, axis=1, keepdims=True), _strips(len(latitudes)))


def cylinder(radius: float, half_length: float) -> TriangleMesh:
    """A cylinder along z with flat ends [m]."""
    profile = _lathe(np.array([0.0, radius, radius, radius, radius, 0.0]), half_length * np.repeat([-1.0, 1.0], 3))
    sides = _lathe(np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), np.array([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]))
    strips = _strips(6)
    corners = profile[strips]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return TriangleMesh(profile, sides, strips[area > 1e-9 * radius * max(radius, half_length)])


def box(half: np.ndarray) -> TriangleMesh:
    """A box of half sizes (3,) [m] with sharp edges."""
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    vertices, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face, normal = np.full((4, 3), side), np.zeros((4, 3))
            face[:, [(axis + 1) % 3, (axis + 2) % 3]] = square if side > 0.0 else square[::-1]
            normal[:, axis] = side
            vertices.append(face * half)
            normals.append(normal)
    quads = 4 * np.arange(6)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return TriangleMesh(np.concatenate(vertices), np.concatenate(normals), quads.reshape(-1, 3))


def _between(length: float, spacing: float) -> int:
    """Number of rings that make gaps of at most `spacing`."""
    return max(int(np.ceil(length / spacing)) - 1, 0)


def _lathe(radii: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """(rings · (_AROUND + 1), 3) points of circles around z, the lowest ring first."""
    angles = np.linspace(0.0, 2.0 * np.pi, _AROUND + 1)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    flat = radii[:, None, None] * circle
    return np.concatenate([flat, np.broadcast_to(heights[:, None, None], (*flat.shape[:2], 1))], axis=2).reshape(-1, 3)


def _strips(rings: int) -> np.ndarray:
    """(m, 3) triangles between neighbouring rings of `_lathe`, without the degenerate ones at the poles."""
    ring, corner = np.indices((rings - 1, _AROUND)).reshape(2, -1)
    low = ring * (_AROUND + 1) + corner
    high = low + _AROUND + 1
    lower = np.column_stack([low, low + 1, high + 1])[ring > 0]
    upper = np.column_stack([low, high + 1, high])[ring < rings - 2]
    return np.concatenate([lower, upper])


def linear_rgb(color: Color) -> list[float]:
    """Red, green and blue in linear light, from sRGB."""
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]


def meshes_of_body(motion: Motion, model: mujoco.MjModel, spacing: float = np.inf) -> list[dict[Color, TriangleMesh]]:
    """For every joint the visible shapes of its body in its frame, one mesh per colour.

    Args:
        motion: whose joints they are.
        model: whose bodies have the joints' names.
        spacing: largest distance of the rings of vertices along capsules [m].
    """
    found = []
    for name in motion.skeleton.names:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        by_color: dict[Color, list[TriangleMesh]] = {}
        for geom in np.flatnonzero(model.geom_bodyid == body) if body > 0 else ():
            solid, (r, g, b, a) = mesh_of_geom(model, int(geom), spacing), model.geom_rgba[geom].tolist()
            if solid is not None and a > 0.0:
                by_color.setdefault((r, g, b, a), []).append(solid)
        found.append({color: merge_meshes(parts) for color, parts in by_color.items()})
    return found
