"""Figure 4: the regulation variable at the end of a step is linear in the perturbation of that step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.learned_step_model import cycle_records
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import march

STEPS, LEVELS, FARTHEST, LEAST = 20, 9, 0.1, 0.95  # steps, perturbations of each, [rad], R²
_AXES = (("pitch", "forward"), ("roll", "lateral"))  # what is perturbed, and what answers
_LONGEST = 1.2  # [s] of a step


def run(result: Result, setting: Setting) -> None:
    """Twenty consecutive steps of a settled march, each taken with perturbations of ± 0.1 rad."""
    sim = Simulation(skill=march(), seed=setting.seed)
    sim.step(round(5.0 / sim.model.opt.timestep))
    count = 3 if setting.quick else STEPS
    levels = np.linspace(-FARTHEST, FARTHEST, LEVELS)
    trials = Population(2 * LEVELS, skill=march())
    ends = np.empty((count, 2, LEVELS))
    for k in range(count):
        setting.progress("steps", k / count)
        _to_next_step(sim)
        ends[k] = ends_of(trials, sim.snapshot().state, levels)
    for axis, (perturbed, answer) in enumerate(_AXES):
        shares, slopes = zip(*(fit(levels, values) for values in ends[:, axis]), strict=True)
        result.add_row(f"{answer} by {perturbed}, ± {FARTHEST:g} rad, {count} consecutive steps",
                       "a linear model is reasonable", f"R² {min(shares):.3f} … {max(shares):.3f}",
                       f"least R² (≥ {LEAST:g})", bool(np.min(shares) >= LEAST))  # fmt: skip
        result.add_note(f"{answer} by {perturbed}: slope", f"{min(slopes):.2f} … {max(slopes):.2f}", "1/rad")
        result.runs += [
            {"step": k, "perturbed": perturbed, "by": level, "end": end}
            for k in range(count)
            for level, end in zip(levels, ends[k, axis], strict=True)
        ]
    _draw(setting.figure_path(result.experiment, "linearity.png"), levels, ends)


def _to_next_step(sim: Simulation) -> None:
    steps = sim.memory.report[0].steps
    while sim.memory.report[0].steps == steps:
        sim.step()


def ends_of(trials: Population, state: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(2, levels) what a step ends with, from one state, by its perturbation in pitch and in roll."""
    trials.restore(np.repeat(state[None], trials.n, axis=0))
    cycles = cycle_records(trials)
    for i, cycle in enumerate(cycles):
        cycle.pitch, cycle.roll = (levels[i], 0.0) if i < len(levels) else (0.0, levels[i - len(levels)])
        cycle.asked = 0.0
    begun, ends = float(cycles[0].begun), np.full(trials.n, np.nan)
    for _ in range(round(_LONGEST / 0.05)):
        trials.run(0.05)
        for i, cycle in enumerate(cycles):
            if np.isnan(ends[i]) and cycle.begun != begun:
                ends[i] = cycle.forward if i < len(levels) else cycle.lateral
        if np.isfinite(ends).all():
            break
    return ends.reshape(2, -1)


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """R² and slope of a straight line through points."""
    slope, constant = np.polyfit(x, y, 1)
    return float(1.0 - ((y - slope * x - constant) ** 2).sum() / ((y - y.mean()) ** 2).sum()), float(slope)


@figures.plot(8, 4, 1, 2)
def _draw(both: Sequence[figures.Axes], levels: np.ndarray, ends: np.ndarray) -> None:
    for axis, (axes, (perturbed, answer)) in enumerate(zip(both, _AXES, strict=True)):
        axes.plot(levels, ends[:, axis].T, "C0.-", linewidth=0.6, markersize=3)
        axes.set(
            xlabel=f"perturbation of the stance hip's {perturbed} [rad]", ylabel=f"{answer} at the end of the step"
        )
