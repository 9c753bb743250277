"""What a search can ask of a skill: stay up, hold a speed, bear pushes, stay near what it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from surefoot.lab import posture
from surefoot.lab.replicas import disturb, generator
from surefoot.population import Population
from surefoot.scene import Push
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain

_SETTLE, _INTERVAL = 4.0, 3.0  # [s] before the first push and between two
_PUSH_TIME = 0.1  # [s]


class Cost(Protocol):
    """Anything a search can make small."""

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """(n,) of every candidate."""


@dataclass(frozen=True)
class Objective:
    """A cost to be made small: 0 is perfect, every fall costs at least 1.

    Attributes:
        seconds: how long it must stay up.
        replicas: noisy starts per candidate and push.
        speed: wanted speed over the second half [m/s], or None.
        least_speed: speed below which it is penalised [m/s], or None.
        pushes: forces along x [N]; each is a row of its own with as many pushes as fit.
        terrain: what it stands on; a function of the seed gives another ground every generation.
        flight: least share of the time in the air, of a body in space, or None.

    A body in space also pays for crossing its legs, rolling and turning (`lab.posture`).
    """

    seconds: float = 15.0
    replicas: int = 2
    speed: float | None = None
    least_speed: float | None = None
    pushes: tuple[float, ...] = (0.0,)
    terrain: str | Terrain | Callable[[int], Terrain] = "flat"
    flight: float | None = None

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate, all of them simulated in one population."""
        rows = [(skill, force, k) for skill in candidates for force in self.pushes for k in range(self.replicas)]
        terrain = self.terrain(seed) if callable(self.terrain) else self.terrain
        population = Population(len(rows), skill=[r[0] for r in rows], terrain=terrain, threads=threads)
        disturb(population, [generator(seed, "tune", force, k) for _, force, k in rows])
        for i, (_, force, k) in enumerate(rows):
            if force:
                rng = generator(seed, "tune push", force, k)
                for start in np.arange(_SETTLE, self.seconds - _INTERVAL + 0.01, _INTERVAL):
                    push = Push((force, 0.0, 0.0), _PUSH_TIME, start + rng.uniform(0.0, 1.0))
                    population.scene.add_push(population.rows[i], push, 0.0)
        population.run(self.seconds / 2, stop_fallen=True)
        x, carried = population.qpos[:, 0].copy(), np.zeros(len(rows))
        if population.scene.table.root == "free":
            seen = posture.watch(population, self.seconds / 2)
            carried = seen.costs() + (
                0.0 if self.flight is None else 4.0 * np.clip(self.flight - seen.flight, 0.0, 1.0)
            )
        else:
            population.run(self.seconds / 2, stop_fallen=True)
        speed = 2.0 * (population.qpos[:, 0] - x) / self.seconds
        fallen = np.minimum(population.fallen_at, self.seconds)
        cost = np.where(fallen < self.seconds, 2.0 - fallen / self.seconds, 0.0)
        if self.speed is not None:
            cost += np.where(fallen < self.seconds, 1.0, np.minimum(np.abs(speed - self.speed), 1.0))
        if self.least_speed is not None:
            cost += np.where(fallen < self.seconds, 1.0, np.clip(self.least_speed - speed, 0.0, 1.0))
        cost += np.where(fallen < self.seconds, 1.0, np.minimum(carried, 1.0)) * (population.scene.table.root == "free")
        return np.asarray(cost.reshape(len(candidates), -1).mean(axis=1))
