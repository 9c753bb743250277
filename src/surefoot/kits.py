"""What each controller needs around its law: room in a row, how its skills are written into it, where it begins."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers import genbicon, imitation, limit_cycle, simbicon, stepping
from surefoot.kit import UNITS, Kit, own_value
from surefoot.native import memory
from surefoot.native.pointers import plain, records
from surefoot.reflexes import stepper, style
from surefoot.reflexes.feedback_error import grow_lessons, lessons_size
from surefoot.reflexes.pose_graph import MACHINE
from surefoot.reflexes.sensing import seeded
from surefoot.reflexes.striding import IMITATOR
from surefoot.reflexes.walker import STAND
from surefoot.skills import cycle_slot, graph, plans, styles, trajectories
from surefoot.skills.schema import Skill
from surefoot.stylized.kit import StylizedKit

log = logging.getLogger(__name__)


class _Simbicon:
    """Around `controllers.simbicon`."""

    commands: tuple[str, ...] = simbicon.COMMANDS
    ranges: dict[str, tuple[float, float]] = simbicon.RANGES
    units: dict[str, str] = UNITS["simbicon"]
    _speed_given = simbicon.SPEED_GIVEN

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        self._table, self._timestep, self._roles = table, timestep, len(table.anatomy.roles)
        # torques that can be learned: the torso's, of one or three components, and those of the upper body
        self._channels = (1 if table.root == "planar" else 3) + len(table.anatomy.channels)

    @property
    def slot_size(self) -> int:
        return graph.slot_size(self._table)

    def memory_size(self, skill: Skill | None) -> int:
        delay = round(skill.parameters.sensing.delay / self._timestep) if skill else 0
        return simbicon.memory_size(self._roles, self._channels, delay + 1 if delay else 0)

    def table_size(self, skill: Skill) -> int:
        learning = skill.parameters.learning
        return 2 * learning.bins * self._channels if learning else 0

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        graph.fill_slot(slot, skill, self._table, self._timestep, find)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        start = skill.start
        machine = records(row.memory, 0, 1, MACHINE)[0]
        other_half = start.swing == "right" and skill.parameters.halves == 2
        machine.state = start.state + (len(skill.parameters.states) if other_half else 0)
        machine.heading = row.commands[simbicon.HEADING] = start.heading
        machine.random = plain(seeded)(seed)
        plain(simbicon.learners_of)(row.memory, self._roles, self._channels)["bin"] = -1.0

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        row.table[:] *= torque
        plain(simbicon.learners_of)(row.memory, self._roles, self._channels)["total"] *= torque

    def tell(self, row: memory.Row, name: str, value: float) -> None:
        row.commands[self.commands.index(name)] = value
        if name == "speed":
            row.commands[self._speed_given] = 1.0

    def told(self, row: memory.Row, skill: Skill, name: str) -> float | None:
        value = float(row.commands[self.commands.index(name)])
        if name == "speed":
            return value if row.commands[self._speed_given] else None
        return value if value != own_value(skill, name) else None

    def release(self, row: memory.Row, skill: Skill, name: str) -> None:
        row.commands[self.commands.index(name)] = own_value(skill, name)
        if name == "speed":
            row.commands[self._speed_given] = 0.0

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        return graph.same_structure(one, other, self._roles)

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        return graph.same_size(one, other, self._roles)


class _Imitation(_Simbicon):
    """Around `controllers.imitation`."""

    commands: tuple[str, ...] = imitation.COMMANDS
    ranges: dict[str, tuple[float, float]] = imitation.RANGES
    units: dict[str, str] = UNITS["imitation"]
    _speed_given = imitation.SPEED_GIVEN

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        super().__init__(table, links, timestep)
        self._actuators = len(table.gains)

    @property
    def slot_size(self) -> int:
        return trajectories.slot_size(self._table)

    def memory_size(self, skill: Skill | None) -> int:
        delay = round(skill.parameters.sensing.delay / self._timestep) if skill else 0
        return imitation.memory_size(self._roles, self._actuators, delay + 1 if delay else 0)

    def table_size(self, skill: Skill) -> int:
        learning = skill.parameters.learning
        return lessons_size(self._actuators + 3, learning.bins) if learning else 0

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        trajectories.fill_slot(slot, skill, self._table, self._timestep)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        imitator = records(row.memory, 0, 1, IMITATOR)[0]
        imitator.swing = 0.0 if skill.start.swing == "left" else 1.0
        cycle = skill.parameters.cycle
        imitator.done = (skill.parameters.begins - cycle.lands[1 - int(imitator.swing)]) % 1.0
        imitator.step_start = -imitator.done * cycle.period / skill.parameters.tempo
        imitator.heading = row.commands[simbicon.HEADING] = skill.start.heading
        imitator.random = plain(seeded)(seed)

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        grow_lessons(row.table, self._actuators + 3, torque)

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        return trajectories.same_size(one, other, self._table)

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        return trajectories.same_size(one, other, self._table)


class _Genbicon:
    """Around `controllers.genbicon`."""

    commands: tuple[str, ...] = genbicon.COMMANDS
    ranges: dict[str, tuple[float, float]] = genbicon.RANGES
    units: dict[str, str] = UNITS["genbicon"]

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        self._links = links

    @property
    def slot_size(self) -> int:
        return style.slot_size()

    def memory_size(self, skill: Skill | None) -> int:
        return genbicon.memory_size(self._links)

    def table_size(self, skill: Skill) -> int:
        return 0

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        styles.fill_slot(slot[: style.slot_size()], skill)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        walker = plain(genbicon.walker_of)(row.memory)[0]
        walker.mode, walker.load = STAND, 0.5
        walker.heading = row.commands[genbicon.HEADING] = skill.start.heading
        walker.swing = 0.0 if skill.start.swing == "right" else 1.0  # the first step is the other's
        plain(genbicon.hands_of)(row.memory)["stiff"] = 1.0

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        plain(genbicon.walker_of)(row.memory)[0].usual *= length

    def tell(self, row: memory.Row, name: str, value: float) -> None:
        at = self.commands.index(name)
        row.commands[at], row.commands[memory.COMMANDS // 2 + at] = value, 1.0

    def told(self, row: memory.Row, skill: Skill, name: str) -> float | None:
        at = self.commands.index(name)
        return float(row.commands[at]) if row.commands[memory.COMMANDS // 2 + at] else None

    def release(self, row: memory.Row, skill: Skill, name: str) -> None:
        at = self.commands.index(name)
        row.commands[at], row.commands[memory.COMMANDS // 2 + at] = own_value(skill, name), 0.0

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        n = style.slot_size()
        a, b = plain(style.style_of)(one[:n]), plain(style.style_of)(other[:n])
        return bool((a.curves[:, 0] == b.curves[:, 0]).all() and a.numbers[0].walks == b.numbers[0].walks)

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        return True


class _LimitCycle:
    """Around `controllers.limit_cycle`."""

    commands: tuple[str, ...] = limit_cycle.COMMANDS
    ranges: dict[str, tuple[float, float]] = limit_cycle.RANGES
    units: dict[str, str] = UNITS["limit_cycle"]

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        self._table, self._roles = table, len(table.anatomy.roles)

    @property
    def slot_size(self) -> int:
        return cycle_slot.slot_size(self._table)

    def memory_size(self, skill: Skill | None) -> int:
        return limit_cycle.memory_size(cycle_slot.features(self._table))

    def table_size(self, skill: Skill) -> int:
        return 0

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        cycle_slot.fill_slot(slot, skill, self._table)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        machine = plain(limit_cycle.machine_of)(row.memory)[0]
        machine.state = skill.start.state + (len(skill.parameters.states) if skill.start.swing == "right" else 0)
        machine.heading = row.commands[limit_cycle.HEADING] = skill.start.heading
        plain(limit_cycle.cycle_of)(row.memory)[0].fresh = 1.0

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        return

    def tell(self, row: memory.Row, name: str, value: float) -> None:
        at = self.commands.index(name)
        is_news = row.commands[limit_cycle.GIVEN + at] == 0.0 or row.commands[at] != value  # a task repeats itself
        row.commands[at], row.commands[limit_cycle.GIVEN + at] = value, 1.0
        if name == "speed" and is_news:
            self._warn(row, value)

    def _warn(self, row: memory.Row, speed: float) -> None:
        """Say so where a speed is out of the running skill's reach: the law goes at the nearest that is not."""
        slot = row.slots[int(row.header[0].active)]
        regulation = plain(limit_cycle.regulation_of)(slot, cycle_slot.own_begin(self._table))[0]
        low, high = float(regulation.slowest), float(regulation.fastest)
        if not low <= speed <= high:
            log.warning(
                "speed %g m/s is out of reach of this skill, which goes at %g … %g m/s: it goes at %g m/s",
                speed, low, high, min(max(speed, low), high),
            )  # fmt: skip

    def told(self, row: memory.Row, skill: Skill, name: str) -> float | None:
        at = self.commands.index(name)
        return float(row.commands[at]) if row.commands[limit_cycle.GIVEN + at] else None

    def release(self, row: memory.Row, skill: Skill, name: str) -> None:
        at = self.commands.index(name)
        row.commands[at], row.commands[limit_cycle.GIVEN + at] = own_value(skill, name), 0.0

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        return graph.same_structure(one, other, self._roles)

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        return graph.same_size(one, other, self._roles)


class _Stepping(_Genbicon):
    """Around `controllers.stepping`."""

    commands: tuple[str, ...] = stepping.COMMANDS
    ranges: dict[str, tuple[float, float]] = stepping.RANGES
    units: dict[str, str] = UNITS["stepping"]

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        super().__init__(table, links, timestep)
        self._table = table

    @property
    def slot_size(self) -> int:
        return stepper.slot_size(len(self._table.gains))

    def memory_size(self, skill: Skill | None) -> int:
        return stepping.memory_size()

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        plans.fill_slot(slot[: self.slot_size], skill, self._table)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        remembered = plain(stepping.stepper_of)(row.memory)[0]
        remembered.mode, remembered.share = stepper.STAND, 0.5
        remembered.heading = row.commands[stepping.HEADING] = skill.start.heading
        remembered.swing = 0.0 if skill.start.swing == "right" else 1.0  # the first step is the other's

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        plain(stepping.stepper_of)(row.memory)[0].height *= length

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        a, b = plain(stepper.plan_of)(one), plain(stepper.plan_of)(other)
        return bool(a.walks == b.walks and a.careful == b.careful and a.comfort == b.comfort)


KITS: dict[str, Callable[[CharacterTable, int, float], Kit]] = {
    "simbicon": _Simbicon, "genbicon": _Genbicon, "imitation": _Imitation, "limit_cycle": _LimitCycle,
    "stepping": _Stepping, "stylized": StylizedKit,
}  # fmt: skip
