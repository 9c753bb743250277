"""Tuning of skill parameters: cost functions, a resumable CMA-ES search, and the files `surefoot tune` writes.

A cost function simulates all candidates of a generation in one population. The noise differs in every generation, so
that no candidate is merely lucky. A checkpoint holds the costs of all generations and everything that defines the
search, so that a stopped search goes on exactly as if it had not stopped, and no other search resumes from it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, overload

import cma
import numpy as np
from pydantic import BaseModel

from surefoot.atomic_file import replace_file
from surefoot.engine.devices import CPU, present_device
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.errors import CommandError, OutputError, SkillError, SurefootError
from surefoot.lab import gait_measures
from surefoot.lab.pieces import Piece, forget, present_workers, run_pieces
from surefoot.lab.replicas import perturb_alike, row_seeds, seeded_generator
from surefoot.skills import files, library_path, load, set_document_value, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain, packed_heights

_SETTLE, _INTERVAL = 4.0, 3.0  # [s] before the first push and between two
_PUSH_TIME = 0.1  # [s]


class Candidates(Sequence[Skill]):
    """Skills that differ in the values of some parameters, made when they are looked at.

    Attributes:
        skill: what they have in common.
        values: (n,) values by dotted path.
        kept: what a cost function keeps from one generation of a search to the next, by keys of its own.
    """

    def __init__(
        self, skill: Skill, values: Mapping[str, np.ndarray], kept: dict[Hashable, Population] | None = None
    ) -> None:
        """Bundle them; `kept` is shared by the generations of a search."""
        self.skill, self.values, self.kept = skill, values, {} if kept is None else kept

    def __len__(self) -> int:
        """How many there are."""
        return len(next(iter(self.values.values())))

    @overload
    def __getitem__(self, place: int) -> Skill: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Skill]: ...
    def __getitem__(self, place: int | slice) -> Skill | Sequence[Skill]:
        """One of them, or some."""
        if isinstance(place, slice):
            return Candidates(self.skill, {path: own[place] for path, own in self.values.items()}, self.kept)
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} candidates")
        return with_parameters(self.skill, {path: float(own[place]) for path, own in self.values.items()})

    def population(
        self, rows_each: int, terrain: str | Terrain, seed: int, threads: int, timestep: float | None = None
    ) -> Population:
        """Rows of every candidate, in their start states; the same population, restarted, in every generation.

        Args:
            rows_each: rows of a candidate, which follow one another.
            terrain: the ground: the same object, or the same description, is the same ground.
            seed: of what is random in the rows, which is alike for all candidates.
            threads: 0 is all cores.
            timestep: physics step [s]; by default the body's own.
        """
        n = rows_each * len(self)
        key = n, terrain if isinstance(terrain, str) else id(terrain), threads, timestep
        values = {path: np.repeat(own, rows_each) for path, own in self.values.items()}
        seeds = row_seeds(seed, len(self), rows_each)
        if key in self.kept:
            self.kept[key].restart(values, seeds)
        else:
            self.kept.clear()  # one at a time: they are large
            self.kept[key] = Population(
                n, skill=self.skill, parameters=values, terrain=terrain, seed=seeds, threads=threads,
                timestep=timestep,
            )  # fmt: skip
        return self.kept[key]


class CostFunction(Protocol):
    """A cost that a search makes small; its attributes belong to the identity of the search."""

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """(n,) costs of the candidates.

        Args:
            candidates: skills to simulate.
            seed: of the noise.
            threads: 0 is all cores.
        """


@dataclass(frozen=True)
class Objective:
    """The cost of falls, of a wrong speed and, in space, of a bad posture: 0 is perfect, every fall costs at least 1.

    Attributes:
        seconds: how long it must stay up [s].
        replicas: noisy starts per candidate and push.
        speed: wanted speed over the second half [m/s], or None.
        least_speed: speed below which it is penalized [m/s], or None.
        pushes: forces along x [N]; each is a row of its own with as many pushes as fit.
        terrain: the ground; a function of the seed gives another ground every generation.
        flight: least share of the time in the air, of a body in space, or None.
        timestep: physics step [s] that is searched with; by default the body's own. Coarser ones take less time.

    A body in space also pays for crossing its legs, rolling and turning (`gait_measures.Posture`).
    """

    seconds: float = 15.0
    replicas: int = 2
    speed: float | None = None
    least_speed: float | None = None
    pushes: tuple[float, ...] = (0.0,)
    terrain: str | Terrain | Callable[[int], Terrain] = "flat"
    flight: float | None = None
    timestep: float | None = None

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate, all of them simulated in one population."""
        each = [(force, k) for force in self.pushes for k in range(self.replicas)]
        terrain = self.terrain(seed) if callable(self.terrain) else self.terrain
        if isinstance(candidates, Candidates):
            population = candidates.population(len(each), terrain, seed, threads, self.timestep)
        else:
            skills = [skill for skill in candidates for _ in each]
            seeds = row_seeds(seed, len(candidates), len(each))
            population = Population(
                len(skills), skill=skills, terrain=terrain, seed=seeds, threads=threads, timestep=self.timestep
            )
        noise = [functools.partial(seeded_generator, seed, "tune", force, k) for force, k in each]
        perturb_alike(population, noise * len(candidates))
        for i, (force, k) in enumerate(each * len(candidates)):
            if force:
                rng = seeded_generator(seed, "tune push", force, k)
                for start in np.arange(_SETTLE, self.seconds - _INTERVAL + 0.01, _INTERVAL):
                    push = Push((force, 0.0, 0.0), _PUSH_TIME, start + rng.uniform(0.0, 1.0))
                    population.scene.add_push(population.rows[i], push, 0.0)
        population.run(self.seconds / 2, stop_fallen=True)
        x, in_space = population.qpos[:, 0].copy(), population.scene.table.root == "free"
        if in_space:
            seen = gait_measures.track_posture(population, self.seconds / 2)
            posture = seen.costs()
            if self.flight is not None:
                posture = posture + 4.0 * np.clip(self.flight - seen.flight, 0.0, 1.0)
        else:
            population.run(self.seconds / 2, stop_fallen=True)
        speed = 2.0 * (population.qpos[:, 0] - x) / self.seconds
        fallen_at = np.minimum(population.fallen_at, self.seconds)
        fell = fallen_at < self.seconds
        cost = np.where(fell, 2.0 - fallen_at / self.seconds, 0.0)
        if self.speed is not None:
            cost += np.where(fell, 1.0, np.minimum(np.abs(speed - self.speed), 1.0))
        if self.least_speed is not None:
            cost += np.where(fell, 1.0, np.clip(self.least_speed - speed, 0.0, 1.0))
        if in_space:
            cost += np.where(fell, 1.0, np.minimum(posture, 1.0))
        return np.asarray(cost.reshape(len(candidates), -1).mean(axis=1))


Vary = Callable[[Skill, Mapping[str, float], int], Skill]
_INFEASIBLE = 1e3


def with_values(skill: Skill, values: Mapping[str, float], generation: int) -> Skill:
    """Make a candidate by setting its parameters, in every generation alike."""
    return with_parameters(skill, values)


@dataclass(frozen=True)
class TuningResult:
    """Outcome of a search."""

    skill: Skill
    values: dict[str, float]
    cost: float
    generations: int


def parameter_value(skill: Skill, path: str) -> float:
    """The present value of a parameter; of all states' that of the first.

    A feedback that is not written down is 0, and a factor of a servo's gains is 1.
    """
    path = path.replace("*", "0")
    node: Any = skill.model_dump()
    keys = path.split(".")
    node = node if keys[0] in ("start", "fall") else node["parameters"]
    for key in keys:
        try:
            node = node[int(key) if key.isdigit() and not isinstance(node, dict) else key]
        except (KeyError, IndexError, TypeError):
            return 1.0 if "stiffness" in keys else 0.0
    if not isinstance(node, (int, float)):
        raise SkillError(f"{path} of {skill.full_name} is not a number")
    return float(node)


def tune(
    skill: Skill,
    bounds: Mapping[str, tuple[float, float]],
    objectives: Sequence[CostFunction],
    *,
    generations: int = 50,
    seed: int = 0,
    near: float = 0.0,
    sigma: float = 0.1,
    popsize: int | None = None,
    threads: int = 0,
    checkpoint: Path | None = None,
    keep_mean: bool = False,
    report: Callable[[int, float], None] = lambda generation, best: None,
    enough: Callable[[Sequence[float]], bool] = lambda costs: False,
    vary: Vary = with_values,
) -> TuningResult:
    """Search for the parameters of least cost by CMA-ES.

    Args:
        skill: where to begin.
        bounds: lowest and highest value of every parameter that may change, by dotted path; `states.*.cd` is one
            value for all states.
        objectives: cost functions; their costs are added.
        generations: how long to search.
        seed: of the search; the same seed gives the same result.
        near: cost of the squared distance from the beginning, in full ranges (keeps values near).
        sigma: first step size as a share of each range.
        popsize: candidates per generation; by default CMA-ES chooses.
        threads: 0 is all cores.
        keep_mean: return the search's mean; otherwise the best sample, if it does better on other noise.
        checkpoint: file that is written after every generation and that a stopped search resumes from.
        report: called after every generation with its number and the best cost so far.
        enough: called with the costs of every generation; true ends the search.
        vary: makes a candidate of the skill, values of its parameters and the number of the generation.

    Raises:
        SurefootError: no parameter, an empty range, a negative seed, or workers of a cluster for what runs on a GPU.
        OutputError: the checkpoint cannot be read, or is of another search.
    """
    names = list(bounds)
    low, high = np.array([bounds[n] for n in names], float).T
    if not (len(names) and (low < high).all() and seed >= 0):
        raise SurefootError("tuning needs a seed >= 0 and at least one parameter, each with low < high")

    def values_at(point: np.ndarray) -> dict[str, float]:
        """Parameters at a point of the unit cube that is searched."""
        return dict(zip(names, (low + np.clip(point, 0.0, 1.0) * (high - low)).tolist(), strict=True))

    begin = np.clip([(parameter_value(skill, n) - a) / (b - a) for n, (a, b) in bounds.items()], 0.0, 1.0)
    options: dict[str, Any] = {"bounds": [0.0, 1.0], "seed": seed + 1, "verbose": -9}
    if popsize:
        options["popsize"] = popsize
    search = cma.CMAEvolutionStrategy(begin, sigma, options)
    numbers = {"seed": seed, "near": near, "sigma": sigma, "candidates": search.popsize}
    identity = _describe_search(skill, bounds, objectives, numbers)
    present_workers()  # refuses those of a cluster where populations are on a GPU
    if present_device() != CPU:  # whose costs differ in the last digits
        identity["device"] = present_device()
    done = _read_checkpoint(checkpoint, identity, search.popsize)
    pieces = checkpoint and checkpoint.with_suffix(".pieces")  # costs of a generation that is not done
    best_cost, best, kept = np.inf, begin, dict[Hashable, Population]()
    while len(done) < generations or search.countiter < len(done):
        points = search.ask()
        if search.countiter < len(done):
            costs = done[search.countiter]  # replayed: the same seed asks for the same points
        else:
            round_seed = seed + 7919 * search.countiter  # other noise every generation: no candidate is merely lucky
            if vary is with_values and present_device() != CPU:
                costs = _evaluate_at_once(skill, [values_at(p) for p in points], kept, objectives, round_seed, threads)
            else:
                makers = [functools.partial(vary, skill, values_at(point), search.countiter) for point in points]
                costs = _evaluate(makers, objectives, round_seed, threads, pieces)
            costs = [c + near * float(((p - begin) ** 2).sum()) for c, p in zip(costs, points, strict=True)]
            done.append(costs)
            if checkpoint is not None:
                replace_file(checkpoint, json.dumps({"search": identity, "costs": done}).encode())
                forget(pieces)
        search.tell(points, costs)
        if min(costs) < best_cost:
            best_cost, best = min(costs), points[int(np.argmin(costs))]
        report(search.countiter, best_cost)
        if enough(costs):
            break
    # the best sample or the search's mean, whichever does better on noise it was not tuned on
    choices = [values_at(point) for point in (search.mean, best)]
    chosen = choices[0]
    if not keep_mean:
        candidates = [vary(skill, values, search.countiter) for values in choices]
        chosen = choices[int(np.argmin(sum(o.costs(candidates, seed + 1 + k) for k in range(4) for o in objectives)))]
    return TuningResult(vary(skill, chosen, search.countiter), chosen, float(best_cost), search.countiter)


def costs_of(
    candidates: Sequence[Skill], objectives: Sequence[CostFunction], seed: int, threads: int = 0,
    keep: Path | None = None,
) -> np.ndarray:  # fmt: skip
    """(n,) sums of the costs of candidates: of all at once, or shared by workers, one candidate each.

    Args:
        candidates: skills to simulate.
        objectives: cost functions.
        seed: of the noise.
        threads: 0 is all cores; workers have threads of their own.
        keep: folder in which the costs that workers find are kept.
    """
    if not present_workers().apart:
        return np.asarray(_summed_costs(candidates, objectives, seed, threads))
    pieces = [
        Piece(f"candidate {i + 1}", _summed_costs, ([candidate], tuple(objectives), seed), keep)
        for i, candidate in enumerate(candidates)
    ]
    return np.concatenate(run_pieces(pieces))


def _summed_costs(
    candidates: Sequence[Skill], objectives: Sequence[CostFunction], seed: int, threads: int = 0
) -> list[float]:
    total = np.zeros(len(candidates))
    for objective in objectives:
        total += objective.costs(candidates, seed, threads)
    return [float(cost) for cost in total]


def _evaluate(
    makers: Sequence[Callable[[], Skill]], objectives: Sequence[CostFunction], seed: int, threads: int,
    keep: Path | None = None,
) -> list[float]:  # fmt: skip
    """Costs of all candidates; those that the schema refuses are infeasible."""
    candidates, places = [], []
    for i, make in enumerate(makers):
        try:
            candidates.append(make())
            places.append(i)
        except SkillError:
            continue
    costs = np.full(len(makers), _INFEASIBLE)
    if candidates:
        costs[places] = costs_of(candidates, objectives, seed, threads, keep)
    return [float(c) for c in costs]


def _evaluate_at_once(
    skill: Skill, points: Sequence[Mapping[str, float]], kept: dict[Hashable, Population],
    objectives: Sequence[CostFunction], seed: int, threads: int,
) -> list[float]:  # fmt: skip
    """Costs of all candidates, without a skill made for each of them where the objective does not need them."""
    values = {name: np.array([point[name] for point in points]) for name in points[0]}
    candidates = Candidates(skill, values, kept)
    try:
        costs: np.ndarray = np.sum([o.costs(candidates, seed, threads) for o in objectives], axis=0)
        return costs.tolist()  # type: ignore[no-any-return]
    except SkillError:  # of some of them
        makers = [functools.partial(with_parameters, skill, point) for point in points]
        return _evaluate(makers, objectives, seed, threads)


def _describe_search(
    skill: Skill, bounds: Mapping[str, tuple[float, float]], objectives: Sequence[CostFunction],
    numbers: Mapping[str, float],
) -> dict[str, str]:  # fmt: skip
    """Everything that the costs of a search depend on, in words by what it is called."""
    found = {"skill": f"{skill.full_name} {_digest(skill.model_dump_json().encode())}"}
    found |= {name: _in_words(value) for name, value in numbers.items()}
    found |= {f"range of {name}": f"{low:.15g} to {high:.15g}" for name, (low, high) in bounds.items()}
    for i, objective in enumerate(objectives):
        prefix = f"objective {i + 1}: " if len(objectives) > 1 else ""
        found |= {f"{prefix}{name}": _in_words(value) for name, value in vars(objective).items()}
    return found


def _in_words(value: object) -> str:
    """A value of an objective as text: equal values give equal texts, in every process."""
    if isinstance(value, (int, float)):
        return f"{value:.15g}"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_in_words, value))
    if isinstance(value, Terrain):
        return f"{value.description} {_digest(packed_heights(value).tobytes() + repr(value.props).encode())}"
    if isinstance(value, BaseModel):
        return _digest(value.model_dump_json().encode())
    return getattr(value, "__qualname__", str(value))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _read_checkpoint(path: Path | None, identity: dict[str, str], popsize: int) -> list[list[float]]:
    """Costs of the generations that are done."""
    if path is None or not path.exists():
        return []
    try:
        saved = json.loads(path.read_text())
        before = {str(name): str(value) for name, value in saved["search"].items()}
        costs = [[float(c) for c in costs] for costs in saved["costs"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"cannot resume from {path}: it is damaged ({error!r}); delete it to start anew") from None
    differs = [
        f"{name} was {before.get(name, 'not given')}, now {identity.get(name, 'not given')}"
        for name in dict.fromkeys([*identity, *before])
        if before.get(name) != identity.get(name)
    ]
    if differs or any(len(c) != popsize for c in costs):
        raise OutputError(
            f"{path} is the checkpoint of another search: {'; '.join(differs) or 'other generations'}. "
            "Delete it, or name another checkpoint (--checkpoint) or another file to save (--save)"
        )
    return costs


def bounds_of(items: list[str]) -> dict[str, tuple[float, float]]:
    """Bounds of parameters written as PATH=LOW:HIGH."""
    found = {}
    for item in items:
        name, _, span = item.partition("=")
        low, _, high = span.partition(":")
        try:
            found[name] = (float(low), float(high))
        except ValueError:
            raise CommandError(f"a parameter is PATH=LOW:HIGH, got {item!r}") from None
    if not found:
        raise CommandError("name at least one --parameter PATH=LOW:HIGH to tune")
    return found


def check_bounds(skill: Skill, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Refuse a search whose parameters or bounds the schema would refuse, before it begins."""
    for path, (low, high) in bounds.items():
        if not low < high:
            raise CommandError(f"{path}: a range takes low < high, got {low:g}:{high:g}")
        parameter_value(skill, path)
        for value in (low, high):
            with_parameters(skill, {path: value})


def tuned_name(path: Path) -> str:
    """The name a skill gets from its file's."""
    if path.suffix not in (".yaml", ".yml"):
        raise OutputError(f"cannot write {path}: a skill file ends with .yaml")
    return skill_name(path, "tuned")


def skill_name(path: Path, otherwise: str) -> str:
    """A valid name of a skill, as like a file's as can be; `otherwise` if nothing of that is left."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:60] or otherwise


def write_tuned(source: str, values: Mapping[str, float], path: Path) -> None:
    """Write a tuned skill as a file: the beginning's document with the new numbers, comments kept."""
    begin = load(source)
    origin = Path(source) if source.endswith((".yaml", ".yml")) else library_path(begin.full_name)
    document = files.read(origin)[1]
    document["name"] = tuned_name(path)
    document["provenance"]["source"] = f"tuned from {begin.full_name} by surefoot tune"
    document["provenance"].pop("changed", None)
    for name, value in values.items():
        set_document_value(document, name, round(value, 5))
    files.validate(document, str(path))
    files.write(document, path)
