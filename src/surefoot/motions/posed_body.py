"""The shapes of a motion's body at any time, to be drawn: a simulated body, or a stick figure of a skeleton."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import body_parts
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import rest_positions, world_poses
from surefoot.motions.motion import Motion
from surefoot.terrains.balls import ball_bodies as balls_of
from surefoot.terrains.balls import is_parked
from surefoot.terrains.ground_shapes import PLATFORM_BODY as PLATFORM

Color = tuple[float, float, float]  # 0 … 1

_TRUNK, _NEAR, _FAR = (0.30, 0.42, 0.58), (0.86, 0.46, 0.26), (0.55, 0.62, 0.68)  # of stick figures
_LEG = 0.4  # of a stick figure's size: least length of its legs, in case its rest pose lies
_TURN = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])  # (40, 2)
_LATITUDES = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 21)


@dataclass(frozen=True)
class Shape:
    """The convex hull of balls of one radius [m] around world points (n, 3) [m]."""

    points: np.ndarray
    radius: float
    color: Color


@dataclass(frozen=True)
class Limb:
    """The shapes of one segment; `side` is 1 for left, −1 for right and 0 for neither."""

    shapes: tuple[Shape, ...]
    side: int


class PosedBody(Protocol):
    """Gives the shapes of a motion's body at any time, interpolated between frames."""

    motion: Motion

    def limbs(self, time: float) -> list[Limb]:
        """All segments at a time [s], the root's first."""

    def flying_balls(self, time: float) -> list[Limb]:
        """Thrown balls at a time [s], which do not count for the size of a picture."""


def posed_body_of(motion: Motion) -> PosedBody:
    """The simulated body of a motion, or a stick figure if only the skeleton is known.

    Raises:
        OutputError: the motion has no frames, or numbers that are not finite.
    """
    if not len(motion):
        raise OutputError("cannot draw a motion without frames")
    if not motion.is_finite:
        raise OutputError("cannot draw a motion with numbers that are not finite")
    if motion.scene is not None and motion.qpos.size:
        return _SimulatedBody(motion, motion.scene.model)
    return _StickFigure(motion)


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
            if body in (0, platform) or hull is None:  # the ground, even if it moves
                continue
            if model.geom_rgba[geom, 3] > 0.0:
                self._geoms.setdefault(body, []).append((geom, *hull))

    def limbs(self, time: float) -> list[Limb]:
        self._pose(time)
        return [self._limb(body) for body in self._geoms if body not in self._balls]

    def flying_balls(self, time: float) -> list[Limb]:
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
    """Poses a skeleton; a missing spine or missing toes are guessed from the length of its legs."""

    def __init__(self, motion: Motion) -> None:
        self.motion, skeleton = motion, motion.skeleton
        self._sides = body_parts.side_signs(skeleton.names)
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
        root, turns = (table[frame : frame + 2] for table in (self.motion.root_position, self.motion.rotations))
        turns = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
        rotations = quat.slerp(turns[0], turns[-1], np.array(share))
        now = Motion(np.zeros(1), self.motion.skeleton, root[:1] + share * (root[-1:] - root[:1]), rotations[None])
        (places,), (orientations,) = world_poses(now)
        limbs = []
        for place, axes, ends, side in zip(
            places, quat.to_matrices(orientations), self._ends, self._sides, strict=True
        ):
            color = (_TRUNK, _FAR, _NEAR)[side]
            sticks = [Shape(np.array([place, place + axes @ end]), self._radius, color) for end in ends]
            limbs.append(Limb((Shape(place[None], self._radius, color), *sticks), side))
        if self._head is not None:
            crown = places[0] + quat.rotate(orientations[0], self._head)
            head = Shape(crown[None], 3.4 * self._radius, _TRUNK)
            limbs[0] = Limb((*limbs[0].shapes, head), limbs[0].side)
        return limbs

    def flying_balls(self, time: float) -> list[Limb]:
        return []


def _between(times: np.ndarray, time: float) -> tuple[int, float]:
    """The frame before a time, and the share of the way to the next one."""
    frame = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 1))
    if frame == len(times) - 1:
        return frame, 0.0
    return frame, float(np.clip((time - times[frame]) / (times[frame + 1] - times[frame]), 0.0, 1.0))


def _hull(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, float] | None:
    """A geom as points in its own frame and a radius around them; None for types that bodies do not have."""
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
