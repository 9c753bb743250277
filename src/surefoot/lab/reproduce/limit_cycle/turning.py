"""Figures 17 to 19: turning by hip twists, tighter with the torso servo; a path through six target points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import root_yaw
from surefoot.lab.reproduce.limit_cycle.marches import begun, march
from surefoot.lab.reproduce.limit_cycle.torso_servo import without_servo
from surefoot.motions.motion import Motion
from surefoot.tasks.follow_path import FollowPath
from surefoot.tasks.follow_path import Polyline as Way

TWISTS = (0.03, 0.06, 0.10, 0.15, 0.20, 0.25)  # [rad] of the hips, a step
SECONDS, SETTLED = 40.0, 10.0  # [s]
POINTS = ((2.0, 0.0), (4.0, 1.0), (5.0, 3.0), (4.0, 5.0), (2.0, 5.5), (0.5, 4.5))  # [m] six target points, figure 19
SPEED, OFF = 0.2, 0.5  # [m/s], [m] of the path


def run(result: Result, setting: Setting) -> None:
    """Radii by twist, then the path."""
    _radii(result, setting)
    setting.progress("six-point path", 0.6)
    sim = Simulation(skill=march(), seed=setting.seed)
    points = POINTS[:2] if setting.quick else POINTS
    task = sim.add(FollowPath(points, speed=SPEED, tolerance=0.35))
    parts, limit = [], task.timeout + 5.0
    while not task.is_over and not sim.fallen and sim.time < limit:
        parts.append(sim.run(0.5, fps=20.0))
        setting.progress("six-point path", 0.6 + 0.4 * min(1.0, task.reached / len(points)))
    way = Way(np.array([(0.0, 0.0), *points]))
    places = np.concatenate([m.com[:, :2] for m in parts])
    off = np.array([np.hypot(*(p - way.point_at(way.nearest(p, 0.0, float(way.arc_lengths[-1]))))) for p in places])
    result.row(
        f"path through {len(points)} target points", "follows the desired trajectory",
        f"{off.max():.2f} m off at most, {task.reached} of {len(points)} points: {task.reason or 'not done'}",
        f"m, of its COM (≤ {OFF:g})", bool(task.status == "done" and off.max() <= OFF),
    )  # fmt: skip
    result.show("points missed by", ", ".join(f"{m:.2f}" for m in task.missed), "m")
    _draw(setting.figure_path(result.experiment, "path.png"), way, places)


def _radii(result: Result, setting: Setting) -> None:
    """How tight turns are by the hips' twist, with and without the torso servo."""
    setting.progress("turning radii", 0.05)
    twists, seconds = (TWISTS[2:3], 16.0) if setting.quick else (TWISTS, SECONDS)
    tightest: dict[bool, float] = {True: np.inf, False: np.inf}  # [m]
    for servo in (True, False):
        commands = [{"turn": sign * twist} for twist in twists for sign in (1.0, -1.0)]
        walks = begun(
            [march() if servo else without_servo()] * len(commands),
            setting.seed,
            "turning",
            replicas=1,
            commands=commands,
        )
        walks.run(SETTLED if not setting.quick else 6.0, stop_fallen=True)
        motions = walks.run(seconds - SETTLED, fps=20.0, stop_fallen=True)
        for told, motion, fallen in zip(commands, motions, walks.fallen_at, strict=True):
            case = f"twist {told['turn']:+.2f} rad, {'with' if servo else 'without'} torso servo"
            if np.isfinite(fallen):
                result.show(case, f"fell at {fallen:.1f} s")
                continue
            rate, speed = _turn(motion)
            radius = abs(speed / rate) if rate else np.inf
            tightest[servo] = min(tightest[servo], radius)
            result.show(case, f"{rate:+.2f} rad/s at {speed:.2f} m/s: radius {radius:.2f} m")
            result.runs.append({"twist": told["turn"], "servo": servo, "rate": rate, "speed": speed})
    result.show(
        "tightest turn", f"{_metres(tightest[True])} with the torso servo, {_metres(tightest[False])} without", "",
        "tighter with torso servo",
    )  # fmt: skip


def _metres(radius: float) -> str:
    return f"radius {radius:.2f} m" if np.isfinite(radius) else "none stays upright"


def _turn(motion: Motion) -> tuple[float, float]:
    """Mean yaw rate [rad/s] and mean speed along the path [m/s] of a motion."""
    took = float(motion.time[-1] - motion.time[0])
    yaw = np.unwrap(root_yaw(motion))
    stride = 23  # frames of two steps
    legs = (
        motion.root_position[stride::stride, :2]
        - motion.root_position[:-stride:stride, :2][: len(motion.time[stride::stride])]
    )
    return float(yaw[-1] - yaw[0]) / took, float(np.hypot(*legs.T).sum()) / took


def _draw(path: Path | None, way: Way, places: np.ndarray) -> None:
    if path is None:
        return
    figure = figures.new_figure(6, 5.5)
    axes = figure.add_subplot()
    axes.plot(*way.points.T, "o-", color="0.7", label="target points")
    axes.plot(*places.T, "C0", linewidth=1.0, label="centre of mass")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(frameon=False)
    figures.save(figure, path)
