"""§7.1, figure 1a: unanticipated down-steps of 20 cm and slopes of ± 6°."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import disturb_state, generator
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.motions.filmstrip import filmstrip
from surefoot.simulation import Simulation
from surefoot.skills.files import replace_file
from surefoot.terrains.terrain import Terrain

STEP, ANGLE = 0.20, 6.0  # [m], [deg]
_COURSES, _STEPS, _SLOPES = 5, 10, 4
Ground = tuple[float, float]  # step [m] and angle [deg]
_SLOWEST = 0.35  # [m/s] slower than this does not arrive


def course(seed: int, number: int, step: float, angle_deg: float) -> Terrain:
    """Ten down-steps 3–6 m apart and four stretches of 5–7 m up or down a slope, in random order."""
    rng = generator(seed, "course", number)
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
    done = _arrivals(result, setting, STEP, ANGLE, keep_picture=True)
    result.row(
        "courses of 10 down-steps and 4 slopes", f"{100 * STEP:g} cm, ± {ANGLE:g}°", f"{done} of {_COURSES}",
        "courses walked to the end", done == _COURSES,
    )  # fmt: skip
    if setting.quick:
        return
    _beyond(result, setting, "higher steps", "m", [0.24, 0.28, 0.32, 0.36, 0.40], lambda step: (step, ANGLE))
    _beyond(result, setting, "steeper slopes", "°", [8.0, 10.0, 12.0, 14.0], lambda angle: (STEP, angle))


def _beyond(
    result: Result, setting: Setting, case: str, unit: str, levels: Sequence[float], make: Callable[[float], Ground]
) -> None:
    """Raise one difficulty, the other as in the paper, until a course is lost."""
    best = "none beyond the paper's"
    for i, level in enumerate(levels):
        setting.progress(f"beyond: {case}", 0.3 + 0.6 * i / len(levels))
        if _arrivals(result, setting, *make(level)) < _COURSES:
            break
        best = f"{level:g} {unit}"
    result.show(f"beyond: {case}", best, "5 of 5 courses")


def _arrivals(result: Result, setting: Setting, step: float, angle: float, keep_picture: bool = False) -> int:
    """How many of the five courses are walked to their end."""
    arrived = 0
    for number in range(1 if setting.quick else _COURSES):
        terrain = course(setting.seed, number, step, angle)
        sim = Simulation("planar", skill("walk"), terrain)
        disturb_state(sim.scene, sim.data.qpos, sim.data.qvel, generator(setting.seed, "walker", number))
        end = float(terrain.vertices[-1, 0]) if terrain.vertices is not None else 0.0
        while sim.data.qpos[0] < end and not sim.fallen and sim.time < end / _SLOWEST:
            sim.step(500)
        there = bool(sim.data.qpos[0] >= end and not sim.fallen)
        arrived += there
        result.runs.append({
            "step": step, "angle": angle, "course": number, "arrived": there, "x": float(sim.data.qpos[0]),
            "length": end, "seconds": sim.time, "slip": float(sim.memory.slip.sum()),
        })  # fmt: skip
        if keep_picture and number == 0:
            _picture(result, setting, terrain)
    return arrived * (_COURSES if setting.quick else 1)


def _picture(result: Result, setting: Setting, terrain: Terrain) -> None:
    path = setting.figure_path(result.experiment, "course.png")
    if path:
        buffer = io.BytesIO()
        filmstrip(Simulation("planar", skill("walk"), terrain).run(16.0)).save(buffer, "PNG")
        replace_file(path, buffer.getvalue())
