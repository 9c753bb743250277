"""§6: control and physics in less than 5 ms a frame of 10 ms; ours beside the bare physics step, interleaved."""

from __future__ import annotations

import statistics
import time

import mujoco
import numpy as np

from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, WALK

FRAME, RUNS, FRAMES = 0.01, 5, 300  # [s], [runs], frames each
CONTROL, WHOLE = 0.2, 0.6  # [ms] of CPU time a frame


def run(result: Result, setting: Setting) -> None:
    """Median of some runs of the cost of a frame with and without control."""
    whole, bare = [], []
    for i in range(2 if setting.quick else RUNS):
        setting.progress("measuring", i / RUNS)
        one, other = measured(50 if setting.quick else FRAMES, setting.seed)
        whole.append(one)
        bare.append(other)
    both, control = statistics.median(whole), statistics.median(w - b for w, b in zip(whole, bare, strict=True))
    result.add_row("control", "", f"{control:.3f}", f"ms of CPU time by 10 ms (≤ {CONTROL:g})", control <= CONTROL)
    result.add_row("control and physics", "< 5", f"{both:.3f}", f"ms of CPU time by 10 ms (≤ {WHOLE:g})", both <= WHOLE)


def measured(frames: int, seed: int) -> tuple[float, float]:
    """Mean CPU time of a frame with control and of the bare physics, from the same states [ms]."""
    sim = Simulation(CHARACTER, WALK, seed=seed)
    steps = round(FRAME / sim.model.opt.timestep)
    sim.step(200 * steps)
    spent = {True: 0.0, False: 0.0}
    for i in range(frames):
        here = sim.snapshot()
        wanted = _controls(sim, steps)
        for controlled in (True, False) if i % 2 else (False, True):
            sim.restore(here)
            (callback.install if controlled else callback.uninstall)()
            begin = time.process_time()
            for ctrl in wanted:
                sim.data.ctrl[:] = ctrl  # the bare physics gets what control would give, and so does the same
                mujoco.mj_step(sim.model, sim.data)
            spent[controlled] += time.process_time() - begin
        callback.install()
        sim.restore(here)
        sim.step(steps)
    return 1e3 * spent[True] / frames, 1e3 * spent[False] / frames


def _controls(sim: Simulation, steps: int) -> list[np.ndarray]:
    """What control gives in the steps to come."""
    found = []
    for _ in range(steps):
        mujoco.mj_step(sim.model, sim.data)
        found.append(sim.data.ctrl.copy())
    return found
