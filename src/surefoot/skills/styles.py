"""From a GENBICON skill to the numbers its law reads."""

from __future__ import annotations

import math

import numpy as np

from surefoot import controllers
from surefoot.native.pointers import plain
from surefoot.reflexes.style import NUMBERS, style_of, write_curve
from surefoot.skills.schema import Skill

_HEIGHT: list[tuple[float, float]] = [(0.0, 0.0), (0.45, 1.0), (0.7, 0.45), (1.0, -0.28)]
"""The swing ankle over the ground unless a style says otherwise, of `step_height`: it ends below, so that it lands."""


def fill_slot(slot: np.ndarray, skill: Skill) -> None:
    """Write a skill's numbers into a slot (slot_size,), in place."""
    slot[:] = 0.0
    style = plain(style_of)(slot)
    head, parameters = style.numbers[0], skill.parameters
    head.controller = controllers.names().index(skill.controller)
    head.fall_height, head.fall_tilt_time = skill.fall.height, skill.fall.tilt_time
    head.fall_tilt_cosine = math.cos(min(skill.fall.tilt, math.pi))
    for name in NUMBERS:
        setattr(head, name, float(getattr(parameters, name)))
    write_curve(style, "height", _HEIGHT)
    for name, curve in parameters.curves.items():
        write_curve(style, name, list(curve) if isinstance(curve, list) else [(0.0, curve)])
