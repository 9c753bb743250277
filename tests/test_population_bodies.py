"""A population whose rows have different bodies."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import bits
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, SurefootError, UnknownNameError
from surefoot.lab.replicas import perturb_population, seeded_generator

BODIES = [
    {"leg_length": 1.2, "torso_mass": 0.7},
    {"left_arm_length": 1.4, "right_arm_length": 0.6},
    {},
    {"leg_length": 1.2, "torso_mass": 0.7},
]
PUSH = Push((90.0, 40.0, 0.0), 0.2, 0.3, "chest")


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_row_of_its_own_body_is_the_simulation_of_that_body_bit_for_bit(row: int) -> None:
    population = Population(len(BODIES), "humanoid", "zero-walk", proportions=BODIES, pushes=[PUSH], seed=3)
    population.run(1.0)
    sim = Simulation("humanoid", "zero-walk", seed=3 + row, proportions=BODIES[row])
    sim.push(PUSH.force, PUSH.duration, PUSH.body, delay=PUSH.start)
    sim.step(round(1.0 / sim.model.opt.timestep))
    assert np.array_equal(population.states[row], bits(sim))


def test_simbicon_rows_get_the_gains_of_their_own_bodies() -> None:
    bodies = [{"mass": 1.3}, {"thigh_length": 0.9}]
    population = Population(2, "planar", "walk", proportions=bodies)
    population.switch("run")
    population.run(0.4)
    for row, body in enumerate(bodies):
        sim = Simulation("planar", "walk", seed=row, proportions=body)
        sim.switch("run")
        sim.step(round(0.4 / sim.model.opt.timestep))
        assert np.array_equal(population.states[row], bits(sim))


def test_every_distinct_body_is_compiled_once_and_has_its_own_mass() -> None:
    population = Population(len(BODIES), "humanoid", "zero-walk", proportions=BODIES)
    assert population.scenes[0] is population.scenes[3]
    assert len({id(scene) for scene in population.scenes}) == 3
    masses = [float(scene.model.body_mass.sum()) for scene in population.scenes]
    assert masses[0] < masses[2]
    same = Population(3, "humanoid", "zero-walk", proportions={"leg_length": 1.1})
    assert {id(scene) for scene in same.scenes} == {id(same.scene)}


def test_every_body_begins_and_is_disturbed_with_its_own_soles_on_the_ground() -> None:
    population = Population(len(BODIES), "humanoid", "zero-walk", proportions=BODIES)
    before = [scene.clearance(qpos) for scene, qpos in zip(population.scenes, population.qpos, strict=True)]
    assert before == pytest.approx([0.0] * len(BODIES), abs=1e-9)
    assert population.qpos[0, 2] - population.qpos[2, 2] > 0.1  # its legs are longer
    perturb_population(population, [seeded_generator(1, i) for i in range(population.n)])
    after = [scene.clearance(qpos) for scene, qpos in zip(population.scenes, population.qpos, strict=True)]
    assert after == pytest.approx(before, abs=1e-9)


def test_recorded_rows_are_drawn_with_their_own_bodies() -> None:
    population = Population(2, "humanoid", "zero-walk", proportions=[{"leg_length": 1.3}, {}])
    long, usual = population.run(0.05, fps=50)
    assert long.scene is population.scenes[0]
    assert long.root_position[0, 2] > usual.root_position[0, 2] + 0.1


def test_bodies_that_do_not_fit_the_rows_or_do_not_exist_are_refused() -> None:
    with pytest.raises(SurefootError, match="2 bodies for 3 rows"):
        Population(3, "humanoid", "zero-walk", proportions=BODIES[:2])
    with pytest.raises(UnknownNameError, match="tail_length"):
        Population(2, "humanoid", "zero-walk", proportions=[{}, {"tail_length": 2.0}])
    with pytest.raises(CharacterError, match="leg_length"):
        Population(2, "humanoid", "zero-walk", proportions=[{}, {"leg_length": 50.0}])
