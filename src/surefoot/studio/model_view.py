"""A MuJoCo model on the page: `BodyView` draws its moving bodies, `GroundView` everything that never moves.

Moving geoms are instances of unit balls, tubes, boxes and the model's meshes, which the page draws in batches: one or
two messages a frame for each kind. Fixed geoms become a few large surfaces in world coordinates: planes become endless
grids; boxes, height fields and the rest become triangles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import mujoco
import numpy as np
import viser

from surefoot.motions import meshes

BALL, TUBE, BOX, MESH = "balls", "tubes", "boxes", "mesh"
_G = mujoco.mjtGeom
_HIDDEN = 3  # geoms of this group and above are usually for contacts only, and drawn by others in a lower group
_PLAIN = np.array([0.5, 0.5, 0.5, 1.0], np.float32)  # MuJoCo's color of a geom without a color
Row = tuple[int, tuple[float, float, float], float]  # geom, scale, offset


@dataclass(frozen=True)
class Instances:
    """n copies of a unit solid (radius or half size 1): the geom, size and color of each.

    Attributes:
        geom: (n,) ids.
        scale: (n, 3) [m].
        z_offset: (n,) along the z axis of the geom [m].
        color: (n, 3) bytes.
        is_round: whether all are spheres, which look the same in every orientation.
    """

    geom: np.ndarray
    scale: np.ndarray
    z_offset: np.ndarray
    color: np.ndarray
    is_round: bool = False

    def same_except_size(self, other: Instances) -> bool:
        """Whether these are the same copies with the same colors, whatever their sizes."""
        return np.array_equal(self.geom, other.geom) and np.array_equal(self.color, other.color)

    def positions(self, data: mujoco.MjData) -> np.ndarray:
        """(n, 3) world positions [m]."""
        axes = data.geom_xmat[self.geom].reshape(-1, 3, 3)[:, :, 2]
        return np.asarray(data.geom_xpos[self.geom] + self.z_offset[:, None] * axes)

    def orientations(self, data: mujoco.MjData) -> np.ndarray:
        """(n, 4) world orientations, w first."""
        found = np.empty((len(self.geom), 4))
        for i, geom in enumerate(self.geom):
            mujoco.mju_mat2Quat(found[i], data.geom_xmat[geom])
        return found


def instances(model: mujoco.MjModel, bodies: Collection[int]) -> dict[str, Instances]:
    """The visible geoms of some bodies by the kind of solid; planes and height fields are left out."""
    rows: dict[str, list[Row]] = {}
    for geom in visible_geoms(model, bodies):
        for kind, scale, offset in geom_solids(model, geom):
            rows.setdefault(kind, []).append((geom, scale, offset))
    return {kind: _gathered(model, kind, found) for kind, found in rows.items()}


def visible_geoms(model: mujoco.MjModel, bodies: Collection[int]) -> list[int]:
    """The visible geoms of some bodies; those of group 3 and above only if the bodies have no others."""
    geoms = [g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in bodies and geom_color(model, g)[3] > 0.0]
    shown = [g for g in geoms if model.geom_group[g] < _HIDDEN]
    return shown or geoms


def geom_color(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """(4,) red, green, blue and opacity, 0 … 1; of its material if the geom has no color."""
    material = int(model.geom_matid[geom])
    own = model.geom_rgba[geom]
    return np.asarray(model.mat_rgba[material] if material >= 0 and (own == _PLAIN).all() else own)


def unit_mesh(model: mujoco.MjModel, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of the unit solid of a kind."""
    if kind == BALL:
        return weld_vertices(meshes.ellipsoid_or_capsule(np.ones(3)))
    if kind == TUBE:
        return weld_vertices(meshes.cylinder(1.0, 1.0))
    if kind == BOX:
        return weld_vertices(meshes.box(np.ones(3)))
    mesh = int(kind.removeprefix(MESH))
    vertex, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    return (
        np.array(model.mesh_vert[vertex : vertex + model.mesh_vertnum[mesh]]),
        np.array(model.mesh_face[face : face + model.mesh_facenum[mesh]]),
    )


def weld_vertices(shape: meshes.TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a mesh with equal vertices joined.

    The page computes normals from the triangles that meet in a vertex: without this, a ball shows a seam.
    """
    corners = np.round(np.hstack([shape.vertices, shape.normals]), 6)
    _, first, place = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    triangles = place.reshape(-1)[shape.triangles]
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return shape.vertices[first], triangles[whole]


def geom_solids(model: mujoco.MjModel, geom: int) -> list[tuple[str, tuple[float, float, float], float]]:
    """The solids that a geom is made of: kind, scale, and offset along its z axis."""
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
    color = np.array([np.round(255.0 * geom_color(model, row[0])[:3]) for row in rows]).astype(np.uint8)
    is_round = kind == BALL and bool((scale == scale[:, :1]).all())
    return Instances(geom, scale, np.array([row[2] for row in rows]), color, is_round)


BodyDragCallback = Callable[["viser.SceneNodeDragEvent[viser.BatchedMeshHandle]", int], None]
_TINT, _TINTED = (np.array([70.0, 96.0, 132.0]), 0.55)  # tint of a right side that looks like the left


class BodyView:
    """The moving bodies of one model."""

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        model: mujoco.MjModel,
        bodies: Collection[int],
        sides: tuple[Collection[int], Collection[int]] = ((), ()),
    ) -> None:
        """Add them to a page.

        Args:
            scene: of the page.
            name: of the node.
            model: whose bodies.
            bodies: which of them.
            sides: bodies of the left and of the right limbs. If both have the same colors, the right ones are tinted,
                so that one can tell the legs apart.
        """
        self.model, self._bodies = model, bodies
        self._parts: list[tuple[Instances, viser.BatchedMeshHandle]] = []
        for kind, found in tint_right_side(model, instances(model, bodies), sides).items():
            vertices, triangles = unit_mesh(model, kind)
            node = scene.add_batched_meshes_simple(
                f"{name}/{kind}", vertices, triangles, np.tile([1.0, 0.0, 0.0, 0.0], (len(found.geom), 1)),
                np.zeros((len(found.geom), 3)), batched_scales=found.scale, batched_colors=found.color, lod="off",
            )  # fmt: skip
            self._parts.append((found, node))

    def rescale(self, model: mujoco.MjModel) -> bool:
        """Draw another model with the nodes that are on the page.

        Returns:
            False, and nothing is changed, if its geoms differ in more than their sizes.
        """
        old, new = (instances(each, self._bodies) for each in (self.model, model))
        if [*old] != [*new] or not all(old[kind].same_except_size(new[kind]) for kind in old):
            return False
        self.model = model
        self._parts = [(found, node) for found, (_, node) in zip(new.values(), self._parts, strict=True)]
        for found, node in self._parts:
            node.batched_scales = found.scale.astype(np.float32)
        return True

    def update(self, data: mujoco.MjData, origin: np.ndarray) -> None:
        """Move every body to its position relative to an origin (3,) [m]."""
        for found, node in self._parts:
            node.batched_positions = (found.positions(data) - origin).astype(np.float32)
            if not found.is_round:
                node.batched_wxyzs = found.orientations(data).astype(np.float32)

    def on_drag(self, dragged: BodyDragCallback) -> None:
        """Call `dragged` with the body when the mouse drags one."""
        for found, node in self._parts:

            @node.on_drag("left")
            def _(event: viser.SceneNodeDragEvent[viser.BatchedMeshHandle], geoms: np.ndarray = found.geom) -> None:
                if event.instance_index is not None:
                    dragged(event, int(self.model.geom_bodyid[geoms[event.instance_index]]))

    def remove(self) -> None:
        """Remove it from the page."""
        for _, node in self._parts:
            node.remove()


def tint_right_side(
    model: mujoco.MjModel, parts: dict[str, Instances], sides: tuple[Collection[int], Collection[int]]
) -> dict[str, Instances]:
    """The same instances, those of the right side tinted if the left side has the same colors."""
    rows = [
        (int(model.geom_bodyid[geom]), tuple(color))
        for part in parts.values()
        for geom, color in zip(part.geom, part.color, strict=True)
    ]
    left, right = ({color for body, color in rows if body in side} for side in sides)
    if left != right:
        return parts
    found = {}
    for kind, part in parts.items():
        tinted = np.isin(model.geom_bodyid[part.geom], list(sides[1]))[:, None]
        color = np.where(tinted, (1.0 - _TINTED) * part.color + _TINTED * _TINT, part.color).astype(np.uint8)
        found[kind] = replace(part, color=color)
    return found


MAX_VERTICES = 50_000  # vertices of one surface
_WIDE = 100.0  # [m] half width beyond which the sides of a box are not drawn
_COLOR = (226, 222, 214)  # of the ground
_LIT = (200, 190, 172)  # looks like _COLOR under the page's cool light
_LINES, _FINE_LINES = (196, 190, 180), (216, 211, 203)
_NET, _LIFT = (128, 118, 102), 0.003  # color of edges, and their height above the surface [m]
_FADE = 30.0  # [m]
_SAME = 1e-6  # [m]


@dataclass(frozen=True)
class Surface:
    """Vertices (n, 3) in the world [m] and triangles (m, 3) of one color (bytes)."""

    vertices: np.ndarray
    triangles: np.ndarray
    color: tuple[int, int, int]
    flat_shaded: bool = True
    casts_shadow: bool = False
    wireframe: bool = False  # whether its edges are drawn too: without them one does not see gentle bumps


def fixed_bodies(model: mujoco.MjModel) -> set[int]:
    """The world and every body that is fixed to it."""
    return {body for body in range(model.nbody) if model.body_weldid[body] == 0}


def surfaces(model: mujoco.MjModel) -> list[Surface]:
    """All fixed geoms but planes: the ground's boxes as one surface, every other geom as one of its own."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found: list[Surface] = []
    boxes: list[int] = []
    for geom in visible_geoms(model, fixed_bodies(model)):
        kind, is_ground = int(model.geom_type[geom]), int(model.geom_bodyid[geom]) == 0
        if kind == _G.mjGEOM_BOX and is_ground:
            boxes.append(geom)
        elif kind == _G.mjGEOM_HFIELD:
            found.append(_field(model, data, geom))
        elif kind != _G.mjGEOM_PLANE:
            found.append(_prop(model, data, geom))
    if boxes:
        found.append(_boxes(model, data, boxes))
    return found


def planes(model: mujoco.MjModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """A point (3,) [m] and the orientation (4,) of every visible plane."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for geom in visible_geoms(model, fixed_bodies(model)):
        if int(model.geom_type[geom]) == _G.mjGEOM_PLANE:
            turn = np.empty(4)
            mujoco.mju_mat2Quat(turn, data.geom_xmat[geom])
            found.append((data.geom_xpos[geom].copy(), turn))
    return found


def looks_same(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Whether the fixed parts of two models look the same."""
    a, b = (visible_geoms(model, fixed_bodies(model)) for model in (one, other))
    arrays = ("geom_type", "geom_size", "geom_pos", "geom_quat", "geom_rgba")
    return len(a) == len(b) and all(
        np.array_equal(x, y)
        for x, y in [
            *((getattr(one, name)[a], getattr(other, name)[b]) for name in arrays),
            (one.hfield_data, other.hfield_data),
        ]
    )


class GroundView:
    """The fixed surfaces on a page, below a node that is moved as a whole."""

    def __init__(self, scene: viser.SceneApi, name: str, model: mujoco.MjModel) -> None:
        """Add them."""
        self._nodes: list[viser.SceneNodeHandle] = []
        self._grids: list[tuple[viser.GridHandle, np.ndarray, np.ndarray]] = []
        for i, surface in enumerate(surfaces(model)):
            self._nodes.append(
                scene.add_mesh_simple(
                    f"{name}/surface_{i}", surface.vertices, surface.triangles, color=surface.color,
                    flat_shading=surface.flat_shaded, side="double", cast_shadow=surface.casts_shadow,
                )
            )  # fmt: skip
            if surface.wireframe:
                self._nodes.append(
                    scene.add_mesh_simple(
                        f"{name}/net_{i}", surface.vertices + np.array([0.0, 0.0, _LIFT]), surface.triangles,
                        color=_NET, wireframe=True, opacity=0.5, cast_shadow=False, receive_shadow=False,
                    )
                )  # fmt: skip
        for i, (point, turn) in enumerate(planes(model)):
            grid = scene.add_grid(
                f"{name}/plane_{i}", plane="xy", infinite_grid=True, cell_size=0.25, section_size=1.0,
                cell_color=_FINE_LINES, section_color=_LINES, fade_distance=_FADE, shadow_opacity=0.25,
                plane_color=_COLOR, plane_opacity=1.0, wxyz=turn, position=point,
            )  # fmt: skip
            axes = np.empty(9)
            mujoco.mju_quat2Mat(axes, turn)
            self._grids.append((grid, point, axes.reshape(3, 3)))
            self._nodes.append(grid)

    def center_on(self, place: np.ndarray) -> None:
        """Keep endless planes around a point (3,) of the world; they move by whole meters, which cannot be seen."""
        for grid, point, axes in self._grids:
            away = np.round((place - point) @ axes) * (1.0, 1.0, 0.0)
            there = point + axes @ away
            if not np.array_equal(there, grid.position):
                grid.position = there

    def remove(self) -> None:
        """Remove them from the page."""
        for node in self._nodes:
            node.remove()


def _bytes(color: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = (round(255.0 * float(share)) for share in color[:3])
    return red, green, blue


def _to_world(data: mujoco.MjData, geom: int, vertices: np.ndarray) -> np.ndarray:
    """Vertices (n, 3) of a geom's frame in the world [m]."""
    return np.asarray(data.geom_xpos[geom] + vertices @ data.geom_xmat[geom].reshape(3, 3).T)


def _boxes(model: mujoco.MjModel, data: mujoco.MjData, geoms: list[int]) -> Surface:
    """Boxes without their undersides and without sides that are too far away; only the nearest of too many."""
    vertices: list[np.ndarray] = []
    near = sorted(geoms, key=lambda g: float(np.linalg.norm(data.geom_xpos[g, :2])) - float(model.geom_size[g, 0]))
    for geom in near:
        half = model.geom_size[geom]
        whole = meshes.box(half)
        faces = [
            whole.vertices[i : i + 4]
            for i in range(0, 24, 4)
            if whole.normals[i, 2] >= 0.0 and not (half[1] > _WIDE and whole.normals[i, 1] != 0.0)
        ]
        if 4 * len(vertices) + 4 * len(faces) > MAX_VERTICES:
            break
        vertices += [_to_world(data, geom, face) for face in faces]
    quads = 4 * np.arange(len(vertices))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return Surface(np.concatenate(vertices), quads.reshape(-1, 3), _LIT)


def _field(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Surface:
    """A height field as the coarsest grid that is the same surface, or the finest that is not too large."""
    field = int(model.geom_dataid[geom])
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    start = int(model.hfield_adr[field])
    half_x, half_y, relief, _ = model.hfield_size[field]
    heights = relief * model.hfield_data[start : start + rows * columns].reshape(rows, columns).astype(float)
    up, right = _kept(heights)
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns)[right], np.linspace(-half_y, half_y, rows)[up])
    vertices = np.column_stack([x.ravel(), y.ravel(), heights[np.ix_(up, right)].ravel()])
    width = len(right)
    row, column = np.indices((len(up) - 1, width - 1)).reshape(2, -1)
    corner = row * width + column
    triangles = np.concatenate([  # cut from a cell's first corner to its last, as MuJoCo does
        np.column_stack([corner, corner + 1, corner + width + 1]),
        np.column_stack([corner, corner + width + 1, corner + width]),
    ])  # fmt: skip
    return Surface(_to_world(data, geom, vertices), triangles, _LIT, wireframe=True)


def _kept(heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a grid that are drawn."""
    rows, columns = heights.shape
    exact = [1]
    for stride in range(2, min(rows, columns)):
        if (rows - 1) % stride == 0 and (columns - 1) % stride == 0 and _is_same(heights, stride):
            exact.append(stride)
    stride = exact[-1]
    while (-(-rows // stride) + 1) * (-(-columns // stride) + 1) > MAX_VERTICES:
        stride += 1
    up, right = (np.unique(np.append(np.arange(0, n, stride), n - 1)) for n in heights.shape)
    return up, right


def _is_same(heights: np.ndarray, stride: int) -> bool:
    """Whether the surface over every n-th row and column equals the surface over all of them."""
    coarse = heights[::stride, ::stride]
    shares = np.arange(stride) / stride
    right, up = np.meshgrid(shares, shares)
    more, less, below = np.maximum(right, up), np.minimum(right, up), right > up
    first, last = coarse[:-1, :-1, None, None], coarse[1:, 1:, None, None]
    between = np.where(below, coarse[:-1, 1:, None, None], coarse[1:, :-1, None, None])
    guess = first + more * (between - first) + less * (last - between)  # (rows, columns, up, right) in cells
    fine = heights[:-1, :-1].reshape(coarse.shape[0] - 1, stride, coarse.shape[1] - 1, stride).swapaxes(1, 2)
    return bool(np.abs(guess - fine).max() < _SAME * max(1.0, float(np.ptp(heights))))


def _prop(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Surface:
    """A single fixed geom."""
    vertices, triangles = np.empty((0, 3)), np.empty((0, 3), int)
    flat_shaded = int(model.geom_type[geom]) == _G.mjGEOM_BOX
    for kind, scale, offset in geom_solids(model, geom):
        corners, faces = unit_mesh(model, kind)
        triangles = np.concatenate([triangles, faces + len(vertices)])
        vertices = np.concatenate([vertices, corners * scale + (0.0, 0.0, offset)])
    return Surface(
        _to_world(data, geom, vertices), triangles, _bytes(geom_color(model, geom)), flat_shaded, casts_shadow=True
    )
