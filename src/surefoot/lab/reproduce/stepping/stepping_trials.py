"""What the experiments of stepping share: rows that were told something, random pushes, where the feet are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.replicas import seeded_generator

CHARACTER, STAND, WALK = "stepper", "stand", "walk"
BENT_STAND, BENT_WALK = "bent-stand", "bent-walk"  # as the paper's figures: straight legs bear fewer hard pushes
SETTLED = 3.0  # [s] until a body stands still
STANDING = 0.05  # [m/s] of a body that stands again


@dataclass(frozen=True)
class Shove:
    """A push with which a body is tried: newtons, seconds, the world yaw it pushes along [rad], and when [s]."""

    force: float
    duration: float
    direction: float
    start: float

    @property
    def impulse(self) -> float:
        """[N·s]."""
        return self.force * self.duration

    def push(self) -> Push:
        """As it is queued, on the trunk's COM."""
        x, y = self.force * math.cos(self.direction), self.force * math.sin(self.direction)
        return Push((x, y, 0.0), self.duration, self.start)


def shoves(seed: int, label: str, count: int, earliest: float, latest: float) -> list[Shove]:
    """Random pushes of §6.1: 10 … 500 N for 0.1 … 0.5 s from any side, beginning within a time [s]."""
    found = []
    for i in range(count):
        rng = seeded_generator(seed, "stepping", label, i)
        force, duration = float(rng.uniform(10.0, 500.0)), float(rng.uniform(0.1, 0.5))
        direction, start = float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(earliest, latest))
        found.append(Shove(force, duration, direction, start))
    return found


def tell(population: Population, commands: Mapping[str, float] | Sequence[Mapping[str, float]]) -> None:
    """Give all rows the same commands, or each its own."""
    each = [commands] * population.n if isinstance(commands, Mapping) else commands
    for i, told in enumerate(each):
        population.scenes[i].command(population.rows[i], population.skills[i], told)


def steps_of(population: Population) -> np.ndarray:
    """(n,) steps taken so far."""
    return np.array([float(row.report[0].steps) for row in population.rows])


def speeds_of(population: Population) -> np.ndarray:
    """(n,) horizontal speed of the COM along the facing direction [m/s]."""
    return np.array([float(row.report[0].velocity) for row in population.rows])


def upright(population: Population) -> np.ndarray:
    """(n,) whether a row has not fallen."""
    return np.array(np.isinf(population.fallen_at))
