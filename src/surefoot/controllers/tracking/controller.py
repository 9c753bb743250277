"""Tracking behind Surefoot's controller interface."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable, without_side
from surefoot.controllers import base
from surefoot.controllers.base import Controller
from surefoot.controllers.command import Command
from surefoot.controllers.tracking import law
from surefoot.controllers.tracking.parameters import TrackingSkill
from surefoot.controllers.tracking.table import TrackingTable, load_table
from surefoot.errors import SurefootError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.pose_graph import GAIN
from surefoot.skills.schema import Problem, Skill

STIFFNESS = {"hip": 1.67, "knee": 1.67, "ankle": 1.67}
"""Factors of the body's servo gains with which clips are reconstructed."""


def joint_kind(joint: str) -> str:
    """The kind of a joint: `hip` for `left_hip_roll`."""
    return without_side(joint).split("_")[0]


@functools.lru_cache(maxsize=32)
def _loaded(path: Path, changed: int) -> TrackingTable:
    return load_table(path)


def table_of_skill(skill: Skill) -> TrackingTable:
    """The table that a skill follows.

    Raises:
        SurefootError: its file cannot be read.
    """
    path = Path(skill.parameters.reference)
    try:
        return _loaded(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise SurefootError(f"no table of a tracking skill in {path}: {error.strerror}") from None


class Tracking(Controller):
    """Reconstruction of captured motions by sampling, with linear feedback (Liu et al. 2010, 2012, 2016)."""

    name = "tracking"
    skill_class = TrackingSkill
    law_module = "surefoot.controllers.tracking.law"
    commands: ClassVar[Mapping[str, Command]] = law.COMMANDS

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body."""
        fits = table.root == "free" and table.anatomy.roles and table.imported is None
        return "" if fits else "a captured motion needs a character in space whose joints have roles"

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body."""
        kinds = tuple(dict.fromkeys(("all", *map(joint_kind, table.gains))))
        yield from base.unknown_names(("parameters", "stiffness"), skill.parameters.stiffness, kinds, "joint")
        yield from base.unknown_start_roles(skill, table)
        yield from base.unknown_commands(skill, cls.commands)
        if "speed" in skill.commands and (skill.parameters.speeds is None or not skill.parameters.speed):
            yield ("commands",), "`speed` needs the parameters `speed` and `speeds`"

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return law.slot_size(self.actuators)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return law.memory_size(self.actuators)

    def constants(self, skill: Skill) -> tuple[str, np.ndarray]:
        """The table, under its file's name."""
        table = table_of_skill(skill)
        if table.offsets.shape[1] != self.actuators:
            raise SurefootError(
                f"{skill.parameters.reference} is of a body with {table.offsets.shape[1]} actuated joints, "
                f"{self.table.name} has {self.actuators}"
            )
        return skill.parameters.reference, table.packed()

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""
        base.write_header(slot, skill)
        parameters = skill.parameters
        plan = records(slot, 0, 1, law.PLAN)[0]
        plan.table = self.tables[parameters.reference]
        for name in ("softness", "feedback", "most", "leash", "turn_rate", "speed"):
            plan[name] = getattr(parameters, name)
        plan.slowest = plan.fastest = 1.0
        if parameters.speeds and parameters.speed:
            paces = sorted(speed / parameters.speed for speed in parameters.speeds)
            plan.slowest, plan.fastest = paces
        gains = records(slot, law.slot_size(0), self.actuators, GAIN)
        factors = parameters.stiffness
        for i, (joint, gain) in enumerate(self.table.gains.items()):
            factor = parameters.softness * factors.get(joint_kind(joint), factors.get("all", 1.0))
            gains[i].kp, gains[i].kd, gains[i].limit = factor * gain.kp, factor * gain.kd, gain.limit

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start."""
        tracker = python_impl(law.memory_of)(row.memory, self.actuators).tracker[0]
        tracker.pace, tracker.swing = 1.0, 0.0 if skill.start.swing == "left" else 1.0
        tracker.heading = row.commands[law.HEADING] = skill.start.heading

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether both slots follow the same table."""
        table = records(one, 0, 1, law.PLAN)[0].table
        return bool(table == records(other, 0, 1, law.PLAN)[0].table)
