"""Figures 13 to 15: the limit cycle of the regulation variables, and the paths that other targets lead to."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import root_yaw
from surefoot.lab.learned_step_model import begun_steps, cycle_records
from surefoot.lab.reproduce.limit_cycle.combinations import FREE
from surefoot.lab.reproduce.limit_cycle.marches import begun, march
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion

SECONDS, START_UP, WITHIN = 60.0, 12, 0.02  # [s], steps, of the target
UP_TARGETS, COM_TARGETS = (0.31, 0.32, 0.33, 0.34, 0.35), (0.0, 0.005, 0.01, 0.015, 0.02)
_UNTWISTED = {"twist.gain": 0.0}  # the paper's walks of these figures hold no heading


def run(result: Result, setting: Setting) -> None:
    """The march's own cycle, then paths by target."""
    seconds = 12.0 if setting.quick else SECONDS
    setting.progress("limit cycle", 0.05)
    population = begun([march()], setting.seed, "cycle")
    cycles, missed = cycle_records(population), []
    for i in begun_steps(population, seconds):
        c = cycles[i]
        missed.append((i, float(population.rows[i].report[0].steps), float(c.forward), float(c.lateral)))
    target = march().parameters.regulation
    late = np.array([(f - target.forward, side - target.lateral) for _, n, f, side in missed if n > START_UP])
    fell = np.isfinite(population.fallen_at).any() or not len(late)
    for k, name in enumerate(("forward", "lateral")):
        worst = np.inf if fell else float(np.abs(late[:, k]).max())
        result.add_row(
            f"{name} at step ends, target {getattr(target, name):g}, after {START_UP} steps", "onto a limit cycle",
            f"{worst:.3f} off at most", f"of {len(late)} steps of all replicas (≤ {WITHIN:g})", worst <= WITHIN,
        )  # fmt: skip
    result.runs += [{"replica": i, "step": n, "forward": f, "lateral": side} for i, n, f, side in missed]
    sim = Simulation(skill=march(), seed=setting.seed)
    _draw_cycle(setting.figure_path(result.experiment, "cycle.png"), sim.run(seconds / 2, fps=200.0))
    for label, targets, changes in (
        ("up-vector", UP_TARGETS, {}),
        ("swing-COM", COM_TARGETS, FREE["swing hip, swing-COM"]),
    ):
        setting.progress(f"paths of the {label}", 0.4)
        skills = [march({**_UNTWISTED, **changes, "regulation.forward": t}) for t in targets]
        walks = begun(skills, setting.seed, f"paths {label}", replicas=1)
        motions = walks.run(seconds, fps=20.0, stop_fallen=True)
        for t, motion, fallen in zip(targets, motions, walks.fallen_at, strict=True):
            way = motion.root_position[-1, :2] - motion.root_position[0, :2]
            went = float(np.hypot(*way)) / seconds
            turned = np.degrees(np.ptp(np.unwrap(root_yaw(motion))))
            text = f"fell at {fallen:.1f} s" if np.isfinite(fallen) else f"{went:.2f} m/s, turns by {turned:.0f}°"
            result.add_note(f"{label}, forward target {t:g}", text, f"over {seconds:g} s")
        _draw_paths(setting.figure_path(result.experiment, f"paths-{label}.png"), targets, motions)


def _draw_cycle(path: Path | None, motion: Motion) -> None:
    """Figure 13: the up-vector's projection on the ground, seen along the pelvis' heading."""
    if path is None:
        return
    up = quat.rotate(motion.rotations[:, 0], np.array([0.0, 0.0, 1.0]))
    yaw = root_yaw(motion)
    forward, left = up[:, 0] * np.cos(yaw) + up[:, 1] * np.sin(yaw), up[:, 1] * np.cos(yaw) - up[:, 0] * np.sin(yaw)
    figure = figures.new_figure(5, 5)
    axes = figure.add_subplot()
    half = len(forward) // 2
    axes.plot(left[:half], forward[:half], "0.75", linewidth=0.6, label="start-up")
    axes.plot(left[half:], forward[half:], "C0", linewidth=0.6, label="later")
    axes.set(xlabel="lateral (left)", ylabel="forward", aspect="equal")
    axes.legend(frameon=False)
    figures.save(figure, path)


def _draw_paths(path: Path | None, targets: tuple[float, ...], motions: list[Motion]) -> None:
    """Figures 14 and 15: paths of the pelvis from above."""
    if path is None:
        return
    figure = figures.new_figure(6, 5)
    axes = figure.add_subplot()
    for target, motion in zip(targets, motions, strict=True):
        axes.plot(*motion.root_position[:, :2].T, linewidth=1.0, label=f"{target:g}")
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(frameon=False, title="forward target")
    figures.save(figure, path)
