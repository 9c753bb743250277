"""GENBICON behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from surefoot.controllers.command import Command
from surefoot.controllers.genbicon import law, style
from surefoot.controllers.genbicon.parameters import GenbiconSkill
from surefoot.controllers.pendulum_controller import PendulumController
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill


class Genbicon(PendulumController):
    """Generalized biped walking control (Coros, Beaudoin, van de Panne 2010)."""

    name, title = "genbicon", "GENBICON"
    skill_class = GenbiconSkill
    law_module = "surefoot.controllers.genbicon.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    heading = law.HEADING
    any_biped = True

    def state(self, row: userdata.Row) -> np.record:
        """The WALKER record of a row's memory."""
        return python_impl(law.walker_of)(row.memory)[0]  # type: ignore[no-any-return]

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return style.slot_size()

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size(self.links)

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        style.write_slot(slot[: self.slot_size], skill)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        super().begin(row, skill, seed)
        self.state(row).load = 0.5
        python_impl(law.hands_of)(row.memory)["stiff"] = 1.0

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Scale the usual length of a step with the legs."""
        self.state(row).usual *= length

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the curves of two styles have as many knots, and both walk or stand."""
        a, b = (python_impl(style.style_of)(slot[: self.slot_size]) for slot in (one, other))
        return bool((a.curves[:, 0] == b.curves[:, 0]).all() and a.numbers[0].walks == b.numbers[0].walks)
