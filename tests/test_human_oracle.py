"""The human's compiled law against its plain-Python self; snapshots and populations to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import human_oracle_run
from conftest import bits
from human_body import walk
from oracles import run_plainly
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation

SKILLS = list(human_oracle_run.skills())
WALKS = {"sensing__noise_velocity": 0.05, "sensing__delay": 0.01, "learning__bins": 9, "arms__swing": 0.3}


@pytest.fixture(scope="module")
def compiled() -> dict[str, np.ndarray]:
    return human_oracle_run.collect()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return run_plainly("human_oracle_run.py", tmp_path_factory.mktemp("oracle"))


@pytest.mark.parametrize("name", SKILLS)
def test_compiled_law_equals_its_plain_python_self_bit_for_bit_in_random_states(
    name: str, compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    for key in ("ctrl", "userdata", "again"):
        assert np.array_equal(compiled[f"{name}/{key}"], plain[f"{name}/{key}"]), key


def test_compiled_walk_with_noise_delay_and_learning_equals_its_plain_python_self_step_by_step(
    compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    assert np.array_equal(compiled["walk along"], plain["walk along"])
    assert np.count_nonzero(compiled["learned"]) > 50


@pytest.mark.parametrize("name", SKILLS)
def test_random_states_of_the_oracle_reach_different_parts_of_the_law(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    ctrl = compiled[f"{name}/ctrl"]
    assert np.isfinite(ctrl).all()
    assert (np.abs(ctrl).max(axis=1) > 1.0).all()
    assert len(np.unique(ctrl, axis=0)) == len(ctrl)


@pytest.mark.parametrize("name", SKILLS)
def test_second_evaluation_of_a_moment_changes_neither_controls_nor_memory(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    first = np.concatenate([compiled[f"{name}/ctrl"], compiled[f"{name}/userdata"]], axis=1)
    changed = np.flatnonzero((first != compiled[f"{name}/again"]).any(axis=0))
    assert not len(changed), f"userdata {changed - compiled[f'{name}/ctrl'].shape[1]} differ"


def test_a_restored_human_walks_on_bit_for_bit_in_the_same_and_in_another_simulation() -> None:
    sim, other = Simulation(skill=walk(**WALKS), seed=2), Simulation(skill=walk(**WALKS), seed=8)
    sim.command(heading=0.4)
    sim.push((0.0, 80.0, 0.0), 0.1, delay=0.65)
    sim.step(600)
    kept = sim.snapshot()
    sim.step(500)
    there = bits(sim)
    sim.restore(kept)
    sim.step(500)
    assert np.array_equal(bits(sim), there)
    other.restore(kept)
    other.step(500)
    assert np.array_equal(bits(other), there)


def test_rows_of_a_population_of_humans_are_single_simulations_with_following_seeds() -> None:
    push = Push((0.0, 60.0, 0.0), 0.1, 0.3)
    population = Population(3, skill=walk(**WALKS), pushes=[[], [push], []], seed=5)
    population.run(0.7)
    for i in range(3):
        sim = Simulation(skill=walk(**WALKS), seed=5 + i)
        if i == 1:
            sim.push(push.force, push.duration, delay=push.start)
        sim.step(700)
        assert np.array_equal(population.states[i], bits(sim)), i
    assert not np.array_equal(population.qpos[0], population.qpos[2])
