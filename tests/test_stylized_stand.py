"""A stylized skill in a simulation and in a population: two clocks, one state."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers.stylized import qp
from surefoot.controllers.stylized.law import tracker_memory
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import NUMBER_AT

STAND = "human/stylized-stand"


def tracked(sim: sf.Simulation) -> object:
    return python_impl(tracker_memory)(sim.memory.memory, sim.model.nu)


def test_it_stands_and_a_push_is_absorbed_without_a_step() -> None:
    sim = sf.Simulation(skill=STAND)
    sim.push((100.0, 0.0, 0.0), 0.4, delay=0.2)
    sim.step(1000)
    feet = [sim.data.body(f"{side}_foot").xpos.copy() for side in ("left", "right")]
    sim.step(2000)
    assert not sim.fallen
    assert tracked(sim).tracker[0].failures == 0
    assert abs(sim.data.qpos[0]) < 0.1
    for side, place in zip(("left", "right"), feet, strict=True):
        assert np.abs(sim.data.body(f"{side}_foot").xpos - place).max() < 0.03


def test_quadratic_program_is_solved_at_its_rate_however_the_simulation_is_stepped() -> None:
    whole, parts = sf.Simulation(skill=STAND), sf.Simulation(skill=STAND)
    for sim in (whole, parts):
        sim.push((60.0, 40.0, 0.0), 0.1, delay=0.02)
    whole.step(203)
    for count in (1, 3, 7, 92, 0, 100):
        parts.step(count)
    assert tracked(whole).tracker[0].solves == 1 + 203 // 5
    assert (whole.data.qpos == parts.data.qpos).all()
    assert (whole.data.userdata == parts.data.userdata).all()


def test_rows_of_a_population_do_what_simulations_do_bit_for_bit() -> None:
    pushes = [[sf.Push((20.0 * i, -15.0 * i, 0.0), 0.1, 0.03)] for i in range(3)]
    population = sf.Population(3, skill=STAND, pushes=pushes, threads=1)
    population.run(0.15)
    for i in range(3):
        sim = sf.Simulation(skill=STAND, seed=i)
        sim.scene.add_push(sim.memory, pushes[i][0], 0.0)
        sim.step(150)
        assert (sim.data.qpos == population.qpos[i]).all()
        assert (sim.data.qvel == population.qvel[i]).all()


def test_restored_snapshot_goes_on_as_it_would_have() -> None:
    sim = sf.Simulation(skill=STAND)
    sim.push((80.0, 0.0, 0.0), 0.1, delay=0.03)
    sim.step(52)
    kept = sim.snapshot()
    sim.step(100)
    first = sim.data.qpos.copy()
    sim.restore(kept)
    sim.step(100)
    assert (sim.data.qpos == first).all()


def test_program_that_fails_leaves_the_last_torques_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = sf.Simulation(skill=STAND)
    sim.step(50)
    torque = tracked(sim).torque.copy()
    nothing = qp.Solution(np.full(28, np.nan), np.zeros(0), np.zeros(34), False)
    monkeypatch.setattr(qp, "solve_qp", lambda problem, actuators: nothing)
    sim.step(20)
    now = tracked(sim)
    assert now.tracker[0].failures == 4
    assert (now.torque == torque).all()
    assert np.isfinite(sim.data.qpos).all()


def test_feet_that_stand_do_not_creep_apart() -> None:
    sim = sf.Simulation(skill=STAND)
    sim.run(4.0, fps=5.0)
    before = sim.data.body("left_foot").xpos - sim.data.body("right_foot").xpos
    sim.run(6.0, fps=5.0)
    after = sim.data.body("left_foot").xpos - sim.data.body("right_foot").xpos
    assert np.abs(after - before).max() < 5e-4  # without `calm` more than 3 mm, and twice as fast a minute later


def test_servo_moves_a_joint_towards_its_target_between_two_solutions() -> None:
    sim = sf.Simulation(skill=STAND)
    sim.step(5)
    waist = list(sim.scene.table.gains).index("waist")
    before = float(sim.memory.torque[waist])
    tracked(sim).targets[waist] += 0.1
    sim.step(1)
    kp = sim.memory.slots[0][NUMBER_AT + 1 + 3 * waist]
    assert sim.memory.torque[waist] - before == pytest.approx(0.1 * kp, rel=0.2)


def test_it_takes_over_from_another_controller_and_leaves_its_memory_alone_until_then() -> None:
    sim = sf.Simulation("human", "biped/stand", skills=[STAND])
    sim.switch(STAND)
    sim.step(100)
    assert sim.skill.name == "stand"
    sim.step(1500)
    assert sim.skill.name == "stylized-stand"
    assert tracked(sim).tracker[0].solves > 100
    assert not sim.fallen
