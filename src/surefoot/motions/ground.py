"""Draws the ground below a motion, cut where the body goes, with marks of distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.motions.motion import Motion
from surefoot.motions.painter import FAINT, Camera, Canvas

if TYPE_CHECKING:
    from surefoot.terrains.terrain import Terrain

_SOIL, _SURFACE, _MARK = (0.906, 0.890, 0.859), (0.60, 0.57, 0.53), (0.70, 0.675, 0.635)
_FINENESS = 2.0  # [px] between points of ground that is not straight between known corners


def terrain_of(motion: Motion) -> Terrain | None:
    """The ground a motion happened on, as far as it is known."""
    return motion.scene.terrain if motion.scene is not None else None


def is_flat(terrain: Terrain | None) -> bool:
    """Whether there is nothing to see about the ground."""
    return terrain is None or terrain.description == "flat"


def heights(terrain: Terrain | None, places: np.ndarray) -> np.ndarray:
    """(n,) heights of the ground at places (n, 2 or 3) of the world [m]."""
    return np.zeros(len(places)) if terrain is None else np.asarray(terrain.height(places[:, 0], places[:, 1]))


def paint_ground(
    canvas: Canvas, terrain: Terrain | None, camera: Camera, left: float, right: float, path: np.ndarray
) -> None:
    """Draw the ground between two columns of the picture [px], down to its lower edge, with marks every 0.5 m.

    Args:
        canvas: what to draw on.
        terrain: None is flat.
        camera: from where.
        left: first column.
        right: last column.
        path: (n, 2 or 3) where the body is or goes [m]: the ground is cut there, and straight on before and after.
    """
    first, last = (camera.left + column / camera.scale for column in (left, right))
    surface = camera.pixels(*_profile(terrain, camera, first, last, path).T)
    canvas.polygon(np.vstack([surface, [[right, canvas.height], [left, canvas.height]]]), _SOIL)
    halves = range(math.ceil(2.0 * first), math.floor(2.0 * last) + 1)
    marks = 0.5 * np.array(halves, float)
    for half, (column, row) in zip(halves, camera.pixels(marks, _cut(terrain, camera, marks, path)), strict=True):
        whole = half % 2 == 0
        canvas.line([(column, row), (column, row + (9.0 if whole else 5.0))], _MARK, 1.0)
        if whole and left + 12.0 < column < right - 12.0:
            canvas.text(column, row + 17.0, f"{half // 2} m", 10.0, FAINT)
    canvas.line(surface, _SURFACE, 1.6)


def _cut(terrain: Terrain | None, camera: Camera, along: np.ndarray, path: np.ndarray) -> np.ndarray:
    """(n,) heights at places along the picture's right axis [m], where a path leads there."""
    places, across = camera.along(path), camera.across(path)
    goes_on = len(set(np.sign(np.diff(places)).tolist())) <= 1
    if not goes_on or (terrain is not None and terrain.vertices is not None):
        across = np.full(len(places), across.mean())
    order = np.argsort(places)
    return heights(terrain, camera.place(along, np.interp(along, places[order], across[order])))


def _profile(terrain: Terrain | None, camera: Camera, first: float, last: float, path: np.ndarray) -> np.ndarray:
    """(n, 2) points (along, height) of the surface between two places along the picture's right axis [m]."""
    ends = np.array([first, last])
    if terrain is not None and terrain.vertices is not None:
        inside = _corners(terrain.vertices, camera, first, last, path)
        levels = _cut(terrain, camera, ends, path)
        return np.vstack([[first, levels[0]], inside, [last, levels[1]]])
    if not is_flat(terrain):
        ends = np.linspace(first, last, max(2, math.ceil((last - first) * camera.scale / _FINENESS) + 1))
    return np.column_stack([ends, _cut(terrain, camera, ends, path)])


def _corners(vertices: np.ndarray, camera: Camera, first: float, last: float, path: np.ndarray) -> np.ndarray:
    """(n, 2) corners (along, height) of a profile along x that lie between two places of the picture [m]."""
    across = camera.across(path).mean()
    (start, _), (further, _) = camera.place(np.array([0.0, 1.0]), np.full(2, across))
    slant = further - start  # of x along the picture
    if abs(slant) < 1e-9:
        return np.zeros((0, 2))
    along = np.column_stack([(vertices[:, 0] - start) / slant, vertices[:, 1]])
    inside = along[(along[:, 0] > first) & (along[:, 0] < last)]
    return inside if slant > 0.0 else inside[::-1]
