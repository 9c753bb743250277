"""What the stepping law does while it is pushed and while it begins to walk: run compiled and uncompiled, and compared.

`NUMBA_DISABLE_JIT=1 python stepping_oracle_run.py OUT.npz` runs the kernels as the plain Python they are written in.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import config

from surefoot.controllers.stepping import law as stepping
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.terrains import Crate, flat, with_props

STEPS, AHEAD = 40, 400  # physics steps compared, and those before
BOX = Crate((0.3, 0.3, 0.3), 9.0, (3.0, 0.0, 0.0), 0.6, ((0.0, 0.19, 0.1), (0.0, -0.19, 0.1)))
CASES = {  # skill, terrain, push [N], commands
    "stands": ("stand", "flat", (0.0, 0.0, 0.0), {}),
    "pushed": ("stand", "flat", (180.0, 320.0, 0.0), {"heading": 0.4}),
    "walks": ("walk", "slope:8,0.3", (0.0, 0.0, 0.0), {"speed": 0.7, "sideways": 0.2, "crouch": 0.9, "pull": 30.0}),
    "careful": ("walk", "bumps:3,0.04,0.4,8", (0.0, 0.0, 0.0), {"speed": 0.2}),
    "gyrates": ("stand", "platform:20,8,0.3", (0.0, 0.0, 0.0), {"crouch": 0.9}),
    "holds": ("carry", with_props(flat(), [BOX]), (-200.0, 60.0, 0.0), {}),
}


def states(path: str) -> None:
    """Write the states from which both compare, run compiled."""
    found = {}
    for name in CASES:
        sim = _begun(name)
        sim.step(AHEAD)
        found[name] = sim.snapshot().state
    np.savez(path, **found)


def collect(path: str) -> dict[str, np.ndarray]:
    """(STEPS, …) torques, memories and modes of each case, from the states in a file."""
    found = {}
    with np.load(path) as begun:
        for name in CASES:
            sim = _begun(name)
            here = sim.snapshot()
            sim.restore(type(here)(begun[name], here.skill, here.requested, here.tasks))
            ctrl, userdata, modes = [], [], []
            for _ in range(STEPS):
                sim.step(1)
                ctrl.append(sim.data.ctrl.copy())
                userdata.append(sim.data.userdata.copy())
                modes.append(python_impl(stepping.stepper_of)(sim.memory.memory)[0].mode)
            found[f"{name}/ctrl"], found[f"{name}/userdata"] = np.array(ctrl), np.array(userdata)
            found[f"{name}/modes"] = np.array(modes)
    return found


def _begun(name: str) -> Simulation:
    skill, terrain, push, commands = CASES[name]
    sim = Simulation("stepper", skill, terrain)
    if name == "careful":
        sim.set_parameters({"careful": True})
    if name == "holds":
        sim.hold()
    sim.command(**commands)
    if any(push):
        sim.push(push, duration=0.2, delay=0.1)
    return sim


if __name__ == "__main__":
    if not config.DISABLE_JIT:
        raise SystemExit("run it with NUMBA_DISABLE_JIT=1")
    np.savez(sys.argv[2], **collect(sys.argv[1]))
