"""Figure 6: a commanded speed kept on the flat, up and down slopes, under impulses, pulling and pushing.

The paper prints no angles and forces: slopes are 10°, impulses 40 N·s along and against the walk every 5 s, the lasting
forces 60 N at the trunk's COM. What pulls is told to the controller (equation 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, WALK

SECONDS, SETTLED, ERROR = 40.0, 10.0, 0.1  # [s], [s], share of the command
SLOPE, IMPULSE, FORCE = 10.0, 40.0, 60.0  # [°], [N·s], [N]
_FPS = 50.0


@dataclass(frozen=True)
class Panel:
    """One of the figure's panels: what it is told at which times [s], where it walks, what acts on it."""

    name: str
    commands: tuple[tuple[float, float], ...] = ((0.0, 0.6),)  # (time, speed)
    terrain: str = "flat"
    impulses: tuple[float, ...] = ()  # [N·s] along x, every 5 s
    force: float = 0.0  # [N] along x
    told: dict[str, float] = field(default_factory=dict)


PANELS = (
    Panel("(a) speeding up and slowing down", ((0.0, 0.4), (14.0, 0.9), (28.0, 0.5))),
    Panel("(b) up a slope", ((0.0, 0.5),), f"slope:{SLOPE:g},3"),
    Panel("(c) down a slope", ((0.0, 0.5),), f"slope:-{SLOPE:g},3"),
    Panel("(d) pushed forwards", impulses=(IMPULSE,)),
    Panel("(e) pushed backwards", impulses=(-IMPULSE,)),
    Panel("(f) pulling", force=-FORCE, told={"pull": FORCE}),
    Panel("(g) pushing", force=FORCE, told={"pull": -FORCE}),
)


def run(result: Result, setting: Setting) -> None:
    """Walk all panels and draw them."""
    seconds = 15.0 if setting.quick else SECONDS
    drawn = []
    for i, panel in enumerate(PANELS):
        setting.progress(panel.name, i / len(PANELS))
        time, speed, wanted, fallen = walked(panel, seconds, setting.seed)
        judged = _stretches(panel, seconds, 5.0 if setting.quick else SETTLED)
        means = [(float(speed[(time >= a) & (time < b)].mean()), v) for a, b, v in judged]
        worst = max(means, key=lambda m: abs(m[0] / m[1] - 1.0))
        ours = "fell" if fallen else ", ".join(f"{mean:.2f} of {v:g}" for mean, v in means)
        holds = not fallen and abs(worst[0] / worst[1] - 1.0) <= ERROR
        result.add_row(panel.name, "keeps its speed", ours, f"m/s (within {100 * ERROR:g} %)", holds)
        drawn.append((panel.name, time, speed, wanted))
        result.runs.append({"panel": panel.name, "fell": int(fallen), "worst": worst[0], "commanded": worst[1]})
    _draw(setting.figure_path(result.experiment, "figure-6.png"), drawn)


@figures.plot(8, 10, len(PANELS))
def _draw(panels: Sequence[figures.Axes], drawn: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]) -> None:
    for axes, (name, time, speed, wanted) in zip(panels, drawn, strict=True):
        axes.plot(time, speed, linewidth=0.6)
        axes.plot(time, wanted, "k--", linewidth=0.8)
        axes.set_title(name, fontsize=7, loc="left")
        axes.set_ylabel("m/s", fontsize=7)


def _stretches(panel: Panel, seconds: float, settled: float) -> list[tuple[float, float, float]]:
    """Times [s] between which a commanded speed is judged: after it has settled."""
    times = [t for t, _ in panel.commands if t < seconds] + [seconds]
    found = []
    for (begin, speed), end in zip(panel.commands, times[1:], strict=False):
        if end - begin > settled:
            found.append((begin + settled, end, speed))
    return found


def walked(panel: Panel, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Times, speeds of the COM along x, commanded speeds, and whether it fell."""
    sim = Simulation(CHARACTER, WALK, panel.terrain, seed=seed)
    sim.command(speed=panel.commands[0][1], **panel.told)
    if panel.force:
        sim.push((panel.force, 0.0, 0.0), duration=seconds + 10.0, delay=0.5)
    time, speed, wanted, given = [], [], [], 0
    for k in range(round(seconds * _FPS)):
        now = k / _FPS
        if given + 1 < len(panel.commands) and now >= panel.commands[given + 1][0]:
            given += 1
            sim.command(speed=panel.commands[given][1])
        if panel.impulses and k > 0 and k % round(5.0 * _FPS) == 0:
            sim.push((panel.impulses[0] / 0.1, 0.0, 0.0), duration=0.1)
        before = float(sim.memory.com[0])
        sim.step(round(1.0 / _FPS / sim.model.opt.timestep))
        time.append(now)
        speed.append((float(sim.memory.com[0]) - before) * _FPS)
        wanted.append(panel.commands[given][1])
    return np.array(time), np.array(speed), np.array(wanted), sim.fallen
