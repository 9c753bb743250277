"""§7.1, figure 1a: unanticipated down-steps of 20 cm and slopes of ± 6°."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.terrains.terrain import Terrain

STEP, ANGLE = 0.20, 6.0  # [m], [deg]
_COURSES, _STEPS, _SLOPES = 5, 10, 4
Ground = tuple[float, float]  # step [m] and angle [deg]
_SLOWEST = 0.35  # [m/s] slower than this does not arrive


def course(seed: int, number: int, step: float, angle_deg: float) -> Terrain:
    """Ten down-steps 3–6 m apart and four stretches of 5–7 m up or down a slope, in random order."""
    rng = seeded_generator(seed, "course", number)
    parts = ["step"] * _STEPS + ["up", "down"] * (_SLOPES // 2)
    rng.shuffle(parts)
    x, z, corners = 3.0, 0.0, []
    for part in parts:
        corners.append((x, z))
        if part == "step":
            z -= step
        else:
            run = rng.uniform(5.0, 7.0)
            z += math.tan(math.radians(angle_deg)) * run * (1.0 if part == "up" else -1.0)
            x += run
        corners.append((x, z))
        x += rng.uniform(3.0, 6.0)
    return Terrain(f"course {number} of seed {seed}", np.array([*corners, (x, z)]))


def run(result: Result, setting: Setting) -> None:
    """Five random courses at the paper's figures, then higher and steeper until one is lost."""
    courses = 2 if setting.quick else _COURSES
    for i, (case, name) in enumerate((("one tuned walk", "robust-walk"), ("Table 1's walk as printed", "walk"))):
        setting.progress(f"{name} on courses", 0.1 + 0.2 * i)
        done = _arrivals(result, setting, name, STEP, ANGLE, courses)
        result.add_row(
            f"{case}: courses of {_STEPS} down-steps and {_SLOPES} slopes", f"{100 * STEP:g} cm, ± {ANGLE:g}°",
            f"{done} of {courses}", "courses walked to the end", done == courses,
        )  # fmt: skip
    _picture(result, setting)
    if not setting.quick:
        steps, angles = [0.24, 0.28, 0.32, 0.36, 0.40], [8.0, 10.0, 12.0, 14.0]
        _beyond(result, setting, "higher steps", "m", steps, lambda step: (step, ANGLE))
        _beyond(result, setting, "steeper slopes", "°", angles, lambda angle: (STEP, angle))


def _beyond(
    result: Result, setting: Setting, case: str, unit: str, levels: Sequence[float], make: Callable[[float], Ground]
) -> None:
    """Raise one difficulty for the tuned walk, the other as in the paper, until a course is lost."""
    best = "none beyond the paper's"
    for i, level in enumerate(levels):
        setting.progress(f"beyond: {case}", 0.5 + 0.5 * i / len(levels))
        if _arrivals(result, setting, "robust-walk", *make(level), _COURSES) < _COURSES:
            break
        best = f"{level:g} {unit}"
    result.add_note(f"the tuned walk beyond: {case}", best, f"{_COURSES} of {_COURSES} courses")


def _arrivals(result: Result, setting: Setting, name: str, step: float, angle: float, courses: int) -> int:
    """How many courses are walked to their end, all of them at once on all cores."""

    def walk(number: int) -> dict[str, Any]:
        terrain = course(setting.seed, number, step, angle)
        end = float(np.asarray(terrain.vertices)[-1, 0])
        sim = Simulation("planar", skill(name), terrain)
        perturb_state(sim.scene, sim.data.qpos, sim.data.qvel, seeded_generator(setting.seed, "walker", number))
        while sim.data.qpos[0] < end and not sim.fallen and sim.time < end / _SLOWEST:
            sim.step(1000)
        return {
            "skill": name, "step": step, "angle": angle, "course": number, "length": end,
            "arrived": bool(sim.data.qpos[0] >= end and not sim.fallen), "x": float(sim.data.qpos[0]),
            "seconds": sim.time, "slip": float(sim.memory.slip.sum()), "fall_cause": sim.fall_cause,
        }  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(walk, range(courses)))
    result.runs += runs
    return sum(run["arrived"] for run in runs)


def _picture(result: Result, setting: Setting) -> None:
    path = setting.figure_path(result.experiment, "course.png")
    if path:
        sim = Simulation("planar", skill("robust-walk"), course(setting.seed, 0, STEP, ANGLE))
        figures.save_filmstrip(path, sim.run(16.0))
