"""Everything of a model that never moves, as few large surfaces in world coordinates.

The model's own shapes are the truth: planes become endless grids, boxes, fields and the rest become triangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import viser

from surefoot.motions import solids
from surefoot.studio import shapes

MOST = 50_000  # vertices of one surface
_G = mujoco.mjtGeom
_WIDE = 100.0  # [m] half width beyond which nobody sees a box's sides
_COLOR = (226, 222, 214)  # of the ground
_LIT = (200, 190, 172)  # what looks like it under the page's cool light
_LINES, _FINE_LINES = (196, 190, 180), (216, 211, 203)
_NET, _LIFT = (128, 118, 102), 0.003  # colour of edges, and how far above their surface they are [m]
_FADE = 30.0  # [m]
_SAME = 1e-6  # [m]


@dataclass(frozen=True)
class Surface:
    """Vertices (n, 3) in the world [m] and triangles (m, 3) of one colour (bytes)."""

    vertices: np.ndarray
    triangles: np.ndarray
    color: tuple[int, int, int]
    faceted: bool = True
    throws: bool = False  # a shadow
    netted: bool = False  # whether its edges are drawn too: without them one does not see gentle bumps


def fixed_bodies(model: mujoco.MjModel) -> set[int]:
    """The world and every body that is part of it."""
    return {body for body in range(model.nbody) if model.body_weldid[body] == 0}


def surfaces(model: mujoco.MjModel) -> list[Surface]:
    """What stands still, but for planes: the ground's boxes as one surface, every other shape as one of its own."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found: list[Surface] = []
    boxes: list[int] = []
    for geom in shapes.visible(model, fixed_bodies(model)):
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
    """A point (3,) [m] and a turn (4,) of every plane that is to be seen."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for geom in shapes.visible(model, fixed_bodies(model)):
        if int(model.geom_type[geom]) == _G.mjGEOM_PLANE:
            turn = np.empty(4)
            mujoco.mju_mat2Quat(turn, data.geom_xmat[geom])
            found.append((data.geom_xpos[geom].copy(), turn))
    return found


def same(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Whether two models look alike as far as they stand still."""
    a, b = (shapes.visible(model, fixed_bodies(model)) for model in (one, other))
    arrays = ("geom_type", "geom_size", "geom_pos", "geom_quat", "geom_rgba")
    return len(a) == len(b) and all(
        np.array_equal(x, y)
        for x, y in [
            *((getattr(one, name)[a], getattr(other, name)[b]) for name in arrays),
            (one.hfield_data, other.hfield_data),
        ]
    )


class Ground:
    """The surfaces on a page, below a node that is moved as a whole."""

    def __init__(self, scene: viser.SceneApi, name: str, model: mujoco.MjModel) -> None:
        """Add them."""
        self._nodes: list[viser.SceneNodeHandle] = []
        self._grids: list[tuple[viser.GridHandle, np.ndarray, np.ndarray]] = []
        for i, surface in enumerate(surfaces(model)):
            self._nodes.append(
                scene.add_mesh_simple(
                    f"{name}/surface_{i}", surface.vertices, surface.triangles, color=surface.color,
                    flat_shading=surface.faceted, side="double", cast_shadow=surface.throws,
                )
            )  # fmt: skip
            if surface.netted:
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

    def attend(self, place: np.ndarray) -> None:
        """Keep endless planes around a place (3,) of the world, by whole metres so that nobody sees it."""
        for grid, point, axes in self._grids:
            away = np.round((place - point) @ axes) * (1.0, 1.0, 0.0)
            there = point + axes @ away
            if not np.array_equal(there, grid.position):
                grid.position = there

    def remove(self) -> None:
        """Take them off the page."""
        for node in self._nodes:
            node.remove()


def _bytes(color: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = (round(255.0 * float(share)) for share in color[:3])
    return red, green, blue


def _boxes(model: mujoco.MjModel, data: mujoco.MjData, geoms: list[int]) -> Surface:
    """Boxes without their undersides, and without sides that are too far away to be seen; the nearest if too many."""
    vertices: list[np.ndarray] = []
    near = sorted(geoms, key=lambda g: float(np.linalg.norm(data.geom_xpos[g, :2])) - float(model.geom_size[g, 0]))
    for geom in near:
        half = model.geom_size[geom]
        whole = solids.box(half)
        faces = [
            whole.vertices[i : i + 4]
            for i in range(0, 24, 4)
            if whole.normals[i, 2] >= 0.0 and not (half[1] > _WIDE and whole.normals[i, 1] != 0.0)
        ]
        if 4 * len(vertices) + 4 * len(faces) > MOST:
            break
        axes = data.geom_xmat[geom].reshape(3, 3)
        vertices += [data.geom_xpos[geom] + face @ axes.T for face in faces]
    quads = 4 * np.arange(len(vertices))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return Surface(np.concatenate(vertices), quads.reshape(-1, 3), _LIT)


def _field(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Surface:
    """A field's triangles, of the coarsest grid that is the same surface, or the finest that is not too large."""
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
    placed = data.geom_xpos[geom] + vertices @ data.geom_xmat[geom].reshape(3, 3).T
    return Surface(placed, triangles, _LIT, netted=True)


def _kept(heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a grid that are drawn."""
    rows, columns = heights.shape
    exact = [1]
    for stride in range(2, min(rows, columns)):
        if (rows - 1) % stride == 0 and (columns - 1) % stride == 0 and _is_same(heights, stride):
            exact.append(stride)
    stride = exact[-1]
    while (-(-rows // stride) + 1) * (-(-columns // stride) + 1) > MOST:
        stride += 1
    up, right = (np.unique(np.append(np.arange(0, n, stride), n - 1)) for n in heights.shape)
    return up, right


def _is_same(heights: np.ndarray, stride: int) -> bool:
    """Whether the surface over every n-th row and column is the surface over all of them."""
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
    """A single fixed shape."""
    vertices, triangles = np.empty((0, 3)), np.empty((0, 3), int)
    faceted = int(model.geom_type[geom]) == _G.mjGEOM_BOX
    for kind, scale, along in shapes.parts(model, geom):
        corners, faces = shapes.solid(model, kind)
        triangles = np.concatenate([triangles, faces + len(vertices)])
        vertices = np.concatenate([vertices, corners * scale + (0.0, 0.0, along)])
    placed = data.geom_xpos[geom] + vertices @ data.geom_xmat[geom].reshape(3, 3).T
    return Surface(placed, triangles, _bytes(shapes.color_of(model, geom)), faceted, throws=True)
