"""What the law gets to see of d and v: where from, how late, and with how much noise."""

from __future__ import annotations

import functools
import itertools
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from conftest import bits, machine_of
from human_body import LEFT, RIGHT, hovering, look, walk
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.native.kernels import python_impl
from surefoot.reflexes import balance
from surefoot.reflexes.pose_graph import MACHINE

FIELDS = ("d", "v", "lateral_d", "lateral_v")
REPORTED = ("distance", "velocity", "lateral_distance", "lateral_velocity")


@pytest.fixture(autouse=True)
def _uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are called by kernels only, as the Python they are written in."""
    for name in ("_draw_uniform", "_draw_gaussian"):
        monkeypatch.setattr(balance, name, python_impl(getattr(balance, name)))


def seen(sim: Simulation) -> np.ndarray:
    """(4,) what the law has been given of d, v and their lateral counterparts."""
    return np.array([sim.memory.report[0][name] for name in REPORTED])


def followed(sim: Simulation, steps: int) -> np.ndarray:
    """(steps, 4) what it was given at every physics step."""
    found = []
    for _ in range(steps):
        sim.step()
        found.append(seen(sim))
    return np.array(found)


# ------------------------------------------------------------------------------------------- what is measured


def hips_and_ankle(sim: Simulation, leg: int) -> np.ndarray:
    hips = 0.5 * (sim.data.body("left_thigh").xpos + sim.data.body("right_thigh").xpos)
    return np.array(hips - sim.data.body(("right_foot", "left_foot")[leg]).xpos)


def in_heading(vector: np.ndarray, yaw: float) -> np.ndarray:
    return np.asarray(Rotation.from_euler("z", -yaw).apply(vector))


@pytest.mark.parametrize("leg", [LEFT, RIGHT])
@pytest.mark.parametrize("yaw", [0.0, -2.1])
def test_true_com_and_its_velocity_are_mujocos_own(leg: int, yaw: float) -> None:
    sim = hovering(walk(sensing__point="com", start__heading=yaw, start__swing=("left", "right")[leg]), 3)
    mujoco.mj_subtreeVel(sim.model, sim.data)
    d = sim.data.subtree_com[1] - sim.data.body(("right_foot", "left_foot")[leg]).xpos
    d, v = in_heading(d, yaw), in_heading(sim.data.subtree_linvel[1], yaw)
    assert seen(sim) == pytest.approx([d[0], v[0], d[1], v[1]], abs=1e-12)
    hips = hovering(walk(start__heading=yaw, start__swing=("left", "right")[leg]), 3)
    assert np.abs(seen(hips) - seen(sim)).min() > 1e-3


def test_a_backpack_is_part_of_the_true_com() -> None:
    plain_one, laden = (Simulation(skill=walk(sensing__point="com"), backpack=mass) for mass in (0.0, 20.0))
    for sim in (plain_one, laden):
        look(sim)
    assert seen(laden)[0] < seen(plain_one)[0] - 0.01


@pytest.mark.parametrize("leg", [LEFT, RIGHT])
def test_d_and_v_of_the_hips_agree_with_finite_differences(leg: int) -> None:
    yaw, h = 0.8, 1e-6
    sim = hovering(walk(start__heading=yaw, start__swing=("left", "right")[leg]), 5)
    d, given = in_heading(hips_and_ankle(sim, leg), yaw), seen(sim)
    assert given[[0, 2]] == pytest.approx(d[:2], abs=1e-12)
    places = []
    for sign in (-1.0, 1.0):
        qpos, other = sim.data.qpos.copy(), mujoco.MjData(sim.model)
        mujoco.mj_integratePos(sim.model, qpos, sim.data.qvel, sign * h)
        other.qpos[:] = qpos
        mujoco.mj_kinematics(sim.model, other)
        places.append(0.5 * (other.body("left_thigh").xpos + other.body("right_thigh").xpos))
    speed = in_heading((places[1] - places[0]) / (2.0 * h), yaw)
    assert given[[1, 3]] == pytest.approx(speed[:2], abs=1e-7)


# --------------------------------------------------------------------------------------------------- delay


@pytest.mark.parametrize("steps", [1, 7, 100, 250])
def test_a_delay_of_n_steps_gives_the_sample_of_n_steps_ago_and_the_first_one_until_then(steps: int) -> None:
    """With a stance leg that never changes, what would have been seen at once is known from the motion itself."""
    late = Simulation(skill=walk(sensing__delay=0.001 * steps, states__0__duration=0.6))
    true, given = [hips_and_ankle(late, LEFT)[:2]], []
    for _ in range(400):
        late.step()
        given.append(seen(late)[[0, 2]])
        mujoco.mj_kinematics(late.model, late.data)
        true.append(hips_and_ankle(late, LEFT)[:2])
    for n, sample in enumerate(given):  # the law that ended step n + 1 looked at the state before it
        assert sample == pytest.approx(true[max(0, n - steps)], abs=1e-12), n


def test_a_delay_is_the_same_time_at_a_smaller_step() -> None:
    sim = Simulation(skill=walk(sensing__delay=0.2), timestep=0.0005)
    true = []
    for _ in range(500):
        mujoco.mj_kinematics(sim.model, sim.data)
        true.append(hips_and_ankle(sim, LEFT)[0])
        sim.step()
    assert seen(sim)[0] == pytest.approx(true[499 - 400], abs=1e-12)
    assert abs(true[499 - 400] - true[499 - 200]) > 1e-3


def test_a_delay_there_is_no_room_for_is_refused() -> None:
    sim = Simulation(skill="human/walk-as-printed")
    with pytest.raises(CommandError, match="skills"):
        sim.switch(walk(sensing__delay=0.1))


def test_after_a_switch_to_late_senses_the_first_samples_are_not_those_of_nothing() -> None:
    late = walk(sensing__delay=0.05)
    sim = Simulation(skill="human/walk-as-printed", skills=[late])
    sim.switch(late)
    while sim.requested:
        sim.step()
    assert np.abs(seen(sim)).max() > 0.0


def test_all_four_numbers_are_late_by_the_same_steps() -> None:
    machine, head = np.zeros(1, MACHINE).view(np.recarray)[0], heads(delay=3.0)
    ring = np.zeros(8, balance.SAMPLE).view(np.recarray)
    samples = np.random.default_rng(2).normal(size=(30, 4))
    for n, sample in enumerate(samples):
        python_impl(balance.sense_balance)(machine, ring, head, tuple(sample))
        assert [machine[name] for name in FIELDS] == samples[max(0, n - 3)].tolist()


def test_evaluating_a_moment_again_takes_no_further_sample() -> None:
    sim = Simulation(skill=walk(sensing__delay=0.01, sensing__noise_distance=0.01))
    sim.step(50)
    mujoco.mj_forward(sim.model, sim.data)
    kept = machine_of(sim.memory).copy()
    for _ in range(3):
        mujoco.mj_forward(sim.model, sim.data)
    assert machine_of(sim.memory).tolist() == kept.tolist()
    assert kept.measured == 51.0


# --------------------------------------------------------------------------------------------------- noise


def heads(delay: float = 0.0, distance: float = 0.0, velocity: float = 0.0) -> Any:
    return SimpleNamespace(delay=delay, noise_distance=distance, noise_velocity=velocity)


@functools.cache
def noises(seed: int, count: int, distance: float = 0.03, velocity: float = 0.2) -> np.ndarray:
    """(count, 4) what is added to a measurement that is known."""
    machine, ring = np.zeros(1, MACHINE).view(np.recarray)[0], np.zeros(0, balance.SAMPLE).view(np.recarray)
    machine.random = python_impl(balance.random_state)(seed)
    truth, found = (1.0, -2.0, 0.5, 0.25), []
    for _ in range(count):
        python_impl(balance.sense_balance)(machine, ring, heads(0.0, distance, velocity), truth)
        found.append([machine[name] - t for name, t in zip(FIELDS, truth, strict=True)])
    return np.array(found)


def test_noise_has_mean_0_and_the_stated_standard_deviation_and_is_white() -> None:
    found = noises(11, 8000) / (0.03, 0.2, 0.03, 0.2)
    assert found.mean(axis=0) == pytest.approx(np.zeros(4), abs=4.0 / np.sqrt(8000))
    assert found.std(axis=0) == pytest.approx(np.ones(4), abs=4.0 / np.sqrt(2 * 8000))
    assert np.corrcoef(found.T) == pytest.approx(np.eye(4), abs=4.0 / np.sqrt(8000))
    for column in found.T:
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 4.0 / np.sqrt(8000)
        assert (np.abs(column) > 2.0).mean() == pytest.approx(0.0455, abs=0.01)  # as a Gaussian has


def test_noise_of_distance_and_of_velocity_are_given_apart() -> None:
    assert not noises(3, 20, distance=0.0)[:, [0, 2]].any()
    assert not noises(3, 20, velocity=0.0)[:, [1, 3]].any()


@pytest.mark.parametrize(("one", "two"), list(itertools.combinations((0, 1, 2, 1000), 2)))
def test_other_seeds_give_other_noise_from_the_first_sample_on(one: int, two: int) -> None:
    first, second = noises(one, 4000), noises(two, 4000)
    assert (first[0] != second[0]).all()
    for a, b in zip(first.T, second.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(4000)


@pytest.mark.parametrize("seed", [0, -5, 2**31 - 2, 2**40, 2147483646])
def test_every_seed_gives_a_state_the_generator_does_not_stick_at(seed: int) -> None:
    state = python_impl(balance.random_state)(seed)
    assert 1.0 <= state < 2147483647.0
    assert state == int(state)


def test_noise_in_a_walk_is_what_is_stated() -> None:
    noisy = Simulation(skill=walk(sensing__noise_distance=0.02, sensing__noise_velocity=0.1, states__0__duration=0.6))
    true, given = [], []
    for _ in range(500):
        true.append(hips_and_ankle(noisy, LEFT)[:2].copy())
        noisy.step()
        given.append(seen(noisy)[[0, 2]])
        mujoco.mj_kinematics(noisy.model, noisy.data)
    noise = np.array(given) - np.array(true)
    assert noise.std(axis=0) == pytest.approx([0.02, 0.02], rel=4.0 / np.sqrt(2 * 500))
    assert noise.mean(axis=0) == pytest.approx([0.0, 0.0], abs=4.0 * 0.02 / np.sqrt(500))


def test_the_same_seed_gives_the_same_bits_and_another_seed_others() -> None:
    skill = walk(sensing__noise_distance=0.01, sensing__noise_velocity=0.05, sensing__delay=0.01)
    sims = [Simulation(skill=skill, seed=seed) for seed in (4, 4, 5)]
    for sim in sims:
        sim.step(300)
    assert np.array_equal(bits(sims[0]), bits(sims[1]))
    assert not np.array_equal(sims[0].data.qpos, sims[2].data.qpos)


def test_without_noise_a_seed_changes_nothing_and_draws_nothing() -> None:
    one, two = Simulation(skill="human/walk-as-printed", seed=1), Simulation(skill="human/walk-as-printed", seed=2)
    drawn = machine_of(one.memory).random
    for sim in (one, two):
        sim.step(300)
    assert np.array_equal(one.data.qpos, two.data.qpos)
    assert machine_of(one.memory).random == drawn


def test_no_noise_and_no_delay_are_the_same_as_no_sensing_at_all() -> None:
    plain_one = Simulation(skill="human/walk-as-printed")
    zero = Simulation(skill=walk(sensing__noise_distance=0.0, sensing__noise_velocity=0.0, sensing__delay=0.0))
    late_memory = Simulation(skill="human/walk-as-printed", skills=[walk(sensing__delay=0.02)])
    for sim in (plain_one, zero, late_memory):
        sim.step(400)
    assert np.array_equal(bits(plain_one), bits(zero))
    assert np.array_equal(plain_one.data.qpos, late_memory.data.qpos)


def test_noise_and_delay_are_in_the_snapshot() -> None:
    sim = Simulation(skill=walk(sensing__noise_velocity=0.05, sensing__delay=0.03), seed=9)
    sim.step(120)
    kept = sim.snapshot()
    first = followed(sim, 60)
    sim.restore(kept)
    assert np.array_equal(followed(sim, 60), first)
