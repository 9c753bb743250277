"""Parts of stylized locomotion by themselves: linear algebra, contact modes, references, feet, landings, lateness."""

from __future__ import annotations

import functools

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from stylized_bodies import body, generic_state
from surefoot.controllers.action_graph import ActionGraph
from surefoot.controllers.stylized import reference_balancing, step_adaptation
from surefoot.controllers.stylized.contact_patches import FLAT, FREE, HEEL, TOE, contact_modes, reference_contact_modes
from surefoot.controllers.stylized.controller import tracker_of
from surefoot.controllers.stylized.law import TRACKER_STATE
from surefoot.controllers.stylized.qp import factorize, solve_factorized
from surefoot.controllers.stylized.reference import Reference, load_reference, reference_from_poses
from surefoot.controllers.stylized.reference_balancing import LegKinematics, extend_contacts, plant_feet, pose_rates
from surefoot.controllers.stylized.reference_sources import best_cycle, motion_as_retargeted
from surefoot.errors import CommandError, SurefootError

STAND, WALK = "human/stylized-stand", "human/stylized-robust-walk"
seeds = st.integers(0, 2**32 - 1)


def positive_definite(rng: np.random.Generator, n: int) -> np.ndarray:
    root = rng.normal(size=(n, n))
    return root @ root.T + n * np.eye(n)


@given(seed=seeds, n=st.integers(1, 8), m=st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_small_systems_are_solved_as_numpy_solves_them(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    square, columns = positive_definite(rng, n), rng.normal(size=(n, m))
    wanted = np.linalg.solve(square, columns)
    step_adaptation.solve_spd(square.copy(), columns)
    assert columns == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["human", "planar"])
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_mass_matrices_of_trees_are_inverted_through_their_factors(name: str, seed: int) -> None:
    model, _ = body(name)
    data = mujoco.MjData(model)
    data.qpos[:], _ = generic_state(model, seed)
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    columns = np.eye(model.nv)
    parents = model.dof_parentid.copy()
    solve_factorized(factorize(mass, parents), parents, columns)
    assert mass @ columns == pytest.approx(np.eye(model.nv), abs=1e-9)


@given(seed=seeds, angle=st.floats(0.0, 3.1))
@settings(max_examples=50, deadline=None)
def test_rotation_vectors_point_along_the_axis_by_the_angle(seed: int, angle: float) -> None:
    axis = np.random.default_rng(seed).normal(size=3)
    axis /= np.linalg.norm(axis)
    four, nine = np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(four, axis, angle)
    mujoco.mju_quat2Mat(nine, four)
    for rotation_vector in (step_adaptation.rotation_vector, reference_balancing.rotation_vector):
        assert rotation_vector(nine.reshape(3, 3)) == pytest.approx(angle * axis, abs=1e-6)


@pytest.mark.parametrize(("degrees", "mode"), [(-30.0, TOE), (-9.0, TOE), (-6.0, FLAT), (0.0, FLAT), (9.0, HEEL)])
def test_a_pitched_foot_bears_on_the_edge_that_is_down_in_a_reference_and_in_the_simulation(
    degrees: float, mode: int
) -> None:
    axes = np.tile(reference_balancing._axes(0.3, np.radians(degrees)), (2, 1, 1))
    assert np.degrees(reference_balancing.pitch_up(axes[0])) == pytest.approx(degrees)
    assert reference_contact_modes(axes[None], np.array([[True, False]])).tolist() == [[mode, FREE]]
    assert contact_modes((FLAT, FREE), (True, False), axes) == (mode, FREE)


def test_a_skill_may_let_soles_roll_from_a_smaller_pitch_on() -> None:
    axes, small = np.tile(reference_balancing._axes(0.3, np.radians(-4.0)), (2, 1, 1)), np.sin(np.radians(2.0))
    assert contact_modes((FLAT, FREE), (True, False), axes) == (FLAT, FREE)
    assert contact_modes((FLAT, FREE), (True, False), axes, small) == (TOE, FREE)
    assert reference_contact_modes(axes[None], np.array([[True, False]]), small).tolist() == [[TOE, FREE]]


@functools.cache
def walk() -> Reference:
    sim = sf.Simulation(skill=WALK)
    return tracker_of(sim.scene, sim.skill).reference


@given(clock=st.floats(0.0, 5.0), one=st.floats(-3.0, 3.0), two=st.floats(-3.0, 3.0))
@settings(max_examples=20, deadline=None)
def test_a_frame_turned_twice_is_turned_by_the_sum_and_the_reference_stays(
    clock: float, one: float, two: float
) -> None:
    before = walk().poses.copy()
    once, both = walk().at(clock, one), walk().at(clock, one + two)
    c, s = np.cos(two), np.sin(two)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    for field in ("ankles", "com", "com_velocity"):
        assert getattr(both, field) == pytest.approx(getattr(once, field) @ turn.T, abs=1e-9)
    assert both.rates[:3] == pytest.approx(turn @ once.rates[:3], abs=1e-9)
    assert (both.rates[3:] == once.rates[3:]).all()
    assert np.linalg.norm(both.pose[3:7]) == pytest.approx(1.0)
    assert (walk().poses == before).all()


def test_the_left_foot_carries_all_none_or_between_while_both_bear() -> None:
    reference = walk()
    shares = np.array([reference.left_support_share(i * reference.timestep) for i in range(len(reference.poses))])
    bears = reference.bearing != FREE
    assert (shares[bears[:, 0] & ~bears[:, 1]] == 1.0).all()
    assert (shares[~bears[:, 0] & bears[:, 1]] == 0.0).all()
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    both = shares[bears.all(axis=1)]
    assert ((both > 0.0) & (both < 1.0)).all()


@pytest.mark.parametrize("name", ["human_toes", "planar"])
def test_rates_and_twists_are_those_of_the_motion(name: str) -> None:
    model, table = body(name)
    qpos, qvel = generic_state(model, 3)
    dt, poses = 1e-4, []
    for i in range(5):
        poses.append(qpos.copy())
        mujoco.mj_integratePos(model, poses[-1], qvel, (i - 2) * dt)
    rates, legs = pose_rates(model, np.array(poses), dt), LegKinematics(model, table)
    assert rates == pytest.approx(np.tile(qvel, (5, 1)), abs=1e-6)
    feet, twists = legs.feet_over_time(np.array(poses)), legs.foot_twists(np.array(poses), rates)
    assert twists[2, :, :3] == pytest.approx((feet.ankles[3] - feet.ankles[1]) / (2.0 * dt), abs=1e-5)
    for side in (0, 1):
        turned = reference_balancing.rotation_vector(feet.axes[3, side] @ feet.axes[1, side].T) / (2.0 * dt)
        assert twists[2, side, 3:] == pytest.approx(turned, abs=1e-5)


def test_planted_feet_stand_still_and_flush_and_no_sole_is_below_the_ground() -> None:
    model, table = body("human")
    legs, n = LegKinematics(model, table), 60
    pose = model.qpos0.copy()
    pose[2] -= legs.feet_over_time(pose[None]).ankles[0, :, 2].min() - 0.06  # 1 cm or so into the ground
    poses = np.tile(pose, (n, 1))
    poses[:, 0] = np.linspace(0.0, 0.03, n)  # feet slide
    feet, stands = legs.feet_over_time(poses), np.ones((n, 2), bool)
    stands[20:40, 1] = False
    bears = extend_contacts(legs, feet, 0.01, stands)
    ankles, axes = plant_feet(legs, feet, bears)
    soles = reference_balancing.sole_ends(legs)
    assert bears[:, 0].all()
    assert np.ptp(ankles[:, 0], axis=0).max() < 1e-9
    for end in (soles.rear, soles.front):
        assert (ankles + axes @ end)[..., 2].min() > -1e-9


@given(seed=seeds, share=st.floats(0.1, 1e3))
@settings(max_examples=20, deadline=None)
def test_the_center_of_mass_obeys_the_pendulum_over_the_given_pressure(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    pressure, ends = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    found = reference_balancing._com_from_zmp(pressure, ends, share)
    assert found[[0, -1]] == pytest.approx(ends[[0, -1]])
    assert found[1:-1] - share * np.diff(found, 2, axis=0) == pytest.approx(pressure[1:-1], abs=1e-9)


@given(ahead=st.floats(-0.5, 0.5), aside=st.floats(-0.5, 0.5), clock=st.floats(0.0, 0.5))
@settings(max_examples=50, deadline=None)
def test_a_foot_lands_toward_the_balances_error_by_no_more_than_it_may(
    ahead: float, aside: float, clock: float
) -> None:
    com, velocity = np.array([0.05, 0.1, 0.9]), np.array([0.8, 0.0, 0.0])
    off, goal = np.array([ahead, aside, 0.0]), np.zeros(3)
    ready = step_adaptation.adapt_landing(
        goal, np.tile(com + off, (3, 1)), np.tile(velocity, (3, 1)), np.ones(3), np.zeros(3), com, velocity, clock, 0.0,
        0.5, 1.0, 0.015,
    )  # fmt: skip
    assert 0.0 <= ready <= 1.0
    assert np.linalg.norm(goal[:2]) <= 0.3 + 1e-9
    assert goal[0] * ahead >= -1e-12
    assert goal[0] * aside == pytest.approx(goal[1] * ahead, abs=1e-9)
    if clock >= 0.35:
        assert ready == 1.0
        assert np.linalg.norm(goal[:2]) >= min(0.3, np.hypot(ahead, aside)) - 1e-9


def test_a_body_on_the_reference_is_most_like_the_frame_it_is_in() -> None:
    sim = sf.Simulation(skill=WALK)
    tracker, reference = tracker_of(sim.scene, sim.skill), walk()
    for i in (3, len(reference.poses) // 2):
        touch = (reference.bearing[i] != FREE).astype(float)
        found = tracker.switching.most_similar_time(touch, reference.poses[i], reference.rates[i])
        assert found == pytest.approx(i * reference.timestep)


def test_a_motion_that_does_not_repeat_has_no_cycle() -> None:
    sim = sf.Simulation(skill=STAND)
    with pytest.raises(SurefootError, match="nothing in this clip repeats"):
        best_cycle(sim.scene.table, motion_as_retargeted(sim.run(2.0, fps=100.0), sim.scene.table))


def test_a_file_with_other_arrays_is_no_reference(tmp_path: object) -> None:
    np.savez(f"{tmp_path}/other.npz", poses=np.zeros(3))
    with pytest.raises(SurefootError, match=r"is no reference: it holds poses, not accelerations, ankles"):
        load_reference(f"{tmp_path}/other.npz")  # type: ignore[arg-type]


def test_a_reference_of_poses_holds_their_velocities_and_only_the_frames_of_its_cycle() -> None:
    model, table = body("planar")
    poses = np.tile(model.qpos0, (9, 1))
    poses[:, 0] = 0.01 * np.arange(9)
    found = reference_from_poses(model, table, poses, np.ones((9, 2), bool), 0.01, slice(3, 6))
    assert found.loops
    assert found.duration == pytest.approx(0.03)
    assert found.rates[:, 0] == pytest.approx(1.0)
    assert found.com_velocity[:, 0] == pytest.approx(1.0)
    assert np.abs(found.accelerations).max() < 1e-9
    assert (found.poses == poses[3:6]).all()


@given(edges=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda e: e[0] != e[1])))
@settings(max_examples=20, deadline=None)
def test_the_shortest_path_has_as_many_edges_as_the_adjacency_matrix_says(edges: set[tuple[int, int]]) -> None:
    graph = ActionGraph.model_validate({
        "nodes": {f"n{i}": {"skill": STAND, "changes": {"style": 100.0 + i}} for i in range(5)},
        "edges": [{"from": f"n{a}", "to": f"n{b}"} for a, b in sorted(edges)],
    })  # fmt: skip
    adjacent, reached = np.zeros((5, 5), int), np.eye(5, dtype=int)
    adjacent[tuple(np.array(sorted(edges), int).reshape(-1, 2).T)] = 1
    lengths = np.full((5, 5), -1)
    for length in range(5):
        lengths[(reached > 0) & (lengths < 0)] = length
        reached = reached @ adjacent
    for a, b in np.ndindex(5, 5):
        if lengths[a, b] < 0:
            with pytest.raises(CommandError, match="no path leads"):
                graph.shortest_path(f"n{a}", f"n{b}")
        else:
            path = graph.shortest_path(f"n{a}", f"n{b}")
            assert len(path) == lengths[a, b]
            assert all(graph.edge(*ends) for ends in zip((f"n{a}", *path), path, strict=False))


def test_the_state_record_begins_the_memory_of_a_row() -> None:
    sim = sf.Simulation(skill=STAND)
    sim.step(1)
    values = dict(zip(TRACKER_STATE.names or (), sim.memory.memory.tolist(), strict=False))
    assert (values["began"], values["solves"], values["failures"], values["stance"]) == (1.0, 1.0, 0.0, 2.0)
