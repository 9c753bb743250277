"""Limit cycle control behind Surefoot's controller interface."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import ControlledScene, Controller, unknown_commands
from surefoot.controllers.command import Command
from surefoot.controllers.limit_cycle import law
from surefoot.controllers.limit_cycle import slot as slots
from surefoot.controllers.limit_cycle.parameters import LimitCycleSkill
from surefoot.controllers.limit_cycle.planner import TrialPlanner
from surefoot.controllers.limit_cycle.regulation import feature_count
from surefoot.controllers.simbicon.parameters import invalid_gains, unknown_roles
from surefoot.controllers.simbicon.slot import has_same_states, is_same_size
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Problem, Skill

log = logging.getLogger(__name__)


class LimitCycle(Controller):
    """Limit cycle control of bipedal locomotion (Laszlo, van de Panne, Fiume 1996)."""

    name = "limit_cycle"
    skill_class = LimitCycleSkill
    law_module = "surefoot.controllers.limit_cycle.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS
    takes_tasks = True

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        if table.root == "planar":
            return "limit cycle control is for bodies in space"
        fits = table.root == "free" and table.anatomy.roles
        return "" if fits else "limit cycle control needs a character in space whose joints have roles"

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body."""
        parameters = skill.parameters
        yield from unknown_roles(skill, table)
        yield from invalid_gains(skill, table)
        yield from unknown_commands(skill, cls.commands)
        if "speed" in skill.commands and parameters.speed is None:
            yield ("commands",), "a skill that knows `speed` says how in its parameters: speed"
        if skill.start.state >= len(parameters.states):
            yield ("start", "state"), f"there are {len(parameters.states)} states, counted from 0"
        model, count = parameters.model, feature_count(len(table.gains))
        if model and {len(model.mean), len(model.scale), *(len(row) - 1 for row in model.weights)} != {count}:
            message = f"a model of this body has {count} features, and as many weights and a constant"
            yield ("parameters", "model"), message

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return slots.slot_size(self.table)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size(slots.features(self.table))

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        slots.write_slot(slot, skill, self.table)

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        machine = python_impl(law.machine_of)(row.memory)[0]
        machine.state = skill.start.state + (len(skill.parameters.states) if skill.start.swing == "right" else 0)
        machine.heading = row.commands[law.HEADING] = skill.start.heading
        python_impl(law.cycle_of)(row.memory)[0].fresh = 1.0

    def set_command(self, row: userdata.Row, name: str, value: float) -> None:
        """Set a command of a row; a speed that the skill cannot reach is logged, once."""
        at = list(self.commands).index(name)
        is_news = row.commands[law.GIVEN + at] == 0.0 or row.commands[at] != value  # a task repeats itself
        super().set_command(row, name, value)
        if name == "speed" and is_news:
            self._warn(row, value)

    def _warn(self, row: userdata.Row, speed: float) -> None:
        """Log a speed that is out of the running skill's reach: the law goes at the nearest that is not."""
        slot = row.slots[int(row.header[0].active)]
        regulation = python_impl(law.regulation_of)(slot, slots.regulation_begin(self.table))[0]
        low, high = float(regulation.slowest), float(regulation.fastest)
        if not low <= speed <= high:
            log.warning(
                "speed %g m/s is out of reach of this skill, which goes at %g … %g m/s: it goes at %g m/s",
                speed, low, high, min(max(speed, low), high),
            )  # fmt: skip

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two pose graphs have the same states with the same endings."""
        return has_same_states(one, other, self.roles)

    def is_compatible(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two pose graphs have as many states."""
        return is_same_size(one, other, self.roles)

    def planner(self, scene: ControlledScene) -> TrialPlanner:
        """Trial steps choose the perturbation of every step."""
        return TrialPlanner(scene)
