"""§6: a more human-like walk, by more states and other timing of the swing leg."""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.limit_cycle.marches import REPLICAS, begun, gaits, is_fair, note, quality, upright
from surefoot.skills import load

SKILL, SECONDS = "human19/walk", 60.0
LEAST_SPEED, WIDEST = 0.6, 0.30  # [m/s], [m]


def run(result: Result, setting: Setting) -> None:
    """Replicas of the walk."""
    seconds = 12.0 if setting.quick else SECONDS
    setting.progress("walking", 0.1)
    population = begun([load(SKILL)], setting.seed, "human-like")
    found, motions = gaits(population, seconds)
    walked = [gait for gait in found if gait]
    slowest = min((g.speed for g in walked), default=np.nan)
    widest = max((g.step_width for g in walked), default=np.nan)
    fair = all(map(is_fair, found))
    result.add_row(
        f"speed of a walk of {seconds:g} s", "more human-like", f"{slowest:.2f}, {upright(population, 0)}",
        f"m/s, slowest of {REPLICAS} replicas (≥ {LEAST_SPEED:g})", fair and slowest >= LEAST_SPEED,
    )  # fmt: skip
    result.add_row(
        "step width", "more human-like", f"{widest:.2f}", f"m, widest of {REPLICAS} replicas (≤ {WIDEST:g})",
        fair and widest <= WIDEST,
    )  # fmt: skip
    result.add_note("how it walks", quality(population, 0, found))
    note(result, "walk", population, 0, found)
    figures.save_filmstrip(setting.figure_path(result.experiment, "walk.png"), motions[0], SKILL)
    figures.save_filmstrip(setting.figure_path(result.experiment, "walk-front.png"), motions[0], SKILL, view="front")
