"""The three-link model of stylized locomotion: sums, maps, derivatives, what its controls reach, its regulators."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stylized_bodies import at, body, generic_state, link_com_jacobian
from surefoot.controllers.stylized import balance_policy, three_link
from surefoot.controllers.stylized.multibody_dynamics import LinkComs
from surefoot.controllers.stylized.three_link import (
    STANCE,
    SWING,
    UPPER,
    LinearSystem,
    ThreeLink,
    ThreeLinkDynamics,
    ThreeLinkGroups,
    build_three_link,
    equilibrium,
    pitch_roll_rotation,
    three_link_groups,
    three_link_state,
    yaw_rotation,
)
from surefoot.lab.recoverable_lean import controllable_dimension, infinite_horizon_lqr

HEADING = 0.4


def made(
    name: str, stance: int = 0, heading: float = HEADING
) -> tuple[ThreeLink, ThreeLinkGroups, mujoco.MjModel, mujoco.MjData]:
    model, table = body(name)
    parts = three_link_groups(model, table, stance)
    data = at(model, *generic_state(model, 3))
    joints = "planar" if table.root == "planar" else "hinges"
    heading = 0.0 if table.root == "planar" else heading
    return build_three_link(parts, model, data, heading, joints), parts, model, data


def seen(parts: ThreeLinkGroups, model: mujoco.MjModel, data: mujoco.MjData, heading: float) -> LinkComs:
    view, ankle = yaw_rotation(heading).T, np.empty(6)
    velocity = (link_com_jacobian(parts, model, data) @ data.qvel).reshape(3, 3)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, parts.ankle, ankle, 0)
    return LinkComs((parts.com(data) - data.xpos[parts.ankle]) @ view.T, (velocity - ankle[3:]) @ view.T)


@pytest.mark.parametrize("stance", [0, 1])
def test_every_part_belongs_to_one_link_and_the_stance_leg_is_the_one_that_was_asked_for(stance: int) -> None:
    model, table = body("human")
    parts = three_link_groups(model, table, stance)
    every = np.sort(np.concatenate(parts.bodies))
    assert (every == np.arange(1, 1 + len(table.segments))).all()
    legs = (table.anatomy.left, table.anatomy.right)
    assert model.body(legs[stance].foot).id in parts.bodies[STANCE]
    assert model.body(legs[1 - stance].foot).id in parts.bodies[SWING]
    assert model.body("head").id in parts.bodies[UPPER]


@pytest.mark.parametrize("name", ["human", "planar"])
def test_masses_centres_and_inertias_are_the_sums_of_the_parts(name: str) -> None:
    link, parts, model, data = made(name)
    assert link.model.body_mass[1:] == pytest.approx(parts.mass)
    assert parts.mass.sum() == pytest.approx(model.body_subtreemass[1])
    own = three_link_state(
        link, LinkComs(seen(parts, model, data, 0.0 if name == "planar" else HEADING).place, np.zeros((3, 3)))
    )
    shape = ThreeLinkDynamics(link).forward(own)
    view = yaw_rotation(0.0 if name == "planar" else HEADING)
    places = shape.xipos[1:] @ view.T + data.xpos[parts.ankle]
    wanted = parts.com(data)
    if name == "planar":
        places, wanted = places[:, [0, 2]], wanted[:, [0, 2]]
    assert np.abs(places - wanted).max() < 1e-12
    for i in range(3):
        total = np.zeros((3, 3))
        for b in parts.bodies[i]:
            axes, arm = data.ximat[b].reshape(3, 3), data.xipos[b] - parts.com(data)[i]
            total += axes @ np.diag(model.body_inertia[b]) @ axes.T
            total += model.body_mass[b] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        axes = view @ shape.ximat[1 + i].reshape(3, 3)
        ours = axes @ np.diag(link.model.body_inertia[1 + i]) @ axes.T
        assert np.abs(ours - total).max() < 1e-9


def test_state_and_centers_of_mass_are_each_others_inverse() -> None:
    link, *_ = made("human")
    simple = ThreeLinkDynamics(link)
    for seed in range(5):
        state = np.random.default_rng(seed).uniform(-0.5, 0.5, 12)
        assert np.abs(three_link_state(link, simple.link_coms(state)) - state).max() < 1e-12


def test_rates_are_the_rates_of_the_angles_while_the_character_moves() -> None:
    link, parts, model, data = made("human")
    rates = three_link_state(link, seen(parts, model, data, HEADING))[6:]
    h, angles = 1e-6, []
    for sign in (1.0, -1.0):
        qpos = data.qpos.copy()
        mujoco.mj_integratePos(model, qpos, data.qvel, sign * h)
        angles.append(three_link_state(link, seen(parts, model, at(model, qpos, data.qvel), HEADING))[:6])
    assert np.abs((angles[0] - angles[1]) / (2.0 * h) - rates).max() < 1e-6


def test_accelerations_are_those_of_the_centres_of_mass() -> None:
    link, *_ = made("human")
    simple, rng, h = ThreeLinkDynamics(link), np.random.default_rng(1), 1e-6
    state, control = rng.uniform(-0.4, 0.4, 12), rng.uniform(-100.0, 100.0, 4)
    turning = simple.forward(state, control).qacc.copy()

    def later(t: float) -> np.ndarray:
        return np.concatenate([state[:6] + t * state[6:] + 0.5 * t * t * turning, state[6:] + t * turning])

    found = (simple.link_coms(later(h)).velocity - simple.link_coms(later(-h)).velocity) / (2.0 * h)
    assert np.abs(found - simple.com_accelerations(state, control)).max() < 1e-6


def test_derivatives_are_those_of_a_step() -> None:
    link, *_ = made("human")
    steps, rng, h = ThreeLinkDynamics(link), np.random.default_rng(2), 1e-5
    state, control, known = rng.uniform(-0.3, 0.3, 12), rng.uniform(-50.0, 50.0, 4), np.array([20.0, -10.0])
    A, B = steps.linearize(state, control, known)
    for i in range(12):
        d = h * np.eye(12)[i]
        column = (steps.step(state + d, control, known) - steps.step(state - d, control, known)) / (2.0 * h)
        assert np.abs(column - A[:, i]).max() < 1e-6
    for i in range(4):
        d = h * np.eye(4)[i]
        column = (steps.step(state, control + d, known) - steps.step(state, control - d, known)) / (2.0 * h)
        assert np.abs(column - B[:, i]).max() < 1e-8


def test_two_hinges_a_link_are_controllable_and_ball_joints_leave_two_dimensions_of_yaw_out_of_reach() -> None:
    link, parts, model, data = made("human")
    state, control = equilibrium(link)
    assert controllable_dimension(link, state, control) == 12
    ball = build_three_link(parts, model, data, HEADING, "ball")
    quaternions = np.zeros(12)
    for i in range(3):
        mujoco.mju_mat2Quat(quaternions[4 * i : 4 * i + 4], pitch_roll_rotation(*state[2 * i : 2 * i + 2]).ravel())
    still = np.concatenate([quaternions, np.zeros(9)])
    needed = ThreeLinkDynamics(ball).inverse_dynamics(still, np.zeros(9))
    assert np.abs(needed[:3]).max() < 1e-9  # it stands: the ankle gives nothing
    assert controllable_dimension(ball, still, needed[3:]) == 16  # of 18


def test_equilibrium_stands_still_with_its_weight_over_the_ankle() -> None:
    for name in ("human", "planar"):
        link, *_ = made(name)
        state, control = equilibrium(link)
        steps = ThreeLinkDynamics(link)
        assert np.abs(steps.step(state, control) - state).max() < 1e-10
        assert np.abs(steps.com(state)[:2]).max() < 1e-9


def test_recursion_comes_to_the_stationary_gains_and_those_bring_it_back() -> None:
    link, *_ = made("human")
    state, control = equilibrium(link)
    A, B = ThreeLinkDynamics(link).linearize(state, control)
    weights = balance_policy.Weights.uniform(1.0, 0.1, 1e-5)
    still = infinite_horizon_lqr(LinearSystem(A, B), weights)
    count = 3000
    found = balance_policy.finite_horizon_lqr(
        LinearSystem(np.tile(A, (count, 1, 1)), np.tile(B, (count, 1, 1))), weights
    )
    assert np.abs(found[0] - still).max() < 1e-6 * np.abs(still).max()
    assert np.abs(np.linalg.eigvals(A + B @ still)).max() < 1.0
    assert np.abs(np.linalg.eigvals(A)).max() > 1.0


def test_last_gain_is_the_one_that_a_single_step_asks_for() -> None:
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    weights = balance_policy.Weights.uniform(0.1, 1.0, 0.7)
    K = balance_policy.finite_horizon_lqr(LinearSystem(A[None], B[None]), weights)[0]
    x = rng.normal(size=6)

    def cost(u: np.ndarray) -> float:
        after = A @ x + B @ u
        return float(after @ after + 0.7 * u @ u)

    best = cost(K @ x)
    assert all(cost(K @ x + 0.01 * rng.normal(size=2)) > best for _ in range(20))


def test_reference_that_the_model_can_follow_is_followed_and_torques_of_the_ankle_are_known() -> None:
    link, *_ = made("human")
    steps, rng = ThreeLinkDynamics(link), np.random.default_rng(5)
    state, control = equilibrium(link)
    truth = [state]
    known = np.array([15.0, -8.0])
    controls = control + 20.0 * np.sin(np.arange(60)[:, None] * 0.1 + rng.uniform(0.0, 6.0, 4))
    for u in controls:
        truth.append(steps.step(truth[-1], u, known))
    found = balance_policy.ilqr_track(steps, np.array(truth), np.array([60.0, 40.0]))
    assert np.abs(found.states - truth).max() < 0.02
    assert found.iterations <= 12
    assert (np.abs(found.ankle) <= [60.0, 40.0]).all()


def test_linear_system_along_a_trajectory_has_a_matrix_a_step() -> None:
    link, *_ = made("planar")
    steps = three_link.ThreeLinkDynamics(link)
    state, control = equilibrium(link)
    states, controls, known = np.tile(state, (4, 1)), np.tile(control, (3, 1)), np.zeros((3, 1))
    system = balance_policy.linearize_along(steps, states, controls, known)
    assert system.A.shape == (3, 6, 6)
    assert system.B.shape == (3, 6, 2)
