"""§4.4, "Reaching", figure 14: reach and hold an object at an arbitrary place and height."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from surefoot.engine.devices import thread_count
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.tasks.reach_target import Reach

CHARACTER, SKILL = "humanoid", "zero-walk"
HEIGHTS, DISTANCES, BEARINGS = (0.1, 1.9), (1.0, 4.0), (-0.5 * math.pi, 0.5 * math.pi)  # [m], [m], [rad]
HOLD, TOLERANCE = 0.5, 0.03  # [s], [m]
_COUNT, _QUICK, _NEEDED = 100, 8, 0.95  # targets, and the share of them to be held
_AFTERWARDS, _TICK = 1.0, 0.01  # [s] it has to stand on; between two looks at the hand
_UPRIGHT, _TILT = 0.97, 0.1  # of the pelvis' first height; [rad] of the chest
_LAST = 7.0  # [s] that are shown
_SHOWN = {"high": (2.0, 0.4, 1.9), "middle": (2.0, 0.4, 1.0), "floor": (2.0, 0.4, 0.1)}  # [m] for the pictures


def run(result: Result, setting: Setting) -> None:
    """Reach for random targets, each from a stand at the origin; an onlooker judges, not the task."""
    count = _QUICK if setting.quick else _COUNT
    targets = list(_targets(setting.seed, count))
    with ThreadPoolExecutor(thread_count() or os.cpu_count()) as pool:
        for i, record in enumerate(pool.map(_one, [setting.seed + i for i in range(count)], targets)):
            setting.progress("reaching", i / count)
            result.runs.append({"target": i} | record)
    held = [run["cause"] == "" for run in result.runs]
    result.add_row("random targets held 0.5 s within 3 cm, then stands upright", "an arbitrary location and height",
                   f"{sum(held)} of {count}", f"targets (≥ {100 * _NEEDED:g} %)",
                   sum(held) >= _NEEDED * count)  # fmt: skip
    for cause, number in Counter(run["cause"] for run in result.runs if run["cause"]).most_common():
        result.add_note(f"failed: {cause}", f"{number}", "targets")
    for low, high in ((0.1, 0.5), (0.5, 1.4), (1.4, 1.9)):
        here = [ok for ok, run in zip(held, result.runs, strict=True) if low <= run["z"] < high]
        result.add_note(f"targets {low:g} … {high:g} m high", f"{sum(here)} of {len(here)}", "targets")
    result.add_note("mean error while held", f"{100 * np.nanmean([run['error'] for run in result.runs]):.1f}", "cm")
    result.add_note("time, mean", f"{np.mean([run['time'] for run in result.runs]):.1f}", "s")
    result.add_note("changes of place, all targets", f"{sum(run['tries'] for run in result.runs)}", "")
    for name, target in _SHOWN.items():
        _draw(setting, result.experiment, name, target)


def _targets(seed: int, count: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        height, far, bearing = rng.uniform(*HEIGHTS), rng.uniform(*DISTANCES), rng.uniform(*BEARINGS)
        yield np.array([far * math.cos(bearing), far * math.sin(bearing), height])


def _one(seed: int, target: np.ndarray) -> dict[str, Any]:
    """Reach once, and measure from outside."""
    sim = Simulation(CHARACTER, SKILL, seed=seed)
    task = sim.add(Reach(target, hold=HOLD, tolerance=TOLERANCE))
    pelvis, ticks = float(sim.actor.position(sim.actor.pelvis)[2]), round(_TICK / sim.actor.model.opt.timestep)
    stretch: list[float] = []
    longest: list[float] = []  # misses in the longest stretch within the tolerance [m]
    while not task.is_over:
        sim.step(ticks)
        miss = math.dist(sim.actor.hand(task.side), target)
        stretch = [*stretch, miss] if miss <= TOLERANCE else []
        longest = max(stretch, longest, key=len)
    time, held = sim.time, _TICK * len(longest)
    if task.status == "done":
        sim.step(round(_AFTERWARDS / sim.actor.model.opt.timestep))
    return {
        "x": target[0], "y": target[1], "z": target[2], "hand": task.side, "tries": task.tries, "held": held,
        "error": float(np.mean(longest or math.nan)), "time": time, "cause": _cause(sim, task, held, pelvis),
    }  # fmt: skip


def _cause(sim: Simulation, task: Reach, held: float, pelvis: float) -> str:
    """Why it did not do what was asked; empty if it did."""
    actor = sim.actor
    if sim.fallen:
        return f"fell while {task.progress()}" if task.status == "failed" else "fell afterwards"
    if task.status == "failed":
        return task.reason.partition(",")[2].strip() or task.reason
    if held < HOLD - _TICK:
        return "not held long enough"
    tilt = math.acos(min(1.0, float(actor.rotation("chest")[2, 2])))
    if not (actor.standing and actor.position(actor.pelvis)[2] > _UPRIGHT * pelvis and tilt < _TILT):
        return "not upright again"
    return ""


def _draw(setting: Setting, experiment: str, name: str, target: tuple[float, float, float]) -> None:
    path = setting.figure_path(experiment, f"{name}.png")
    if path is None:
        return
    lasts = _one(setting.seed, np.array(target))["time"]
    sim = Simulation(CHARACTER, SKILL, seed=setting.seed)
    sim.add(Reach(target, hold=HOLD, tolerance=TOLERANCE))
    motion = sim.run(lasts)
    figures.save_filmstrip(path, motion, f"reaching {target[2]:g} m high", start=max(0.0, lasts - _LAST), end=lasts)
