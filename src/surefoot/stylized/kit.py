"""What a stylized skill needs around its law; it takes no commands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers import stylized
from surefoot.errors import CommandError
from surefoot.native import memory
from surefoot.native.pointers import plain
from surefoot.skills.numbers import NUMBER_AT
from surefoot.skills.schema import Skill
from surefoot.stylized import servos


class StylizedKit:
    """Around `controllers.stylized`."""

    commands: tuple[str, ...] = stylized.COMMANDS
    ranges: dict[str, tuple[float, float]] = stylized.RANGES
    units: dict[str, str] = dict.fromkeys(stylized.COMMANDS, "")

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        self._table, self._actuators = table, len(table.gains)

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""
        return stylized.slot_size(self._actuators)

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers."""
        return stylized.memory_size(self._actuators)

    def table_size(self, skill: Skill) -> int:
        """It learns nothing."""
        return 0

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's servos into a slot."""
        servos.fill_slot(slot, skill, self._table)

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        """Nothing has been thought yet."""
        plain(stylized.tracked_of)(row.memory, self._actuators).tracker[0].ticked = -1.0

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        """Let the torques that are held follow the body's."""
        plain(stylized.tracked_of)(row.memory, self._actuators).torque[:] *= torque

    def tell(self, row: memory.Row, name: str, value: float) -> None:
        """Refuse: there is nothing to tell it."""
        raise CommandError(f"unknown command {name!r}; a stylized skill takes none")

    def told(self, row: memory.Row, skill: Skill, name: str) -> float | None:
        """Nothing."""
        return None

    def release(self, row: memory.Row, skill: Skill, name: str) -> None:
        """Refuse: nothing was told."""
        raise CommandError(f"unknown command {name!r}; a stylized skill takes none")

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Servos can always be blended."""
        return bool(one[NUMBER_AT] == other[NUMBER_AT])  # what is followed lies outside

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Servos can change at any moment."""
        return True
