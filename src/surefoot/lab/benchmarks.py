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
from collections.abc import Callable, Mapping
from typing import Any

import mujoco

from surefoot.engine import callback
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters

_WALKS = {
    "planar": "walk",
    "human": "walk-as-printed",
    "humanoid": "zero-walk",
    "stepper": "walk",
}  # measured, by character
_FIRST = _WALKS | {"human19": "march"}
_RATIO = {"planar": 1.10, "human": 1.10, "humanoid": 1.30, "stepper": 1.30}  # physics + control ÷ physics, at most
_REAL_TIME = {"planar": 30.0, "human": 25.0}  # the least times real time on one core
_TRIALS, _PREDICTED, _STRIDE = "human19/march", "human19/march-predicted", 1.2  # [s] two steps and a little
_STYLIZED, _FOLLOWED = "human/stylized-robust-walk", "human/robust-walk"
_CHUNK = 0.02  # [s] from a common state: too short for the uncontrolled body to leave the gait
_ROWS, _STRETCH = 256, 0.1  # [s] that a population advances between two readings of the clock
_FASTEST_START = {"planar": 2.0}  # [s] from import to the first step, with a warm cache
_COLD = {"simbicon": "planar", "genbicon": "humanoid", "limit_cycle": "human19", "stepping": "stepper"}
"""A character of each controller: laws are compiled by controller, the same for all bodies."""
_FIRST_STEP = (
    "import sys, time; t = time.perf_counter(); import surefoot as sf; s = sf.Simulation(*sys.argv[1:]); s.step(); "
    "print(time.perf_counter() - t)"
)

Tick = Callable[[str, float], None]


def measure_all(quick: bool, tick: Tick) -> list[dict[str, Any]]:
    """Measure every character's walk.

    Args:
        quick: measure for a shorter time.
        tick: called with what is measured and the share that is done.

    Returns:
        Rows with the keys `case`, `ours`, `bar` and `holds`; `holds` is None without a bar.
    """
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
            rows.append(_row(case, f"{_first_step(character, empty):.2f} s"))
    return rows


def _tick_of_part(tick: Tick, part: int, parts: int, label: str, share: float) -> None:
    tick(label, (part + share) / parts)


def _row(case: str, ours: str, bar: str = "", holds: bool | None = None) -> dict[str, Any]:
    return {"case": case, "ours": ours, "bar": bar, "holds": holds}


def _measure(character: str, quick: bool, tick: Tick) -> list[dict[str, Any]]:
    """The figures of one character's walk."""
    tick(f"{character}: control against the bare step", 0.1)
    controlled, bare = _interleaved(character, 40 if quick else 400)
    ratio, most = controlled / bare, _RATIO[character]
    ours = f"{ratio:.3f} ({controlled:.2f} / {bare:.2f} µs)"
    rows = [_row("physics + control ÷ bare mj_step", ours, f"≤ {most:.2f}", ratio <= most)]
    tick(f"{character}: real time on one core", 0.3)
    times, least = _real_time(character, 5.0 if quick else 20.0), _REAL_TIME.get(character)
    bars = (f"≥ {least:g}", times >= least) if least else ()
    rows.append(_row("× real time, one core", f"{times:.0f}", *bars))
    tick(f"{character}: population on 1 and 2 threads", 0.5)
    one, two = _population(character, 4 if quick else 12)
    ours = f"{two / 1e3:.0f} k steps/s = {two / one:.2f} ×"
    rows.append(_row("population on 1 thread", f"{one / 1e3:.0f} k steps/s"))
    rows.append(_row("population on 2 threads", ours, "≥ 1.8 ×", two / one >= 1.8))
    tick(f"{character}: import to first step", 0.8)
    warm, longest = min(_first_step(character, None) for _ in range(1 if quick else 3)), _FASTEST_START.get(character)
    bars = (f"≤ {longest:g} s", warm <= longest) if longest else ()
    rows.append(_row("import to first step, warm cache", f"{warm:.2f} s", *bars))
    rows.append(_row("memory per row", f"{_row_bytes(character) / 1024:.1f} kB"))
    return [row | {"case": f"{character}: {row['case']}"} for row in rows]


def _medians(
    cases: Mapping[str, tuple[Callable[[], object], Callable[[], object]]], rounds: int,
    between: Callable[[], object] = lambda: None,
) -> dict[str, float]:  # fmt: skip
    """Median seconds of each case, all of them run in turn, in alternating order.

    Args:
        cases: by name what prepares a run, which is not timed, and what is timed.
        rounds: how often each is run.
        between: called after every round.
    """
    spent: dict[str, list[float]] = {name: [] for name in cases}
    for i in range(rounds):
        for name in list(cases)[:: 1 if i % 2 else -1]:
            prepare, advance = cases[name]
            prepare()
            begin = time.perf_counter()
            advance()
            spent[name].append(time.perf_counter() - begin)
        between()
    return {name: statistics.median(times) for name, times in spent.items()}


def _interleaved(character: str, rounds: int) -> tuple[float, float]:
    """Median microseconds a step with and without control, alternating from the same states."""
    sim = Simulation(character, _WALKS[character])
    chunk = round(_CHUNK / sim.model.opt.timestep)
    sim.step(50 * chunk)
    here = [sim.snapshot()]

    def prepare(install: Callable[[], None]) -> None:
        sim.restore(here[-1])
        install()

    def go_on() -> None:
        callback.install()
        sim.restore(here[-1])
        sim.step(37)  # on through the gait, so that all its contacts are seen
        here[:] = [sim.snapshot()]

    advance = functools.partial(mujoco.mj_step, sim.model, sim.data, chunk)
    installs = {"controlled": callback.install, "bare": callback.uninstall}
    found = _medians({n: (functools.partial(prepare, how), advance) for n, how in installs.items()}, rounds, go_on)
    return found["controlled"] / chunk * 1e6, found["bare"] / chunk * 1e6


def _limit_cycle(seconds: float) -> list[dict[str, Any]]:
    """What a controlled second costs with trials and with a learned model, in open-loop seconds."""
    walks = {name: Simulation(skill=load(name)) for name in (_TRIALS, _PREDICTED)}
    alone = Simulation(skill=with_parameters(load(_TRIALS), {"regulation.control": "open-loop"}))
    cases: dict[str, Any] = {}
    for name, sim in {**walks, "open loop": alone}.items():
        sim.step(100)
        cases[name] = (lambda: None, functools.partial(sim.step, round(_STRIDE / sim.model.opt.timestep)))
    cases["open loop"] = functools.partial(alone.restore, alone.snapshot()), cases["open loop"][1]  # it would fall
    found, rows = _medians(cases, round(seconds / _STRIDE)), []
    for name, bar, most in ((_TRIALS, "the paper: 5, one core", None), (_PREDICTED, "≤ 1.15", 1.15)):
        ratio = found[name] / found["open loop"]
        ours = f"{ratio:.2f} ({_STRIDE / found[name]:.0f} × real time)"
        rows.append(_row(f"{name}: a controlled second ÷ an open-loop one", ours, bar, ratio <= most if most else None))
    return rows


def _stylized(rounds: int) -> dict[str, Any]:
    """What a second with a quadratic program solved 200 times costs, in seconds of the walk that it follows."""
    walks = {name: Simulation(skill=load(name)) for name in (_FOLLOWED, _STYLIZED)}
    for sim in walks.values():
        sim.step(100)
    found = _medians(
        {n: (lambda: None, functools.partial(s.step, round(1.0 / s.model.opt.timestep))) for n, s in walks.items()},
        rounds,
    )
    ours = f"{found[_STYLIZED] / found[_FOLLOWED]:.2f} ({1.0 / found[_STYLIZED]:.0f} × real time)"
    return _row(f"{_STYLIZED}: a second ÷ one of {_FOLLOWED}", ours)


def _real_time(character: str, seconds: float) -> float:
    sim = Simulation(character, _WALKS[character])
    steps = round(seconds / sim.model.opt.timestep)
    begin = time.perf_counter()
    sim.step(steps)
    return seconds / (time.perf_counter() - begin)


def _population(character: str, rounds: int) -> tuple[float, float]:
    """Median steps a second on one and on two threads, alternating."""
    cases: dict[str, Any] = {}
    for threads in (1, 2):
        population = Population(_ROWS, character, _WALKS[character], threads=threads)
        steps = round(_STRETCH / population.scene.model.opt.timestep)
        population.run(0.05)
        cases[str(threads)] = lambda: None, functools.partial(population.batch.step, nstep=steps)
    found = _medians(cases, rounds)
    return _ROWS * steps / found["1"], _ROWS * steps / found["2"]


def _first_step(character: str, cache: str | None) -> float:
    """Seconds from import to the first step in a new interpreter; `cache` is an empty kernel cache."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", _FIRST_STEP, character, _FIRST[character]]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def _row_bytes(character: str) -> float:
    """Bytes a further row costs: the state MuJoCo keeps of it, and our views of that state."""
    tracemalloc.start()
    populations = [Population(16, character, _WALKS[character])]
    before = tracemalloc.get_traced_memory()[0]
    populations.append(Population(272, character, _WALKS[character]))
    views = (tracemalloc.get_traced_memory()[0] - before) / 272
    tracemalloc.stop()
    return float(views + populations[-1].batch.state.nbytes / 272)
