"""What tracked walks and other tracked clips bear."""

from __future__ import annotations

import numpy as np

from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.tracking.tracked_clips import CLIPS, LOOPED_WALKS, Case, tried
from surefoot.lab.robustness import DIRECTIONS, NEEDED, REPLICAS, climb_levels
from surefoot.lab.tracking_skill import measure
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

DURATION, SETTLE, AFTER = 0.2, 5.0, 8.0  # [s]
EVERY, DIAGONAL = 150.0, 350.0  # [N]
OTHER, TRIALS, ENOUGH = 50.0, 200, 0.9  # [N]; how many, and the share that must survive
_PHASES = 0.25  # [s] between two moments at which replicas are pushed
SOFT, SECONDS = 0.5, 60.0


def run(result: Result, setting: Setting) -> None:
    """Robust thresholds of walks in eight directions; random pushes of the other clips."""
    walks = LOOPED_WALKS[:1] if setting.quick else LOOPED_WALKS
    others = [stem for stem in CLIPS if stem not in LOOPED_WALKS][: 1 if setting.quick else None]
    count = len(walks) + len(others)
    for i, stem in enumerate([*walks, *others]):
        skill, why = tried(setting, Case(stem), i / count, (i + 0.5) / count)
        if skill is None:
            result.add_missing(stem, reason=why)
        elif stem in walks:
            _thresholds(result, setting, stem, skill)
        else:
            _random_pushes(result, setting, stem, skill)


def _thresholds(result: Result, setting: Setting, stem: str, skill: Skill) -> None:
    def survive(tried_levels: list[tuple[int, float]], replicas: list[int]) -> np.ndarray:
        cases = [(d, level, k) for d, level in tried_levels for k in replicas]
        population = Population(len(cases), skill=skill)
        perturb_population(population, [seeded_generator(setting.seed, "pushed", k) for _, _, k in cases])
        for i, (d, level, k) in enumerate(cases):
            lateral, sagittal = level * DIRECTIONS[d][0], level * DIRECTIONS[d][1]
            population.push(Push((sagittal, lateral, 0.0), DURATION, SETTLE + _PHASES * k), [i])
        population.run(SETTLE + _PHASES * REPLICAS + AFTER, stop_fallen=True)
        return np.asarray(np.isinf(population.fallen_at).reshape(len(tried_levels), -1).sum(axis=1))

    found = climb_levels(lambda levels, replicas: survive(list(levels), list(replicas)), 25.0, 400.0)
    for direction, level in zip(DIRECTIONS, found, strict=True):
        word = f"{stem}: lateral {direction[0]:+d}, sagittal {direction[1]:+d}"
        result.add_row(word, f"≥ {EVERY:g}", f"{level:g}", f"N per axis, {NEEDED} of {REPLICAS}", level >= EVERY)
    diagonal = float(found[DIRECTIONS.index((1, 1))])
    result.add_row(
        f"{stem}: SIMBICON's diagonal", f"≥ {DIAGONAL:g}", f"{diagonal:g}", "N per axis", diagonal >= DIAGONAL
    )


def _random_pushes(result: Result, setting: Setting, stem: str, skill: Skill) -> None:
    table = table_of_skill(skill)
    long = max(2.0 * table.duration, 10.0) if table.loops else table.duration
    count = 20 if setting.quick else TRIALS
    population = Population(count, skill=skill)
    perturb_population(population, [seeded_generator(setting.seed, "pushed", k) for k in range(count)])
    for k in range(count):
        rng = seeded_generator(setting.seed, "push", stem, k)
        way, start = rng.uniform(-np.pi, np.pi), rng.uniform(0.0, long - DURATION)
        population.push(Push((OTHER * np.cos(way), OTHER * np.sin(way), 0.0), DURATION, start), [k])
    population.run(long, stop_fallen=True)
    up = float((population.fallen_at >= long).mean())
    result.add_row(
        f"{stem}: {OTHER:g} N at random moments", f"≥ {ENOUGH:.0%}", f"{up:.0%}", f"of {count}", up >= ENOUGH
    )


def run_soft(result: Result, setting: Setting) -> None:
    """Half the servos' gains after learning: walks, forward and backwards."""
    for i, (word, stem) in enumerate((("walk", "136_21"), ("forward", "07_01"), ("backwards", "136_25"))):
        skill, why = tried(setting, Case(stem), i / 3, (i + 0.8) / 3)
        if skill is None:
            result.add_missing(word, reason=why)
            continue
        soft = with_parameters(skill, {"softness": SOFT})
        found = measure(soft, 8.0 if setting.quick else SECONDS, 3, setting.seed)
        result.add_row(f"{word}, gains × {SOFT:g}", "walks 60 s", str(found), "", found.stays_up)
