"""§4.4, "Pulling and pushing a crate", "Lifting and moving a crate": replicas of a task with a crate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import disturb_state, generator
from surefoot.population import Population
from surefoot.tasks.haul import PullCrate, PushCrate, crate
from surefoot.tasks.task import Task
from surefoot.terrains import flat
from surefoot.terrains.props import Prop, with_props

CHARACTER, SKILL = "humanoid", "zero-walk"
_REPLICAS, _DISTANCE, _PAPER = 5, 5.0, "an 80 kg crate, friction 0.2"
_PLACE, _YAW = (0.4, 0.2), 0.15  # [m] along and across, [rad]: half-widths of where and how it begins


def performed(task: Task, props: Sequence[Prop], replicas: int, setting: Setting, label: str) -> list[dict[str, Any]]:
    """How a task ends, begun in other places, postures and directions; one record a replica."""
    population = Population(replicas, CHARACTER, SKILL, with_props(flat(), props), seed=setting.seed, tasks=[task])
    start = population.qpos[:, :2].copy()
    for i in range(replicas):
        rng = generator(setting.seed, label, i)
        disturb_state(population.scene, population.qpos[i], population.qvel[i], rng)
        population.qpos[i, :2] = start[i] + rng.uniform(-1.0, 1.0, 2) * _PLACE
        _turn(population, i, rng.uniform(-_YAW, _YAW))
    population.batch.forward()
    while not all(tasks[0].is_over for tasks in population.tasks):
        population.run(1.0)
    return [
        {"case": label, "replica": i, "done": own.status == "done", "reason": own.reason} | _seen(own)
        for i, (own,) in enumerate(population.tasks)
    ]


def _seen(task: Any) -> dict[str, float]:
    """What a task measured [m]."""
    return {name: getattr(task, name) for name in ("moved", "carried") if hasattr(task, name)}


def _turn(population: Population, row: int, yaw: float) -> None:
    """Let a row begin with another heading [rad]."""
    turn = np.array([math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)])
    w, x, y, z = population.qpos[row, 3:7]
    population.qpos[row, 3:7] = (
        turn[0] * w - turn[3] * z, turn[0] * x - turn[3] * y, turn[0] * y + turn[3] * x, turn[0] * z + turn[3] * w,
    )  # fmt: skip


def push(result: Result, setting: Setting) -> None:
    """Figure 15: pushing."""
    _haul(result, setting, PushCrate(_DISTANCE), "pushed")


def pull(result: Result, setting: Setting) -> None:
    """Figure 15: pulling."""
    _haul(result, setting, PullCrate(_DISTANCE), "pulled")


def _haul(result: Result, setting: Setting, task: PushCrate | PullCrate, done: str) -> None:
    replicas = 2 if setting.quick else _REPLICAS
    setting.progress(f"a crate is {done}", 0.0)
    runs = performed(task, (crate(),), replicas, setting, done)
    result.runs += runs
    good = sum(run["done"] and run["moved"] >= _DISTANCE for run in runs)
    way = min(run["moved"] for run in runs)
    result.row(
        f"80 kg, friction 0.2, {done} {_DISTANCE:g} m", _PAPER, f"{good} of {replicas}, the shortest way {way:.2f} m",
        f"replicas that move it and stand (all of {replicas})", good == replicas,
    )  # fmt: skip
