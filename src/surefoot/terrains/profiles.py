"""Ground whose height depends on one direction alone, with optional vertical faces."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.terrains.solid import DEPTH, FAR, add_solid, facing

_HALF_WIDTH = 512.0  # [m] of the boxes; a power of two, with which contacts at y = 0 round as with any other
_MAX_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class Profile:
    """Straight stretches one after another, the same at all places across.

    Attributes:
        vertices: (n, 2) corners (distance, z) of the profile [m], distances not decreasing, a repeated one
            being a vertical face; before the first and after the last the ground is level.
        direction: world yaw along which distance is measured from the origin [rad]; 0 is along x.
    """

    vertices: np.ndarray
    direction: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what cannot be stood on."""
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
        along = x * math.cos(self.direction) + y * math.sin(self.direction)
        xs, zs = self.vertices.T
        after = np.searchsorted(xs, along, side="right")
        left, right = np.clip(after - 1, 0, len(xs) - 1), np.clip(after, 0, len(xs) - 1)
        run = np.where(xs[right] > xs[left], xs[right] - xs[left], 1.0)
        share = np.clip((along - xs[left]) / run, 0.0, 1.0)
        return np.asarray(zs[left] + share * (zs[right] - zs[left]) * (after > 0))

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
                pos=center, quat=facing(angle, self.direction),
            )  # fmt: skip
