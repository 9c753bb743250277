"""Feedback-error learning (SIMBICON §6): what is learned, from what, and that it helps."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from conftest import bits, learners_of, machine_of
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

KP = 300.0


def learner(bins: int = 10, rate: float = 0.1, limit: float = 0.2, **more: float) -> Skill:
    changes: dict[str, Any] = {"learning.bins": bins, "learning.rate": rate, "learning.limit": limit} | more
    return with_parameters(load("planar/walk"), changes)


def bin_at(sim: Simulation, time: float, bins: int) -> int | None:
    """The bin of a moment of the present step: n = t N / T̂, of the swing leg; none while T̂ is not known."""
    machine = machine_of(sim.memory)
    if machine.usual_period == 0.0:
        return None
    phase = (time - machine.step_start) / machine.usual_period
    return int(sim.memory.report[0].swing) * bins + min(int(phase * bins), bins - 1)


def replay(sim: Simulation, steps: int) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """What eq. 2 says the table must be, from the reported feedback alone; and every (bin, mean) that was learned."""
    learning = sim.skill.parameters.learning
    assert learning is not None
    bins, rate, bound = learning.bins, learning.rate, learning.limit * KP
    table, here = sim.memory.table.copy(), None
    gathered: list[float] = []
    learned: list[tuple[int, float]] = []
    for _ in range(steps):
        time = sim.time
        sim.step()
        now = bin_at(sim, time, bins)
        if now is None:
            continue
        if here is not None and now != here and gathered:
            mean = float(np.mean(gathered))
            table[here] = np.clip((1.0 - rate) * table[here] + rate * (table[here] + mean), -bound, bound)
            learned.append((here, mean))
        if now != here:
            gathered, here = [], now
        gathered.append(float(sim.memory.report[0].feedback))
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
    expected, learned = replay(sim, 1500)
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
    assert used <= {0.0, *given.tolist()}  # 0 in the first step
    assert len(used) > 10


def test_an_empty_table_that_does_not_learn_is_the_walk_without_learning() -> None:
    plain, empty = Simulation("planar"), Simulation(skill=learner(rate=0.0))
    plain.step(3000)
    empty.step(3000)
    assert np.array_equal(plain.data.qpos, empty.data.qpos)
    learning = Simulation(skill=learner())
    learning.step(3000)
    assert not np.array_equal(plain.data.qpos, learning.data.qpos)


def test_in_the_first_step_nothing_is_learned_or_fed_forward() -> None:
    """Its phase is not known: there is no step before it to tell how long it takes."""
    given = np.arange(1.0, 21.0)
    sim, plain = Simulation(skill=learner(rate=0.5)), Simulation("planar")
    sim.memory.table[:] = given
    while machine_of(sim.memory).steps == 0.0:
        assert np.array_equal(sim.memory.table, given)
        assert np.array_equal(sim.data.qpos, plain.data.qpos)
        assert sim.memory.report[0].feedforward == 0.0
        assert learners_of(sim.memory)[0].tolist() == (-1.0, 0.0, 0.0)
        sim.step()
        plain.step()
        assert sim.time < 1.0
    assert sim.time > 0.2
    assert sim.memory.report[0].feedforward in given
    sim.step(500)
    assert not np.array_equal(sim.memory.table, given)


def test_each_swing_leg_has_bins_of_its_own_and_a_late_step_stays_in_the_last() -> None:
    sim = Simulation(skill=learner(bins=5, rate=0.0))
    sim.memory.table[:] = np.arange(10.0)
    sides, late = set(), 0
    for _ in range(4000):
        time, machine = sim.time, machine_of(sim.memory)
        sim.step()
        here = bin_at(sim, time, 5)
        if here is not None:
            assert 0 <= here < 10
            assert sim.memory.report[0].feedforward == here
            sides.add(here // 5)
            late += time - machine.step_start >= machine.usual_period
    assert sides == {0, 1}
    assert late > 0


def test_what_is_gathered_belongs_to_the_present_bin() -> None:
    sim = Simulation(skill=learner(bins=5))
    sim.step(1000)
    for _ in range(1000):
        time = sim.time
        sim.step()
        assert learners_of(sim.memory)[0].bin == bin_at(sim, time, 5)


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
    sim = Simulation("planar")
    with pytest.raises(CommandError, match="room"):
        sim.switch(learner(bins=30))
    roomy = Simulation("planar", skills=[learner(bins=30)])
    roomy.switch(learner(bins=30))
    roomy.step(4000)
    assert roomy.memory.table.any()


@pytest.mark.parametrize("name", ["planar/walk", "human/walk-as-printed"])
def test_a_blend_with_a_skill_that_learns_needs_room_as_a_switch_does(name: str) -> None:
    sim = Simulation(skill=name)
    with pytest.raises(CommandError, match="room"):
        sim.blend(with_parameters(load(name), {"learning.bins": 9}), 0.5)
