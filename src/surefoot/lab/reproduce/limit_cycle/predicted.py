"""§5.2, what the paper hoped for: that the local model of a step can be predicted, so that no trials are needed.

A linear model of how a step begins, learned from recorded steps (`surefoot.lab.learned_step_model`), takes the place
of the four trial simulations. Measured beside the version with trials: walking time, cost, pushes, speeds.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from surefoot.controllers.limit_cycle.planner import Watch
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import NOT_QUICK, Result, Setting
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import REPLICAS, Marches, march_population
from surefoot.lab.reproduce.simbicon.spatial_robustness import WORDS
from surefoot.lab.robustness import DIRECTIONS, direction_thresholds
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SKILL, SECONDS = "human19/march-predicted", 600.0
MOST_COST, LEAST_PUSHES = 1.15, 0.8  # × open loop, of the version with trials
STEP, HIGHEST = 10.0, 150.0  # [N] of the grid
PUSHED_AT = (0.0, 0.1, 0.2)  # [m/s] held meanwhile
_PUSHES = f"pushes, sum of eight directions at {', '.join(f'{v:g}' for v in PUSHED_AT)} m/s"
SPEEDS = (-0.1, 0.0, 0.1, 0.2, 0.3)  # [m/s]
_ROUNDS, _STRETCH = 60, 0.6  # of the clock, [s] of each: a step and a little


def run(result: Result, setting: Setting) -> None:
    """Walk, be timed, be pushed, be told speeds."""
    skill, seconds = load(SKILL), 20.0 if setting.quick else SECONDS
    setting.progress("walking without trials", 0.02)
    population = march_population([skill], setting.seed, "predicted")
    walks = Marches(population, seconds)
    taken = sum(Watch(population.scene, row).looks_ahead for row in population.rows)
    result.add_row(f"walks {seconds:g} s", "hoped for", f"{walks.upright()}, {taken} rows with trials",
                   f"replicas ({REPLICAS}), no trial simulation", walks.are_fair() and not taken)  # fmt: skip
    result.add_note("how it walks", walks.quality())
    walks.record(result, "predicted")
    figures.save_filmstrip(setting.figure_path(result.experiment, "walk.png"), walks.motions[0], SKILL)
    setting.progress("cost", 0.1)
    ratio = cost_ratio(skill, 10 if setting.quick else _ROUNDS)
    result.add_row("cost of control", "five-fold with trials", f"{ratio:.3f}", f"× open loop (≤ {MOST_COST:g})",
                   ratio <= MOST_COST)  # fmt: skip
    if setting.quick:
        result.add_missing(_PUSHES, "as with trials", NOT_QUICK)
    else:
        _pushes(result, setting, skill)
    _speeds(result, setting, skill)


def cost_ratio(skill: Skill, rounds: int) -> float:
    """Median time of a stretch with control by the time without it, alternating from the same states."""
    alone = with_parameters(skill, {"regulation.control": "open-loop"})
    sims = Simulation(skill=skill), Simulation(skill=alone)
    count = round(_STRETCH / sims[0].model.opt.timestep)
    spent: tuple[list[float], list[float]] = ([], [])
    sims[0].step(2 * count)
    for i in range(rounds):
        here = sims[0].snapshot()
        for k in (0, 1) if i % 2 else (1, 0):
            sims[k].restore(here)
            if k:
                sims[k].edit_skill(alone)
            begin = time.perf_counter()
            sims[k].step(count)
            spent[k].append(time.perf_counter() - begin)
        sims[0].restore(here)
        sims[0].step(count + 17)
    return statistics.median(spent[0]) / statistics.median(spent[1])


def _pushes(result: Result, setting: Setting, skill: Skill) -> None:
    """Robust thresholds of both versions in eight directions, at every speed at which they are pushed."""
    versions = {"with trials": with_trials(skill), "predicted": skill}
    levels = {label: np.zeros((len(PUSHED_AT), len(DIRECTIONS))) for label in versions}
    for i, speed in enumerate(PUSHED_AT):
        for k, (label, each) in enumerate(versions.items()):

            def tick(share: float, done: int = 2 * i + k) -> None:
                setting.progress("pushing", 0.2 + 0.6 * (done + share) / (2 * len(PUSHED_AT)))

            held = with_parameters(each, {"speed.usual": speed})
            levels[label][i], runs = direction_thresholds(held, setting.seed, step=STEP, highest=HIGHEST, tick=tick)
            result.runs += [{"case": label, "speed": speed} | one for one in runs]
    trials, ours = levels["with trials"], levels["predicted"]
    _judge_pushes(result, trials, ours)
    for i, speed in enumerate(PUSHED_AT):
        result.add_note(f"pushes at {speed:g} m/s", f"{ours[i].sum():g}", "N", f"with trials {trials[i].sum():g}")
    for way, a, b in zip(DIRECTIONS, trials.T, ours.T, strict=True):
        texts = [", ".join(f"{level:g}" for level in levels) for levels in (a, b)]
        result.add_note(f"pushed {WORDS[way]}", texts[1], "N per axis, 0.4 s", f"with trials {texts[0]}")
    means = {label: found.mean(axis=0) for label, found in levels.items()}
    figures.push_rose(setting.figure_path(result.experiment, "pushes.png"), DIRECTIONS, means)


def _judge_pushes(result: Result, trials: np.ndarray, ours: np.ndarray) -> None:
    """Judge the sums over all directions of (speeds, directions) thresholds [N]: each speed has to reach the share."""
    sums = [(float(a.sum()), float(b.sum())) for a, b in zip(trials, ours, strict=True)]
    shares = [b / max(a, 1e-9) for a, b in sums]
    result.add_row(
        _PUSHES, f"with trials {', '.join(f'{a:g}' for a, _ in sums)} N", f"{', '.join(f'{b:g}' for _, b in sums)} N",
        f"of the version with trials: {', '.join(f'{share:.2f}' for share in shares)} (≥ {LEAST_PUSHES:g} at each)",
        all(a > 0.0 and share >= LEAST_PUSHES for (a, _), share in zip(sums, shares, strict=True)),
    )  # fmt: skip


def with_trials(skill: Skill) -> Skill:
    """The same skill with trial simulations in place of its model."""
    return with_parameters(skill, {"regulation.control": "trials"})


def _speeds(result: Result, setting: Setting, skill: Skill) -> None:
    """Speeds of both versions, told the same."""
    speeds, seconds = (SPEEDS[1:2], 12.0) if setting.quick else (SPEEDS, 30.0)
    setting.progress("speeds", 0.85)
    for label, each in (("with trials", with_trials(skill)), ("predicted", skill)):
        wide = with_parameters(each, {"speed.range.0": -0.5, "speed.range.1": 1.0})
        walks = march_population(
            [wide] * len(speeds), setting.seed, "predicted speed", 1, [{"speed": v} for v in speeds]
        )
        walks.run(seconds / 2, stop_fallen=True)
        before = walks.qpos[:, 0].copy()
        walks.run(seconds / 2, stop_fallen=True)
        went = 2.0 * (walks.qpos[:, 0] - before) / seconds
        texts = [
            f"{v:g} → " + (f"{w:.2f}" if np.isinf(t) else f"fell at {t:.0f} s")
            for v, w, t in zip(speeds, went, walks.fallen_at, strict=True)
        ]
        result.add_note(f"speeds, {label}", ", ".join(texts), "m/s")
