"""The twelve gaits of Table 1, and running replicas of skills."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import UnknownNameError
from surefoot.lab.replicas import disturb, generator
from surefoot.population import Population
from surefoot.skills import load
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain

TABLE_1 = (
    "walk", "in-place-walk", "fast-walk", "high-step-walk", "half-bent-walk", "bent-walk", "crouch-walk",
    "scissor-hop", "backwards-walk", "fast-run", "run", "skip",
)  # fmt: skip
RUNNING = ("fast-run", "run", "scissor-hop", "skip")  # gaits that leave the ground
REPLICAS = 5


def skill(name: str) -> Skill:
    """A planar skill by its short name."""
    return load(f"planar/{name}")


def as_printed(name: str) -> Skill:
    """A gait with the values of Table 1, whether or not they go on here."""
    try:
        return skill(f"{name}-as-printed")
    except UnknownNameError:
        return skill(name)


def replicas_from_start(
    skills: Sequence[Skill], seed: int, count: int = REPLICAS, terrain: str | Terrain = "flat"
) -> Population:
    """A population of `count` replicas of each skill, from their start states, skill by skill."""
    rows = [s for s in skills for _ in range(count)]
    population = Population(len(rows), skill=rows, terrain=terrain)
    disturb(population, [generator(seed, "start", s.full_name, i % count) for i, s in enumerate(rows)])
    return population
