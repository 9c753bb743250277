"""§5.2, figure 6: a walk recorded on level ground, followed uphill and downhill with the same parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reference_tracking import track_reference
from surefoot.motions import quaternions as quat
from surefoot.skills import load

SKILL = "human/stylized-walk"
PLAIN = {"SIMBICON, which was recorded": "human/robust-walk", "SIMBICON, tuned for level ground": "human/walk"}
ANGLE, SECONDS, FROM = 5.0, 60.0, 1.5  # [°], [s], [m] on the level before


def ground(degrees: float) -> str:
    """Level ground, then an endless slope."""
    return f"slope:{degrees:g},{FROM:g}" if degrees else "flat"


def run(result: Result, setting: Setting) -> None:
    """Our limits either way, those of the walk that was recorded, and the up vector over the ground plane."""
    seconds, skill = (10.0 if setting.quick else SECONDS), load(SKILL)
    for degrees in (0.0, -ANGLE, ANGLE):
        setting.progress(f"{degrees:g}°", 0.3)
        one = track_reference(skill, seconds, ground(degrees))
        speed = one.path[0] / min(one.seconds, one.fallen_at)
        result.add_row(f"the walk at {degrees:+g}°", "holds", f"{one}, {speed:.2f} m/s", f"({seconds:g} s)", one.stays_up)
    for way in (-1.0, 1.0):
        setting.progress("limits", 0.6)
        steep = _limit(lambda degrees: track_reference(skill, min(20.0, seconds), ground(degrees)).stays_up, way)
        result.add_note(f"steepest {'up' if way > 0 else 'down'}hill, 20 s", f"{steep:g}", "°")
        for name, plain in PLAIN.items():
            own = _limit(functools.partial(_plain, plain, min(20.0, seconds)), way)
            result.add_note(f"steepest {'up' if way > 0 else 'down'}hill of {name}, 20 s", f"{own:g}", "°",
                        "" if way > 0 else "2")  # fmt: skip
    _draw(setting.figure_path(result.experiment, "slopes.png"), min(20.0, seconds))


def _plain(name: str, seconds: float, degrees: float) -> bool:
    sim = Simulation(skill=name, terrain=ground(degrees))
    sim.run(seconds, fps=5.0)
    return not sim.fallen


def _limit(holds: Callable[[float], bool], way: float) -> float:
    """The steepest of 2, 4, … degrees at which it and all gentler ones hold."""
    best = 0.0
    for degrees in range(2, 13, 2):
        if not holds(way * degrees):
            break
        best = way * degrees
    return best


def _draw(path: Path | None, seconds: float) -> None:
    """Horizontal components of the root's up vector (figure 6)."""
    if path is None:
        return
    figure = figures.new_figure(8, 4)
    for axes, degrees in zip(figure.subplots(1, 2, sharey=True), (-ANGLE, ANGLE), strict=True):
        motion = Simulation(skill=SKILL, terrain=ground(degrees)).run(seconds)
        late = motion.time > 0.3 * seconds
        up = quat.rotate(motion.rotations[late, 0], np.tile([0.0, 0.0, 1.0], (int(late.sum()), 1)))
        axes.plot(up[:, 1], up[:, 0], linewidth=0.7)
        axes.set(xlabel="to the left", title=f"{degrees:+g}°")
    figure.axes[0].set(ylabel="forward")
    figures.save(figure, path)
