"""§7: the basic walk bears a torque limit of 90 N·m; below it becomes weak-kneed and falls."""

from __future__ import annotations

import numpy as np

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, replicas_from_start, skill, upright
from surefoot.skills import with_parameters

_PAPER = 90.0  # [N·m]
_LIMITS = (1000.0, 370.0, 200.0, 150.0, 120.0, 110.0, 100.0, 90.0, 85.0, 80.0, 75.0, 70.0)


def run(result: Result, setting: Setting) -> None:
    """Walk as printed under lower and lower limits on every joint."""
    seconds = 10.0 if setting.quick else 60.0
    skills = [with_parameters(skill("walk"), {"gains.all.limit": limit}) for limit in _LIMITS]
    population = replicas_from_start(skills, setting.seed)
    setting.progress("walking under torque limits", 0.1)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)
    peaks = np.array([row.report[0].peak_torque for row in population.rows]).reshape(-1, REPLICAS).max(axis=1)
    lowest = np.inf
    for limit, count, peak in zip(_LIMITS, kept, peaks, strict=True):
        if count < REPLICAS:
            break
        lowest = limit
        result.add_note(f"limit {limit:g} N·m", f"{count} of {REPLICAS} walk {seconds:g} s, peak {peak:.1f} N·m")
    below = [(limit, count) for limit, count in zip(_LIMITS, kept, strict=True) if limit < lowest]
    for limit, count in below[:2]:
        result.add_note(f"limit {limit:g} N·m", f"{count} of {REPLICAS} walk {seconds:g} s")
    for i, row in enumerate(population.rows):
        limit = _LIMITS[i // REPLICAS]
        result.runs.append({"limit": limit, "replica": i % REPLICAS, "fallen_at": float(row.clock[0].fallen_at)})
    result.add_row("lowest limit the walk bears", f"{_PAPER:g}", f"{lowest:g}", "N·m", lowest <= _PAPER)
