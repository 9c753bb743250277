"""What the plain walk at 1.3 m/s bears: pushes, slopes and steps it does not know of, and turning."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.experiment import NOT_QUICK, Result, Setting
from surefoot.lab.gait_measures import EVERY, smoothed, yaw_angles
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.quality.walks import FAMILY, REPLICAS
from surefoot.lab.robustness import DIRECTIONS, direction_thresholds
from surefoot.skills import load

SPEED = 1.3  # [m/s]
PUSHES = (("forward", (0, 1), 200.0), ("backward", (0, -1), 120.0), ("to the left", (1, 0), 120.0),
          ("to the right", (-1, 0), 120.0))  # fmt: skip
SLOPES, STEPS = (-6.0, 6.0), (-0.04, 0.04)  # [deg], [m]
_EDGE, _BEYOND = 4.0, 6.0  # [m] where a slope or a step begins, and how far a replica must get behind it
_ON_GROUND = 25.0  # [s]
TURN, TURN_PERIOD, TURN_ERROR = 0.9, 24.0, 3.0  # [rad], [s], [deg] rms


def run(result: Result, setting: Setting) -> None:
    """Pushes, slopes, steps and turning."""
    setting.progress("pushes", 0.0)
    if setting.quick:
        for name, _, bar in PUSHES:
            result.add_missing(f"pushed {name}, 0.4 s", f"{bar:g} N", NOT_QUICK)
    else:
        _pushes(result, setting)
    grounds = [(f"slope of {angle:+g}°", f"slope:{angle:g},{_EDGE:g}") for angle in SLOPES]
    grounds += [(f"step of {100 * rise:+g} cm", f"steps:{_EDGE:g},{rise:g}") for rise in STEPS]
    for name, terrain in setting.each(grounds, 0.6, 0.8):
        population = _replicas(setting, terrain)
        population.run(_ON_GROUND, stop_fallen=True)
        passed = np.isinf(population.fallen_at) & (population.qpos[:, 0] > _EDGE + _BEYOND)
        result.add_row(f"unanticipated {name}", f"{REPLICAS} of {REPLICAS}", f"{int(passed.sum())}", "replicas walk on",
                       bool(passed.all()))  # fmt: skip
    setting.progress("turning", 0.8)
    _turning(result, setting)


def _replicas(setting: Setting, terrain: str = "flat") -> Population:
    population = Population(REPLICAS, skill=[FAMILY] * REPLICAS, terrain=terrain)
    perturb_population(population, [seeded_generator(setting.seed, "robust", terrain, k) for k in range(REPLICAS)])
    population.command(None, speed=SPEED)
    return population


def _ticker(setting: Setting, begin: float) -> Callable[[float], None]:
    def tick(share: float) -> None:
        setting.progress("pushes", begin + 0.3 * share)

    return tick


def _pushes(result: Result, setting: Setting) -> None:
    for foot, after in ((1, "right"), (0, "left")):
        levels, runs = direction_thresholds(
            load(FAMILY), setting.seed, foot=foot, commands={"speed": SPEED}, highest=220.0,
            tick=_ticker(setting, 0.3 * (1 - foot)),
        )  # fmt: skip
        result.runs += [{"foot": foot} | record for record in runs]
        for name, way, bar in PUSHES:
            level = levels[DIRECTIONS.index(way)]
            words = name if foot or not way[0] else {"to the left": "to the right"}.get(name, "to the left")
            result.add_row(f"pushed {words} after {after} footstrike, 0.4 s", f"{bar:g}", f"{level:g}",
                           "N, robust threshold", level >= bar)  # fmt: skip


def _turning(result: Result, setting: Setting) -> None:
    """The commanded heading follows 0.9 sin(π t / 12) rad."""
    population, wanted, found = _replicas(setting), [], []
    population.run(4.0, stop_fallen=True)
    seconds = 12.0 if setting.quick else 48.0
    for k in range(round(seconds / EVERY)):
        heading = TURN * math.sin(2.0 * math.pi * k * EVERY / TURN_PERIOD)
        population.command(None, heading=heading)
        population.run(EVERY, stop_fallen=True)
        wanted.append(np.full(population.n, heading))
        found.append(yaw_angles(population.qpos[:, 3:7]))
    stride = 1.1  # [s] the pelvis turns within a stride
    errors = smoothed(np.unwrap(np.array(found), axis=0), stride) - smoothed(np.array(wanted), stride)
    rms = np.degrees(np.sqrt((errors**2).mean(axis=0)))
    up = np.isinf(population.fallen_at)
    result.add_row("turning 0.9 sin(πt/12)", f"≤ {TURN_ERROR:g}", f"{rms[up].max():.1f}" if up.all() else "fell",
                   "deg rms of the heading", bool(up.all() and rms.max() <= TURN_ERROR))  # fmt: skip
