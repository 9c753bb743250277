"""Steps of limit cycle control as they begin, one at a time, out of a population that walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.controllers import limit_cycle
from surefoot.native.pointers import plain
from surefoot.population import Population

_LOOK = 0.1  # [s] shorter than any step


def cycles_of(population: Population) -> list[Any]:
    """Live CYCLE records of all rows."""
    return [plain(limit_cycle.cycle_of)(row.memory)[0] for row in population.rows]


def steps_of(population: Population, seconds: float, look: float = _LOOK) -> Iterator[int]:
    """Advance a population for some seconds; give the row of every step that has begun since the last look.

    Its perturbation is chosen by then, and its CYCLE record says how the step before it ended. A step is noticed
    within `look` seconds.
    """
    cycles = cycles_of(population)
    seen = np.array([float(cycle.begun) for cycle in cycles])
    for _ in range(round(seconds / look)):
        population.run(look, stop_fallen=True)
        fallen = np.isfinite(population.fallen_at)
        for i, cycle in enumerate(cycles):
            if cycle.begun != seen[i] and not fallen[i]:
                seen[i] = cycle.begun
                yield i
