"""Common base of the controllers that walk by an inverted pendulum: GENBICON and stepping."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import Controller
from surefoot.native import userdata
from surefoot.skills.schema import Skill

_STAND = 0.0  # mode of a body on two feet, in both laws


class PendulumController(Controller):
    """A law with modes for standing, shifting the weight and stepping, for bodies in space with two-bone legs."""

    takes_tasks = True
    title: ClassVar[str]  # name of the controller in messages
    heading: ClassVar[int]  # place of the heading among the commands

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        return "" if table.is_biped else f"{cls.title} needs a character in space with legs of two bones"

    @abstractmethod
    def state(self, row: userdata.Row) -> np.record:
        """The law's record in a row's memory, with fields `mode`, `heading` and `swing`."""

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start: it stands on both feet."""
        state = self.state(row)
        state.mode = _STAND
        state.heading = row.commands[self.heading] = skill.start.heading
        state.swing = 0.0 if skill.start.swing == "right" else 1.0  # the other foot takes the first step

    def is_standing(self, row: userdata.Row) -> bool:
        """Whether it stands on both feet and does not step."""
        return bool(self.state(row).mode == _STAND)
