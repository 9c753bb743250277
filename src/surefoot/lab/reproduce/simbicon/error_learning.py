"""Feedback-error learning (§6): learned feed-forward torques calm the torso, then low gains suffice.

In the plane (§7.1, figure 7) learning calms the torso at unchanged gains.

In space (§7.2) the walk of Table 1 learns torques of the torso and the upper body at a time step of 0.5 ms, with bins
that are 0.5, 5 and 25 ms of a step long. The ratio r = ∫‖fb‖ / ∫‖ff‖ is taken over the last 20 s; both norms, over the
three components of the torso's torque and all joints of the upper body, are read every 5 ms. What follows, with the
gains of the learned joints × 0.3 and nothing learned any more, begins from what the 5 ms bins have learned, at the
human's own time step.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import NOT_QUICK, Result, Setting
from surefoot.lab.gait_measures import torso_pitch
from surefoot.lab.replicas import PHASE, SETTLE, perturb_state, seeded_generator, step_period
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.lab.robustness import PUSH_AFTER, REPLICAS, StrikeStart, push_survivors_3d, robust_threshold
from surefoot.motions.motion import Motion
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

_SPEED = 1.0  # [m/s] commanded to both, so that the sway is compared at the same speed
_PLANAR_BINS = 100
_PLANAR_LEARNING, _PLANAR_JUDGED = 80.0, 10.0  # [s]
_LEAST_FALL = 0.8


def run_planar(result: Result, setting: Setting) -> None:
    """The walk of Table 1 with and without learning, at a commanded speed and as it comes."""
    walk = skill("walk")
    learning = with_parameters(walk, {"learning.bins": _PLANAR_BINS})
    rows = [walk, learning, walk, learning]
    population = Population(len(rows), skill=rows)
    population.command([0, 1], speed=_SPEED)
    setting.progress("learning", 0.1)
    population.run(10.0 if setting.quick else _PLANAR_LEARNING)
    before, after, free_before, free_after = population.run(_PLANAR_JUDGED, fps=500)
    upright = bool(np.isinf(population.fallen_at[:2]).all())  # what is compared has to walk, without learning too
    sway = [_sway(m) for m in (before, after)]
    speeds = [_speed(m) for m in (before, after)]
    feedback = [_rms(m) for m in (before, after)]
    result.add_row("torso sway after learning", "5° → 0.5°", f"{sway[0]:.2f}° → {sway[1]:.2f}°",
                   "half peak to peak (≤ 0.5°)", upright and sway[1] <= 0.5)  # fmt: skip
    fall = 1.0 - feedback[1] / feedback[0]
    result.add_row("feedback torque", "figure 7", f"{feedback[0]:.1f} → {feedback[1]:.1f} N·m RMS, −{100 * fall:.0f} %",
                   "fall ≥ 80 %", upright and fall >= _LEAST_FALL)  # fmt: skip
    change = abs(speeds[1] / speeds[0] - 1.0)
    ours = f"{speeds[0]:.3f} → {speeds[1]:.3f} m/s"
    result.add_row("speed", "unchanged gains", ours, "within 5 %", upright and change <= 0.05)
    result.add_note(
        "the same without a speed command",
        f"sway {_sway(free_before):.2f}° → {_sway(free_after):.2f}°, feedback {_rms(free_before):.1f} → "
        f"{_rms(free_after):.1f} N·m RMS, {_speed(free_before):.2f} → {_speed(free_after):.2f} m/s",
    )
    for name, m in (("before", before), ("after", after), ("free before", free_before), ("free after", free_after)):
        result.runs.append({"case": name, "sway_deg": _sway(m), "feedback_rms": _rms(m), "speed": _speed(m)})
    _draw_torques(setting.figure_path(result.experiment, "figure-7.png"), before, after)


def _sway(motion: Motion) -> float:
    return float(np.degrees(np.ptp(torso_pitch(motion))) / 2)


def _rms(motion: Motion) -> float:
    return float(np.sqrt((motion.feedback[:, 0] ** 2).mean()))


def _speed(motion: Motion) -> float:
    return float((motion.root_position[-1, 0] - motion.root_position[0, 0]) / (motion.time[-1] - motion.time[0]))


@figures.plot(7, 3.2)
def _draw_torques(axes: figures.Axes, before: Motion, after: Motion) -> None:
    """Torques over two steps, from one exchange of legs on."""
    for motion, column, label, style in (
        (before, 0, "feedback before learning", "C3"),
        (after, 0, "feedback after learning", "C0"),
        (after, 1, "learned feed-forward", "C2"),
    ):
        start = int(np.flatnonzero(np.diff(motion.phase) < -0.5)[0]) + 1
        shown = slice(start, start + 360)
        axes.plot(motion.time[shown] - motion.time[start], motion.feedback[shown, column], style, label=label)
    axes.set(xlabel="time since a foot strike [s]", ylabel="torso torque [N·m]")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


_STEP = 0.0005  # [s]
_BINS = {0.5: 2.5, 5.0: 3.5, 25.0: 14.0}  # [ms] of a bin: the paper's r [%]
_KEPT = 5.0  # [ms] bins of what is made soft
_LEARNING, _JUDGED, _LOOK = 90.0, 20.0, 0.005  # [s]
_SOFT, _ALARM, _REACTION = 0.3, 0.05, 0.15  # of the gains; [rad] of the torso; [s]
_SHARE = 0.6  # of the push that is survived at full gains
_WAYS = {"forwards": (0.0, 1.0), "to the left": (1.0, 0.0)}  # (lateral, sagittal)
_HIGHEST = 400.0  # [N]


def run_spatial(result: Result, setting: Setting) -> None:
    """Learn, then soften, then push."""
    walk = skill("walk-as-printed", "human")
    period = step_period(walk)
    learners = {ms: with_parameters(walk, {"learning.bins": max(2, round(1000.0 * period / ms))}) for ms in _BINS}
    rows = [*learners.values(), walk]
    population = Population(len(rows), skill=rows, timestep=_STEP)
    setting.progress("learning", 0.05)
    population.run(6.0 if setting.quick else _LEARNING)
    setting.progress("reading torques", 0.3)
    torques, sway = _read(population, 2.0 if setting.quick else _JUDGED)
    for i, (ms, paper) in enumerate(_BINS.items()):
        ratio = 100.0 * torques[i, 0] / max(torques[i, 1], 1e-9)
        standing = bool(np.isinf(population.fallen_at[i]))
        result.add_row(f"feedback ÷ feed-forward, bins of {ms:g} ms", f"{paper:g} %", f"{ratio:.1f} %",
                       f"(≤ {paper:g} %)", standing and ratio <= paper)  # fmt: skip
        result.add_note(f"torso sway, bins of {ms:g} ms", f"{_degrees(sway[-1])} → {_degrees(sway[i])}", "pitch, roll")
        result.runs.append({
            "bin_ms": ms, "ratio_percent": ratio, "pitch_deg": sway[i, 0], "roll_deg": sway[i, 1],
            "feedback": torques[i, 0], "feedforward": torques[i, 1],
        })  # fmt: skip
    source = list(_BINS).index(_KEPT)
    one = _taught(learners[_KEPT], population.rows[source].table, 4.0 if setting.quick else SETTLE)
    _soft(result, setting, learners[_KEPT], one)
    _pushed(result, setting, learners[_KEPT], one)


def _read(population: Population, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) mean norms of feedback and feed-forward [N·m]; (n, 2) half ranges of the torso's pitch and roll [deg]."""
    model, data = population.scene.model, mujoco.MjData(population.scene.model)
    torso = data.body(population.scene.table.anatomy.torso)
    norms, turns = [], []
    for _ in range(round(seconds / _LOOK)):
        population.run(_LOOK)
        norms.append([(row.report[0].feedback, row.report[0].feedforward) for row in population.rows])
        leans = []
        for qpos in population.qpos:
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            leans.append(np.arcsin(np.clip(torso.xmat[[6, 7]], -1.0, 1.0)))  # how far x and y point up
        turns.append(leans)
    return np.mean(norms, axis=0), 0.5 * np.degrees(np.ptp(turns, axis=0))


def _degrees(sway: np.ndarray) -> str:
    return f"{sway[0]:.2f}° / {sway[1]:.2f}°"


def _taught(learner: Skill, table: np.ndarray, seconds: float) -> Population:
    """One row that walks with a learned table, at the moment of a right foot strike."""
    one = Population(1, skill=[learner])
    row = one.rows[0]
    row.table[:] = table[: len(row.table)]
    one.run(seconds)
    for swing in (0, 1):  # first until the left leg has swung, then until the right one has
        while row.report[0].swing == swing and one.time[0] < seconds + 5.0:
            one.run(one.scene.model.opt.timestep)
    return one


def _replicas(one: Population, learner: Skill, values: dict[str, float], seed: int) -> Population:
    """Replicas of a taught row that learn no more, with other values of their skill."""
    changed = with_parameters(learner, {"learning.rate": 0.0} | values)
    several = Population(REPLICAS, skill=[learner] * REPLICAS)
    several.restore(np.repeat(one.states, REPLICAS, axis=0))
    for i, row in enumerate(several.rows):
        perturb_state(several.scene, several.qpos[i], several.qvel[i], seeded_generator(seed, "soft", i))
        several.scene.fill(row, int(row.header[0].active), changed)
    return several


def _soft(result: Result, setting: Setting, learner: Skill, one: Population) -> None:
    """Low gains, what was learned, no reaction."""
    seconds = 5.0 if setting.quick else 60.0
    setting.progress("walking with low gains", 0.45)
    several = _replicas(one, learner, {"reaction.softness": _SOFT}, setting.seed)
    several.run(seconds, stop_fallen=True)
    kept = int(np.isinf(several.fallen_at).sum())
    result.runs += [{"case": "soft", "replica": k, "fallen_at": fell} for k, fell in enumerate(several.fallen_at)]
    result.add_row(f"gains of the learned joints × {_SOFT:g}", "low-gain control",
                   f"{kept} of {REPLICAS} walk {seconds:g} s", "replicas", kept == REPLICAS)  # fmt: skip


def _pushed(result: Result, setting: Setting, learner: Skill, one: Population) -> None:
    """Robust thresholds with full gains, and with low ones that rise 150 ms after a surprise."""
    grid = [100.0] if setting.quick else [10.0 * k for k in range(1, round(_HIGHEST / 10.0) + 1)]
    reaction = {"reaction.softness": _SOFT, "reaction.alarm": _ALARM, "reaction.delay": _REACTION}
    for i, (word, way) in enumerate(_WAYS.items()):
        case, found = f"low gains that rise {1000 * _REACTION:g} ms after a surprise, pushed {word}", list[float]()
        if setting.quick and i:
            result.add_missing(case, reason=NOT_QUICK)
            continue
        for k, values in enumerate(({}, reaction)):
            setting.progress(f"pushing {word}", 0.5 + 0.25 * i + 0.12 * k)
            start = _start(_replicas(one, learner, values, setting.seed), setting.seed)
            threshold, tried = robust_threshold(_survives(learner, start, way), grid)
            found.append(threshold)
            gains = "low, rising late" if values else "full"
            result.runs += [{"case": word, "gains": gains, "force": force, "kept": kept} for force, kept in tried]
        tried_only = f", of {grid[0]:g} N alone" if setting.quick else ""
        result.add_row(case, f"{found[0]:g} at full gains", f"{found[1]:g}",
                       f"N, 0.4 s (≥ {100 * _SHARE:g} %){tried_only}",
                       found[0] > 0.0 and found[1] >= _SHARE * found[0])  # fmt: skip


def _start(several: Population, seed: int) -> StrikeStart:
    """These replicas at their strike, and what the first of them does undisturbed."""
    states = several.states
    before, steps = several.qpos[0, :2].copy(), several.rows[0].report[0].steps
    several.run(PUSH_AFTER)
    period = 2.0 * PUSH_AFTER / max(several.rows[0].report[0].steps - steps, 1.0)
    shifts = [seeded_generator(seed, "soft push", i).uniform(-PHASE, PHASE) * period for i in range(REPLICAS)]
    return StrikeStart(states, period, np.array(shifts), float(np.hypot(*(several.qpos[0, :2] - before))) / PUSH_AFTER)


def _survives(learner: Skill, start: StrikeStart, way: tuple[float, float]) -> Callable[[list[float]], list[int]]:
    """How many replicas survive a push of each of some levels [N]."""

    def survives(levels: list[float]) -> list[int]:
        cases = [((way[0] * force, way[1] * force), k) for force in levels for k in range(REPLICAS)]
        return [int(n) for n in push_survivors_3d(learner, start, cases).reshape(-1, REPLICAS).sum(axis=1)]

    return survives
