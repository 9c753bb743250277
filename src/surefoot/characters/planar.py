"""The 7-link planar biped of SIMBICON §7: 70 kg trunk, 5 kg thighs, 4 kg shins, 1 kg feet."""

from __future__ import annotations

from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Gain,
    Hinge,
    Segment,
    Shape,
    Side,
    Vector,
    limb_multipliers,
)

# Masses and lengths: SIMBICON §7. Inertias about the COM, COM places and foot geometry: the authors'
# planar program, whose ground is felt by heel and toe alone. So shins are not solid and may brush the
# edge of a step; a knee that touches the ground still counts as a fall. Positive angles turn x towards
# z, so every hinge turns about −y.
_AXIS: Vector = (0.0, -1.0, 0.0)
_TORSO, _NEAR, _FAR = (0.30, 0.42, 0.58), (0.86, 0.46, 0.26), (0.55, 0.62, 0.68)

THIGH, SHIN = 0.45, 0.45  # [m]
ANKLE_HEIGHT = 0.04  # [m] above the sole
HEEL, TOE = -0.04, 0.12  # [m] ends of the sole, from the ankle
_SOLE_RADIUS = 0.012  # [m] rounds the sole's ends


def _plane(inertia: float) -> Vector:
    return (inertia, inertia, inertia)


def _leg(side: str, color: Vector) -> tuple[Segment, ...]:
    sole = -ANKLE_HEIGHT + _SOLE_RADIUS
    return (
        Segment(
            f"{side}_thigh", "trunk", (0.0, 0.0, 0.0), (Hinge(f"{side}_hip", _AXIS, -1.6, 2.8),),
            5.0, (0.0, 0.0, -0.225), _plane(0.0885),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -THIGH), 0.065),), color,
        ),
        Segment(
            f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -THIGH), (Hinge(f"{side}_knee", _AXIS, -2.7, 0.0),),
            4.0, (0.0, 0.0, -0.225), _plane(0.0696),
            (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -0.41), 0.045, solid=False),), color,
        ),
        Segment(
            f"{side}_foot", f"{side}_shin", (0.0, 0.0, -SHIN), (Hinge(f"{side}_ankle", _AXIS, -2.0, 2.0),),
            1.0, (0.04, 0.0, -0.02), _plane(0.010),
            (
                Shape((HEEL + _SOLE_RADIUS, 0.0, sole), (TOE - _SOLE_RADIUS, 0.0, sole), _SOLE_RADIUS, sole=True),
                Shape((0.0, 0.0, 0.0), (0.09, 0.0, -0.02), 0.02, solid=False),
            ),
            color, stretch=(1.0, 1.0, 0.0),
        ),
    )  # fmt: skip


def _side(side: str) -> Side:
    joints = (f"{side}_hip", f"{side}_knee", f"{side}_ankle")
    return Side(f"{side}_thigh", f"{side}_shin", f"{side}_foot", joints)


def table() -> CharacterTable:
    """The planar biped as data."""
    trunk = Segment(
        "trunk", "world", (0.0, 0.0, 0.0), (), 70.0, (0.0, 0.0, 0.24), _plane(1.475),
        (Shape((0.0, 0.0, 0.05), (0.0, 0.0, 0.43), 0.10), Shape((0.0, 0.0, 0.66), (0.0, 0.0, 0.68), 0.10)), _TORSO,
    )  # fmt: skip
    anatomy = Anatomy("trunk", "trunk", _side("left"), _side("right"), ("hip", "knee", "ankle"))
    gain = Gain(kp=300.0, kd=30.0, limit=1000.0)  # SIMBICON §7, all joints
    parts = ("thigh", "shin", "foot")
    return CharacterTable(
        name="planar",
        summary="7-link planar biped, 90 kg, 6 actuated joints",
        root="planar",
        segments=(trunk, *_leg("left", _FAR), *_leg("right", _NEAR)),
        anatomy=anatomy,
        gains={joint: gain for leg in (anatomy.left, anatomy.right) for joint in leg.joints},
        torso_gain=gain,
        hip_targets=(-0.4, 1.6),  # the authors' program
        friction=0.65,
        timestep=0.0005,
        source="SIMBICON (Yin, Loken, van de Panne 2007) §7 and the authors' planar program",
        sole_depth=ANKLE_HEIGHT,
        multipliers={"trunk": ("trunk",), **limb_multipliers(parts)},
    )  # fmt: skip
