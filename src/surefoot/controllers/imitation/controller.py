"""Imitation of captured gaits behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import unknown_commands, unknown_names, unknown_start_roles
from surefoot.controllers.command import Command
from surefoot.controllers.imitation import law
from surefoot.controllers.imitation import slot as slots
from surefoot.controllers.imitation.parameters import ROOT, ImitationSkill
from surefoot.controllers.simbicon.controller import PoseGraphController
from surefoot.controllers.simbicon.law import HEADING
from surefoot.controllers.simbicon.parameters import invalid_gains, invalid_hips_and_reaction
from surefoot.native import userdata
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.balance import random_state
from surefoot.reflexes.feedback_error import lessons_size, rescale_lessons
from surefoot.skills.schema import Problem, Skill


class Imitation(PoseGraphController):
    """SIMBICON from motion capture (Yin, Loken, van de Panne 2007, §5)."""

    name = "imitation"
    skill_class = ImitationSkill
    law_module = "surefoot.controllers.imitation.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    speed_given = law.SPEED_GIVEN

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        fits = table.root == "free" and table.anatomy.roles
        return "" if fits else "a captured gait needs a character in space whose joints have roles"

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body."""
        parameters, roles = skill.parameters, table.anatomy.roles
        cycle, place = parameters.cycle, ("parameters", "cycle")
        yield from unknown_names((*place, "joints"), cycle.joints, tuple(table.gains), "name")
        yield from unknown_names((*place, "root"), cycle.root, ROOT, "name")
        yield from unknown_names(("parameters", "offsets"), parameters.offsets, roles, "name")
        yield from unknown_names(("parameters", "feedback"), parameters.feedback, roles, "name")
        driven = tuple(role for role in roles if not table.anatomy.kind(role).startswith("hip"))
        yield from unknown_names(("parameters", "feedforward"), parameters.feedforward, driven, "name")
        yield from unknown_start_roles(skill, table)
        for name in ROOT:
            if name not in cycle.root:
                yield (*place, "root"), f"{name} is missing; needed: {', '.join(ROOT)}"
        if abs((cycle.lands[1] - cycle.lands[0]) % 1.0 - 0.5) > 0.4:
            yield (*place, "lands"), "the feet come down a tenth of a cycle apart at least"
        yield from invalid_gains(skill, table)
        yield from unknown_commands(skill, cls.commands)
        yield from invalid_hips_and_reaction(skill)

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return slots.slot_size(self.table)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size(self.roles, self.actuators, self.delay_samples(skill))

    def table_size(self, skill: Skill) -> int:
        """Numbers it learns."""
        learning = skill.parameters.learning
        return lessons_size(self.actuators + 3, learning.bins) if learning else 0

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        slots.write_slot(slot, skill, self.table, self.timestep)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        imitator = records(row.memory, 0, 1, law.IMITATOR)[0]
        imitator.swing = 0.0 if skill.start.swing == "left" else 1.0
        cycle = skill.parameters.cycle
        imitator.done = (skill.parameters.begins - cycle.lands[1 - int(imitator.swing)]) % 1.0
        imitator.step_start = -imitator.done * cycle.period / skill.parameters.tempo
        imitator.heading = row.commands[HEADING] = skill.start.heading
        imitator.random = python_impl(random_state)(seed)

    def usual_command(self, skill: Skill, name: str) -> float | None:
        """The value of a command while nobody sets it; the speed is that of the captured cycle."""
        if name != "speed":
            return super().usual_command(skill, name)
        cycle = skill.parameters.cycle
        return float(cycle.travel[0] * skill.parameters.tempo / cycle.period)

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Let the learned torques follow the body's."""
        rescale_lessons(row.table, self.actuators + 3, torque)

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two gaits measure and learn alike."""
        return slots.is_same_size(one, other, self.table)

    is_compatible = can_blend
