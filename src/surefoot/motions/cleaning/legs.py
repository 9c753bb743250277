"""Analytic inverse kinematics of a leg: the ankle to a place, the foot and its toes to an orientation."""

from __future__ import annotations

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Limb
from surefoot.motions.places import world

REACH = 0.9999  # of the length of thigh and shank: how far a leg is stretched
_BEND = 0.15  # [rad] of bend below which a knee's usual axis counts more than that of its bend


def reach(
    motion: Motion, limb: Limb, left: np.ndarray, ankle: np.ndarray, foot: np.ndarray, toe: np.ndarray
) -> np.ndarray:
    """(n, joints, 4) rotations with one leg brought to where it is wanted, or as near as it reaches.

    The knee bends in its own plane and the hip turns the shortest way.

    Args:
        motion: where the leg is so far.
        limb: the leg.
        left: (n, 3) direction from the right hip to the left one.
        ankle: (n, 3) where the ankle shall be in the world [m].
        foot: (n, 4) how the foot shall be turned in the world.
        toe: (n, 4) the same for the toes; not used if there is no such joint.
    """
    places, turns = world(motion)
    rotations, parents = motion.rotations.copy(), motion.skeleton.parents
    thigh = places[:, limb.knee] - places[:, limb.hip]
    shank = places[:, limb.ankle] - places[:, limb.knee]
    goal = ankle - places[:, limb.hip]
    a, b = np.linalg.norm(thigh, axis=1), np.linalg.norm(shank, axis=1)
    far = np.clip(np.linalg.norm(goal, axis=1), np.abs(a - b) + 1e-6, REACH * (a + b))
    cross = np.cross(thigh, shank)
    axis = unit(cross + _BEND * (a * b)[:, None] * _usual(cross, turns[:, limb.hip], left))
    axis = unit(axis - (axis * unit(thigh)).sum(axis=1, keepdims=True) * unit(thigh))
    bent = np.arctan2((cross * axis).sum(axis=1), (thigh * shank).sum(axis=1))
    wanted = np.arccos(np.clip((far**2 - a**2 - b**2) / (2.0 * a * b), -1.0, 1.0))
    flex = quat.exp((wanted - bent)[:, None] * axis)
    swing = between(thigh + quat.rotate(flex, shank), goal)
    parent = parents[limb.hip]
    above = turns[:, parent] if parent >= 0 else np.tile([1.0, 0.0, 0.0, 0.0], (len(motion), 1))
    rotations[:, limb.hip] = _local(above, quat.multiply(swing, turns[:, limb.hip]))
    rotations[:, limb.knee] = _local(turns[:, parents[limb.knee]], quat.multiply(flex, turns[:, limb.knee]))
    moved = quat.multiply(quat.multiply(swing, flex), turns[:, parents[limb.ankle]])
    rotations[:, limb.ankle] = _local(moved, foot)
    if limb.toe is not None:
        change = quat.multiply(foot, quat.inverse(turns[:, limb.ankle]))
        rotations[:, limb.toe] = _local(quat.multiply(change, turns[:, parents[limb.toe]]), toe)
    return rotations


def _usual(cross: np.ndarray, hip: np.ndarray, left: np.ndarray) -> np.ndarray:
    """(n, 3) the axis about which a knee mostly bends, fixed in the thigh; the hips' where it never bends."""
    own = quat.rotate(quat.inverse(hip), cross)
    bent = np.linalg.norm(cross, axis=1) > 0.5 * np.quantile(np.linalg.norm(cross, axis=1), 0.95)
    own = own[bent].mean(axis=0)
    if np.linalg.norm(own) < 1e-3 * np.linalg.norm(left[0]) ** 2:
        return unit(left)
    return quat.rotate(hip, unit(own)[None])


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 4) the smallest rotations that turn the directions of (n, 3) `a` into those of `b`."""
    a, b = unit(a), unit(b)
    axis = np.cross(a, b)
    sine, cosine = np.linalg.norm(axis, axis=1, keepdims=True), (a * b).sum(axis=1, keepdims=True)
    return quat.exp(np.arctan2(sine, cosine) * unit(axis))


def unit(vectors: np.ndarray) -> np.ndarray:
    """(n, 3) of length 1; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def _local(above: np.ndarray, turned: np.ndarray) -> np.ndarray:
    return quat.multiply(quat.inverse(above), turned)
