"""The shapes of ground and how each is put into a model: a plane, a profile, a gyrating platform, a height field.

A plane is endless and goes through the origin. The height of a profile depends on the distance along one direction. A
platform tilts about its middle, where the character starts, in a direction that goes round and round (Kenwright §6.2);
it starts level. It hangs on two hinges so heavy that nothing on it matters to them; `ground_kernels.move_platform`
gives them their speeds at every physics step. A height field has a height for each point of a grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.native.kernels import python_impl
from surefoot.terrains.ground_kernels import platform_tilt

FAR = 1000.0  # [m] how far the level ground around a terrain reaches
DEPTH = 1.0  # [m] half the thickness of a box, and the thickness of a field below its lowest point
_COLOR = (0.80, 0.80, 0.76, 1.0)


def add_solid(
    body: mujoco.MjsBody, name: str, kind: mujoco.mjtGeom, friction: float, color: Sequence[float] = _COLOR,
    contype: int = 0, **options: Any,
) -> mujoco.MjsGeom:  # fmt: skip
    """Add a shape that collides with characters; only if `contype` is 1 also with ground and other shapes."""
    return body.add_geom(
        name=name, type=kind, contype=contype, conaffinity=1, condim=3,
        friction=[friction, 0.005, 0.0001], solref=[0.01, 1.0], rgba=color, **options,
    )  # fmt: skip


def is_moving_ground(body: str) -> bool:
    """Whether a body of this name is ground that moves: feet may stand on it; any other part on it means a fall."""
    return body.startswith("ground_")


def quat_pitch_yaw(angle: float, direction: float) -> list[float]:
    """Quaternion, w first, of a frame turned to the yaw `direction`, its x axis then raised by `angle` [rad]."""
    up, turn = (math.cos(angle / 2), math.sin(angle / 2)), (math.cos(direction / 2), math.sin(direction / 2))
    return [turn[0] * up[0], turn[1] * up[1], -turn[0] * up[1], turn[1] * up[0]]


def distance_along(x: Any, y: Any, direction: float) -> Any:
    """Distance of points from the origin along a world yaw; of arrays of any library."""
    return x * math.cos(direction) + y * math.sin(direction)


def plane_height(plane: Plane, x: Any, y: Any) -> Any:
    """Height of a plane at points of the world [m]; of arrays of any library."""
    return math.tan(plane.angle) * distance_along(x, y, plane.direction) + 0.0  # no negative zeros


@dataclass(frozen=True)
class Plane:
    """Level ground, or ground that rises everywhere by `angle` towards the world yaw `direction` [rad]."""

    angle: float = 0.0
    direction: float = 0.0

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world [m]."""
        return np.asarray(plane_height(self, x, y))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the plane to a model under construction."""
        turn = quat_pitch_yaw(self.angle, self.direction)
        add_solid(world, "ground", mujoco.mjtGeom.mjGEOM_PLANE, friction, size=[0, 0, 1], quat=turn)


_HALF_WIDTH = 512.0  # [m] of the boxes; a power of two, with which contacts at y = 0 round as with any other
_MAX_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class Profile:
    """Straight stretches one after another; across them the ground is level.

    Attributes:
        vertices: (n, 2) corners (distance, z) of the profile [m]. Distances do not decrease; a repeated one is a
            vertical face. Before the first and after the last corner the ground is level.
        direction: world yaw along which distance is measured from the origin [rad]; 0 is along x.
    """

    vertices: np.ndarray
    direction: float = 0.0

    def __post_init__(self) -> None:
        """Check the corners."""
        v = self.vertices
        if v.ndim != 2 or v.shape[1] != 2 or not 1 <= len(v) <= _MAX_VERTICES:
            raise TerrainError(f"a profile takes 1 … {_MAX_VERTICES} corners (x, z)")
        if not np.isfinite(v).all() or np.abs(v).max() > 2 * FAR:
            raise TerrainError(f"heights and places must be finite and within ± {2 * FAR:.0f} m")
        if (np.diff(v[:, 0]) < 0).any():
            raise TerrainError("places along x must not decrease")
        run, rise = np.diff(v, axis=0).T
        if (np.abs(rise[run > 0.0]) > run[run > 0.0] * 1.0001).any():
            raise TerrainError("stretches are at most 45° steep; a vertical face takes two corners at the same place")

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world; on a vertical face that of its far side [m]."""
        places, heights = self.vertices.T
        return np.asarray(profile_height(np, places, heights, distance_along(x, y, self.direction)))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add a box for each stretch to a model under construction."""
        v = self.vertices
        corners = np.vstack([[v[0, 0] - FAR, v[0, 1]], v, [v[-1, 0] + FAR, v[-1, 1]]])
        for i, ((x0, z0), (x1, z1)) in enumerate(itertools.pairwise(corners)):
            if x1 <= x0:
                continue
            angle, length = math.atan2(z1 - z0, x1 - x0), math.hypot(x1 - x0, z1 - z0)
            along = 0.5 * (x0 + x1) + DEPTH * math.sin(angle)
            center = [
                along * math.cos(self.direction), along * math.sin(self.direction),
                0.5 * (z0 + z1) - DEPTH * math.cos(angle),
            ]  # fmt: skip
            add_solid(
                world, f"ground_{i}", mujoco.mjtGeom.mjGEOM_BOX, friction, size=[0.5 * length, _HALF_WIDTH, DEPTH],
                pos=center, quat=quat_pitch_yaw(angle, self.direction),
            )  # fmt: skip


def profile_height(library: Any, places: Any, heights: Any, along: Any) -> Any:
    """Height of a profile at distances along it [m]; on a vertical face that of its far side.

    Args:
        library: of the arrays: `numpy`, or another with its names.
        places: (n,) distances of the corners.
        heights: (n,) of the corners.
        along: distances.
    """
    after, last = library.searchsorted(places, along, side="right"), len(places) - 1
    left, right = library.clip(after - 1, 0, last), library.clip(after, 0, last)
    run = library.where(places[right] > places[left], places[right] - places[left], 1.0)
    share = library.clip((along - places[left]) / run, 0.0, 1.0)
    return heights[left] + share * (heights[right] - heights[left]) * (after > 0)


PLATFORM_BODY = "ground_platform"
_HALF, _THICKNESS = 15.0, 0.2  # [m]
_HEAVY = 1e4  # [kg·m²] of each hinge
_STEEPEST = math.radians(60.0)


@dataclass(frozen=True)
class Platform:
    """A gyrating plate through the origin.

    Attributes:
        angle: of its tilt [rad].
        period: of one turn of the tilt's direction [s].
        ramp: time in which the tilt grows from level [s].
    """

    angle: float
    period: float = 15.0
    ramp: float = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (0.0 <= self.angle <= _STEEPEST and 1.0 <= self.period <= 1000.0 and 0.0 < self.ramp <= 1000.0):
            valid = "an angle of 0 … 60°, a period of 1 … 1000 s and a ramp of up to 1000 s"
            raise TerrainError(f"a platform takes {valid}")

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world, before it moves [m]."""
        return np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y)))

    def plane_at(self, time: float) -> Plane:
        """The plane of its upper side at a time [s]."""
        tilt, way = python_impl(platform_tilt)(time, self.angle, self.period, self.ramp)
        return Plane(tilt, way + math.pi)

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add nothing: moving ground comes after the character, whose joints must be the first."""

    def build_moving(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the plate and its hinges to a model under construction."""
        body = world.add_body(name=PLATFORM_BODY, gravcomp=1.0)
        for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
            body.add_joint(
                name=f"{PLATFORM_BODY}_{name}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, armature=_HEAVY,
                limited=mujoco.mjtLimited.mjLIMITED_FALSE,
            )  # fmt: skip
        add_solid(
            body, PLATFORM_BODY, mujoco.mjtGeom.mjGEOM_BOX, friction, size=[_HALF, _HALF, 0.5 * _THICKNESS],
            pos=[0.0, 0.0, -0.5 * _THICKNESS],
        )  # fmt: skip


MAX_POINTS = 1024  # along a side
FINEST, COARSEST = 0.05, 10.0  # [m] spacing; below, a foot would meet more cells than MuJoCo keeps contacts
_BUILT = 0.1  # [m] MuJoCo finds a point of contact a triangle, and a flat foot needs several
_HIGHEST = 1000.0  # [m]
_ZERO = np.zeros(())
_MARGIN = 0.1  # of the shorter side: where a border that is not level is made so


@dataclass(frozen=True, eq=False)
class HeightField:
    """Triangles over a grid, surrounded by level ground; `height_field` makes one.

    Attributes:
        normalized: (rows, columns) heights as MuJoCo stores them: 0 for the lowest, 1 for the highest; rows
            along y, columns along x. They are equal all around the border.
        relief: from the lowest to the highest point [m].
        spacing: between columns along x and between rows along y [m].
        corner: world (x, y) of normalized[0, 0] [m].
    """

    normalized: np.ndarray
    relief: float
    spacing: tuple[float, float]
    corner: tuple[float, float]

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world [m]."""
        return np.asarray(self.above_lowest(x, y) - self.above_lowest(_ZERO, _ZERO))

    def above_lowest(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height above the lowest point [m]."""
        return np.asarray(field_height(np, self, self.normalized, x, y))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the field and four boxes around it to a model under construction."""
        rows, columns = self.normalized.shape
        half = [0.5 * self.spacing[0] * (columns - 1), 0.5 * self.spacing[1] * (rows - 1)]
        middle = [self.corner[0] + half[0], self.corner[1] + half[1]]
        lowest = -float(self.above_lowest(_ZERO, _ZERO))
        border = lowest + float(self.normalized[0, 0]) * self.relief
        part = mujoco.MjSpec()  # a field can only be added to a whole model, which can then be attached
        part.add_hfield(
            name="field", nrow=rows, ncol=columns, size=[*half, self.relief, DEPTH], userdata=self.normalized.ravel()
        )
        frame = part.worldbody.add_frame()
        geom = add_solid(
            part.worldbody, "field", mujoco.mjtGeom.mjGEOM_HFIELD, friction, hfieldname="field", pos=[*middle, lowest]
        )
        geom.set_frame(frame)
        world.attach_frame(frame, "ground_", "")
        for i, (ahead, left) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            reach = [FAR if ahead else half[0], FAR if left else half[1] + 2.0 * FAR]
            center = [middle[0] + ahead * (half[0] + FAR), middle[1] + left * (half[1] + FAR), border - DEPTH]
            add_solid(world, f"ground_{i}", mujoco.mjtGeom.mjGEOM_BOX, friction, size=[*reach, DEPTH], pos=center)


def field_height(library: Any, field: HeightField, normalized: Any, x: Any, y: Any) -> Any:
    """Height above a field's lowest point [m]; each cell is cut from its first corner to its last, as MuJoCo does.

    Args:
        library: of the arrays: `numpy`, or another with its names.
        field: its sizes.
        normalized: (rows, columns) its heights, as an array of the library's.
        x: of points of the world [m].
        y: likewise.
    """
    rows, columns = normalized.shape
    right, up = (x - field.corner[0]) / field.spacing[0], (y - field.corner[1]) / field.spacing[1]
    inside = (right > 0.0) & (right < columns - 1.0) & (up > 0.0) & (up < rows - 1.0)
    right, up = library.where(inside, right, 0.0), library.where(inside, up, 0.0)
    column, row = (library.asarray(place, dtype=library.int64) for place in (right, up))
    right, up = right - column, up - row
    below = right > up
    cut = ((row, column), (row + ~below, column + below), (row + 1, column + 1), (0, 0))
    first, between, last, border = (library.asarray(normalized[at], dtype=library.float64) * field.relief for at in cut)
    more, less = library.maximum(right, up), library.minimum(right, up)
    return library.where(inside, first + more * (between - first) + less * (last - between), border)


def height_field(heights: np.ndarray, spacing: tuple[float, float], corner: tuple[float, float]) -> HeightField:
    """A field of these heights, moved up or down as a whole so that the ground is at height 0 at the origin.

    Args:
        heights: (rows, columns) [m], rows along y, columns along x. If the border is not level, the outermost
            tenth of the shorter side is drawn towards the border's mean, the height of the ground around the field.
        spacing: between columns along x and between rows along y [m].
        corner: world (x, y) of heights[0, 0] [m].

    Raises:
        TerrainError: a number is out of range, or the field is steeper than 60°.
    """
    z = np.array(heights, float)
    if z.ndim != 2 or not all(3 <= n <= MAX_POINTS for n in z.shape):
        raise TerrainError(f"a field takes 3 … {MAX_POINTS} rows of 3 … {MAX_POINTS} heights, got {z.shape}")
    if not all(FINEST <= s <= COARSEST for s in spacing):
        raise TerrainError(f"a field's spacing must be within {FINEST:g} … {COARSEST:g} m, got {min(spacing):.3g} m")
    if not (np.isfinite(z).all() and np.abs(z).max() <= _HIGHEST and np.abs(corner).max() <= FAR):
        raise TerrainError(f"a field's heights and corner must be finite and within ± {_HIGHEST:g} m")
    z = _level_border(z, spacing)
    steepest = max(np.abs(np.diff(z, axis=1)).max() / spacing[0], np.abs(np.diff(z, axis=0)).max() / spacing[1])
    if steepest > math.tan(_STEEPEST):
        raise TerrainError(
            f"a field rises at most {math.degrees(_STEEPEST):g}° between neighbours, "
            f"got {math.degrees(math.atan(steepest)):.0f}°; lower it or make it larger"
        )
    relief = float(np.ptp(z)) or 1.0  # MuJoCo takes no field without thickness
    normalized = ((z - z.min()) / relief).astype(np.float32)
    most = min(int(min(spacing) / FINEST), (MAX_POINTS - 1) // (max(z.shape) - 1))
    parts = max(1, min(math.ceil(max(spacing) / _BUILT - 1e-9), most))
    return HeightField(_refined(normalized, parts), relief, (spacing[0] / parts, spacing[1] / parts), corner)


def _refined(normalized: np.ndarray, parts: int) -> np.ndarray:
    """The same surface with each cell divided into parts × parts cells."""
    up, right = (np.arange((n - 1) * parts + 1) / parts for n in normalized.shape)
    whole = HeightField(normalized, 1.0, (1.0, 1.0), (0.0, 0.0))
    return whole.above_lowest(right[None, :], up[:, None]).astype(np.float32)


def _level_border(z: np.ndarray, spacing: tuple[float, float]) -> np.ndarray:
    """The heights, drawn linearly towards the border's mean near the border, unless it is level already."""
    inner = np.zeros(z.shape, bool)
    inner[1:-1, 1:-1] = True
    border = z[~inner]
    if np.ptp(border) == 0.0:
        return z
    rows, columns = (np.minimum(np.arange(n), np.arange(n)[::-1]) for n in z.shape)
    margin = _MARGIN * min(spacing[0] * z.shape[1], spacing[1] * z.shape[0])
    far = np.minimum(rows[:, None] * spacing[1], columns[None, :] * spacing[0])  # [m] from the border
    mean = border.mean()
    return np.asarray(mean + (z - mean) * np.minimum(far / margin, 1.0))
