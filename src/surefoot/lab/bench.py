"""Speed, as ratios measured in one interleaved run: these figures survive a noisy machine."""

from __future__ import annotations

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

from surefoot.native import callback
from surefoot.population import Population
from surefoot.simulation import Simulation

_CHUNK = 40  # steps from a common state: too short for the uncontrolled body to leave the gait
_FIRST_STEP = (
    "import time; t = time.perf_counter(); import surefoot as sf; s = sf.Simulation(); s.step(); "
    "print(time.perf_counter() - t)"
)


def measure_all(quick: bool, tick: Callable[[str, float], None]) -> list[dict[str, Any]]:
    """All figures, with their bars where they have one."""
    rounds = 40 if quick else 400
    rows: list[dict[str, Any]] = []

    def add(case: str, ours: str, bar: str = "", holds: bool | None = None) -> None:
        rows.append({"case": case, "ours": ours, "bar": bar, "holds": holds})

    tick("control against the bare step", 0.1)
    controlled, bare = _interleaved(rounds)
    ratio = controlled / bare
    add("physics + control ÷ bare mj_step", f"{ratio:.3f} ({controlled:.2f} / {bare:.2f} µs)", "≤ 1.10", ratio <= 1.10)
    tick("real time on one core", 0.3)
    times = _real_time(5.0 if quick else 20.0)
    add("× real time, one core", f"{times:.0f}", "≥ 30", times >= 30)
    tick("population on 1 and 2 threads", 0.5)
    one, two = _population(4 if quick else 12)
    add("population on 1 thread", f"{one / 1e3:.0f} k steps/s")
    add("population on 2 threads", f"{two / 1e3:.0f} k steps/s = {two / one:.2f} ×", "≥ 1.8 ×", two / one >= 1.8)
    tick("import to first step", 0.8)
    warm = min(_first_step(None) for _ in range(1 if quick else 3))
    add("import to first step, warm cache", f"{warm:.2f} s", "≤ 2 s", warm <= 2.0)
    with tempfile.TemporaryDirectory() as empty:
        add("import to first step, cold cache", f"{_first_step(empty):.2f} s")
    add("memory per row", f"{_row_bytes() / 1024:.1f} kB")
    return rows


def _interleaved(rounds: int) -> tuple[float, float]:
    """Median microseconds a step with and without control, alternating from the same states."""
    sim = Simulation()
    sim.step(2000)
    spent: dict[bool, list[float]] = {True: [], False: []}
    for i in range(rounds):
        here = sim.snapshot()
        for controlled in (True, False) if i % 2 else (False, True):
            sim.restore(here)
            (callback.install if controlled else callback.uninstall)()
            begin = time.perf_counter()
            mujoco.mj_step(sim.model, sim.data, _CHUNK)
            spent[controlled].append((time.perf_counter() - begin) / _CHUNK * 1e6)
        callback.install()
        sim.restore(here)
        sim.step(37)  # on through the gait, so that all its contacts are seen
    return statistics.median(spent[True]), statistics.median(spent[False])


def _real_time(seconds: float) -> float:
    sim = Simulation()
    steps = round(seconds / sim.model.opt.timestep)
    begin = time.perf_counter()
    sim.step(steps)
    return seconds / (time.perf_counter() - begin)


def _population(rounds: int) -> tuple[float, float]:
    """Median steps a second on one and on two threads, alternating."""
    populations = {threads: Population(256, threads=threads) for threads in (1, 2)}
    rates: dict[int, list[float]] = {1: [], 2: []}
    for population in populations.values():
        population.run(0.05)
    for _ in range(rounds):
        for threads, population in populations.items():
            begin = time.perf_counter()
            population.batch.step(nstep=200)
            rates[threads].append(256 * 200 / (time.perf_counter() - begin))
    return statistics.median(rates[1]), statistics.median(rates[2])


def _first_step(cache: str | None) -> float:
    """Seconds from import to the first step in a new interpreter; `cache` is an empty kernel cache."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_STEP], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _row_bytes() -> float:
    """Bytes a further row costs: the state MuJoCo keeps of it, and our views of that state."""
    tracemalloc.start()
    populations = [Population(16)]
    before = tracemalloc.get_traced_memory()[0]
    populations.append(Population(272))
    views = (tracemalloc.get_traced_memory()[0] - before) / 272
    tracemalloc.stop()
    return float(views + populations[-1].batch.state.nbytes / 272)
