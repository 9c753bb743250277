"""A moment of a simulation, to come back to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.skills.schema import Skill
from surefoot.tasks.agenda import Kept


@dataclass(frozen=True)
class Snapshot:
    """Everything there is to a moment: physics, the controller's memory, pending pushes, tasks, masses of crates."""

    state: np.ndarray
    skill: Skill
    requested: Skill | None
    tasks: tuple[Kept, ...] = ()
    masses: tuple[float, ...] = ()
