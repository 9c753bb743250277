"""What GENBICON, imitation and stylized locomotion do from given states: run compiled and uncompiled, and compared.

`NUMBA_DISABLE_JIT=1 python laws_oracle_run.py STATES.npz OUT.npz` runs the kernels as the plain Python they are written
in. The stylized planner is Python in both runs.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numba import config

from surefoot.controllers.genbicon import law as genbicon
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill


class Case(NamedTuple):
    """A simulation whose law is compared for `steps` physics steps after `ahead` compiled ones."""

    skill: str
    character: str | None = None
    changes: dict[str, Any] = {}  # noqa: RUF012
    commands: dict[str, float] = {}  # noqa: RUF012
    push: tuple[float, float, float] | None = None
    ahead: int = 700
    steps: int = 40


LEARNS = {"learning.bins": 11, "learning.rate": 0.3, "reaction.softness": 0.5, "reaction.alarm": 0.1}
SENSES = {"sensing.delay": 0.01, "sensing.noise_distance": 0.01, "sensing.noise_velocity": 0.05, "sensing.point": "com"}
CASES = {
    "genbicon walks": Case("biped/prance", "human", {}, {"speed": 1.3, "heading": 0.5, "sideways": 0.1}),
    "genbicon shifts its weight": Case("biped/zero-walk", "ape", {}, {"step_time": 0.6, "lean": -0.1}, None, 170),
    "genbicon is pushed": Case("biped/stand", None, {}, {}, (220.0, 260.0, 0.0), 240, 60),
    "genbicon reaches": Case("biped/walk", "robot", {}, {"stop": 1.0}, None, 300),
    "imitation": Case("human/captured-jog", None, {}, {"ahead": 0.1, "lift": 0.1}, (40.0, 20.0, 0.0), 300),
    "imitation learns": Case("human/captured-forward", None, LEARNS, {"speed": 1.0, "heading": 0.3}, None, 600, 60),
    "imitation senses": Case("human/captured-in-place", None, SENSES, {"width": 0.05, "slope": 0.1}, None, 300),
    "tracking": Case("human/tracked-walk", None, {}, {"speed": 1.5, "heading": 0.4}, (40.0, 20.0, 0.0), 300),
    "stylized": Case("human/stylized-stand", None, {}, {}, (20.0, 10.0, 0.0), 150, 25),
    "stylized planar": Case("planar_arms/stylized-stand", None, {}, {}, (20.0, 0.0, 0.0), 150, 25),
}


def begun(name: str) -> Simulation:
    """The simulation of a case at its beginning."""
    case = CASES[name]
    skill: Skill = load(case.skill)
    if case.changes:
        skill = with_parameters(skill, case.changes)
    sim = Simulation(case.character, skill, "flat", 5)
    if case.commands:
        sim.command(**case.commands)
    if case.push:
        sim.push(case.push, duration=0.2, delay=0.05)
    if name == "genbicon reaches":
        hands = python_impl(genbicon.hands_of)(sim.memory.memory)
        for field, value in {"reach": 0.7, "x": 0.4, "y": 0.3, "z": 1.1, "fx": 8.0, "fz": 5.0, "swivel": 0.2}.items():
            hands[0][field] = value
        intent = python_impl(genbicon.intent_of)(sim.memory.memory)[0]
        intent.bend, intent.twist, intent.crouch, intent.force, intent.force_height = 0.2, 0.1, 0.2, 20.0, 1.0
    return sim


def states(path: str) -> None:
    """Write the states from which both compare, run compiled."""
    found = {}
    for name, case in CASES.items():
        sim = begun(name)
        sim.step(case.ahead)
        found[name] = sim.snapshot().state
    np.savez(path, **found)


def collect(path: str) -> dict[str, np.ndarray]:
    """(steps, …) controls and memories of each case, from the states in a file."""
    found = {}
    with np.load(path) as given:
        for name, case in CASES.items():
            sim = begun(name)
            here = sim.snapshot()
            sim.restore(type(here)(given[name], here.skill, here.requested, here.tasks))
            ctrl, userdata, reports = [], [], []
            for _ in range(case.steps):
                sim.step(1)
                ctrl.append(sim.data.ctrl.copy())
                userdata.append(sim.data.userdata.copy())
                reports.append([sim.memory.report[0].state, sim.memory.report[0].steps])
            found[f"{name}/ctrl"], found[f"{name}/userdata"] = np.array(ctrl), np.array(userdata)
            found[f"{name}/reports"] = np.array(reports)
    return found


if __name__ == "__main__":
    if not config.DISABLE_JIT:
        raise SystemExit("run it with NUMBA_DISABLE_JIT=1")
    np.savez(sys.argv[2], **collect(sys.argv[1]))
