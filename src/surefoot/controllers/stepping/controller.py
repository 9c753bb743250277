"""Adaptive stepping behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from surefoot.controllers.command import Command
from surefoot.controllers.pendulum_controller import PendulumController
from surefoot.controllers.stepping import law, plan
from surefoot.controllers.stepping.parameters import SteppingSkill
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill


class Stepping(PendulumController):
    """Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step")."""

    name = title = "stepping"
    skill_class = SteppingSkill
    law_module = "surefoot.controllers.stepping.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    heading = law.HEADING

    def state(self, row: userdata.Row) -> np.record:
        """The STEPPER record of a row's memory."""
        return python_impl(law.stepper_of)(row.memory)[0]  # type: ignore[no-any-return]

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
        super().begin(row, skill, seed)
        self.state(row).share = 0.5

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Scale the height of the hips with the legs."""
        self.state(row).height *= length

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two skills walk, take care and seek comfort alike."""
        a, b = python_impl(plan.plan_of)(one), python_impl(plan.plan_of)(other)
        return bool(a.walks == b.walks and a.careful == b.careful and a.comfort == b.comfort)
