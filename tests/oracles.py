"""What the oracles share: a law in random states, and the same once more in plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import mujoco
import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.skills.schema import Skill

HERE = Path(__file__).parent


def run_plainly(script: str, folder: Path, *arguments: str) -> dict[str, np.ndarray]:
    """What a script of this folder collects where nothing is compiled; its last argument is where it writes to."""
    path = folder / "plain.npz"
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments, str(path)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]  # an error in a callback is only printed
    with np.load(path) as archive:
        return dict(archive)


def in_random_states(
    skills: Mapping[str, Skill], scramble: Callable[[Simulation, np.random.Generator, int], None], seed: int, count: int
) -> dict[str, np.ndarray]:
    """Controls and the whole memory of every skill in some states, after one and after a second evaluation."""
    found: dict[str, np.ndarray] = {}
    for number, (name, skill) in enumerate(skills.items()):
        rng = np.random.default_rng([seed, number])
        kept: dict[str, list[np.ndarray]] = {"ctrl": [], "userdata": [], "again": []}
        for case in range(count):
            sim = Simulation(skill=skill, seed=case)
            scramble(sim, rng, case)
            mujoco.mj_forward(sim.model, sim.data)
            kept["ctrl"].append(sim.data.ctrl.copy())
            kept["userdata"].append(sim.data.userdata.copy())
            mujoco.mj_forward(sim.model, sim.data)
            kept["again"].append(np.concatenate([sim.data.ctrl, sim.data.userdata]))
        found |= {f"{name}/{key}": np.array(values) for key, values in kept.items()}
    return found
