"""Figure 16: commanded speeds from rest, RV_d = RV_d* + K (v_d − v); accelerating and braking.

A speed is tracked if no replica falls and each goes at it on average from 15 s on.
"""

from __future__ import annotations

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import REPLICAS, Marches, march, march_population
from surefoot.motions.motion import Motion

SPEEDS, BARRED = (-0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.0, 0.5)  # [m/s]
SECONDS, SETTLED, SHARE, LEAST = 40.0, 15.0, 0.10, 0.05  # [s], [s], of the speed, [m/s]
PROFILE = ((0.0, 8.0), (0.4, 12.0), (0.1, 12.0), (0.3, 10.0))  # [m/s] for [s]: accelerating and braking


def run(result: Result, setting: Setting) -> None:
    """All speeds at once, then a profile of them."""
    speeds = (0.0, 0.3) if setting.quick else SPEEDS
    seconds, settled = (14.0, 8.0) if setting.quick else (SECONDS, SETTLED)
    setting.progress("speeds", 0.05)
    wide = march({"speed.range.0": -0.5, "speed.range.1": 1.0})  # what is out of reach shall show, not be clamped
    population = march_population([wide] * len(speeds), setting.seed, "speed", commands=[{"speed": v} for v in speeds])
    population.run(settled, stop_fallen=True)
    before = population.qpos[:, 0].copy()
    walks = Marches(population, seconds - settled)
    ahead = (population.qpos[:, 0] - before) / (seconds - settled)
    reached = []
    for i, speed in enumerate(speeds):
        room, went = max(SHARE * abs(speed), LEAST), ahead[REPLICAS * i :][:REPLICAS]
        worst = float(went[np.abs(went - speed).argmax()])
        holds = walks.are_fair(i) and abs(worst - speed) <= room
        reached += [speed] if holds else []
        walks.record(result, f"{speed:g} m/s", i)
        text = f"{worst:.2f} m/s, {walks.upright(i)}"
        if BARRED[0] <= speed <= BARRED[1]:
            result.add_row(f"commanded {speed:g} m/s", "tracked", text, f"farthest mean (± {room:.2f})", holds)
        else:
            result.add_note(f"commanded {speed:g} m/s", text + (", tracked" if holds else ", not tracked"))
        result.add_note(f"commanded {speed:g} m/s: how it walks", walks.quality(i))
    result.add_note("whole range tracked", f"{min(reached):g} … {max(reached):g}" if reached else "none", "m/s",
                "near stationary (RV 0.25) to fastest (RV 0.30)")  # fmt: skip
    setting.progress("accelerating and braking", 0.8)
    _profile(result, setting)


def _profile(result: Result, setting: Setting) -> None:
    sim, parts = Simulation(skill=march(), seed=setting.seed), []
    for speed, seconds in PROFILE[:2] if setting.quick else PROFILE:
        sim.command(speed=speed)
        parts.append((speed, sim.run(seconds, fps=50.0)))
    ends = [f"{speed:g} → {_speed(motion, 4.0):.2f}" for speed, motion in parts]
    fell = f", fell at {sim.fallen_at:.1f} s" if sim.fallen else ""
    result.add_note("accelerating and braking from rest", ", ".join(ends) + fell, "m/s, mean of the last 4 s of each")
    _draw(setting.figure_path(result.experiment, "speed.png"), parts)


def _speed(motion: Motion, last: float) -> float:
    late = motion.time >= motion.time[-1] - last
    x, time = motion.root_position[late, 0], motion.time[late]
    return float((x[-1] - x[0]) / (time[-1] - time[0]))


@figures.plot(7, 4)
def _draw(axes: figures.Axes, parts: list[tuple[float, Motion]]) -> None:
    for speed, motion in parts:
        width = 57  # frames of two steps, over which the swaying is averaged
        if len(motion) > 2 * width:
            v = (motion.root_position[width:, 0] - motion.root_position[:-width, 0]) / (
                motion.time[width:] - motion.time[:-width]
            )
            axes.plot(motion.time[width:], v, "C0", linewidth=0.8)
        axes.plot(motion.time[[0, -1]], [speed, speed], "0.6", linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="speed [m/s], commanded grey")
