"""A GENBICON style in a parameter slot: a record of numbers and the curves of the motion generator (§4.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.memory import SLOT
from surefoot.native.pointers import block, kernel, records
from surefoot.reflexes.curves import KNOTS, WIDTH, curve_at

NUMBERS = (
    "speed", "step_time", "step_width", "step_height", "knee_twist", "toe_out", "turn_rate", "push_off",
    "longest_step", "narrowest", "speed_force", "sway_force", "speed_integral", "knee_support", "hip_support",
    "stand_stiffness", "stand_damping", "yielding", "yaw_gain", "yaw_limit", "loss", "levelling", "foresight",
    "side_foresight", "eager", "alpha", "hurry", "walks",
)  # fmt: skip
STYLE = np.dtype([(n, "f8") for n in (*(SLOT.names or ()), *NUMBERS)])

_TRIPLES = ("pelvis", "lower_back", "upper_back", "neck", "swing_shoulder", "stance_shoulder")
CURVES = (
    *(f"{name}{axis}" for name in _TRIPLES for axis in ("", "_roll", "_yaw")),
    "swing_elbow", "stance_elbow", "swing_wrist", "stance_wrist", "stance_knee", "swing_ankle", "stance_ankle",
    "swing_toe", "stance_toe", "height", "swing_out",
)  # fmt: skip
"""Angles [rad] but for `height`, of the swing ankle over the ground by `step_height`, and `swing_out` [m], outward.
Pelvis, back, neck and ankles are told in the character frame, the others from their base."""

PELVIS, LOWER_BACK, UPPER_BACK, NECK, SWING_SHOULDER, STANCE_SHOULDER = 0, 3, 6, 9, 12, 15
SWING_ELBOW, STANCE_ELBOW, SWING_WRIST, STANCE_WRIST, STANCE_KNEE, SWING_ANKLE, STANCE_ANKLE = (
    18,
    19,
    20,
    21,
    22,
    23,
    24,
)
SWING_TOE, STANCE_TOE, HEIGHT, SWING_OUT = 25, 26, 27, 28

_STYLE = STYLE.itemsize // 8


class Style(NamedTuple):
    """Views of one style."""

    numbers: Any  # (1,) STYLE
    curves: Any  # (curves, WIDTH)


def slot_size() -> int:
    """Numbers in a slot."""
    return _STYLE + len(CURVES) * WIDTH


_COUNT = len(CURVES)


@kernel
def style_of(slot: Any) -> Style:
    """Lay the views of a style over a slot."""
    return Style(records(slot, 0, 1, STYLE), block(slot, _STYLE, (_COUNT, WIDTH)))


@kernel
def value(style: Any, curve: int, phase: float) -> float:
    """A curve of a style at a phase of the step."""
    return curve_at(style.curves[curve], phase)  # type: ignore[no-any-return]


def write_curve(style: Style, name: str, knots: list[tuple[float, float]]) -> None:
    """Write a curve's knots (phase, value)."""
    curve = style.curves[CURVES.index(name)]
    curve[:] = 0.0
    curve[0] = len(knots)
    for k, (phase, number) in enumerate(knots):
        curve[1 + k], curve[1 + KNOTS + k] = phase, number
