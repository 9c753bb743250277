"""Steps of limit cycle control as they begin, one at a time, out of a population that walks.

Learning the local model of a step from steps whose trials were recorded (Laszlo et al. 1996, §5.2, its last hope).

A ridge regression from how a step begins to what it would end with unperturbed, and to the four derivatives by the
perturbation. The law evaluates it in the step itself: no trial is simulated any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.controllers.limit_cycle.parameters import Model
from surefoot.controllers.limit_cycle.planner import Watch
from surefoot.controllers.limit_cycle.regulation import FARTHEST, solve_perturbation
from surefoot.controllers.limit_cycle.slot import features
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill

_LOOK = 0.1  # [s] shorter than any step


def cycle_records(population: Population) -> list[Any]:
    """Live CYCLE records of all rows."""
    return [python_impl(limit_cycle.cycle_of)(row.memory)[0] for row in population.rows]


def begun_steps(population: Population, seconds: float, look: float = _LOOK) -> Iterator[int]:
    """Advance a population for some seconds; give the row of every step that has begun since the last look.

    Its perturbation is chosen by then, and its CYCLE record says how the step before it ended. A step is noticed
    within `look` seconds.
    """
    cycles = cycle_records(population)
    seen = np.array([float(cycle.begun) for cycle in cycles])
    for _ in range(round(seconds / look)):
        population.run(look, stop_fallen=True)
        fallen = np.isfinite(population.fallen_at)
        for i, cycle in enumerate(cycles):
            if cycle.begun != seen[i] and not fallen[i]:
                seen[i] = cycle.begun
                yield i


OUTPUTS = (
    "nominal_forward", "nominal_lateral", "forward_by_pitch", "forward_by_roll", "lateral_by_pitch", "lateral_by_roll",
)  # fmt: skip
_EVERY, _PUSHED = 2.5, 0.2  # [s] between the pushes that spread the states, how long each lasts
_LOOK_FOLLOWING = 0.01  # [s] after which a step is perturbed as a model says
RIDGE, RIDGE_DERIVATIVES = 10.0, 100.0
_LEAST = (0.01, 0.02, 0.02, 0.05, 0.05, 0.05, 0.2, 0.2, 0.2, 0.02)  # deviations of the root's features: `describe`
_LEAST_ANGLE, _LEAST_RATE = 0.03, 0.3  # [rad], [rad/s]
FARTHEST_OUTCOME = 4.0  # robust deviations


@dataclass(frozen=True)
class StepRecord:
    """Recorded steps: (n, features) how each began, (n, 6) what its trials said."""

    begins: np.ndarray
    outcomes: np.ndarray


def record_steps(
    skill: Skill,
    seed: int,
    rows: int = 12,
    seconds: float = 40.0,
    force: float = 40.0,
    commands: tuple[tuple[str, float, float], ...] = (),
    model: Model | None = None,
    threads: int = 0,
) -> StepRecord:
    """Walk with trials, pushed about, and record every step.

    A walk by a model comes to other states than one by trials: those it has to know (Ross, Gordon, Bagnell 2011).

    Args:
        skill: one that takes trials.
        seed: of starts, pushes and commands.
        rows: walks at once.
        seconds: how long each walks.
        force: of pushes at most [N].
        commands: name, lowest and highest value of what is told anew before every push.
        model: one that chooses the perturbations; trials are taken all the same, and recorded.
        threads: of the population; 0 is one a core.
    """
    population = Population(rows, skill=skill, threads=threads)
    rngs = [seeded_generator(seed, "foretell", skill.full_name, i) for i in range(rows)]
    perturb_population(population, rngs)
    cycles = cycle_records(population)
    described = [
        python_impl(limit_cycle.features_of)(row.memory, features(population.scene.table)) for row in population.rows
    ]
    regulations = [Watch(population.scene, row).regulation for row in population.rows]
    begins, outcomes = [], []
    for _ in range(max(1, round(seconds / _EVERY))):
        for i, rng in enumerate(rngs):
            _stir(population, i, rng, force, commands)
        for i in begun_steps(population, _EVERY, _LOOK_FOLLOWING if model else 0.1):
            begins.append(described[i].copy())
            outcomes.append([float(cycles[i][name]) for name in OUTPUTS])
            if model:
                _follow(model, regulations[i], cycles[i], begins[-1])
    return StepRecord(np.array(begins), np.array(outcomes))


def _follow(model: Model, regulation: Any, cycle: Any, begin: np.ndarray) -> None:
    """Perturb the present step as a model says."""
    forward, lateral, a, b, c, d = predict(model, begin[None])[0]
    cycle.pitch, cycle.roll, _ = python_impl(solve_perturbation)(
        regulation, a, b, c, d, cycle.wanted_forward - forward, cycle.wanted_lateral - lateral
    )


def _stir(
    population: Population,
    i: int,
    rng: np.random.Generator,
    force: float,
    commands: tuple[tuple[str, float, float], ...],
) -> None:
    """Push a row in any direction at any moment of the next seconds, and tell it something else."""
    x, y = rng.uniform(-force, force, 2)
    if np.isinf(population.fallen_at[i]):
        population.push(Push((x, y, 0.0), _PUSHED, population.time[i] + rng.uniform(0.1, 1.5)), [i])
        told = {name: float(rng.uniform(low, high)) for name, low, high in commands}
        population.scene.command(population.rows[i], population.skills[i], told)


def concatenate(*parts: StepRecord) -> StepRecord:
    """All steps of several records."""
    return StepRecord(np.concatenate([p.begins for p in parts]), np.concatenate([p.outcomes for p in parts]))


def without_outliers(steps: StepRecord, farthest: float = FARTHEST_OUTCOME) -> StepRecord:
    """The steps whose outcomes are all within so many robust deviations of the median: what falls teaches nothing."""
    off = np.abs(steps.outcomes - np.median(steps.outcomes, axis=0))
    kept = (off <= farthest * (1.4826 * np.median(off, axis=0) + 1e-9)).all(axis=1)
    return StepRecord(steps.begins[kept], steps.outcomes[kept])


def fit_step_model(steps: StepRecord, ridge: float = RIDGE, ridge_derivatives: float = RIDGE_DERIVATIVES) -> Model:
    """The linear model of least squares of the usual steps, its weights kept small; features z-scored and clipped.

    What hardly varies in the record (`_LEAST`) is not blown up by its small deviation.
    """
    steps = without_outliers(steps)
    joints = (steps.begins.shape[1] - len(_LEAST)) // 2
    least = np.concatenate([_LEAST, np.full(joints, _LEAST_ANGLE), np.full(joints, _LEAST_RATE)])
    mean, scale = steps.begins.mean(axis=0), np.maximum(steps.begins.std(axis=0), least)
    z = np.clip((steps.begins - mean) / scale, -FARTHEST, FARTHEST)
    centred, middle = z - z.mean(axis=0), steps.outcomes.mean(axis=0)
    square, target = centred.T @ centred, centred.T @ (steps.outcomes - middle)
    each = [ridge] * 2 + [ridge_derivatives] * 4
    weights = np.array([np.linalg.solve(square + k * np.eye(len(square)), target[:, i]) for i, k in enumerate(each)])
    rows = np.column_stack([weights, middle - weights @ z.mean(axis=0)])
    return Model(
        mean=[round(float(v), 5) for v in mean],
        scale=[round(float(v), 5) for v in scale],
        weights=[[round(float(v), 6) for v in row] for row in rows],
    )


def predict(model: Model, begins: np.ndarray) -> np.ndarray:
    """(n, 6) what a model says of steps that begin so."""
    z = np.clip((begins - np.array(model.mean)) / np.array(model.scale), -FARTHEST, FARTHEST)
    weights = np.array(model.weights)
    return np.asarray(z @ weights[:, :-1].T + weights[:, -1])


def with_step_model(skill: Skill, model: Model) -> Skill:
    """The skill with a learned model in place of trials."""
    document = skill.model_dump(by_alias=True)
    document["parameters"]["model"] = model.model_dump()
    document["parameters"]["regulation"]["control"] = "predicted"
    return type(skill).model_validate(document)


def r_squared(model: Model, steps: StepRecord) -> np.ndarray:
    """(6,) R² of every output on steps that the model has not seen."""
    error = ((predict(model, steps.begins) - steps.outcomes) ** 2).sum(axis=0)
    return np.asarray(1.0 - error / ((steps.outcomes - steps.outcomes.mean(axis=0)) ** 2).sum(axis=0))
