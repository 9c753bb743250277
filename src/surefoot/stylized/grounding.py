"""A reference laid on the ground: what it has over level ground is raised by the rise from one foot to the next.

The paper's controller learns of the ground by touching it. This one sees it where its foot is going to land, as the
stepping controller does: a foot that comes down where there is nothing yet makes the whole body fall after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.stylized.reference import Moment
from surefoot.terrains.planes import Plane
from surefoot.terrains.platforms import Platform
from surefoot.terrains.profiles import Profile
from surefoot.terrains.solid import is_ground

if TYPE_CHECKING:
    from surefoot.scene import Scene

_ABOVE = 5.0  # [m] from where it is looked down
_NEAREST = 0.2  # [m] between feet: nearer ones tell nothing of a slope
_STEEPEST = 0.35  # rise over run
_SETTLES = 0.04  # [s] in which a rise is taken over
_DOWN = np.array([0.0, 0.0, -1.0])
_TRIED = np.array([0.0, 0.03, -0.03, 0.06, -0.06, 0.09, -0.09, 0.12, -0.12, 0.15, -0.15, 0.18])  # [m]
_SOLE = np.array([[0.22, 0.0], [-0.1, 0.0], [0.06, 0.07], [0.06, -0.07], [0.06, 0.0]])  # [m] from an ankle, with room
_EVEN = 0.012  # [m] out of a plane that a sole does not mind
_REACH = 0.08  # [m] around an ankle within which its sole lies
_AROUND = _REACH * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


class Ground:
    """Heights of a scene's ground, also of what moves of it."""

    def __init__(self, scene: Scene) -> None:
        """Of one scene."""
        self._terrain, model = scene.terrain, scene.model
        bodies = [body for body in range(1, model.nbody) if is_ground(model.body(body).name)]
        self._moving = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in bodies]
        self._model, ground = model, scene.terrain.ground
        self._fixed = not isinstance(ground, Platform) and not (isinstance(ground, Plane) and not ground.angle)
        self._edged = isinstance(ground, Profile)
        self.is_level = not self._fixed and not self._moving

    def heights(self, data: mujoco.MjData, places: np.ndarray) -> np.ndarray:
        """(n,) of the ground at places (n, 2) of the world, in the state that `data` is in [m]."""
        found = self._terrain.height(places[:, 0], places[:, 1]) if self._fixed else np.zeros(len(places))
        for geom in self._moving:
            place, axes, size = data.geom_xpos[geom], data.geom_xmat[geom], self._model.geom_size[geom]
            kind = int(self._model.geom_type[geom])
            for i, (x, y) in enumerate(places.tolist()):
                far = mujoco.mju_rayGeom(place, axes, size, np.array([x, y, _ABOVE]), _DOWN, kind, None)
                if far >= 0.0:
                    found[i] = max(found[i], _ABOVE - far)
        return found

    def rise(self, data: mujoco.MjData, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """(2,) rise along x and y from one place (3,) to another, over their distance [1]."""
        way = there[:2] - here[:2]
        low, high = self.heights(data, np.array([here[:2], there[:2]])).tolist()
        found = (high - low) * way / max(float(way @ way), _NEAREST**2)
        return np.asarray(found * min(1.0, _STEEPEST / max(float(np.linalg.norm(found)), 1e-9)))

    def lies(self, data: mujoco.MjData, places: np.ndarray) -> np.ndarray:
        """(n, 3, 3) turns of what lies on the ground at places (n, 3), on the gentler side of an edge."""
        points = places[:, None, :2] + _AROUND
        heights = self.heights(data, points.reshape(-1, 2)).reshape(len(places), 5)
        rises = (heights[:, 1:] - heights[:, :1]).reshape(-1, 2, 2) * [1.0, -1.0] / _REACH
        gentler = np.abs(rises).argmin(axis=2)
        slopes = np.clip(np.take_along_axis(rises, gentler[:, :, None], axis=2)[:, :, 0], -_STEEPEST, _STEEPEST)
        return np.array([_turned(x, y) for x, y in slopes.tolist()])

    def above(
        self, data: mujoco.MjData, place: np.ndarray, ahead: np.ndarray, stance: np.ndarray, rise: np.ndarray
    ) -> float:
        """By how much the ground below a sole is higher than a rise (2,) from the stance foot says, at most [m].

        Args:
            data: the state that the ground is in.
            place: (3,) of the sole's ankle.
            ahead: (2,) where it points.
            stance: (3,) of the stance ankle.
            rise: (2,) along x and y.
        """
        side = np.array([-ahead[1], ahead[0]])
        points = np.vstack([place[:2] + _SOLE[:, :1] * ahead + _SOLE[:, 1:] * side, stance[:2]])
        heights = self.heights(data, points) - points @ rise
        return max(0.0, float((heights[:-1] - heights[-1]).max()))

    def foothold(self, data: mujoco.MjData, place: np.ndarray, ahead: np.ndarray, way: np.ndarray) -> np.ndarray:
        """(2,) by how much a foot has to land elsewhere so that no edge is below its sole, or nothing if none is near.

        Args:
            data: the state that the ground is in.
            place: (3,) where its ankle comes to.
            ahead: (2,) where it points.
            way: (2,) of the step.
        """
        far = float(np.linalg.norm(way))
        if far < _NEAREST or not self._edged:
            return np.zeros(2)
        side = np.array([-ahead[1], ahead[0]])
        moves = _TRIED[:, None] * way / far
        points = (place[:2] + moves)[:, None] + _SOLE[:, :1] * ahead + _SOLE[:, 1:] * side
        h = self.heights(data, points.reshape(-1, 2)).reshape(len(moves), len(_SOLE))
        bent = np.maximum(np.abs(h[:, 0] + h[:, 1] - 2.0 * h[:, 4]), np.abs(h[:, 2] + h[:, 3] - 2.0 * h[:, 4]))
        good = np.flatnonzero(bent < _EVEN)
        return np.asarray(moves[good[0]]) if len(good) else np.zeros(2)


def _turned(x: float, y: float) -> np.ndarray:
    """(3, 3) the shortest turn from level to ground that rises by x and y."""
    up = np.array([-x, -y, 1.0]) / np.sqrt(1.0 + x * x + y * y)
    a, b, c = up.tolist()
    return np.array([
        [1.0 - a * a / (1.0 + c), -a * b / (1.0 + c), a], [-a * b / (1.0 + c), 1.0 - b * b / (1.0 + c), b], [-a, -b, c]
    ])  # fmt: skip


def taken_over(rise: np.ndarray, now: np.ndarray, seconds: float) -> np.ndarray:
    """(2,) a rise on its way to what it is now, after some time [s]."""
    return np.asarray(rise + (1.0 - np.exp(-seconds / _SETTLES)) * (now - rise))


def lay(moment: Moment, rise: np.ndarray, left: float, freedoms: int) -> None:
    """Move a moment's root, feet and centre of mass up by the rise of the ground below them.

    Args:
        moment: the reference over level ground, which is changed.
        rise: (2,) of the ground along x and y.
        left: share of the body that the left foot bears: nothing changes in the middle between them.
        freedoms: directions that the root moves along: x and up, or x, y and up.
    """
    middle, height = left * moment.ankles[0, :2] + (1.0 - left) * moment.ankles[1, :2], freedoms - 1
    along = rise[:height]
    moment.pose[height] += along @ (moment.pose[:height] - middle[:height])
    for change in (moment.rates, moment.accelerations):
        change[height] += along @ change[:height]
    moment.ankles[:, 2] += (moment.ankles[:, :2] - middle) @ rise
    moment.com[2] += (moment.com[:2] - middle) @ rise
    moment.com_velocity[2] += moment.com_velocity[:2] @ rise
    moment.twists[:, 2] += moment.twists[:, :2] @ rise
