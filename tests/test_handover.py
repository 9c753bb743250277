"""Switching between controllers: at a footstrike, or from quiet standing, with the body's state alone."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation


def switched(sim: Simulation, skill: str) -> Simulation:
    """Ask and wait until it has happened."""
    sim.switch(skill)
    limit = sim.time + 3.0
    while sim.requested is not None and sim.time < limit:
        sim.step()
    assert sim.requested is None
    return sim


@pytest.mark.parametrize(
    "chain",
    [
        ("human/fast-walk", "biped/sneak"),
        ("biped/zero-walk", "human/walk-as-printed", "biped/proud"),
        ("human/stand", "biped/zero-walk", "human/fast-walk", "biped/stand"),
        ("biped/stand", "human/walk-as-printed"),
    ],
)
def test_it_walks_on_through_every_change_of_controller(chain: tuple[str, ...]) -> None:
    sim = Simulation("human", chain[0])
    sim.run(3.0)
    for name in chain[1:]:
        switched(sim, name)
        assert sim.skill.full_name == name
        sim.run(6.0)
        assert not sim.fallen, f"fell in {name} at {sim.fallen_at:.1f} s: {sim.fall_cause}"


def test_it_happens_at_a_footstrike_and_nothing_jumps() -> None:
    sim = Simulation("human", "human/fast-walk")
    sim.run(3.1)
    sim.switch("biped/zero-walk")
    steps, asked = sim.memory.report[0].steps, sim.time
    while sim.requested is not None:
        assert sim.memory.report[0].steps == steps
        qpos = sim.data.qpos.copy()
        sim.step()
    assert 0.0 < sim.time - asked < 1.0
    assert np.abs(sim.data.qpos - qpos).max() < 0.05
    swing = int(sim.memory.report[0].swing)
    assert sim.memory.touch[1 - swing] != 0.0


def test_the_heading_is_kept_and_other_commands_are_not() -> None:
    sim = Simulation("human", "human/fast-walk")
    sim.command(heading=0.7, lift=0.05)
    sim.run(6.0)
    switched(sim, "biped/zero-walk")
    sim.run(4.0)
    assert sim.memory.report[0].heading == pytest.approx(0.7, abs=0.02)
    ahead = sim.data.qvel[:2] @ (np.cos(0.7), np.sin(0.7))
    assert not sim.fallen
    assert ahead > 0.15


def test_another_request_of_the_running_controller_takes_the_place_of_one_that_waits() -> None:
    sim = Simulation("human", "human/fast-walk")
    sim.run(2.0)
    sim.switch("biped/zero-walk")
    switched(sim, "high-knee-walk")
    sim.run(2.0)
    assert sim.skill.full_name == "human/high-knee-walk"


def test_a_snapshot_taken_while_it_waits_repeats_the_same_bits() -> None:
    sim = Simulation("human", "human/fast-walk")
    sim.run(2.0)
    sim.switch("biped/zero-walk")
    moment = sim.snapshot()
    sim.run(2.0)
    first = sim.data.qpos.copy()
    sim.restore(moment)
    assert sim.requested is not None
    sim.run(2.0)
    assert np.array_equal(sim.data.qpos, first)


def test_a_population_changes_controllers_as_single_simulations_do() -> None:
    population = Population(2, character="human", skill="human/fast-walk")
    population.run(2.0)
    population.switch("biped/zero-walk")
    population.run(3.0)
    sim = Simulation("human", "human/fast-walk")
    sim.run(2.0)
    sim.switch("biped/zero-walk")
    sim.run(3.0)
    assert np.array_equal(population.qpos[1], sim.data.qpos)
