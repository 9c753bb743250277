"""§7.2, "Parameterization": commands, a backpack, interpolated gaits, styles of the arms, imperfect senses."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon import steering
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, human, replicas_from_start, skill, upright
from surefoot.lab.robustness import NEEDED, robust_threshold
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

_PACK, _PACKS = 10.0, (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0)  # [kg]
_OTHERS = ("crouch-walk", "fast-walk")  # with which the walk is interpolated: the first that there is
_SHARES = np.linspace(0.0, 1.0, 11)
_ARMS = {"straight": {}, "swing": {"arms.swing": 0.4}, "circle": {"arms.circle": 0.5}}
_DELAYS = [0.01 * k for k in range(1, 16)]  # [s]
_NOISES = [0.005 * k for k in range(1, 21)]  # [m] of d; that of v is five times as many m/s
_VELOCITY_NOISE = 5.0  # [1/s]


def run(result: Result, setting: Setting) -> None:
    """Everything that can be laid over the walk of Table 1."""
    for i, part in enumerate((
        steering.sideways, steering.width, steering.turning, steering.speed, _backpack, _interpolation, _arms, _sensing,
    )):  # fmt: skip
        setting.progress(part.__name__.removeprefix("_"), i / 8)
        part(result, setting)


def _backpack(result: Result, setting: Setting) -> None:
    seconds, walk, heaviest = (8.0 if setting.quick else 60.0), skill("walk", "human"), 0.0
    for mass in (_PACK,) if setting.quick else _PACKS:
        population = replicas_from_start([walk], setting.seed, backpack=mass)
        population.run(seconds, stop_fallen=True)
        kept = upright(population)[0]
        result.runs.append({"case": "backpack", "mass": mass, "kept": kept})
        if mass == _PACK:
            result.add_row(
                f"backpack of {mass:g} kg", "walks", f"{kept} of {REPLICAS} walk {seconds:g} s", "replicas",
                kept == REPLICAS,
            )  # fmt: skip
        if kept < REPLICAS:
            if mass >= _PACK:
                break
            continue
        heaviest = mass
    result.add_note("heaviest backpack that all replicas carry", f"{heaviest:g}", "kg")


def _interpolation(result: Result, setting: Setting) -> None:
    """Each share in a simulation of its own, from the walk's start."""
    walk, seconds = skill("walk", "human"), 3.0 if setting.quick else 20.0
    other = next((s for s in map(human, _OTHERS) if s and _alike(walk, s)), None)
    case = f"interpolation from walk to {other.name if other else 'another walk'} in {len(_SHARES)} steps"
    if other is None:
        result.add_row(
            case, "interpolates", f"there is no human/{' or human/'.join(_OTHERS)} of the same states", "", False
        )
        return

    def walked(share: float) -> tuple[bool, float]:
        sim = Simulation(None, walk)
        sim.blend(other, share)
        sim.step(round(0.5 * seconds / sim.model.opt.timestep))
        x = float(sim.data.qpos[0])
        sim.step(round(0.5 * seconds / sim.model.opt.timestep))
        return not sim.fallen, (float(sim.data.qpos[0]) - x) / (0.5 * seconds)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(walked, _SHARES.tolist()))
    kept = sum(walks for walks, _ in found)
    for share, (walks, speed) in zip(_SHARES, found, strict=True):
        result.runs.append({"case": "interpolation", "share": share, "walks": walks, "speed": speed})
    result.add_row(case, "interpolates", f"{kept} walk {seconds:g} s", f"of {len(_SHARES)}", kept == len(_SHARES))
    result.add_note(f"{case}: speeds", ", ".join(f"{speed:.2f}" for _, speed in found), "m/s")


def _alike(one: Skill, other: Skill) -> bool:
    """Whether two skills can be blended."""
    try:
        Simulation(None, one).blend(other, 0.5)
    except CommandError:
        return False
    return True


def _arms(result: Result, setting: Setting) -> None:
    seconds = 5.0 if setting.quick else 20.0
    skills = [with_parameters(skill("walk", "human"), values) for values in _ARMS.values()]
    population = replicas_from_start(skills, setting.seed)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)
    ours = ", ".join(f"{name} {count}" for name, count in zip(_ARMS, kept, strict=True))
    result.add_row(
        f"arms: each style walks {seconds:g} s", "free for styles", ours, f"of {REPLICAS}", min(kept) == REPLICAS
    )


def _sensing(result: Result, setting: Setting) -> None:
    """How late and how noisy d and v may be measured; each level and all lower ones."""
    walk, seconds = skill("walk", "human"), 4.0 if setting.quick else 20.0

    def survivors(values: list[dict[str, float]]) -> list[int]:
        population = replicas_from_start([with_parameters(walk, v) for v in values], setting.seed)
        population.run(seconds, stop_fallen=True)
        return upright(population)

    def late(levels: list[float]) -> list[int]:
        return survivors([{"sensing.delay": level} for level in levels])

    def noisy(levels: list[float]) -> list[int]:
        return survivors([{"sensing.noise_distance": n, "sensing.noise_velocity": _VELOCITY_NOISE * n} for n in levels])

    for what, unit, scale, survives, grid in (
        ("delay of d and v", "ms", 1000.0, late, _DELAYS),
        ("noise of d (that of v is 5/s as large)", "cm", 100.0, noisy, _NOISES),
    ):
        best, tried = robust_threshold(survives, grid[:: 5 if setting.quick else 1])
        result.runs += [{"case": what, "level": level, "kept": count} for level, count in tried]
        result.add_note(f"largest {what}", f"{scale * best:g}", f"{unit}, {NEEDED} of {REPLICAS} walk {seconds:g} s")
