"""CMA-ES over named, bounded skill parameters; one generation is one population."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cma
import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError, SkillError, SurefootError
from surefoot.lab.objectives import Cost
from surefoot.skills import varied
from surefoot.skills.schema import Skill

_INFEASIBLE = 1e3


@dataclass(frozen=True)
class Tuned:
    """Outcome of a search."""

    skill: Skill
    values: dict[str, float]
    cost: float
    generations: int


def value_of(skill: Skill, path: str) -> float:
    """The present value of a parameter; a feedback that is not written down is 0."""
    node: Any = skill.model_dump()
    keys = path.split(".")
    node = node if keys[0] in ("start", "fall") else node["parameters"]
    for key in keys:
        try:
            node = node[int(key) if key.isdigit() and not isinstance(node, dict) else key]
        except (KeyError, IndexError, TypeError):
            return 0.0
    if not isinstance(node, (int, float)):
        raise SkillError(f"{path} of {skill.full_name} is not a number")
    return float(node)


def tune(
    skill: Skill,
    bounds: Mapping[str, tuple[float, float]],
    objectives: Sequence[Cost],
    *,
    generations: int = 50,
    seed: int = 0,
    near: float = 0.0,
    sigma: float = 0.1,
    popsize: int | None = None,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
    enough: Callable[[Sequence[float]], bool] = lambda costs: False,
) -> Tuned:
    """Search for the parameters of least cost.

    Args:
        skill: where to begin.
        bounds: lowest and highest value of every parameter that may change.
        objectives: what to ask for; their costs are added.
        generations: how long to search.
        seed: of the search; the same seed gives the same result.
        near: cost of one full range's distance from the beginning, in squares (keeps values near).
        sigma: first step size as a share of each range.
        popsize: candidates a generation.
        threads: 0 is all cores.
        checkpoint: file that a killed search is resumed from.
        report: called after every generation with its number and the best cost so far.
        enough: told the costs of every generation; true ends the search.
    """
    names = list(bounds)
    low, high = np.array([bounds[n] for n in names], float).T
    if not (len(names) and (low < high).all() and seed >= 0):
        raise SurefootError("tuning needs a seed >= 0 and at least one parameter, each with low < high")
    begin = np.clip([(value_of(skill, n) - a) / (b - a) for n, (a, b) in bounds.items()], 0.0, 1.0)
    options: dict[str, Any] = {"bounds": [0.0, 1.0], "seed": seed + 1, "verbose": -9}
    if popsize:
        options["popsize"] = popsize
    search = cma.CMAEvolutionStrategy(begin, sigma, options)
    key = hashlib.sha256(skill.model_dump_json().encode()).hexdigest()[:16]
    done = _read(checkpoint, names, seed, search.popsize, key)
    best_cost, best = np.inf, begin
    while len(done) < generations or search.countiter < len(done):
        points = search.ask()
        if search.countiter < len(done):
            costs = done[search.countiter]  # replayed: the same seed asks the same points
        else:
            round_seed = seed + 7919 * search.countiter  # other noise every generation: no candidate is merely lucky
            costs = _evaluate(skill, names, low, high, points, objectives, round_seed, threads)
            costs = [c + near * float(((p - begin) ** 2).sum()) for c, p in zip(costs, points, strict=True)]
            done.append(costs)
            _write(checkpoint, names, seed, done, key)
        search.tell(points, costs)
        if min(costs) < best_cost:
            best_cost, best = min(costs), points[int(np.argmin(costs))]
        report(search.countiter, best_cost)
        if enough(costs):
            break
    values = dict(zip(names, (low + best * (high - low)).tolist(), strict=True))
    mean = dict(zip(names, (low + np.clip(search.mean, 0, 1) * (high - low)).tolist(), strict=True))
    chosen = _robust_choice(skill, [values, mean], objectives, seed)
    return Tuned(varied(skill, chosen), chosen, float(best_cost), search.countiter)


def _evaluate(
    skill: Skill,
    names: list[str],
    low: Any,
    high: Any,
    points: Any,
    objectives: Sequence[Cost],
    seed: int,
    threads: int,
) -> list[float]:
    candidates, places = [], []
    for i, point in enumerate(points):
        try:
            candidates.append(varied(skill, dict(zip(names, (low + point * (high - low)).tolist(), strict=True))))
            places.append(i)
        except SkillError:
            continue
    costs = np.full(len(points), _INFEASIBLE)
    if candidates:
        costs[places] = sum(o.costs(candidates, seed, threads) for o in objectives)
    return [float(c) for c in costs]


def _robust_choice(
    skill: Skill, choices: list[dict[str, float]], objectives: Sequence[Cost], seed: int
) -> dict[str, float]:
    """The best sample or the search's mean, whichever does better on noise it was not tuned on."""
    candidates = [varied(skill, c) for c in choices]
    costs = sum(o.costs(candidates, seed + 1 + k) for k in range(4) for o in objectives)
    return choices[int(np.argmin(costs))]


def _read(path: Path | None, names: list[str], seed: int, popsize: int, key: str) -> list[list[float]]:
    if path is None or not path.exists():
        return []
    try:
        saved = json.loads(path.read_text())
        if saved["parameters"] != names or saved["seed"] != seed or saved["skill"] != key:
            raise OutputError(f"{path} belongs to another search; remove it or choose another file")
        costs = [[float(c) for c in costs] for costs in saved["costs"]]
        if any(len(c) != popsize for c in costs):
            raise OutputError(f"{path} belongs to a search with other generations; remove it or choose another file")
        return costs
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"cannot resume from {path}: {error}") from None


def _write(path: Path | None, names: list[str], seed: int, done: list[list[float]], key: str) -> None:
    if path is not None:
        replace_file(path, json.dumps({"parameters": names, "seed": seed, "skill": key, "costs": done}).encode())
