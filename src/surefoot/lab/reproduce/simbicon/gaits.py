"""The gaits of Table 1 and of §7.2, and running replicas of skills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.errors import UnknownNameError
from surefoot.lab.experiment import Result
from surefoot.lab.gait_measures import Gait, measure_gait
from surefoot.lab.reproduce.replica_walks import replica_population
from surefoot.motions.motion import Motion
from surefoot.skills import load
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain

TABLE_1 = (
    "walk", "in-place-walk", "fast-walk", "high-step-walk", "half-bent-walk", "bent-walk", "crouch-walk",
    "scissor-hop", "backwards-walk", "fast-run", "run", "skip",
)  # fmt: skip
RUNNING = ("fast-run", "run", "scissor-hop", "skip")  # gaits that leave the ground
REPLICAS = 5
_FRAMES = 100  # a replica with fewer has fallen before it was recorded


def skill(name: str, character: str = "planar") -> Skill:
    """A skill by its short name."""
    return load(f"{character}/{name}")


def human(name: str) -> Skill | None:
    """A skill of the human, or None if there is no file of that name."""
    try:
        return skill(name, "human")
    except UnknownNameError:
        return None


def missing(result: Result, case: str, paper: str, name: str) -> None:
    """Add the row of what needs a skill that is not there."""
    result.add_missing(case, paper, f"there is no skill human/{name}")


def as_printed(name: str) -> Skill:
    """A planar gait with the values of Table 1, whether or not they go on here."""
    try:
        return skill(f"{name}-as-printed")
    except UnknownNameError:
        return skill(name)


def replicas_from_start(
    skills: Sequence[Skill],
    seed: int,
    count: int = REPLICAS,
    terrain: str | Terrain = "flat",
    *,
    proportions: Mapping[str, float] | None = None,
    backpack: float = 0.0,
) -> Population:
    """A population of `count` replicas of each skill, from their start states, skill by skill."""
    return replica_population(
        skills, count, lambda case, k: (seed, "start", skills[case].full_name, k),
        terrain=terrain, proportions=proportions, backpack=backpack,
    )  # fmt: skip


def upright(population: Population, count: int = REPLICAS) -> list[int]:
    """How many of each skill's replicas have not fallen."""
    return [int(n) for n in np.isinf(population.fallen_at).reshape(-1, count).sum(axis=1)]


def typical(motions: Sequence[Motion]) -> Gait | None:
    """Median measures over the replicas that have a last stretch."""
    found = [measure_gait(m) for m in motions if len(m) > _FRAMES]
    if not found:
        return None
    names = Gait.__dataclass_fields__
    return Gait(**{n: float(np.median([getattr(g, n) for g in found])) for n in names})
