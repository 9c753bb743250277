"""What a controller does in random states and in a short walk, as arrays: run compiled and uncompiled, and compared.

`NUMBA_DISABLE_JIT=1 python oracle_run.py OUT.npz` runs the kernels as the plain Python they are written in.
"""

from __future__ import annotations

import sys

import mujoco
import numpy as np
from numba import config

from conftest import graph_of, learners_of, machine_of, made_skill
from surefoot.controllers.simbicon import law as simbicon
from surefoot.engine import callback
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

STATES_EACH = 12
WALK_STEPS = 500  # 0.25 s


def skills() -> dict[str, Skill]:
    """Skills that together use every term of the law."""
    walk = load("planar/walk")
    ankles = {
        "states.0.feedback.stance_ankle.0": 0.31, "states.0.feedback.stance_ankle.1": -0.17,
        "states.1.feedback.swing_ankle.0": -0.23, "states.1.feedback.swing_ankle.1": 0.11,
        "states.0.feedback.swing_knee.1": 0.07,
    }  # fmt: skip
    return {
        "walk": walk,
        "ankles": with_parameters(walk, ankles),
        "learning": with_parameters(walk, {"learning.bins": 17, "learning.rate": 0.3}),
        "skip": load("planar/skip"),
        "no-time": load("planar/run"),
        "ends": made_skill([{"until": "landing", "cd": 0.4}, {"until": "request", "cv": 0.2}], mirrored=False),
    }


def requested() -> list[Skill]:
    """Skills that are asked for while another runs: at a state change, and at a phase."""
    walk = load("planar/walk")
    return [load("planar/skip"), with_parameters(walk, {"entry.phase": 0.4, "entry.state": 1})]


def scramble(sim: Simulation, rng: np.random.Generator, case: int) -> None:
    """A random body, machine, memory, push and command, at a random time."""
    model, data, row = sim.model, sim.data, sim.memory
    dt = model.opt.timestep
    for joint in sim.scene.table.gains:
        low, high = model.joint(joint).range
        data.qpos[model.joint(joint).qposadr[0]] = rng.uniform(max(low, -1.2), min(high, 1.2))
    data.qpos[0], data.qpos[2] = rng.uniform(-3.0, 3.0), rng.uniform(-0.5, 0.5) + (2.0 * np.pi if case == 3 else 0.0)
    data.qpos[1] += rng.uniform(-0.015, 0.01) - sim.scene.clearance(data.qpos)
    data.qvel[:] = rng.normal(0.0, 1.5, model.nv)
    data.time = float(rng.uniform(1.0, 5.0))
    machine = machine_of(row)
    machine.state = int(rng.integers(graph_of(row).head[0].states))
    machine.entered, machine.step_start = data.time - rng.uniform(0.0, 0.35), data.time - rng.uniform(0.0, 0.6)
    machine.period, machine.steps = rng.uniform(0.3, 0.6), int(rng.integers(1, 20))
    machine.phase, machine.usual_period = rng.uniform(0.0, 1.0), rng.uniform(0.3, 0.6) if case % 6 else 0.0
    learner = learners_of(row)[0]
    learner.bin = int(rng.integers(-1, 34))
    learner.total, learner.count = rng.normal(0.0, 500.0), int(rng.integers(0, 40))
    machine.speed_step, machine.lean = int(rng.integers(0, 20)), rng.uniform(-0.2, 0.2)
    machine.speed_time, machine.speed_x = data.time - rng.uniform(0.1, 0.6), data.qpos[0] - rng.uniform(-0.5, 0.9)
    row.table[:] = rng.normal(0.0, 20.0, len(row.table))
    row.touch[:] = rng.integers(0, 2, 2)
    row.slip[:] = rng.uniform(0.0, 1.0, 2)
    row.clock[0].sensed = data.time - dt
    row.clock[0].advanced = data.time - dt if case % 4 else data.time  # every fourth moment is not new
    if case % 3:
        row.commands[simbicon.LEAN], row.commands[simbicon.SPEED] = rng.uniform(-0.3, 0.3), rng.uniform(-1.0, 2.0)
        row.commands[simbicon.SPEED_GIVEN] = 1.0
    if case % 2:
        point = tuple(rng.uniform(-0.3, 0.3, 3).tolist())
        sim.scene.add_push(row, Push((31.0, 0.0, -17.0), 0.3, data.time - 0.1, "left_shin", point), 0.0)
        sim.scene.add_push(row, Push((-210.0, 0.0, 40.0), 0.2, data.time, "left_shin"), 0.0)
    if case % 5 == 2:
        sim.scene.request(row, requested()[case % 2], data.time)
        row.clock[0].advanced = data.time - dt


def collect() -> dict[str, np.ndarray]:
    """Controls, forces and the whole memory, after one and after a second evaluation, and along a short walk."""
    found: dict[str, np.ndarray] = {}
    for number, (name, skill) in enumerate(skills().items()):
        rng = np.random.default_rng([7, number])
        kept: dict[str, list[np.ndarray]] = {"ctrl": [], "xfrc": [], "userdata": [], "again": []}
        for case in range(STATES_EACH):
            sim = Simulation(skill=skill)
            scramble(sim, rng, case)
            mujoco.mj_forward(sim.model, sim.data)
            kept["ctrl"].append(sim.data.ctrl.copy())
            kept["xfrc"].append(sim.data.xfrc_applied.copy())
            kept["userdata"].append(sim.data.userdata.copy())
            mujoco.mj_forward(sim.model, sim.data)
            kept["again"].append(np.concatenate([sim.data.ctrl, sim.data.userdata]))
        found |= {f"{name}/{key}": np.array(values) for key, values in kept.items()}
    sim = Simulation(skill=skills()["learning"])
    sim.push((60.0, 0.0, 0.0), 0.05, delay=0.1)
    machine_of(sim.memory).usual_period = 0.2  # as if it had walked before: it learns, and stays in the last bin
    along = []
    for _ in range(WALK_STEPS):
        sim.step()
        along.append(np.concatenate([sim.data.qpos, sim.data.qvel, sim.data.ctrl, sim.data.userdata]))
    return found | {"walk along": np.array(along), "learned": sim.memory.table.copy()}


if __name__ == "__main__":
    if not getattr(config, "DISABLE_JIT", False):
        sys.exit("set NUMBA_DISABLE_JIT=1")
    callback.install()
    np.savez(sys.argv[1], allow_pickle=False, **collect())
