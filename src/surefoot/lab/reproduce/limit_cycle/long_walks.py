"""Walks that have to last: the march with and without control, the human-like walk, the bird's run.

§5.1 and figure 10: without control the march takes several steps and falls; with control the same start goes on.
§6: a more human-like walk, by more states and other timing of the swing leg.
Figure 22: the bird-like robot runs in a controlled fashion; the stance hip regulates the up-vector of its head.
"""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import REPLICAS, Marches, march, march_population, upright
from surefoot.skills import load, with_parameters

FALLS_WITHIN, WALKS, SECONDS = 10.0, 600.0, 60.0  # [s] of the open loop, of the march, of the others
HUMAN_LIKE, LEAST_SPEED, WIDEST = "human19/walk", 0.6, 0.30  # [m/s], [m]
BIRD, FLIGHT = "bird/run", 0.05  # share of the time in the air


def run_open_loop(result: Result, setting: Setting) -> None:
    """The same starts, without control and with it."""
    setting.progress("open loop", 0.02)
    alone = march_population([march({"regulation.control": "open-loop"})], setting.seed, "open loop")
    motions = alone.run(FALLS_WITHIN, fps=60.0)
    fallen, steps = alone.fallen_at, [float(row.report[0].steps) for row in alone.rows]
    result.add_row("open loop", "several steps, then falls", f"falls at {fallen.min():.1f} … {fallen.max():.1f} s",
                   f"s (all replicas ≤ {FALLS_WITHIN:g} s)", bool((fallen <= FALLS_WITHIN).all()))  # fmt: skip
    before = [_steps_before(m.state, m.time, at) for m, at in zip(motions, fallen, strict=True)]
    result.add_note("open loop: steps until it has fallen", f"{min(before)} … {max(before)}", "steps")
    path, end = setting.figure_path(result.experiment, "open-loop.png"), float(min(fallen[0], FALLS_WITHIN))
    figures.save_filmstrip(path, motions[0], "without control", start=0.0, end=end)
    seconds = 20.0 if setting.quick else WALKS
    setting.progress("with control", 0.1)
    walks = Marches(march_population([march()], setting.seed, "open loop"), seconds)
    result.add_row(f"with limit cycle control, {seconds:g} s", "walks", walks.upright(), f"replicas ({REPLICAS})",
                   walks.are_fair())  # fmt: skip
    result.add_note("with control: how it walks", walks.quality())
    if walks.gaits[0]:
        result.add_note("with control: speed", f"{walks.gaits[0].speed:.2f}", "m/s")
    walks.record(result, "controlled")
    result.runs += [{"case": "open loop", "fallen_at": t, "steps": n} for t, n in zip(fallen, steps, strict=True)]
    path = setting.figure_path(result.experiment, "controlled.png")
    figures.save_filmstrip(path, walks.motions[0], "with limit cycle control")


def _steps_before(state: np.ndarray, time: np.ndarray, end: float) -> int:
    """Changes of the swing leg until a moment: the states of one leg come first, then those of the other."""
    half = (int(state.max()) + 1) // 2 or 1
    return int((np.diff(state[time <= end] // half) != 0).sum())


def run_human_like(result: Result, setting: Setting) -> None:
    """Replicas of the human-like walk."""
    seconds = 12.0 if setting.quick else SECONDS
    setting.progress("walking", 0.1)
    walks = Marches(march_population([load(HUMAN_LIKE)], setting.seed, "human-like"), seconds)
    slowest = min((g.speed for g in walks.walked()), default=np.nan)
    widest = max((g.step_width for g in walks.walked()), default=np.nan)
    result.add_row(f"speed of a walk of {seconds:g} s", "more human-like", f"{slowest:.2f}, {walks.upright()}",
                   f"m/s, slowest of {REPLICAS} replicas (≥ {LEAST_SPEED:g})",
                   walks.are_fair() and slowest >= LEAST_SPEED)  # fmt: skip
    result.add_row("step width", "more human-like", f"{widest:.2f}", f"m, widest of {REPLICAS} replicas (≤ {WIDEST:g})",
                   walks.are_fair() and widest <= WIDEST)  # fmt: skip
    result.add_note("how it walks", walks.quality())
    walks.record(result, "walk")
    figures.save_filmstrip(setting.figure_path(result.experiment, "walk.png"), walks.motions[0], HUMAN_LIKE)
    path = setting.figure_path(result.experiment, "walk-front.png")
    figures.save_filmstrip(path, walks.motions[0], HUMAN_LIKE, view="front")


def run_bird(result: Result, setting: Setting) -> None:
    """Replicas of the bird's run, and what comes of it without control."""
    seconds = 8.0 if setting.quick else SECONDS
    setting.progress("running", 0.1)
    runs = Marches(march_population([load(BIRD)], setting.seed, "bird"), seconds, recorded=4.0)
    flight = min((g.flight for g in runs.walked()), default=np.nan)
    result.add_row(f"runs {seconds:g} s", "can run in a controlled fashion", runs.upright(), f"replicas ({REPLICAS})",
                   runs.are_fair())  # fmt: skip
    result.add_row("flight", "running", f"{100 * flight:.0f} %",
                   f"of the time, least of all replicas (≥ {100 * FLIGHT:g} %)", bool(flight >= FLIGHT))  # fmt: skip
    if runs.gaits[0]:
        result.add_note("speed", f"{runs.gaits[0].speed:.2f}", "m/s")
    result.add_note("how it runs", runs.quality())
    runs.record(result, "run")
    uncontrolled = with_parameters(load(BIRD), {"regulation.control": "open-loop"})
    alone = march_population([uncontrolled], setting.seed, "bird")
    alone.run(min(seconds, 20.0), stop_fallen=True)
    result.add_note("without control", upright(alone))
    figures.save_filmstrip(setting.figure_path(result.experiment, "run.png"), runs.motions[0], BIRD)
