"""The 3D body of "Watch your step" (Kenwright): 30 internal degrees of freedom, 36 in all, 89.5 kg, 1.7 m.

Its Table 1 prints joint limits, masses and centres of mass with the arms stretched out sideways, x lateral, y up and z
forward; here x is forward, y left, z up, and the arms hang. Lengths follow from the centres of mass, taken as the
middles of the limbs; the rows of shin and foot are exchanged there. Inertias are those of boxes (figure 24).
"""

from __future__ import annotations

import math

from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Gain,
    Hinge,
    Segment,
    Shape,
    Vector,
    hinges,
    limb_multipliers,
    sole_edges,
    without_side,
)

HIP_HEIGHT, KNEE_HEIGHT, ANKLE_HEIGHT = 0.91, 0.45, 0.07  # [m] middles: 0.68 of the thigh, 0.26 of the shin
HIP_HALF_WIDTH, WAIST_HEIGHT, SHOULDER_HEIGHT, NECK_HEIGHT, HEIGHT = 0.06, 1.12, 1.41, 1.48, 1.70  # [m]
SHOULDER_HALF_WIDTH, UPPER_ARM, LOWER_ARM, HAND = 0.16, 0.28, 0.26, 0.20  # [m] middles: 0.30, 0.57 and 0.80
HEEL, TOE, FOOT_HALF_WIDTH = -0.06, 0.18, 0.045  # [m] from the ankle; the foot's centre of mass is 0.06 ahead
_SOLE_RADIUS = 0.012  # [m] rounds the sole's edges
TORQUE_LIMIT, FRICTION = 500.0, 1.0  # [N·m], §5

_SKIN, _SHIRT, _TROUSERS = (0.85, 0.66, 0.54), (0.46, 0.55, 0.36), (0.30, 0.28, 0.33)
_LEFT, _RIGHT, _SHOE = (0.55, 0.64, 0.58), (0.84, 0.52, 0.30), (0.20, 0.20, 0.22)

# Table 2: kp, and its factors for flexion, roll and yaw (X, Z and Y there; for arms that hang, Y is flexion).
_KP: dict[str, tuple[float, float, float, float]] = {
    "waist": (900.0, 0.6, 1.0, 1.0), "hip": (350.0, 1.0, 1.0, 0.5), "knee": (320.0, 1.0, 1.0, 1.0),
    "ankle": (120.0, 1.0, 0.5, 1.0), "shoulder": (110.0, 1.0, 1.0, 0.5), "wrist": (30.0, 1.0, 1.0, 0.5),
    "neck": (110.0, 1.0, 1.0, 0.5), "elbow": (105.0, 1.0, 1.0, 0.5),
}  # fmt: skip
CONTACT_SCALE = {"ankle": 4.0, "shoulder": 2.0, "wrist": 5.0, "elbow": 2.0}
"""Table 2: how many times stiffer a joint is while the limb below it is in contact."""

_SIDE_ROLES = (
    "hip", "hip_roll", "hip_yaw", "knee", "ankle", "ankle_roll",
    "shoulder", "shoulder_roll", "elbow", "wrist", "wrist_roll", "wrist_yaw",
)  # fmt: skip
_MIDDLE = ("waist", "waist_roll", "waist_yaw", "neck", "neck_roll", "neck_yaw")


def _degrees(low: float, high: float) -> tuple[float, float]:
    return math.radians(low), math.radians(high)


def _box(mass: float, x: float, y: float, z: float) -> Vector:
    """Moments of inertia of a box of these sides [m] about its middle."""
    k = mass / 12.0
    return k * (y * y + z * z), k * (x * x + z * z), k * (x * x + y * y)


def _leg(side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    thigh, shin, sole = HIP_HEIGHT - KNEE_HEIGHT, KNEE_HEIGHT - ANKLE_HEIGHT, -ANKLE_HEIGHT + _SOLE_RADIUS
    return (
        Segment(
            f"{side}_thigh", "pelvis", (0.0, sign * HIP_HALF_WIDTH, 0.0),
            # the paper prints a yaw of −130° … 30° for one leg; here it counts outward
            hinges(f"{side}_hip", sign, _degrees(-40, 170), _degrees(-25, 25), _degrees(-30, 130)),
            8.7, (0.0, 0.0, -thigh / 2), _box(8.7, 0.14, 0.12, thigh),
            (Shape((0.0, 0.0, -0.02), (0.0, 0.0, -thigh), 0.058),), color,
        ),
        Segment(
            f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -thigh),
            hinges(f"{side}_knee", sign, _degrees(-160, 0)),
            3.7, (0.0, 0.0, -shin / 2), _box(3.7, 0.10, 0.09, shin),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -shin + 0.02), 0.043),), color,
        ),
        Segment(
            f"{side}_foot", f"{side}_shin", (0.0, 0.0, -shin),
            # the printed roll of 0° … 30° would keep a foot from lying flat on a cross slope: both senses are allowed
            hinges(f"{side}_ankle", sign, _degrees(-40, 40), _degrees(-30, 30)),
            1.4, (0.06, 0.0, 0.02 - ANKLE_HEIGHT), _box(1.4, TOE - HEEL, 2 * FOOT_HALF_WIDTH, 0.06),
            (
                *sole_edges(HEEL, TOE, sign * FOOT_HALF_WIDTH, sole, _SOLE_RADIUS),
                Shape((HEEL + 0.03, 0.0, sole + 0.022), (TOE - 0.04, 0.0, sole + 0.010), 0.032, solid=False),
            ), _SHOE, stretch=(1.0, 1.0, 0.0),
        ),
    )  # fmt: skip


def _arm(side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    return (
        Segment(
            f"{side}_upper_arm", "trunk", (0.0, sign * SHOULDER_HALF_WIDTH, SHOULDER_HEIGHT - WAIST_HEIGHT),
            # 85° to either side of an arm stretched out sideways: from hanging, 0° … 170°
            hinges(f"{side}_shoulder", sign, _degrees(-75, 150), _degrees(0, 170)),
            3.0, (0.0, 0.0, -UPPER_ARM / 2), _box(3.0, 0.09, 0.09, UPPER_ARM),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -UPPER_ARM), 0.042),), color,
        ),
        Segment(
            f"{side}_lower_arm", f"{side}_upper_arm", (0.0, 0.0, -UPPER_ARM),
            hinges(f"{side}_elbow", sign, _degrees(0, 110)),
            1.6, (0.0, 0.0, -LOWER_ARM / 2), _box(1.6, 0.07, 0.07, LOWER_ARM),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -LOWER_ARM + 0.02), 0.034),), color,
        ),
        Segment(
            f"{side}_hand", f"{side}_lower_arm", (0.0, 0.0, -LOWER_ARM),
            hinges(f"{side}_wrist", sign, _degrees(-40, 40), _degrees(-85, 85), _degrees(-85, 45)),
            0.7, (0.0, 0.0, -HAND / 2), _box(0.7, 0.09, 0.04, HAND),
            (Shape((0.0, 0.0, -0.03), (0.01, 0.0, -HAND + 0.05), 0.033),), _SKIN,
        ),
    )  # fmt: skip


def _middle() -> tuple[Segment, ...]:
    y, neck = HIP_HALF_WIDTH, NECK_HEIGHT - WAIST_HEIGHT
    return (
        Segment(
            "pelvis", "world", (0.0, 0.0, 0.0), (), 21.0, (0.0, 0.0, 1.01 - HIP_HEIGHT), _box(21.0, 0.20, 0.32, 0.22),
            (
                Shape((0.0, -y, 0.02), (0.0, y, 0.02), 0.085),
                Shape((0.0, -0.06, 0.12), (0.0, 0.06, 0.12), 0.088),
            ), _TROUSERS,
        ),
        Segment(
            "trunk", "pelvis", (0.0, 0.0, WAIST_HEIGHT - HIP_HEIGHT),
            hinges("waist", 1.0, _degrees(-85, 40), _degrees(-50, 50), _degrees(-45, 45)),
            25.5, (0.01, 0.0, 1.31 - WAIST_HEIGHT), _box(25.5, 0.22, 0.32, neck),
            (
                Shape((0.0, -0.06, 0.04), (0.0, 0.06, 0.04), 0.090),
                Shape((0.0, -0.07, 0.16), (0.0, 0.07, 0.16), 0.098),
                Shape((0.0, -0.11, 0.27), (0.0, 0.11, 0.27), 0.070),
            ), _SHIRT,
        ),
        Segment(
            "head", "trunk", (0.0, 0.0, neck),
            hinges("neck", 1.0, _degrees(-90, 45), _degrees(-85, 85), _degrees(-55, 55)),
            4.8, (0.0, 0.0, 1.64 - NECK_HEIGHT), _box(4.8, 0.19, 0.16, 0.22),
            (
                Shape((0.0, 0.0, -0.03), (0.0, 0.0, 0.04), 0.048),
                Shape((0.01, 0.0, 0.10), (0.005, 0.0, HEIGHT - NECK_HEIGHT - 0.08), 0.080),
            ), _SKIN,
        ),
    )  # fmt: skip


def _gain(hinge: Hinge) -> Gain:
    kind = without_side(hinge.name).split("_")[0]
    kp = _KP[kind][0] * _KP[kind][1 + hinge.plane]
    return Gain.from_stiffness(kp, TORQUE_LIMIT)


def table() -> CharacterTable:
    """The stepper as data."""
    anatomy = Anatomy.symmetric("pelvis", "trunk", _SIDE_ROLES, _MIDDLE, 3, upper=(*_SIDE_ROLES[6:], *_MIDDLE))
    segments = (
        *_middle(), *_leg("left", 1.0, _LEFT), *_leg("right", -1.0, _RIGHT),
        *_arm("left", 1.0, _LEFT), *_arm("right", -1.0, _RIGHT),
    )  # fmt: skip
    by_name = {hinge.name: hinge for segment in segments for hinge in segment.hinges}
    return CharacterTable(
        name="stepper",
        summary="3D body of \"Watch your step\", 89.5 kg, 1.7 m, 30 actuated joints",
        root="free",
        segments=segments,
        anatomy=anatomy,
        gains={joint: _gain(by_name[joint]) for joint in anatomy.joints(0)},
        torso_gain=Gain(900.0, 90.0, TORQUE_LIMIT),
        hip_targets=(-0.7, 2.9),
        friction=FRICTION,
        timestep=0.001,
        source="Kenwright, \"Watch your step\", Tables 1 and 2",
        sole_depth=ANKLE_HEIGHT,
        armature=0.01,
        impratio=100.0,
        back=(-0.19, 0.0, 0.20),
        multipliers=limb_multipliers(
            ("thigh", "shin", "foot", "upper_arm", "lower_arm", "hand"), middle=("pelvis", "trunk", "head")
        ),
    )  # fmt: skip
