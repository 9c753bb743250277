"""Robustness in the plane: unanticipated ground, repeated pushes and torque limits.

§7.1, figure 1a: unanticipated down-steps of 20 cm and slopes of ± 6°.
§7.1: ten pushes of 0.1 s, 5 s apart; the largest such that all ten are survived.
§7: the basic walk bears a torque limit of 90 N·m; below it becomes weak-kneed and falls.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np

from surefoot.engine.devices import thread_count
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import NOT_QUICK, Result, Setting, cut_into
from surefoot.lab.pieces import Piece
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.lab.reproduce.replica_walks import highest_level
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, TABLE_1, replicas_from_start, skill, upright
from surefoot.lab.robustness import NEEDED, planar_grid, push_survivors, robust_threshold
from surefoot.skills import with_parameters
from surefoot.terrains.terrain import Terrain

STEP, ANGLE = 0.20, 6.0  # [m], [deg]
_COURSES, _STEPS, _SLOPES = 5, 10, 4
_HIGHER, _STEEPER = (0.24, 0.28, 0.32, 0.36, 0.40), (8.0, 10.0, 12.0, 14.0)  # [m], [deg] tried beyond the paper's
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
            length = rng.uniform(5.0, 7.0)
            z += math.tan(math.radians(angle_deg)) * length * (1.0 if part == "up" else -1.0)
            x += length
        corners.append((x, z))
        x += rng.uniform(3.0, 6.0)
    return Terrain(f"course {number} of seed {seed}", np.array([*corners, (x, z)]))


def run_terrain(result: Result, setting: Setting) -> None:
    """Five random courses at the paper's figures, then higher and steeper until one is lost."""
    courses = 2 if setting.quick else _COURSES
    for i, (case, name) in enumerate((("one tuned walk", "robust-walk"), ("Table 1's walk as printed", "walk"))):
        setting.progress(f"{name} on courses", 0.1 + 0.2 * i)
        done = _arrivals(result, setting, name, STEP, ANGLE, courses)
        result.add_row(f"{case}: courses of {_STEPS} down-steps and {_SLOPES} slopes",
                       f"{100 * STEP:g} cm, ± {ANGLE:g}°", f"{done} of {courses}", "courses walked to the end",
                       done == courses)  # fmt: skip
    path = setting.figure_path(result.experiment, "course.png")
    if path:
        sim = Simulation("planar", skill("robust-walk"), course(setting.seed, 0, STEP, ANGLE))
        figures.save_filmstrip(path, sim.run(16.0))
    if not setting.quick:
        for case, unit, levels in (("higher steps", "m", _HIGHER), ("steeper slopes", "°", _STEEPER)):
            setting.progress(f"beyond: {case}", 0.5 if levels is _HIGHER else 0.75)

            def arrive(level: float, is_step: bool = levels is _HIGHER) -> bool:
                ground = (level, ANGLE) if is_step else (STEP, level)
                return _arrivals(result, setting, "robust-walk", *ground, _COURSES) == _COURSES

            best = highest_level(levels, arrive)
            ours = f"{best:g} {unit}" if best else "none beyond the paper's"
            result.add_note(f"the tuned walk beyond: {case}", ours, f"{_COURSES} of {_COURSES} courses")


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

    with ThreadPoolExecutor(thread_count() or os.cpu_count()) as pool:
        runs = list(pool.map(walk, range(courses)))
    result.runs += runs
    return sum(run["arrived"] for run in runs)


WAYS = {"forwards": 1.0, "backwards": -1.0}
_HIGHEST, _HIGHEST_OTHERS = 600.0, 100.0  # [N] no level above is tried: of the two walks, of the other gaits
_ROBUST_WALK = "robust-walk"
PAPER = {  # [N] the paper's walk and skip
    (_ROBUST_WALK, "forwards"): 600.0, (_ROBUST_WALK, "backwards"): 500.0, ("skip", "forwards"): 40.0,
    ("skip", "backwards"): 50.0,
}  # fmt: skip


def _pushed_gaits(quick: bool) -> tuple[str, ...]:
    return (_ROBUST_WALK, "walk", "skip") if quick else (_ROBUST_WALK, *TABLE_1)


def _ways_of_pushing(setting: Setting) -> list[Piece[tuple[float, list[tuple[float, int]]]]]:
    return [
        Piece(f"{name}, pushed {word}", threshold_of_pushes, (name, direction, setting.seed, setting.quick))
        for name in _pushed_gaits(setting.quick)
        for word, direction in WAYS.items()
    ]


def threshold_of_pushes(name: str, direction: float, seed: int, quick: bool) -> tuple[float, list[tuple[float, int]]]:
    """The robust threshold of a gait [N] and how many replicas survived each level, in a quick look the highest alone.

    Args:
        name: of the gait.
        direction: ± 1 along x.
        seed: of the replicas.
        quick: whether this is a quick look.
    """
    grid = planar_grid(_HIGHEST if name in (_ROBUST_WALK, "walk") else _HIGHEST_OTHERS)
    return robust_threshold(push_survivors(skill(name), direction, seed), grid[-1:] if quick else grid)


@cut_into(_ways_of_pushing)
def run_pushes(result: Result, setting: Setting, found: list[tuple[float, list[tuple[float, int]]]]) -> None:
    """Robust thresholds forwards and backwards of all gaits and of the tuned walk."""
    names = _pushed_gaits(setting.quick)
    ours: dict[tuple[str, str], str] = {}
    for (name, word), (threshold, tried) in zip(product(names, WAYS), found, strict=True):
        for level, count in tried:
            result.runs.append({
                "skill": name, "direction": WAYS[word], "force": level, "survived": count, "needed": NEEDED,
            })  # fmt: skip
        first, survived = tried[0]
        ours[name, word] = f"{survived} replicas survive {first:g}" if setting.quick else f"{threshold:g}"
        paper = PAPER.get((name, word))
        case = f"{'one tuned walk' if name == _ROBUST_WALK else name}, pushed {word}"
        if paper and setting.quick and threshold < paper and first > paper:
            result.add_missing(case, f"{paper:g}", NOT_QUICK)  # a higher force than the paper's was tried
        elif paper:
            unit = f"N, 0.1 s, ten pushes{f' (≥ {NEEDED}; lower forces not tried)' if setting.quick else ''}"
            result.add_row(case, f"{paper:g}", ours[name, word], unit, threshold >= paper)
    for name in names[1:]:
        pair = " / ".join(ours[name, word] for word in WAYS)
        papers = " / ".join(f"{PAPER[_ROBUST_WALK, word]:g}" for word in WAYS) if name == "walk" else ""
        case = "walk of Table 1 as printed" if name == "walk" else name
        result.add_note(case, pair, "N forwards / backwards", papers)
    result.add_note("highest level tried", f"{_HIGHEST:g}, {_HIGHEST_OTHERS:g} for the other gaits", "N")


_PAPER = 90.0  # [N·m]
_LIMITS = (1000.0, 370.0, 200.0, 150.0, 120.0, 110.0, 100.0, 90.0, 85.0, 80.0, 75.0, 70.0)


def run_torque_limit(result: Result, setting: Setting) -> None:
    """Walk as printed under lower and lower limits on every joint."""
    seconds = 10.0 if setting.quick else 60.0
    skills = [with_parameters(skill("walk"), {"gains.all.limit": limit}) for limit in _LIMITS]
    population = replicas_from_start(skills, setting.seed)
    setting.progress("walking under torque limits", 0.1)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)
    peaks = population.reports["peak_torque"].reshape(-1, REPLICAS).max(axis=1)
    lowest = highest_level(_LIMITS, lambda limit: kept[_LIMITS.index(limit)] == REPLICAS) or np.inf
    for limit, count, peak in zip(_LIMITS, kept, peaks, strict=True):
        if limit >= lowest or limit in [below for below in _LIMITS if below < lowest][:2]:
            more = f", peak {peak:.1f} N·m" if limit >= lowest else ""
            result.add_note(f"limit {limit:g} N·m", f"{count} of {REPLICAS} walk {seconds:g} s{more}")
    for i, fell in enumerate(population.fallen_at):
        result.runs.append({"limit": _LIMITS[i // REPLICAS], "replica": i % REPLICAS, "fallen_at": float(fell)})
    result.add_row("lowest limit the walk bears", f"{_PAPER:g}", f"{lowest:g}", "N·m", lowest <= _PAPER)
