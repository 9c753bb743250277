"""From a stepping skill to the numbers its law reads."""

from __future__ import annotations

import math

import numpy as np

from surefoot import controllers
from surefoot.characters.stepper import CONTACT_SCALE
from surefoot.characters.table import CharacterTable
from surefoot.native.pointers import plain
from surefoot.reflexes.stepper import NUMBERS, plan_of, servos_of
from surefoot.skills.schema import Skill


def fill_slot(slot: np.ndarray, skill: Skill, table: CharacterTable) -> None:
    """Write a skill's numbers and the servos of its body into a slot (slot_size,), in place."""
    slot[:] = 0.0
    plan = plain(plan_of)(slot)
    plan.controller = controllers.names().index(skill.controller)
    plan.fall_height, plan.fall_tilt_time = skill.fall.height, skill.fall.tilt_time
    plan.fall_tilt_cosine = math.cos(min(skill.fall.tilt, math.pi))
    for name in NUMBERS:
        setattr(plan, name, float(getattr(skill.parameters, name)))
    servos = plain(servos_of)(slot, len(table.gains))[0]
    highest = {hinge.name: hinge.high for segment in table.segments for hinge in segment.hinges}
    for i, (joint, gain) in enumerate(table.gains.items()):
        kind = joint.removeprefix("left_").removeprefix("right_").split("_")[0]
        servos[i] = gain.kp, gain.kd, gain.limit, CONTACT_SCALE.get(kind, 1.0), highest[joint]
