"""§4.4, "turning towards a desired direction": turns left and right, in place and while walking.

The pelvis has turned if from 10 s after the command to the end its yaw stays within 3° of the commanded heading. A turn
by 180° is told a twentieth of a degree short, so that it has a side.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import EVERY, measure_gait, smoothed, track_heading
from surefoot.lab.reproduce.genbicon.walks import FPS, replica_population

TURNS, SPEEDS = (45.0, 90.0, 180.0, -45.0, -90.0, -180.0), (0.0, 0.5, 1.0)  # [deg] to the left, [m/s]
WITHIN, BY, SECONDS = 3.0, 10.0, 20.0  # [deg], [s], [s]
_WALKS, _RECORDED = 10.0, 5.0  # [s] before the command; [s] after all, for slip and widths
_SHORT = math.radians(0.05)
_STRIDE = 1.2  # [s] over which the swing of the hips is averaged in what is shown


def run(result: Result, setting: Setting) -> None:
    """All turns at all speeds in one population."""
    turns, speeds = (TURNS[1::4], SPEEDS[1:2]) if setting.quick else (TURNS, SPEEDS)
    cases = [(turn, speed) for speed in speeds for turn in turns]
    population = replica_population([{"speed": speed} for _, speed in cases], setting.seed)
    replicas = population.n // len(cases)
    setting.progress("walking ahead", 0.05)
    population.run(4.0 if setting.quick else _WALKS, stop_fallen=True)
    wanted = np.repeat([told(turn) for turn, _ in cases], replicas)
    for i, heading in enumerate(wanted):
        population.command([i], heading=float(heading))
    setting.progress("turning", 0.3)
    yaws, _ = track_heading(population, SECONDS)
    off = np.degrees(np.abs(np.angle(np.exp(1j * (yaws - wanted)))))  # (looks, n)
    late = late_error(off)
    mean = smoothed(np.degrees(np.angle(np.exp(1j * (yaws - wanted)))), _STRIDE)[round(BY / EVERY) :]
    good = holds(late, population.fallen_at)
    for i in range(population.n):
        turn, speed = cases[i // replicas]
        result.runs.append({
            "turn": turn, "speed": speed, "replica": i % replicas, "fallen_at": population.fallen_at[i],
            "off_deg": late[i], "mean_off_deg": np.abs(mean[:, i]).max(), "reached_at": reached(off[:, i]),
            "peak_torque": float(population.rows[i].report[0].peak_torque),
        })  # fmt: skip
    for c, (turn, speed) in enumerate(cases):
        rows = slice(c * replicas, (c + 1) * replicas)
        standing = int(np.isinf(population.fallen_at[rows]).sum())
        result.add_row(f"{abs(turn):g}° to the {'left' if turn > 0 else 'right'} at {speed:g} m/s", "turns",
                       f"{late[rows].max():.1f}° off from {BY:g} s on, {standing} of {replicas} upright",
                       f"largest of the pelvis' yaw (≤ {WITHIN:g}°), replicas", bool(good[rows].all()))  # fmt: skip
    result.add_note("stays within 3° from", f"{max(reached(off[:, i]) for i in range(population.n)):.1f} s",
                    "the latest")  # fmt: skip
    result.add_note("off on average over a stride", f"{np.abs(mean).max():.1f}°", f"the farthest from {BY:g} s on")
    plot = figures.plot(3.2 * len(speeds) + 0.6, 3.2, 1, len(speeds), sharey=True)
    plot(_draw)(setting.figure_path(result.experiment, "turns.png"), cases, yaws[:, ::replicas])
    setting.progress("measuring", 0.9)
    _quality(result, population)


def told(turn: float) -> float:
    """The heading that is told for a turn [rad]."""
    heading = math.radians(turn)
    return math.copysign(min(abs(heading), math.pi - _SHORT), heading)


def late_error(off: np.ndarray) -> np.ndarray:
    """(n,) largest of (looks, n) errors from `BY` on."""
    return np.asarray(off[round(BY / EVERY) - 1 :].max(axis=0))


def holds(late: np.ndarray, fallen_at: np.ndarray) -> np.ndarray:
    """(n,) which rows have turned and not fallen."""
    return np.asarray((late <= WITHIN) & np.isinf(fallen_at))


def reached(off: np.ndarray) -> float:
    """Time from which an error [deg] stays within the bar [s]; inf if it does not at the end."""
    outside = np.flatnonzero(off > WITHIN)
    if len(outside) and outside[-1] == len(off) - 1:
        return math.inf
    return EVERY * (outside[-1] + 2) if len(outside) else 0.0


def _quality(result: Result, population: Population) -> None:
    motions = population.run(_RECORDED, fps=FPS, stop_fallen=True)
    gaits = [measure_gait(m) for m, fell in zip(motions, population.fallen_at, strict=True) if np.isinf(fell)]
    torque = max(float(row.report[0].peak_torque) for row in population.rows)
    result.add_note("peak torque", f"{torque:.0f}", "N·m")
    if gaits:
        result.add_note("slip after the turn", f"{max(g.slip for g in gaits):.3f}", "m per m, or per s in place")
        result.add_note("step width after the turn", f"{100 * min(g.step_width for g in gaits):.0f}",
                        "cm, the narrowest")  # fmt: skip


def _draw(panels: np.ndarray, cases: list[tuple[float, float]], yaws: np.ndarray) -> None:
    time = EVERY * np.arange(1, len(yaws) + 1)
    for axes, speed in zip(np.atleast_1d(panels), sorted({speed for _, speed in cases}), strict=True):
        for (turn, at), yaw in zip(cases, yaws.T, strict=True):
            if at == speed:
                axes.axhline(turn, color="0.8", linewidth=0.8)
                axes.plot(time, np.degrees(yaw), linewidth=0.9)
        axes.set(xlabel="time after the command [s]", ylabel="yaw of the pelvis [°]", title=f"{speed:g} m/s")
