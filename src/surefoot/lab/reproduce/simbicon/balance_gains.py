"""§7.3: for which balance gains the printed walk goes on, in the plane and in space.

In the plane: a map over two gains. In space: one gain is changed in all states at a time, the others stay as printed,
from the same start state, for 20 s; the range is the contiguous stretch around the printed value. What period a gait
has is read from the durations of its last steps: mirrored, a symmetric walk repeats itself with every step (period 1),
a limping one with every other.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import step_durations
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.lab.robustness import StableRange, stable_range
from surefoot.skills.schema import Skill

_PRINTED = (2.2, 0.2)  # cd of states 1,3 and cv of states 0,2 in Table 1
_POSITION = np.round(np.arange(-1.0, 6.01, 0.4), 3)  # cd of states 1,3
_VELOCITY = np.round(np.arange(-0.2, 1.001, 0.05), 3)  # cv of states 0,2


def run_planar(result: Result, setting: Setting) -> None:
    """Walk from the start state with every pair of gains."""
    cd, cv = (_POSITION[::3], _VELOCITY[::3]) if setting.quick else (_POSITION, _VELOCITY)
    seconds = 10.0 if setting.quick else 20.0
    setting.progress(f"walking with {len(cd) * len(cv)} pairs of gains", 0.1)
    fallen_at = _swept(skill("walk"), {"states.1.cd": cd}, {"states.0.cv": cv}, seconds)
    lasted = np.minimum(fallen_at, seconds)
    walks = lasted >= seconds
    i, j = int(np.abs(cv - _PRINTED[1]).argmin()), int(np.abs(cd - _PRINTED[0]).argmin())
    near = walks[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
    inside = bool(walks[i, j]) and bool(near.all())
    judged = "" if (cd[j], cv[i]) == _PRINTED else f", judged at cd {cd[j]:g}, cv {cv[i]:g}"
    result.add_row(f"the printed gains (cd {_PRINTED[0]:g}, cv {_PRINTED[1]:g}) lie inside{judged}", "stable",
                   f"{near.sum()} of {near.size} around walk", f"map points, {seconds:g} s", inside)  # fmt: skip
    result.add_note(f"stable range of cd of states 1,3 at cv {cv[i]:g}", str(stable_range(cd, walks[i], j)))
    result.add_note(f"stable range of cv of states 0,2 at cd {cd[j]:g}", str(stable_range(cv, walks[:, j], i)))
    result.add_note("share of the map that walks", f"{100 * walks.mean():.0f} %")
    for (v, d), fell in zip(itertools.product(cv, cd), fallen_at.flat, strict=True):
        result.runs.append({"cd_1_3": d, "cv_0_2": v, "fallen_at": fell})
    path = setting.figure_path(result.experiment, "map.png")
    figures.gain_map(path, cd, cv, lasted, _PRINTED, ("cd of states 1, 3", "cv of states 0, 2"))


def _swept(walk: Skill, across: Mapping[str, np.ndarray], up: Mapping[str, np.ndarray], seconds: float) -> np.ndarray:
    """(up, across) when the walk falls [s] with every pair of values; those of several parameters change together."""
    columns, rows = len(next(iter(across.values()))), len(next(iter(up.values())))
    parameters = {name: np.tile(values, rows) for name, values in across.items()}
    parameters |= {name: np.repeat(values, columns) for name, values in up.items()}
    population = Population(rows * columns, skill=walk, parameters=parameters)
    population.run(seconds, stop_fallen=True)
    return population.fallen_at.reshape(rows, columns)


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


def run_spatial(result: Result, setting: Setting) -> None:
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
    _draw_steps(setting.figure_path(result.experiment, "step-durations.png"), grids, steps)
    if not setting.quick:
        for i, plane in enumerate((GAINS[:2], GAINS[2:])):
            setting.progress(f"map of the {plane[0].plane} plane", 0.4 + 0.3 * i)
            _map(result, setting, *plane, seconds)


def _walk(changes: list[tuple[str, float]], seconds: float) -> tuple[np.ndarray, list[list[float]]]:
    """How long the walk goes on with each changed gain [s], and how long each of its last steps takes [s]."""
    walk = skill("walk-as-printed", "human")
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
    result.add_row(f"stable range of {gain.label}", f"{low:g} … {high:g}", f"{stretch} = {100 * share:.0f} % as wide",
                   f"(≥ {100 * _SHARE:g} %)", share >= _SHARE)  # fmt: skip


def _periods(result: Result, gain: Gain, grid: np.ndarray, walks: np.ndarray, durations: list[list[float]]) -> None:
    """Show which period it has over which stretch of the gain."""
    kinds = [period(steps) if good else "falls" for good, steps in zip(walks, durations, strict=True)]
    shown = []
    for kind, group in itertools.groupby(zip(grid, kinds, strict=True), key=lambda pair: pair[1]):
        values = [value for value, _ in group]
        word = f"period {kind}" if kind in ("1", "2") else "no short period" if kind == "other" else kind
        shown.append(f"{word} {values[0]:g}" + (f" … {values[-1]:g}" if len(values) > 1 else ""))
    result.add_note(f"period of the gait over {gain.label}", "; ".join(shown))


def _map(result: Result, setting: Setting, position: Gain, velocity: Gain, seconds: float) -> None:
    """Every pair of the two gains of a plane."""
    cd, cv = position.values(_COARSER), velocity.values(_COARSER // 2)
    across, up = ({f"states.{k}.{g.name}": v for k in (0, 1)} for g, v in ((position, cd), (velocity, cv)))
    lasted = np.minimum(_swept(skill("walk-as-printed", "human"), across, up, seconds), seconds)
    for (v, d), fell in zip(itertools.product(cv, cd), lasted.flat, strict=True):
        result.runs.append({"gain": f"map, {position.plane}", "cd": d, "cv": v, "lasted": fell})
    result.add_note(f"share of the {position.plane} map that walks", f"{100 * (lasted >= seconds).mean():.0f} %")
    path = setting.figure_path(result.experiment, f"map-{position.plane}.png")
    labels = (f"cd, {position.plane} plane", f"cv, {position.plane} plane")
    printed = (position.printed, velocity.printed)
    figures.gain_map(path, cd, cv, lasted, printed, labels)


@figures.plot(8, 5.5, 2, 2)
def _draw_steps(four: np.ndarray, grids: list[np.ndarray], steps: list[list[list[float]]]) -> None:
    """The bifurcation diagram: durations of the last steps over each gain."""
    for axes, gain, grid, durations in zip(four.flat, GAINS, grids, steps, strict=True):
        for value, last in zip(grid, durations, strict=True):
            axes.plot([value] * len(last), last, ".", color="C0", markersize=2)
        for edge in gain.paper:
            axes.axvline(edge, color="0.6", linestyle="--", linewidth=0.8)
        axes.set(xlabel=gain.label, ylabel="duration of a step [s]")
