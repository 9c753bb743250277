"""§4.4, figures 15 and 16: a crate of 80 kg is pushed and pulled, crates of 5 … 25 kg are carried over 10 m.

Crates are lifted from the floor and from a table. Replicas of a task begin in other places, postures and directions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.task import Task
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.tasks.carry_crate import Carry
from surefoot.tasks.carry_crate import carry_crate_prop as carried_crate
from surefoot.tasks.push_pull_crate import PullCrate, PushCrate, heavy_crate_prop
from surefoot.terrains import flat
from surefoot.terrains.props import Prop, Table, with_props

CHARACTER, SKILL = "humanoid", "zero-walk"
_REPLICAS, _DISTANCE, _PAPER = 5, 5.0, "an 80 kg crate, friction 0.2"
_PLACE, _YAW = (0.4, 0.2), 0.15  # [m] along and across, [rad]: half-widths of where and how it begins


def performed(task: Task, props: Sequence[Prop], replicas: int, setting: Setting, label: str) -> list[dict[str, Any]]:
    """How a task ends, begun in other places, postures and directions; one record a replica."""
    population = Population(replicas, CHARACTER, SKILL, with_props(flat(), props), seed=setting.seed, tasks=[task])
    start = population.qpos[:, :2].copy()
    for i in range(replicas):
        rng = seeded_generator(setting.seed, label, i)
        perturb_state(population.scene, population.qpos[i], population.qvel[i], rng)
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
    runs = performed(task, (heavy_crate_prop(),), replicas, setting, done)
    result.runs += runs
    good = sum(run["done"] and run["moved"] >= _DISTANCE for run in runs)
    way = min(run["moved"] for run in runs)
    result.add_row(f"80 kg, friction 0.2, {done} {_DISTANCE:g} m", _PAPER,
                   f"{good} of {replicas}, the shortest way {way:.2f} m",
                   f"replicas that move it and stand (all of {replicas})", good == replicas)  # fmt: skip


_MASSES = (5.0, 10.0, 15.0, 20.0, 25.0)  # [kg]
_WAY, _MORE = 10.0, 0.3  # [m] to carry it at least, and what is asked for beyond
_TABLE = (0.45, 0.8, 0.7)  # [m]
_AT = (2.0, 0.0)  # [m] where the crate is
_CARRY_REPLICAS = 3
_FROM = {"floor": 0.0, "table": _TABLE[2]}


def carry(result: Result, setting: Setting) -> None:
    """Every mass from the floor to the floor, and from a table to a table."""
    masses = _MASSES[::2] if setting.quick else _MASSES
    replicas = 1 if setting.quick else _CARRY_REPLICAS
    cases = [(start, mass) for start in _FROM for mass in masses]
    for k, (start, mass) in enumerate(cases):
        label = f"{mass:g} kg, {start} to {start}"
        setting.progress(label, k / len(cases))
        runs = performed(*_errand(mass, _FROM[start]), replicas, setting, label)
        result.runs += runs
        good = sum(run["done"] and run["carried"] >= _WAY for run in runs)
        ways = ", ".join(f"{run['carried']:.2f}" if run["done"] else "–" for run in runs)
        result.add_row(label, "lifted and moved", f"{good} of {replicas}: {ways} m", f"carried {_WAY:g} m and put down",
                       good == replicas)  # fmt: skip


def _errand(mass: float, height: float) -> tuple[Carry, list[Prop]]:
    """The task, and what it needs: from a table it goes to the left, past which the way is free."""
    x, y = _AT
    way = _WAY + _MORE
    if height == 0.0:
        return Carry((x + way, y)), [carried_crate(mass, x, y)]
    tables = [Table((x + 0.05, y), _TABLE), Table((x, y + way + 0.05), _TABLE, 0.5 * math.pi)]
    return Carry((x, y + way), height=height), [carried_crate(mass, x, y, height), *tables]
