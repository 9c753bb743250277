"""Ground with a height for each point of a grid, built as a MuJoCo height field."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.terrains.solid import DEPTH, FAR, add_solid

MAX_POINTS = 1024  # along a side
FINEST, COARSEST = 0.05, 10.0  # [m] spacing; below, a foot would meet more cells than MuJoCo keeps contacts
_BUILT = 0.1  # [m] MuJoCo finds a point of contact a triangle, and a flat foot needs several
_HIGHEST = 1000.0  # [m]
_STEEPEST = math.radians(60.0)
_ZERO = np.zeros(())
_MARGIN = 0.1  # of the shorter side: where a border that is not level is made so


@dataclass(frozen=True, eq=False)
class Field:
    """Triangles over a grid, in a level surrounding. Made by `raised`.

    Attributes:
        shares: (rows, columns) heights as MuJoCo keeps them: 0 for the lowest, 1 for the highest; rows
            along y, columns along x. All around the border they are the same.
        relief: from the lowest to the highest point [m].
        spacing: between columns along x and between rows along y [m].
        corner: world (x, y) of shares[0, 0] [m].
    """

    shares: np.ndarray
    relief: float
    spacing: tuple[float, float]
    corner: tuple[float, float]

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world [m]."""
        return np.asarray(self.above_lowest(x, y) - self.above_lowest(_ZERO, _ZERO))

    def above_lowest(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height over the lowest point; each cell is cut from its first corner to its last, as MuJoCo does [m]."""
        rows, columns = self.shares.shape
        right, up = (x - self.corner[0]) / self.spacing[0], (y - self.corner[1]) / self.spacing[1]
        inside = (right > 0.0) & (right < columns - 1.0) & (up > 0.0) & (up < rows - 1.0)
        right, up = np.where(inside, right, 0.0), np.where(inside, up, 0.0)
        column, row = right.astype(int), up.astype(int)
        right, up = right - column, up - row
        below = right > up
        cut = ((row, column), (row + ~below, column + below), (row + 1, column + 1), (0, 0))
        first, between, last, border = (self.shares[at].astype(float) * self.relief for at in cut)
        more, less = np.maximum(right, up), np.minimum(right, up)
        return np.asarray(np.where(inside, first + more * (between - first) + less * (last - between), border))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the field and four boxes around it to a model under construction."""
        rows, columns = self.shares.shape
        half = [0.5 * self.spacing[0] * (columns - 1), 0.5 * self.spacing[1] * (rows - 1)]
        middle = [self.corner[0] + half[0], self.corner[1] + half[1]]
        lowest = -float(self.above_lowest(_ZERO, _ZERO))
        border = lowest + float(self.shares[0, 0]) * self.relief
        part = mujoco.MjSpec()  # only a whole model can be given a field, and a whole model can be attached
        part.add_hfield(
            name="field", nrow=rows, ncol=columns, size=[*half, self.relief, DEPTH], userdata=self.shares.ravel()
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
            add_solid(
                world, f"ground_{i}", mujoco.mjtGeom.mjGEOM_BOX, friction, size=[*reach, DEPTH], pos=center
            )  # fmt: skip


def raised(heights: np.ndarray, spacing: tuple[float, float], corner: tuple[float, float]) -> Field:
    """A field of these heights, moved up or down as a whole so that the ground is at height 0 at the origin.

    Args:
        heights: (rows, columns) [m], rows along y, columns along x. If the border is not level, the outermost
            tenth of the shorter side is drawn towards the border's mean, on which the ground goes on.
        spacing: between columns along x and between rows along y [m].
        corner: world (x, y) of heights[0, 0] [m].
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
    shares = ((z - z.min()) / relief).astype(np.float32)
    most = min(int(min(spacing) / FINEST), (MAX_POINTS - 1) // (max(z.shape) - 1))
    parts = max(1, min(math.ceil(max(spacing) / _BUILT - 1e-9), most))
    return Field(_refined(shares, parts), relief, (spacing[0] / parts, spacing[1] / parts), corner)


def _refined(shares: np.ndarray, parts: int) -> np.ndarray:
    """The same surface with each cell in parts × parts, whose triangles lie in those of the cell."""
    up, right = (np.arange((n - 1) * parts + 1) / parts for n in shares.shape)
    whole = Field(shares, 1.0, (1.0, 1.0), (0.0, 0.0))
    return whole.above_lowest(right[None, :], up[:, None]).astype(np.float32)


def _level_border(z: np.ndarray, spacing: tuple[float, float]) -> np.ndarray:
    """The heights, drawn linearly towards the border's mean near the border unless it is level already."""
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
