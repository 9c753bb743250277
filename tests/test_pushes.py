"""Pushes: exact steps, exact impulses, and nothing left behind."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from conftest import DT, bits, in_the_air
from surefoot.engine.population import Population
from surefoot.engine.scene import PUSHES, Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError

_A_THIRD_OF_A_STEP = 0.33 * DT  # [s] a step more or less would show; what is below is the integrator's own


def momentum(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum [N·s], and angular momentum about the body's COM [N·m·s]."""
    mujoco.mj_forward(sim.model, sim.data)
    mujoco.mj_subtreeVel(sim.model, sim.data)
    mass = float(sim.model.body_mass.sum())
    return mass * sim.data.subtree_linvel[0], sim.data.subtree_angmom[0].copy()


def falling() -> Simulation:
    """In free fall, where only gravity and pushes act from outside."""
    sim = Simulation("planar")
    in_the_air(sim, 50.0)
    return sim


def forced_steps(sim: Simulation, steps: int, body: str = "trunk") -> list[int]:
    """The steps (counted from 0) at which a force acts on a body."""
    found, number = [], sim.model.body(body).id
    for step in range(steps):
        sim.step()
        if sim.data.xfrc_applied[number].any():
            found.append(step)
    return found


@pytest.mark.parametrize(
    ("delay", "duration", "expected"),
    [(0.0, 0.1, range(200)), (0.05, 0.01, range(100, 120)), (0.0102, 0.0049, range(20, 30)), (3 * DT, DT, range(3, 4))],
)
def test_a_push_acts_during_exactly_its_physics_steps(delay: float, duration: float, expected: range) -> None:
    sim = falling()
    sim.push((10.0, 0.0, 0.0), duration, delay=delay)
    assert forced_steps(sim, 300) == list(expected)


def test_a_push_late_in_a_long_run_still_has_its_exact_number_of_steps() -> None:
    sim = Simulation("planar")
    sim.step(39_999)
    sim.push((1.0, 0.0, 0.0), 0.1, delay=0.1)
    assert forced_steps(sim, 600) == list(range(200, 400))


@pytest.mark.parametrize("force", [(80.0, 0.0, 0.0), (-35.0, 0.0, 60.0)])
def test_impulse_is_force_times_duration(force: tuple[float, float, float]) -> None:
    free, pushed = falling(), falling()
    pushed.push(force, 0.07, delay=0.02)
    free.step(250)
    pushed.step(250)
    missed = momentum(pushed)[0] - momentum(free)[0] - np.array(force) * 0.07
    assert np.linalg.norm(missed) < _A_THIRD_OF_A_STEP * np.linalg.norm(force)


@pytest.mark.parametrize("body", ["trunk", "left_thigh", "right_foot"])
def test_every_body_can_be_pushed(body: str) -> None:
    free, pushed = falling(), falling()
    pushed.push((20.0, 0.0, 10.0), 0.05, body=body)
    free.step(100)
    pushed.step(100)
    missed = momentum(pushed)[0] - momentum(free)[0] - (1.0, 0.0, 0.5)
    assert np.linalg.norm(missed) < _A_THIRD_OF_A_STEP * np.hypot(20.0, 10.0)


def test_a_push_at_a_point_adds_its_moment_about_the_bodys_center_of_mass() -> None:
    sim = falling()
    sim.data.qpos[2] = 0.4
    point, force = np.array([0.07, 0.0, 0.31]), np.array([50.0, 0.0, -20.0])
    sim.push(tuple(force), 0.1, point=tuple(point))
    mujoco.mj_forward(sim.model, sim.data)
    trunk = sim.data.body("trunk")
    arm = trunk.xpos + trunk.xmat.reshape(3, 3) @ point - trunk.xipos
    assert sim.data.xfrc_applied[1, :3] == pytest.approx(force)
    assert sim.data.xfrc_applied[1, 3:] == pytest.approx(np.cross(arm, force))
    assert abs(sim.data.xfrc_applied[1, 4]) > 1.0


def test_a_push_without_a_point_acts_at_the_center_of_mass() -> None:
    plain, named = falling(), falling()
    plain.push((50.0, 0.0, 5.0), 0.1)
    named.push((50.0, 0.0, 5.0), 0.1, point=(0.0, 0.0, 0.24))
    plain.step(200)
    named.step(200)
    assert plain.data.qpos == pytest.approx(named.data.qpos, abs=1e-12)


def test_a_push_higher_up_turns_the_body_more() -> None:
    turned = []
    for height in (0.0, 0.5):
        sim = falling()
        sim.push((60.0, 0.0, 0.0), 0.05, point=(0.0, 0.0, height))
        sim.step(100)
        turned.append(momentum(sim)[1][1])
    assert turned[1] - turned[0] == pytest.approx(60.0 * 0.05 * 0.5, rel=0.05)


def test_two_pushes_on_one_body_add_up_where_they_overlap() -> None:
    sim, number = falling(), 1
    sim.push((10.0, 0.0, 0.0), 0.05)
    sim.push((3.0, 0.0, 7.0), 0.05, delay=0.025)
    seen = []
    for _ in range(200):
        sim.step()
        seen.append(tuple(sim.data.xfrc_applied[number, [0, 2]]))
    assert seen == [(10.0, 0.0)] * 50 + [(13.0, 7.0)] * 50 + [(3.0, 7.0)] * 50 + [(0.0, 0.0)] * 50


def test_one_push_after_another_leaves_no_gap_and_no_overlap() -> None:
    sim = falling()
    for i in range(4):
        sim.push((5.0, 0.0, 0.0), 0.01, delay=0.01 * i)
    forces = []
    for _ in range(100):
        sim.step()
        forces.append(float(sim.data.xfrc_applied[1, 0]))
    assert forces == [5.0] * 80 + [0.0] * 20


def test_nothing_is_left_behind_when_a_push_is_over() -> None:
    sim = Simulation("planar")
    sim.push((300.0, 0.0, 50.0), 0.1, point=(0.0, 0.0, 0.4))
    sim.push((-20.0, 0.0, 0.0), 0.05, body="left_shin")
    sim.step(201)
    assert not sim.data.xfrc_applied.any()
    assert not any(push.acting for push in sim.memory.pushes)


def test_a_viewers_own_force_on_another_body_survives_a_push() -> None:
    sim = falling()
    foot = sim.model.body("right_foot").id
    sim.data.xfrc_applied[foot] = (1.0, 0.0, 2.0, 0.0, 0.5, 0.0)
    sim.push((40.0, 0.0, 0.0), 0.02)
    for _ in range(100):
        sim.step()
        assert sim.data.xfrc_applied[foot].tolist() == [1.0, 0.0, 2.0, 0.0, 0.5, 0.0]
    assert not sim.data.xfrc_applied[1].any()


def test_a_push_of_nothing_is_no_push() -> None:
    plain, pushed = Simulation("planar"), Simulation("planar")
    pushed.push((0.0, 0.0, 0.0), 0.3, delay=0.1)
    plain.step(2000)
    pushed.step(2000)
    assert np.array_equal(plain.data.qpos, pushed.data.qpos)


def test_rows_of_a_population_get_their_own_pushes() -> None:
    forces = (0.0, 40.0, -60.0)
    pushes = [[Push((f, 0.0, 0.0), 0.1, 0.3)] if f else [] for f in forces]
    population = Population(3, "planar", pushes=pushes)
    population.run(0.9)
    for i, force in enumerate(forces):
        sim = Simulation("planar", seed=i)
        if force:
            sim.push((force, 0.0, 0.0), 0.1, delay=0.3)
        sim.step(1800)
        assert np.array_equal(population.states[i], bits(sim))
    assert population.qvel[2, 0] < population.qvel[1, 0]


def test_a_push_given_to_some_rows_in_mid_run_reaches_only_them() -> None:
    population, plain = Population(4, "planar"), Population(4, "planar")
    population.run(0.5)
    population.push(Push((90.0, 0.0, 0.0), 0.1, 0.6), rows=[1, 3])
    population.run(0.5)
    plain.run(1.0)
    same = [np.array_equal(population.qpos[i], plain.qpos[i]) for i in range(4)]
    assert same == [True, False, True, False]


def test_places_of_ended_pushes_are_used_again_and_too_many_are_refused() -> None:
    sim = falling()
    for _ in range(3 * PUSHES):
        sim.push((1.0, 0.0, 0.0), 0.002)
        sim.step(6)
    for _ in range(PUSHES):
        sim.push((1.0, 0.0, 0.0), 0.1, delay=1.0)
    with pytest.raises(CommandError, match=str(PUSHES)):
        sim.push((1.0, 0.0, 0.0), 0.1)


def test_pushing_what_is_not_there_lists_the_bodies() -> None:
    with pytest.raises(CommandError, match="left_shin"):
        Simulation("planar").push((1.0, 0.0, 0.0), 0.1, body="tail")


@pytest.mark.parametrize("step", [0.00025, 0.001, 0.002])
def test_steps_of_a_push_follow_the_time_step(step: float) -> None:
    sim = Simulation("planar", timestep=step)
    sim.push((1.0, 0.0, 0.0), 0.05, delay=0.02)
    first, count = round(0.02 / step), round(0.05 / step)
    assert forced_steps(sim, 2 * (first + count)) == list(range(first, first + count))


@pytest.mark.parametrize("character", ["humanoid", "robot", "ape", "strider"])
def test_trunk_stands_for_the_torso_of_every_body(character: str) -> None:
    sim, named = (Simulation(character, "zero-walk") for _ in range(2))
    sim.push((70.0, -30.0, 0.0), 0.2)
    named.push((70.0, -30.0, 0.0), 0.2, body=named.scene.table.anatomy.torso)
    for one in (sim, named):
        one.step(300)
    assert np.array_equal(sim.data.qpos, named.data.qpos)
    untouched = Simulation(character, "zero-walk")
    untouched.step(300)
    assert not np.array_equal(sim.data.qpos, untouched.data.qpos)
