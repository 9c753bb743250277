"""What the experiments of limit cycle control share: replicas of skills, and how they walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.experiment import Result
from surefoot.lab.gait_measures import Gait, measure_gait
from surefoot.lab.reproduce.replica_walks import LARGEST_SLIP, replica_population
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

MARCH = "human19/march"
REPLICAS, FPS = 3, 100.0
Changes = Mapping[str, float | int | str | None]


def march(changes: Changes | None = None) -> Skill:
    """The march with other values."""
    return with_parameters(load(MARCH), changes or {})


def march_population(
    skills: Sequence[Skill],
    seed: int,
    label: str,
    replicas: int = REPLICAS,
    commands: Sequence[Mapping[str, float]] | None = None,
) -> Population:
    """Replicas of some skills of one body, skill by skill, each told its commands."""
    return replica_population(skills, replicas, lambda case, k: (seed, "limit cycle", label, case, k), commands)


def upright(population: Population, case: int = 0, replicas: int = REPLICAS) -> str:
    """How many replicas of a case did not fall, in words, and when the first of them did."""
    fallen = population.fallen_at[case * replicas :][:replicas]
    kept = int(np.isinf(fallen).sum())
    return f"{kept} of {replicas} upright" + (f", first fell at {fallen.min():.1f} s" if kept < replicas else "")


class Marches:
    """Replicas that were run for some time, and how each of them went at its end.

    Attributes:
        population: the replicas, case by case.
        motions: of all rows, their last seconds.
        gaits: of all rows; None for those that fell.
    """

    def __init__(self, population: Population, seconds: float, replicas: int = REPLICAS, recorded: float = 5.0) -> None:
        """Run a population; the last `recorded` of the seconds are measured."""
        self.population, self._replicas = population, replicas
        population.run(seconds - recorded, stop_fallen=True)
        self.motions = population.run(recorded, fps=FPS, stop_fallen=True)
        up = np.isinf(population.fallen_at)
        self.gaits = [measure_gait(m) if good else None for m, good in zip(self.motions, up, strict=True)]

    def of(self, case: int = 0) -> list[Gait | None]:
        """The gaits of a case's replicas."""
        return self.gaits[case * self._replicas :][: self._replicas]

    def walked(self, case: int = 0) -> list[Gait]:
        """The gaits of those of a case's replicas that did not fall."""
        return [gait for gait in self.of(case) if gait]

    def are_fair(self, case: int = 0) -> bool:
        """Whether no replica of a case fell, and all go by steps and neither skate nor cross their legs."""
        walked = self.walked(case)
        fair = [g.cadence > 0.5 and g.slip <= LARGEST_SLIP and g.step_width > 0.0 for g in walked]
        return len(walked) == self._replicas and all(fair)

    def upright(self, case: int = 0) -> str:
        """How many replicas of a case did not fall, in words."""
        return upright(self.population, case, self._replicas)

    def quality(self, case: int = 0) -> str:
        """Peak torque, slip and step width of a case's replicas: the worst of each."""
        rows, walked = self.population.rows[case * self._replicas :][: self._replicas], self.walked(case)
        text = f"peak torque {max(float(row.report[0].peak_torque) for row in rows):.0f} N·m"
        if walked:
            widths = [100 * g.step_width for g in walked]
            text += f", slip {max(g.slip for g in walked):.3f}, step width {min(widths):.0f} … {max(widths):.0f} cm"
        return text

    def record(self, result: Result, label: str, case: int = 0) -> None:
        """Keep the raw figures of a case's replicas."""
        for k, gait in enumerate(self.of(case)):
            fallen_at = self.population.fallen_at[case * self._replicas + k]
            record: dict[str, Any] = {"case": label, "replica": k, "fallen_at": fallen_at}
            names = ("speed", "sideways", "cadence", "step_width", "slip", "peak_torque") if gait else ()
            result.runs.append(record | {name: getattr(gait, name) for name in names})
