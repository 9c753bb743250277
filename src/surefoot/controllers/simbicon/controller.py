"""SIMBICON behind Surefoot's controller interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import Controller, default_command, unknown_commands
from surefoot.controllers.command import Command
from surefoot.controllers.simbicon import law, parameters
from surefoot.controllers.simbicon import slot as slots
from surefoot.native import userdata
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.balance import random_state
from surefoot.reflexes.pose_graph import MACHINE
from surefoot.skills.schema import Problem, Skill


class PoseGraphController(Controller):
    """Common base of SIMBICON and imitation: all commands have a default except speed, which is off until it is set."""

    speed_given: ClassVar[int]  # place of the flag that a speed is commanded

    def given_at(self, name: str) -> int | None:
        """Place in a row's commands of the number that becomes 1 when a command is set; None if it has none."""
        return self.speed_given if name == "speed" else None

    def get_command(self, row: userdata.Row, skill: Skill, name: str) -> float | None:
        """What a command of a row was set to; None while it is as the skill has it."""
        value = float(row.commands[list(self.commands).index(name)])
        if name == "speed":
            return value if row.commands[self.speed_given] else None
        return value if value != default_command(skill, name) else None

    def clear_command(self, row: userdata.Row, skill: Skill, name: str) -> None:
        """Leave a command of a row to the skill again."""
        row.commands[list(self.commands).index(name)] = default_command(skill, name)
        if name == "speed":
            row.commands[self.speed_given] = 0.0

    def delay_samples(self, skill: Skill | None) -> int:
        """Samples of d and v that a skill that measures late keeps; 0 for one that measures at once."""
        delay = round(skill.parameters.sensing.delay / self.timestep) if skill else 0
        return delay + 1 if delay else 0


class Simbicon(PoseGraphController):
    """Simple biped locomotion control (Yin, Loken, van de Panne 2007)."""

    name = "simbicon"
    skill_class = parameters.SimbiconSkill
    law_module = "surefoot.controllers.simbicon.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    speed_given = law.SPEED_GIVEN

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        """Make it for a body."""
        super().__init__(table, links, timestep)
        # torques that can be learned: the torso's, of one or three components, and those of the upper body
        self._channels = (1 if table.root == "planar" else 3) + len(table.anatomy.channels)

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        return "" if table.anatomy.roles else "SIMBICON needs a character whose joints have roles"

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body."""
        planar = table.root == "planar"
        yield from parameters.unknown_roles(skill, table)
        yield from parameters.invalid_gains(skill, table)
        yield from parameters.invalid_start(skill)
        yield from unknown_commands(skill, law.PLANAR_COMMANDS if planar else cls.commands)
        if planar:
            yield from parameters.invalid_in_plane(skill)
        yield from parameters.invalid_hips_and_reaction(skill)
        yield from parameters.invalid_follower(skill)
        yield from parameters.invalid_speeds(skill)
        yield from parameters.invalid_slopes(skill, table)

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return slots.slot_size(self.table)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size(self.roles, self._channels, self.delay_samples(skill))

    def table_size(self, skill: Skill) -> int:
        """Numbers it learns."""
        learning = skill.parameters.learning
        return 2 * learning.bins * self._channels if learning else 0

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        slots.write_slot(slot, skill, self.table, self.timestep, find)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        start = skill.start
        machine = records(row.memory, 0, 1, MACHINE)[0]
        other_half = start.swing == "right" and skill.parameters.halves == 2
        machine.state = machine.previous = start.state + (len(skill.parameters.states) if other_half else 0)
        machine.heading = row.commands[law.HEADING] = start.heading
        machine.random = python_impl(random_state)(seed)
        if skill.parameters.by_speed:
            machine.gait_speed = skill.parameters.by_speed.usual
        python_impl(law.learners_of)(row.memory, self.roles, self._channels)["bin"] = -1.0

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Let the learned torques follow the body's."""
        row.table[:] *= torque
        python_impl(law.learners_of)(row.memory, self.roles, self._channels)["total"] *= torque

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two pose graphs have the same states with the same endings."""
        return slots.has_same_states(one, other, self.roles)

    def is_compatible(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two pose graphs have as many states, and measure and learn alike."""
        return slots.is_same_size(one, other, self.roles)
