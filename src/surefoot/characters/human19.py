"""The human of Laszlo, van de Panne, Fiume 1996, §4.1: 13 joints of 19 degrees of freedom, 89.57 kg."""

from __future__ import annotations

from dataclasses import replace

from surefoot.characters import human
from surefoot.characters.table import Anatomy, CharacterTable, Gain, Segment, Side

_SIDE_ROLES = ("hip", "hip_roll", "hip_yaw", "knee", "ankle", "ankle_roll", "shoulder", "elbow", "wrist")
_MIDDLE = ("waist",)

# kp and limit by kind of joint [N·m/rad], [N·m]; kd = 0.1 kp. The paper prints none. The roll of the stance hip
# bears the whole body sideways: with a third of it the pelvis drops and the swing foot stubs.
_GAINS = {
    "hip": (450.0, 450.0), "hip_roll": (1100.0, 450.0), "hip_yaw": (300.0, 300.0), "knee": (400.0, 400.0),
    "ankle": (150.0, 150.0), "ankle_roll": (100.0, 100.0), "waist": (1000.0, 1000.0),
    "shoulder": (50.0, 50.0), "elbow": (50.0, 50.0), "wrist": (10.0, 10.0),
}  # fmt: skip


def table() -> CharacterTable:
    """The human of SIMBICON, whose masses are this paper's, with fewer hinges: its head is part of the trunk.

    Its soles bear on the ends of two capsules: four points a foot, each with a friction cone of its own.
    """
    body, sides = human.table(), (_side("left"), _side("right"))
    kept = {*sides[0].joints, *sides[1].joints, *_MIDDLE}
    segments = tuple(_with_hinges(segment, kept) for segment in body.segments)
    return replace(
        body,
        name="human19",
        summary="3D human of 19 internal degrees of freedom, 89.57 kg, 1.75 m",
        segments=segments,
        anatomy=Anatomy(
            "pelvis", "trunk", *sides, _SIDE_ROLES, _MIDDLE, hip_hinges=3, upper=(*_SIDE_ROLES[6:], *_MIDDLE)
        ),
        gains={joint: _gain(joint) for joint in (*sides[0].joints, *sides[1].joints, *_MIDDLE)},
        torso_gain=_gain("waist"),
        source="Laszlo, van de Panne, Fiume 1996, §4.1; masses and inertias: da Silva, Abe, Popović 2008, Table 2",
    )


def _side(side: str) -> Side:
    return Side(f"{side}_thigh", f"{side}_shin", f"{side}_foot", tuple(f"{side}_{role}" for role in _SIDE_ROLES))


def _with_hinges(segment: Segment, kept: set[str]) -> Segment:
    return replace(segment, hinges=tuple(hinge for hinge in segment.hinges if hinge.name in kept))


def _gain(joint: str) -> Gain:
    kp, limit = _GAINS[joint.removeprefix("left_").removeprefix("right_")]
    return Gain(kp=kp, kd=0.1 * kp, limit=limit)
