"""Feedback-error learning (SIMBICON §6): what is learned, from what, and that it helps."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from conftest import bits, learner_of, machine_of
from surefoot.errors import CommandError
from surefoot.population import Population
from surefoot.simulation import Simulation
from surefoot.skills import load, varied
from surefoot.skills.schema import Skill

KP = 300.0


def learner(bins: int = 10, rate: float = 0.1, limit: float = 0.2, **more: float) -> Skill:
    changes: dict[str, Any] = {"learning.bins": bins, "learning.rate": rate, "learning.limit": limit} | more
    return varied(load("planar/walk"), changes)


def replay(sim: Simulation, steps: int) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """What eq. 2 says the table must be, from the reported feedback alone; and every (bin, mean) that was learned."""
    learning = sim.skill.parameters.learning
    assert learning is not None
    bins, rate, bound = learning.bins, learning.rate, learning.limit * KP
    table, here = sim.memory.table.copy(), None
    gathered: list[float] = []
    learned: list[tuple[int, float]] = []
    for _ in range(steps):
        sim.step()
        report = sim.memory.report[0]
        now = int(report.swing) * bins + int(machine_of(sim.memory).phase * bins)
        if here is not None and now != here and gathered:
            mean = float(np.mean(gathered))
            table[here] = np.clip((1.0 - rate) * table[here] + rate * (table[here] + mean), -bound, bound)
            learned.append((here, mean))
        if now != here:
            gathered, here = [], now
        gathered.append(float(report.feedback))
    return table, learned


@pytest.mark.parametrize(("bins", "rate"), [(10, 0.1), (7, 0.45), (100, 0.1)])
def test_the_table_is_learned_by_equation_2_from_the_mean_of_each_bin(bins: int, rate: float) -> None:
    sim = Simulation(skill=learner(bins, rate))
    expected, learned = replay(sim, 6000)
    assert len({at for at, _ in learned}) > bins
    assert np.abs(expected).max() > 1.0
    assert sim.memory.table == pytest.approx(expected, abs=1e-9)


def test_an_update_moves_the_bin_towards_less_feedback() -> None:
    """Once: v_ff' = v_ff + α v_fb, so a torso that lags behind gets more torque of the same sign next time."""
    sim = Simulation(skill=learner(bins=4, rate=0.3))
    sim.memory.table[:] = 5.0
    expected, learned = replay(sim, 900)
    first = dict(reversed(learned))
    for at, mean in first.items():
        if [b for b, _ in learned].count(at) == 1:
            assert expected[at] == pytest.approx(5.0 + 0.3 * mean)
    assert any(abs(mean) > 1.0 for mean in first.values())
    assert sim.memory.table == pytest.approx(expected, abs=1e-9)


def test_learned_torque_stays_within_the_limit() -> None:
    sim = Simulation(skill=learner(bins=10, rate=1.0, limit=0.01))
    largest = 0.0
    for _ in range(60):
        sim.step(100)
        largest = max(largest, float(np.abs(sim.memory.table).max()))
    assert largest == pytest.approx(0.01 * KP)
    assert largest <= 0.01 * KP


def test_the_limit_follows_the_torsos_own_stiffness() -> None:
    sim = Simulation(skill=learner(bins=10, rate=1.0, limit=0.01, **{"torso_gain.kp": 500.0, "torso_gain.kd": 50.0}))
    sim.step(6000)
    assert np.abs(sim.memory.table).max() == pytest.approx(0.01 * 500.0)


def test_rate_zero_leaves_the_table_as_it_is_and_still_uses_it() -> None:
    sim = Simulation(skill=learner(rate=0.0))
    given = np.linspace(-4.0, 6.0, 20)
    sim.memory.table[:] = given
    used = set()
    for _ in range(4000):
        sim.step()
        used.add(float(sim.memory.report[0].feedforward))
    assert np.array_equal(sim.memory.table, given)
    assert used <= set(given.tolist())
    assert len(used) > 10


def test_an_empty_table_that_does_not_learn_is_the_walk_without_learning() -> None:
    plain, empty = Simulation(), Simulation(skill=learner(rate=0.0))
    plain.step(3000)
    empty.step(3000)
    assert np.array_equal(plain.data.qpos, empty.data.qpos)
    learning = Simulation(skill=learner())
    learning.step(3000)
    assert not np.array_equal(plain.data.qpos, learning.data.qpos)


def test_each_swing_leg_has_bins_of_its_own() -> None:
    sim = Simulation(skill=learner(bins=5))
    machine = machine_of(sim.memory)
    sim.memory.table[:] = np.arange(10.0)
    sides = set()
    for _ in range(3000):
        sim.step()
        report = sim.memory.report[0]
        here = int(report.swing) * 5 + int(machine.phase * 5)
        assert learner_of(sim.memory).bin == here
        assert 0 <= here < 10
        sides.add(int(report.swing))
        if here == 3:
            assert report.feedforward == sim.memory.table[3]
    assert sides == {0, 1}


def test_evaluating_a_moment_twice_learns_once() -> None:
    sim = Simulation(skill=learner())
    sim.step(1500)
    mujoco.mj_forward(sim.model, sim.data)
    before = bits(sim)
    for _ in range(5):
        mujoco.mj_forward(sim.model, sim.data)
    assert np.array_equal(bits(sim), before)


def test_learning_calms_the_torso_of_the_walk_within_twenty_seconds() -> None:
    skills = [load("planar/walk"), learner(bins=100)]
    population = Population(2, skill=skills)
    population.run(17.0)
    plain, learned = population.run(3.0, fps=200)
    assert np.isinf(population.fallen_at).all()
    sway = [float(np.ptp(m.qpos[:, 2])) for m in (plain, learned)]
    effort = [float(np.sqrt((m.feedback[:, 0] ** 2).mean())) for m in (plain, learned)]
    assert sway[1] < 0.6 * sway[0]
    assert effort[1] < 0.6 * effort[0]


def test_a_learning_skill_needs_room_that_was_asked_for_when_building() -> None:
    sim = Simulation()
    with pytest.raises(CommandError, match="room"):
        sim.switch(learner(bins=30))
    roomy = Simulation(skills=[learner(bins=30)])
    roomy.switch(learner(bins=30))
    roomy.step(4000)
    assert roomy.memory.table.any()
