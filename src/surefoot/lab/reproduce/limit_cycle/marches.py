"""What the experiments of limit cycle control share: replicas of skills, and how they walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.experiment import Result
from surefoot.lab.gait_measures import Gait, measure_gait
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.simbicon.gaits import LARGEST_SLIP
from surefoot.motions.motion import Motion
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

MARCH = "human19/march"
REPLICAS, FPS = 3, 100.0
Changes = Mapping[str, float | int | str | None]


def march(changes: Changes | None = None) -> Skill:
    """The march with other values."""
    return with_parameters(load(MARCH), changes or {})


def begun(
    skills: Sequence[Skill],
    seed: int,
    label: str,
    replicas: int = REPLICAS,
    commands: Sequence[Mapping[str, float]] | None = None,
) -> Population:
    """Replicas of some skills of one body, skill by skill, each told its commands."""
    each = [skill for skill in skills for _ in range(replicas)]
    population = Population(len(each), skill=each)
    perturb_population(
        population,
        [seeded_generator(seed, "limit cycle", label, i // replicas, i % replicas) for i in range(len(each))],
    )
    for i, row in enumerate(population.rows):
        population.scene.command(row, each[i], commands[i // replicas] if commands else {})
    return population


def gaits(population: Population, seconds: float, recorded: float = 5.0) -> tuple[list[Gait | None], list[Motion]]:
    """Run for some seconds; how each row went at their end, None for those that fell, and the motions of that end."""
    population.run(seconds - recorded, stop_fallen=True)
    motions = population.run(recorded, fps=FPS, stop_fallen=True)
    upright = np.isinf(population.fallen_at)
    return [measure_gait(m) if up else None for m, up in zip(motions, upright, strict=True)], motions


def is_fair(gait: Gait | None) -> bool:
    """Whether it did not fall, goes by steps, and neither skates nor crosses its legs."""
    return gait is not None and gait.cadence > 0.5 and gait.slip <= LARGEST_SLIP and gait.step_width > 0.0


def upright(population: Population, first: int, count: int = REPLICAS) -> str:
    """How many of some rows did not fall, in words, and when the first of them did."""
    fallen = population.fallen_at[first : first + count]
    kept = int(np.isinf(fallen).sum())
    return f"{kept} of {count} upright" + (f", first fell at {fallen.min():.1f} s" if kept < count else "")


def quality(population: Population, first: int, found: Sequence[Gait | None]) -> str:
    """Peak torque, slip and step width of some rows: the worst of each."""
    torque = max(float(row.report[0].peak_torque) for row in population.rows[first : first + len(found)])
    walked = [gait for gait in found if gait]
    text = f"peak torque {torque:.0f} N·m"
    if walked:
        text += f", slip {max(g.slip for g in walked):.3f}, step width {100 * min(g.step_width for g in walked):.0f} … "
        text += f"{100 * max(g.step_width for g in walked):.0f} cm"
    return text


def note(result: Result, case: str, population: Population, first: int, found: Sequence[Gait | None]) -> None:
    """Keep the raw figures of some rows."""
    for k, gait in enumerate(found):
        record: dict[str, Any] = {"case": case, "replica": k, "fallen_at": population.fallen_at[first + k]}
        if gait:
            record |= {
                n: getattr(gait, n) for n in ("speed", "sideways", "cadence", "step_width", "slip", "peak_torque")
            }
        result.runs.append(record)
