"""A motion as an HTML file that plays it back: no server, no network, everything in one file."""

from __future__ import annotations

from typing import Protocol

import mujoco
import numpy as np
import viser
from scipy.ndimage import gaussian_filter1d

from surefoot.errors import OutputError
from surefoot.motions import meshes, painter, posed_body
from surefoot.motions.motion import Motion
from surefoot.motions.motion_editing import frame_rate, resample
from surefoot.studio.model_view import BodyView
from surefoot.studio.server import open_server
from surefoot.terrains.terrain import Terrain

FPS = 30.0  # at most
MAX_FRAMES = 20_000
_LAG = 0.25  # [s] over which the camera averages the body's position, before and after
_CELL, _MARGIN = 0.05, 4.0  # [m] between points of uneven ground, and how far it is drawn beyond the path
_MOST = 400_000  # points of uneven ground; a longer path has larger cells
_SOIL = (225, 221, 213)
_EYE = (0.45, -1.7, 0.3)  # from the point that is looked at to the camera, in body heights


class Drawn(Protocol):
    """A figure on the page."""

    def place(self, frame: int, origin: np.ndarray) -> None:
        """Move it to its pose in a frame, relative to an origin (3,) [m]."""


def webpage(motion: Motion) -> bytes:
    """An HTML file with a 3D view that can be turned, paused and rewound.

    The figure stays in the middle and the ground moves past; at most 30 frames a second are kept. A motion without a
    simulated body is drawn as a stick figure.

    Args:
        motion: what is played.

    Raises:
        OutputError: the motion has numbers that are not finite, or too many frames.
    """
    frame_rate(motion)
    if not (np.isfinite(motion.qpos).all() and np.isfinite(motion.root_position).all()):
        raise OutputError("cannot draw a motion with numbers that are not finite")
    fps = min(frame_rate(motion), FPS)
    even = resample(motion, fps, whole=True) if len(motion) > 1 else motion
    if len(even) > MAX_FRAMES:
        raise OutputError(f"a page has at most {MAX_FRAMES} frames, this motion takes {len(even)}")
    server = open_server("127.0.0.1", 0)  # local: the page is what it would have shown
    try:
        return _recorded(server, even, fps).encode()
    finally:
        server.stop()


def _recorded(server: viser.ViserServer, motion: Motion, fps: float) -> str:
    places = gaussian_filter1d(motion.root_position, _LAG * fps, axis=0, mode="nearest")
    places[:, 2] = gaussian_filter1d(
        painter.ground_heights(painter.terrain_of(motion), places), _LAG * fps, mode="nearest"
    )
    limbs = posed_body.posed_body_of(motion).limbs(float(motion.time[0]))
    low, high = painter.extent_along(limbs, 2)
    height = max(high - low, 0.5)
    middle = np.array([0.0, 0.0, 0.5 * height])
    server.initial_camera.look_at = tuple(middle)
    server.initial_camera.position = tuple(middle + height * np.array(_EYE))
    record = server.get_scene_serializer()
    below = _add_ground(server.scene, painter.terrain_of(motion), motion.root_position)
    drawn: Drawn
    if motion.scene is not None and motion.qpos.size:
        drawn = _Body(server.scene, motion, motion.scene.model)
    else:
        drawn = _Sticks(server.scene, motion)
    for frame, place in enumerate(places):
        drawn.place(frame, place)
        below.position = tuple(-place)
        record.insert_sleep(1.0 / fps)
    return record.as_html()


class _Body:
    """The simulated body and the things around it."""

    def __init__(self, scene: viser.SceneApi, motion: Motion, model: mujoco.MjModel) -> None:
        self._motion, self._model, self._data = motion, model, mujoco.MjData(model)
        self._figure = BodyView(scene, "/figure", model, set(range(1, model.nbody)))

    def place(self, frame: int, origin: np.ndarray) -> None:
        self._data.qpos[:] = self._motion.qpos[frame]
        mujoco.mj_kinematics(self._model, self._data)
        self._figure.update(self._data, origin)


class _Sticks:
    """A stick figure: a ball at every joint, a tube along every bone."""

    def __init__(self, scene: viser.SceneApi, motion: Motion) -> None:
        self._actor = posed_body.posed_body_of(motion)
        shapes = self._shapes(0)
        radii, colors = np.array([s.radius for s in shapes]), np.array([s.color for s in shapes])
        lengths = np.array([np.linalg.norm(s.points[-1] - s.points[0]) for s in shapes])
        ball, tube = meshes.ellipsoid_or_capsule(np.ones(3)), meshes.cylinder(1.0, 1.0)
        self._still = np.tile([1.0, 0.0, 0.0, 0.0], (len(shapes), 1))
        self._nodes = [
            scene.add_batched_meshes_simple(
                f"/figure/{name}", solid.vertices, solid.triangles, self._still, np.zeros((len(shapes), 3)),
                batched_scales=np.column_stack(scales), batched_colors=np.round(255.0 * colors).astype(np.uint8),
                lod="off",
            )
            for name, solid, scales in (
                ("balls", ball, (radii, radii, radii)), ("tubes", tube, (radii, radii, 0.5 * lengths + 1e-6)),
            )
        ]  # fmt: skip

    def _shapes(self, frame: int) -> list[posed_body.Shape]:
        limbs = self._actor.limbs(float(self._actor.motion.time[frame]))
        return [shape for limb in limbs for shape in limb.shapes]

    def place(self, frame: int, origin: np.ndarray) -> None:
        ends = np.array([(s.points[0], s.points[-1]) for s in self._shapes(frame)]) - origin  # (n, 2, 3)
        turns = self._still.copy()
        for turn, way in zip(turns, ends[:, 1] - ends[:, 0], strict=True):
            if way.any():
                mujoco.mju_quatZ2Vec(turn, way)
        balls, tubes = self._nodes
        balls.batched_positions = ends[:, 1].astype(np.float32)
        tubes.batched_positions = ends.mean(axis=1).astype(np.float32)
        tubes.batched_wxyzs = turns.astype(np.float32)


def _add_ground(scene: viser.SceneApi, terrain: Terrain | None, path: np.ndarray) -> viser.SceneNodeHandle:
    """A grid on level ground, a surface on uneven ground; moving ground is drawn as a body."""
    if terrain is not None and terrain.moves:
        return scene.add_frame("/ground", show_axes=False)
    if terrain is None or painter.is_flat(terrain):
        return scene.add_grid(
            "/ground", infinite_grid=True, cell_size=0.25, section_size=1.0, plane="xy", fade_distance=20.0
        )
    low, high = path[:, :2].min(axis=0) - _MARGIN, path[:, :2].max(axis=0) + _MARGIN
    cell = max(_CELL, float(np.sqrt(np.prod(high - low) / _MOST)))
    counts = np.ceil((high - low) / cell).astype(int) + 1
    x, y = np.meshgrid(low[0] + cell * np.arange(counts[0]), low[1] + cell * np.arange(counts[1]), indexing="ij")
    first = (np.arange(counts[0] - 1)[:, None] * counts[1] + np.arange(counts[1] - 1)).ravel()
    ahead = first + counts[1]
    faces = np.concatenate([np.stack([first, ahead, ahead + 1], 1), np.stack([first, ahead + 1, first + 1], 1)])
    points = np.stack([x, y, terrain.height(x, y)], axis=-1).reshape(-1, 3)
    return scene.add_mesh_simple("/ground", points.astype(np.float32), faces, color=_SOIL, flat_shading=True)
