"""Closed-form inverse kinematics of legs.

`reach_ankle` serves cleaning: it moves a leg of a clip's own skeleton. The rest serves retargeting, where a leg belongs
to one of our characters and its knee bends about y: `ankle_goals` says where ankles belong, `root_correction` moves the
root towards that, `extend_leg` and `solve_leg` bend the leg for what is left, and `level_foot_above_ground` keeps the
sole out of the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import CharacterTable, Segment
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import LegJoints
from surefoot.motions.forward_kinematics import sole_depth_below_ankle, world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.segment_frames import LegFrames, align_direction
from surefoot.motions.signals import smoothstep

LONGEST_REACH = 0.9999  # of the length of thigh and shank: how far a leg of a clip is stretched
_BEND = 0.15  # [rad] a knee that is bent less rather bends about its usual axis

_NEAR, _FAR = 0.02, 0.12  # [leg lengths] of a sole above the ground: its position counts wholly below, not at all above
_EITHER = 0.1  # weight of the root's own path against the weights of the feet
_STIFF = 0.13  # [m/rad] a knee so straight that it changes the leg's reach by less is rather left straight
_STRAIGHT = 0.998  # of the length of thigh and shank: how far a leg of ours is stretched
_DEEP = 0.004  # [m] a sole may be below the ground
_HALVINGS = 12  # steps of the bisection that levels a foot


def reach_ankle(
    motion: Motion, limb: LegJoints, left: np.ndarray, ankle: np.ndarray, foot: np.ndarray, toe: np.ndarray
) -> np.ndarray:
    """Move one leg so that its ankle reaches a position, or comes as near as the leg is long.

    The knee bends in its own plane and the hip turns the shortest way.

    Args:
        motion: the motion so far.
        limb: the leg.
        left: (n, 3) vector from the right hip to the left one.
        ankle: (n, 3) wanted world position of the ankle [m].
        foot: (n, 4) wanted world orientation of the foot.
        toe: (n, 4) the same for the toes; ignored if there is no toe joint.

    Returns:
        (n, joints, 4) rotations of all joints.
    """
    places, turns = world_poses(motion)
    rotations, parents = motion.rotations.copy(), motion.skeleton.parents
    thigh = places[:, limb.knee] - places[:, limb.hip]
    shank = places[:, limb.ankle] - places[:, limb.knee]
    goal = ankle - places[:, limb.hip]
    a, b = np.linalg.norm(thigh, axis=1), np.linalg.norm(shank, axis=1)
    far = np.clip(np.linalg.norm(goal, axis=1), np.abs(a - b) + 1e-6, LONGEST_REACH * (a + b))
    cross = np.cross(thigh, shank)
    axis = quat.unit_vectors(cross + _BEND * (a * b)[:, None] * _usual_knee_axis(cross, turns[:, limb.hip], left))
    along = quat.unit_vectors(thigh)
    axis = quat.unit_vectors(axis - (axis * along).sum(axis=1, keepdims=True) * along)
    bent = np.arctan2((cross * axis).sum(axis=1), (thigh * shank).sum(axis=1))
    flex = quat.exp((_knee_bend(a, b, far) - bent)[:, None] * axis)
    swing = quat.shortest_rotation(thigh + quat.rotate(flex, shank), goal)
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


def _knee_bend(thigh: float | np.ndarray, shank: float | np.ndarray, reach: np.ndarray) -> np.ndarray:
    """(n,) angle between thigh and shank [rad] that puts the ankle at distances `reach` (n,) from the hip [m]."""
    return np.arccos(np.clip((reach**2 - thigh**2 - shank**2) / (2.0 * thigh * shank), -1.0, 1.0))


def _usual_knee_axis(cross: np.ndarray, hip: np.ndarray, left: np.ndarray) -> np.ndarray:
    """(n, 3) axis, fixed in the thigh, about which a knee mostly bends; the hips' line if the knee never bends."""
    own = quat.rotate(quat.inverse(hip), cross)
    bent = np.linalg.norm(cross, axis=1) > 0.5 * np.quantile(np.linalg.norm(cross, axis=1), 0.95)
    own = own[bent].mean(axis=0)
    if np.linalg.norm(own) < 1e-3 * np.linalg.norm(left[0]) ** 2:
        return quat.unit_vectors(left)
    return quat.rotate(hip, quat.unit_vectors(own)[None])


def _local(above: np.ndarray, turned: np.ndarray) -> np.ndarray:
    return quat.multiply(quat.inverse(above), turned)


@dataclass(frozen=True)
class LegBones:
    """A leg of a character: positions of hip, knee and ankle, each in the frame of the segment before [m]."""

    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray

    @property
    def length(self) -> float:
        """Thigh and shank together [m]."""
        return float(np.linalg.norm(self.knee) + np.linalg.norm(self.ankle))


def leg_bones_of(table: CharacterTable, side: int) -> LegBones:
    """The left (0) or right (1) leg of a character."""
    parts: dict[str, Segment] = {part.name: part for part in table.segments}
    leg = (table.anatomy.left, table.anatomy.right)[side]
    hip, knee, ankle = (np.asarray(parts[name].offset, float) for name in (leg.thigh, leg.shin, leg.foot))
    return LegBones(hip, knee, ankle)


def ground_weights(leg: LegFrames, leg_length: float) -> np.ndarray:
    """(n,) how much a foot's position counts: 1 near the ground, 0 far above it, smooth between."""
    return smoothstep((_FAR * leg_length - leg.clearance) / ((_FAR - _NEAR) * leg_length))


def root_correction(errors: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(n, 3) shift of the root that brings feet that count nearer to their goals [m].

    Args:
        errors: (2, n, 3) from the feet to their goals [m].
        counts: (2, n) weights of the feet.
    """
    total = counts.sum(axis=0)[:, None]
    lift = float((counts * errors[..., 2]).sum() / max(float(counts.sum()), 1e-9))  # constant, so it holds in flight
    moves = (counts[..., None] * (errors - [0.0, 0.0, lift])).sum(axis=0) / (total + _EITHER)
    return np.asarray(moves + np.array([0.0, 0.0, lift]))


def ankle_goals(table: CharacterTable, leg: LegFrames, scale: float, reach: float, hip: np.ndarray) -> np.ndarray:
    """(n, 3) goals of an ankle [m]: as far from the hip as in the clip, and as high above where it stands flat.

    Args:
        table: the character.
        leg: the clip's leg.
        scale: of heights, the same for both legs.
        reach: length of the character's leg [m]; horizontal distances are scaled by it over the length of the clip's.
        hip: (n, 3) position of the character's hip [m].
    """
    found = np.asarray(hip + reach / leg.length * (leg.ankle - leg.hip))
    found[:, 2] = table.sole_depth + scale * leg.rise
    return found


def level_foot_above_ground(table: CharacterTable, side: int, foot: np.ndarray, height: np.ndarray) -> np.ndarray:
    """(n, 3, 3) orientations of a foot, levelled just as far as its sole would otherwise be below the ground.

    A foot without toe joints rolls over its tip at a smaller pitch than one whose toes stay flat.

    Args:
        table: the character.
        side: left (0) or right (1).
        foot: (n, 3, 3) as in the clip.
        height: (n,) of the ankle above the ground [m].
    """
    flat = align_direction(foot[..., 2], np.tile([0.0, 0.0, 1.0], (len(foot), 1))) @ foot
    one, other = quat.from_matrices(foot), quat.from_matrices(flat)
    free, held = np.zeros(len(foot)), np.ones(len(foot))  # shares of the way to flat
    deep = sole_depth_below_ankle(table, side, foot) > height + _DEEP
    for _ in range(_HALVINGS):
        middle = 0.5 * (free + held)
        under = sole_depth_below_ankle(table, side, quat.to_matrices(quat.slerp(one, other, middle))) > height + _DEEP
        free, held = np.where(under, middle, free), np.where(under, held, middle)
    return np.where(deep[:, None, None], quat.to_matrices(quat.slerp(one, other, held)), foot)


def extend_leg(
    bones: LegBones, thigh: np.ndarray, shank: np.ndarray, farther: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Orientations (n, 3, 3) of thigh and shank that move the ankle by `farther` (n, 3) [m] as far as is easy."""
    turn = np.swapaxes(thigh, 1, 2) @ shank
    bend = np.arctan2(turn[:, 0, 2] - turn[:, 2, 0], turn[:, 0, 0] + turn[:, 2, 2])
    now = _ankle(bones, bend)
    goal = np.einsum("nij,nj->ni", thigh, now) + farther
    reach = np.linalg.norm(now, axis=1)
    slide = np.cross(np.tile([0.0, 1.0, 0.0], (len(now), 1)), now - bones.knee)  # of the ankle, per radian of bend
    pull = (slide * now).sum(axis=1) / reach  # [m/rad] how the leg's reach changes with its bend
    bend = bend + pull * (np.linalg.norm(goal, axis=1) - reach) / (pull**2 + _STIFF**2)
    thigh = align_direction(np.einsum("nij,nj->ni", thigh, _ankle(bones, bend)), goal) @ thigh
    return thigh, thigh @ quat.to_matrices(quat.about_axis(1, bend))


def solve_leg(bones: LegBones, thigh: np.ndarray, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orientations (n, 3, 3) of thigh and shank that put the ankle at goals (n, 3) relative to the hip [m].

    The knee points where it points in `thigh` (n, 3, 3). The leg points towards goals that are too far away.
    """
    one, other = (float(np.linalg.norm(bone)) for bone in (bones.knee, bones.ankle))
    reach = np.minimum(np.linalg.norm(goal, axis=1), _STRAIGHT * (one + other))
    rest = np.arctan2(bones.knee[0], bones.knee[2]) - np.arctan2(bones.ankle[0], bones.ankle[2])
    bend = rest + _knee_bend(one, other, reach)
    thigh = align_direction(np.einsum("nij,nj->ni", thigh, _ankle(bones, bend)), goal) @ thigh
    return thigh, thigh @ quat.to_matrices(quat.about_axis(1, bend))


def _ankle(bones: LegBones, bend: np.ndarray) -> np.ndarray:
    """(n, 3) position of the ankle in the thigh's frame for knee angles (n,) about y [rad]."""
    return np.asarray(bones.knee + quat.to_matrices(quat.about_axis(1, bend)) @ bones.ankle)
