"""A model of one step of limit cycle control, learned from recorded trials (Laszlo et al. 1996, §5.2).

A ridge regression predicts, from the state at the beginning of a step, what the step ends with unperturbed and the four
derivatives by the perturbation. The law evaluates the model instead of simulating trials.
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
    """The CYCLE record of every row; they change as the population advances."""
    return [python_impl(limit_cycle.cycle_of)(row.memory)[0] for row in population.rows]


def begun_steps(population: Population, seconds: float, look: float = _LOOK) -> Iterator[int]:
    """Advance a population and yield the row of every step that begins, at most `look` seconds later.

    By then its perturbation is chosen, and its CYCLE record says how the step before it ended.

    Args:
        population: of limit cycle control; rows that fall stop.
        seconds: how long [s].
        look: how often new steps are looked for [s].
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
    """Recorded steps: (n, features) the state each began in, (n, 6) the outcome of its trials (`OUTPUTS`)."""

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
    """Walk with trials under random pushes and record every step.

    A walk by a model reaches other states than one by trials, and must know those too (Ross, Gordon, Bagnell 2011).

    Args:
        skill: one that takes trials.
        seed: of starts, pushes and commands.
        rows: walks at once.
        seconds: how long each walks [s].
        force: largest force of a push along either axis [N].
        commands: name, lowest and highest value of commands that are drawn anew before every push.
        model: chooses the perturbations; trials are recorded all the same.
        threads: of the population; 0 is all cores.
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
    """Perturb the present step as a model predicts."""
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
    """Push a row in a random direction at a random moment, and give it other commands."""
    x, y = rng.uniform(-force, force, 2)
    if np.isinf(population.fallen_at[i]):
        population.push(Push((x, y, 0.0), _PUSHED, population.time[i] + rng.uniform(0.1, 1.5)), [i])
        told = {name: float(rng.uniform(low, high)) for name, low, high in commands}
        population.scene.command(population.rows[i], population.skills[i], told)


def concatenate(*parts: StepRecord) -> StepRecord:
    """All steps of several records."""
    return StepRecord(np.concatenate([p.begins for p in parts]), np.concatenate([p.outcomes for p in parts]))


def without_outliers(steps: StepRecord, farthest: float = FARTHEST_OUTCOME) -> StepRecord:
    """Steps whose outcomes are all within so many robust deviations of the median: a fall teaches nothing."""
    off = np.abs(steps.outcomes - np.median(steps.outcomes, axis=0))
    kept = (off <= farthest * (1.4826 * np.median(off, axis=0) + 1e-9)).all(axis=1)
    return StepRecord(steps.begins[kept], steps.outcomes[kept])


def fit_step_model(steps: StepRecord, ridge: float = RIDGE, ridge_derivatives: float = RIDGE_DERIVATIVES) -> Model:
    """Fit a linear model to the steps without outliers, by ridge regression on clipped z-scores.

    A feature that hardly varies in the record is scaled by `_LEAST`, so that its small deviation is not blown up.

    Args:
        steps: the record.
        ridge: penalty of the weights of the unperturbed outcome.
        ridge_derivatives: penalty of the weights of the derivatives.
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
    """(n, 6) predicted outcomes of steps that begin in (n, features) states."""
    z = np.clip((begins - np.array(model.mean)) / np.array(model.scale), -FARTHEST, FARTHEST)
    weights = np.array(model.weights)
    return np.asarray(z @ weights[:, :-1].T + weights[:, -1])


def with_step_model(skill: Skill, model: Model) -> Skill:
    """A skill that uses a learned model instead of trials."""
    document = skill.model_dump(by_alias=True)
    document["parameters"]["model"] = model.model_dump()
    document["parameters"]["regulation"]["control"] = "predicted"
    return type(skill).model_validate(document)


def r_squared(model: Model, steps: StepRecord) -> np.ndarray:
    """(6,) R² of every output on recorded steps."""
    error = ((predict(model, steps.begins) - steps.outcomes) ** 2).sum(axis=0)
    return np.asarray(1.0 - error / ((steps.outcomes - steps.outcomes.mean(axis=0)) ** 2).sum(axis=0))
