"""A body as one skin over its bones, as rigged characters of other programs have it.

A vertex follows one bone; near a joint it follows both bones that meet there, with smoothly changing weights.
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
from surefoot.motions.signals import smoothstep

_NEAR, _FAR = 1.5, 2.5  # [reaches] from a joint: its blend is whole up to the first and vanishes at the second
_SPACING = 0.02  # [sizes] between rings of vertices
_REACH = (0.012, 0.06)  # [sizes] least and largest distance over which two bones blend
_SHARE = 0.45  # of a bone: largest part of it that blends


@dataclass(frozen=True)
class SkinWeights:
    """The two joints (n, 2) that each vertex follows, and their weights (n, 2), whose sum is 1; the larger is first."""

    joints: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class JointBlend:
    """The blend of a bone with its parent: place (3,) [m], direction (3,) from the parent to the bone, and reach [m].

    The blend extends from one reach before the place to one reach behind it.
    """

    joint: int
    parent: int
    place: np.ndarray
    way: np.ndarray
    reach: float

    def share(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) weight of the child bone at points (n, 3) near the joint: 0 on the parent's side, 1 on its own."""
        along = (vertices - self.place) @ self.way
        return smoothstep(0.5 + 0.5 * along / self.reach)

    def nearness(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) 1 for points (n, 3) near the joint, 0 for points far from it."""
        far = np.linalg.norm(vertices - self.place, axis=1) / self.reach
        return 1.0 - smoothstep((far - _NEAR) / (_FAR - _NEAR))


def skin_weights(vertices: np.ndarray, joint: int, blends: list[JointBlend]) -> SkinWeights:
    """The weights of points (n, 3) of a bone's own shape at rest, given the blends of all joints.

    Where two blends are equally near, as between the legs, neither counts.
    """
    best, second = np.zeros(len(vertices)), np.zeros(len(vertices))
    other = np.full(len(vertices), joint)
    for blend in blends:
        if joint not in (blend.joint, blend.parent):
            continue
        share, neighbour = blend.share(vertices), blend.joint
        if joint == blend.joint:
            share, neighbour = 1.0 - share, blend.parent
        share = share * blend.nearness(vertices)
        better = share > best
        second = np.where(better, best, np.maximum(second, share))
        best, other = np.where(better, share, best), np.where(better, neighbour, other)
    shares = np.round(best - second, 6)
    joints = np.column_stack([np.full(len(vertices), joint), np.where(shares > 0.0, other, joint)])
    weights = np.column_stack([1.0 - shares, shares])
    order = np.argsort(-weights, axis=1, kind="stable")
    return SkinWeights(np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1))


@dataclass(frozen=True)
class Skin:
    """A body at rest in the world, standing on z = 0 over the origin.

    At rest all rotations are zero; a body from an MJCF file is in that file's pose.
    """

    origin: np.ndarray  # (3,) position of the root [m]
    rotations: np.ndarray  # (joints, 4) at rest in the parent's frame, w first
    places: np.ndarray  # (joints, 3) [m]
    axes: np.ndarray  # (joints, 3, 3) orientations of the joints
    shapes: dict[Color, TriangleMesh]
    weights: dict[Color, SkinWeights]


def skin_of(motion: Motion) -> Skin:
    """The skin of a motion's body: around its simulated shapes, or around the bones if it has none.

    Args:
        motion: whose body it is.
    """
    skeleton, size = motion.skeleton, rest_size(motion.skeleton)
    own = [] if motion.scene is None else meshes_of_body(motion, motion.scene.model, _SPACING * size)
    if not any(own):
        own = fallback_meshes(motion, _SPACING * size)
    rotations = _rest(motion)
    still = Motion(np.zeros(1), skeleton, np.zeros((1, 3)), rotations[None])
    places, turns = (table[0] for table in world_poses(still))
    axes = quat.to_matrices(turns)
    placed = [
        {color: solid.transformed(places[joint], axes[joint]) for color, solid in shapes.items()}
        for joint, shapes in enumerate(own)
    ]
    blends = _blends(motion, places, turns, placed, size)
    shapes: dict[Color, list[TriangleMesh]] = {}
    weights: dict[Color, list[SkinWeights]] = {}
    for joint, parts in enumerate(placed):
        for color, solid in parts.items():
            shapes.setdefault(color, []).append(solid)
            weights.setdefault(color, []).append(skin_weights(solid.vertices, joint, blends))
    lift = np.array([0.0, 0.0, -min(float(s.vertices[:, 2].min()) for part in placed for s in part.values())])
    merged = {color: meshes.merge_meshes(parts).transformed(lift, np.eye(3)) for color, parts in shapes.items()}
    held = {
        color: SkinWeights(np.concatenate([w.joints for w in own]), np.concatenate([w.weights for w in own]))
        for color, own in weights.items()
    }
    return Skin(lift, rotations, places + lift, axes, merged, held)


def _rest(motion: Motion) -> np.ndarray:
    """(joints, 4) rotations at rest."""
    found = np.tile([1.0, 0.0, 0.0, 0.0], (len(motion.skeleton.names), 1))
    if motion.scene is not None:
        model = motion.scene.model
        for joint, name in enumerate(motion.skeleton.names):
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            found[joint] = model.body_quat[body] if body > 0 else found[joint]
    return found


def _blends(
    motion: Motion, places: np.ndarray, turns: np.ndarray, placed: list[dict[Color, TriangleMesh]], size: float
) -> list[JointBlend]:
    """The blends of all joints except the root, along the mean direction of the two bones that meet there."""
    parents, ends = motion.skeleton.parents, places + quat.rotate(turns, leaf_bone_ends(motion))
    found = []
    for joint, parent in enumerate(parents.tolist()):
        if parent < 0:
            continue
        children = np.flatnonzero(parents == joint)
        tip = places[children].mean(axis=0) if len(children) else ends[joint]
        on, before = tip - places[joint], places[joint] - places[parent]
        way = quat.unit_vectors(on) + quat.unit_vectors(before)
        way = quat.unit_vectors(way) if np.linalg.norm(way) > 0.3 else quat.unit_vectors(on)
        if not way.any():
            continue
        near = [np.linalg.norm(s.vertices - places[joint], axis=1).min() for s in placed[joint].values()]
        reach = float(np.clip(min(near, default=0.0), _REACH[0] * size, _REACH[1] * size))
        long = float(np.linalg.norm(on))
        found.append(JointBlend(joint, parent, places[joint], way, min(reach, _SHARE * long) if long > 1e-6 else reach))
    return found
