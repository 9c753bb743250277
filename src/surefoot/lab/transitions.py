"""From every gait directly into every other, at random phases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from surefoot.lab import figures
from surefoot.lab.cycles import at_random_phases
from surefoot.lab.experiment import Result, Setting
from surefoot.population import Population
from surefoot.skills.schema import Skill


def matrix(
    skills: Sequence[Skill],
    phases: int,
    seconds: float,
    seed: int,
    tick: Callable[[str, float], None] = lambda source, share: None,
) -> np.ndarray:
    """(n, n) from how many random phases of a gait (rows) each other one (columns) can be entered; −1 on the diagonal.

    A transition counts if the switch has happened and there was no fall within `seconds` of the request.
    """
    kept = np.full((len(skills), len(skills)), -1)
    if len(skills) < 2:
        return kept
    for i, source in enumerate(skills):
        tick(source.name, i / len(skills))
        targets = [k for k in range(len(skills)) if k != i]
        states = at_random_phases(source, phases, seed)
        population = Population(len(targets) * phases, skill=[source] * (len(targets) * phases))
        population.restore(np.tile(states, (len(targets), 1)))
        for place, target in enumerate(targets):
            population.switch(skills[target], range(place * phases, (place + 1) * phases))
        population.run(seconds, stop_fallen=True)
        waiting = np.array([row.header[0].pending != 0.0 for row in population.rows])
        good = np.isinf(population.fallen_at) & ~waiting
        kept[i, targets] = good.reshape(len(targets), phases).sum(axis=1)
    return kept


def show(result: Result, setting: Setting, names: Sequence[str], kept: np.ndarray, phases: int) -> int:
    """Show, draw and record a matrix of transitions; return how many pairs succeed at 80 % of the phases or more."""
    for i, source in enumerate(names):
        others = [(name, int(kept[i, k])) for k, name in enumerate(names) if k != i]
        for target, count in others:
            result.runs.append({"case": "matrix", "from": source, "to": target, "kept": count, "phases": phases})
        result.show(f"{source} →", ", ".join(f"{target} {count}" for target, count in others), f"of {phases} phases")
    share = np.where(kept < 0, np.nan, kept / phases)
    figures.matrix(setting.figure_path(result.experiment, "matrix.png"), names, share)
    return int((kept >= 0.8 * phases).sum())
