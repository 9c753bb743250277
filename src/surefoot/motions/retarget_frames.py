"""How the parts of a clip's body are oriented, whatever its rest pose: frames that say the same for every skeleton.

Every frame is a rotation matrix from a part's own axes to the world. In the common reference posture (upright, arms
and legs hanging, feet flat) all of them are alike: x forward, y left, z up. A limb's −z points along its bone; knees
and elbows bend about y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.clip_floor import Floor, floor_of
from surefoot.motions.clip_posture import Posture, posture_of, top_of
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Arm, Limb, Parts
from surefoot.motions.retarget_pose import matrices

_EASE = {-1.0: 0.25, 1.0: 0.1}  # sine of the bend from which on a knee or an elbow tells how its limb is twisted
_PRIOR = 0.02  # weight of the rest pose against frames of bent joints (their squared sines)
_SLOPING = 0.003  # rise by run of a floor that is told
_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class Leg:
    """Frames (n, 3, 3) of a leg's parts and places (n, 3) of its joints in the world [m]."""

    thigh: np.ndarray
    shank: np.ndarray
    foot: np.ndarray
    toes: np.ndarray | None
    hip: np.ndarray
    ankle: np.ndarray
    rise: np.ndarray  # (n,) of the ankle above where it is while the foot is flat [m]
    clearance: np.ndarray  # (n,) of the lower of heel and ball above where they are then [m]
    speed: np.ndarray  # (n,) of the slower of ankle and ball [m/s]
    length: float  # of thigh and shank [m]


@dataclass(frozen=True)
class Frames:
    """The whole body; arms are None where the clip has none."""

    pelvis: np.ndarray
    belly: np.ndarray
    chest: np.ndarray
    trunk: np.ndarray  # one part from the pelvis to the neck
    head: np.ndarray
    legs: tuple[Leg, Leg]
    arms: tuple[tuple[np.ndarray, np.ndarray, np.ndarray] | None, ...]  # upper arm, forearm, hand
    leg_length: float  # [m]
    floor: np.ndarray  # (n,) its height below the hips [m]
    notes: tuple[str, ...]


def frames_of(motion: Motion, parts: Parts) -> Frames:
    """All frames of a clip whose joints are known."""
    if len(motion) < 3:
        raise OutputError(f"a clip needs at least 3 frames to be understood, this one has {len(motion)}")
    posture = posture_of(motion, parts)
    notes = list(posture.notes)
    pelvis = posture.frame(parts.pelvis)
    chest_joint = parts.trunk[-1] if parts.trunk else parts.pelvis
    chest, base, top = posture.frame(chest_joint), parts.trunk[0] if parts.trunk else parts.pelvis, top_of(parts)
    trunk = swung(chest[..., 2], posture.places[:, top] - posture.places[:, base]) @ chest if top != base else chest
    head = chest if parts.head is None else posture.frame(parts.head)
    if len(parts.trunk) > 1:
        belly = posture.frame(parts.trunk[(len(parts.trunk) - 1) // 2])
    else:
        belly = matrices(quat.slerp(posture.turn(parts.pelvis), posture.turn(chest_joint), np.array(0.5)))
    sides = ((parts.left, "left"), (parts.right, "right"))
    ends = [limb.ankle if limb.toe is None else limb.toe for limb, _ in sides]
    lengths = [posture.span(limb.hip, limb.knee) + posture.span(limb.knee, limb.ankle) for limb, _ in sides]
    length = float(np.mean(lengths))
    floor = floor_of(
        motion.time,
        [posture.places[:, limb.ankle] for limb, _ in sides],
        [posture.places[:, end] for end in ends],
        length,
    )
    if np.linalg.norm(floor.slope) > _SLOPING:
        notes.append(f"the floor slopes by {100.0 * np.linalg.norm(floor.slope):.1f} %, which is taken out")
    legs = [_leg(motion, posture, floor, side, limb, name, notes) for side, (limb, name) in enumerate(sides)]
    arms = [None if arm is None else _arm(posture, arm) for arm in (parts.left_arm, parts.right_arm)]
    return Frames(
        pelvis,
        belly,
        chest,
        trunk,
        head,
        (legs[0], legs[1]),
        tuple(arms),
        length,
        floor.below(0.5 * (legs[0].hip + legs[1].hip)),
        tuple(notes),
    )


def swung(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the shortest rotations that turn directions (n, 3) into others."""
    one, other = (v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12) for v in (one, other))
    half = np.concatenate([1.0 + (one * other).sum(axis=-1, keepdims=True), np.cross(one, other)], axis=-1)
    size = np.linalg.norm(half, axis=-1, keepdims=True)
    return matrices(np.where(size > 1e-9, half / np.maximum(size, 1e-9), [0.0, 1.0, 0.0, 0.0]))


def _limb(posture: Posture, near: int, middle: int, far: int, bend: float) -> tuple[np.ndarray, np.ndarray]:
    """Frames of the two bones of a limb whose middle joint bends backward (−1) or forward (1)."""
    rest = swung(_DOWN[None], (posture.reference[middle] - posture.reference[near])[None])[0]
    upper = posture.frame(near) @ rest
    bone = posture.places[:, middle] - posture.places[:, near]
    upper = swung(-upper[..., 2], bone) @ upper  # exact also where joints between the two turn
    lower = posture.places[:, far] - posture.places[:, middle]
    lower = lower / np.linalg.norm(lower, axis=1, keepdims=True)
    across = bend * np.einsum("nij,ni->nj", upper, lower)[:, :2]  # the sine of the bend, forward and to the left
    total = np.linalg.norm(across, axis=1) @ across / len(across) + [_PRIOR, 0.0]
    upper = upper @ _about_z(np.full(len(upper), np.arctan2(total[1], total[0])))
    across = bend * np.einsum("nij,ni->nj", upper, lower)[:, :2]
    ahead = np.maximum(across[:, 0], 0.0)
    upper = upper @ _about_z(ahead * across[:, 1] / (ahead**2 + _EASE[bend] ** 2))
    return upper, swung(-upper[..., 2], lower) @ upper


def _leg(motion: Motion, posture: Posture, floor: Floor, side: int, limb: Limb, name: str, notes: list[str]) -> Leg:
    thigh, shank = _limb(posture, limb.hip, limb.knee, limb.ankle, -1.0)
    flat, high = posture.flat_foot(limb, name, floor, side), floor.ankle_heights[side]
    notes += flat.notes
    foot, ankle = posture.frame(limb.ankle) @ flat.frame, posture.places[:, limb.ankle]
    above = ankle[:, 2] - floor.below(ankle)
    clearance, speed, toes = above - foot[:, 2, 2] * high, posture.speed(motion, limb.ankle), None
    if limb.toe is not None:
        ball = posture.places[:, limb.toe]
        clearance = np.minimum(clearance, ball[:, 2] - floor.below(ball) - foot[:, 2, 2] * flat.ball_height)
        speed = np.minimum(speed, posture.speed(motion, limb.toe))
        toes = posture.frame(limb.toe) @ flat.toe_frame
    length = posture.span(limb.hip, limb.knee) + posture.span(limb.knee, limb.ankle)
    return Leg(thigh, shank, foot, toes, posture.places[:, limb.hip], ankle, above - high, clearance, speed, length)


def _arm(posture: Posture, arm: Arm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    upper, fore = _limb(posture, arm.shoulder, arm.elbow, arm.wrist, 1.0)
    # the hand as it is to the forearm in the reference posture, seen from the forearm's own joint
    rest = np.swapaxes(posture.frame(arm.elbow), 1, 2) @ posture.frame(arm.wrist)
    settled = swung(_DOWN[None], (posture.reference[arm.wrist] - posture.reference[arm.elbow])[None])[0]
    return upper, fore, fore @ settled.T @ rest @ settled


def _about_z(angles: np.ndarray) -> np.ndarray:
    return matrices(quat.about_vertical(angles))
