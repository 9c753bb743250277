"""Motions of a plain body with known truth: a walk with planted feet, and hops with free fall."""

from __future__ import annotations

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion, Skeleton

THIGH, SHANK, ANKLE, TOE_FALL = 0.41, 0.44, 0.085, 0.052  # [m]
NAMES = (
    *("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase", "RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"),
    *("Spine", "Neck", "Head", "LeftArm", "LeftForeArm", "LeftHand", "RightArm", "RightForeArm", "RightHand"),
)
PARENTS = np.array([-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 9, 12, 13, 9, 15, 16])
_LEG = [[0.0, 0.1, -0.05], [0.0, 0.0, -THIGH], [0.0, 0.0, -SHANK], [0.15, 0.0, -TOE_FALL]]
_ARM = [[0.0, 0.18, 0.35], [0.0, 0.28, 0.0], [0.0, 0.25, 0.0]]
_RIGHT = np.array([1.0, -1.0, 1.0])
OFFSETS = np.concatenate(
    [
        [[0.0, 0.0, 0.0]],
        _LEG,
        _RIGHT * _LEG,
        [[0.0, 0.0, 0.1], [0.0, 0.0, 0.4], [0.0, 0.0, 0.1]],
        _ARM,
        _RIGHT * _ARM,
    ]
)
SKELETON = Skeleton(NAMES, PARENTS, OFFSETS)
STANCE = 0.62  # share of a stride


def _turn(angles: np.ndarray) -> np.ndarray:
    """(n, 4) rotations about the left axis."""
    return quat.exp(np.column_stack([np.zeros_like(angles), angles, np.zeros_like(angles)]))


def pose(time: np.ndarray, pelvis: np.ndarray, ankles: list[np.ndarray]) -> Motion:
    """A body with its pelvis at (n, 3) places and its ankles at (n, 2) x and z each, its feet level."""
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (len(time), len(NAMES), 1))
    for hip, ankle in zip((1, 5), ankles, strict=True):
        x, z = ankle[:, 0] - pelvis[:, 0], ankle[:, 1] - pelvis[:, 2] + 0.05
        far = np.hypot(x, z)
        bend = np.pi - np.arccos((THIGH**2 + SHANK**2 - far**2) / (2.0 * THIGH * SHANK))
        ahead = np.arccos((THIGH**2 + far**2 - SHANK**2) / (2.0 * THIGH * far))
        thigh = np.arctan2(-x, -z) - ahead
        for joint, angle in ((hip, thigh), (hip + 1, bend), (hip + 2, -thigh - bend)):
            rotations[:, joint] = _turn(angle)
    for arm, side in ((12, 1.0), (15, -1.0)):
        rotations[:, arm] = quat.multiply(
            _turn(0.4 * side * np.sin(5.6 * time)), quat.exp(np.array([[-1.4 * side, 0.0, 0.0]]))
        )
    return Motion(time, SKELETON, pelvis, rotations)


def walk(
    seconds: float = 5.0, fps: float = 120.0, speed: float = 1.1, stride: float = 1.12
) -> tuple[Motion, np.ndarray]:
    """A walk along x, and (n, 2) whether the left and the right foot are planted."""
    time = np.arange(round(seconds * fps)) / fps
    ankles, planted = [], []
    for late in (0.0, 0.5):
        count, phase = np.divmod(time / stride + late, 1.0)
        swing = np.clip((phase - STANCE) / (1.0 - STANCE), 0.0, 1.0)
        gone = swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2)
        middle = speed * stride * (count - late + 0.5 * STANCE)  # where the pelvis is in the middle of the stance
        ankles.append(np.column_stack([middle + speed * stride * gone, ANKLE + 1.6 * swing**2 * (1.0 - swing) ** 2]))
        planted.append(phase < STANCE)
    pelvis = np.column_stack([speed * time, 0.01 * np.sin(2.0 * np.pi * time / stride), np.full_like(time, 0.86)])
    return pose(time, pelvis, ankles), np.column_stack(planted)


def hops(fps: float = 120.0, flight: float = 0.36, stance: float = 0.31, count: int = 5) -> Motion:
    """Hops on the spot on both feet with rigid flights, after a moment of standing."""
    up = 0.5 * 9.81 * flight
    time = np.arange(round((count * (flight + stance) + 0.8) * fps)) / fps
    since = time - 0.8
    phase = np.where(since < 0.0, -1.0, since % (flight + stance))
    deep = np.where(phase < stance, -up * stance / np.pi * np.sin(np.pi * phase / stance), 0.0)
    air = np.maximum(phase - stance, 0.0)
    high = np.where(phase < 0.0, 0.0, deep + up * air - 0.5 * 9.81 * air**2)
    lift = np.where(phase >= stance, high, 0.0)
    foot = np.column_stack([np.zeros_like(time), ANKLE + lift])
    pelvis = np.column_stack([np.zeros_like(time), np.zeros_like(time), 0.93 + high])
    return pose(time, pelvis, [foot, foot])
