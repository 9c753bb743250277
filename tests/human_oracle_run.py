"""What the human's controller does in random states and in a short walk: run compiled and uncompiled, and compared.

`NUMBA_DISABLE_JIT=1 python human_oracle_run.py OUT.npz` runs the kernels as the plain Python they are written in.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import config
from scipy.spatial.transform import Rotation

from conftest import machine_of
from human_body import ROLES, TABLE, graph_of, made_human, walk
from oracles import in_random_states
from surefoot.controllers.simbicon import law as simbicon
from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill

STATES_EACH = 8
WALK_STEPS = 60
SENSES = {"sensing__noise_distance": 0.01, "sensing__noise_velocity": 0.05, "sensing__delay": 0.007}
LEARNS = {"learning__bins": 11, "learning__rate": 0.3}
REACTS = {"reaction__softness": 0.4, "reaction__alarm": 0.2, "reaction__delay": 0.02, "reaction__time": 0.1}
FEEDBACK = {
    "states__0__feedback__stance_ankle_roll__0": 0.3, "states__1__feedback__waist_roll__1": -0.2,
    "states__0__feedback__swing_ankle__1": 0.1, "states__1__torso_roll": 0.05, "states__0__torso_yaw": 0.1,
}  # fmt: skip


def skills() -> dict[str, Skill]:
    """Skills that together use every term of the law in space."""
    return {
        "walk": walk(),
        "senses": walk(**SENSES, sensing__point="com"),
        "learning": walk(**LEARNS, **REACTS),
        "everything": walk(**SENSES, **LEARNS, **FEEDBACK, arms__swing=0.3, arms__circle=0.2),
        "both": made_human([{
            "until": "landing", "both": True, "cd": 0.3, "cd_lateral": 0.4, "cv_lateral": 0.1,
            "targets": {"swing_hip": 0.3, "swing_hip_roll": 0.1, "swing_hip_yaw": 0.1, "waist_yaw": 0.1},
        }, {"duration": 0.2, "both": True, "targets": {"swing_knee": -0.5}}]),
    }  # fmt: skip


def scramble(sim: Simulation, rng: np.random.Generator, case: int) -> None:
    """A random body, machine, memory and command, at a random time."""
    model, data, row = sim.model, sim.data, sim.memory
    for name, hinge in TABLE.hinges.items():
        data.joint(name).qpos[0] = rng.uniform(max(hinge.low, -1.2), min(hinge.high, 1.2))
    turn = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, 3) * (0.4, 0.4, 3.0))
    data.qpos[3:7] = turn.as_quat(scalar_first=True) * (-1.0 if case == 3 else 1.0)
    data.qpos[:2] = rng.uniform(-3.0, 3.0, 2)
    data.qpos[2] += rng.uniform(-0.015, 0.01) - sim.scene.clearance(data.qpos) + (1.0 if case % 2 else 0.0)
    data.qvel[:] = rng.normal(0.0, 1.0, model.nv)
    data.time = float(rng.uniform(1.0, 5.0))
    machine = machine_of(row)
    machine.state = int(rng.integers(graph_of(sim).head[0].states))
    machine.entered, machine.step_start = data.time - rng.uniform(0.0, 0.35), data.time - rng.uniform(0.0, 0.6)
    machine.period, machine.usual_period = rng.uniform(0.3, 0.6, 2)
    machine.steps = int(rng.integers(1, 20))
    machine.heading, machine.alarmed = rng.uniform(-4.0, 4.0), data.time - rng.uniform(0.0, 0.15)
    machine.measured, machine.lean = int(rng.integers(0, 400)), rng.uniform(-0.2, 0.2)
    machine.speed_step, machine.speed_time = int(rng.integers(0, 20)), data.time - rng.uniform(0.1, 0.6)
    machine.speed_x, machine.speed_y = rng.uniform(-1.0, 1.0, 2)
    row.table[:] = rng.normal(0.0, 20.0, len(row.table))
    learners = python_impl(simbicon.learners_of)(row.memory, ROLES, 3 + len(TABLE.anatomy.channels))
    learners["bin"] = rng.integers(-1, 22, len(learners))
    learners["total"], learners["count"] = rng.normal(0.0, 300.0, len(learners)), rng.integers(0, 40, len(learners))
    row.clock[0].sensed = data.time - model.opt.timestep
    row.clock[0].advanced = data.time - model.opt.timestep if case % 4 else data.time  # every fourth is not new
    if case % 3:
        for name in simbicon.COMMANDS:
            _, low, high = simbicon.COMMANDS[name]
            row.commands[list(simbicon.COMMANDS).index(name)] = rng.uniform(max(low, -4.0), min(high, 4.0))
        row.commands[simbicon.SPEED_GIVEN] = case % 2


def collect() -> dict[str, np.ndarray]:
    """Controls and the whole memory, after one and after a second evaluation, and along a short walk."""
    found = in_random_states(skills(), scramble, 13, STATES_EACH)
    sim = Simulation(skill=skills()["everything"], seed=3)
    sim.command(heading=0.3, sideways=0.02, width=0.01, speed=0.4)
    sim.push((60.0, 30.0, 0.0), 0.02, delay=0.01)
    machine = machine_of(sim.memory)
    machine.period = machine.usual_period = 0.04  # so that many bins are left, and the phase is not 0
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
