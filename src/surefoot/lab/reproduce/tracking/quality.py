"""The gait report card of tracked walks and runs beside that of their clips."""

from __future__ import annotations

import numpy as np

from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.gait import gait_card
from surefoot.lab.gait_clips import clean_clip
from surefoot.lab.gait_signals import record_signals, signals_of
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.quality.people import RUNS, WALKS
from surefoot.lab.reproduce.tracking.tracked_clips import Case, tried
from surefoot.motions.clips import read_clip
from surefoot.skills.schema import Skill

NEAR = 2.0  # [deg]
REPLICAS, SETTLED, SECONDS = 3, 5.0, 20.0  # [s]


def run(result: Result, setting: Setting) -> None:
    """A row for each plain walk and run."""
    names = [*WALKS, *RUNS][: 1 if setting.quick else None]
    for i, name in enumerate(names):
        clip = find_clip(setting, name)
        skill, why = tried(setting, Case(name, loops=True), i / len(names), (i + 0.8) / len(names))
        if clip is None or skill is None:
            result.add_missing(name, reason=why)
            continue
        try:
            own = gait_card(signals_of(clean_clip(read_clip(clip).motion))).score
            ours = _score(skill, setting)
        except SurefootError as error:
            result.add_row(name, f"within {NEAR:g}", str(error), "° of gait profile score", False)
            continue
        result.add_row(name, f"{own:.1f}", f"{ours:.1f}", f"° of gait profile score, within {NEAR:g}",
                       abs(ours - own) <= NEAR)  # fmt: skip


def _score(skill: Skill, setting: Setting) -> float:
    """The score of the replica that is farthest from people [deg].

    Raises:
        SurefootError: a replica fell, or does not step.
    """
    population = Population(REPLICAS, skill=skill)
    perturb_population(population, [seeded_generator(setting.seed, "quality", skill.name, k) for k in range(REPLICAS)])
    population.run(SETTLED, stop_fallen=True)
    found = []
    for signals in record_signals(population, SECONDS):
        if signals is None:
            raise SurefootError("a replica fell")
        found.append(gait_card(signals).score)
    return float(np.max(found))
