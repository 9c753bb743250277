"""§7.3: over which ranges of its balance gains the printed walk goes on, and where its period doubles.

One gain is changed in all states at a time, the others stay as printed, from the same start state, for 20 s. The
range is the contiguous stretch around the printed value. What period a gait has is read from the durations of its
last steps: mirrored, a symmetric walk repeats itself with every step (period 1), a limping one with every other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import step_durations
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.lab.robustness import StableRange, stable_range


@dataclass(frozen=True)
class Gain:
    """A gain of one plane: its name in a file, its printed value, the paper's range, and what is tried."""

    plane: str
    name: str
    printed: float
    paper: tuple[float, float]
    step: float
    below: int  # steps tried below the printed value, and above
    above: int

    def values(self, coarser: int = 1) -> np.ndarray:
        """The grid of values, the printed one among them."""
        counts = range(-(self.below // coarser), self.above // coarser + 1)
        return np.round([self.printed + self.step * coarser * k for k in counts], 4)

    @property
    def label(self) -> str:
        """As it is called in the paper."""
        return f"{self.name.removesuffix('_lateral')}, {self.plane}"


GAINS = (
    Gain("sagittal", "cd", 0.5, (-0.71, 1.4), 0.05, 36, 30),
    Gain("sagittal", "cv", 0.2, (0.03, 0.59), 0.02, 18, 32),
    Gain("coronal", "cd_lateral", 0.5, (-1.29, 1.13), 0.05, 46, 26),
    Gain("coronal", "cv_lateral", 0.2, (-0.06, 0.48), 0.02, 20, 26),
)
_SHARE = 0.8  # of the paper's width
_STEPS = 16  # last steps that are compared
_SAME = 0.005  # [s] steps that differ by less count as equal: five physics steps
_COARSER = 4  # than the ranges' grid: that of the maps, and of a quick look


def run(result: Result, setting: Setting) -> None:
    """The four ranges, then a map of each plane."""
    seconds = 8.0 if setting.quick else 20.0
    grids = [gain.values(_COARSER if setting.quick else 1) for gain in GAINS]
    setting.progress(f"walking with {sum(map(len, grids))} gains", 0.1)
    lasted, durations = _walk([(g.name, v) for g, grid in zip(GAINS, grids, strict=True) for v in grid], seconds)
    at, steps = 0, []
    for gain, grid in zip(GAINS, grids, strict=True):
        own = slice(at, at + len(grid))
        at += len(grid)
        walks = lasted[own] >= seconds
        steps.append([last if good else [] for last, good in zip(durations[own], walks, strict=True)])
        _bar(result, gain, stable_range(grid, walks, int(np.abs(grid - gain.printed).argmin())))
        _periods(result, gain, grid, walks, durations[own])
        for value, fell, last in zip(grid, lasted[own], durations[own], strict=True):
            kind = period(last) if fell >= seconds else ""
            result.runs.append({"gain": gain.name, "value": value, "lasted": fell, "period": kind})
    _draw_steps(result, setting, grids, steps)
    if not setting.quick:
        for i, plane in enumerate((GAINS[:2], GAINS[2:])):
            setting.progress(f"map of the {plane[0].plane} plane", 0.4 + 0.3 * i)
            _map(result, setting, *plane, seconds)


def _walk(changes: list[tuple[str, float]], seconds: float) -> tuple[np.ndarray, list[list[float]]]:
    """How long the walk goes on with each changed gain [s], and how long each of its last steps takes [s]."""
    walk = skill("walk", "human")
    values = np.array([[v if n == g.name else g.printed for g in GAINS] for n, v in changes])
    parameters = {
        f"states.{state}.{gain.name}": values[:, i]
        for i, gain in enumerate(GAINS)
        for state in range(len(walk.parameters.states))
    }
    population = Population(len(changes), skill=walk, parameters=parameters)
    watched = min(8.0, 0.5 * seconds)
    population.run(seconds - watched, stop_fallen=True)
    durations = step_durations(population, watched)
    return np.minimum(population.fallen_at, seconds), [steps[-_STEPS:] for steps in durations]


def period(durations: list[float]) -> str:
    """What repeats: every step, every other step, or neither within the time watched."""
    if len(durations) < 4:
        return "other"
    steps = np.array(durations)
    if np.ptp(steps) <= _SAME:
        return "1"
    return "2" if max(np.ptp(steps[0::2]), np.ptp(steps[1::2])) <= _SAME else "other"


def _bar(result: Result, gain: Gain, stretch: StableRange) -> None:
    low, high = gain.paper
    share = stretch.width / (high - low)
    result.add_row(
        f"stable range of {gain.label}", f"{low:g} … {high:g}", f"{stretch} = {100 * share:.0f} % as wide",
        f"(≥ {100 * _SHARE:g} %)", share >= _SHARE,
    )  # fmt: skip


def _periods(result: Result, gain: Gain, grid: np.ndarray, walks: np.ndarray, durations: list[list[float]]) -> None:
    """Show which period it has over which stretch of the gain."""
    kinds = [period(steps) if good else "falls" for good, steps in zip(walks, durations, strict=True)]
    shown = []
    for kind, group in groupby(zip(grid, kinds, strict=True), key=lambda pair: pair[1]):
        values = [value for value, _ in group]
        word = f"period {kind}" if kind in ("1", "2") else "no short period" if kind == "other" else kind
        shown.append(f"{word} {values[0]:g}" + (f" … {values[-1]:g}" if len(values) > 1 else ""))
    result.add_note(f"period of the gait over {gain.label}", "; ".join(shown))


def _map(result: Result, setting: Setting, position: Gain, velocity: Gain, seconds: float) -> None:
    """Every pair of the two gains of a plane."""
    cd, cv = position.values(_COARSER), velocity.values(_COARSER // 2)
    grid = np.array([(d, v) for v in cv for d in cd])
    parameters = {
        f"states.{state}.{gain.name}": grid[:, i] for i, gain in enumerate((position, velocity)) for state in (0, 1)
    }
    population = Population(len(grid), skill=skill("walk", "human"), parameters=parameters)
    population.run(seconds, stop_fallen=True)
    lasted = np.minimum(population.fallen_at, seconds)
    for (d, v), fell in zip(grid, lasted, strict=True):
        result.runs.append({"gain": f"map, {position.plane}", "cd": d, "cv": v, "lasted": fell})
    result.add_note(f"share of the {position.plane} map that walks", f"{100 * (lasted >= seconds).mean():.0f} %")
    path = setting.figure_path(result.experiment, f"map-{position.plane}.png")
    labels = (f"cd, {position.plane} plane", f"cv, {position.plane} plane")
    printed = (position.printed, velocity.printed)
    figures.gain_map(path, cd, cv, lasted.reshape(len(cv), len(cd)), printed, labels)


def _draw_steps(result: Result, setting: Setting, grids: list[np.ndarray], steps: list[list[list[float]]]) -> None:
    """The bifurcation diagram: durations of the last steps over each gain."""
    path = setting.figure_path(result.experiment, "step-durations.png")
    if path is None:
        return
    figure = figures.new_figure(8, 5.5)
    for i, (gain, grid, durations) in enumerate(zip(GAINS, grids, steps, strict=True)):
        axes = figure.add_subplot(2, 2, i + 1)
        for value, last in zip(grid, durations, strict=True):
            axes.plot([value] * len(last), last, ".", color="C0", markersize=2)
        for edge in gain.paper:
            axes.axvline(edge, color="0.6", linestyle="--", linewidth=0.8)
        axes.set(xlabel=gain.label, ylabel="duration of a step [s]")
    figures.save(figure, path)
