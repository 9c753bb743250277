"""Tracking behind Surefoot's controller interface."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from surefoot.characters.table import CharacterTable, without_side
from surefoot.controllers import base
from surefoot.controllers.base import (
    NEVER,
    ControlledScene,
    Controller,
    Entered,
    Planner,
    ReferencePlanner,
    ReferenceSpan,
    RowHandle,
)
from surefoot.controllers.command import Command
from surefoot.controllers.tracking import law
from surefoot.controllers.tracking.parameters import TrackingSkill
from surefoot.controllers.tracking.table import TrackingTable, load_table
from surefoot.errors import SurefootError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.handover import ASKED
from surefoot.reflexes.pose_graph import GAIN
from surefoot.skills.schema import NUMBER_AT, Problem, Skill, number_of

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
    has_references = True

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
        plan.number, plan.table = number_of(skill), self.tables[parameters.reference]
        for name in ("softness", "feedback", "most", "leash", "homing", "lost", "turn_rate", "speed"):
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
        tracker.leave = tracker.enter = law.UNSPECIFIED
        tracker.heading = row.commands[law.HEADING] = skill.start.heading

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether both slots follow the same table."""
        table = records(one, 0, 1, law.PLAN)[0].table
        return bool(table == records(other, 0, 1, law.PLAN)[0].table)

    def planner(self, scene: ControlledScene) -> Planner | None:
        """What follows the edges of an action graph, if the scene has one; nothing else is decided in Python."""
        return None if scene.graph is None else EdgePlanner(scene)

    def references(self, scene: ControlledScene) -> EdgePlanner:
        """What knows the motions of its skills."""
        return EdgePlanner(scene)


_LOOK = 0.05  # [s] between two looks at where a row is in its graph


class EdgePlanner(ReferencePlanner):
    """Takes rows over the edges of an action graph: the law switches, this says to what next, and where.

    Which skill runs in a row, and to which node it goes, lies in the row's memory.
    """

    def __init__(self, scene: ControlledScene) -> None:
        """Plan the rows of a scene."""
        self._scene = scene
        self._controller = float(base.names().index(Tracking.name))
        self._period = max(1, round(_LOOK / scene.timestep))
        self._known: dict[float, Skill] = {}  # by its number

    def prepare(self, skill: Skill) -> None:
        """Take note of a skill that a row may run."""
        self._known[number_of(skill)] = skill

    def running_skill(self, row: userdata.Row) -> Skill | None:
        """The tracking skill that runs in a row, if one does."""
        slot = row.slots[int(row.header[0].active)]
        return self._known.get(float(slot[NUMBER_AT])) if slot[0] == self._controller else None

    def _tracker(self, row: userdata.Row) -> Any:
        return python_impl(law.memory_of)(row.memory, len(self._scene.table.gains)).tracker[0]

    def span(self, skill: Skill) -> ReferenceSpan:
        """The motion that a skill follows, with what it holds at its end."""
        table = table_of_skill(skill)
        over_at = min(table.duration, (table.windows - 1) * table.window)  # from then on its last window is held
        return ReferenceSpan(table.windows * table.window, table.loops, over_at)

    def clock(self, row: userdata.Row) -> float:
        """How far the running skill's motion is [s]."""
        skill = self.running_skill(row)
        return float(self._tracker(row).clock) * table_of_skill(skill).window if skill is not None else 0.0

    def entered(self, row: userdata.Row) -> Entered:
        """When and where a row began to follow its motion after another one."""
        tracker, skill = self._tracker(row), self.running_skill(row)
        windows = table_of_skill(skill).windows if skill is not None else 1
        return Entered(float(tracker.entered_at), float(tracker.entered) / windows)

    def set_phases(self, row: userdata.Row, leave: float, enter: float) -> None:
        """Say where the running motion is left for a requested skill, and where that begins."""
        tracker = self._tracker(row)
        tracker.leave, tracker.enter = leave, enter

    def request(self, row: userdata.Row, skill: Skill) -> None:
        """Note the node that a row is to go to."""
        graph = self._scene.graph
        self.set_phases(row, law.UNSPECIFIED, law.UNSPECIFIED)
        self._tracker(row).goal = 0.0
        here, there = (None, None) if graph is None else (graph.node_of_row(row), graph.node_of_skill(skill))
        if here is not None and there is not None:
            graph.shortest_path(here, there)  # raises if there is none
            self._tracker(row).goal, row.header[0].pending = 1.0 + graph.index(there), 0.0

    def steps_to_next(self, handle: RowHandle) -> int:
        """Physics steps until a row of the graph is looked at again."""
        if self.running_skill(handle.row) is None:
            return NEVER
        return int(self._period - round(handle.time / self._scene.timestep) % self._period)

    def plan(self, handles: Sequence[RowHandle]) -> None:
        """Let rows that do not wait for a switch go on to their goal, or to what follows by itself."""
        for handle in handles:
            row = handle.row
            header, skill = row.header[0], self.running_skill(row)
            if skill is None or header.pending != 0.0 or header.handover == ASKED:
                continue
            tracker, loops = self._tracker(row), table_of_skill(skill).loops
            switch = self._scene.graph.next_switch(row, int(tracker.goal), not loops)
            if switch is None:
                tracker.goal = 0.0
                continue
            self._scene.fill(row, 1 - int(header.active), switch.skill)
            leave = switch.leave if switch.leave >= 0.0 or loops else 1.0
            header.pending, tracker.leave, tracker.enter = 1.0, leave, switch.enter
