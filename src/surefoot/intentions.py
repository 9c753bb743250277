"""What controllers think between short native runs: the second clock, the same for a simulation and for a row.

A row's memory says which skill runs in it, and so whose turn it is to think: a skill that is being left goes on until
it has been left, and one that takes over begins at that very moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from surefoot import controllers
from surefoot.errors import SurefootError
from surefoot.native import memory
from surefoot.reflexes.handover import ASKED, TAKEN
from surefoot.skills.numbers import NUMBER_AT, number_of
from surefoot.skills.schema import Skill
from surefoot.stylized.tracker import Tracker

if TYPE_CHECKING:
    from surefoot.scene import Scene

NEVER = 1 << 60  # [physics steps]
_ACTIVE, _HANDOVER = ((memory.HEADER.names or ()).index(name) for name in ("active", "handover"))


class Intention(Protocol):
    """Ticked every `period` physics steps, counted from time 0.

    All that it knows of a row lies in the row's memory, so that one intention serves many rows, and a restored row
    goes on as it would have.
    """

    period: int

    def begin(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Change the start state, if the skill's own is not where it begins."""

    def ask(self, row: memory.Row, goal: Skill) -> None:
        """Be told that another skill of the same controller waits in the row's free slot."""

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Think at a moment; thinking twice at the same moment is thinking once."""


INTENTIONS: dict[str, Callable[[Scene, Skill], Intention]] = {"stylized": Tracker}


class Thinkers:
    """The intentions of the skills that a scene has met."""

    def __init__(self, scene: Scene) -> None:
        """Of one scene."""
        self._scene, self._names = scene, controllers.names()
        self._known: dict[float, tuple[Skill, Intention]] = {}

    def meet(self, skill: Skill) -> Intention | None:
        """The intention of a skill, if its controller thinks."""
        if skill.controller not in INTENTIONS:
            return None
        number = number_of(skill)
        if number not in self._known:
            self._known[number] = (skill, INTENTIONS[skill.controller](self._scene, skill))
        return self._known[number][1]

    def _thinks(self, slot: np.ndarray) -> bool:
        """Whether the controller of a slot does; a number of none does not."""
        number = int(slot[0])
        return 0 <= number < len(self._names) and self._names[number] in INTENTIONS

    def _running(self, row: memory.Row) -> tuple[Skill, Intention] | None:
        slot = row.slots[int(row.header.item()[_ACTIVE])]
        if not self._thinks(slot):
            return None
        if float(slot[NUMBER_AT]) not in self._known:
            names = ", ".join(skill.full_name for skill, _ in self._known.values()) or "none"
            raise SurefootError(f"a row runs a skill that was never named here; those that think are: {names}")
        return self._known[float(slot[NUMBER_AT])]

    def skill(self, row: memory.Row) -> Skill | None:
        """The skill that runs in a row, if its controller thinks."""
        found = self._running(row)
        return None if found is None else found[0]

    def of(self, row: memory.Row) -> Intention | None:
        """Whose turn it is to think in a row."""
        found = self._running(row)
        return None if found is None else found[1]

    def _waits(self, row: memory.Row) -> bool:
        """Whether one waits for a law that does not think to hand over the body, which any physics step may do."""
        header = row.header.item()
        return bool(header[_HANDOVER] == ASKED) and self._thinks(row.slots[1 - int(header[_ACTIVE])])

    def steps_to_next(self, row: memory.Row, time: float) -> int:
        """Physics steps from a moment that has been thought about to the next one that has to be."""
        if self._waits(row):
            return 1
        intention = self.of(row)
        step = round(time / self._scene.timestep)
        return NEVER if intention is None else intention.period - step % intention.period

    def think(self, row: memory.Row, qpos: np.ndarray, qvel: np.ndarray, time: float) -> None:
        """Let whose turn it is tick, if now is the time to; whoever is handed the row does so at once."""
        intention = self.of(row)
        if intention is None:
            return
        if row.header.item()[_HANDOVER] != TAKEN and round(time / self._scene.timestep) % intention.period != 0:
            return
        ticked = None
        while intention is not None and intention is not ticked:
            intention.tick(qpos, qvel, row, time)
            ticked, intention = intention, self.of(row)
