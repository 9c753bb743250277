"""§6.3, figures 19 and 22: a box in the hands whose mass is raised while the body is pushed.

The springs of the legs stay as they are, so that knees bend the more the box weighs; with springs made for body and box
(the paper's remedy) they do not. A push is 10 … 250 N for 0.1 … 0.5 s at the trunk's COM, one every three seconds.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import seeded_generator
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, SETTLED
from surefoot.skills import load, with_parameters
from surefoot.terrains import flat, with_props
from surefoot.terrains.props import Crate

SKILL = "carry"
LEAST, MOST, RISE, AFTER, SEEDS = 1.0, 30.0, 60.0, 10.0, 5  # [kg], [kg], [s] from the one to the other, [s] at it
PUSH, DURATION, EVERY = (10.0, 250.0), (0.1, 0.5), 3.0  # [N], [s], [s]
_MASSES = (1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0)  # [kg] at which the knees are looked at
_TICK = 0.05  # [s] between two changes of the mass
_BENT = 1.0  # [°] that counts as bending


def box(mass: float) -> Crate:
    """A box of 30 cm with handles at its sides [kg]."""
    return Crate((0.3, 0.3, 0.3), mass, (3.0, 0.0, 0.0), 0.6, ((0.0, 0.19, 0.1), (0.0, -0.19, 0.1)))


def run(result: Result, setting: Setting) -> None:
    """Look at the knees under every mass, then raise it while pushing."""
    constant, scaled = (bends(share, setting.seed) for share in (0.0, 1.0))
    for mass, one, other in zip(_MASSES, constant, scaled, strict=True):
        result.add_note(f"knee bend with {mass:g} kg", f"{one:.1f}", f"° (springs made for the box too: {other:.1f}°)",
                        "bends")  # fmt: skip
        result.runs.append({"mass": mass, "bend": one, "bend_scaled": other})
    more = constant[-1] - constant[0]
    result.add_row(f"knees under {MOST:g} kg against {LEAST:g} kg", "bend", f"{more:+.1f}",
                   f"° (≥ {_BENT:g}, ever more)", more >= _BENT and bool((np.diff(constant) > 0.0).all()))  # fmt: skip
    seeds, rise = (1, 15.0) if setting.quick else (SEEDS, RISE)
    reached = []
    for i in range(seeds):
        setting.progress(f"pushed, seed {i}", (1 + i) / (1 + seeds))
        mass, fell, steps = raised(i, rise, setting)
        reached.append(mass)
        result.runs.append({"seed": i, "mass": mass, "fell": fell, "steps": steps})
        result.add_note(f"seed {i}", f"{mass:.1f} kg",
                        f"{steps:.0f} steps" + ("" if math.isinf(fell) else ", then fell"))  # fmt: skip
    kept = sum(mass >= MOST for mass in reached)
    result.add_row(f"raised to {MOST:g} kg while pushed with up to {PUSH[1]:g} N every {EVERY:g} s", "stays upright",
                   f"{kept} of {seeds}, the least {min(reached):.1f} kg", "seeds without a fall",
                   kept == seeds)  # fmt: skip
    _draw(setting.figure_path(result.experiment, "knees.png"), constant, scaled)


def holding(share: float, seed: int) -> Simulation:
    """It stands with the lightest box in its hands; so much of it do the legs' springs know."""
    skill = with_parameters(load(f"{CHARACTER}/{SKILL}"), {"spring_load": share})
    sim = Simulation(CHARACTER, skill, with_props(flat(), [box(LEAST)]), seed=seed)
    sim.hold()
    sim.step(round(SETTLED / sim.model.opt.timestep))
    return sim


def bends(share: float, seed: int) -> list[float]:
    """Bend of the knees, the mean of both, under every mass after it has settled [°]."""
    sim, found = holding(share, seed), []
    for mass in _MASSES:
        _raise(sim, mass, 2.0)
        sim.step(round(SETTLED / sim.model.opt.timestep))
        knees = [float(sim.data.joint(f"{side}_knee").qpos[0]) for side in ("left", "right")]
        found.append(math.nan if sim.fallen else -math.degrees(0.5 * sum(knees)))
    return found


def raised(number: int, rise: float, setting: Setting) -> tuple[float, float, float]:
    """Mass to which the box came before it fell [kg], when that was [s], steps taken."""
    sim, rng = holding(0.0, setting.seed + number), seeded_generator(setting.seed, "stepping", "box", number)
    ticks, mass = round((rise + AFTER) / _TICK), LEAST
    for k in range(ticks):
        if k % round(EVERY / _TICK) == 0:
            force, way = float(rng.uniform(*PUSH)), float(rng.uniform(-math.pi, math.pi))
            sim.push((force * math.cos(way), force * math.sin(way), 0.0), duration=float(rng.uniform(*DURATION)))
        if sim.fallen:
            break
        mass = min(MOST, LEAST + (MOST - LEAST) * k * _TICK / rise)
        sim.set_mass(mass)
        sim.step(round(_TICK / sim.model.opt.timestep))
        if number == 0 and k == ticks - round(4.0 / _TICK):
            path = setting.figure_path("stepping/box", "pushed.png")
            here = sim.snapshot()
            figures.save_filmstrip(path, sim.run(4.0, fps=30.0), f"{MOST:g} kg, pushed")
            sim.restore(here)
    # a fall just after the last tick is one at full mass, and no success
    return (mass if not sim.fallen else min(mass, MOST - 0.1)), sim.fallen_at, float(sim.memory.report[0].steps)


def _raise(sim: Simulation, mass: float, seconds: float) -> None:
    """Let the box's mass rise evenly to another [kg]."""
    begin, ticks = float(sim.model.body("crate").mass[0]), round(seconds / _TICK)
    for k in range(ticks):
        sim.set_mass(begin + (mass - begin) * (k + 1) / ticks)
        sim.step(round(_TICK / sim.model.opt.timestep))


@figures.plot(5, 3.5)
def _draw(axes: figures.Axes, constant: list[float], scaled: list[float]) -> None:
    axes.plot(_MASSES, constant, "o-", markersize=3, label="springs of the body alone")
    axes.plot(_MASSES, scaled, "o-", markersize=3, label="springs made for the box too")
    axes.set(xlabel="mass of the box [kg]", ylabel="bend of the knees [°]")
    axes.legend(frameon=False)
