"""What limit cycle control does in random states and in short walks: run compiled and uncompiled, and compared.

`NUMBA_DISABLE_JIT=1 python cycle_oracle_run.py OUT.npz` runs the kernels as the plain Python they are written in.
"""

from __future__ import annotations

import logging
import sys

import mujoco
import numpy as np
from numba import config
from scipy.spatial.transform import Rotation

from oracles import in_random_states
from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.reflexes.pose_graph import CAPACITY, graph_of
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

STATES_EACH = 8
WALK_STEPS = 60
COM = {"regulation.variable": "swing-com", "regulation.perturbed": "swing-hip", "regulation.jacobian": "diagonal"}


def skills() -> dict[str, Skill]:
    """Skills that together use every term of the law."""
    march, predicted = load("human19/march"), load("human19/march-predicted")
    return {
        "march": march,
        "open loop": with_parameters(march, {"regulation.control": "open-loop", "torso_servo": False}),
        "predicted": with_parameters(predicted, {"regulation.side_gain": 0.1, "regulation.bias_rate": 0.2}),
        "swing-COM": with_parameters(predicted, {**COM, "speed.usual": 0.2, "speed.slope": -0.1}),
        "bird": load("bird/run"),
    }


def scramble(sim: Simulation, rng: np.random.Generator, case: int) -> None:
    """A random body, machine, memory and command, at a random time: every other one at the end of a step."""
    model, data, row, table = sim.model, sim.data, sim.memory, sim.scene.table
    for name, hinge in table.hinges.items():
        data.joint(name).qpos[0] = rng.uniform(max(hinge.low, -1.2), min(hinge.high, 1.2))
    turn = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, 3) * (0.4, 0.4, 3.0))
    data.qpos[3:7] = turn.as_quat(scalar_first=True) * (-1.0 if case == 3 else 1.0)
    data.qpos[:2] = rng.uniform(-3.0, 3.0, 2)
    data.qpos[2] += rng.uniform(-0.015, 0.01) - sim.scene.clearance(data.qpos)
    data.qvel[:] = rng.normal(0.0, 1.0, model.nv)
    data.time = float(rng.uniform(1.0, 5.0))
    machine = python_impl(limit_cycle.machine_of)(row.memory)[0]
    graph = python_impl(graph_of)(row.slots[0], len(table.anatomy.roles))
    count = int(graph.head[0].states)
    assert count <= CAPACITY
    machine.state = count // 2 - 1 if case % 2 else int(rng.integers(count))
    machine.entered = data.time - (1.0 if case % 2 else rng.uniform(0.0, 0.1))
    machine.period, machine.steps, machine.heading = rng.uniform(0.3, 0.6), int(rng.integers(1, 20)), rng.uniform(-4, 4)
    cycle = python_impl(limit_cycle.cycle_of)(row.memory)[0]
    for name in cycle.dtype.names:
        cycle[name] = rng.uniform(-0.2, 0.2)
    cycle.fresh, cycle.asked, cycle.begun = float(case == 5), 0.0, data.time - 0.5
    row.clock[0].advanced = data.time - model.opt.timestep if case % 4 else data.time  # every fourth is not new
    for i, name in enumerate(limit_cycle.COMMANDS):
        _, low, high = limit_cycle.COMMANDS[name]
        row.commands[i] = rng.uniform(max(low, -3.0), min(high, 3.0))
        row.commands[limit_cycle.GIVEN + i] = float(rng.integers(2))


def collect() -> dict[str, np.ndarray]:
    """Controls and the whole memory, after one and after a second evaluation, and along short walks."""
    found = in_random_states(skills(), scramble, 17, STATES_EACH)
    sim = Simulation(skill=skills()["predicted"], seed=3)
    sim.command(heading=0.3, speed=0.15)
    machine = python_impl(limit_cycle.machine_of)(sim.memory.memory)[0]
    machine.entered -= 0.31  # so that a step ends soon
    machine.state += 1
    along = []
    for _ in range(WALK_STEPS):
        mujoco.mj_step(sim.model, sim.data)
        along.append(np.concatenate([sim.data.qpos, sim.data.qvel, sim.data.ctrl, sim.data.userdata]))
    return found | {"walk along": np.array(along), "steps": np.array([sim.memory.report[0].steps])}


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # what trial steps would choose is not asked for here
    if not getattr(config, "DISABLE_JIT", False):
        sys.exit("set NUMBA_DISABLE_JIT=1")
    callback.install()
    np.savez(sys.argv[1], allow_pickle=False, **collect())
