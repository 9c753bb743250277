"""Numbers of a skill that a slider can hold, found in its schema with their bounds."""

from __future__ import annotations

from dataclasses import dataclass

import annotated_types
from pydantic import BaseModel

from surefoot.studio.curve_names import DEGREES


@dataclass(frozen=True)
class Dial:
    """A number: the field it is, what it is called, bounds and step as they are shown, `factor` times the skill's."""

    field: str
    label: str
    low: float
    high: float
    step: float
    factor: float = 1.0
    hint: str | None = None
    first: bool = False  # one that an animator would reach for


_WORDS: dict[str, tuple[str, float, str]] = {
    "speed": ("Speed (m/s)", 1.0, "What it tries to walk at. A speed commanded on another tab goes first."),
    "step_time": ("Step time (s)", 1.0, "From one foot down to the other."),
    "step_width": ("Step width (m)", 1.0, "Between the feet's tracks."),
    "step_height": ("Step height (m)", 1.0, "How high a swing height of 100 % is."),
    "knee_twist": ("Knees out (°)", DEGREES, "Negative is knock-kneed, positive bow-legged."),
    "toe_out": ("Toes out (°)", DEGREES, "Negative turns the feet inward."),
}


def dials(parameters: BaseModel) -> list[Dial]:
    """All numbers of some parameters that have two bounds, an animator's first."""
    found = []
    for field, declared in type(parameters).model_fields.items():
        if declared.annotation is not float:
            continue
        low = high = None
        for bound in declared.metadata:
            if isinstance(bound, (annotated_types.Ge, annotated_types.Gt)):
                low = float(getattr(bound, "ge", getattr(bound, "gt", None)))  # type: ignore[arg-type]
                low += 0.01 * isinstance(bound, annotated_types.Gt)
            if isinstance(bound, (annotated_types.Le, annotated_types.Lt)):
                high = float(getattr(bound, "le", getattr(bound, "lt", None)))  # type: ignore[arg-type]
                high -= 0.01 * isinstance(bound, annotated_types.Lt)
        if low is not None and high is not None:
            found.append(_dial(field, low, high))
    return sorted(found, key=lambda dial: not dial.first)


def _dial(field: str, low: float, high: float) -> Dial:
    if field not in _WORDS:
        return Dial(field, field.replace("_", " ").capitalize(), low, high, 0.01)
    label, factor, hint = _WORDS[field]
    if factor == 1.0:
        return Dial(field, label, low, high, 0.01, hint=hint, first=True)
    inside = float(int(high * factor)), float(int(low * factor))  # whole degrees, none beyond a bound
    return Dial(field, label, inside[1], inside[0], 1.0, factor, hint, first=True)
