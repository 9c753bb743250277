"""§7.2, "Parameterization": what the walk of Table 1 can be told while it walks, and how well it obeys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import EVERY, measure_gait, smoothed, track_heading
from surefoot.lab.replicas import SETTLE, replicas_on_cycle, step_period
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, skill
from surefoot.skills.schema import Skill

_SIDEWAYS = np.linspace(-0.1, 0.1, 9)  # [rad]
_DIAGONAL = ((0.6, 0.08), (0.6, -0.08))  # [m/s], [rad]
_SIDEWAYS_AT_LEAST = 0.03  # [m/s] across the heading that counts as diagonal
_WIDTHS = (-0.04, 0.0, 0.04, 0.08, 0.12)  # [rad]
_SPEEDS, _SPEED_ERROR = (0.0, 0.3, 0.6, 0.9, 1.2), 0.1  # [m/s]
_TURN, _TURN_SECONDS, _TURN_ERROR = (0.9, math.pi / 12.0), 48.0, 3.0  # [rad], [rad/s]; [s]; [deg] rms


def told(commands: Sequence[Mapping[str, float]], settle: float, seconds: float) -> tuple[np.ndarray, Population]:
    """(n, 2) mean velocities [m/s] of the walk told each of some things, over `seconds` after `settle`."""
    walk = skill("walk", "human")
    population = Population(len(commands), skill=[walk] * len(commands))
    for row, values in zip(population.rows, commands, strict=True):
        population.scene.command(row, walk, values)
    population.run(settle, stop_fallen=True)
    before = population.qpos[:, :2].copy()
    population.run(seconds, stop_fallen=True)
    return (population.qpos[:, :2] - before) / seconds, population


def sideways(result: Result, setting: Setting) -> None:
    """Command against measured sideways speed, and both ways at once: diagonally."""
    seconds = 5.0 if setting.quick else 20.0
    commands = [{"sideways": float(s)} for s in _SIDEWAYS]
    both = [{"speed": v, "sideways": s} for v, s in _DIAGONAL]
    velocities, population = told([*commands, *both], SETTLE, seconds)
    going = np.isinf(population.fallen_at)
    across = velocities[: len(_SIDEWAYS), 1]
    told_way = np.abs(_SIDEWAYS) > 1e-9
    follows = bool((np.diff(across) > 0.0).all() and (across * _SIDEWAYS > 0.0)[told_way].all())
    result.add_row(
        "lateral: sideways −0.1 … 0.1 rad", "walks sideways", f"{across[0]:.2f} … {across[-1]:.2f} m/s to the left, "
        + ("in the order of the commands" if follows else "not in the order of the commands"),
        "rising, of the command's sign", follows and bool(going[: len(_SIDEWAYS)].all()),
    )  # fmt: skip
    for command, velocity in zip(commands + both, velocities, strict=True):
        result.runs.append({"case": "sideways"} | command | {"ahead": velocity[0], "left": velocity[1]})
    ahead, left = velocities[len(_SIDEWAYS) :].T
    wanted = np.array(_DIAGONAL)
    good = (np.abs(ahead - wanted[:, 0]) <= _SPEED_ERROR) & (left * np.sign(wanted[:, 1]) >= _SIDEWAYS_AT_LEAST)
    ours = ", ".join(f"{a:.2f} ahead and {b:+.2f} to the left" for a, b in zip(ahead, left, strict=True))
    result.add_row(
        "diagonal: 0.6 m/s and sideways ± 0.08 rad", "walks diagonally", ours,
        f"m/s (± {_SPEED_ERROR:g} ahead, ≥ {_SIDEWAYS_AT_LEAST:g} across)",
        bool(good.all() and going[len(_SIDEWAYS) :].all()),
    )  # fmt: skip


def width(result: Result, setting: Setting) -> None:
    """Command against measured width of the steps."""
    _, population = told([{"width": w} for w in _WIDTHS], SETTLE, 2.0)
    motions = population.run(3.0 if setting.quick else 10.0, fps=200)
    found = [measure_gait(m).step_width for m in motions]
    for command, value in zip(_WIDTHS, found, strict=True):
        result.runs.append({"case": "width", "width": command, "step_width": value})
    result.add_row(
        f"width: {_WIDTHS[0]:g} … {_WIDTHS[-1]:g} rad", "altered stance width",
        ", ".join(f"{100 * value:.1f}" for value in found), "cm between the feet, rising",
        bool((np.diff(found) > 0.0).all() and np.isinf(population.fallen_at).all()),
    )  # fmt: skip


def speed(result: Result, setting: Setting) -> None:
    """Command against measured speed."""
    speeds = _SPEEDS[1::2] if setting.quick else _SPEEDS
    settle, seconds = (10.0, 4.0) if setting.quick else (25.0, 15.0)
    velocities, population = told([{"speed": v} for v in speeds], settle, seconds)
    ahead = velocities[:, 0]
    good = bool((np.abs(ahead - speeds) <= _SPEED_ERROR).all() and np.isinf(population.fallen_at).all())
    for command, velocity in zip(speeds, ahead, strict=True):
        result.runs.append({"case": "speed", "speed": command, "ahead": velocity})
    result.add_row(
        f"speed: {', '.join(f'{v:g}' for v in speeds)} m/s", "", ", ".join(f"{v:.2f}" for v in ahead),
        f"m/s (error ≤ {_SPEED_ERROR:g})", good,
    )  # fmt: skip


def turning(result: Result, setting: Setting) -> None:
    """The walk of Table 1 turns as in figure 9a."""
    turn(result, setting, skill("walk", "human"), _TURN_ERROR)


def turn(result: Result, setting: Setting, walk: Skill, bar: float) -> None:
    """Figure 9a: the facing direction 0.9 sin(π t / 12), told every 0.05 s; `bar` is for its error [deg]."""
    seconds = 6.0 if setting.quick else _TURN_SECONDS
    population = Population(REPLICAS, skill=[walk] * REPLICAS)
    population.restore(replicas_on_cycle(walk, REPLICAS, setting.seed))
    begin = population.qpos[0, :2].copy()

    def tell(time: float) -> None:
        heading = _TURN[0] * math.sin(_TURN[1] * time)
        for row in population.rows:
            population.scene.command(row, walk, {"heading": heading})

    yaws, places = track_heading(population, seconds, tell)
    wanted = _TURN[0] * np.sin(_TURN[1] * EVERY * np.arange(1, len(yaws) + 1))
    stride = 2.0 * step_period(walk)
    errors = np.degrees(smoothed(yaws, stride) - smoothed(wanted[:, None], stride))
    rms = np.sqrt((errors**2).mean(axis=0))
    kept = int(np.isinf(population.fallen_at).sum())
    for k, error in enumerate(rms):
        result.runs.append({"case": "turning", "replica": k, "rms_deg": error})
    result.add_row(
        f"{walk.name} turning by 0.9 sin(π t / 12) rad for {seconds:g} s", "figure 9a",
        f"{rms.max():.2f}° in the worst of {REPLICAS} replicas, {kept} of {REPLICAS} walk",
        f"rms of the pelvis' yaw, averaged over a stride, from the command (≤ {bar:g}°)",
        kept == REPLICAS and float(rms.max()) <= bar,
    )  # fmt: skip
    path = setting.figure_path(result.experiment, "turning.png")
    if path:
        _draw(path, wanted, yaws[:, 0], places[:, 0] - begin)


def _draw(path: Path, wanted: np.ndarray, yaw: np.ndarray, places: np.ndarray) -> None:
    figure = figures.new_figure(9, 3.2)
    one, other = figure.subplots(1, 2)
    time = EVERY * np.arange(1, len(wanted) + 1)
    one.plot(time, np.degrees(wanted), "0.6", label="commanded")
    one.plot(time, np.degrees(yaw), "C0", linewidth=0.8, label="pelvis")
    one.set(xlabel="time [s]", ylabel="yaw [°]")
    one.legend(frameon=False, fontsize=8)
    other.plot(places[:, 0], places[:, 1], "C0", linewidth=0.8)
    other.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="path of the pelvis")
    figures.save(figure, path)
