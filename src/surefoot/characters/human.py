"""Three humans: the 3D human of SIMBICON, one with fewer hinges, and one with clavicles and toes.

`human`: SIMBICON §7, 28 internal degrees of freedom, 34 in all, 89.57 kg.
`human19`: Laszlo, van de Panne, Fiume 1996, §4.1, 13 joints of 19 degrees of freedom, 89.57 kg.
`human_toes`: the human of the recorded motions, da Silva, Abe, Popović 2008, Table 2, 3D Mocap.
"""

from __future__ import annotations

from dataclasses import replace

from surefoot.characters.table import (
    CORONAL,
    TRANSVERSE,
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
                *sole_edges(HEEL, TOE, sign * FOOT_HALF_WIDTH, sole, _SOLE_RADIUS),
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


def human_table() -> CharacterTable:
    """The human as data."""
    anatomy = Anatomy.symmetric("pelvis", "trunk", _SIDE_ROLES, _MIDDLE, 3, upper=(*_SIDE_ROLES[6:], *_MIDDLE))
    return CharacterTable(
        name="human",
        summary="3D human, 89.57 kg, 1.75 m, 28 actuated joints",
        root="free",
        segments=(
            *_middle(), *_leg("left", 1.0, _LEFT), *_leg("right", -1.0, _RIGHT),
            *_arm("left", 1.0, _LEFT), *_arm("right", -1.0, _RIGHT),
        ),
        anatomy=anatomy,
        gains={joint: Gain.from_stiffness(_KP[without_side(joint).split("_")[0]]) for joint in anatomy.joints(0)},
        torso_gain=Gain.from_stiffness(_KP["waist"]),
        hip_targets=(-1.2, 2.4),
        friction=0.8,
        timestep=0.001,
        source="SIMBICON §7; masses and inertias: da Silva, Abe, Popović 2008, Table 2",
        sole_depth=ANKLE_HEIGHT,
        armature=0.01,
        back=(-0.19, 0.0, 0.24),
        multipliers=limb_multipliers(
            ("thigh", "shin", "foot", "upper_arm", "lower_arm", "hand"), middle=("pelvis", "trunk", "head")
        ),
    )  # fmt: skip


# kp and limit by kind of joint [N·m/rad], [N·m]; kd = 0.1 kp. The paper prints none. The roll of the stance hip
# bears the whole body sideways: with a third of it the pelvis drops and the swing foot stubs.
_HUMAN19_GAINS = {
    "hip": (450.0, 450.0), "hip_roll": (1100.0, 450.0), "hip_yaw": (300.0, 300.0), "knee": (400.0, 400.0),
    "ankle": (150.0, 150.0), "ankle_roll": (100.0, 100.0),
    "shoulder": (50.0, 50.0), "elbow": (50.0, 50.0), "wrist": (10.0, 10.0), "waist": (1000.0, 1000.0),
}  # fmt: skip


def human19_table() -> CharacterTable:
    """The human of SIMBICON, whose masses are this paper's, with fewer hinges: its head is part of the trunk.

    Each sole touches the ground at the ends of two capsules: four points a foot, each with its own friction cone.
    """
    body, (*roles, waist) = human_table(), _HUMAN19_GAINS
    anatomy = Anatomy.symmetric("pelvis", "trunk", roles, (waist,), 3, upper=(*roles[6:], waist))
    kept = anatomy.joints(0)
    gains = {joint: Gain.from_stiffness(*_HUMAN19_GAINS[without_side(joint)]) for joint in kept}
    return replace(
        body,
        name="human19",
        summary="3D human of 19 internal degrees of freedom, 89.57 kg, 1.75 m",
        segments=tuple(replace(s, hinges=tuple(h for h in s.hinges if h.name in kept)) for s in body.segments),
        anatomy=anatomy,
        gains=gains,
        torso_gain=gains[waist],
        source="Laszlo, van de Panne, Fiume 1996, §4.1; masses and inertias: da Silva, Abe, Popović 2008, Table 2",
    )


# Masses and principal inertias: Table 2. Its axes are x lateral, y up, z forward: ours are its (z, x, y). Lengths are
# those of `human`, since none are printed; the toes take the last third of the foot, the clavicles most of the
# shoulders' half width.
_TOES_MASS = {
    "pelvis": (12.8, 0.12, 0.174, 0.148), "trunk": (17.02, 0.281, 0.335, 0.167), "head": (4.067, 0.0248, 0.02, 0.0176),
    "clavicle": (2.51, 0.00691, 0.0111, 0.0111), "upper_arm": (1.42, 0.0132, 0.0133, 0.0014),
    "lower_arm": (0.57, 0.003, 0.003, 0.0003), "hand": (0.09, 0.0001, 0.00008, 0.00002),
    "thigh": (9.013, 0.208, 0.204, 0.0356), "shin": (3.91, 0.06, 0.0585, 0.0087),
    "foot": (0.29, 0.0003, 0.0002, 0.0004), "toes": (0.23, 0.0002, 0.0002, 0.0002),
}  # fmt: skip
BALL = 0.10  # [m] from the ankle forward to the toes' joint
_COLLAR = 0.05  # [m] of the clavicle's joint from the middle

# Torque limits [N·m]; kd = 0.1 kp with kp = the limit, as for `human`. Toes and clavicles: as much as their loads need.
_MORE = {"clavicle": 150.0, "toe": 40.0}
_TOES_SIDE_ROLES = (*_SIDE_ROLES[:6], "toe", *_SIDE_ROLES[6:], "clavicle_roll", "clavicle_yaw")


def _toes(foot: Segment, sign: float) -> Segment:
    side, sole = foot.name.removesuffix("foot"), -ANKLE_HEIGHT + _SOLE_RADIUS
    drop = sole + 0.006  # the joint lies a little above the sole's edge
    shapes = tuple(
        replace(s, start=(0.014, s.start[1], sole - drop), end=(TOE - BALL, s.end[1], sole - drop))
        for s in foot.shapes if s.sole
    )  # fmt: skip
    mass, x, y, z = _TOES_MASS["toes"]
    return Segment(
        f"{side}toes", foot.name, (BALL, 0.0, drop), hinges(f"{side}toe", sign, (-0.5, 1.2)),
        mass, (0.03, 0.0, 0.0), (x, y, z), shapes, foot.color, stretch=(1.0, 1.0, 0.0),
    )  # fmt: skip


def _clavicle(arm: Segment, sign: float) -> tuple[Segment, Segment]:
    """The clavicle before an arm, and the arm on its end."""
    side, height = arm.name.removesuffix("upper_arm"), arm.offset[2]
    reach = abs(arm.offset[1]) - _COLLAR
    mass, x, y, z = _TOES_MASS["clavicle"]
    collar = Segment(
        f"{side}clavicle", "trunk", (0.0, sign * _COLLAR, height),
        (Hinge(f"{side}clavicle_roll", (sign, 0.0, 0.0), -0.3, 0.6, CORONAL),
         Hinge(f"{side}clavicle_yaw", (0.0, 0.0, sign), -0.4, 0.4, TRANSVERSE)),
        mass, (0.0, sign * reach / 2, 0.0), (x, y, z),
        (Shape((0.0, sign * 0.02, 0.0), (0.0, sign * reach, 0.0), 0.05),), arm.color,
    )  # fmt: skip
    return collar, replace(arm, parent=collar.name, offset=(0.0, sign * reach, 0.0))


def _segments(old: CharacterTable) -> tuple[Segment, ...]:
    found: list[Segment] = []
    for unweighed in old.segments:
        kind, sign = without_side(unweighed.name), -1.0 if unweighed.name.startswith("right_") else 1.0
        mass, x, y, z = _TOES_MASS[kind]
        segment = replace(unweighed, mass=mass, inertia=(x, y, z))
        if kind == "upper_arm":
            found += _clavicle(segment, sign)
        elif kind == "foot":
            shapes = tuple(
                replace(s, start=(HEEL, *s.start[1:]), end=(BALL - 0.014, *s.end[1:])) if s.sole else s
                for s in segment.shapes
            )
            found += [replace(segment, shapes=shapes, com=(0.02, 0.0, -0.045)), _toes(segment, sign)]
        else:
            found.append(segment)
    return tuple(found)


def human_toes_table() -> CharacterTable:
    """The human with toes as data."""
    old = human_table()
    upper = (*_TOES_SIDE_ROLES[7:], *_MIDDLE)
    anatomy = Anatomy.symmetric("pelvis", "trunk", _TOES_SIDE_ROLES, _MIDDLE, 3, upper=upper)
    gains = {}
    for joint in anatomy.joints(0):
        strength = _MORE.get(without_side(joint).split("_")[0])
        gains[joint] = old.gains[joint] if strength is None else Gain.from_stiffness(strength)
    return replace(
        old,
        name="human_toes",
        summary="3D human with clavicles and toes, 69.95 kg, 34 actuated joints",
        segments=_segments(old),
        anatomy=anatomy,
        gains=gains,
        source="da Silva, Abe, Popović 2008, Table 2, 3D Mocap; lengths of `human`",
        multipliers=old.multipliers | limb_multipliers(("clavicle", "toes")),
    )
