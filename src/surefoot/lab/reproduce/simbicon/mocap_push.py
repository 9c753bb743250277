"""Captured walks that are pushed and steered (figures 1b and 9): 350 N, diagonally, and turning."""

from __future__ import annotations

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.simbicon import steering
from surefoot.lab.reproduce.simbicon.gaits import human
from surefoot.skills.schema import Skill

FORCE, DURATION = 350.0, 0.2  # [N], [s]
REPLICAS = 5
_SETTLE, _AFTER = 8.0, 15.0  # [s]
_LEVELS = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0)
_DIAGONAL = {"ahead": 0.06, "sideways": 0.05}  # [rad] of the swing leg: forward and to the left (figure 9b)
_TURN_ERROR = 6.0  # [deg]


def run(result: Result, setting: Setting) -> None:
    """The forward walk, the wide stance on its diagonal way, and turning."""
    forward, wide = human("captured-forward"), human("captured-wide-stance")
    if forward is not None:
        setting.progress("forward", 0.05)
        _pushed(result, setting, forward, "figure 1b: forward, pushed ahead and to the left", (1.0, 1.0), {})
    if wide is not None:
        setting.progress("wide stance", 0.4)
        case = "figure 9b: wide stance going ahead and to the left, pushed ahead and to the right"
        _pushed(result, setting, wide, case, (1.0, -1.0), _DIAGONAL)
    for name, walk in (("captured-forward", forward), ("captured-wide-stance", wide)):
        if walk is None:
            result.add_row(name, "survives", f"there is no human/{name}", "", False)
    slow = human("captured-slow") or forward
    if slow is not None:
        setting.progress("turning", 0.8)
        steering.turn(result, setting, slow, _TURN_ERROR)


def _pushed(
    result: Result, setting: Setting, walk: Skill, case: str, way: tuple[float, float], told: dict[str, float]
) -> None:
    levels = (FORCE,) if setting.quick else _LEVELS
    kept = {force: _survivors(setting, walk, force, way, told) for force in levels}
    for force, count in kept.items():
        result.runs.append({"case": case, "force": force, "kept": count})
    result.add_row(
        f"{case}, {FORCE:g} N for {DURATION:g} s", "survives", f"{kept[FORCE]} of {REPLICAS} survive", "replicas",
        kept[FORCE] == REPLICAS,
    )  # fmt: skip
    result.add_note(f"{case}: survivors by force", ", ".join(f"{f:g} N: {n}" for f, n in kept.items()), f"of {REPLICAS}")
    path = setting.figure_path("simbicon/mocap-push", f"{walk.name}.png")
    if path:
        simulation = Simulation(skill=walk, seed=setting.seed)
        simulation.command(**told)
        simulation.step(round(_SETTLE / simulation.model.opt.timestep))
        simulation.push(_force(FORCE, way), DURATION)
        figures.save_filmstrip(path, simulation.run(4.0), caption=f"{case}, {FORCE:g} N for {DURATION:g} s")


def _survivors(setting: Setting, walk: Skill, force: float, way: tuple[float, float], told: dict[str, float]) -> int:
    """How many replicas, pushed at different phases, are still up."""
    population = Population(REPLICAS, skill=walk, seed=setting.seed)
    rngs = [seeded_generator(setting.seed, "mocap push", k) for k in range(REPLICAS)]
    perturb_population(population, rngs)
    period = walk.parameters.cycle.period
    for k, row in enumerate(population.rows):
        population.scene.command(row, walk, told)
        start = _SETTLE + period * (k + rngs[k].uniform()) / REPLICAS
        population.scene.add_push(row, Push(_force(force, way), DURATION, start), 0.0)
    population.run(4.0 + _SETTLE if setting.quick else _SETTLE + _AFTER, stop_fallen=True)
    return int(np.isinf(population.fallen_at).sum())


def _force(size: float, way: tuple[float, float]) -> tuple[float, float, float]:
    x, y = np.array(way) / np.hypot(*way) * size
    return float(x), float(y), 0.0
