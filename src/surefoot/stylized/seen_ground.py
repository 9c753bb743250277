"""The ground as a character that looks at it sees it: heights of what is fixed and of what moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.terrains.planes import Plane
from surefoot.terrains.platforms import Platform
from surefoot.terrains.profiles import Profile
from surefoot.terrains.solid import is_ground

if TYPE_CHECKING:
    from surefoot.scene import Scene

_ABOVE = 5.0  # [m] from where it is looked down
_STEEPEST = 0.35  # rise over run
_DOWN = np.array([0.0, 0.0, -1.0])
_REACH = 0.08  # [m] around an ankle within which its sole lies
_AROUND = _REACH * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


class SeenGround:
    """Heights of a scene's ground; of what moves of it, in the state that `data` is in.

    Attributes:
        is_level: whether there is nothing to see.
        has_edges: whether there may be edges.
    """

    def __init__(self, scene: Scene, data: mujoco.MjData) -> None:
        """Of one scene."""
        model, ground = scene.model, scene.terrain.ground
        self._terrain, self._model, self._data = scene.terrain, model, data
        bodies = [body for body in range(1, model.nbody) if is_ground(model.body(body).name)]
        self._moving = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in bodies]
        self._fixed = not isinstance(ground, Platform) and not (isinstance(ground, Plane) and not ground.angle)
        self.is_level, self.has_edges = not self._fixed and not self._moving, isinstance(ground, Profile)

    def heights(self, places: np.ndarray) -> np.ndarray:
        """(n,) at places (n, 2) of the world [m]."""
        found = self._terrain.height(places[:, 0], places[:, 1]) if self._fixed else np.zeros(len(places))
        for geom in self._moving:
            place, axes, size = self._data.geom_xpos[geom], self._data.geom_xmat[geom], self._model.geom_size[geom]
            kind = int(self._model.geom_type[geom])
            for i, (x, y) in enumerate(places.tolist()):
                far = mujoco.mju_rayGeom(place, axes, size, np.array([x, y, _ABOVE]), _DOWN, kind, None)
                if far >= 0.0:
                    found[i] = max(found[i], _ABOVE - far) if self._stands else _ABOVE - far
        return found

    @property
    def _stands(self) -> bool:
        """Whether what moves stands on ground that does not."""
        return not isinstance(self._terrain.ground, Platform)

    def lies(self, places: np.ndarray) -> np.ndarray:
        """(n, 3, 3) turns of what lies on the ground at places (n, 3), on the gentler side of an edge."""
        points = places[:, None, :2] + _AROUND
        heights = self.heights(points.reshape(-1, 2)).reshape(len(places), 5)
        rises = (heights[:, 1:] - heights[:, :1]).reshape(-1, 2, 2) * [1.0, -1.0] / _REACH
        gentler = np.abs(rises).argmin(axis=2)
        slopes = np.clip(np.take_along_axis(rises, gentler[:, :, None], axis=2)[:, :, 0], -_STEEPEST, _STEEPEST)
        return np.array([_turned(x, y) for x, y in slopes.tolist()])


def _turned(x: float, y: float) -> np.ndarray:
    """(3, 3) the shortest turn from level to ground that rises by x and y."""
    a, b, c = (np.array([-x, -y, 1.0]) / np.sqrt(1.0 + x * x + y * y)).tolist()
    return np.array([
        [1.0 - a * a / (1.0 + c), -a * b / (1.0 + c), a], [-a * b / (1.0 + c), 1.0 - b * b / (1.0 + c), b], [-a, -b, c]
    ])  # fmt: skip
