"""What the experiments of several papers share: replicas of skills, and the highest level that holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot.engine.population import Population
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.skills.schema import Skill

LARGEST_SLIP = 0.15  # metres slid per metre (or per second in place): above it, the gait skates


def replica_population(
    skills: Sequence[Skill | str],
    replicas: int,
    stream: Callable[[int, int], tuple[object, ...]],
    commands: Sequence[Mapping[str, float]] | None = None,
    **setup: Any,
) -> Population:
    """Build a population of replicas, skill by skill, each beginning a little elsewhere.

    Args:
        skills: one for every case.
        replicas: rows of each.
        stream: seed and labels of the random numbers of a case's replica.
        commands: what each case is told.
        setup: of the population: its character, terrain, proportions, …
    """
    cases = [case for case in range(len(skills)) for _ in range(replicas)]
    population = Population(len(cases), skill=[skills[case] for case in cases], **setup)
    rngs = [seeded_generator(*stream(case, i % replicas)) for i, case in enumerate(cases)]  # type: ignore[arg-type]
    perturb_population(population, rngs)
    for i, case in enumerate(cases):
        population.command([i], **(commands[case] if commands else {}))
    return population


def highest_level(levels: Sequence[float], holds: Callable[[float], bool]) -> float:
    """Return the last level such that it and all before it hold; 0 if the first does not."""
    best = 0.0
    for level in levels:
        if not holds(level):
            break
        best = level
    return best
