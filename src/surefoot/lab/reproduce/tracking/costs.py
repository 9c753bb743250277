"""What a tracked clip costs: seconds to make its skill, and the law beside the bare physics step."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import mujoco

from surefoot.characters import load as load_character
from surefoot.controllers.stylized import reference_sources
from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import NOT_QUICK, Result, Setting, find_clip
from surefoot.lab.reproduce.tracking.tracked_clips import BODY, Case, tried
from surefoot.lab.tracking_skill import ClipOnBody, make_tracking_skill

CLIP, MINUTES = "136_21", 10.0  # of 5 s
RATIO, RUNS, FRAMES, FRAME = 1.15, 5, 300, 0.01  # [runs], frames each, [s]


def run_time(result: Result, setting: Setting) -> None:
    """From a clip of 5 s to a skill, on the cores that there are."""
    clip = find_clip(setting, CLIP)
    if clip is None or setting.quick:
        result.add_missing("a clip of 5 s", f"≤ {MINUTES:g}", **({"reason": NOT_QUICK} if setting.quick else {}))
        return
    with tempfile.TemporaryDirectory() as folder:
        begin, cpu = time.perf_counter(), time.process_time()
        found = reference_sources.retarget_file(clip, load_character(BODY))
        done = make_tracking_skill(
            ClipOnBody(found, BODY, False), Path(folder) / "timed.yaml", "timed", CLIP, seed=setting.seed,
            report=setting.progress,
        )  # fmt: skip
        minutes, cpu = (time.perf_counter() - begin) / 60.0, (time.process_time() - cpu) / 60.0
    result.add_row("a clip of 5 s, from file to skill", f"≤ {MINUTES:g}", f"{minutes:.1f}", "minutes on these cores",
                   minutes <= MINUTES and done.measure.stays_up)  # fmt: skip
    result.add_note("of CPU time", f"{cpu:.1f}", "minutes")
    result.add_note("as measured", str(done.measure))


def run_cost(result: Result, setting: Setting) -> None:
    """Control and physics over the bare physics step, from the same states."""
    skill, why = tried(setting, Case("136_21"), 0.0, 0.8)
    if skill is None:
        result.add_missing("control and physics ÷ bare step", f"≤ {RATIO:g}", why)
        return
    sim = Simulation(skill=skill)
    steps, ratios = round(FRAME / sim.model.opt.timestep), []
    sim.step(100 * steps)
    for i in range(RUNS):
        setting.progress("measuring", 0.8 + 0.2 * i / RUNS)
        spent = {True: 0.0, False: 0.0}
        for k in range(50 if setting.quick else FRAMES):
            here = sim.snapshot()
            for controlled in (True, False) if k % 2 else (False, True):
                sim.restore(here)
                (callback.install if controlled else callback.uninstall)()
                begin = time.process_time()
                mujoco.mj_step(sim.model, sim.data, steps)
                spent[controlled] += time.process_time() - begin
            callback.install()
            sim.restore(here)
            sim.step(steps)
        ratios.append(spent[True] / spent[False])
    ratio = statistics.median(ratios)
    result.add_row("control and physics ÷ bare step", f"≤ {RATIO:g}", f"{ratio:.3f}", "CPU time", ratio <= RATIO)
