"""Servos scaled by what hangs on their joints (da Silva 2008, "Adjustment with PD"), and the slot they lie in."""

from __future__ import annotations

import math

import numpy as np

from surefoot import controllers
from surefoot.characters.table import CharacterTable
from surefoot.native.memory import SLOT
from surefoot.native.pointers import records
from surefoot.reflexes.pose_graph import GAIN
from surefoot.skills.numbers import NUMBER_AT, number_of
from surefoot.skills.schema import Skill


def kind_of(joint: str) -> str:
    """What kind of joint it is: `hip` for `left_hip_roll`."""
    return joint.removeprefix("left_").removeprefix("right_").split("_")[0]


def composite_inertias(table: CharacterTable) -> np.ndarray:
    """(actuators,) inertia of all that hangs on each joint about its axis, limbs hanging, armature included [kg·m²]."""
    place: dict[str, np.ndarray] = {"world": np.zeros(3)}
    above: dict[str, tuple[str, ...]] = {"world": ()}
    found = dict.fromkeys(table.gains, table.armature)
    hinges = {s.name: [h for h in s.hinges if h.name in found] for s in table.segments}
    for segment in table.segments:  # all frames are parallel in this pose
        place[segment.name] = place[segment.parent] + np.asarray(segment.offset)
        above[segment.name] = (*above[segment.parent], segment.name)
        center = place[segment.name] + np.asarray(segment.com)
        for carrier in above[segment.name]:
            for hinge in hinges[carrier]:
                axis, arm = np.asarray(hinge.axis), center - place[carrier]
                own = float(axis**2 @ np.asarray(segment.inertia))
                found[hinge.name] += own + segment.mass * (float(arm @ arm) - float(axis @ arm) ** 2)
    return np.array(list(found.values()))


def fill_slot(slot: np.ndarray, skill: Skill, table: CharacterTable) -> None:
    """Write a skill's numbers into a slot, in place."""
    slot[:] = 0.0
    head = records(slot, 0, 1, SLOT)[0]
    head.controller = controllers.names().index(skill.controller)
    head.fall_height, head.fall_tilt_cosine, head.fall_tilt_time = (
        skill.fall.height, math.cos(min(skill.fall.tilt, math.pi)), skill.fall.tilt_time)  # fmt: skip
    slot[NUMBER_AT] = number_of(skill)
    gains = records(slot, NUMBER_AT + 1, len(table.gains), GAIN)
    strengths = skill.parameters.strength
    for i, (joint, inertia) in enumerate(zip(table.gains, composite_inertias(table), strict=True)):
        strength = strengths.get(kind_of(joint), strengths.get("all", 0.0))
        gains[i].kp, gains[i].kd = strength * inertia, 2.0 * math.sqrt(strength) * inertia
        gains[i].limit = table.gains[joint].limit
