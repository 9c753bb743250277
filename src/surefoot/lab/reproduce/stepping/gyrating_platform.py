"""§6.2, figures 18 and 20: a platform that gyrates, with pushes and without."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import seeded_generator
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, STAND, Shove

ANGLES, BAR, PERIOD, SECONDS = (20.0, 25.0, 30.0, 35.0, 40.0, 45.0), 35.0, 15.0, 180.0  # [°], [°], [s], [s]
_RAMP, _EVERY, _STRONGEST = 10.0, 5.0, 150.0  # [s], [s], [N]


def run(result: Result, setting: Setting) -> None:
    """Every angle for three minutes, first without pushes, then with."""
    seconds = 30.0 if setting.quick else SECONDS
    held: dict[bool, float] = {}
    for k, pushed in enumerate((False, True)):
        held[pushed] = 0.0
        for i, angle in enumerate(ANGLES):
            setting.progress(f"{angle:g}°", (k + i / len(ANGLES)) / 2)
            fell = stood(angle, seconds, pushed, setting)
            word = "with pushes" if pushed else "without pushes"
            result.add_note(f"{angle:g}°, {word}", "held" if math.isinf(fell) else f"fell at {fell:.0f} s",
                            f"of {seconds:g} s")  # fmt: skip
            result.runs.append({"angle": angle, "pushed": int(pushed), "fell": fell})
            if not math.isinf(fell):
                break
            held[pushed] = angle
    result.add_row(f"gyrates once in {PERIOD:g} s, highest angle held without pushes", "45", f"{held[False]:g}",
                   f"° (≥ {BAR:g})", held[False] >= BAR)  # fmt: skip
    result.add_note(f"with pushes of up to {_STRONGEST:g} N every {_EVERY:g} s", f"{held[True]:g}", "°", "45")


def stood(angle: float, seconds: float, pushed: bool, setting: Setting) -> float:
    """When it fell on a platform of an angle [°] [s]; inf if it did not."""
    rng = seeded_generator(setting.seed, "stepping", "platform", angle)
    population = Population(1, CHARACTER, STAND, f"platform:{angle:g},{PERIOD:g},{_RAMP:g}", seed=setting.seed)
    motions = population.run(min(seconds, _RAMP + 5.0), fps=10.0)
    figures.save_filmstrip(setting.figure_path("stepping/platform", f"{angle:g}.png"), motions[0], f"{angle:g}°")
    while population.time[0] < seconds and np.isinf(population.fallen_at[0]):
        if pushed:
            force, duration = float(rng.uniform(10.0, _STRONGEST)), float(rng.uniform(0.1, 0.5))
            push = Shove(force, duration, float(rng.uniform(-math.pi, math.pi)), float(population.time[0])).push()
            population.push(push)
        population.run(_EVERY, stop_fallen=True)
    return float(population.fallen_at[0])
