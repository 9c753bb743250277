"""Speed of populations on a GPU: controlled steps a second by the number of worlds, and of a search.

Bare physics is measured beside the controlled one, from the same states and in turn with it, at moments of a whole
stride.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from surefoot.engine.devices import CPU, using_device
from surefoot.engine.gpu.physics import WarpWorlds
from surefoot.engine.population import Population
from surefoot.lab.parameter_tuning import Objective, parameter_value, tune
from surefoot.skills import load

WALKS = {
    "planar": "planar/walk",
    "human": "human/walk-as-printed",
    "humanoid": "biped/zero-walk",
    "stepper": "stepper/walk",
}  # measured, by character
WORLDS = (256, 1024, 4096, 8192, 16384, 32768, 65536)
BARS = {"planar": (25e6, 1.15), "human": (4.5e6, 1.15), "humanoid": (3e6, 1.3)}
"""The least controlled steps a second on one H200, and the most that control and physics may cost in bare physics."""
_SETTLE = 0.2  # [s] before the first moment that is measured
_MOMENTS, _APART = 8, 0.13  # moments of the gait, whose phases differ since a stride is no multiple of the time between
_STRETCH = 40  # physics steps from a common state: too few for the uncontrolled body to leave the gait
_ROUNDS = 3


@dataclass(frozen=True)
class Speed:
    """What a population of a size does.

    Attributes:
        character: the body.
        worlds: how many.
        controlled: steps a second, of all worlds together.
        bare: the same without control.
    """

    character: str
    worlds: int
    controlled: float
    bare: float

    @property
    def ratio(self) -> float:
        """What control and physics cost, in bare physics."""
        return self.bare / self.controlled


def measure_speed(character: str, worlds: int, device: str, rounds: int = _ROUNDS) -> Speed:
    """Measure a walk, controlled and bare in turn, from the same states.

    All rows are at the same phase, and some phases cost several times what others do: the mean over several counts.

    Args:
        character: one of `WALKS`.
        worlds: how many.
        device: such as `cuda`.
        rounds: of each at a moment; the median counts.
    """
    population = Population(worlds, character, WALKS[character], device=device)
    spent = {True: 0.0, False: 0.0}
    for moment in range(_MOMENTS):
        population.run(_APART if moment else _SETTLE)
        for controlled, times in _times_from_here(population.leave_to_device(), rounds).items():
            spent[controlled] += statistics.median(times)
    steps = worlds * _STRETCH * _MOMENTS
    return Speed(character, worlds, steps / spent[True], steps / spent[False])


def _times_from_here(warp: WarpWorlds, rounds: int) -> dict[bool, list[float]]:
    """Seconds that stretches take from the present states, controlled and bare; the states are left as they were."""
    states = warp.copy_state()
    found: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(rounds + 1):
        for controlled, times in found.items():
            warp.write_state(states)
            warp.synchronize()
            begin = time.perf_counter()
            warp.step(_STRETCH, controlled)
            warp.synchronize()
            if turn:  # the first records the graphs
                times.append(time.perf_counter() - begin)
    warp.write_state(states)
    return found


SEARCHED = "human/walk-as-printed"
GENERATIONS, CANDIDATES, SECONDS = 16, 4096, 10.0
_PARAMETERS = (
    "states.*.cd", "states.*.cv", "states.*.cd_lateral", "states.*.cv_lateral", "states.0.duration",
    "states.0.targets.swing_hip", "states.0.targets.swing_knee", "states.0.targets.swing_ankle",
    "states.1.targets.swing_hip", "states.1.targets.swing_knee", "states.1.targets.swing_ankle",
)  # fmt: skip
_SPEED = 0.4  # [m/s] that is asked for
_LONGEST = 60.0  # [s] that the search may take
_TIMESTEP = 0.002  # [s] that it is searched with; what is found is tried with the body's own
_SAMPLE = 128  # candidates that a CPU is measured with
_REACH = 0.3  # of a parameter's size to either side


@dataclass(frozen=True)
class SearchSpeed:
    """What a search for a better walk takes.

    Attributes:
        device: where it ran.
        candidates: how many were simulated, of all generations together.
        seconds: wall time [s].
        walks: whether what was found stays up with the body's own physics step.
    """

    device: str
    candidates: int
    seconds: float
    walks: bool

    @property
    def rate(self) -> float:
        """Candidates a second."""
        return self.candidates / self.seconds


def measure_search(
    device: str, generations: int, candidates: int, seed: int = 0,
    tick: Callable[[str, float], None] = lambda what, share: None,
) -> SearchSpeed:  # fmt: skip
    """Search for a better walk of the human and measure how long it takes.

    Args:
        device: `cpu` or a GPU.
        generations: how many.
        candidates: of each generation.
        seed: of the search.
        tick: called with what is done and the share of it.
    """
    skill, bounds = load(SEARCHED), {}
    for path in _PARAMETERS:
        value = parameter_value(skill, path)
        room = _REACH * max(abs(value), 0.1)
        bounds[path] = (value - room, value + room)
    objective = Objective(SECONDS, 1, speed=_SPEED, timestep=_TIMESTEP)
    begin = time.perf_counter()
    with using_device(device):
        found = tune(
            skill, bounds, [objective], generations=generations, popsize=candidates, keep_mean=True, seed=seed,
            report=lambda done, best: tick(f"generation {done}, best cost {best:.3f}", done / generations),
        )  # fmt: skip
    seconds, alone = time.perf_counter() - begin, Population(1, skill=found.skill, device=CPU)
    alone.run(SECONDS)
    return SearchSpeed(device, generations * candidates, seconds, bool(np.isinf(alone.fallen_at).all()))


def measure_all(
    device: str, quick: bool, tick: Callable[[str, float], None], parts: Sequence[str] = ("speeds", "search")
) -> list[dict[str, Any]]:
    """Measure walks of all bodies at all sizes, and the search.

    Args:
        device: such as `cuda`.
        quick: two sizes and one generation.
        tick: called with what is measured and the share that is done.
        parts: which of both.

    Returns:
        Rows as those of `benchmarks.measure_all`; of a walk with the attributes of its `Speed` too.
    """
    rows: list[dict[str, Any]] = []
    if "speeds" in parts:
        sizes = WORLDS[1:6:2] if quick else WORLDS
        speeds = measure_speeds(device, sizes=sizes, tick=lambda what, share: tick(what, 0.6 * share))
        for one in speeds:
            ours = f"{one.controlled / 1e6:.2f} M steps/s, bare {one.bare / 1e6:.2f} M, ratio {one.ratio:.2f}"
            rows.append(_row(f"{one.character}, {one.worlds} worlds", ours) | asdict(one))
        for character, (steps, ratio) in BARS.items():
            best = max((one for one in speeds if one.character == character), key=lambda one: one.controlled)
            ours, at = f"{best.controlled / 1e6:.1f} M steps/s", f"{character}, at {best.worlds} worlds"
            rows.append(_row(at, ours, f"≥ {steps / 1e6:g} M", best.controlled >= steps))
            rows.append(_row(f"{at}, ÷ bare physics", f"{best.ratio:.3f}", f"≤ {ratio:g}", best.ratio <= ratio))
    if "search" in parts:
        generations = 1 if quick else GENERATIONS
        found = measure_search(device, generations, CANDIDATES, tick=lambda what, share: tick(what, 0.6 + 0.35 * share))
        tick("the same on the CPU", 0.95)
        beside = measure_search(CPU, 1, _SAMPLE)
        case = f"search of {len(_PARAMETERS)} parameters, {generations} × {CANDIDATES} candidates of {SECONDS:g} s"
        how = f"{found.seconds:.0f} s; what it found {'walks' if found.walks else 'falls'}"
        good = found.seconds <= _LONGEST and found.walks
        rows.append(_row(case, how, f"≤ {_LONGEST:g} s", None if quick else good))
        alone = f"the CPU {beside.rate:.1f}/s, {found.candidates / beside.rate:.0f} s for all"
        ours = f"{found.rate:.0f} candidates/s, {found.rate * len(_PARAMETERS):.0f} parameters/s; {alone}"
        rows.append(_row("candidates searched", ours))
    return rows


def _row(case: str, ours: str, bar: str = "", holds: bool | None = None) -> dict[str, Any]:
    return {"case": case, "ours": ours, "bar": bar, "holds": holds}


def measure_speeds(
    device: str, characters: Sequence[str] = tuple(WALKS), sizes: Sequence[int] = WORLDS,
    tick: Callable[[str, float], None] = lambda what, share: None,
) -> list[Speed]:  # fmt: skip
    """Measure walks at several sizes.

    Args:
        device: such as `cuda`.
        characters: of `WALKS`.
        sizes: numbers of worlds.
        tick: called with what is measured and the share that is done.
    """
    cases = [(character, worlds) for character in characters for worlds in sizes]
    found = []
    for i, (character, worlds) in enumerate(cases):
        tick(f"{character}, {worlds} worlds", i / len(cases))
        found.append(measure_speed(character, worlds, device))
    return found
