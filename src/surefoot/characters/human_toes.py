"""The human of the recorded motions, with clavicles and toes: da Silva, Abe, Popović 2008, Table 2, 3D Mocap."""

from __future__ import annotations

from dataclasses import replace

from surefoot.characters import human
from surefoot.characters.table import (
    CORONAL,
    TRANSVERSE,
    Anatomy,
    CharacterTable,
    Gain,
    Hinge,
    Segment,
    Shape,
    Side,
    hinges,
)

# Masses and principal inertias: Table 2. Its axes are x lateral, y up, z forward: ours are its (z, x, y). Lengths are
# those of `human`, since none are printed; the toes take the last third of the foot, the clavicles most of the
# shoulders' half width.
_MASS = {
    "pelvis": (12.8, 0.12, 0.174, 0.148), "trunk": (17.02, 0.281, 0.335, 0.167), "head": (4.067, 0.0248, 0.02, 0.0176),
    "clavicle": (2.51, 0.00691, 0.0111, 0.0111), "upper_arm": (1.42, 0.0132, 0.0133, 0.0014),
    "lower_arm": (0.57, 0.003, 0.003, 0.0003), "hand": (0.09, 0.0001, 0.00008, 0.00002),
    "thigh": (9.013, 0.208, 0.204, 0.0356), "shin": (3.91, 0.06, 0.0585, 0.0087),
    "foot": (0.29, 0.0003, 0.0002, 0.0004), "toes": (0.23, 0.0002, 0.0002, 0.0002),
}  # fmt: skip
BALL = 0.10  # [m] from the ankle forward to the toes' joint
_SOLE_RADIUS = 0.012  # [m]
_COLLAR = 0.05  # [m] of the clavicle's joint from the middle

# Torque limits [N·m]; kd = 0.1 kp with kp = the limit, as for `human`. Toes and clavicles: as much as their loads need.
_MORE = {"clavicle": 150.0, "toe": 40.0}
_SIDE_ROLES = (
    *human.table().anatomy.side_roles[:6], "toe", *human.table().anatomy.side_roles[6:],
    "clavicle_roll", "clavicle_yaw",
)  # fmt: skip


def _plain(name: str) -> str:
    return name.removeprefix("left_").removeprefix("right_")


def _weighed(segment: Segment) -> Segment:
    mass, x, y, z = _MASS[_plain(segment.name)]
    return replace(segment, mass=mass, inertia=(x, y, z))


def _sole(segment: Segment, low: float, high: float) -> tuple[Shape, ...]:
    """A foot's soles from one place to another along x, in the foot's frame."""
    soles = [shape for shape in segment.shapes if shape.sole]
    return tuple(replace(s, start=(low, *s.start[1:]), end=(high, *s.end[1:])) for s in soles)


def _toes(foot: Segment, sign: float) -> Segment:
    side, sole = foot.name.removesuffix("foot"), -human.ANKLE_HEIGHT + _SOLE_RADIUS
    drop = sole + 0.006  # the joint lies a little above the sole's edge
    shapes = tuple(
        replace(s, start=(0.014, s.start[1], sole - drop), end=(human.TOE - BALL, s.end[1], sole - drop))
        for s in foot.shapes if s.sole
    )  # fmt: skip
    mass, x, y, z = _MASS["toes"]
    return Segment(
        f"{side}toes", foot.name, (BALL, 0.0, drop), hinges(f"{side}toe", sign, (-0.5, 1.2)),
        mass, (0.03, 0.0, 0.0), (x, y, z), shapes, foot.color, stretch=(1.0, 1.0, 0.0),
    )  # fmt: skip


def _clavicle(arm: Segment, sign: float) -> tuple[Segment, Segment]:
    """The clavicle before an arm, and the arm on its end."""
    side, height = arm.name.removesuffix("upper_arm"), arm.offset[2]
    reach = abs(arm.offset[1]) - _COLLAR
    mass, x, y, z = _MASS["clavicle"]
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
    for segment in map(_weighed, old.segments):
        kind, sign = _plain(segment.name), -1.0 if segment.name.startswith("right_") else 1.0
        if kind == "upper_arm":
            found += _clavicle(segment, sign)
        elif kind == "foot":
            rest = tuple(shape for shape in segment.shapes if not shape.sole)
            foot = replace(segment, shapes=(*_sole(segment, human.HEEL, BALL - 0.014), *rest), com=(0.02, 0.0, -0.045))
            found += [foot, _toes(segment, sign)]
        else:
            found.append(segment)
    return tuple(found)


def table() -> CharacterTable:
    """The human with toes as data."""
    old = human.table()
    sides = [
        Side(f"{s}_thigh", f"{s}_shin", f"{s}_foot", tuple(f"{s}_{role}" for role in _SIDE_ROLES))
        for s in ("left", "right")
    ]
    middle = old.anatomy.middle
    anatomy = Anatomy(
        "pelvis", "trunk", sides[0], sides[1], _SIDE_ROLES, middle, hip_hinges=3, upper=(*_SIDE_ROLES[7:], *middle)
    )
    gains = {}
    for joint in (*sides[0].joints, *sides[1].joints, *middle):
        strength = _MORE.get(_plain(joint).split("_")[0])
        gains[joint] = old.gains[joint] if strength is None else Gain(strength, 0.1 * strength, strength)
    more = {part: (f"left_{part}", f"right_{part}") for part in ("clavicle", "toes")}
    return replace(
        old,
        name="human_toes",
        summary="3D human with clavicles and toes, 69.95 kg, 34 actuated joints",
        segments=_segments(old),
        anatomy=anatomy,
        gains=gains,
        source="da Silva, Abe, Popović 2008, Table 2, 3D Mocap; lengths of `human`",
        multipliers=old.multipliers | more | {name: (name,) for parts in more.values() for name in parts},
    )
