"""Stylized locomotion behind Surefoot's controller interface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers import base
from surefoot.controllers.base import (
    NEVER,
    ControlledScene,
    Controller,
    Entered,
    ReferencePlanner,
    ReferenceSpan,
    RowHandle,
)
from surefoot.controllers.stylized import law
from surefoot.controllers.stylized.parameters import StylizedSkill
from surefoot.errors import SurefootError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.handover import ASKED, TAKEN
from surefoot.reflexes.pose_graph import GAIN
from surefoot.skills.schema import NUMBER_AT, Problem, Skill, number_of

if TYPE_CHECKING:
    from surefoot.controllers.stylized.tracker import Tracker

_ACTIVE, _HANDOVER = ((userdata.HEADER.names or ()).index(name) for name in ("active", "handover"))


def joint_kind(joint: str) -> str:
    """The kind of a joint: `hip` for `left_hip_roll`."""
    return joint.removeprefix("left_").removeprefix("right_").split("_")[0]


def composite_inertias(table: CharacterTable) -> np.ndarray:
    """(actuators,) inertia about each joint's axis of all it moves, with limbs hanging down, plus armature [kg·m²]."""
    place: dict[str, np.ndarray] = {"world": np.zeros(3)}
    above: dict[str, tuple[str, ...]] = {"world": ()}
    found = dict.fromkeys(table.gains, table.armature)
    hinges = {s.name: [h for h in s.hinges if h.name in found] for s in table.segments}
    for segment in table.segments:  # all frames are parallel in this pose
        place[segment.name] = place[segment.parent] + np.asarray(segment.offset)
        above[segment.name] = (*above[segment.parent], segment.name)
        center = place[segment.name] + np.asarray(segment.com)
        for carrier in above[segment.name]:
            for hinge in hinges[carrier]:
                axis, arm = np.asarray(hinge.axis), center - place[carrier]
                own = float(axis**2 @ np.asarray(segment.inertia))
                found[hinge.name] += own + segment.mass * (float(arm @ arm) - float(axis @ arm) ** 2)
    return np.array(list(found.values()))


class Stylized(Controller):
    """Stylized locomotion (da Silva, Abe, Popović 2008); its skills take no commands."""

    name = "stylized"
    skill_class = StylizedSkill
    law_module = "surefoot.controllers.stylized.law"
    has_references = True

    @classmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body; empty if it can."""
        fits = table.anatomy.roles and table.imported is None
        return "" if fits else "a stylized motion needs a character whose joints have roles"

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body."""
        yield from base.unknown_start_roles(skill, table)
        kinds = tuple(dict.fromkeys(("all", *(table.anatomy.kind(r).split("_")[0] for r in table.anatomy.roles))))
        yield from base.unknown_names(("parameters", "strength"), skill.parameters.strength, kinds, "joint")
        yield from base.unknown_commands(skill, cls.commands)

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return law.slot_size(self.actuators)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers of a row's memory."""
        return law.memory_size(self.actuators)

    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's servos into a slot, scaled by the inertia on their joints ("Adjustment with PD")."""
        base.write_header(slot, skill)
        slot[NUMBER_AT] = number_of(skill)
        gains = records(slot, NUMBER_AT + 1, self.actuators, GAIN)
        strengths = skill.parameters.strength
        for i, (joint, inertia) in enumerate(zip(self.table.gains, composite_inertias(self.table), strict=True)):
            strength = strengths.get(joint_kind(joint), strengths.get("all", 0.0))
            gains[i].kp, gains[i].kd = strength * inertia, 2.0 * math.sqrt(strength) * inertia
            gains[i].limit = self.table.gains[joint].limit

    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Note that nothing has been planned yet."""
        law.tracker_state(row.memory).ticked = -1.0

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:
        """Scale the torques that are held with the body's."""
        python_impl(law.tracker_memory)(row.memory, self.actuators).torque[:] *= torque

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether both slots follow the same reference, which is not part of a slot."""
        return bool(one[NUMBER_AT] == other[NUMBER_AT])

    def planner(self, scene: ControlledScene) -> StylizedPlanner:
        """The planner that solves a quadratic program every few milliseconds."""
        return StylizedPlanner(scene)

    def references(self, scene: ControlledScene) -> StylizedPlanner:
        """The same."""
        return StylizedPlanner(scene)


class StylizedPlanner(ReferencePlanner):
    """Lets the tracker of the skill that runs in a row solve its quadratic program when that is due.

    A row's memory says which skill runs in it: a skill goes on until it has been left, and the next one begins at that
    very time.
    """

    def __init__(self, scene: ControlledScene) -> None:
        """Plan the rows of one scene."""
        self._scene = scene
        self._controller = float(base.names().index(Stylized.name))
        self._known: dict[float, tuple[Skill, Tracker]] = {}  # by the skill's number

    def prepare(self, skill: Skill) -> None:
        """Make the tracker of a skill."""
        self.tracker(skill)

    def tracker(self, skill: Skill) -> Tracker:
        """The tracker of a skill."""
        number = number_of(skill)
        if number not in self._known:
            from surefoot.controllers.stylized.tracker import Tracker  # which takes a while to import

            self._known[number] = (skill, Tracker(self._scene, skill))
        return self._known[number][1]

    def begin(self, skill: Skill, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put a row where the reference begins."""
        self.tracker(skill).set_start_state(qpos, qvel)

    def _running(self, row: userdata.Row) -> tuple[Skill, Tracker] | None:
        slot = row.slots[int(row.header.item()[_ACTIVE])]
        if slot[0] != self._controller:
            return None
        if float(slot[NUMBER_AT]) not in self._known:
            known = ", ".join(skill.full_name for skill, _ in self._known.values()) or "none"
            raise SurefootError(f"a row runs a stylized skill that its scene was not built for; it knows: {known}")
        return self._known[float(slot[NUMBER_AT])]

    def running_skill(self, row: userdata.Row) -> Skill | None:
        """The stylized skill that runs in a row, if one does."""
        found = self._running(row)
        return None if found is None else found[0]

    def request(self, row: userdata.Row, skill: Skill) -> None:
        """Note that another skill waits in a row's free slot."""
        found = self._running(row)
        if found is not None:
            found[1].request_switch(row, skill)

    def span(self, skill: Skill) -> ReferenceSpan:
        """The reference that a skill follows."""
        found = self.tracker(skill).reference
        return ReferenceSpan(found.duration, found.loops, found.duration - found.timestep, len(found.poses) == 1)

    def clock(self, row: userdata.Row) -> float:
        """How far the running skill's reference is [s]."""
        return float(law.tracker_state(row.memory).clock)

    def entered(self, row: userdata.Row) -> Entered:
        """When and where a row began to follow its reference after another one."""
        state, found = law.tracker_state(row.memory), self._running(row)
        reference = None if found is None else found[1].reference
        if reference is None or len(reference.poses) == 1:
            return Entered(float(state.faded), 0.0)
        share = float(state.clock - (state.ticked - state.faded)) / reference.duration
        return Entered(float(state.faded), share % 1.0 if reference.loops else min(max(share, 0.0), 1.0))

    def set_phases(self, row: userdata.Row, leave: float, enter: float) -> None:
        """Say where the running reference is left for a requested skill, and where that begins."""
        state = law.tracker_state(row.memory)
        state.leave, state.enter = leave, enter

    def steps_to_next(self, handle: RowHandle) -> int:
        """Physics steps until the next solution is due."""
        header = handle.row.header.item()
        takes_over = handle.row.slots[1 - int(header[_ACTIVE]), 0] == self._controller
        if header[_HANDOVER] == ASKED and takes_over:
            return 1  # the other law may hand over the body at any physics step
        found = self._running(handle.row)
        if found is None:
            return NEVER
        period = found[1].period
        return int(period - round(handle.time / self._scene.timestep) % period)

    def plan(self, handles: Sequence[RowHandle]) -> None:
        """Solve the quadratic programs that are due; a tracker that is handed a row solves at once."""
        for handle in handles:
            row, found = handle.row, self._running(handle.row)
            if found is None:
                continue
            is_tick = round(handle.time / self._scene.timestep) % found[1].period == 0
            if row.header.item()[_HANDOVER] != TAKEN and not is_tick:
                continue
            ticked = None
            while found is not None and found[1] is not ticked:
                found[1].tick(handle.qpos, handle.qvel, row, handle.time)
                ticked, found = found[1], self._running(row)


def tracker_of(scene: ControlledScene, skill: Skill) -> Tracker:
    """The tracker that follows the reference of a stylized skill in a scene.

    Args:
        scene: that the skill runs in.
        skill: of this controller.

    Raises:
        TypeError: the skill is one of another controller.
    """
    planner = scene.prepare(skill)
    if not isinstance(planner, StylizedPlanner):
        raise TypeError(f"{skill.full_name} follows no reference: it is not a stylized skill")
    return planner.tracker(skill)
