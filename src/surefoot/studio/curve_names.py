"""What an animator calls the curves: the part, the movement, and what lies above and below zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot.reflexes.style import CURVES

DEGREES = 180.0 / math.pi


@dataclass(frozen=True)
class Unit:
    """How values are shown: `factor` times the skill's, with a sign behind; an axis is never narrower than `span`."""

    factor: float
    sign: str
    span: float


ANGLE, LENGTH, SHARE = Unit(DEGREES, "°", 60.0), Unit(100.0, " cm", 20.0), Unit(100.0, " %", 100.0)


@dataclass(frozen=True)
class Title:
    """A curve's name on the page; `above` and `below` say what positive and negative values do."""

    group: str
    label: str
    above: str
    below: str
    unit: Unit = ANGLE


TRUNK, SWING_ARM, STANCE_ARM, LEGS, FEET = "Trunk", "Arm, swing side", "Arm, stance side", "Legs", "Ankles and toes"
_TURNS = {
    "": ("bend", "back", "forward"),
    "_roll": ("tilt", "swing side up", "swing side down"),
    "_yaw": ("twist", "to the swing side", "to the stance side"),
}
_ARM = {
    "shoulder": ("Arm swing", "forward", "back"), "shoulder_roll": ("Arm out", "outward", "inward"),
    "shoulder_yaw": ("Arm turn", "outward", "inward"), "elbow": ("Elbow", "bent", "straight"),
    "wrist": ("Wrist", "forward", "back"),
}  # fmt: skip
_OTHERS = {
    "stance_knee": Title(LEGS, "Stance knee", "", "bent"),
    "height": Title(LEGS, "Swing height", "up", "down", SHARE),
    "swing_out": Title(LEGS, "Swing out", "outward", "inward", LENGTH),
    "swing_ankle": Title(FEET, "Swing ankle", "toes up", "toes down"),
    "stance_ankle": Title(FEET, "Stance ankle", "toes up", "toes down"),
    "swing_toe": Title(FEET, "Swing toes", "up", "down"),
    "stance_toe": Title(FEET, "Stance toes", "up", "down"),
}


def _title(name: str) -> Title:
    if name in _OTHERS:
        return _OTHERS[name]
    side, _, rest = name.partition("_")
    if rest in _ARM:
        return Title(SWING_ARM if side == "swing" else STANCE_ARM, *_ARM[rest])
    for part in ("pelvis", "lower_back", "upper_back", "neck"):
        turn = name.removeprefix(part)
        if turn in _TURNS:
            movement, above, below = _TURNS[turn]
            return Title(TRUNK, f"{part.replace('_', ' ').capitalize()} {movement}", above, below)
    return Title("Other", name.replace("_", " ").capitalize(), "", "")


TITLES = {name: _title(name) for name in CURVES}
GROUPS = tuple(dict.fromkeys(title.group for title in TITLES.values()))


def labels(group: str) -> dict[str, str]:
    """Curves of a group by what they are called."""
    return {title.label: name for name, title in TITLES.items() if title.group == group}
