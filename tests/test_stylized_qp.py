"""The quadratic program of stylized locomotion: its equations of motion, its constraints, its failures."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stylized_bodies import at, body, generic_state, link_com_jacobian
from surefoot.controllers.stylized import qp, reference_balancing, step_adaptation
from surefoot.controllers.stylized.contact_patches import EDGE, FLAT, foot_patches, friction_cone_edges
from surefoot.controllers.stylized.controller import composite_inertias
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, patch_arrays
from surefoot.controllers.stylized.three_link import three_link_groups

BODIES = ("human", "planar")


def asked(dynamics: BodyDynamics, seed: int, balance: float = 0.1) -> qp.Objective:
    rng, n = np.random.default_rng(seed), dynamics.count
    parts = three_link_groups(dynamics.model, dynamics.table, 0)
    _, rows, bias = dynamics.link_coms(parts, 0)
    if dynamics.planar:
        rows, bias = rows[[0, 2, 3, 5, 6, 8]], bias[[0, 2, 3, 5, 6, 8]]
    return qp.Objective(
        rng.uniform(-5.0, 5.0, n), rng.uniform(0.5, 5.0, n), rows, bias, rng.uniform(-2.0, 2.0, len(bias)), balance
    )


@pytest.mark.parametrize("name", BODIES)
def test_jacobians_and_their_drift_are_those_of_the_moving_body(name: str) -> None:
    model, table = body(name)
    dynamics, parts = BodyDynamics(model, table), three_link_groups(model, table, 1)
    patches = [p for side in (0, 1) for footing in foot_patches(model, table, side) for p in footing]
    qpos, qvel = generic_state(model, 1)

    def speeds(t: float) -> tuple[np.ndarray, list[np.ndarray]]:
        moved = qpos.copy()
        mujoco.mj_integratePos(model, moved, qvel, t)
        dynamics.set(moved, qvel)
        return dynamics.link_coms(parts, 0)[0].velocity.ravel(), [
            dynamics.contact_constraints(patch_arrays([patch])).speed for patch in patches
        ]

    h = 1e-6
    (ahead, held_ahead), (back, held_back) = speeds(h), speeds(-h)
    dynamics.set(qpos, qvel)
    points, rows, bias = dynamics.link_coms(parts, 0)
    data = at(model, qpos, qvel)
    assert np.abs(rows - link_com_jacobian(parts, model, data)).max() < 1e-12
    assert np.abs(points.place - parts.com(data)).max() < 1e-12
    assert np.abs(rows @ qvel - points.velocity.ravel()).max() < 1e-12
    assert np.abs((ahead - back) / (2.0 * h) - bias).max() < 1e-7
    for patch, a, b in zip(patches, held_ahead, held_back, strict=True):
        held = dynamics.contact_constraints(patch_arrays([patch]))
        assert np.linalg.matrix_rank(held.rows) == len(held.rows)
        assert np.abs(held.rows @ qvel - held.speed).max() < 1e-12
        if patch.rows != EDGE or name == "planar":  # the axes of an edge's rows turn with the foot
            assert np.abs((a - b) / (2.0 * h) - held.bias).max() < 1e-7


@pytest.mark.parametrize("name", [*BODIES, "human_toes"])
def test_edges_of_a_cone_act_on_every_freedom_as_forces_at_the_corners_do(name: str) -> None:
    model, table = body(name)
    dynamics = BodyDynamics(model, table)
    qpos, qvel = generic_state(model, 4)
    dynamics.set(qpos, qvel)
    data, planar = at(model, qpos, qvel), table.root == "planar"
    edges = friction_cone_edges(table.friction, planar)
    for sole in (p for footing in foot_patches(model, table, 1) for p in footing):
        forces, axes = dynamics.contact_constraints(patch_arrays([sole])).forces, data.xmat[sole.body].reshape(3, 3)
        for i, corner in enumerate(sole.corners):
            for j, edge in enumerate(edges):
                found, place = np.zeros(model.nv), data.xpos[sole.body] + axes @ corner
                mujoco.mj_applyFT(model, data, axes @ edge, np.zeros(3), place, sole.body, found)
                assert np.abs(forces[:, i * len(edges) + j] - found).max() < 1e-12


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("seed", range(6))
def test_solution_keeps_to_dynamics_contact_cone_and_limits(name: str, seed: int) -> None:
    model, table = body(name)
    dynamics = BodyDynamics(model, table)
    dynamics.set(*generic_state(model, seed))
    sides = ((0, 1), (0,), (1,))[seed % 3]
    held = dynamics.contact_constraints(patch_arrays([foot_patches(model, table, side)[FLAT][0] for side in sides]))
    problem = qp.build_qp(dynamics, asked(dynamics, seed), held, 20.0)
    found = qp.solve_qp(problem, model.nu)
    assert found.good
    forces = held.forces @ found.edges
    forces[dynamics.dofs] += found.torque
    residual = dynamics.M @ found.acceleration + dynamics.h - forces
    assert np.abs(residual).max() < 1e-6 * max(1.0, np.abs(forces).max())
    assert np.linalg.matrix_rank(held.rows) == len(held.rows)
    assert np.abs(held.rows @ found.acceleration + held.bias + 20.0 * held.speed).max() < 1e-6
    assert found.edges.min() >= -1e-6
    assert (np.abs(found.torque) <= dynamics.limits + 1e-6).all()


@pytest.mark.parametrize("name", BODIES)
def test_calm_feet_press_less_against_each_other_and_the_body_moves_as_before(name: str) -> None:
    model, table = body(name)
    dynamics = BodyDynamics(model, table)
    qpos, qvel = generic_state(model, 5)
    dynamics.set(qpos, 0.1 * qvel)
    left, right = (foot_patches(model, table, side)[FLAT][:1] for side in (0, 1))
    held = dynamics.contact_constraints(patch_arrays([*left, *right]))
    against = held.forces[: 1 if table.root == "planar" else 2] * dynamics.left_right_signs(left, right)
    found = []
    for weight in (0.0, 1e-5):
        problem = qp.build_qp(dynamics, asked(dynamics, 1), held, 20.0)
        qp.penalize_internal_forces(problem, against, weight)
        found.append(qp.solve_qp(problem, model.nu))
    assert all(one.good for one in found)
    pressed = [float(np.linalg.norm(against @ one.edges)) for one in found]
    assert pressed[1] < pressed[0]
    moved = np.abs(found[1].acceleration - found[0].acceleration).max()
    assert moved < 0.05 * max(1.0, np.abs(found[0].acceleration).max())


@pytest.mark.parametrize("name", [*BODIES, "human_toes"])
@pytest.mark.parametrize("sides", [(), (0,), (0, 1)])
def test_compiled_quadratic_program_is_equation_nine(name: str, sides: tuple[int, ...]) -> None:
    model, table = body(name)
    dynamics = BodyDynamics(model, table)
    dynamics.set(*generic_state(model, 11))
    held = dynamics.contact_constraints(
        patch_arrays([patch for side in sides for patch in foot_patches(model, table, side)[FLAT]])
    )
    wish = asked(dynamics, 11)
    found = qp.build_qp(dynamics, wish, held, 20.0)
    acts = np.eye(dynamics.count)[:, dynamics.dofs]
    moves = np.linalg.solve(dynamics.M, np.concatenate([acts, held.forces], axis=1))
    free = np.linalg.solve(dynamics.M, -dynamics.h)
    z = np.random.default_rng(12).uniform(-1.0, 1.0, moves.shape[1])

    def cost(x: np.ndarray) -> float:
        a = moves @ x + free
        off = wish.rows @ a + wish.bias - wish.centers
        return float(0.5 * (wish.weights @ (a - wish.style) ** 2 + wish.balance * off @ off + 1e-7 * x @ x))

    ours = float(0.5 * z @ found.H @ z + found.f @ z)
    assert ours == pytest.approx(cost(z) - cost(0.0 * z), rel=1e-9)
    assert np.abs(found.H - found.H.T).max() < 1e-9
    assert np.abs(found.moves @ z + found.free - moves @ z - free).max() < 1e-9
    stopped = held.rows @ (moves @ z + free) + held.bias + 20.0 * held.speed
    assert np.abs(found.rows @ z - found.low[len(z) :] - stopped).max(initial=0.0) < 1e-9
    assert (found.low[len(z) :] == found.high[len(z) :]).all()


def test_leg_is_led_where_its_foot_shall_be_by_the_damped_inverse() -> None:
    rng = np.random.default_rng(3)
    six, qvel, way, twist = rng.normal(size=(6, 34)), rng.normal(size=34), 0.01 * rng.normal(size=3), np.ones(6)
    dofs, four, axes = np.arange(20, 26), np.zeros(4), np.zeros((2, 9))
    for i, angle in enumerate((0.3, 0.32)):
        mujoco.mju_axisAngle2Quat(four, np.array([0.6, 0.0, 0.8]), angle)
        mujoco.mju_quat2Mat(axes[i], four)
    now, wanted = axes.reshape(2, 3, 3)
    found = step_adaptation.leg_ik_step(six, qvel, np.arange(6), dofs, way, now, wanted, twist, 1e-3)
    goals = np.column_stack(
        [np.concatenate([way, reference_balancing.rotation_vector(wanted @ now.T)]), twist - six @ qvel]
    )
    leg = six[:, dofs]
    free = leg.T @ np.linalg.solve(leg @ leg.T + 1e-3 * np.eye(6), goals)
    assert found == pytest.approx(free * np.minimum(1.0, [0.5, 10.0] / np.abs(free).max(axis=0)))


def test_solution_is_better_than_any_other_that_is_allowed_nearby() -> None:
    model, table = body("planar")
    dynamics, rng = BodyDynamics(model, table), np.random.default_rng(7)
    dynamics.set(*generic_state(model, 2))
    held = dynamics.contact_constraints(patch_arrays(foot_patches(model, table, 0)[FLAT]))
    problem = qp.build_qp(dynamics, asked(dynamics, 2), held, 20.0)
    found = qp.solve_qp(problem, model.nu)
    z = np.concatenate([found.torque, found.edges])
    free = np.linalg.svd(problem.rows)[2][len(problem.rows) :]

    def cost(x: np.ndarray) -> float:
        return float(0.5 * x @ problem.H @ x + problem.f @ x)

    tried = 0
    for _ in range(300):
        other = z + free.T @ rng.normal(scale=0.5, size=len(free))
        if (other >= problem.low[: len(z)]).all() and (other <= problem.high[: len(z)]).all():
            tried += 1
            assert cost(other) > cost(z) - 1e-9
    assert tried > 10


def test_program_without_solution_says_so() -> None:
    model, table = body("human")
    dynamics = BodyDynamics(model, table)
    dynamics.set(*generic_state(model, 0))
    held = dynamics.contact_constraints(patch_arrays(foot_patches(model, table, 0)[FLAT]))
    pulled = held._replace(
        bias=held.bias + np.array([0.0, 0.0, 5000.0, 0.0, 0.0, 0.0])
    )  # the ground would have to pull
    found = qp.solve_qp(qp.build_qp(dynamics, asked(dynamics, 0), pulled, 0.0), model.nu)
    assert not found.good


@pytest.mark.parametrize("name", BODIES)
def test_body_that_nothing_bears_falls_freely(name: str) -> None:
    model, table = body(name)
    dynamics, parts = BodyDynamics(model, table), three_link_groups(model, table, 0)
    dynamics.set(*generic_state(model, 3))
    found = qp.solve_qp(
        qp.build_qp(dynamics, asked(dynamics, 3), dynamics.contact_constraints(patch_arrays([])), 20.0), model.nu
    )
    assert found.good
    _, rows, bias = dynamics.link_coms(parts, 0)
    com = parts.mass @ (rows @ found.acceleration + bias).reshape(3, 3) / parts.mass.sum()
    assert np.abs(com - model.opt.gravity).max() < 1e-6


def test_more_weight_on_balance_brings_the_centres_nearer_to_what_is_wanted() -> None:
    model, table = body("human")
    dynamics = BodyDynamics(model, table)
    qpos, qvel = generic_state(model, 4)
    dynamics.set(qpos, 0.0 * qvel)
    held = dynamics.contact_constraints(patch_arrays(foot_patches(model, table, 0)[FLAT]))
    wish, misses = asked(dynamics, 4)._replace(style=np.zeros(model.nv), weights=np.full(model.nv, 0.5)), []
    for weight in (0.0, 0.1, 1.0, 10.0):
        found = qp.solve_qp(qp.build_qp(dynamics, wish._replace(balance=weight), held, 20.0), model.nu)
        misses.append(float(np.linalg.norm(wish.rows @ found.acceleration + wish.bias - wish.centers)))
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] < 0.9 * misses[0]


@pytest.mark.parametrize("name", BODIES)
def test_inertias_that_servos_are_scaled_by_are_the_engines(name: str) -> None:
    model, table = body(name)
    data = at(model, model.qpos0, np.zeros(model.nv))
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    dofs = BodyDynamics(model, table).dofs
    assert np.abs(np.diag(mass)[dofs] - composite_inertias(table)).max() < 1e-12
