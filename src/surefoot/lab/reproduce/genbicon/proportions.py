"""§4.4, figure 13: other proportions, arms of different lengths too, all in one population of different bodies.

Gains and torque limits follow a body's weight and the length of its legs; no number of the gait is changed. A body
walks if it has not fallen and goes on at 70 % of the commanded speed or more.
"""

from __future__ import annotations

import itertools

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.genbicon.walks import SKILL, quality, run_and_measure

LEGS, ARMS, TORSO = (0.7, 0.9, 1.15, 1.4), (0.5, 1.0, 1.5), (0.5, 1.0, 2.0)  # × length, × length of each, × mass
SHARE, SPEED, SAME_SPEED = 0.95, 0.5, 0.7  # of the bodies; [m/s]; of the speed
SECONDS, _SETTLED = 30.0, 15.0
_NAMES = ("leg_length", "torso_mass", "left_arm_length", "right_arm_length")


def bodies(quick: bool = False) -> list[dict[str, float]]:
    """Proportions of all bodies, legs and torso first; a quick look takes the extremes of legs, arms and torso."""
    values: tuple[tuple[float, ...], ...] = (LEGS, TORSO, ARMS, ARMS)
    if quick:
        values = (LEGS[::3], TORSO[::2], ARMS[::2], ARMS[1:2])
    return [dict(zip(_NAMES, one, strict=True)) for one in itertools.product(*values)]


def run(result: Result, setting: Setting) -> None:
    """All bodies walk side by side."""
    each, seconds, settled = bodies(setting.quick), SECONDS, _SETTLED
    if setting.quick:
        seconds, settled = 7.0, 4.0
    setting.progress("building bodies", 0.02)
    population = Population(len(each), "humanoid", SKILL, proportions=each)
    perturb_population(population, [seeded_generator(setting.seed, "proportions", i) for i in range(len(each))])
    population.command(speed=SPEED)
    setting.progress("walking", 0.1)
    walks, motions = run_and_measure(population, seconds, settled)
    good = np.array([walk.is_valid_gait and walk.speed >= SAME_SPEED * SPEED for walk in walks])
    for body, walk, ok in zip(each, walks, good, strict=True):
        result.runs.append(body | {"walks": int(ok)} | walk.record())
    result.add_row(
        f"{len(each)} bodies: legs × {LEGS[0]:g} … {LEGS[-1]:g}, each arm × {ARMS[0]:g} … {ARMS[-1]:g}, "
        f"mass of the torso × {TORSO[0]:g} … {TORSO[-1]:g}",
        "characters of other proportions, asymmetric too", f"{good.sum()} = {100 * good.mean():.0f} %",
        f"walk {seconds:g} s (≥ {100 * SHARE:g} %)", bool(good.mean() >= SHARE),
    )  # fmt: skip
    result.add_note("how they walk", quality(walks))
    speeds = [walk.speed for walk, ok in zip(walks, good, strict=True) if ok]
    if speeds:
        result.add_note("speeds of those that walk", f"{min(speeds):.2f} … {max(speeds):.2f}",
                        f"m/s, commanded {SPEED:g}")  # fmt: skip
    for body, walk, ok in zip(each, walks, good, strict=True):
        if not ok:
            text = ", ".join(f"{name} × {value:g}" for name, value in body.items())
            result.add_note(f"does not walk: {text}", f"{walk.speed:.2f} m/s; {walk.failure() or 'too slow'}")
    if not setting.quick:
        _draw(setting.figure_path(result.experiment, "bodies.png"), walks_until(population, good, seconds))
    for i in (0, len(each) - 1):
        path = setting.figure_path(result.experiment, f"body-{i}.png")
        figures.save_filmstrip(path, motions[i], ", ".join(f"{name} × {value:g}" for name, value in each[i].items()))


def walks_until(population: Population, good: np.ndarray, seconds: float) -> np.ndarray:
    """(legs · torso, arms · arms) seconds until the fall; 0 for a body that stays up but does not walk."""
    lasted = np.where(good, seconds, np.where(np.isinf(population.fallen_at), 0.0, population.fallen_at))
    return lasted.reshape(len(LEGS) * len(TORSO), len(ARMS) ** 2)


@figures.plot(6.5, 5.5)
def _draw(axes: figures.Axes, lasted: np.ndarray) -> None:
    image = axes.imshow(lasted, vmin=0.0, vmax=SECONDS, cmap="viridis", aspect="auto")
    across = [f"{left:g} | {right:g}" for left, right in itertools.product(ARMS, ARMS)]
    down = [f"{leg:g} | {mass:g}" for leg, mass in itertools.product(LEGS, TORSO)]
    axes.set_xticks(range(len(across)), across, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(down)), down, fontsize=8)
    axes.set(xlabel="length of left | right arm", ylabel="length of legs | mass of torso")
    axes.figure.colorbar(image, label="seconds it walks")
