"""Table 1: twelve gaits go 60 s from their start states, in all replicas."""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import Gait
from surefoot.lab.reproduce.replica_walks import LARGEST_SLIP
from surefoot.lab.reproduce.simbicon.gaits import (
    REPLICAS,
    RUNNING,
    TABLE_1,
    as_printed,
    replicas_from_start,
    skill,
    typical,
    upright,
)
from surefoot.skills.schema import Skill

_SLOWEST = {"run": 1.0, "fast-run": 2.5}  # [m/s]
_FLIGHT = 0.02  # share of the time that counts as flight phases
_MOST_CHANGED = 4


def run(result: Result, setting: Setting) -> None:
    """Run every gait and every changed gait's printed form."""
    seconds = 10.0 if setting.quick else 60.0
    skills = {name: skill(name) for name in TABLE_1}
    changed = [name for name in TABLE_1 if skills[name].provenance.changed]
    tried = [*skills.values(), *(as_printed(name) for name in changed)]
    population = replicas_from_start(tried, setting.seed)
    setting.progress("running all gaits", 0.1)
    population.run(seconds - 5.0, stop_fallen=True)
    setting.progress("recording their last seconds", 0.8)
    motions = population.run(5.0, fps=200, stop_fallen=True)
    survived = upright(population)
    gaits = [typical(motions[i * REPLICAS : (i + 1) * REPLICAS]) for i in range(len(tried))]
    for i, name in enumerate(TABLE_1):
        _judge(result, name, skills[name], survived[i], gaits[i], seconds)
        path = setting.figure_path(result.experiment, f"{name}.png")
        figures.save_filmstrip(path, motions[i * REPLICAS], skills[name].full_name)
    for i, name in enumerate(changed, start=len(TABLE_1)):
        ours = f"{survived[i]} of {REPLICAS}"
        result.add_note(f"{name} as printed: replicas that go {seconds:g} s", ours, "runs", "goes")
    for i, entry in enumerate(tried):
        for k in range(REPLICAS):
            fell, gait = population.fallen_at[i * REPLICAS + k], gaits[i]
            result.runs.append(
                {"skill": entry.name, "replica": k, "fallen_at": fell, "speed": gait.speed if gait else None}
            )
    worked = sum(row.holds for row in result.rows)
    result.add_row("gaits that hold", "12 of 12", f"{worked} of 12", "gaits", worked == len(TABLE_1))
    result.add_row("gaits with changed values", "0", str(len(changed)), f"gaits (≤ {_MOST_CHANGED})",
                   len(changed) <= _MOST_CHANGED)  # fmt: skip


def _judge(result: Result, name: str, entry: Skill, survived: int, gait: Gait | None, seconds: float) -> None:
    ours = [f"{survived} of {REPLICAS} go {seconds:g} s"]
    good = survived == REPLICAS and gait is not None
    if gait is not None:
        ours.append(f"{gait.speed:.2f} m/s, {100 * gait.flight:.0f} % flight")
        good &= gait.slip <= LARGEST_SLIP
        good &= name not in RUNNING or gait.flight >= _FLIGHT
        good &= gait.speed >= _SLOWEST.get(name, -np.inf)
        good &= name != "backwards-walk" or gait.speed < -0.1
        result.add_note(
            f"{name}: how it moves",
            f"{gait.cadence:.2f} steps/s of {gait.step_length:.2f} m, sway {gait.sway:.1f}°, cost of transport "
            f"{gait.cost_of_transport:.2f}, slip {gait.slip:.3f}, peak torque {gait.peak_torque:.0f} N·m",
        )
    changes = entry.provenance.changed
    if changes:
        largest = max(changes, key=lambda c: abs(c.here - c.printed))
        ours.append(f"{len(changes)} values changed, most {largest.parameter} {largest.printed:g} → {largest.here:g}")
    result.add_row(name, "goes on", "; ".join(ours), "", good)
