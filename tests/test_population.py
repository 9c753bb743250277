"""Many rows at once are the single simulations they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import DT, bits, graph_of
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

GAINS = (0.2, -0.4, 0.25, 2.0)  # cv of the walk's first state: two of these fall
SECONDS = 3.0


def gain_population() -> Population:
    return Population(len(GAINS), "planar", parameters={"states.0.cv": GAINS})


def gain_simulation(row: int) -> Simulation:
    return Simulation(skill=with_parameters(load("planar/walk"), {"states.0.cv": GAINS[row]}), seed=row)


def test_fallen_at_is_that_of_the_single_simulations() -> None:
    population = gain_population()
    population.run(SECONDS)
    alone = []
    for row in range(len(GAINS)):
        sim = gain_simulation(row)
        sim.step(round(SECONDS / DT))
        alone.append(sim.fallen_at)
    assert population.fallen_at.tolist() == alone
    assert 0 < np.isfinite(alone).sum() < len(GAINS)


def test_parameters_vary_by_row_and_reach_the_slots() -> None:
    values = {
        "states.0.cv": [0.1, 0.2, 0.3],
        "states.1.targets.swing_hip": [-0.7, -0.6, -0.5],
        "gains.all.kp": [300.0, 310.0, 290.0],
    }
    population = Population(3, "planar", parameters=values)
    for i, row in enumerate(population.rows):
        graph = graph_of(row)
        assert graph.feedback[2, 0, 1] == values["states.0.cv"][i]
        assert graph.targets[3, 0] == values["states.1.targets.swing_hip"][i]
        assert graph.gains[4].kp == values["gains.all.kp"][i]


def test_a_varied_row_is_the_varied_simulation() -> None:
    population = gain_population()
    population.run(1.0)
    sim = gain_simulation(2)
    sim.step(round(1.0 / DT))
    assert np.array_equal(population.states[2], bits(sim))


def test_start_states_vary_by_row() -> None:
    population = Population(3, "planar", parameters={"start.speed": [0.7, 0.98, 1.3], "start.torso": [0.0, 0.05, -0.1]})
    assert population.qvel[:, 0].tolist() == [0.7, 0.98, 1.3]
    assert population.qpos[:, 2].tolist() == [0.0, 0.05, -0.1]


def test_leaving_the_fallen_behind_does_not_touch_the_survivors() -> None:
    all_rows, survivors = gain_population(), gain_population()
    all_rows.run(SECONDS)
    survivors.run(SECONDS, stop_fallen=True)
    upright = np.isinf(all_rows.fallen_at)
    assert np.array_equal(all_rows.fallen_at, survivors.fallen_at)
    assert np.array_equal(all_rows.states[upright], survivors.states[upright])
    assert survivors.time[upright] == pytest.approx(SECONDS)
    late = survivors.time[~upright] - survivors.fallen_at[~upright]
    assert (late >= 0.0).all()
    assert (late <= 0.25 + DT).all()


def test_leaving_the_fallen_behind_ends_when_all_have_fallen() -> None:
    population = Population(2, "planar", parameters={"states.0.cv": [-0.5, 3.0]})
    population.run(30.0, stop_fallen=True)
    assert np.isfinite(population.fallen_at).all()
    assert (population.time < 10.0).all()


def test_restored_states_run_on_bit_for_bit() -> None:
    skills: list[str | Skill] = ["walk", with_parameters(load("planar/walk"), {"learning.bins": 9}), "skip"]
    population = Population(3, skill=skills, pushes=[Push((40.0, 0.0, 0.0), 0.2, 0.9)])
    population.run(0.8)
    kept = population.states
    population.run(1.0)
    there = population.states
    population.restore(kept)
    assert np.array_equal(population.states, kept)
    population.run(1.0)
    assert np.array_equal(population.states, there)
    other = Population(3, skill=skills)
    other.restore(kept)
    other.run(1.0)
    assert np.array_equal(other.states, there)


def test_progress_is_told_from_nothing_to_all() -> None:
    told: list[float] = []
    Population(2, "planar").run(1.0, progress=told.append)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert len(told) >= 4
    assert told == sorted(told)


def test_states_are_a_copy() -> None:
    population = Population(2, "planar")
    kept = population.states
    before = kept.copy()
    population.run(0.1)
    assert np.array_equal(kept, before)
    assert not np.array_equal(population.states, before)
    population.states[:] = 0.0
    assert population.states.any()


def test_states_can_be_exchanged_between_rows() -> None:
    population = Population(2, "planar", pushes=[[Push((50.0, 0.0, 0.0), 0.1, 0.1)], []])
    population.run(0.5)
    states = population.states
    population.restore(states[::-1])
    population.run(0.5)
    ends = population.states
    population.restore(states)
    population.run(0.5)
    assert np.array_equal(population.states, ends[::-1])


def test_a_row_of_a_population_continues_in_a_simulation() -> None:
    population, sim = Population(2, "planar"), Simulation("planar")
    population.run(0.7)
    sim.restore(type(sim.snapshot())(population.states[1], sim.skill, None))
    sim.step(1000)
    population.run(0.5)
    assert np.array_equal(population.states[1], bits(sim))


def test_each_row_can_be_advanced_by_its_own_time() -> None:
    population = Population(3, "planar")
    population.advance([0.0, 0.3, 1.0])
    assert population.time == pytest.approx([0.0, 0.3, 1.0], abs=1e-9)
    for i, steps in enumerate((0, 600, 2000)):
        sim = Simulation("planar", seed=i)
        sim.step(steps)
        assert np.array_equal(population.states[i], bits(sim))


def test_motions_of_a_population_are_those_of_single_runs() -> None:
    motions = Population(2, skill=["walk", "fast-walk"]).run(0.5, fps=90)
    for motion, name in zip(motions, ("walk", "fast-walk"), strict=True):
        alone = Simulation(skill=name).run(0.5, fps=90).arrays()
        for key, array in motion.arrays().items():
            assert np.array_equal(array, alone[key]), (name, key)


def test_time_and_fallen_at_are_arrays_of_the_callers_own() -> None:
    population = Population(2, "planar")
    population.time[:] = 9.0
    population.fallen_at[:] = 9.0
    assert population.time.tolist() == [0.0, 0.0]
    assert np.isinf(population.fallen_at).all()


def test_values_of_another_number_than_rows_are_refused_with_both_numbers() -> None:
    with pytest.raises(SurefootError, match=r"states\.0\.cv.*2 values for 3 rows"):
        Population(3, "planar", parameters={"states.0.cv": [0.1, 0.2]})
    with pytest.raises(SurefootError, match="2 skills for 3 rows"):
        Population(3, skill=["walk", "run"])
    with pytest.raises(SurefootError, match="2 lists of pushes for 3 rows"):
        Population(3, "planar", pushes=[[], []])
    with pytest.raises(SurefootError, match="at least one"):
        Population(0, "planar")
    with pytest.raises(SurefootError, match="shape"):
        Population(3, "planar").restore(Population(2, "planar").states)


def test_times_of_another_number_than_rows_are_refused() -> None:
    with pytest.raises(SurefootError, match="2"):
        Population(3, "planar").advance([0.1, 0.2])


def test_skills_of_rows_are_known_after_a_switch() -> None:
    population = Population(3, "planar")
    population.switch("fast-walk", [0, 2])
    assert [s.name for s in population.skills] == ["fast-walk", "walk", "fast-walk"]
