"""§6, §7.1, figure 7: feedback-error learning calms the torso at unchanged gains."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import torso_pitch
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.motions.motion import Motion
from surefoot.skills import with_parameters

_SPEED = 1.0  # [m/s] commanded to both, so that the sway is compared at the same speed
_BINS = 100
_LEARNING, _JUDGED = 80.0, 10.0  # [s]
_LEAST_FALL = 0.8


def run(result: Result, setting: Setting) -> None:
    """The walk of Table 1 with and without learning, at a commanded speed and as it comes."""
    walk = skill("walk")
    learning = with_parameters(walk, {"learning.bins": _BINS})
    rows = [walk, learning, walk, learning]
    population = Population(len(rows), skill=rows)
    for row in population.rows[:2]:
        population.scene.command(row, walk, {"speed": _SPEED})
    setting.progress("learning", 0.1)
    population.run(10.0 if setting.quick else _LEARNING)
    before, after, free_before, free_after = population.run(_JUDGED, fps=500)
    upright = np.isinf(population.fallen_at)
    sway = [_sway(m) for m in (before, after)]
    speeds = [_speed(m) for m in (before, after)]
    feedback = [_rms(m) for m in (before, after)]
    result.add_row(
        "torso sway after learning", "5° → 0.5°", f"{sway[0]:.2f}° → {sway[1]:.2f}°", "half peak to peak (≤ 0.5°)",
        upright[1] and sway[1] <= 0.5,
    )  # fmt: skip
    fall = 1.0 - feedback[1] / feedback[0]
    result.add_row(
        "feedback torque", "figure 7", f"{feedback[0]:.1f} → {feedback[1]:.1f} N·m RMS, −{100 * fall:.0f} %",
        "fall ≥ 80 %", upright[1] and fall >= _LEAST_FALL,
    )  # fmt: skip
    change = abs(speeds[1] / speeds[0] - 1.0)
    result.add_row(
        "speed",
        "unchanged gains",
        f"{speeds[0]:.3f} → {speeds[1]:.3f} m/s",
        "within 5 %",
        upright[1] and change <= 0.05,
    )
    result.add_note(
        "the same without a speed command",
        f"sway {_sway(free_before):.2f}° → {_sway(free_after):.2f}°, feedback {_rms(free_before):.1f} → "
        f"{_rms(free_after):.1f} N·m RMS, {_speed(free_before):.2f} → {_speed(free_after):.2f} m/s",
    )
    for name, m in (("before", before), ("after", after), ("free before", free_before), ("free after", free_after)):
        result.runs.append({"case": name, "sway_deg": _sway(m), "feedback_rms": _rms(m), "speed": _speed(m)})
    path = setting.figure_path(result.experiment, "figure-7.png")
    if path:
        _figure(path, before, after)


def _sway(motion: Motion) -> float:
    return float(np.degrees(np.ptp(torso_pitch(motion))) / 2)


def _rms(motion: Motion) -> float:
    return float(np.sqrt((motion.feedback[:, 0] ** 2).mean()))


def _speed(motion: Motion) -> float:
    return float((motion.root_position[-1, 0] - motion.root_position[0, 0]) / (motion.time[-1] - motion.time[0]))


def _figure(path: Path, before: Motion, after: Motion) -> None:
    """Torques over two steps, from one exchange of legs on."""
    figure = figures.new_figure(7, 3.2)
    axes = figure.add_subplot()
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
    figures.save(figure, path)
