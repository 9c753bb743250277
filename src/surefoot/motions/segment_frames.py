"""How the segments of a clip's body are oriented, in axes that mean the same for every skeleton.

Every frame is a rotation matrix from a segment's own axes to the world. In a common reference posture (upright, arms
and legs hanging, feet flat) all frames are equal: x forward, y left, z up. A limb's −z points along its bone; knees and
elbows bend about y. The reference posture is the clip's rest pose if that is upright, else its most upright frame.

`project_to_sagittal` prepares a clip for a planar character: every segment points where its bone's shadow on the
sagittal plane points. That plane turns slowly with the body, so that the twist of the pelvis within a step does not
count as a change of heading. Travel is measured along the heading, so that a clip that turns goes straight on, and
both hips lie in the middle between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import ArmJoints, BodyParts, LegJoints
from surefoot.motions.floor_fit import FloorPlane, fit_floor
from surefoot.motions.forward_kinematics import rest_positions, world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import frame_time

_TILTED = np.radians(30.0)  # a foot that stands farther than this from its rest pose makes its flat pose doubtful
_STEEP = 0.5  # least cosine between the vertical and the spine or a leg of an upright rest pose
_EASE = {-1.0: 0.25, 1.0: 0.1}  # sine of the bend from which on a knee (−1) or an elbow shows its limb's twist
_PRIOR = 0.02  # weight of the rest pose against frames of bent joints (their squared sines)
_SLOPING = 0.003  # rise by run of a floor that is worth a note
_SLOW = 0.6  # [s] over which the heading of a sagittal plane is averaged
_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class FlatFoot:
    """A foot that stands flat: its frame (3, 3), its toes', both in the joints' frames, and the ball's height [m]."""

    frame: np.ndarray
    toe_frame: np.ndarray
    ball_height: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class UprightPoses:
    """World positions of all joints, and their rotations from an upright reference posture that faces x."""

    places: np.ndarray  # (n, joints, 3) [m]
    turns: np.ndarray  # (n, joints, 4)
    reference: np.ndarray  # (joints, 3) positions in the reference posture [m]
    notes: tuple[str, ...]

    def frame(self, joint: int) -> np.ndarray:
        """(n, 3, 3) rotation of a joint from the reference posture."""
        return quat.to_matrices(self.turns[:, joint])

    def joint_distance(self, one: int, other: int) -> float:
        """Median distance of two joints [m]."""
        return float(np.median(np.linalg.norm(self.places[:, one] - self.places[:, other], axis=1)))

    def speed(self, motion: Motion, joint: int) -> np.ndarray:
        """(n,) speed of a joint [m/s]."""
        return np.asarray(np.linalg.norm(np.gradient(self.places[:, joint], motion.time, axis=0), axis=1))

    def flat_foot(self, limb: LegJoints, name: str, floor: FloorPlane, side: int) -> FlatFoot:
        """Measure a foot in the frames in which it stands still."""
        still, notes, toe_frame = floor.still[side], [], np.eye(3)
        up = np.median(self.frame(limb.ankle)[still, 2], axis=0)  # the vertical in the joint's frame
        up /= np.linalg.norm(up)
        if np.arccos(np.clip(up[2], -1.0, 1.0)) > _TILTED:
            notes.append(f"the {name} foot is never flat if the rest pose is right; its lowest pose counts as flat")
        if limb.toe is None:
            return FlatFoot(_upright(up, np.array([1.0, 0.0, 0.0])), toe_frame, 0.0, tuple(notes))
        frame = _upright(up, self.reference[limb.toe] - self.reference[limb.ankle])
        relative = np.swapaxes(self.frame(limb.toe), 1, 2)[still] @ self.frame(limb.ankle)[still]
        left, _, right = np.linalg.svd(np.median(relative, axis=0) @ frame)
        ball = self.places[still, limb.toe]
        return FlatFoot(frame, left @ right, float(np.median(ball[:, 2] - floor.height_at(ball))), tuple(notes))


def upright_poses_of(motion: Motion, parts: BodyParts) -> UprightPoses:
    """Poses relative to the rest pose if that is upright, else relative to the most upright frame."""
    skeleton = motion.skeleton
    places, turns = world_poses(motion)
    reference, basis, notes = rest_positions(skeleton), np.tile([1.0, 0.0, 0.0, 0.0], (len(skeleton.names), 1)), []
    if _uprightness(reference[None], parts)[0] < _STEEP:
        frame = int(np.argmax(_uprightness(places, parts)))
        reference, basis = places[frame], turns[frame]
        notes.append(f"the rest pose is not upright; the pose at {motion.time[frame]:.2f} s counts as upright")
    side = reference[parts.left.hip] - reference[parts.right.hip]
    facing = quat.about_vertical(np.array([np.arctan2(-side[0], side[1])]))
    reference = quat.rotate(quat.inverse(facing), reference - reference[parts.pelvis])
    back = quat.multiply(quat.inverse(basis), facing)  # from the reference posture's axes to a joint's own
    return UprightPoses(places, quat.make_continuous(quat.multiply(turns, back[None])), reference, tuple(notes))


def trunk_top(parts: BodyParts) -> int:
    """The joint at the upper end of the trunk."""
    if parts.neck:
        return parts.neck[0]
    return parts.head if parts.head is not None else parts.trunk[-1] if parts.trunk else parts.pelvis


def _uprightness(places: np.ndarray, parts: BodyParts) -> np.ndarray:
    """(n,) least cosine between the vertical and the spine or a leg."""
    spine = [(parts.pelvis, trunk_top(parts))] if trunk_top(parts) != parts.pelvis else []
    bones = [*spine, *((limb.ankle, limb.hip) for limb in (parts.left, parts.right))]
    found = []
    for low, high in bones:
        bone = places[:, high] - places[:, low]
        found.append(bone[:, 2] / np.maximum(np.linalg.norm(bone, axis=1), 1e-9))
    return np.asarray(np.min(found, axis=0))


def _upright(up: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(3, 3) rotation whose z is `up` and whose x is as near to `ahead` as possible."""
    forward = ahead - (ahead @ up) * up
    forward /= np.linalg.norm(forward)
    return np.column_stack([forward, np.cross(up, forward), up])


@dataclass(frozen=True)
class LegFrames:
    """World frames (n, 3, 3) of a leg's segments and positions (n, 3) of its joints [m]."""

    thigh: np.ndarray
    shank: np.ndarray
    foot: np.ndarray
    toes: np.ndarray | None
    hip: np.ndarray
    ankle: np.ndarray
    rise: np.ndarray  # (n,) height of the ankle above its height in a flat foot [m]
    clearance: np.ndarray  # (n,) the same for the lower one of heel and ball [m]
    speed: np.ndarray  # (n,) of the slower one of ankle and ball [m/s]
    length: float  # of thigh and shank together [m]


@dataclass(frozen=True)
class SegmentFrames:
    """World frames (n, 3, 3) of the whole body; an arm is None if the clip has none."""

    pelvis: np.ndarray
    belly: np.ndarray
    chest: np.ndarray
    trunk: np.ndarray  # as one segment from the pelvis to the neck
    head: np.ndarray
    legs: tuple[LegFrames, LegFrames]
    arms: tuple[tuple[np.ndarray, np.ndarray, np.ndarray] | None, ...]  # upper arm, forearm, hand
    leg_length: float  # [m]
    floor: np.ndarray  # (n,) height of the floor below the hips [m]
    notes: tuple[str, ...]


def segment_frames_of(motion: Motion, parts: BodyParts) -> SegmentFrames:
    """The frames of a clip.

    Args:
        motion: the clip.
        parts: which joint is which.

    Raises:
        OutputError: the clip has fewer than 3 frames.
    """
    if len(motion) < 3:
        raise OutputError(f"a clip needs at least 3 frames to be retargeted, this one has {len(motion)}")
    posture = upright_poses_of(motion, parts)
    notes = list(posture.notes)
    pelvis = posture.frame(parts.pelvis)
    chest_joint = parts.trunk[-1] if parts.trunk else parts.pelvis
    chest, base, top = posture.frame(chest_joint), parts.trunk[0] if parts.trunk else parts.pelvis, trunk_top(parts)
    trunk = (
        align_direction(chest[..., 2], posture.places[:, top] - posture.places[:, base]) @ chest
        if top != base
        else chest
    )
    head = chest if parts.head is None else posture.frame(parts.head)
    if len(parts.trunk) > 1:
        belly = posture.frame(parts.trunk[(len(parts.trunk) - 1) // 2])
    else:
        low, high = posture.turns[:, parts.pelvis], posture.turns[:, chest_joint]
        belly = quat.to_matrices(quat.slerp(low, high, np.array(0.5)))
    sides = ((parts.left, "left"), (parts.right, "right"))
    length = float(np.mean([_length(posture, limb) for limb, _ in sides]))
    ankles = [posture.places[:, limb.ankle] for limb, _ in sides]
    balls = [posture.places[:, limb.tip] for limb, _ in sides]
    floor = fit_floor(motion.time, ankles, balls, length)
    if np.linalg.norm(floor.slope) > _SLOPING:
        notes.append(f"the floor slopes by {100.0 * np.linalg.norm(floor.slope):.1f} %; the slope was removed")
    legs = [_leg(motion, posture, floor, side, limb, name, notes) for side, (limb, name) in enumerate(sides)]
    arms = [None if arm is None else _arm(posture, arm) for arm in (parts.left_arm, parts.right_arm)]
    below = floor.height_at(0.5 * (legs[0].hip + legs[1].hip))
    return SegmentFrames(
        pelvis, belly, chest, trunk, head, (legs[0], legs[1]), tuple(arms), length, below, tuple(notes)
    )  # fmt: skip


def _length(posture: UprightPoses, limb: LegJoints) -> float:
    return posture.joint_distance(limb.hip, limb.knee) + posture.joint_distance(limb.knee, limb.ankle)


def align_direction(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the smallest rotations that turn the directions of vectors (n, 3) into those of others."""
    return quat.to_matrices(quat.shortest_rotation(one, other))


def _limb(posture: UprightPoses, near: int, middle: int, far: int, bend: float) -> tuple[np.ndarray, np.ndarray]:
    """Frames of the two bones of a limb whose middle joint bends backward (−1, a knee) or forward (1, an elbow)."""
    rest = align_direction(_DOWN[None], (posture.reference[middle] - posture.reference[near])[None])[0]
    upper = posture.frame(near) @ rest
    bone = posture.places[:, middle] - posture.places[:, near]
    upper = align_direction(-upper[..., 2], bone) @ upper  # exact even if joints in between turn
    lower = posture.places[:, far] - posture.places[:, middle]
    lower = lower / np.linalg.norm(lower, axis=1, keepdims=True)
    across = bend * np.einsum("nij,ni->nj", upper, lower)[:, :2]  # the sine of the bend, forward and to the left
    total = np.linalg.norm(across, axis=1) @ across / len(across) + [_PRIOR, 0.0]
    upper = upper @ _twist(np.full(len(upper), np.arctan2(total[1], total[0])))
    across = bend * np.einsum("nij,ni->nj", upper, lower)[:, :2]
    ahead = np.maximum(across[:, 0], 0.0)
    upper = upper @ _twist(ahead * across[:, 1] / (ahead**2 + _EASE[bend] ** 2))
    return upper, align_direction(-upper[..., 2], lower) @ upper


def _leg(
    motion: Motion, posture: UprightPoses, floor: FloorPlane, side: int, limb: LegJoints, name: str, notes: list[str]
) -> LegFrames:
    thigh, shank = _limb(posture, limb.hip, limb.knee, limb.ankle, -1.0)
    flat, high = posture.flat_foot(limb, name, floor, side), floor.ankle_heights[side]
    notes += flat.notes
    foot, ankle = posture.frame(limb.ankle) @ flat.frame, posture.places[:, limb.ankle]
    above = ankle[:, 2] - floor.height_at(ankle)
    clearance, speed, toes = above - foot[:, 2, 2] * high, posture.speed(motion, limb.ankle), None
    if limb.toe is not None:
        ball = posture.places[:, limb.toe]
        clearance = np.minimum(clearance, ball[:, 2] - floor.height_at(ball) - foot[:, 2, 2] * flat.ball_height)
        speed = np.minimum(speed, posture.speed(motion, limb.toe))
        toes = posture.frame(limb.toe) @ flat.toe_frame
    hip, length = posture.places[:, limb.hip], _length(posture, limb)
    return LegFrames(thigh, shank, foot, toes, hip, ankle, above - high, clearance, speed, length)


def _arm(posture: UprightPoses, arm: ArmJoints) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    upper, fore = _limb(posture, arm.shoulder, arm.elbow, arm.wrist, 1.0)
    # the rotation of the hand relative to the forearm, in the axes of the forearm's frame
    rest = np.swapaxes(posture.frame(arm.elbow), 1, 2) @ posture.frame(arm.wrist)
    settled = align_direction(_DOWN[None], (posture.reference[arm.wrist] - posture.reference[arm.elbow])[None])[0]
    return upper, fore, fore @ settled.T @ rest @ settled


def _twist(angles: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations about z by angles (n,) [rad]."""
    return quat.to_matrices(quat.about_vertical(angles))


def project_to_sagittal(frames: SegmentFrames, time: np.ndarray) -> SegmentFrames:
    """Project a clip onto its sagittal plane, which becomes the plane y = 0.

    Args:
        frames: the clip.
        time: (n,) of its frames [s].
    """
    left, right = frames.legs
    middle, across = 0.5 * (left.hip + right.hip), left.hip - right.hip
    width = _SLOW / frame_time(time)
    heading = gaussian_filter1d(np.unwrap(np.arctan2(-across[:, 0], across[:, 1])), width, mode="nearest")
    ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)])
    steps = np.diff(middle, axis=0) * 0.5 * (ahead[1:] + ahead[:-1])
    way = np.concatenate([[0.0], np.cumsum(steps.sum(axis=1))])

    def pitched(angles: np.ndarray) -> np.ndarray:
        return quat.to_matrices(quat.about_axis(1, angles))

    def limb(frame: np.ndarray) -> np.ndarray:
        return pitched(np.arctan2((frame[..., 2] * ahead).sum(axis=1), frame[:, 2, 2]))

    def sole(frame: np.ndarray) -> np.ndarray:
        return pitched(np.arctan2(-frame[:, 2, 0], (frame[..., 0] * ahead).sum(axis=1)))

    def leg(one: LegFrames) -> LegFrames:
        toes, hip = None if one.toes is None else sole(one.toes), np.column_stack([way, 0.0 * way, middle[:, 2]])
        ankle = np.column_stack([way + ((one.ankle - middle) * ahead).sum(axis=1), 0.0 * way, one.ankle[:, 2]])
        return replace(
            one, thigh=limb(one.thigh), shank=limb(one.shank), foot=sole(one.foot), toes=toes, hip=hip, ankle=ankle
        )

    arms = tuple(None if arm is None else (limb(arm[0]), limb(arm[1]), limb(arm[2])) for arm in frames.arms)
    return replace(
        frames, pelvis=limb(frames.pelvis), belly=limb(frames.belly), chest=limb(frames.chest),
        trunk=limb(frames.trunk), head=limb(frames.head), legs=(leg(left), leg(right)), arms=arms,
    )  # fmt: skip
