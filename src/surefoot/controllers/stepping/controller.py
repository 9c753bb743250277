"""Adaptive stepping behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import Controller
from surefoot.controllers.command import Command
from surefoot.controllers.stepping import law, plan
from surefoot.controllers.stepping.parameters import SteppingSkill
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill


class Stepping(Controller):
    """Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step")."""

    name = "stepping"
    skill_class = SteppingSkill
    law_module = "surefoot.controllers.stepping.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    takes_tasks = True

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        return "" if table.is_biped else "stepping needs a character in space with legs of two bones"

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return plan.slot_size(self.actuators)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size()

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        plan.write_slot(slot[: self.slot_size], skill, self.table)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        stepper = python_impl(law.stepper_of)(row.memory)[0]
        stepper.mode, stepper.share = plan.STAND, 0.5
        stepper.heading = row.commands[law.HEADING] = skill.start.heading
        stepper.swing = 0.0 if skill.start.swing == "right" else 1.0  # the first step is the other's

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Let the height of the hips follow the legs."""
        python_impl(law.stepper_of)(row.memory)[0].height *= length

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two skills walk, take care and seek comfort alike."""
        a, b = python_impl(plan.plan_of)(one), python_impl(plan.plan_of)(other)
        return bool(a.walks == b.walks and a.careful == b.careful and a.comfort == b.comfort)

    def is_standing(self, row: userdata.Row) -> bool:
        """Whether it stands on both feet and does not step."""
        return bool(python_impl(law.stepper_of)(row.memory)[0].mode == plan.STAND)
