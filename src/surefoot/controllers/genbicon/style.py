"""A GENBICON style in a parameter slot: its numbers and the motion generator's target curves (GENBICON §4.1).

Curves are Catmull-Rom splines over the phase of a step. `write_slot` writes a skill; kernels read it by `style_of`.
A slot has the numbers twice: for the flat-footed walk, and for the stride of a style whose feet roll. The law walks by
numbers between the two (`blend_numbers`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.controllers.base import write_header
from surefoot.native.kernels import array_kernel, block, kernel, noinline, python_impl, records
from surefoot.native.userdata import SLOT
from surefoot.native.vectors import Quaternion, from_yaw_roll_pitch
from surefoot.skills.schema import Skill

KNOTS = 8  # most that a curve can have
WIDTH = 1 + 2 * KNOTS  # numbers of a curve: how many knots, their phases, their values


@kernel
def _slope(phases: np.ndarray, values: np.ndarray, count: int, k: int) -> float:
    """Catmull-Rom tangent at a knot: the chord between its neighbours."""
    low, high = max(k - 1, 0), min(k + 1, count - 1)
    return (values[high] - values[low]) / (phases[high] - phases[low])  # type: ignore[no-any-return]


@noinline
def curve_at(curve: np.ndarray, phase: float) -> float:
    """Value of a curve (WIDTH,) at a phase; it is constant before its first and after its last knot."""
    count = int(curve[0])
    if count == 0:
        return 0.0
    phases, values = curve[1 : 1 + KNOTS], curve[1 + KNOTS : WIDTH]
    if count == 1 or phase <= phases[0]:
        return values[0]  # type: ignore[no-any-return]
    if phase >= phases[count - 1]:
        return values[count - 1]  # type: ignore[no-any-return]
    k = 0
    while phase >= phases[k + 1]:
        k += 1
    span = phases[k + 1] - phases[k]
    s = (phase - phases[k]) / span
    m, n = span * _slope(phases, values, count, k), span * _slope(phases, values, count, k + 1)
    p, q = values[k], values[k + 1]
    return p + s * (m + s * (3.0 * (q - p) - 2.0 * m - n + s * (2.0 * (p - q) + m + n)))  # type: ignore[no-any-return]


NUMBERS = (
    "speed", "step_time", "step_width", "step_height", "knee_twist", "toe_out", "turn_rate", "push_off",
    "longest_step", "narrowest", "speed_force", "sway_force", "speed_integral", "knee_support", "hip_support",
    "stand_stiffness", "stand_damping", "yielding", "yaw_gain", "yaw_limit", "loss", "levelling", "foresight",
    "side_foresight", "eager", "alpha", "hurry", "walks", "quicker", "softening", "settle",
)  # fmt: skip
ROLL_NUMBERS = ("rolling", "rolling_speed", "drag", "double_support", "push_force", "push_knee", "knee_give")
"""Numbers of a foot that rolls: by how much (0 … 1), then those of `parameters.Stride`."""
STYLE = np.dtype([(n, "f8") for n in (*(SLOT.names or ()), *NUMBERS, *ROLL_NUMBERS)])
_TRIPLES = ("pelvis", "lower_back", "upper_back", "neck", "swing_shoulder", "stance_shoulder")
CURVES = (
    *(f"{name}{axis}" for name in _TRIPLES for axis in ("", "_roll", "_yaw")),
    "swing_elbow", "stance_elbow", "swing_wrist", "stance_wrist", "stance_knee", "swing_ankle", "stance_ankle",
    "swing_toe", "stance_toe", "height", "swing_out",
)  # fmt: skip
"""Angles [rad] but for `height`, of the swing ankle over the ground by `step_height`, and `swing_out` [m], outward.
Pelvis, back, neck and ankles are told in the character frame, the others from their base."""
STRIDE_CURVES = ("swing_ankle", "stance_ankle", "height", "swing_out", "pressure")
"""Those of a rolling foot: its pitch [rad], the height of its lowest point over the ground by `step_height`, its way
outward beyond that of the style [m], and where its centre of pressure is when nothing has to be corrected: −1 at the
heel, 1 at the ball."""
PELVIS, LOWER_BACK, UPPER_BACK, NECK, SWING_SHOULDER, STANCE_SHOULDER = range(0, 18, 3)
SWING_ELBOW, STANCE_ELBOW, SWING_WRIST, STANCE_WRIST, STANCE_KNEE = range(18, 23)
SWING_ANKLE, STANCE_ANKLE, SWING_TOE, STANCE_TOE, HEIGHT, SWING_OUT = range(23, 29)
ROLL_SWING_ANKLE, ROLL_STANCE_ANKLE, ROLL_HEIGHT, ROLL_SWING_OUT, ROLL_PRESSURE = range(29, 34)
_STYLE = STYLE.itemsize // 8
_RELATIVE = ("step_time", "step_width", "step_height")  # which a stride gives as multiples of the style's


class Style(NamedTuple):
    """Views of one style."""

    numbers: Any  # (1,) STYLE
    curves: Any  # (curves, WIDTH)


_COUNT = len(CURVES) + len(STRIDE_CURVES)


def slot_size() -> int:
    """Numbers in a slot."""
    return 2 * _STYLE + _COUNT * WIDTH


@kernel
def style_of(slot: np.ndarray) -> Style:
    """Lay the views of a style's flat-footed walk over a slot."""
    return Style(records(slot, 0, 1, STYLE), block(slot, 2 * _STYLE, (_COUNT, WIDTH)))


@array_kernel
def stride_of(slot: np.ndarray) -> Any:
    """(1,) STYLE of a slot's stride; its `rolling` is 0 if the style has none."""
    return records(slot, _STYLE, 1, STYLE)


@kernel
def blended_style(slot: np.ndarray, memory: np.ndarray, start: int) -> Style:
    """A style whose numbers are those that `blend_numbers` has written into the memory from `start` on."""
    return Style(records(memory, start, 1, STYLE), block(slot, 2 * _STYLE, (_COUNT, WIDTH)))


@noinline
def blend_numbers(slot: np.ndarray, memory: np.ndarray, start: int, ease: float) -> None:
    """Write the numbers that are a share `ease` of the way from the flat-footed walk to the stride into a memory."""
    for i in range(_STYLE):
        memory[start + i] = slot[i] + ease * (slot[_STYLE + i] - slot[i])


@kernel
def curve_value(style: Style, curve: int, phase: float) -> float:
    """A curve of a style at a phase of the step."""
    return curve_at(style.curves[curve], phase)  # type: ignore[no-any-return]


@kernel
def curve_rotation(style: Style, curve: int, phase: float, mirror: float, lean: float, share: float) -> Quaternion:
    """Rotation by a share (0 … 1) of three curves, flexion, roll and yaw, plus a lean [rad].

    `mirror` is −1 where roll and yaw reverse.
    """
    yaw, roll = mirror * curve_value(style, curve + 2, phase), mirror * curve_value(style, curve + 1, phase)
    pitch = share * curve_value(style, curve, phase) + lean
    return from_yaw_roll_pitch(share * yaw, share * roll, pitch)  # type: ignore[no-any-return]


def write_curve(style: Style, name: str, knots: list[tuple[float, float]]) -> None:
    """Write a curve's knots (phase, value)."""
    _write_knots(style.curves[CURVES.index(name)], knots)


def _write_knots(curve: np.ndarray, knots: list[tuple[float, float]]) -> None:
    curve[:] = 0.0
    curve[0] = len(knots)
    for k, (phase, number) in enumerate(knots):
        curve[1 + k], curve[1 + KNOTS + k] = phase, number


_HEIGHT: list[tuple[float, float]] = [(0.0, 0.0), (0.45, 1.0), (0.7, 0.45), (1.0, -0.28)]
"""The swing ankle over the ground unless a style says otherwise, of `step_height`: it ends below, so that it lands."""


def write_slot(slot: np.ndarray, skill: Skill) -> None:
    """Write a skill's numbers into a slot (slot_size,), in place."""
    write_header(slot, skill)
    style = python_impl(style_of)(slot)
    head, parameters = style.numbers[0], skill.parameters
    for name in NUMBERS:
        setattr(head, name, float(getattr(parameters, name)))
    write_curve(style, "height", _HEIGHT)
    for name, curve in parameters.curves.items():
        write_curve(style, name, _knots(curve))
    stride, given = python_impl(stride_of)(slot)[0], parameters.stride
    slot[_STYLE : 2 * _STYLE] = slot[:_STYLE]
    if given is None:
        return
    stride.rolling = 1.0
    for name, value in given.model_dump(exclude={"curves"}, exclude_none=True).items():
        setattr(stride, name, float(value) * (getattr(stride, name) if name in _RELATIVE else 1.0))
    for k, name in enumerate(STRIDE_CURVES):
        _write_knots(style.curves[len(CURVES) + k], _knots(given.curves[name]))


def _knots(curve: float | list[tuple[float, float]]) -> list[tuple[float, float]]:
    return list(curve) if isinstance(curve, list) else [(0.0, curve)]
