"""A terrain is a height profile z(x) with optional vertical faces, and knows how to build itself."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.errors import TerrainError

_FAR = 1000.0  # [m] how far the first and the last stretch reach
_HALF_WIDTH, _DEPTH = 4.0, 1.0  # [m] of the boxes a profile is built from
_MAX_VERTICES = 20_000
_COLOR = (0.80, 0.80, 0.76, 1.0)


@dataclass(frozen=True)
class Terrain:
    """Ground whose height depends on x alone.

    Attributes:
        description: name and arguments, as the command line takes them.
        vertices: (n, 2) corners (x, z) of the profile [m], x not decreasing, a repeated x being a
            vertical face; before the first and after the last the ground is level. None is flat ground.
    """

    description: str
    vertices: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be stood on."""
        if self.vertices is None:
            return
        v = self.vertices
        if v.ndim != 2 or v.shape[1] != 2 or not 1 <= len(v) <= _MAX_VERTICES:
            raise TerrainError(f"a profile takes 1 … {_MAX_VERTICES} corners (x, z)")
        if not np.isfinite(v).all() or np.abs(v).max() > 2 * _FAR:
            raise TerrainError(f"heights and places must be finite and within ± {2 * _FAR:.0f} m")
        if (np.diff(v[:, 0]) < 0).any():
            raise TerrainError("places along x must not decrease")
        run, rise = np.diff(v, axis=0).T
        if (np.abs(rise[run > 0.0]) > run[run > 0.0] * 1.0001).any():
            raise TerrainError("stretches are at most 45° steep; a vertical face takes two corners at the same place")
        if float(self.height(0.0)) != 0.0:
            raise TerrainError("the ground must be at height 0 where the character starts (x = 0)")

    def height(self, x: float | np.ndarray) -> np.ndarray:
        """Height of the ground at x; on a vertical face that of its far side [m]."""
        x = np.asarray(x, float)
        if self.vertices is None:
            return np.zeros_like(x)
        xs, zs = self.vertices.T
        after = np.searchsorted(xs, x, side="right")
        left, right = np.clip(after - 1, 0, len(xs) - 1), np.clip(after, 0, len(xs) - 1)
        run = np.where(xs[right] > xs[left], xs[right] - xs[left], 1.0)
        share = np.clip((x - xs[left]) / run, 0.0, 1.0)
        return np.asarray(zs[left] + share * (zs[right] - zs[left]) * (after > 0))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the ground's shapes to a model under construction."""
        if self.vertices is None:
            _solid(world, "ground", mujoco.mjtGeom.mjGEOM_PLANE, friction, size=[0, 0, 1])
            return
        v = self.vertices
        corners = np.vstack([[v[0, 0] - _FAR, v[0, 1]], v, [v[-1, 0] + _FAR, v[-1, 1]]])
        for i, ((x0, z0), (x1, z1)) in enumerate(itertools.pairwise(corners)):
            if x1 <= x0:
                continue
            angle, length = math.atan2(z1 - z0, x1 - x0), math.hypot(x1 - x0, z1 - z0)
            center = [
                0.5 * (x0 + x1) + _DEPTH * math.sin(angle), 0.0, 0.5 * (z0 + z1) - _DEPTH * math.cos(angle),
            ]  # fmt: skip
            _solid(
                world, f"ground_{i}", mujoco.mjtGeom.mjGEOM_BOX, friction, size=[0.5 * length, _HALF_WIDTH, _DEPTH],
                pos=center, quat=[math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0],
            )  # fmt: skip


def _solid(world: mujoco.MjsBody, name: str, kind: mujoco.mjtGeom, friction: float, **where: list[float]) -> None:
    world.add_geom(
        name=name, type=kind, contype=0, conaffinity=1, condim=3,
        friction=[friction, 0.005, 0.0001], solref=[0.01, 1.0], rgba=_COLOR, **where,
    )  # fmt: skip
