"""The parameters of a style as an animator edits them: names of curves, knots of curves, and numbers with sliders.

A curve runs over the phase of a step (0 … 1). Its knots are moved, added, removed and mirrored here; between the knots
it is evaluated by the controller's own interpolation. Numbers and their bounds are found in the skill's schema.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from pydantic import BaseModel

from surefoot.controllers.genbicon.style import CURVES, KNOTS, WIDTH, curve_at, slot_size, style_of, write_slot
from surefoot.errors import SkillError
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill
from surefoot.studio.skill_document import field_bounds

DEGREES = 180.0 / math.pi


@dataclass(frozen=True)
class Unit:
    """How values are shown: `factor` times the skill's, followed by a sign; an axis spans at least `span`."""

    factor: float
    sign: str
    span: float


ANGLE, LENGTH, SHARE = Unit(DEGREES, "°", 60.0), Unit(100.0, " cm", 20.0), Unit(100.0, " %", 100.0)


@dataclass(frozen=True)
class CurveLabel:
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
    "stance_knee": CurveLabel(LEGS, "Stance knee", "", "bent"),
    "height": CurveLabel(LEGS, "Swing height", "up", "down", SHARE),
    "swing_out": CurveLabel(LEGS, "Swing out", "outward", "inward", LENGTH),
    "swing_ankle": CurveLabel(FEET, "Swing ankle", "toes up", "toes down"),
    "stance_ankle": CurveLabel(FEET, "Stance ankle", "toes up", "toes down"),
    "swing_toe": CurveLabel(FEET, "Swing toes", "up", "down"),
    "stance_toe": CurveLabel(FEET, "Stance toes", "up", "down"),
}


def _label_of(name: str) -> CurveLabel:
    if name in _OTHERS:
        return _OTHERS[name]
    side, _, rest = name.partition("_")
    if rest in _ARM:
        return CurveLabel(SWING_ARM if side == "swing" else STANCE_ARM, *_ARM[rest])
    for part in ("pelvis", "lower_back", "upper_back", "neck"):
        turn = name.removeprefix(part)
        if turn in _TURNS:
            movement, above, below = _TURNS[turn]
            return CurveLabel(TRUNK, f"{part.replace('_', ' ').capitalize()} {movement}", above, below)
    return CurveLabel("Other", name.replace("_", " ").capitalize(), "", "")


CURVE_LABELS = {name: _label_of(name) for name in CURVES}
GROUPS = tuple(dict.fromkeys(title.group for title in CURVE_LABELS.values()))


def labels(group: str) -> dict[str, str]:
    """Names of the curves of a group by their labels."""
    return {title.label: name for name, title in CURVE_LABELS.items() if title.group == group}


Knots = tuple[tuple[float, float], ...]  # (phase, value), in the order of their phases
Limits = tuple[float, float]
MIN_KNOT_GAP = 0.02  # of phase, between a moved knot and its neighbors
SIDES = ("swing_", "stance_")


def _python(kernel: Any) -> Any:
    """A kernel as plain Python, with the kernels that it calls."""
    function = python_impl(kernel)
    called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    known = {name: _python(it) for name, it in called.items() if hasattr(it, "py_func")}
    return FunctionType(function.__code__, function.__globals__ | known)


_curve_at = _python(curve_at)


def evaluate_array(curve: np.ndarray, phase: float) -> float:
    """Value at a phase of a curve as a slot holds it (WIDTH,)."""
    return float(_curve_at(curve, phase))


def has_curves(skill: Skill) -> bool:
    """Whether a skill's parameters have curves."""
    return hasattr(skill.parameters, "curves")


def curve_limits(skill: Skill) -> Limits:
    """Lowest and highest value that the schema allows a curve."""
    return field_bounds(type(skill.parameters), "curves")


def knots_of(skill: Skill, name: str) -> Knots:
    """A curve's knots; for a curve that the skill does not give, those that the controller uses instead."""
    given = skill.parameters.curves.get(name)
    if isinstance(given, (list, tuple)):
        return tuple((float(phase), float(value)) for phase, value in given)
    if given is not None:
        return ((0.0, float(given)),)
    slot = np.zeros(slot_size())
    write_slot(slot, skill)
    curve = python_impl(style_of)(slot).curves[CURVES.index(name)]
    count = int(curve[0])
    found = zip(curve[1 : 1 + count].tolist(), curve[1 + KNOTS : 1 + KNOTS + count].tolist(), strict=True)
    return tuple(found) or ((0.0, 0.0),)


def knots_to_yaml(knots: Knots) -> float | list[list[float]]:
    """A curve as a skill file writes it: a number if it has only one knot."""
    if len(knots) == 1:
        return round(knots[0][1], 4)
    return [[round(phase, 4), round(value, 4)] for phase, value in knots]


def evaluate(knots: Knots, phases: Sequence[float] | np.ndarray) -> np.ndarray:
    """(n,) values at phases, by the controller's own interpolation."""
    curve = np.zeros(WIDTH)
    curve[0] = len(knots)
    curve[1 : 1 + len(knots)] = [phase for phase, _ in knots]
    curve[1 + KNOTS : 1 + KNOTS + len(knots)] = [value for _, value in knots]
    return np.array([evaluate_array(curve, float(phase)) for phase in phases])


def move_knot(knots: Knots, index: int, to: tuple[float, float], within: Limits) -> Knots:
    """The knots with one of them dragged: it stays between its neighbors and the limits; ends keep their phase."""
    phase, value = knots[index]
    if 0 < index < len(knots) - 1:
        low = min(knots[index - 1][0] + MIN_KNOT_GAP, phase)
        high = max(knots[index + 1][0] - MIN_KNOT_GAP, phase)
        phase = min(max(to[0], low), high)
    value = min(max(to[1], within[0]), within[1])
    return (*knots[:index], (phase, value), *knots[index + 1 :])


def add_knot(knots: Knots, within: Limits) -> tuple[Knots, int]:
    """The knots with another one in the widest gap, and its index. A flat curve gets both ends too.

    The knot lies on the curve, or at the limit where the curve leaves its limits.
    """
    if len(knots) == 1:
        return tuple((phase, knots[0][1]) for phase in (0.0, 0.5, 1.0)), 1
    if len(knots) == KNOTS:
        raise SkillError(f"a curve has at most {KNOTS} knots")
    phases = [phase for phase, _ in knots]
    gaps = [b - a for a, b in itertools.pairwise([0.0, *phases, 1.0])]
    index = int(np.argmax(gaps))
    if index == 0:
        phase = 0.0
    elif index == len(knots):
        phase = 1.0
    else:
        phase = 0.5 * (phases[index - 1] + phases[index])
    value = min(max(float(evaluate(knots, [phase])[0]), within[0]), within[1])
    return (*knots[:index], (phase, value), *knots[index:]), index


def remove_knot(knots: Knots, index: int) -> Knots:
    """The knots without one of them. The neighbor of a removed end becomes the end; a single knot is a flat curve."""
    if len(knots) == 1:
        raise SkillError("a curve has at least one knot")
    left = [*knots[:index], *knots[index + 1 :]]
    if len(left) == 1:
        return ((0.0, left[0][1]),)
    if index == 0:
        left[0] = (knots[0][0], left[0][1])
    elif index == len(knots) - 1:
        left[-1] = (knots[-1][0], left[-1][1])
    return tuple(left)


def flatten(knots: Knots) -> Knots:
    """One knot, at the curve's mean."""
    return ((0.0, float(evaluate(knots, (np.arange(100) + 0.5) / 100).mean())),)


def reverse(knots: Knots) -> Knots:
    """The curve backwards: it begins where the other ends, as the curves of two arms follow each other."""
    return knots if len(knots) == 1 else tuple((1.0 - phase, value) for phase, value in reversed(knots))


def shift_values(knots: Knots, by: float, within: Limits) -> Knots:
    """All knots higher or lower, each within the limits."""
    return tuple((phase, min(max(value + by, within[0]), within[1])) for phase, value in knots)


def other_side(name: str) -> str | None:
    """The curve of the same joint on the other side; None for a curve without sides."""
    for one, other in (SIDES, SIDES[::-1]):
        found = name.replace(one, other, 1)
        if name.startswith(one) and found in CURVES:
            return found
    return None


@dataclass(frozen=True)
class SliderSpec:
    """A number with a slider: its field, its label, bounds and step as shown, which is `factor` times the skill's."""

    field: str
    label: str
    low: float
    high: float
    step: float
    factor: float = 1.0
    hint: str | None = None
    first: bool = False  # whether animators use it most


_WORDS: dict[str, tuple[str, float, str]] = {
    "speed": ("Speed (m/s)", 1.0, "The speed it tries to walk at. A speed commanded on another tab takes precedence."),
    "step_time": ("Step time (s)", 1.0, "From one foot down to the other."),
    "step_width": ("Step width (m)", 1.0, "Between the feet's tracks."),
    "step_height": ("Step height (m)", 1.0, "How high a swing height of 100 % is."),
    "knee_twist": ("Knees out (°)", DEGREES, "Negative is knock-kneed, positive bow-legged."),
    "toe_out": ("Toes out (°)", DEGREES, "Negative turns the feet inward."),
}


def slider_specs(parameters: BaseModel) -> list[SliderSpec]:
    """All numbers of a skill's parameters that have two bounds, those that animators use most first."""
    found = []
    for field, declared in type(parameters).model_fields.items():
        if declared.annotation is float:
            with contextlib.suppress(SkillError):  # it has no two bounds
                found.append(_slider_spec(field, *field_bounds(type(parameters), field)))
    return sorted(found, key=lambda spec: not spec.first)


def _slider_spec(field: str, low: float, high: float) -> SliderSpec:
    if field not in _WORDS:
        return SliderSpec(field, field.replace("_", " ").capitalize(), low, high, 0.01)
    label, factor, hint = _WORDS[field]
    if factor == 1.0:
        return SliderSpec(field, label, low, high, 0.01, hint=hint, first=True)
    lowest, highest = float(int(low * factor)), float(int(high * factor))  # whole degrees within the bounds
    return SliderSpec(field, label, lowest, highest, 1.0, factor, hint, first=True)
