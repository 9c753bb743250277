"""Figure 22: the bird-like robot runs in a controlled fashion, its head's up-vector regulated by the stance hip."""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.limit_cycle.marches import REPLICAS, begun, gaits, is_fair, note, quality, upright
from surefoot.skills import load, with_parameters

SKILL, SECONDS, FLIGHT = "bird/run", 60.0, 0.05  # [s], share of the time in the air


def run(result: Result, setting: Setting) -> None:
    """Replicas of the run, and what comes of it without control."""
    seconds = 8.0 if setting.quick else SECONDS
    setting.progress("running", 0.1)
    population = begun([load(SKILL)], setting.seed, "bird")
    found, motions = gaits(population, seconds, recorded=4.0)
    flight = min((g.flight for g in found if g), default=np.nan)
    result.add_row(
        f"runs {seconds:g} s", "can run in a controlled fashion", upright(population, 0), f"replicas ({REPLICAS})",
        all(map(is_fair, found)),
    )  # fmt: skip
    result.add_row(
        "flight", "running", f"{100 * flight:.0f} %", f"of the time, least of all replicas (≥ {100 * FLIGHT:g} %)",
        bool(flight >= FLIGHT),
    )  # fmt: skip
    for gait in found[:1]:
        if gait:
            result.add_note("speed", f"{gait.speed:.2f}", "m/s")
    result.add_note("how it runs", quality(population, 0, found))
    note(result, "run", population, 0, found)
    alone = begun([with_parameters(load(SKILL), {"regulation.control": "open-loop"})], setting.seed, "bird")
    alone.run(min(seconds, 20.0), stop_fallen=True)
    result.add_note("without control", upright(alone, 0))
    figures.save_filmstrip(setting.figure_path(result.experiment, "run.png"), motions[0], SKILL)
