"""What the controller costs: solutions of its quadratic program (§4.3) and what is made before a run (§3.2).

§4.3: how long a solution takes, how many fail, and how fast a walk is simulated.
§3.2: how long it takes to make a reference of a clip and a policy of the reference.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.controllers.stylized import qp, reference_sources
from surefoot.controllers.stylized.balance_policy import balance_policy
from surefoot.controllers.stylized.controller import tracker_of
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
from surefoot.controllers.stylized.three_link import three_link_groups
from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.reference_tracking import TOES, tracking_state
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.lab.reproduce.stylized.mocap import KINDS

SKILL = "human/stylized-robust-walk"
ROUNDS, MEDIAN, HIGH, FASTER = 5, 0.3, 1.0, 3.0  # [ms], [ms], times real time
WALKS, LENGTH = 12, 300.0  # [s]: an hour
LOOK = 5.0  # [s] between looks


class Moment(NamedTuple):
    """What a row is when its quadratic program is due."""

    time: float
    qpos: np.ndarray
    qvel: np.ndarray
    memory: np.ndarray
    touch: np.ndarray


def run_qp(result: Result, setting: Setting) -> None:
    """Time what is done at moments of a walk, then walk for an hour."""
    spent = _timed(_moments(60 if setting.quick else 600), setting) * 1e3  # (rounds, moments, 3) [ms]
    tick, solved, bare = np.median(spent, axis=0).T
    result.add_row("build and solve, CPU, median", "2–3 ms", f"{np.median(tick):.2f}", f"ms (≤ {MEDIAN:g})",
               np.median(tick) <= MEDIAN)  # fmt: skip
    high = float(np.quantile(spent[:, :, 0], 0.99))
    result.add_row("build and solve, CPU, 99 %", "", f"{high:.2f}", f"ms (≤ {HIGH:g})", high <= HIGH)
    result.add_note("of this the solution alone, median", f"{np.median(solved):.3f}", "ms")
    result.add_note("a bare physics step beside it, median", f"{np.median(bare):.3f}", "ms")
    result.add_note("moments of the walk, rounds", f"{len(tick)}, {ROUNDS}")
    _walk(result, setting)


def _moments(count: int) -> list[Moment]:
    """Moments of a walk at which the quadratic program is due, every third one, before it is solved."""
    sim, found = Simulation(skill=SKILL), []
    period = tracker_of(sim.scene, sim.skill).period
    for _ in range(count):
        sim.step(3 * period - 1)
        row, data = sim.memory, sim.data
        before = row.memory.copy()
        sim.step(1)
        found.append(Moment(sim.time, data.qpos.copy(), data.qvel.copy(), before, row.touch.copy()))
    return found


def _timed(moments: list[Moment], setting: Setting) -> np.ndarray:
    """(rounds, moments, 3) CPU seconds of a tick, of its solution, and of a physics step without any controller."""
    sim = Simulation(skill=SKILL)
    sim.step(1)  # with all that is made only once
    tracker, row, bare = tracker_of(sim.scene, sim.skill), sim.memory, mujoco.MjData(sim.model)
    found, clock, solve = np.zeros((ROUNDS, len(moments), 3)), time.process_time_ns, qp.solve_qp
    solved = [0, 0]

    def measured(problem: qp.QuadraticProgram, actuators: int) -> qp.Solution:
        solved[0] = clock()
        solution = solve(problem, actuators)
        solved[1] = clock()
        return solution

    callback.uninstall()
    qp.solve_qp = measured
    try:
        for i in range(ROUNDS):
            setting.progress("timing", i / ROUNDS)
            for j, moment in enumerate(moments):
                row.memory[:], row.touch[:] = moment.memory, moment.touch
                begin = clock()
                tracker.tick(moment.qpos, moment.qvel, row, moment.time)
                ticked = clock()
                bare.qpos[:], bare.qvel[:] = moment.qpos, moment.qvel
                stepped = clock()
                mujoco.mj_step(sim.model, bare)
                found[i, j] = ticked - begin, solved[1] - solved[0], clock() - stepped
    finally:
        qp.solve_qp = solve
    return found * 1e-9


def _walk(result: Result, setting: Setting) -> None:
    """Walk for an hour, in parts that begin a little elsewhere each: one long walk would soon repeat itself."""
    walks, length = (2, 10.0) if setting.quick else (WALKS, LENGTH)
    solves, failures, fallen, walked, spent = 0, 0, 0, 0.0, 0.0
    for i in range(walks):
        sim = Simulation(skill=SKILL)
        if i:
            perturb_state(sim.scene, sim.data.qpos, sim.data.qvel, seeded_generator(setting.seed, "stylized/qp", i))
        sim.step(1)
        begin = time.process_time()
        while sim.time < length and not sim.fallen:
            setting.progress(f"walk {i + 1} of {walks}, {solves} solved", (i + sim.time / length) / walks)
            sim.step(round(LOOK / sim.model.opt.timestep))
        record, _ = tracking_state(sim)
        result.runs.append({"walk": i, "seconds": sim.time, "fallen_at": sim.fallen_at,
                            "cpu": time.process_time() - begin, "solves": int(record.solves),
                            "failures": int(record.failures)})  # fmt: skip
        solves, failures, fallen = solves + int(record.solves), failures + int(record.failures), fallen + sim.fallen
        walked, spent = walked + sim.time, spent + time.process_time() - begin
    result.add_row(f"solutions that failed in {walked:.0f} s of walking", "", f"{failures} of {solves}", "(0)",
               failures == 0)  # fmt: skip
    result.add_row(f"walks of {length:g} s that fell", "", f"{fallen} of {walks}", "(0)", fallen == 0)
    result.add_row("simulated, one core", "", f"{walked / spent:.1f}", f"× real time (≥ {FASTER:g})",
               walked / spent >= FASTER)  # fmt: skip


LONGEST = 5.0  # [s] of CPU


def run_precompute(result: Result, setting: Setting) -> None:
    """Every clip of Table 1's kinds: reading and retargeting, feet and weight, regulators."""
    worst, sim = 0.0, Simulation(skill=TOES)
    for kind, (stem, loops, _) in setting.each(KINDS.items()):
        clip = find_clip(setting, stem)
        if clip is None:
            result.add_missing(f"{kind}, clip {stem}", "< 2 min")
            continue
        read, made, regulated, supports = timed(sim, clip, loops)
        result.add_note(f"{kind}: reading and retargeting, reference, {supports} regulators",
                    f"{read:.1f}, {made:.1f}, {regulated:.1f}", "s")  # fmt: skip
        result.runs.append({"clip": stem, "read": read, "made": made, "regulated": regulated})
        worst = max(worst, made + regulated)
    if result.runs:
        result.add_row("reference and regulators of a clip, the slowest, CPU", "< 2 min", f"{worst:.1f}",
                   f"s (≤ {LONGEST:g})", worst <= LONGEST)  # fmt: skip


def timed(sim: Simulation, clip: Path, loops: bool) -> tuple[float, float, float, int]:
    """CPU seconds of reading, of the reference and of its regulators, and how many there are."""
    model, table = sim.model, sim.scene.table
    begin = time.process_time()
    found = reference_sources.retarget_file(clip, table)
    read = time.process_time()
    reference = (reference_sources.looping_reference if loops else reference_sources.one_shot_reference)(
        model, table, found
    )
    made = time.process_time()
    sides = [three_link_groups(model, table, side) for side in (0, 1)]
    supports = len(balance_policy(BodyDynamics(model, table), sides, reference).gains)
    return read - begin, made - read, time.process_time() - made, supports
