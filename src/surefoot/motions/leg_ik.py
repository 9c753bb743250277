"""Analytic inverse kinematics of a leg: the ankle to a place, the foot and its toes to an orientation.

Feet where the clip has them: the root is moved and the legs bent, in closed form, for what lengths leave over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import CharacterTable, Segment
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import LegJoints
from surefoot.motions.forward_kinematics import from_matrices, sole_depth_below_ankle, to_matrices, world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.segment_frames import LegFrames, align_direction

LONGEST_REACH = 0.9999  # of the length of thigh and shank: how far a leg is stretched
_BEND = 0.15  # [rad] of bend below which a knee's usual axis counts more than that of its bend


def reach_ankle(
    motion: Motion, limb: LegJoints, left: np.ndarray, ankle: np.ndarray, foot: np.ndarray, toe: np.ndarray
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
    places, turns = world_poses(motion)
    rotations, parents = motion.rotations.copy(), motion.skeleton.parents
    thigh = places[:, limb.knee] - places[:, limb.hip]
    shank = places[:, limb.ankle] - places[:, limb.knee]
    goal = ankle - places[:, limb.hip]
    a, b = np.linalg.norm(thigh, axis=1), np.linalg.norm(shank, axis=1)
    far = np.clip(np.linalg.norm(goal, axis=1), np.abs(a - b) + 1e-6, LONGEST_REACH * (a + b))
    cross = np.cross(thigh, shank)
    axis = unit_vectors(cross + _BEND * (a * b)[:, None] * _usual(cross, turns[:, limb.hip], left))
    axis = unit_vectors(axis - (axis * unit_vectors(thigh)).sum(axis=1, keepdims=True) * unit_vectors(thigh))
    bent = np.arctan2((cross * axis).sum(axis=1), (thigh * shank).sum(axis=1))
    wanted = np.arccos(np.clip((far**2 - a**2 - b**2) / (2.0 * a * b), -1.0, 1.0))
    flex = quat.exp((wanted - bent)[:, None] * axis)
    swing = shortest_rotation(thigh + quat.rotate(flex, shank), goal)
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
        return unit_vectors(left)
    return quat.rotate(hip, unit_vectors(own)[None])


def shortest_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 4) the smallest rotations that turn the directions of (n, 3) `a` into those of `b`."""
    a, b = unit_vectors(a), unit_vectors(b)
    axis = np.cross(a, b)
    sine, cosine = np.linalg.norm(axis, axis=1, keepdims=True), (a * b).sum(axis=1, keepdims=True)
    return quat.exp(np.arctan2(sine, cosine) * unit_vectors(axis))


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """(n, 3) of length 1; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def _local(above: np.ndarray, turned: np.ndarray) -> np.ndarray:
    return quat.multiply(quat.inverse(above), turned)


_NEAR, _FAR = (
    0.02,
    0.12,
)  # [leg lengths] a sole is above the ground: below the one its place counts, above the other not
_EITHER = 0.1  # weight against which the feet's weights move the root
_STIFF = 0.13  # [m/rad] a knee so straight that it changes the leg's reach by less is rather left straight
_STRAIGHT = 0.998  # of a leg's longest reach that is used
_DEEP = 0.004  # [m] that a sole may be below the ground
_HALVINGS = 12  # of the search for how far a foot is levelled


@dataclass(frozen=True)
class LegBones:
    """A leg of ours: where its hip, knee and ankle are, each in the frame of the part before [m]."""

    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray

    @property
    def length(self) -> float:
        """Thigh and shank together [m]."""
        return float(np.linalg.norm(self.knee) + np.linalg.norm(self.ankle))


def leg_bones_of(table: CharacterTable, side: int) -> LegBones:
    """The leg of a side, left (0) or right (1)."""
    parts: dict[str, Segment] = {part.name: part for part in table.segments}
    leg = (table.anatomy.left, table.anatomy.right)[side]
    hip, knee, ankle = (np.asarray(parts[name].offset, float) for name in (leg.thigh, leg.shin, leg.foot))
    return LegBones(hip, knee, ankle)


def ground_weights(leg: LegFrames, leg_length: float) -> np.ndarray:
    """(n,) how much a foot's place counts: 1 near the ground, 0 far above it, smooth between."""
    share = np.clip((_FAR * leg_length - leg.clearance) / ((_FAR - _NEAR) * leg_length), 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def root_correction(errors: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(n, 3) how to move the root so that feet that count come nearer to their places.

    Args:
        errors: (2, n, 3) from where the feet are to where they should be [m].
        counts: (2, n) their weights.
    """
    total = counts.sum(axis=0)[:, None]
    lift = float((counts * errors[..., 2]).sum() / max(float(counts.sum()), 1e-9))  # holds in flight too
    moves = (counts[..., None] * (errors - [0.0, 0.0, lift])).sum(axis=0) / (total + _EITHER)
    return np.asarray(moves + np.array([0.0, 0.0, lift]))


def ankle_goals(table: CharacterTable, leg: LegFrames, scale: float, reach: float, hip: np.ndarray) -> np.ndarray:
    """(n, 3) where an ankle should be [m]: as far from its hip as in the clip, as far above where it stands flat.

    Heights are scaled alike for both legs; across the ground each leg is scaled by its own length, ours `reach` [m].
    """
    found = np.asarray(hip + reach / leg.length * (leg.ankle - leg.hip))
    found[:, 2] = table.sole_depth + scale * leg.rise
    return found


def level_foot_above_ground(table: CharacterTable, side: int, foot: np.ndarray, height: np.ndarray) -> np.ndarray:
    """(n, 3, 3) orientations of a foot, levelled as far as its sole would else be below the ground.

    A foot without toe joints that rolls over its tip is less steep than one whose toes stay flat behind it.

    Args:
        table: the body.
        side: left (0) or right (1).
        foot: (n, 3, 3) as in the clip.
        height: (n,) of the ankle above the ground [m].
    """
    flat = align_direction(foot[..., 2], np.tile([0.0, 0.0, 1.0], (len(foot), 1))) @ foot
    one, other = from_matrices(foot), from_matrices(flat)
    free, held = np.zeros(len(foot)), np.ones(len(foot))  # shares of the way to flat
    deep = sole_depth_below_ankle(table, side, foot) > height + _DEEP
    for _ in range(_HALVINGS):
        middle = 0.5 * (free + held)
        under = sole_depth_below_ankle(table, side, to_matrices(quat.slerp(one, other, middle))) > height + _DEEP
        free, held = np.where(under, middle, free), np.where(under, held, middle)
    return np.where(deep[:, None, None], to_matrices(quat.slerp(one, other, held)), foot)


def extend_leg(
    bones: LegBones, thigh: np.ndarray, shank: np.ndarray, farther: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Frames (n, 3, 3) of thigh and shank that carry the ankle a step (n, 3) [m] farther, as far as they easily can."""
    turn = np.swapaxes(thigh, 1, 2) @ shank
    bend = np.arctan2(turn[:, 0, 2] - turn[:, 2, 0], turn[:, 0, 0] + turn[:, 2, 2])
    now = _ankle(bones, bend)
    goal = np.einsum("nij,nj->ni", thigh, now) + farther
    reach = np.linalg.norm(now, axis=1)
    slide = np.cross(np.tile([0.0, 1.0, 0.0], (len(now), 1)), now - bones.knee)  # of the ankle, per radian of bend
    pull = (slide * now).sum(axis=1) / reach  # [m/rad] how the leg's reach changes with its bend
    bend = bend + pull * (np.linalg.norm(goal, axis=1) - reach) / (pull**2 + _STIFF**2)
    thigh = align_direction(np.einsum("nij,nj->ni", thigh, _ankle(bones, bend)), goal) @ thigh
    return thigh, thigh @ _about_y(bend)


def solve_leg(bones: LegBones, thigh: np.ndarray, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames (n, 3, 3) of thigh and shank with the ankle at goals (n, 3) from the hip [m], the knee ahead.

    `thigh` tells which way the knee looks; goals that are too far are pointed at.
    """
    one, other = (float(np.linalg.norm(bone)) for bone in (bones.knee, bones.ankle))
    reach = np.minimum(np.linalg.norm(goal, axis=1), _STRAIGHT * (one + other))
    cosine = np.clip((reach**2 - one**2 - other**2) / (2.0 * one * other), -1.0, 1.0)
    rest = np.arctan2(bones.knee[0], bones.knee[2]) - np.arctan2(bones.ankle[0], bones.ankle[2])
    bend = rest + np.arccos(cosine)
    thigh = align_direction(np.einsum("nij,nj->ni", thigh, _ankle(bones, bend)), goal) @ thigh
    return thigh, thigh @ _about_y(bend)


def _ankle(bones: LegBones, bend: np.ndarray) -> np.ndarray:
    """(n, 3) the ankle from the hip in the thigh's frame, for bends (n,) of the knee about y [rad]."""
    return np.asarray(bones.knee + _about_y(bend) @ bones.ankle)


def _about_y(angles: np.ndarray) -> np.ndarray:
    zeros = np.zeros_like(angles)
    return to_matrices(np.stack([np.cos(0.5 * angles), zeros, np.sin(0.5 * angles), zeros], axis=-1))
