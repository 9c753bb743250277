"""Where the parts of a motion's body are at any time: what there is to draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import body_parts, forward_kinematics
from surefoot.motions.leaf_bones import rest_positions
from surefoot.motions.motion import Motion
from surefoot.terrains.balls import ball_bodies as balls_of
from surefoot.terrains.balls import is_parked
from surefoot.terrains.ground_shapes import PLATFORM_BODY as PLATFORM

Color = tuple[float, float, float]  # 0 … 1

_TRUNK, _NEAR, _FAR = (0.30, 0.42, 0.58), (0.86, 0.46, 0.26), (0.55, 0.62, 0.68)  # of stick figures
_LEG = 0.4  # of a stick figure's size: what its legs have at least, though its rest pose may lie
_TURN = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])  # (40, 2)
_LATITUDES = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 21)


@dataclass(frozen=True)
class Shape:
    """The convex hull of balls of one radius [m] around points (n, 3) of the world."""

    points: np.ndarray
    radius: float
    color: Color


@dataclass(frozen=True)
class Limb:
    """A body's shapes; `side` is 1 for the left, −1 for the right and 0 for neither."""

    shapes: tuple[Shape, ...]
    side: int


class PosedBody(Protocol):
    """Knows where a motion's body is at any time; between frames it is interpolated."""

    motion: Motion

    def limbs(self, time: float) -> list[Limb]:
        """All parts at a time [s], the root's first."""

    def passing(self, time: float) -> list[Limb]:
        """Balls that fly at a time [s]: they are no reason to look farther."""


def posed_body_of(motion: Motion) -> PosedBody:
    """The body a motion was simulated with, or a stick figure where only a skeleton is known."""
    if not len(motion):
        raise OutputError("cannot draw a motion without frames")
    if not (np.isfinite(motion.root_position).all() and np.isfinite(motion.rotations).all()):
        raise OutputError("cannot draw a motion with numbers that are not finite")
    return (
        _SimulatedBody(motion, motion.scene.model)
        if motion.scene is not None and motion.qpos.size
        else _StickFigure(motion)
    )


class _SimulatedBody:
    """Poses the scene's own model."""

    def __init__(self, motion: Motion, model: mujoco.MjModel) -> None:
        self.motion, self._model = motion, model
        self._data, self._step = mujoco.MjData(model), np.zeros(model.nv)
        self._balls = balls_of(model)
        self._sides = body_parts.side_signs(tuple(model.body(i).name for i in range(model.nbody)))
        platform = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, PLATFORM)
        self._geoms: dict[int, list[tuple[int, np.ndarray, float]]] = {}  # by body
        for geom in range(model.ngeom):
            body, hull = int(model.geom_bodyid[geom]), _hull(model, geom)
            if body in (0, platform) or hull is None:  # the ground, also where it moves
                continue
            if model.geom_rgba[geom, 3] > 0.0:
                self._geoms.setdefault(body, []).append((geom, *hull))

    def limbs(self, time: float) -> list[Limb]:
        self._pose(time)
        return [self._limb(body) for body in self._geoms if body not in self._balls]

    def passing(self, time: float) -> list[Limb]:
        self._pose(time)
        return [self._limb(body) for body in self._balls if not is_parked(self._data.xpos[body])]

    def _pose(self, time: float) -> None:
        frame, share = _between(self.motion.time, time)
        qpos = self.motion.qpos[frame].copy()
        if share:
            mujoco.mj_differentiatePos(self._model, self._step, 1.0, qpos, self.motion.qpos[frame + 1])
            mujoco.mj_integratePos(self._model, qpos, self._step, share)
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)

    def _limb(self, body: int) -> Limb:
        return Limb(tuple(self._shape(*geom) for geom in self._geoms[body]), self._sides[body])

    def _shape(self, geom: int, points: np.ndarray, radius: float) -> Shape:
        axes, color = self._data.geom_xmat[geom].reshape(3, 3), self._model.geom_rgba[geom]
        return Shape(self._data.geom_xpos[geom] + points @ axes.T, radius, (color[0], color[1], color[2]))


class _StickFigure:
    """Poses a skeleton; where it has no spine or no toes, they are guessed from the length of its legs."""

    def __init__(self, motion: Motion) -> None:
        self.motion, skeleton = motion, motion.skeleton
        self._order, self._sides = forward_kinematics.parents_first(skeleton), body_parts.side_signs(skeleton.names)
        ends = [list(skeleton.offsets[skeleton.parents == joint]) for joint in range(len(skeleton.names))]
        rest = rest_positions(skeleton)
        size = float(np.ptp(rest, axis=0).max())
        leg = max(-float(rest[:, 2].min()), _LEG * size, 0.1)
        self._radius = 0.032 * leg
        self._head: np.ndarray | None = None
        if rest[:, 2].max() < 0.05 and -rest[:, 2].min() > 0.9 * size:
            ends[0].append(np.array([0.0, 0.0, 0.55 * leg]))
            self._head = np.array([0.0, 0.0, 0.72 * leg])
        for joint in range(1, len(ends)):
            if not ends[joint] and rest[joint, 2] < -0.9 * leg:
                ends[joint].append(np.array([0.13 * leg, 0.0, -0.01 * leg]))
        self._ends = [np.array(e).reshape(-1, 3) for e in ends]

    def limbs(self, time: float) -> list[Limb]:
        frame, share = _between(self.motion.time, time)
        root = self.motion.root_position[frame : frame + 2]
        rotations = self.motion.rotations[frame : frame + 2]
        skeleton, limbs = self.motion.skeleton, dict[int, Limb]()
        poses: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for joint in self._order:
            place, axes = (
                root[0] + share * (root[-1] - root[0]),
                _matrix(rotations[0, joint], rotations[-1, joint], share),
            )
            if skeleton.parents[joint] >= 0:
                origin, parent = poses[skeleton.parents[joint]]
                place, axes = origin + parent @ skeleton.offsets[joint], parent @ axes
            poses[joint] = (place, axes)
            side = self._sides[joint]
            color = (_TRUNK, _FAR, _NEAR)[side]
            sticks = [Shape(np.array([place, place + axes @ end]), self._radius, color) for end in self._ends[joint]]
            limbs[joint] = Limb((Shape(place[None], self._radius, color), *sticks), side)
        if self._head is not None:
            origin, axes = poses[0]
            head = Shape((origin + axes @ self._head)[None], 3.4 * self._radius, _TRUNK)
            limbs[0] = Limb((*limbs[0].shapes, head), limbs[0].side)
        return [limbs[joint] for joint in range(len(limbs))]

    def passing(self, time: float) -> list[Limb]:
        return []


def _matrix(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """(3, 3) the rotation on the way from one quaternion to another."""
    quat, flat = (1.0 - share) * one + share * math.copysign(1.0, one @ other) * other, np.empty(9)
    mujoco.mju_quat2Mat(flat, quat / np.linalg.norm(quat))
    return flat.reshape(3, 3)


def _between(times: np.ndarray, time: float) -> tuple[int, float]:
    """The frame before a time and how far towards the next one it is."""
    frame = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 1))
    if frame == len(times) - 1:
        return frame, 0.0
    return frame, float(np.clip((time - times[frame]) / (times[frame + 1] - times[frame]), 0.0, 1.0))


def _hull(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, float] | None:
    """A geom as points of its own frame and a radius around them; None for what bodies are not made of."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.zeros((1, 3)), float(size[0])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return size * (2.0 * np.indices((2, 2, 2)).reshape(3, 8).T - 1.0), 0.0
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        ends = [np.column_stack([size[0] * _CIRCLE, np.full(len(_CIRCLE), z)]) for z in (-size[1], size[1])]
        return np.vstack(ends), 0.0
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        rings = [np.column_stack([math.cos(a) * _CIRCLE, np.full(len(_CIRCLE), math.sin(a))]) for a in _LATITUDES]
        return size * np.vstack(rings), 0.0
    return None
