"""Two planar bipeds: SIMBICON's with 7 links, and one with arms and a head.

`planar`: SIMBICON §7, 70 kg trunk, 5 kg thighs, 4 kg shins, 1 kg feet.
`planar_arms`: 12 links and 51 kg, da Silva, Abe, Popović 2008, Table 2, 2D model.
"""

from __future__ import annotations

from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Gain,
    Hinge,
    Segment,
    Shape,
    Vector,
    limb_multipliers,
    without_side,
)

# Masses and lengths: SIMBICON §7. Inertias about the COM, COM places and foot geometry: the authors'
# planar program, whose ground is felt by heel and toe alone. So shins are not solid and may brush the
# edge of a step; a knee that touches the ground still counts as a fall. Positive angles turn x towards
# z, so every hinge turns about −y.
_AXIS: Vector = (0.0, -1.0, 0.0)
_TORSO, _SKIN = (0.30, 0.42, 0.58), (0.87, 0.67, 0.55)
_NEAR, _FAR = (0.86, 0.46, 0.26), (0.55, 0.62, 0.68)
_SIDE_ROLES = ("hip", "knee", "ankle")
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


def planar_table() -> CharacterTable:
    """The planar biped as data."""
    trunk = Segment(
        "trunk", "world", (0.0, 0.0, 0.0), (), 70.0, (0.0, 0.0, 0.24), _plane(1.475),
        (Shape((0.0, 0.0, 0.05), (0.0, 0.0, 0.43), 0.10), Shape((0.0, 0.0, 0.66), (0.0, 0.0, 0.68), 0.10)), _TORSO,
    )  # fmt: skip
    anatomy = Anatomy.symmetric("trunk", "trunk", _SIDE_ROLES)
    gain = Gain(kp=300.0, kd=30.0, limit=1000.0)  # SIMBICON §7, all joints
    return CharacterTable(
        name="planar",
        summary="7-link planar biped, 90 kg, 6 actuated joints",
        root="planar",
        segments=(trunk, *_leg("left", _FAR), *_leg("right", _NEAR)),
        anatomy=anatomy,
        gains=dict.fromkeys(anatomy.joints(0), gain),
        torso_gain=gain,
        hip_targets=(-0.4, 1.6),  # the authors' program
        friction=0.65,
        timestep=0.0005,
        source="SIMBICON (Yin, Loken, van de Panne 2007) §7 and the authors' planar program",
        sole_depth=ANKLE_HEIGHT,
        multipliers=limb_multipliers(("thigh", "shin", "foot"), middle=("trunk",)),
    )


TORSO, HEAD, ARMS_THIGH, ARMS_SHIN, FOOT = 0.460, 0.210, 0.455, 0.430, 0.239  # [m]
UPPER_ARM, LOWER_ARM = 0.363, 0.329  # [m]
ARMS_ANKLE_HEIGHT = 0.06  # [m] above the sole
ARMS_HEEL = -0.06  # [m] behind the ankle

# kp [N·m/rad], torque limit [N·m]; kd = 0.1 kp. Those of SIMBICON's planar biped, weaker where less hangs on the joint.
_GAINS = {
    "hip": (300.0, 300.0), "knee": (300.0, 300.0), "ankle": (300.0, 300.0), "shoulder": (50.0, 100.0),
    "elbow": (20.0, 50.0), "neck": (20.0, 50.0),
}  # fmt: skip
_ARMS_ROLES = (*_SIDE_ROLES, "shoulder", "elbow")


def _rod(
    name: str, parent: str, offset: Vector, hinge: Hinge, mass: float, inertia: float, length: float, radius: float,
    color: Vector, solid: bool = True,
) -> Segment:  # fmt: skip
    return Segment(
        name, parent, offset, (hinge,), mass, (0.0, 0.0, -length / 2), _plane(inertia),
        (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -length), radius, solid=solid),), color,
    )  # fmt: skip


def _side_parts(side: str, color: Vector) -> tuple[Segment, ...]:
    sole = -ARMS_ANKLE_HEIGHT + _SOLE_RADIUS
    return (
        _rod(f"{side}_thigh", "trunk", (0.0, 0.0, 0.0), Hinge(f"{side}_hip", _AXIS, -1.6, 2.8),
             7.0, 0.121, ARMS_THIGH, 0.06, color),
        _rod(f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -ARMS_THIGH), Hinge(f"{side}_knee", _AXIS, -2.7, 0.0),
             5.0, 0.077, ARMS_SHIN, 0.045, color, solid=False),
        Segment(
            f"{side}_foot", f"{side}_shin", (0.0, 0.0, -ARMS_SHIN), (Hinge(f"{side}_ankle", _AXIS, -1.5, 1.5),),
            4.0, (ARMS_HEEL + FOOT / 2, 0.0, -0.04), _plane(0.019),
            (
                Shape((ARMS_HEEL + _SOLE_RADIUS, 0.0, sole), (ARMS_HEEL + FOOT - _SOLE_RADIUS, 0.0, sole), _SOLE_RADIUS,
                      sole=True),
                Shape((0.0, 0.0, -0.01), (ARMS_HEEL + FOOT - 0.05, 0.0, -0.035), 0.022, solid=False),
            ),
            color, stretch=(1.0, 1.0, 0.0),
        ),
        _rod(f"{side}_upper_arm", "trunk", (0.0, 0.0, TORSO), Hinge(f"{side}_shoulder", _AXIS, -2.0, 3.2),
             2.0, 0.022, UPPER_ARM, 0.038, color),
        _rod(f"{side}_lower_arm", f"{side}_upper_arm", (0.0, 0.0, -UPPER_ARM), Hinge(f"{side}_elbow", _AXIS, 0.0, 2.6),
             1.0, 0.009, LOWER_ARM, 0.032, color),
    )  # fmt: skip


def planar_arms_table() -> CharacterTable:
    """The planar biped with arms as data."""
    trunk = Segment(
        "trunk", "world", (0.0, 0.0, 0.0), (), 10.0, (0.0, 0.0, TORSO / 2), _plane(0.176),
        (Shape((0.0, 0.0, 0.04), (0.0, 0.0, TORSO - 0.04), 0.09),), _TORSO,
    )  # fmt: skip
    head = Segment(
        "head", "trunk", (0.0, 0.0, TORSO), (Hinge("neck", _AXIS, -0.9, 0.9),), 3.0, (0.0, 0.0, HEAD / 2 + 0.04),
        _plane(0.011), (Shape((0.0, 0.0, 0.12), (0.0, 0.0, HEAD - 0.04), 0.085),), _SKIN,
    )  # fmt: skip
    upper = ("shoulder", "elbow", "neck")
    anatomy = Anatomy.symmetric("trunk", "trunk", _ARMS_ROLES, ("neck",), upper=upper)
    return CharacterTable(
        name="planar_arms",
        summary="12-link planar biped with arms and head, 51 kg, 11 actuated joints",
        root="planar",
        segments=(trunk, head, *_side_parts("left", _FAR), *_side_parts("right", _NEAR)),
        anatomy=anatomy,
        gains={joint: Gain.from_stiffness(*_GAINS[without_side(joint)]) for joint in anatomy.joints(0)},
        torso_gain=Gain.from_stiffness(*_GAINS["hip"]),
        hip_targets=(-0.4, 1.6),
        friction=0.65,
        timestep=0.0005,
        source="da Silva, Abe, Popović 2008, Table 2, 2D model; lengths of uniform rods of those masses and inertias",
        sole_depth=ARMS_ANKLE_HEIGHT,
        armature=0.002,
        multipliers=limb_multipliers(
            ("thigh", "shin", "foot", "upper_arm", "lower_arm"), middle=("trunk", "head")
        ),
    )  # fmt: skip
