"""The ground as a character that looks at it sees it: heights of what is fixed and of what moves.

A reference laid on uneven ground: raised by the rise from one foot to the next, with footholds off the edges.

The paper's controller learns of the ground by touching it. This one sees it where its foot is going to land, as the
stepping controller does: a foot that comes down where there is nothing yet makes the whole body fall after it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame, Swing
from surefoot.terrains.ground_shapes import Plane, Platform, Profile, is_moving_ground

if TYPE_CHECKING:
    from surefoot.controllers.base import ControlledScene

_ABOVE = 5.0  # [m] from where it is looked down
_STEEPEST = 0.35  # rise over run
_DOWN = np.array([0.0, 0.0, -1.0])
_REACH = 0.08  # [m] around an ankle within which its sole lies
_AROUND = _REACH * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


class GroundQuery:
    """Heights of a scene's ground; of what moves of it, in the state that `data` is in.

    Attributes:
        is_level: whether there is nothing to see.
        has_edges: whether there may be edges.
    """

    def __init__(self, scene: ControlledScene, data: mujoco.MjData) -> None:
        """Of one scene."""
        model, ground = scene.model, scene.terrain.ground
        self._terrain, self._model, self._data = scene.terrain, model, data
        bodies = [body for body in range(1, model.nbody) if is_moving_ground(model.body(body).name)]
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


_NEAREST = 0.2  # [m] between feet: nearer ones tell nothing of a slope
_STEEPEST_RISE = 0.35  # rise over run
_SETTLES = 0.04  # [s] in which a rise is taken over
_TRIED = np.array([0.0, 0.03, -0.03, 0.06, -0.06, 0.09, -0.09, 0.12, -0.12, 0.15, -0.15, 0.18])  # [m] farther
_SOLE = np.array([[0.22, 0.0], [-0.1, 0.0], [0.06, 0.07], [0.06, -0.07], [0.06, 0.0]])  # [m] from an ankle, with room
_EVEN = 0.012  # [m] out of a plane that a sole does not mind


def terrain_adaptation(scene: ControlledScene, body: BodyDynamics, feet: list[int]) -> TerrainAdaptation | None:
    """What lays references on a scene's ground; nothing where that is level."""
    ground = GroundQuery(scene, body.data)
    return None if ground.is_level else TerrainAdaptation(ground, body, feet)


class TerrainAdaptation:
    """Lays the moments of a reference on the ground of one scene, in the state that its body is in."""

    def __init__(self, ground: GroundQuery, body: BodyDynamics, feet: list[int]) -> None:
        """Of one character."""
        self._ground, self._body, self._feet = ground, body, feet
        self._freedoms = 2 if body.planar else 3

    def lay(
        self,
        moment: ReferenceFrame,
        state: SimpleNamespace,
        left: float,
        swing: Swing,
        reference: Reference,
        seconds: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lay a moment on the ground, in place; returns the feet's axes (3, 3) as they are to the ground below them.

        Args:
            moment: the reference over level ground.
            state: of the row, with the rise as it was.
            left: share of the body that the left foot bears: nothing changes in the middle between the feet.
            swing: that the moment is in.
            reference: whose moment it is.
            seconds: since the last moment.
        """
        body, places = self._body, self._body.xpos[self._feet]
        lies = self._ground.lies(places)
        moment.axes[:] = lies @ moment.axes
        here, there = places
        if swing.foot >= 0:
            here = places[1 - swing.foot]
            there = here + reference.stride(swing, state.heading)
        rise, now = np.array([state.rise_x, state.rise_y]), self._rise(here, there)
        rise += (1.0 - np.exp(-seconds / _SETTLES)) * (now - rise)
        state.rise_x, state.rise_y = rise.tolist()
        raise_by_slope(moment, rise, left, self._freedoms)
        if swing.foot >= 0:
            ahead = body.xmat[self._feet[swing.foot]][:2, 0]
            moment.ankles[swing.foot, 2] += self._above(places[swing.foot], ahead, here, rise)
        axes = lies.transpose(0, 2, 1) @ body.xmat[self._feet]
        return axes[0], axes[1]

    def footholds(self, swing: Swing, stride: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """By how much farther (2,) a swing's foot lands that would land so far (3,) from its stride, off edges."""
        foot, stance = self._feet[swing.foot], self._feet[1 - swing.foot]
        there, ahead = self._body.xpos[stance] + stride, self._body.xmat[foot][:2, 0]
        far, size = float(np.linalg.norm(stride[:2])), max(float(np.linalg.norm(ahead)), 1e-9)
        moves = _TRIED[:, None] * stride[:2] / max(far, 1e-9)
        sole = _points(np.zeros(2), ahead / size)

        def elsewhere(move: np.ndarray) -> np.ndarray:
            if far < _NEAREST or not self._ground.has_edges:
                return np.zeros(2)
            points = (there[:2] + move[:2] + moves)[:, None] + sole
            h = self._ground.heights(points.reshape(-1, 2)).reshape(len(moves), len(_SOLE))
            bent = np.maximum(np.abs(h[:, 0] + h[:, 1] - 2.0 * h[:, 4]), np.abs(h[:, 2] + h[:, 3] - 2.0 * h[:, 4]))
            good = np.flatnonzero(bent < _EVEN)
            return np.asarray(moves[good[0]]) if len(good) else np.zeros(2)

        return elsewhere

    def _rise(self, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """(2,) rise along x and y from one place (3,) to another, over their distance [1]."""
        way = there[:2] - here[:2]
        low, high = self._ground.heights(np.array([here[:2], there[:2]])).tolist()
        found = (high - low) * way / max(float(way @ way), _NEAREST**2)
        return np.asarray(found * min(1.0, _STEEPEST_RISE / max(float(np.linalg.norm(found)), 1e-9)))

    def _above(self, place: np.ndarray, ahead: np.ndarray, stance: np.ndarray, rise: np.ndarray) -> float:
        """By how much the ground below a sole is at most higher than a rise from the stance foot says [m]."""
        points = np.vstack([_points(place[:2], ahead), stance[:2]])
        heights = self._ground.heights(points) - points @ rise
        return max(0.0, float((heights[:-1] - heights[-1]).max()))


def raise_by_slope(moment: ReferenceFrame, rise: np.ndarray, left: float, freedoms: int) -> None:
    """Move a moment's root, feet and centre of mass up by the rise of the ground below them, in place.

    Args:
        moment: the reference over level ground.
        rise: (2,) of the ground along x and y.
        left: share of the body that the left foot bears: nothing changes in the middle between the feet.
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


def _points(place: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(5, 2) points below a sole whose ankle is at a place (2,) and which points ahead (2,)."""
    return np.asarray(place + _SOLE[:, :1] * ahead + _SOLE[:, 1:] * np.array([-ahead[1], ahead[0]]))
