"""Speed, as ratios measured in one interleaved run: these figures survive a noisy machine."""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import mujoco

from surefoot.engine import callback
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters

_WALKS = {
    "planar": "walk",
    "human": "walk",
    "humanoid": "zero-walk",
    "stepper": "walk",
}  # that are measured, by character
_FIRST = _WALKS | {"human19": "march"}
_RATIO = {"planar": 1.10, "human": 1.10, "humanoid": 1.30, "stepper": 1.30}  # physics + control ÷ physics, at most
_REAL_TIME = {"planar": 30.0, "human": 25.0}  # the least times real time on one core
_TRIALS, _PREDICTED, _STRIDE = "human19/march", "human19/march-predicted", 1.2  # [s] two steps and a little
_STYLIZED, _FOLLOWED = "human/stylized-walk", "human/robust-walk"
_CHUNK = 0.02  # [s] from a common state: too short for the uncontrolled body to leave the gait
_ROWS, _STRETCH = 256, 0.1  # [s] that a population advances between two looks at the clock
_FASTEST_START = {"planar": 2.0}  # [s] from import to the first step, with a warm cache
_COLD = {
    "simbicon": "planar",
    "genbicon": "humanoid",
    "limit_cycle": "human19",
    "stepping": "stepper",
}  # laws are compiled by controller, the same for all bodies
_FIRST_STEP = (
    "import sys, time; t = time.perf_counter(); import surefoot as sf; s = sf.Simulation(*sys.argv[1:]); s.step(); "
    "print(time.perf_counter() - t)"
)


def measure_all(quick: bool, tick: Callable[[str, float], None]) -> list[dict[str, Any]]:
    """All figures of every character's walk, with their bars where they have one."""
    rows: list[dict[str, Any]] = []
    for i, character in enumerate(_WALKS):
        rows += _measure(character, quick, functools.partial(_tick_of_part, tick, i, len(_WALKS)))
    tick("limit cycle control", 0.95)
    rows += _limit_cycle(4.0 if quick else 20.0)
    tick("stylized locomotion", 0.97)
    rows.append(_stylized(4 if quick else 20))
    for controller, character in _COLD.items():
        case = f"import to first step, cold cache, {controller}"
        tick(case, 1.0)
        with tempfile.TemporaryDirectory() as empty:
            rows.append({"case": case, "ours": f"{_first_step(character, empty):.2f} s", "bar": "", "holds": None})
    return rows


def _tick_of_part(tick: Callable[[str, float], None], part: int, parts: int, label: str, share: float) -> None:
    tick(label, (part + share) / parts)


def _measure(character: str, quick: bool, tick: Callable[[str, float], None]) -> list[dict[str, Any]]:
    """The figures of one character's walk."""
    rows: list[dict[str, Any]] = []

    def add(case: str, ours: str, bar: str = "", holds: bool | None = None) -> None:
        rows.append({"case": f"{character}: {case}", "ours": ours, "bar": bar, "holds": holds})

    tick(f"{character}: control against the bare step", 0.1)
    controlled, bare = _interleaved(character, 40 if quick else 400)
    ratio, most = controlled / bare, _RATIO[character]
    ours = f"{ratio:.3f} ({controlled:.2f} / {bare:.2f} µs)"
    add("physics + control ÷ bare mj_step", ours, f"≤ {most:.2f}", ratio <= most)
    tick(f"{character}: real time on one core", 0.3)
    times, least = _real_time(character, 5.0 if quick else 20.0), _REAL_TIME.get(character)
    add("× real time, one core", f"{times:.0f}", f"≥ {least:g}" if least else "", times >= least if least else None)
    tick(f"{character}: population on 1 and 2 threads", 0.5)
    one, two = _population(character, 4 if quick else 12)
    add("population on 1 thread", f"{one / 1e3:.0f} k steps/s")
    add("population on 2 threads", f"{two / 1e3:.0f} k steps/s = {two / one:.2f} ×", "≥ 1.8 ×", two / one >= 1.8)
    tick(f"{character}: import to first step", 0.8)
    warm = min(_first_step(character, None) for _ in range(1 if quick else 3))
    bar = _FASTEST_START.get(character)
    add(
        "import to first step, warm cache", f"{warm:.2f} s", f"≤ {bar:g} s" if bar else "", warm <= bar if bar else None
    )
    add("memory per row", f"{_row_bytes(character) / 1024:.1f} kB")
    return rows


def _interleaved(character: str, rounds: int) -> tuple[float, float]:
    """Median microseconds a step with and without control, alternating from the same states."""
    sim = Simulation(character, _WALKS[character])
    chunk = round(_CHUNK / sim.model.opt.timestep)
    sim.step(50 * chunk)
    spent: dict[bool, list[float]] = {True: [], False: []}
    for i in range(rounds):
        here = sim.snapshot()
        for controlled in (True, False) if i % 2 else (False, True):
            sim.restore(here)
            (callback.install if controlled else callback.uninstall)()
            begin = time.perf_counter()
            mujoco.mj_step(sim.model, sim.data, chunk)
            spent[controlled].append((time.perf_counter() - begin) / chunk * 1e6)
        callback.install()
        sim.restore(here)
        sim.step(37)  # on through the gait, so that all its contacts are seen
    return statistics.median(spent[True]), statistics.median(spent[False])


def _limit_cycle(seconds: float) -> list[dict[str, Any]]:
    """What a controlled second costs with trials and with a learned model, in open-loop seconds."""
    walks = {name: Simulation(skill=load(name)) for name in (_TRIALS, _PREDICTED)}
    walks["open loop"] = Simulation(skill=with_parameters(load(_TRIALS), {"regulation.control": "open-loop"}))
    spent: dict[str, list[float]] = {name: [] for name in walks}
    for sim in walks.values():
        sim.step(100)
    begin = walks["open loop"].snapshot()
    for _ in range(round(seconds / _STRIDE)):
        for name, sim in walks.items():
            if name == "open loop":
                sim.restore(begin)  # it would fall
            start = time.perf_counter()
            sim.step(round(_STRIDE / sim.model.opt.timestep))
            spent[name].append(time.perf_counter() - start)
    median = {name: statistics.median(times) for name, times in spent.items()}
    bars: dict[str, float | None] = {_TRIALS: None, _PREDICTED: 1.15}
    rows = []
    for name, most in bars.items():
        ratio = median[name] / median["open loop"]
        ours = f"{ratio:.2f} ({_STRIDE / median[name]:.0f} × real time)"
        rows.append({
            "case": f"{name}: a controlled second ÷ an open-loop one", "ours": ours,
            "bar": f"≤ {most:g}" if most else "the paper: 5, one core", "holds": ratio <= most if most else None,
        })  # fmt: skip
    return rows


def _stylized(rounds: int) -> dict[str, Any]:
    """What a second with a quadratic program solved 200 times costs, in seconds of the walk that it follows."""
    walks = {name: Simulation(skill=load(name)) for name in (_FOLLOWED, _STYLIZED)}
    spent: dict[str, list[float]] = {name: [] for name in walks}
    for sim in walks.values():
        sim.step(100)
    for _ in range(rounds):
        for name, sim in walks.items():
            start = time.perf_counter()
            sim.step(round(1.0 / sim.model.opt.timestep))
            spent[name].append(time.perf_counter() - start)
    median = {name: statistics.median(times) for name, times in spent.items()}
    ratio, faster = median[_STYLIZED] / median[_FOLLOWED], 1.0 / median[_STYLIZED]
    return {"case": f"{_STYLIZED}: a second ÷ one of {_FOLLOWED}", "ours": f"{ratio:.2f} ({faster:.0f} × real time)",
            "bar": "", "holds": None}  # fmt: skip


def _real_time(character: str, seconds: float) -> float:
    sim = Simulation(character, _WALKS[character])
    steps = round(seconds / sim.model.opt.timestep)
    begin = time.perf_counter()
    sim.step(steps)
    return seconds / (time.perf_counter() - begin)


def _population(character: str, rounds: int) -> tuple[float, float]:
    """Median steps a second on one and on two threads, alternating."""
    populations = {threads: Population(_ROWS, character, _WALKS[character], threads=threads) for threads in (1, 2)}
    steps = round(_STRETCH / populations[1].scene.model.opt.timestep)
    rates: dict[int, list[float]] = {1: [], 2: []}
    for population in populations.values():
        population.run(0.05)
    for _ in range(rounds):
        for threads, population in populations.items():
            begin = time.perf_counter()
            population.batch.step(nstep=steps)
            rates[threads].append(_ROWS * steps / (time.perf_counter() - begin))
    return statistics.median(rates[1]), statistics.median(rates[2])


def _first_step(character: str, cache: str | None) -> float:
    """Seconds from import to the first step in a new interpreter; `cache` is an empty kernel cache."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_STEP, character, _FIRST[character]], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def _row_bytes(character: str) -> float:
    """Bytes a further row costs: the state MuJoCo keeps of it, and our views of that state."""
    tracemalloc.start()
    populations = [Population(16, character, _WALKS[character])]
    before = tracemalloc.get_traced_memory()[0]
    populations.append(Population(272, character, _WALKS[character]))
    views = (tracemalloc.get_traced_memory()[0] - before) / 272
    tracemalloc.stop()
    return float(views + populations[-1].batch.state.nbytes / 272)
