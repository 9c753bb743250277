"""§4.4, "Generalization across gait parameters": speeds, stepping rates, steps aside, stopping and starting.

A speed is kept if no replica falls and each goes at the commanded speed on average from 15 s on. A stop is one if the
body then stands for three seconds without a step, both feet loaded, its COM still and its joints calm; a start if it
goes at the speed again.
"""

from __future__ import annotations

import numpy as np

from surefoot.controllers.genbicon.memory import STAND
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.genbicon import walks as walking
from surefoot.motions.foot_contacts import LOADED_FORCE
from surefoot.motions.motion import Motion

SPEEDS = tuple(round(-0.8 + 0.2 * k, 1) for k in range(14))  # [m/s]
STEP_TIMES, AT_SPEED, TIME_ERROR = (0.4, 0.5, 0.6, 0.7, 0.8), 0.6, 0.10  # [s], [m/s], share
SIDEWAYS, SIDEWAYS_ERROR = (0.12, -0.12, 0.3), 0.1  # [m/s] on the spot, share
SECONDS = 60.0
_WALKS, _STOPS, _STANDS, _STARTS, _REACHED = 10.0, 7.0, 3.0, 10.0, 5.0  # [s] the parts of stopping and starting
_STILL, _CALM = 0.05, 0.1  # [m/s] of the COM, [rad/s] rms of all joints, of a body that stands quietly
_PAPER = "−0.6 … 1.7 m/s"


def run(result: Result, setting: Setting) -> None:
    """Speeds, then stepping rates, then steps aside, then stops and starts."""
    speeds = (-0.4, 0.6) if setting.quick else SPEEDS
    setting.progress("speeds", 0.02)
    groups = _walks(setting, [{"speed": v} for v in speeds])
    for speed, walks in zip(speeds, groups, strict=True):
        _note(result, "speed", speed, walks)
        worst = walking.farthest((w.speed for w in walks), speed)
        result.add_row(f"commanded {speed:g} m/s", _PAPER, f"{worst:.2f} m/s, {walking.upright(walks)}",
                       f"farthest mean (± {walking.SPEED_ERROR:g}), replicas",
                       all(w.keeps(speed) for w in walks))  # fmt: skip
        result.add_note(f"commanded {speed:g} m/s: how it walks", walking.quality(walks))
    _draw(setting.figure_path(result.experiment, "speeds.png"), speeds, groups)
    setting.progress("stepping rates", 0.45)
    times = STEP_TIMES[::4] if setting.quick else STEP_TIMES
    groups = _walks(setting, [{"speed": AT_SPEED, "step_time": t} for t in times])
    for time, walks in zip(times, groups, strict=True):
        _note(result, "step_time", time, walks)
        worst = walking.farthest((w.step_time for w in walks), time)
        result.add_row(f"commanded steps of {time:g} s at {AT_SPEED:g} m/s", "stepping frequencies",
                       f"{worst:.3f} s, {walking.upright(walks)}",
                       f"farthest mean (± {100 * TIME_ERROR:g} %), replicas",
                       all(keeps_time(w, time) for w in walks))  # fmt: skip
        result.add_note(f"commanded steps of {time:g} s: how it walks", walking.quality(walks))
    setting.progress("steps aside", 0.62)
    _aside(result, setting)
    setting.progress("stops and starts", 0.65)
    _stops(result, setting, speeds)


def _aside(result: Result, setting: Setting) -> None:
    """Steps to either side on the spot."""
    sideways = SIDEWAYS[:1] if setting.quick else SIDEWAYS
    population = walking.replica_population([{"speed": 0.0, "sideways": v} for v in sideways], setting.seed)
    seconds, settled = (9.0, 5.0) if setting.quick else (SECONDS, walking.SETTLED)
    population.run(settled, stop_fallen=True)
    before = population.qpos[:, 1].copy()
    walks, _ = walking.run_and_measure(population, seconds - settled, 0.0)
    left = (population.qpos[:, 1] - before) / (seconds - settled)
    for k, (wanted, own) in enumerate(zip(sideways, walking.grouped(walks), strict=True)):
        reached = left[k * len(own) : (k + 1) * len(own)]
        result.runs += [
            {"case": "aside", "sideways": wanted, "replica": i, "aside": float(reached[i])} | walk.record()
            for i, walk in enumerate(own)
        ]
        kept = np.abs(reached - wanted) <= SIDEWAYS_ERROR * abs(wanted)
        result.add_row(f"commanded {abs(wanted):g} m/s to the {'left' if wanted > 0.0 else 'right'} on the spot", "",
                       f"{abs(walking.farthest(reached.tolist(), wanted)):.3f} m/s, {walking.upright(own)}",
                       f"farthest mean (± {100 * SIDEWAYS_ERROR:g} %), replicas",
                       bool(kept.all()) and all(w.is_valid_gait for w in own))  # fmt: skip


def keeps_time(walk: walking.Walk, wanted: float) -> bool:
    """Whether a walk's steps take the wanted time [s]."""
    return walk.is_valid_gait and abs(walk.step_time - wanted) <= TIME_ERROR * wanted


def _walks(setting: Setting, commands: list[dict[str, float]]) -> list[list[walking.Walk]]:
    seconds, settled = (9.0, 5.0) if setting.quick else (SECONDS, walking.SETTLED)
    return walking.grouped(
        walking.run_and_measure(walking.replica_population(commands, setting.seed), seconds, settled)[0]
    )


def _note(result: Result, what: str, value: float, walks: list[walking.Walk]) -> None:
    result.runs += [{"case": what, what: value, "replica": k} | walk.record() for k, walk in enumerate(walks)]


def _stops(result: Result, setting: Setting, speeds: tuple[float, ...]) -> None:
    """Stop and start from every speed."""
    population = walking.replica_population([{"speed": v} for v in speeds], setting.seed)
    wanted, shorter = np.repeat(speeds, population.n // len(speeds)), 0.6 if setting.quick else 1.0
    population.run(shorter * _WALKS, stop_fallen=True)
    population.command(stop=1.0)
    population.run(_STOPS, stop_fallen=True)
    stood = [stands(motion, _STANDS) for motion in population.run(_STANDS, fps=walking.FPS, stop_fallen=True)]
    population.command(stop=0.0)
    population.run(shorter * _STARTS, stop_fallen=True)
    before, steps = population.qpos[:, 0].copy(), population.reports["steps"].copy()
    population.run(_REACHED, stop_fallen=True)
    again = (population.qpos[:, 0] - before) / _REACHED
    stepped = population.reports["steps"] > steps
    good = stood & np.isinf(population.fallen_at) & stepped & (np.abs(again - wanted) <= walking.SPEED_ERROR)
    for i, speed in enumerate(wanted):
        result.runs.append({
            "case": "stop and start", "speed": speed, "replica": i % (population.n // len(speeds)),
            "fallen_at": population.fallen_at[i], "stood": int(stood[i]), "ahead": again[i],
            "peak_torque": float(population.rows[i].report[0].peak_torque),
        })  # fmt: skip
        if not good[i]:
            fell = f"fell at {population.fallen_at[i]:.1f} s"
            why = fell if np.isfinite(population.fallen_at[i]) else f"goes at {again[i]:.2f} m/s again"
            result.add_note(f"stop and start from {speed:g} m/s", why if stood[i] else f"does not stand quietly, {why}")
    kept = good.reshape(len(speeds), -1).all(axis=1)
    failed = ", ".join(f"{v:g}" for v, ok in zip(speeds, kept, strict=True) if not ok)
    result.add_row("stop and start from each speed", "stopping and starting",
                   f"{kept.sum()} of {len(speeds)} speeds" + (f", not from {failed} m/s" if failed else ""),
                   f"all replicas stand {_STANDS:g} s, then go at ± {walking.SPEED_ERROR:g} m/s",
                   bool(kept.all()))  # fmt: skip
    result.add_note("stood quietly", f"{int(np.sum(stood))} of {population.n}", "replicas")


def stands(motion: Motion, seconds: float) -> bool:
    """Whether a body stands quietly for some time from its first frame on: on both feet, COM and joints still."""
    if motion.time[-1] - motion.time[0] < seconds - 1.5 / walking.FPS:
        return False
    look = max(1, round(0.1 * walking.FPS))  # over which the COM's speed is taken
    moved = np.hypot(*(motion.com[look:, :2] - motion.com[:-look, :2]).T) / (motion.time[look:] - motion.time[:-look])
    loaded = motion.contact_force[:, :, 2] > LOADED_FORCE
    calm = bool(np.sqrt((motion.qvel[:, 6:] ** 2).mean(axis=1)).max() <= _CALM)
    return bool((motion.state == STAND).all() and loaded.all() and moved.max() <= _STILL) and calm


@figures.plot(5.5, 4.5)
def _draw(axes: figures.Axes, speeds: tuple[float, ...], groups: list[list[walking.Walk]]) -> None:
    axes.fill_between(
        speeds, np.subtract(speeds, walking.SPEED_ERROR), np.add(speeds, walking.SPEED_ERROR), color="0.9"
    )
    axes.plot(speeds, speeds, "0.6", linewidth=0.8, label=f"commanded ± {walking.SPEED_ERROR:g} m/s")
    for label, mark, upright_ones in (("walks on", "C0o", True), ("fell", "C3x", False)):
        points = [(v, w.speed) for v, walks in zip(speeds, groups, strict=True) for w in walks
                  if np.isinf(w.fallen_at) == upright_ones]  # fmt: skip
        if points:
            axes.plot(*np.array(points).T, mark, markersize=4, label=label)
    axes.set(xlabel="commanded speed [m/s]", ylabel="measured mean speed [m/s]")
    axes.legend(frameon=False, fontsize=8)
