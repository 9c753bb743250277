"""The same bits, however a run is cut up, interrupted, looked at, or run beside others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from conftest import bits
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

STEPS = 2400  # 1.2 s: several steps of every gait


@pytest.mark.parametrize("make", ["sf.Simulation('planar')", "sf.Population(4, 'planar')"])
def test_ctrl_c_is_heard_within_a_long_stretch_of_steps(make: str) -> None:
    code = (
        "import _thread, threading, surefoot as sf; "
        f"one = {make}; one.step(10); threading.Timer(0.3, _thread.interrupt_main).start()\n"
        "try:\n    one.step(100_000_000)\nexcept KeyboardInterrupt:\n    print('stopped')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "stopped\n"


def learning() -> Skill:
    return with_parameters(load("planar/walk"), {"learning.bins": 20, "learning.rate": 0.3})


CASES: dict[str, Callable[[], Simulation]] = {}


def case(make: Callable[[], Simulation]) -> Callable[[], Simulation]:
    CASES[make.__name__] = make
    return make


@case
def walking() -> Simulation:
    return Simulation("planar")


@case
def learning_to_walk() -> Simulation:
    return Simulation(skill=learning())


@case
def pushed() -> Simulation:
    sim = Simulation(skill="fast-walk")
    sim.push((90.0, 0.0, 20.0), 0.2, body="left_shin", point=(0.02, 0.0, -0.3), delay=0.313)
    sim.push((-40.0, 0.0, 0.0), 0.1, delay=0.4)
    return sim


@case
def switching() -> Simulation:
    sim = Simulation("planar")
    sim.step(333)
    sim.switch("in-place-walk")
    return sim


@case
def switching_at_a_phase() -> Simulation:
    sim = Simulation("planar")
    sim.step(777)
    sim.switch(with_parameters(load("planar/high-step-walk"), {"entry.phase": 0.6}))
    return sim


@case
def holding_a_speed_on_a_slope() -> Simulation:
    sim = Simulation("planar", terrain="slope:-3,0.5")
    sim.command(speed=1.1, lean=-0.02)
    return sim


def one_go(make: Callable[[], Simulation], steps: int = STEPS) -> np.ndarray:
    sim = make()
    sim.step(steps)
    return bits(sim)


@pytest.mark.parametrize("name", CASES)
def test_the_same_start_gives_the_same_bits(name: str) -> None:
    assert np.array_equal(one_go(CASES[name]), one_go(CASES[name]))


@pytest.mark.parametrize("chunk", [1, 7, 100])
@pytest.mark.parametrize("name", CASES)
def test_cutting_a_run_into_chunks_does_not_change_it(name: str, chunk: int) -> None:
    sim = CASES[name]()
    for done in range(0, STEPS, chunk):
        sim.step(min(chunk, STEPS - done))
    assert np.array_equal(bits(sim), one_go(CASES[name]))


@pytest.mark.parametrize("at", [0, 100, 650, 701, 1203])
@pytest.mark.parametrize("name", CASES)
def test_restoring_a_snapshot_taken_in_mid_run_replays_the_rest(name: str, at: int) -> None:
    sim = CASES[name]()
    sim.step(at)
    kept = sim.snapshot()
    sim.step(STEPS - at)
    there, skill = bits(sim), sim.skill
    sim.step(97)
    sim.restore(kept)
    sim.step(STEPS - at)
    assert np.array_equal(bits(sim), there)
    assert sim.skill == skill
    assert np.array_equal(there, one_go(CASES[name]))


@pytest.mark.parametrize("name", CASES)
def test_a_snapshot_runs_on_in_another_simulation_of_the_same_kind(name: str) -> None:
    sim, other = CASES[name](), CASES[name]()
    sim.step(611)
    other.step(45)
    other.restore(sim.snapshot())
    sim.step(800)
    other.step(800)
    assert np.array_equal(bits(sim), bits(other))


def test_a_snapshot_is_not_changed_by_running_on() -> None:
    sim = CASES["learning_to_walk"]()
    sim.step(500)
    kept = sim.snapshot()
    before = kept.state.copy()
    sim.step(500)
    assert np.array_equal(kept.state, before)


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_run_is_the_run_that_is_not_recorded_and_is_replayed_from_its_start(name: str) -> None:
    sim = CASES[name]()
    start = sim.snapshot()
    motion = sim.run(0.8, fps=130.0)
    end = bits(sim)
    sim.restore(start)
    again = sim.run(0.8, fps=130.0)
    for key, array in motion.arrays().items():
        assert np.array_equal(array, again.arrays()[key]), key
    assert np.array_equal(end, bits(sim))
    sim.restore(start)
    sim.step(round(0.8 / sim.model.opt.timestep))
    assert np.array_equal(end, bits(sim))


@pytest.mark.parametrize("name", CASES)
def test_looking_at_a_moment_again_does_not_change_the_run(name: str) -> None:
    sim = CASES[name]()
    for i in range(STEPS):
        sim.step()
        for _ in range(i % 3):
            mujoco.mj_forward(sim.model, sim.data)
    sim.step()  # the last moment may have been evaluated already in one and not in the other
    assert np.array_equal(bits(sim), one_go(CASES[name], STEPS + 1))


ROWS = ["walk", "skip", "fast-run", "backwards-walk", "crouch-walk"]


def _single(name: str, index: int, steps: int) -> np.ndarray:
    sim = Simulation(skill=name, seed=index)
    for push in _pushes(index):
        sim.scene.add_push(sim.memory, push, 0.0)
    sim.step(steps)
    return bits(sim)


def _pushes(index: int) -> list[Push]:
    return [Push((30.0 * index, 0.0, 0.0), 0.1, 0.2 + 0.05 * index, "trunk")] * (index % 3)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_of_a_population_is_bit_for_bit_the_simulation_alone(threads: int) -> None:
    pushes = [_pushes(i) for i in range(len(ROWS))]
    population = Population(len(ROWS), skill=ROWS, pushes=pushes, threads=threads)
    population.run(1.3)
    for i, name in enumerate(ROWS):
        assert np.array_equal(population.batch.state[i], _single(name, i, 2600)), name


def test_threads_and_recording_do_not_change_a_population() -> None:
    states, gains = [], {"states.0.cv": np.linspace(0.1, 0.3, 9)}
    for threads, fps in ((1, None), (2, None), (2, 77.0)):
        population = Population(9, skill=learning(), parameters=gains, threads=threads)
        population.run(1.5, fps=fps)
        states.append(population.states)
    assert np.array_equal(states[0], states[1])
    assert np.array_equal(states[0], states[2])
    assert len(np.unique(states[0][:, 1])) == 9


def test_a_learning_row_is_the_learning_simulation_alone() -> None:
    population = Population(3, skill=["walk", learning(), "run"])
    population.run(1.6)
    sim = Simulation(skill=learning(), seed=1)
    sim.step(3200)
    assert np.array_equal(population.batch.state[1], bits(sim))
    assert sim.memory.table.any()


def test_a_switch_in_a_row_is_the_switch_in_a_simulation_alone() -> None:
    population = Population(2, "planar")
    population.run(0.4)
    population.switch("fast-walk", [1])
    population.run(1.0)
    sim = Simulation("planar", seed=1)
    sim.step(800)
    sim.switch("fast-walk")
    sim.step(2000)
    assert np.array_equal(population.batch.state[1], bits(sim))
    assert not np.array_equal(population.qpos[0], population.qpos[1])


def test_rows_do_not_feel_each_other() -> None:
    """The same row beside others, and in another place (whose seed is its number further on)."""
    few = Population(2, skill=["walk", "skip"], seed=2)
    many = Population(5, skill=["run", "fast-run", "walk", "skip", "bent-walk"])
    few.run(1.1)
    many.run(1.1)
    assert np.array_equal(few.states[0], many.states[2])
    assert np.array_equal(few.states[1], many.states[3])
