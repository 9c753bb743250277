"""A reference adapted to uneven ground: raised by the slope from one foot to the next, with footholds off the edges.

The paper's controller learns about the ground by touching it. This one sees the ground where its foot is going to land
(`GroundQuery`), as the stepping controller does: a foot that comes down where there is nothing yet makes the whole body
fall after it.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from surefoot.controllers.base import ControlledScene
from surefoot.controllers.stylized.law import TrackerState
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame, Swing
from surefoot.terrains.ground_shapes import Plane, Platform, Profile, is_moving_ground

_ABOVE = 5.0  # [m] height from which rays look down
_STEEPEST = 0.35  # rise over run
_DOWN = np.array([0.0, 0.0, -1.0])
_REACH = 0.08  # [m] around an ankle within which its sole lies
_AROUND = _REACH * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_NEAREST = 0.2  # [m] between feet: nearer ones tell nothing of a slope
_SETTLES = 0.04  # [s] time constant with which a slope is taken over
_TRIED = np.array([0.0, 0.03, -0.03, 0.06, -0.06, 0.09, -0.09, 0.12, -0.12, 0.15, -0.15, 0.18])  # [m] farther
_SOLE = np.array([[0.22, 0.0], [-0.1, 0.0], [0.06, 0.07], [0.06, -0.07], [0.06, 0.0]])  # [m] from an ankle, with room
_EVEN = 0.012  # [m] out of a plane that a sole tolerates


class GroundQuery:
    """Heights of a scene's ground; moving parts of it are where they are in `data`.

    Attributes:
        is_level: whether all of it is level and at rest.
        has_edges: whether there may be edges.
    """

    def __init__(self, scene: ControlledScene, data: mujoco.MjData) -> None:
        """Look at one scene."""
        model, ground = scene.model, scene.terrain.ground
        self._terrain, self._model, self._data = scene.terrain, model, data
        bodies = [body for body in range(1, model.nbody) if is_moving_ground(model.body(body).name)]
        self._moving = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in bodies]
        self._on_fixed = not isinstance(ground, Platform)  # whether what moves stands on ground that does not
        self._fixed = self._on_fixed and not (isinstance(ground, Plane) and not ground.angle)
        self.is_level, self.has_edges = not self._fixed and not self._moving, isinstance(ground, Profile)

    def heights_at(self, places: np.ndarray) -> np.ndarray:
        """(n,) at places (n, 2) of the world [m]."""
        found = self._terrain.height(places[:, 0], places[:, 1]) if self._fixed else np.zeros(len(places))
        for geom in self._moving:
            place, axes, size = self._data.geom_xpos[geom], self._data.geom_xmat[geom], self._model.geom_size[geom]
            kind = int(self._model.geom_type[geom])
            for i, (x, y) in enumerate(places.tolist()):
                far = mujoco.mju_rayGeom(place, axes, size, np.array([x, y, _ABOVE]), _DOWN, kind, None)
                if far >= 0.0:
                    found[i] = max(found[i], _ABOVE - far) if self._on_fixed else _ABOVE - far
        return found

    def surface_rotations(self, places: np.ndarray) -> np.ndarray:
        """(n, 3, 3) from level to the surface at places (n, 3), on the gentler side of an edge."""
        points = places[:, None, :2] + _AROUND
        heights = self.heights_at(points.reshape(-1, 2)).reshape(len(places), 5)
        rises = (heights[:, 1:] - heights[:, :1]).reshape(-1, 2, 2) * [1.0, -1.0] / _REACH
        gentler = np.abs(rises).argmin(axis=2)
        slopes = np.clip(np.take_along_axis(rises, gentler[:, :, None], axis=2)[:, :, 0], -_STEEPEST, _STEEPEST)
        return np.array([_rotation_to_slope(x, y) for x, y in slopes.tolist()])


def _rotation_to_slope(x: float, y: float) -> np.ndarray:
    """(3, 3) the shortest rotation from level to ground that rises by x and y."""
    a, b, c = (np.array([-x, -y, 1.0]) / np.sqrt(1.0 + x * x + y * y)).tolist()
    return np.array([
        [1.0 - a * a / (1.0 + c), -a * b / (1.0 + c), a], [-a * b / (1.0 + c), 1.0 - b * b / (1.0 + c), b], [-a, -b, c]
    ])  # fmt: skip


class TerrainAdaptation:
    """Adapts the frames of a reference to the ground of one scene, at the state that its body is in."""

    def __init__(self, ground: GroundQuery, body: BodyDynamics) -> None:
        """Adapt to some ground."""
        self._ground, self._body, self._feet = ground, body, body.legs.feet

    def adapt_frame(
        self, frame: ReferenceFrame, state: TrackerState, left: float, swing: Swing, reference: Reference,
        seconds: float,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Raise a frame of a reference by the slope of the ground, in place; the row's state keeps the slope.

        The left foot carries a share of the body, and the frame is so many seconds after the last one.

        Returns:
            The orientation (3, 3) of each simulated foot relative to the ground below it.
        """
        body, places = self._body, self._body.xpos[self._feet]
        surfaces = self._ground.surface_rotations(places)
        frame.axes[:] = surfaces @ frame.axes
        here, there = places
        if swing.foot >= 0:
            here = places[1 - swing.foot]
            there = here + reference.stride(swing, state.heading)
        rise, now = np.array([state.rise_x, state.rise_y]), self._slope(here, there)
        rise += (1.0 - np.exp(-seconds / _SETTLES)) * (now - rise)
        state.rise_x, state.rise_y = rise.tolist()
        raise_by_slope(frame, rise, left, len(body.root_axes))
        if swing.foot >= 0:
            ahead = body.xmat[self._feet[swing.foot]][:2, 0]
            frame.ankles[swing.foot, 2] += self._height_above_slope(places[swing.foot], ahead, here, rise)
        axes = surfaces.transpose(0, 2, 1) @ body.xmat[self._feet]
        return axes[0], axes[1]

    def foothold_search(self, swing: Swing, stride: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function that finds footholds off the edges for a swing with a stride (3,) [m].

        It takes by how far (3,) the foot will land from its stride, and returns by how much farther (2,) it should.
        """
        foot, stance = self._feet[swing.foot], self._feet[1 - swing.foot]
        there, ahead = self._body.xpos[stance] + stride, self._body.xmat[foot][:2, 0]
        far, size = float(np.linalg.norm(stride[:2])), max(float(np.linalg.norm(ahead)), 1e-9)
        moves = _TRIED[:, None] * stride[:2] / max(far, 1e-9)
        sole = _sole_points(np.zeros(2), ahead / size)

        def elsewhere(move: np.ndarray) -> np.ndarray:
            if far < _NEAREST or not self._ground.has_edges:
                return np.zeros(2)
            points = (there[:2] + move[:2] + moves)[:, None] + sole
            h = self._ground.heights_at(points.reshape(-1, 2)).reshape(len(moves), len(_SOLE))
            bent = np.maximum(np.abs(h[:, 0] + h[:, 1] - 2.0 * h[:, 4]), np.abs(h[:, 2] + h[:, 3] - 2.0 * h[:, 4]))
            good = np.flatnonzero(bent < _EVEN)
            return np.asarray(moves[good[0]]) if len(good) else np.zeros(2)

        return elsewhere

    def _slope(self, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """(2,) rise over run along x and y from one place (3,) to another."""
        way = there[:2] - here[:2]
        low, high = self._ground.heights_at(np.array([here[:2], there[:2]])).tolist()
        found = (high - low) * way / max(float(way @ way), _NEAREST**2)
        return np.asarray(found * min(1.0, _STEEPEST / max(float(np.linalg.norm(found)), 1e-9)))

    def _height_above_slope(self, place: np.ndarray, ahead: np.ndarray, stance: np.ndarray, rise: np.ndarray) -> float:
        """By how much the ground below a sole is at most higher than a slope from the stance foot [m]."""
        points = np.vstack([_sole_points(place[:2], ahead), stance[:2]])
        heights = self._ground.heights_at(points) - points @ rise
        return max(0.0, float((heights[:-1] - heights[-1]).max()))


def raise_by_slope(frame: ReferenceFrame, rise: np.ndarray, left: float, slides: int) -> None:
    """Raise a frame's root, feet and center of mass by the rise of the ground below them, in place.

    Args:
        frame: the reference over level ground.
        rise: (2,) of the ground along x and y.
        left: share of the body that the left foot carries: nothing changes at that place between the feet.
        slides: directions that the root moves along: x and up, or x, y and up.
    """
    middle, height = left * frame.ankles[0, :2] + (1.0 - left) * frame.ankles[1, :2], slides - 1
    along = rise[:height]
    frame.pose[height] += along @ (frame.pose[:height] - middle[:height])
    for change in (frame.rates, frame.accelerations):
        change[height] += along @ change[:height]
    frame.ankles[:, 2] += (frame.ankles[:, :2] - middle) @ rise
    frame.com[2] += (frame.com[:2] - middle) @ rise
    frame.com_velocity[2] += frame.com_velocity[:2] @ rise
    frame.twists[:, 2] += frame.twists[:, :2] @ rise


def _sole_points(place: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(5, 2) points below a sole whose ankle is at a place (2,) and which points ahead (2,)."""
    return np.asarray(place + _SOLE[:, :1] * ahead + _SOLE[:, 1:] * np.array([-ahead[1], ahead[0]]))
