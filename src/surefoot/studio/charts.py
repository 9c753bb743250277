"""What a plot can show: which measurements, in which colours, with which units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.studio.channels import Window

LEFT, RIGHT, MIDDLE, SWING, STANCE, FAINT = "#3f7fb5", "#d9743f", "#5b5f66", "#3a9a6b", "#8a5aa8", "#9aa0a6"
_COLORS = {"left": LEFT, "right": RIGHT, "swing": SWING, "stance": STANCE}
SIDES = {
    "left and right": ("left", "right"),
    "left": ("left",),
    "right": ("right",),
    "swinging and standing leg": ("swing", "stance"),
}
BODY, FEET, SWAY = "Height and speed", "Feet on the ground", "Sway of the torso"
ANGLE, TORQUE = "Angle of a joint", "Torque of a joint"
BALANCE, SIDEWAYS = "Balance: d and v", "Balance sideways: d and v"
KINDS = (BODY, FEET, SWAY, ANGLE, TORQUE, BALANCE, SIDEWAYS)
OF_JOINTS = (ANGLE, TORQUE)


@dataclass(frozen=True)
class Line:
    """One line of a chart; on the `right` it is measured by the axis on that side.

    With `dots`, their size [px], it is dots without a line between them; with `newest` only the last one.
    """

    label: str
    color: str
    of: Callable[[Window], np.ndarray]
    dashed: bool = False
    right: bool = False
    dots: float = 0.0
    newest: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over time, or with `across` over another measurement, which then may run to and fro."""

    up: str
    lines: tuple[Line, ...]
    right: str = ""
    along: str = "time [s]"
    across: str = "time"

    @property
    def is_portrait(self) -> bool:
        """Whether it is not over time."""
        return self.across != "time"

    def data(self, window: Window) -> tuple[np.ndarray, ...]:
        """The horizontal coordinate (n,) and every line (n,); of a portrait the newest point comes first."""
        found = window[self.across], *(line.of(window) for line in self.lines)
        return tuple(line[::-1].copy() for line in found) if self.is_portrait else found


def joint_kinds(table: CharacterTable) -> tuple[str, ...]:
    """The joints of a body without their sides, in the order of its table."""
    return tuple(dict.fromkeys(_kind(joint) for joint in table.gains))


def has_sides(table: CharacterTable, kind: str) -> bool:
    """Whether there are a left and a right joint of this kind."""
    return f"left_{kind}" in table.gains and f"right_{kind}" in table.gains


def chart(kind: str, table: CharacterTable, joint: str, side: str) -> Chart:
    """A chart.

    Args:
        kind: one of `KINDS`.
        table: the body.
        joint: one of `joint_kinds`, for a chart of joints.
        side: one of `SIDES`; does not matter for a joint in the middle.
    """
    if kind == BODY:
        height = Line("height of the COM", MIDDLE, lambda w: w["height"])
        return Chart("m", (height, Line("speed", SWING, lambda w: w["speed"], right=True)), "m/s")
    if kind == FEET:
        return Chart("N", tuple(Line(f"{s} foot", _COLORS[s], _column(f"{s}_force")) for s in ("left", "right")))
    if kind == SWAY:
        forward = Line("forward", SWING, lambda w: w["forward_lean"])
        return Chart("°", (forward, Line("to the left", LEFT, lambda w: w["left_lean"])))
    if kind in (BALANCE, SIDEWAYS):
        prefix, word = ("lateral_", " to the left") if kind == SIDEWAYS else ("", "")
        velocity = _column(f"{prefix}velocity")
        lines = (
            Line("v over d", STANCE, velocity, dots=3.0),
            Line("now", RIGHT, velocity, dots=9.0, newest=True),
        )
        return Chart(f"v{word} [m/s]", lines, along=f"d{word} [m]", across=f"{prefix}distance")
    sides = SIDES[side] if has_sides(table, joint) else ("",)
    if kind == ANGLE:
        return Chart("°", tuple(line for one in sides for line in _angle(joint, one)))
    limit = _of_joint("limit", joint, sides[0])
    return Chart("N·m", (
        *(Line(_words(one, joint), _COLORS.get(one, MIDDLE), _of_joint("torque", joint, one)) for one in sides),
        Line("limit", FAINT, limit, dashed=True), Line("− limit", FAINT, lambda w: -limit(w), dashed=True),
    ))  # fmt: skip


def _angle(joint: str, side: str) -> list[Line]:
    color, name, angle = _COLORS.get(side, MIDDLE), _words(side, joint), _of_joint("angle", joint, side)
    target = _of_joint("target", joint, side)
    return [
        Line(name, color, angle),
        Line(f"{name} target".strip(), color, lambda w: _filled(target(w), angle(w)), dashed=True),
    ]


def _of_joint(what: str, joint: str, side: str) -> Callable[[Window], np.ndarray]:
    """A measurement of a joint; of the leg that swings or stands it changes sides with every step."""
    if side not in ("swing", "stance"):
        return _column(f"{what}:{side}_{joint}" if side else f"{what}:{joint}")
    left_swings = 0.0 if side == "swing" else 1.0
    left, right = f"{what}:left_{joint}", f"{what}:right_{joint}"
    return lambda w: np.where(w["swing"] == left_swings, w[left], w[right])


def _column(name: str) -> Callable[[Window], np.ndarray]:
    return lambda w: w[name]


def _filled(target: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """A target that hides behind the angle while there is none."""
    return np.where(np.isfinite(target), target, angle)


def _words(side: str, joint: str) -> str:
    return side or joint.replace("_", " ")


def _kind(joint: str) -> str:
    return joint.removeprefix("left_").removeprefix("right_")
