"""§4.3: what a solution of the programme costs, its failures, and how fast a walk is simulated."""

from __future__ import annotations

import time

import mujoco
import numpy as np

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stylized.following import tracker_of
from surefoot.simulation import Simulation
from surefoot.stylized import programme
from surefoot.stylized.patches import FREE
from surefoot.stylized.tracker import Tracker

SKILL = "human/stylized-walk"
ROUNDS, MEDIAN, HIGH, HOUR, FASTER = 5, 0.3, 1.0, 3600.0, 3.0  # [ms], [ms], [s], times real time


def run(result: Result, setting: Setting) -> None:
    """Time the parts at moments of a walk, then walk for an hour."""
    states = _states(60 if setting.quick else 400)
    rounds = [_timed(states) for _ in range(ROUNDS)]  # (rounds, states, 3)
    build, solved, bare = (np.median([r[:, k] for r in rounds], axis=0) * 1e3 for k in range(3))
    both = build + solved
    result.row("build and solve, CPU, median", "2–3 ms", f"{np.median(both):.2f}", f"ms (≤ {MEDIAN:g})",
               np.median(both) <= MEDIAN)  # fmt: skip
    result.row("build and solve, CPU, 99 %", "", f"{np.quantile(both, 0.99):.2f}", f"ms (≤ {HIGH:g})",
               np.quantile(both, 0.99) <= HIGH)  # fmt: skip
    result.show(
        "a solution alone, a bare physics step beside it", f"{np.median(solved):.3f}, {np.median(bare):.3f}", "ms"
    )
    _walk(result, setting)


def _states(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    sim, found = Simulation(skill=SKILL), []
    for _ in range(count):
        sim.step(13)
        found.append((sim.data.qpos.copy(), sim.data.qvel.copy()))
    return found


def _timed(states: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(states, 3) CPU seconds of building, of solving and of a bare physics step."""
    sim = Simulation(skill=SKILL)
    tracker = sim.scene.intention(sim.skill)
    assert isinstance(tracker, Tracker)
    record, reference = tracker_of(sim)
    data, found = mujoco.MjData(sim.model), []
    sim.step(1)  # with all that is made only once
    for i, (qpos, qvel) in enumerate(states):
        record.clock = (i * 0.013) % reference.duration
        moment = reference.at(float(record.clock))
        touch = (moment.bearing != FREE).astype(float)
        begin = time.process_time_ns()
        tracker.body.set(qpos, qvel)
        problem = tracker.problem(qpos, qvel, moment, record, touch)
        built = time.process_time_ns()
        programme.solve(problem, sim.model.nu)
        solved = time.process_time_ns()
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_step1(sim.model, data)
        mujoco.mj_step2(sim.model, data)
        found.append(((built - begin), (solved - built), time.process_time_ns() - solved))
    return np.array(found) * 1e-9


def _walk(result: Result, setting: Setting) -> None:
    seconds, sim = (20.0 if setting.quick else HOUR), Simulation(skill=SKILL)
    begin = time.process_time()
    while sim.time < seconds and not sim.fallen:
        setting.progress("walking", sim.time / seconds)
        sim.step(round(5.0 / sim.model.opt.timestep))
    faster = sim.time / (time.process_time() - begin)
    record, _ = tracker_of(sim)
    text = f"{int(record.failures)} of {int(record.solves)}" + (
        f", fell at {sim.fallen_at:.0f} s" if sim.fallen else ""
    )
    result.row(f"solutions that failed in {seconds:g} s of walking", "", text, "(0)",
               record.failures == 0 and not sim.fallen)  # fmt: skip
    result.row("simulated, one core", "", f"{faster:.1f}", f"× real time (≥ {FASTER:g})", faster >= FASTER)
