"""What a controller thinks between short native runs: the second clock, the same for a simulation and for a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from surefoot.native import memory
from surefoot.stylized.tracker import Tracker

if TYPE_CHECKING:
    from surefoot.scene import Scene
    from surefoot.skills.schema import Skill

NEVER = 1 << 60  # [physics steps]


class Intention(Protocol):
    """Ticked every `period` physics steps, counted from time 0.

    All that it knows of a row lies in the row's memory, so that one intention serves many rows, and a restored row
    goes on as it would have.
    """

    period: int

    def begin(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Change the start state, if the skill's own is not where it begins."""

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Think at a moment; thinking twice at the same moment is thinking once."""


INTENTIONS: dict[str, Callable[[Scene, Skill], Intention]] = {"stylized": Tracker}


def steps_to_next(intention: Intention | None, time: float, timestep: float) -> int:
    """Physics steps from a moment that has been thought about to the next one that has to be."""
    return NEVER if intention is None else intention.period - round(time / timestep) % intention.period


def think(
    intention: Intention | None, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float, timestep: float
) -> None:
    """Tick, if now is the time to."""
    if intention is not None and round(time / timestep) % intention.period == 0:
        intention.tick(qpos, qvel, row, time)
