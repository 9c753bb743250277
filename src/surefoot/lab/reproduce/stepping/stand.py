"""Standing: no step for ten minutes; swaying under small pushes, stepping under large ones (figures 13 and 14)."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, SETTLED, STAND, Shove, steps_of, upright

SECONDS, DRIFT = 600.0, 0.02  # [s], [m]
PUSH, DIRECTIONS, STEP, HIGHEST = 0.2, 16, 2.0, 60.0  # [s], directions, [N·s], [N·s]
_LOOK, _AFTER = 0.1, 4.0  # [s] between looks, [s] after a push


def run(result: Result, setting: Setting) -> None:
    """Ten minutes of standing, then pushes of growing impulse from all sides."""
    seconds = 30.0 if setting.quick else SECONDS
    setting.progress("standing", 0.0)
    drift, steps, fell, torque = stood(seconds, setting.seed)
    result.add_row(f"stands {seconds:g} s", "stands still without stepping", f"{steps:.0f} steps", "0", steps == 0.0)
    result.add_row("drift of the COM", "", f"{1000 * drift:.1f}", f"mm (≤ {1000 * DRIFT:g})",
                   drift <= DRIFT and not fell)  # fmt: skip
    result.add_note("peak torque", f"{torque:.0f}", "N·m")
    setting.progress("pushing", 0.5)
    first, sway = thresholds(4 if setting.quick else DIRECTIONS, setting)
    for angle, impulse, swayed in zip(first[0], first[1], sway, strict=True):
        result.add_note(f"pushed along {math.degrees(angle):.0f}°, the least that makes it step", f"{impulse:g}",
                        f"N·s in {PUSH:g} s; below it sways {1000 * swayed:.0f} mm")  # fmt: skip
    small = float(first[1].min())
    result.add_row("the least push that makes it step, of all sides", "sways under small pushes", f"{small:g}",
               "N·s (more than the least tried)", small > STEP)  # fmt: skip
    large = float(first[1].max())
    unit = f"N·s (≤ {HIGHEST:g})"
    result.add_row("steps under large pushes from every side", "steps under large", f"{large:g}", unit,
                   large <= HIGHEST)  # fmt: skip
    _draw(setting.figure_path(result.experiment, "thresholds.png"), *first)


@figures.plot(5, 5, subplot_kw={"projection": "polar"})
def _draw(axes: figures.Axes, angles: np.ndarray, impulses: np.ndarray) -> None:
    axes.plot(np.append(angles, angles[0]), np.append(impulses, impulses[0]), "o-", markersize=3)
    axes.set_title("least impulse that makes it step [N·s]; it faces to the right", fontsize=8)


def stood(seconds: float, seed: int) -> tuple[float, float, bool, float]:
    """How far the COM strays from where it has settled [m], steps taken, whether it fell, peak torque [N·m]."""
    sim = Simulation(CHARACTER, STAND, seed=seed)
    sim.step(round(SETTLED / sim.model.opt.timestep))
    home, drift = sim.memory.com[:2].copy(), 0.0
    look = round(_LOOK / sim.model.opt.timestep)
    for _ in range(round((seconds - SETTLED) / _LOOK)):
        sim.step(look)
        drift = max(drift, float(np.hypot(*(sim.memory.com[:2] - home))))
    report = sim.memory.report[0]
    return drift, float(report.steps), sim.fallen, float(report.peak_torque)


def thresholds(directions: int, setting: Setting) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """By direction [rad]: the least impulse that makes it step [N·s], and how far it sways under the one below [m]."""
    angles = np.linspace(-math.pi, math.pi, directions, endpoint=False)
    levels = np.arange(STEP, HIGHEST + 0.5 * STEP, STEP)
    cases = [(angle, level) for angle in angles for level in levels]
    pushes = [[Shove(level / PUSH, PUSH, angle, SETTLED).push()] for angle, level in cases]
    population = Population(len(cases), CHARACTER, STAND, pushes=pushes, seed=setting.seed)
    population.run(SETTLED)
    home = np.array([row.com[:2] for row in population.rows])
    farthest = np.zeros(len(cases))
    for i in range(round(_AFTER / _LOOK)):
        population.run(_LOOK)
        setting.progress("pushing", 0.5 + 0.5 * i * _LOOK / _AFTER)
        here = np.array([row.com[:2] for row in population.rows])
        farthest = np.maximum(farthest, np.linalg.norm(here - home, axis=1))
    stepped = ((steps_of(population) > 0.0) | ~upright(population)).reshape(directions, len(levels))
    first = np.where(stepped.any(axis=1), levels[stepped.argmax(axis=1)], math.inf)
    below = np.maximum(stepped.argmax(axis=1) - 1, 0)
    return (angles, first), farthest.reshape(directions, len(levels))[np.arange(directions), below]
