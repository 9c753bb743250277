"""Robust thresholds: the largest push such that it and every smaller one is survived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.lab import cycles
from surefoot.lab.measures import IN_PLACE
from surefoot.lab.replicas import PHASE, generator
from surefoot.population import Population
from surefoot.scene import Push
from surefoot.skills.schema import Skill

REPLICAS, NEEDED = 5, 4
PUSHES, INTERVAL, DURATION, AFTER = 10, 5.0, 0.1, 10.0  # SIMBICON §7.1, times in seconds
_JUDGED = 5.0  # [s] last part of the run, over which speed and stepping are judged
_SAME_SPEED = 0.7  # share of its speed that counts as going on


def planar_grid(highest: float) -> list[float]:
    """Levels of 10 N below 100 N and of 20 N above [N]."""
    return [10.0 * i for i in range(1, 10) if 10.0 * i <= highest] + [
        100.0 + 20.0 * i for i in range(int((highest - 100.0) // 20.0) + 1) if highest >= 100.0
    ]


def robust(
    survives: Callable[[list[float]], list[int]], grid: list[float], block: int = 6
) -> tuple[float, list[tuple[float, int]]]:
    """Climb the grid until a level is survived by too few replicas.

    Args:
        survives: how many replicas survive each of some levels.
        grid: levels, ascending.
        block: levels simulated at once.

    Returns:
        The threshold (0 if the first level fails) and the count at every level that was tried.
    """
    best, tried = 0.0, []
    for start in range(0, len(grid), block):
        levels = grid[start : start + block]
        counts = survives(levels)
        for level, count in zip(levels, counts, strict=True):
            tried.append((level, count))
            if count < NEEDED:
                return best, tried
            best = level
    return best, tried


@dataclass(frozen=True)
class Norm:
    """What a gait does undisturbed, over the same time."""

    speed: float
    steps: float


def push_survivors(skill: Skill, direction: float, seed: int) -> Callable[[list[float]], list[int]]:
    """How many replicas survive ten pushes of a level along x (direction ± 1)."""
    states = cycles.replicas_on_cycle(skill, REPLICAS, seed)
    period = 2.0 * cycles.step_period(skill)
    shifts = [generator(seed, "push", skill.full_name, i).uniform(-PHASE, PHASE) * period for i in range(REPLICAS)]
    norm = _undisturbed(skill, states)

    def run(cases: list[tuple[float, int]]) -> np.ndarray:
        pushes = [[_push(direction * level, k, shifts[replica]) for k in range(PUSHES)] for level, replica in cases]
        return _run(skill, states[[replica for _, replica in cases]], pushes, norm)

    def survives(levels: list[float]) -> list[int]:
        """Replicas that survive each level; the last one is run only where it decides."""
        first = run([(level, replica) for level in levels for replica in range(NEEDED)]).reshape(-1, NEEDED).sum(axis=1)
        open_ones = [i for i, count in enumerate(first) if count == NEEDED - 1]
        if open_ones:
            first[open_ones] += run([(levels[i], NEEDED) for i in open_ones])
        return [int(count) for count in first]

    return survives


def _push(force: float, k: int, shift: float) -> Push:
    return Push((force, 0.0, 0.0), DURATION, cycles.SETTLE + 1.0 + INTERVAL * k + shift, "trunk")


def _undisturbed(skill: Skill, states: np.ndarray) -> Norm:
    population = _population(skill, states[:1])
    x, steps = _judged_stretch(population)
    return Norm(float(x[0]), float(steps[0]))


def _run(skill: Skill, states: np.ndarray, pushes: list[list[Push]], norm: Norm) -> np.ndarray:
    population = _population(skill, states)
    for i, queue in enumerate(pushes):
        for push in queue:
            population.scene.add_push(population.rows[i], push, float(population.time[i]))
    speed, steps = _judged_stretch(population)
    upright = np.isinf(population.fallen_at)
    return np.asarray(upright & resumed(speed, steps, norm))


def resumed(speed: np.ndarray, steps: np.ndarray, norm: Norm) -> np.ndarray:
    """Whether it does again what it did: its speed, or its stepping in place."""
    if abs(norm.speed) < IN_PLACE:
        return np.asarray((np.abs(speed - norm.speed) < IN_PLACE) & (steps > 0.5 * norm.steps))
    return np.asarray(speed * np.sign(norm.speed) >= _SAME_SPEED * abs(norm.speed))


def _population(skill: Skill, states: np.ndarray) -> Population:
    population = Population(len(states), skill=[skill] * len(states))
    population.restore(states)
    return population


def _judged_stretch(population: Population) -> tuple[np.ndarray, np.ndarray]:
    """Run through all pushes and 10 s more; speed and steps over the last 5 s."""
    population.run(1.0 + INTERVAL * (PUSHES - 1) + AFTER - _JUDGED, stop_fallen=True)
    x, steps = population.qpos[:, 0].copy(), np.array([r.report[0].steps for r in population.rows])
    population.run(_JUDGED, stop_fallen=True)
    moved = population.qpos[:, 0] - x
    return moved / _JUDGED, np.array([r.report[0].steps for r in population.rows]) - steps
