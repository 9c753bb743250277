"""The search for the numbers with which a captured gait walks like its clip.

The cost asks it to stay up, to look like the clip, and to keep the clip's time and travel. The search goes through
stages: short runs first, until it stays up, then longer ones with pushes, until it is like the clip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.controllers.imitation.parameters import Cycle
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.parameter_tuning import costs_of, parameter_value, tune
from surefoot.lab.replicas import perturb_population, row_seeds, seeded_generator
from surefoot.lab.tracking_error import BodyPoses, Frames, cycle_angles, measure_tracking, record_frames, strike_frames
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

BOUNDS: dict[str, tuple[float, float]] = {
    "cd": (0.0, 1.5), "cv": (0.0, 0.6), "cd_lateral": (0.0, 1.5), "cv_lateral": (0.0, 0.6),
    "feedback.stance_ankle.0": (-5.0, 1.0), "feedback.stance_ankle.1": (-2.0, 0.4),
    "feedback.stance_ankle_roll.0": (-5.0, 1.5), "feedback.stance_ankle_roll.1": (-2.0, 0.5),
    "offsets.swing_hip": (-0.2, 0.3), "offsets.swing_hip_roll": (-0.15, 0.25), "offsets.swing_knee": (-0.2, 0.2),
    "offsets.swing_ankle": (-0.2, 0.4), "offsets.stance_knee": (-0.2, 0.3), "offsets.stance_ankle": (-0.3, 0.3),
    "torso": (-0.25, 0.2), "torso_roll": (-0.1, 0.1), "clearance": (0.0, 0.4), "tuck": (0.0, 0.8),
    "tempo": (0.9, 1.15), "earliest": (0.4, 0.95), "handoff": (0.0, 1.0), "catch_up": (1.2, 6.0), "support": (0.0, 6.0),
    "speed": (-0.6, 0.6), "drift": (-0.5, 0.5),
}  # fmt: skip
"""Parameters that a search may change, and how far."""
FALL_COST, EARLY_FALL_COST = 6.0, 4.0  # cost of a fall at the end, and what an earlier one costs more
_SETTLED = 2.0  # [s] after which strides are measured
_LEG_BAR = 0.32  # [rad] of a leg's joint over whole strides, from which on it costs much
_TILT_GOOD = float(np.radians(3.0))  # [rad]
_GOOD, _LEG_GOOD = float(np.radians(8.0)), float(np.radians(15.0))  # [rad]


@dataclass(frozen=True)
class ImitationCost:
    """The cost of walking unlike a cycle; every fall costs at least `FALL_COST`.

    Attributes:
        cycle: what it should be like.
        seconds: how long it must stay up [s].
        replicas: noisy starts per candidate.
        push: force in a random horizontal direction for 0.2 s, once [N]; with several replicas the first is spared.
    """

    cycle: Cycle
    seconds: float
    replicas: int = 2
    push: float = 0.0

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate, all of them simulated in one population."""
        rows = [(skill, k) for skill in candidates for k in range(self.replicas)]
        seeds = row_seeds(seed, len(candidates), self.replicas)
        population = Population(len(rows), skill=[skill for skill, _ in rows], seed=seeds, threads=threads)
        perturb_population(population, [seeded_generator(seed, "follow", k) for _, k in rows])
        for i, (_, k) in enumerate(rows):
            if self.push and (k or self.replicas == 1):
                rng = seeded_generator(seed, "follow push", k)
                turn, start = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.3, 0.6) * self.seconds
                force = (self.push * np.cos(turn), self.push * np.sin(turn), 0.0)
                population.scene.add_push(population.rows[i], Push(force, 0.2, start), 0.0)
        body = BodyPoses(population.scene)
        cost = [self._cost(frames, body) for frames in record_frames(population, self.seconds)]
        return np.asarray(np.array(cost).reshape(len(candidates), self.replicas).mean(axis=1))

    def _cost(self, frames: Frames, body: BodyPoses) -> float:
        stood = min(frames.fallen_at, self.seconds)
        has_fallen = stood < self.seconds
        until = max(int(np.searchsorted(frames.time, stood - 0.3)), 5)
        phase = frames.reports["phase"][:until]
        errors = {
            name: float(np.sqrt(np.mean((frames.qpos[:until, at] - cycle_angles(self.cycle, name, phase)) ** 2)))
            for name, at in body.joints.items()
        }
        cost: float = min(float(np.mean(list(errors.values()))) / _GOOD, 3.0)
        cost += min(2.0 * max(max(errors[name] for name in body.legs) / _LEG_GOOD - 1.0, 0.0), 3.0)
        struck = [at[at < until] for at in (strike_frames(frames, 0), strike_frames(frames, 1))]
        cost += min(4.0 * self._untimely(frames, struck), 2.0)
        cost += self._stalled(np.sort(frames.time[np.concatenate(struck)]), stood)
        if has_fallen:
            return cost + FALL_COST + EARLY_FALL_COST * (1.0 - stood / self.seconds)
        seen = measure_tracking(frames, self.cycle, body, min(_SETTLED, 0.3 * self.seconds))
        if not seen.strides:
            return cost + FALL_COST
        cost += min(8.0 * max(seen.worst_joint(body.legs) / _LEG_BAR - 1.0, 0.0), 3.0)
        cost += min(10.0 * abs(seen.width - seen.wanted_width), 2.0)
        cost += min(0.4 * max(seen.tilt / _TILT_GOOD - 1.0, 0.0), 2.0)
        cost += min(15.0 * abs(seen.cadence - 1.0), 3.0)
        return cost + min(5.0 * seen.travel_error, 0.75 + 2.5 * seen.travel_error, 4.0)

    def _untimely(self, frames: Frames, struck: Sequence[np.ndarray]) -> float:
        """Mean share of a step by which the footstrikes of either leg come too early or too late."""
        found = []
        for leg, at in enumerate(struck):
            begin, end = self.cycle.lands[1 - leg], self.cycle.lands[leg]
            done = (
                frames.reports["phase"][at - 1] - begin + 0.3
            ) % 1.0 - 0.3  # it may be a little before its beginning
            found += list(np.abs(done / ((end - begin) % 1.0) - 1.0))
        return float(np.mean(found)) if found else 0.5

    def _stalled(self, strikes: np.ndarray, stood: float) -> float:
        """Cost of the longest time without a footstrike, if it is much longer than a step."""
        longest = float(np.diff([0.0, *strikes, stood]).max())
        return min(2.0 * max(longest / (0.5 * self.cycle.period) - 1.6, 0.0), 3.0)


FALLEN = 10.0  # least error of a walk that falls


@dataclass(frozen=True)
class Stage:
    """One search: how long it must walk [s], how many generations at most, and CMA-ES's first step size."""

    seconds: float
    generations: int
    sigma: float
    replicas: int = 1  # the noise differs in every generation
    push: float = 0.0  # [N]
    share_up: float = 0.5  # the stage ends when this share of the candidates stays up; above 1: only at its end
    starts: int = 1  # how many of the best starts are searched from
    only_if_error_above: float | None = None  # a spare stage, run only while the error is larger


STAGES = (
    Stage(3.0, 8, 0.12, starts=5),
    Stage(3.0, 14, 0.12, starts=2),
    Stage(3.0, 40, 0.15),
    Stage(5.0, 20, 0.10, share_up=0.6),
    Stage(8.0, 12, 0.08, push=60.0, share_up=0.7),
    Stage(10.0, 12, 0.06, push=120.0, share_up=2.0),
    Stage(10.0, 12, 0.06, push=60.0, share_up=2.0, only_if_error_above=1.0),
    Stage(10.0, 12, 0.08, push=60.0, share_up=2.0, only_if_error_above=1.0),
    Stage(10.0, 15, 0.06, share_up=2.0, only_if_error_above=1.0),
    Stage(15.0, 15, 0.05, share_up=2.0, only_if_error_above=1.0),
    Stage(15.0, 15, 0.06, share_up=2.0, only_if_error_above=FALLEN),
    Stage(15.0, 15, 0.06, share_up=2.0, only_if_error_above=FALLEN),
    Stage(10.0, 20, 0.05, share_up=2.0, only_if_error_above=1.0),
)
_CANDIDATES = 14
_NEAR = 0.2  # cost of leaving where a stage began by a whole range
SLOW_WALK: dict[str, float] = {
    "handoff": 0.6, "clearance": 0.25, "earliest": 0.75, "feedback.stance_ankle.0": -3.0,
    "feedback.stance_ankle.1": -1.2, "feedback.stance_ankle_roll.0": -3.0, "feedback.stance_ankle_roll.1": -1.2,
}  # fmt: skip
"""A walk that is long on both feet and balanced by its ankles."""
_KNOWN = tuple(
    f"human/captured-{gait}" for gait in ("backwards", "bent-trunk", "forward", "high-knees", "in-place", "wide-stance")
)
"""Captured gaits whose numbers are first guesses for others."""
Report = Callable[[str, float], None]


def initial_guesses(without: str = "") -> tuple[dict[str, float], ...]:
    """Parameters to begin with: those of a new skill, of a slow walk, and of some captured gaits.

    Args:
        without: a clip whose own gait is left out, to see what a search finds that has never met it.
    """
    like = [skill for skill in map(load, _KNOWN) if getattr(skill, "clip", "") != without]
    return ({}, SLOW_WALK, *({name: parameter_value(skill, name) for name in BOUNDS} for skill in like))


def imitate(
    starts: Sequence[Skill],
    cycle: Cycle,
    *,
    seed: int = 0,
    stages: tuple[Stage, ...] = STAGES,
    begin_with: Sequence[dict[str, float]] | None = None,
    unlike: Callable[[Skill], float] = lambda skill: 0.0,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Report = lambda text, share: None,
) -> Skill:
    """Search for the parameters with which a captured gait walks like its cycle.

    Args:
        starts: skills to begin with, of which the search keeps one.
        cycle: what it should be like: the cleaned cycle, which a start may have made symmetric.
        seed: of the search.
        stages: run one after the other, each from the best that the last one found. Once a walk stays up, further
            stages of the same length are skipped.
        begin_with: parameters to begin with; by default `initial_guesses()`.
        unlike: error of a result. Spare stages run while it is too large: each from the best so far, or from the last
            if the best falls.
        threads: 0 is all cores.
        checkpoint: a stopped search resumes from files of this name with the stage's number added.
        report: called after every generation with what is done and the largest share of the work that may be done.

    Raises:
        OutputError: a checkpoint cannot be read, or is of another search.
    """
    guessed = initial_guesses() if begin_with is None else begin_with
    field = [with_parameters(start, guess) if guess else start for start in starts for guess in guessed]
    costs = costs_of(field, [ImitationCost(cycle, stages[0].seconds)], seed, threads)
    field = [field[i] for i in np.argsort(costs)]
    total = sum(stage.generations * stage.starts for stage in stages)
    search = _Search(cycle, seed, threads, checkpoint, report, total)
    up_for = 0.0  # [s]
    for number, stage in enumerate(stages):
        if stage.only_if_error_above is None and up_for != stage.seconds:
            found = search.from_each(field[: stage.starts], stage, str(number))
            up_for = stage.seconds if found[0].stays_up else 0.0
            field = [one.skill for one in found]
    best, far = field[0], unlike(field[0])
    last = best
    for number, stage in enumerate(stages):
        if stage.only_if_error_above is not None and stage.only_if_error_above < far:
            search.seed = seed + number
            last = search.run(best if far < FALLEN else last, stage, str(number)).skill
            best, far = min(((best, far), (last, unlike(last))), key=lambda judged: judged[1])
    return best


@dataclass(frozen=True)
class _Found:
    skill: Skill
    cost: float
    stays_up: bool


@dataclass
class _Search:
    """The searches of one gait, and how many generations are done."""

    cycle: Cycle
    seed: int
    threads: int
    checkpoint: Path | None
    report: Report
    total: int  # generations
    done: int = 0

    def from_each(self, begins: Sequence[Skill], stage: Stage, label: str) -> list[_Found]:
        """Results of the searches from each start until one stays up, the best first."""
        found: list[_Found] = []
        for k, begin in enumerate(begins):
            found.append(self.run(begin, stage, f"{label}-{k}"))
            if found[-1].stays_up:
                break
        return sorted(found, key=lambda one: (not one.stays_up, one.cost))

    def run(self, begin: Skill, stage: Stage, label: str) -> _Found:
        """Run one stage from one start."""
        shares = [0.0]

        def enough(costs: Sequence[float]) -> bool:
            shares.append(float(np.mean(np.array(costs) < FALL_COST)))
            return shares[-1] >= stage.share_up

        def tell(generation: int, best: float) -> None:
            at = f"{stage.seconds:g} s, generation {generation}, best cost {best:.2f}"
            self.report(at, (self.done + generation) / self.total)

        found = tune(
            begin, BOUNDS, [ImitationCost(self.cycle, stage.seconds, stage.replicas, stage.push)],
            generations=stage.generations, seed=self.seed, near=_NEAR, sigma=stage.sigma, popsize=_CANDIDATES,
            threads=self.threads, report=tell, enough=enough,
            checkpoint=self.checkpoint and self.checkpoint.with_name(f"{self.checkpoint.name}-{label}.json"),
        )  # fmt: skip
        self.done += stage.generations
        return _Found(found.skill, found.cost, shares[-1] >= stage.share_up)
