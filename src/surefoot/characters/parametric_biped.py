"""Bodies of GENBICON §4.4 made from a dozen measures: humanoid, robot, ape and strider differ in numbers alone.

`humanoid`: 37 degrees of freedom with toes and two back joints, 73.5 kg, 1.75 m.
`robot`: knees high up and ahead of the line from hip to ankle, flat feet without toes.
`ape`: short legs, long arms and a heavy trunk; most of its weight is far above its hips.
`strider`: long thin legs with longer shins, broad feet, small trunk, short arms, like an ostrich. Its legs are light
towards their ends: nothing above is heavy enough to resist the yaw of heavy shins that swing.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from surefoot.characters.links import REFERENCE_HIP_HEIGHT, REFERENCE_MASS, scaled_gain
from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Segment,
    Shape,
    Vector,
    hinges,
    limb_multipliers,
    sole_edges,
    without_side,
)

_SOLE_RADIUS = 0.012  # [m] rounds the sole's edges


@dataclass(frozen=True)
class Colors:
    """Colors of a body's parts."""

    trunk: Vector
    legs: tuple[Vector, Vector]  # left, right
    skin: Vector
    feet: Vector


@dataclass(frozen=True)
class BodyMeasures:
    """Lengths [m] and masses [kg] of a body with two back joints.

    Heights are above the joint below: the lower back above the hips, the upper back above the lower back, shoulders and
    neck above the upper back. `knee_ahead` and `ankle_ahead` place those joints ahead of the vertical through the hip.
    The sole goes from `heel` (negative) to `ball`, the toes from there to `toe`; equal values mean no toes.
    """

    name: str
    summary: str
    source: str
    colors: Colors
    thigh: float
    shin: float
    ankle: float
    hip_half_width: float
    lower_back: float
    upper_back: float
    shoulder: float
    shoulder_half_width: float
    neck: float
    head: float  # radius
    upper_arm: float
    lower_arm: float
    heel: float
    ball: float
    toe: float
    foot_half_width: float
    masses: dict[str, float]  # pelvis, belly, chest, head, thigh, shin, foot, toes, upper_arm, lower_arm
    girth: float = 1.0  # how thick its parts are drawn
    knee_ahead: float = 0.0
    ankle_ahead: float = 0.0

    @property
    def has_toes(self) -> bool:
        """Whether the toes are separate parts."""
        return self.toe > self.ball


def cylinder_inertia(mass: float, length: float, radius: float) -> Vector:
    """Principal inertias of a solid cylinder along z [kg·m²]."""
    across = mass * (3.0 * radius * radius + length * length) / 12.0
    return across, across, 0.5 * mass * radius * radius


def _leg(m: BodyMeasures, side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    mass, g = m.masses, m.girth
    sole, half = -m.ankle + _SOLE_RADIUS, m.foot_half_width
    edge = sign * (half - _SOLE_RADIUS)
    knee = (m.knee_ahead, 0.0, -math.sqrt(m.thigh**2 - m.knee_ahead**2))
    ahead = m.ankle_ahead - m.knee_ahead
    ankle = (ahead, 0.0, -math.sqrt(m.shin**2 - ahead**2))
    middle = (0.5 * knee[0], 0.0, 0.5 * knee[2]), (0.5 * ankle[0], 0.0, 0.5 * ankle[2])
    length = m.ball - m.heel
    parts = [
        Segment(
            f"{side}_thigh", "pelvis", (0.0, sign * m.hip_half_width, 0.0),
            hinges(f"{side}_hip", sign, (-1.5, 2.8), (-0.8, 1.3), (-1.2, 1.2)),
            mass["thigh"], middle[0], cylinder_inertia(mass["thigh"], m.thigh, 0.07 * g),
            (
                Shape((0.0, 0.0, 0.0), (0.6 * knee[0], 0.0, 0.6 * knee[2]), 0.078 * g, solid=False),
                Shape((0.0, 0.0, 0.0), knee, 0.06 * g),
            ), color,
        ),
        Segment(
            f"{side}_shin", f"{side}_thigh", knee, hinges(f"{side}_knee", sign, (-2.7, 0.0), None, None),
            mass["shin"], middle[1], cylinder_inertia(mass["shin"], m.shin, 0.045 * g),
            (
                Shape((0.1 * ankle[0] - 0.01, 0.0, 0.15 * ankle[2]), (0.45 * ankle[0] - 0.01, 0.0, 0.45 * ankle[2]),
                      0.054 * g, solid=False),
                Shape((0.0, 0.0, 0.0), (0.95 * ankle[0], 0.0, 0.95 * ankle[2]), 0.042 * g),
            ), color,
        ),
        Segment(
            f"{side}_foot", f"{side}_shin", ankle,
            hinges(f"{side}_ankle", sign, (-1.2, 0.9), (-0.6, 0.6), None),
            mass["foot"], (0.5 * (m.heel + m.ball), 0.0, -0.6 * m.ankle),
            (mass["foot"] * (half**2 / 3 + 0.0008), mass["foot"] * (length**2 / 12 + 0.0008),
             mass["foot"] * (length**2 / 12 + half**2 / 3)),
            (
                *sole_edges(m.heel, m.ball, edge, sole, _SOLE_RADIUS),
                Shape((0.6 * m.heel, 0.0, -0.45 * m.ankle), (0.8 * m.ball, 0.0, -0.65 * m.ankle),
                      min(0.034 * g, 0.3 * m.ankle), solid=False),
            ), m.colors.feet, (1.0, 1.0, 0.0),
        ),
    ]  # fmt: skip
    if m.has_toes:
        reach = m.toe - m.ball
        parts.append(Segment(
            f"{side}_toes", f"{side}_foot", (m.ball, 0.0, sole),
            hinges(f"{side}_toe", sign, (-0.5, 1.2), None, None),
            mass["toes"], (0.5 * reach, 0.0, 0.0),
            (mass["toes"] * (half**2 / 3), mass["toes"] * (reach**2 / 12 + 1e-4),
             mass["toes"] * (reach**2 / 12 + half**2 / 3)),
            sole_edges(0.012, reach - _SOLE_RADIUS, edge, 0.0, _SOLE_RADIUS),
            m.colors.feet, (1.0, 1.0, 0.0),
        ))  # fmt: skip
    return tuple(parts)


def _arm(m: BodyMeasures, side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    mass, g = m.masses, m.girth
    return (
        Segment(
            f"{side}_upper_arm", "chest", (0.0, sign * m.shoulder_half_width, m.shoulder),
            hinges(f"{side}_shoulder", sign, (-1.5, 3.3), (-1.0, 3.0), (-1.6, 1.6)),
            mass["upper_arm"], (0.0, 0.0, -0.5 * m.upper_arm),
            cylinder_inertia(mass["upper_arm"], m.upper_arm, 0.04 * g),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -m.upper_arm), 0.042 * g),), color,
        ),
        Segment(
            f"{side}_lower_arm", f"{side}_upper_arm", (0.0, 0.0, -m.upper_arm),
            hinges(f"{side}_elbow", sign, (0.0, 2.7), None, None),
            mass["lower_arm"], (0.0, 0.0, -0.5 * m.lower_arm),
            cylinder_inertia(mass["lower_arm"], m.lower_arm, 0.033 * g),
            (
                Shape((0.0, 0.0, 0.0), (0.0, 0.0, -0.72 * m.lower_arm), 0.033 * g),
                Shape((0.0, 0.0, -0.82 * m.lower_arm), (0.0, 0.0, -m.lower_arm), 0.030 * g),
            ), m.colors.skin,
        ),
    )  # fmt: skip


def _middle(m: BodyMeasures) -> tuple[Segment, ...]:
    mass, g, colors = m.masses, m.girth, m.colors
    wide, broad = m.hip_half_width, m.shoulder_half_width
    low, high = m.lower_back, m.upper_back
    return (
        Segment(
            "pelvis", "world", (0.0, 0.0, 0.0), (), mass["pelvis"], (0.0, 0.0, 0.4 * low),
            (mass["pelvis"] * 0.010, mass["pelvis"] * 0.008, mass["pelvis"] * 0.010),
            (Shape((0.0, -0.7 * wide, 0.02), (0.0, 0.7 * wide, 0.02), 0.085 * g),
             Shape((0.0, -0.5 * wide, 0.75 * low), (0.0, 0.5 * wide, 0.75 * low), 0.085 * g)), colors.legs[0],
        ),
        Segment(
            "belly", "pelvis", (0.0, 0.0, low),
            hinges("lower_back", 1.0, (-1.4, 0.7), (-0.7, 0.7), (-0.8, 0.8)),
            mass["belly"], (0.0, 0.0, 0.5 * high), cylinder_inertia(mass["belly"], high, 0.11 * g),
            (Shape((0.0, -0.05, 0.3 * high), (0.0, 0.05, 0.3 * high), 0.090 * g),
             Shape((0.0, -0.055, 0.9 * high), (0.0, 0.055, 0.9 * high), 0.095 * g)), colors.trunk,
        ),
        Segment(
            "chest", "belly", (0.0, 0.0, high),
            hinges("upper_back", 1.0, (-1.2, 0.6), (-0.6, 0.6), (-0.8, 0.8)),
            mass["chest"], (0.0, 0.0, 0.55 * m.shoulder),
            (mass["chest"] * (broad**2 / 3.5 + m.shoulder**2 / 12), mass["chest"] * (0.008 + m.shoulder**2 / 12),
             mass["chest"] * (broad**2 / 3.5 + 0.008)),
            (Shape((0.0, -0.4 * broad, 0.45 * m.shoulder), (0.0, 0.4 * broad, 0.45 * m.shoulder), 0.102 * g),
             Shape((0.0, -0.68 * broad, m.shoulder - 0.01), (0.0, 0.68 * broad, m.shoulder - 0.01), 0.063 * g)),
            colors.trunk,
        ),
        Segment(
            "head", "chest", (0.0, 0.0, m.neck), hinges("neck", 1.0, (-1.0, 1.0), (-0.6, 0.6), (-1.3, 1.3)),
            mass["head"], (0.01, 0.0, 1.35 * m.head),
            tuple(0.4 * mass["head"] * m.head**2 for _ in range(3)),  # type: ignore[arg-type]
            (Shape((0.0, 0.0, -0.02), (0.0, 0.0, 0.07), 0.048 * g),
             Shape((0.012, 0.0, 1.3 * m.head), (0.006, 0.0, 1.8 * m.head), m.head)), colors.skin,
        ),
    )  # fmt: skip


def table_from_measures(m: BodyMeasures) -> CharacterTable:
    """The body with these measures, and gains for its weight and height."""
    roles = ("hip", "hip_roll", "hip_yaw", "knee", "ankle", "ankle_roll", *(("toe",) if m.has_toes else ()),
             "shoulder", "shoulder_roll", "shoulder_yaw", "elbow")  # fmt: skip
    middle = tuple(f"{j}{k}" for j in ("lower_back", "upper_back", "neck") for k in ("", "_roll", "_yaw"))
    anatomy = Anatomy.symmetric("pelvis", "chest", roles, middle, 3, upper=(*roles[-4:], *middle))
    sides = (("left", 1.0, m.colors.legs[0]), ("right", -1.0, m.colors.legs[1]))
    segments = _middle(m)
    for limb in (_leg, _arm):
        for side in sides:
            segments += limb(m, *side)
    mass, height = sum(s.mass for s in segments), m.thigh + m.shin + m.ankle
    kinds = {j: without_side(j).removesuffix("_roll").removesuffix("_yaw") for j in anatomy.joints(0)}
    limbs = ("thigh", "shin", "foot", *(("toes",) if m.has_toes else ()), "upper_arm", "lower_arm")
    return CharacterTable(
        name=m.name, summary=m.summary, root="free", segments=segments, anatomy=anatomy,
        gains={joint: scaled_gain(kind, mass, height) for joint, kind in kinds.items()},
        torso_gain=scaled_gain("root", mass, height), hip_targets=(-1.5, 2.8), friction=0.8, timestep=0.001,
        source=m.source, sole_depth=m.ankle,
        armature=0.01 * mass / REFERENCE_MASS * (height / REFERENCE_HIP_HEIGHT) ** 2,
        multipliers={
            "pelvis": ("pelvis",), "belly": ("belly",), "chest": ("chest",), "head": ("head",),
            "torso": ("pelvis", "belly", "chest"),
            "leg": tuple(f"{s}_{p}" for s in ("left", "right") for p in limbs[:2]),
            "arm": tuple(f"{s}_{p}" for s in ("left", "right") for p in limbs[-2:]),
            **{f"{s}_leg": (f"{s}_thigh", f"{s}_shin") for s in ("left", "right")},
            **{f"{s}_arm": (f"{s}_upper_arm", f"{s}_lower_arm") for s in ("left", "right")},
            **limb_multipliers(limbs),
        },
    )  # fmt: skip


HUMANOID = BodyMeasures(
    name="humanoid",
    summary="3D humanoid with toes and two back joints, 73.5 kg, 31 actuated joints",
    source="GENBICON §4.4; lengths and masses of a slim adult, none are printed",
    colors=Colors((0.24, 0.50, 0.47), ((0.36, 0.42, 0.52), (0.83, 0.52, 0.30)), (0.87, 0.68, 0.56), (0.20, 0.20, 0.23)),
    thigh=0.42, shin=0.42, ankle=0.08, hip_half_width=0.09,
    lower_back=0.12, upper_back=0.18, shoulder=0.22, shoulder_half_width=0.18, neck=0.28, head=0.088,
    upper_arm=0.29, lower_arm=0.40,
    heel=-0.067, ball=0.115, toe=0.175, foot_half_width=0.05,
    masses={
        "pelvis": 10.5, "belly": 10.0, "chest": 16.0, "head": 5.1,
        "thigh": 7.6, "shin": 3.5, "foot": 0.9, "toes": 0.2, "upper_arm": 2.0, "lower_arm": 1.75,
    },
)  # fmt: skip


ROBOT = BodyMeasures(
    name="robot",
    summary="3D robot with high knees ahead of its legs and no toes, 60 kg, 29 actuated joints",
    source="GENBICON §4.4 has a robot whose knee is placed differently; its measures are chosen here, none are printed",
    colors=Colors((0.55, 0.57, 0.60), ((0.46, 0.48, 0.51), (0.93, 0.49, 0.13)), (0.93, 0.49, 0.13), (0.28, 0.29, 0.31)),
    thigh=0.28, shin=0.44, ankle=0.07, hip_half_width=0.10, knee_ahead=0.06,
    lower_back=0.10, upper_back=0.14, shoulder=0.20, shoulder_half_width=0.20, neck=0.25, head=0.08,
    upper_arm=0.25, lower_arm=0.32,
    heel=-0.08, ball=0.15, toe=0.15, foot_half_width=0.06, girth=1.1,
    masses={
        "pelvis": 9.5, "belly": 7.0, "chest": 14.0, "head": 3.5,
        "thigh": 5.0, "shin": 3.8, "foot": 1.2, "upper_arm": 1.7, "lower_arm": 1.3,
    },
)  # fmt: skip


APE = BodyMeasures(
    name="ape",
    summary="3D beast with short legs, long arms and a heavy trunk, 110 kg, 31 actuated joints",
    source="GENBICON §4.4 has two beasts; the measures of this one are chosen here, none are printed",
    colors=Colors((0.33, 0.26, 0.22), ((0.38, 0.30, 0.25), (0.52, 0.36, 0.24)), (0.45, 0.36, 0.31), (0.24, 0.20, 0.18)),
    thigh=0.27, shin=0.25, ankle=0.07, hip_half_width=0.11,
    lower_back=0.12, upper_back=0.22, shoulder=0.30, shoulder_half_width=0.26, neck=0.34, head=0.105,
    upper_arm=0.36, lower_arm=0.46,
    heel=-0.09, ball=0.16, toe=0.24, foot_half_width=0.07, girth=1.3,
    masses={
        "pelvis": 15.0, "belly": 18.0, "chest": 30.0, "head": 8.0,
        "thigh": 7.5, "shin": 4.0, "foot": 1.6, "toes": 0.4, "upper_arm": 3.5, "lower_arm": 2.5,
    },
)  # fmt: skip


STRIDER = BodyMeasures(
    name="strider",
    summary="3D beast with long thin legs, a small trunk and short arms, 45 kg, 31 actuated joints",
    source="GENBICON §4.4 has two beasts; the measures of this one are chosen here, none are printed",
    colors=Colors((0.22, 0.24, 0.30), ((0.74, 0.66, 0.52), (0.86, 0.55, 0.42)), (0.80, 0.70, 0.58), (0.50, 0.40, 0.30)),
    thigh=0.38, shin=0.62, ankle=0.08, hip_half_width=0.085,
    lower_back=0.10, upper_back=0.12, shoulder=0.15, shoulder_half_width=0.13, neck=0.22, head=0.07,
    upper_arm=0.15, lower_arm=0.20,
    heel=-0.08, ball=0.14, toe=0.24, foot_half_width=0.065, girth=0.8,
    masses={
        "pelvis": 9.8, "belly": 6.2, "chest": 10.5, "head": 2.5,
        "thigh": 4.2, "shin": 1.9, "foot": 0.65, "toes": 0.25, "upper_arm": 0.55, "lower_arm": 0.45,
    },
)  # fmt: skip

humanoid_table = functools.partial(table_from_measures, HUMANOID)
robot_table = functools.partial(table_from_measures, ROBOT)
ape_table = functools.partial(table_from_measures, APE)
strider_table = functools.partial(table_from_measures, STRIDER)
