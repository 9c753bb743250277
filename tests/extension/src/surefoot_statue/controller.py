"""The controller: the model of its skill files, and what Surefoot asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import Controller, write_header
from surefoot.controllers.command import DEGREES, Command
from surefoot.native import userdata
from surefoot.native.kernels import records
from surefoot.skills.schema import Skill, Strict
from surefoot_statue.law import SERVO, SERVO_SIZE, SLOT_SIZE


class StatueParameters(Strict):
    """How stiff a statue is: multiples of the body's own gains."""

    stiffness: float = Field(8.0, ge=0.0, le=20.0)
    damping: float = Field(4.0, ge=0.0, le=20.0)


class StatueSkill(Skill):
    """A pose that is held."""

    controller: Literal["statue"]
    parameters: StatueParameters


class Statue(Controller):
    """Holds the start pose of a skill."""

    name = "statue"
    skill_class = StatueSkill
    law_module = "surefoot_statue.law"
    commands: ClassVar[Mapping[str, Command]] = {"lean": Command(DEGREES, -0.1, 0.1)}
    takes_tasks = True

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        return "" if table.anatomy.roles else "a statue needs a character whose joints have roles"

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return SLOT_SIZE + SERVO_SIZE * self.actuators

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return 1

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's servos into a slot."""
        write_header(slot, skill)
        servos = records(slot, SLOT_SIZE, self.actuators, SERVO)
        anatomy = self.table.anatomy
        held = dict(zip(anatomy.joints(0 if skill.start.swing == "left" else 1), anatomy.roles, strict=True))
        for servo, (joint, gain) in zip(servos, self.table.gains.items(), strict=True):
            servo.kp, servo.kd = skill.parameters.stiffness * gain.kp, skill.parameters.damping * gain.kd
            servo.limit, servo.is_ankle = gain.limit, joint in ("left_ankle", "right_ankle")
            servo.target = skill.start.joints.get(held[joint], 0.0)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start: nothing."""

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Servos can always be interpolated."""
        return True

    def is_standing(self, row: userdata.Row) -> bool:
        """A statue always stands."""
        return True
