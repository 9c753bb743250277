"""The 3D human of SIMBICON §7: 28 internal degrees of freedom, 34 in all, 89.57 kg."""

from __future__ import annotations

from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Gain,
    Segment,
    Shape,
    Side,
    Vector,
    hinges,
    limb_multipliers,
)

# Masses and principal inertias: da Silva, Abe, Popović 2008, Table 2, "3D SIMBICON". Its axes are x lateral,
# y up, z forward, its arms are stretched out sideways; ours are x forward, y left, z up, the arms hang down.
# Its hand inertias are those of a body a hundred times heavier and are divided by 100; the foot's missing
# value is taken to equal the other large one. Lengths: a person of 1.75 m; no paper prints them.
THIGH, SHIN, ANKLE_HEIGHT = 0.44, 0.43, 0.075  # [m]
HIP_HALF_WIDTH, WAIST, SHOULDER, NECK = 0.09, 0.15, 0.36, 0.42  # [m] waist above hips; the others above the waist
SHOULDER_HALF_WIDTH, UPPER_ARM, LOWER_ARM = 0.19, 0.30, 0.275  # [m]
HEEL, TOE, FOOT_HALF_WIDTH = -0.06, 0.164, 0.045  # [m] corners on which the sole bears, from the ankle
_SOLE_RADIUS = 0.012  # [m] rounds the sole's edges

_SKIN, _SHIRT, _TROUSERS = (0.87, 0.67, 0.55), (0.27, 0.45, 0.62), (0.24, 0.28, 0.36)
_LEFT, _RIGHT, _SHOE = (0.52, 0.62, 0.70), (0.86, 0.47, 0.27), (0.20, 0.20, 0.22)

# kp [N·m/rad] by kind of joint; kd = 0.1 kp and the torque limit is kp (SIMBICON §7: the waist has the
# largest gain, 1000, all others 300 or less).
_KP = {
    "waist": 1000.0, "hip": 300.0, "knee": 300.0, "ankle": 150.0,
    "neck": 50.0, "shoulder": 50.0, "elbow": 50.0, "wrist": 10.0,
}  # fmt: skip

_SIDE_ROLES = (
    "hip", "hip_roll", "hip_yaw", "knee", "ankle", "ankle_roll",
    "shoulder", "shoulder_roll", "shoulder_yaw", "elbow", "wrist",
)  # fmt: skip
_MIDDLE = ("waist", "waist_roll", "waist_yaw", "neck", "neck_roll", "neck_yaw")


def _leg(side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    sole = -ANKLE_HEIGHT + _SOLE_RADIUS
    soles = tuple(
        Shape((HEEL, y, sole), (TOE, y, sole), _SOLE_RADIUS, sole=True)
        for y in (sign * FOOT_HALF_WIDTH, -sign * FOOT_HALF_WIDTH)
    )
    return (
        Segment(
            f"{side}_thigh", "pelvis", (0.0, sign * HIP_HALF_WIDTH, 0.0),
            hinges(f"{side}_hip", sign, (-1.4, 2.6), (-0.7, 1.2), (-1.0, 1.0)),
            8.35, (0.0, 0.0, -THIGH / 2), (0.145, 0.145, 0.0085),
            (
                Shape((0.0, 0.0, -0.02), (0.0, 0.0, -0.26), 0.080, solid=False),
                Shape((0.0, 0.0, 0.0), (0.0, 0.0, -THIGH), 0.062),
            ), color,
        ),
        Segment(
            f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -THIGH), hinges(f"{side}_knee", sign, (-2.6, 0.0), None, None),
            4.16, (0.0, 0.0, -SHIN / 2), (0.069, 0.069, 0.0033),
            (
                Shape((-0.012, 0.0, -0.06), (-0.012, 0.0, -0.20), 0.055, solid=False),
                Shape((0.0, 0.0, 0.0), (0.0, 0.0, -SHIN + 0.02), 0.043),
            ), color,
        ),
        Segment(
            f"{side}_foot", f"{side}_shin", (0.0, 0.0, -SHIN),
            hinges(f"{side}_ankle", sign, (-1.0, 1.0), (-0.6, 0.6), None),
            1.34, (0.05, 0.0, -0.045), (0.00036, 0.0056, 0.0056),
            (
                *soles,
                Shape((HEEL + 0.04, 0.0, sole + 0.025), (0.02, 0.0, sole + 0.025), 0.038, solid=False),
                Shape((0.02, 0.0, sole + 0.02), (TOE - 0.04, 0.0, sole + 0.008), 0.032, solid=False),
            ), _SHOE, stretch=(1.0, 1.0, 0.0),
        ),
    )  # fmt: skip


def _arm(side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    return (
        Segment(
            f"{side}_upper_arm", "trunk", (0.0, sign * SHOULDER_HALF_WIDTH, SHOULDER),
            hinges(f"{side}_shoulder", sign, (-2.0, 3.2), (-0.6, 3.0), (-1.6, 1.6)),
            2.79, (0.0, 0.0, -UPPER_ARM / 2), (0.021, 0.021, 0.00056),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -UPPER_ARM), 0.043),), color,
        ),
        Segment(
            f"{side}_lower_arm", f"{side}_upper_arm", (0.0, 0.0, -UPPER_ARM),
            hinges(f"{side}_elbow", sign, (0.0, 2.6), None, None),
            1.21, (0.0, 0.0, -LOWER_ARM / 2), (0.0076, 0.0076, 0.00055),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -LOWER_ARM + 0.02), 0.034),), color,
        ),
        Segment(
            f"{side}_hand", f"{side}_lower_arm", (0.0, 0.0, -LOWER_ARM),
            hinges(f"{side}_wrist", sign, (-1.2, 1.2), None, None),
            0.55, (0.0, 0.0, -0.06), (0.0016, 0.002, 0.0005),
            (Shape((0.0, 0.0, -0.03), (0.01, 0.0, -0.11), 0.033),), _SKIN,
        ),
    )  # fmt: skip


def _middle() -> tuple[Segment, ...]:
    y = HIP_HALF_WIDTH
    return (
        Segment(
            "pelvis", "world", (0.0, 0.0, 0.0), (), 16.61, (0.0, 0.0, 0.05), (0.1882, 0.0996, 0.1284),
            (
                Shape((0.0, -y + 0.03, 0.0), (0.0, y - 0.03, 0.0), 0.085),
                Shape((0.0, -0.055, 0.08), (0.0, 0.055, 0.08), 0.090),
            ), _TROUSERS,
        ),
        Segment(
            "trunk", "pelvis", (0.0, 0.0, WAIST),
            hinges("waist", 1.0, (-1.4, 0.8), (-0.8, 0.8), (-1.0, 1.0)),
            29.27, (0.0, 0.0, 0.20), (0.568, 0.498, 0.285),
            (
                Shape((0.0, -0.055, 0.02), (0.0, 0.055, 0.02), 0.092),
                Shape((0.0, -0.065, 0.14), (0.0, 0.065, 0.14), 0.100),
                Shape((0.0, -0.085, 0.26), (0.0, 0.085, 0.26), 0.098),
                Shape((0.0, -0.13, SHOULDER - 0.005), (0.0, 0.13, SHOULDER - 0.005), 0.062),
            ), _SHIRT,
        ),
        Segment(
            "head", "trunk", (0.0, 0.0, NECK),
            hinges("neck", 1.0, (-0.9, 0.9), (-0.6, 0.6), (-1.2, 1.2)),
            6.89, (0.01, 0.0, 0.12), (0.0331, 0.0416, 0.0309),
            (
                Shape((0.0, 0.0, -0.02), (0.0, 0.0, 0.07), 0.050),
                Shape((0.012, 0.0, 0.125), (0.005, 0.0, 0.175), 0.085),
            ), _SKIN,
        ),
    )  # fmt: skip


def _side(side: str) -> Side:
    return Side(f"{side}_thigh", f"{side}_shin", f"{side}_foot", tuple(f"{side}_{role}" for role in _SIDE_ROLES))


def _gain(kind: str) -> Gain:
    kp = _KP[kind]
    return Gain(kp=kp, kd=0.1 * kp, limit=kp)


def table() -> CharacterTable:
    """The human as data."""
    anatomy = Anatomy(
        "pelvis", "trunk", _side("left"), _side("right"), _SIDE_ROLES, _MIDDLE, hip_hinges=3,
        upper=(*_SIDE_ROLES[6:], *_MIDDLE),
    )  # fmt: skip
    joints = (*anatomy.left.joints, *anatomy.right.joints, *_MIDDLE)
    parts = ("thigh", "shin", "foot", "upper_arm", "lower_arm", "hand")
    return CharacterTable(
        name="human",
        summary="3D human, 89.57 kg, 1.75 m, 28 actuated joints",
        root="free",
        segments=(
            *_middle(), *_leg("left", 1.0, _LEFT), *_leg("right", -1.0, _RIGHT),
            *_arm("left", 1.0, _LEFT), *_arm("right", -1.0, _RIGHT),
        ),
        anatomy=anatomy,
        gains={joint: _gain(joint.removeprefix("left_").removeprefix("right_").split("_")[0]) for joint in joints},
        torso_gain=_gain("waist"),
        hip_targets=(-1.2, 2.4),
        friction=0.8,
        timestep=0.001,
        source="SIMBICON §7; masses and inertias: da Silva, Abe, Popović 2008, Table 2",
        sole_depth=ANKLE_HEIGHT,
        armature=0.01,
        back=(-0.19, 0.0, 0.24),
        multipliers={
            "pelvis": ("pelvis",), "trunk": ("trunk",), "head": ("head",),
            **limb_multipliers(parts),
        },
    )  # fmt: skip
