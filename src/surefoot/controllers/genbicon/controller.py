"""GENBICON behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import Controller
from surefoot.controllers.command import Command
from surefoot.controllers.genbicon import law, style
from surefoot.controllers.genbicon.memory import STAND
from surefoot.controllers.genbicon.parameters import GenbiconSkill
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill


class Genbicon(Controller):
    """Generalized biped walking control (Coros, Beaudoin, van de Panne 2010)."""

    name = "genbicon"
    skill_class = GenbiconSkill
    law_module = "surefoot.controllers.genbicon.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    any_biped = True
    takes_tasks = True

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        return "" if table.is_biped else "GENBICON needs a character in space with legs of two bones"

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
        walker = python_impl(law.walker_of)(row.memory)[0]
        walker.mode, walker.load = STAND, 0.5
        walker.heading = row.commands[law.HEADING] = skill.start.heading
        walker.swing = 0.0 if skill.start.swing == "right" else 1.0  # the first step is the other's
        python_impl(law.hands_of)(row.memory)["stiff"] = 1.0

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Let the usual length of a step follow the legs'."""
        python_impl(law.walker_of)(row.memory)[0].usual *= length

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the curves of two styles have as many knots, and both walk or stand."""
        a, b = (python_impl(style.style_of)(slot[: self.slot_size]) for slot in (one, other))
        return bool((a.curves[:, 0] == b.curves[:, 0]).all() and a.numbers[0].walks == b.numbers[0].walks)

    def is_standing(self, row: userdata.Row) -> bool:
        """Whether it stands on both feet and does not step."""
        return bool(python_impl(law.walker_of)(row.memory)[0].mode == STAND)
