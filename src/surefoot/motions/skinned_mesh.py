"""Which bones hold the vertices of a skin: each by one, and near a joint by the two that meet there.

A body as one skin over its bones, at rest: what rigged characters of other programs are made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.motions import meshes
from surefoot.motions import quaternions as quat
from surefoot.motions.fallback_mesh import fallback_meshes, rest_size
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.leaf_bones import leaf_bone_ends
from surefoot.motions.meshes import Color, TriangleMesh, meshes_of_body
from surefoot.motions.motion import Motion

_NEAR, _FAR = 1.5, 2.5  # [reaches] from a joint up to where its blend is whole, and from where on there is none


@dataclass(frozen=True)
class SkinWeights:
    """Of every vertex two joints (n, 2) and how much it follows each, weights (n, 2): 1 in all, the larger first."""

    joints: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class JointBlend:
    """Where a bone meets its parent: place (3,) [m], the way (3,) from the parent's side to the bone's, and reach [m].

    The blend goes from one bone to the other over one reach before the place to one reach behind it.
    """

    joint: int
    parent: int
    place: np.ndarray
    way: np.ndarray
    reach: float

    def share(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) what the farther bone has of points (n, 3) near the joint: 0 on the parent's side, 1 on its own."""
        along = (vertices - self.place) @ self.way
        return np.asarray(_smooth(0.5 + 0.5 * along / self.reach))

    def nearness(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) 1 for points (n, 3) near the joint, 0 for those far from it."""
        far = np.linalg.norm(vertices - self.place, axis=1) / self.reach
        return np.asarray(1.0 - _smooth((far - _NEAR) / (_FAR - _NEAR)))


def skin_weights(vertices: np.ndarray, joint: int, hinges: list[JointBlend]) -> SkinWeights:
    """Who holds points (n, 3) of a bone's own shape, given all hinges at rest.

    Where two hinges are equally near, as between the legs, none of them takes part.
    """
    best, second = np.zeros(len(vertices)), np.zeros(len(vertices))
    other = np.full(len(vertices), joint)
    for hinge in hinges:
        if joint not in (hinge.joint, hinge.parent):
            continue
        share, neighbour = hinge.share(vertices), hinge.joint
        if joint == hinge.joint:
            share, neighbour = 1.0 - share, hinge.parent
        share = share * hinge.nearness(vertices)
        better = share > best
        second = np.where(better, best, np.maximum(second, share))
        best, other = np.where(better, share, best), np.where(better, neighbour, other)
    shares = np.round(best - second, 6)
    joints = np.column_stack([np.full(len(vertices), joint), np.where(shares > 0.0, other, joint)])
    weights = np.column_stack([1.0 - shares, shares])
    order = np.argsort(-weights, axis=1, kind="stable")
    return SkinWeights(np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1))


def _smooth(values: np.ndarray) -> np.ndarray:
    """From 0 at 0 to 1 at 1 without a corner."""
    values = np.clip(values, 0.0, 1.0)
    return np.asarray(values * values * (3.0 - 2.0 * values))


_SPACING = 0.02  # [sizes] between rings of vertices
_REACH = (0.012, 0.06)  # [sizes] least and most over which two bones blend
_SHARE = 0.45  # of a bone: what a blend takes of it at most


@dataclass(frozen=True)
class Skin:
    """Everything in the world, the body standing at rest on z = 0 over the origin.

    At rest nothing is turned; a body from an MJCF file is in that file's own pose.
    """

    origin: np.ndarray  # (3,) the root's place [m]
    rotations: np.ndarray  # (joints, 4) at rest in the parent's frame, w first
    places: np.ndarray  # (joints, 3) [m]
    axes: np.ndarray  # (joints, 3, 3) of the joints' frames, in columns
    shapes: dict[Color, TriangleMesh]
    hold: dict[Color, SkinWeights]


def skin_of(motion: Motion) -> Skin:
    """The skin of a motion's body: round its simulated shapes, or round the bones of a stranger's skeleton."""
    skeleton, size = motion.skeleton, rest_size(motion.skeleton)
    own = [] if motion.scene is None else meshes_of_body(motion, motion.scene.model, _SPACING * size)
    if not any(own):
        own = fallback_meshes(motion, _SPACING * size)
    rotations = _rest(motion)
    still = Motion(np.zeros(1), skeleton, np.zeros((1, 3)), rotations[None])
    places, turns = (table[0] for table in world_poses(still))
    axes = np.stack([quat.rotate(turns, axis) for axis in np.eye(3)], axis=-1)
    placed = [
        {color: solid.placed(places[joint], axes[joint]) for color, solid in shapes.items()}
        for joint, shapes in enumerate(own)
    ]
    hinges = _hinges(motion, places, turns, placed, size)
    shapes: dict[Color, list[TriangleMesh]] = {}
    holds: dict[Color, list[SkinWeights]] = {}
    for joint, parts in enumerate(placed):
        for color, solid in parts.items():
            shapes.setdefault(color, []).append(solid)
            holds.setdefault(color, []).append(skin_weights(solid.vertices, joint, hinges))
    lift = np.array([0.0, 0.0, -min(float(s.vertices[:, 2].min()) for part in placed for s in part.values())])
    return Skin(
        lift,
        rotations,
        places + lift,
        axes,
        {color: meshes.merge_meshes(parts).placed(lift, np.eye(3)) for color, parts in shapes.items()},
        {
            color: SkinWeights(np.concatenate([h.joints for h in parts]), np.concatenate([h.weights for h in parts]))
            for color, parts in holds.items()
        },
    )


def _rest(motion: Motion) -> np.ndarray:
    """(joints, 4) rotations at rest."""
    found = np.tile([1.0, 0.0, 0.0, 0.0], (len(motion.skeleton.names), 1))
    if motion.scene is not None:
        model = motion.scene.model
        for joint, name in enumerate(motion.skeleton.names):
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            found[joint] = model.body_quat[body] if body > 0 else found[joint]
    return found


def _hinges(
    motion: Motion, places: np.ndarray, turns: np.ndarray, placed: list[dict[Color, TriangleMesh]], size: float
) -> list[JointBlend]:
    """A hinge for every joint but the root, in the half-way direction of the two bones that meet there."""
    parents, ends = motion.skeleton.parents, places + quat.rotate(turns, leaf_bone_ends(motion))
    found = []
    for joint, parent in enumerate(parents.tolist()):
        if parent < 0:
            continue
        children = np.flatnonzero(parents == joint)
        tip = places[children].mean(axis=0) if len(children) else ends[joint]
        on, before = tip - places[joint], places[joint] - places[parent]
        way = _unit(on) + _unit(before)
        way = _unit(way) if np.linalg.norm(way) > 0.3 else _unit(on)
        if not way.any():
            continue
        near = [np.linalg.norm(s.vertices - places[joint], axis=1).min() for s in placed[joint].values()]
        reach = float(np.clip(min(near, default=0.0), _REACH[0] * size, _REACH[1] * size))
        long = float(np.linalg.norm(on))
        found.append(JointBlend(joint, parent, places[joint], way, min(reach, _SHARE * long) if long > 1e-6 else reach))
    return found


def _unit(vector: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(vector))
    return np.asarray(vector / size if size > 1e-9 else np.zeros(3))
