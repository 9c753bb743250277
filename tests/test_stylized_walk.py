"""Stylized skills that walk: references, feet, weight, regulators and steps."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import surefoot as sf
from stylized_bodies import body
from surefoot.controllers.stylized import balance_policy, reference
from surefoot.controllers.stylized.contact_patches import (
    FLAT,
    FREE,
    HEEL,
    TOE,
    contact_modes,
    rolling_contact_modes,
)
from surefoot.controllers.stylized.law import TRACKER_STATE, TrackerState, tracker_state
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, LinkComs
from surefoot.controllers.stylized.qp import solve_qp
from surefoot.controllers.stylized.reference_balancing import LegKinematics, make_balanced
from surefoot.controllers.stylized.reference_sources import reference_from_skill
from surefoot.controllers.stylized.three_link import three_link_groups
from surefoot.controllers.stylized.tracker import Tracker
from surefoot.engine.scene import Scene, Setup
from surefoot.lab.gait import gait_card
from surefoot.skills import load, with_parameters

WALK = "human/stylized-robust-walk"


@pytest.fixture(scope="module")
def walk() -> reference.Reference:
    return reference_from_skill(Scene(Setup("human/robust-walk")), "human/robust-walk")


def test_it_walks_as_far_as_its_reference_does(walk: reference.Reference) -> None:
    sim = sf.Simulation(skill=WALK)
    sim.run(6.0)
    tracker = tracker_state(sim.memory.memory)
    assert not sim.fallen
    assert tracker.failures == 0
    assert tracker.steps >= 2 * int(5.0 / walk.duration)
    assert 0.7 * 6.0 < sim.data.qpos[0] / walk.rates[:, 0].mean() < 1.5 * 6.0


def test_without_adapted_steps_it_falls() -> None:
    sim = sf.Simulation(skill=with_parameters(load(WALK), {"leading": 0.0, "stepping": 0.0, "root_weight": 1.0}))
    sim.run(12.0, fps=5.0)
    assert sim.fallen


def test_rows_of_a_population_walk_as_simulations_do_bit_for_bit() -> None:
    population = sf.Population(2, skill=WALK, threads=1)
    population.run(0.4)
    sim = sf.Simulation(skill=WALK)
    sim.step(400)
    assert (sim.data.qpos == population.qpos[0]).all()


def test_reference_that_loops_begins_again_where_it_ends(walk: reference.Reference) -> None:
    assert walk.loops
    step = walk.poses[1:, 7:] - walk.poses[:-1, 7:]
    seam = walk.poses[0, 7:] - walk.poses[-1, 7:]
    assert np.abs(seam).max() < 1.5 * np.abs(step).max()
    assert walk.at(walk.duration + 0.013).pose == pytest.approx(walk.at(0.013).pose)


def test_reference_survives_a_file(walk: reference.Reference, tmp_path: Path) -> None:
    walk.save(tmp_path / "walk.npz")
    again = reference.load_reference(tmp_path / "walk.npz")
    assert (again.poses == walk.poses).all()
    assert (again.bearing == walk.bearing).all()
    assert (again.timestep, again.loops, again.turn) == (walk.timestep, walk.loops, walk.turn)


def test_every_swing_ends_with_its_foot_bearing(walk: reference.Reference) -> None:
    feet = set()
    for i in range(len(walk.poses)):
        swing = walk.swing(i * walk.timestep)
        if swing.foot >= 0:
            feet.add(swing.foot)
            assert walk.bearing[i, swing.foot] == FREE
            assert swing.lifted <= i * walk.timestep < swing.strikes
            assert walk.bearing[walk.index(swing.strikes), swing.foot] != FREE
    assert feet == {0, 1}


def test_turned_reference_is_the_same_motion_elsewhere(walk: reference.Reference) -> None:
    straight, turned = walk.at(0.3), walk.at(0.3, 0.7)
    away, back = straight.ankles[0] - straight.pose[:3], turned.ankles[0] - turned.pose[:3]
    assert np.linalg.norm(away) == pytest.approx(np.linalg.norm(back))
    assert np.arctan2(turned.rates[1], turned.rates[0]) - np.arctan2(straight.rates[1], straight.rates[0]) == (
        pytest.approx(0.7)
    )


def test_legs_reach_where_their_feet_shall_be() -> None:
    model, table = body("human_toes")
    legs = LegKinematics(model, table)
    pose = model.qpos0.copy()
    pose[2] = 0.9
    for places in legs.legs.qpos:
        pose[places[3]] = -0.4  # bent knees
    feet = legs.feet_over_time(pose[None])
    ankles = feet.ankles[0] + [[0.05, 0.02, 0.04], [-0.03, -0.03, 0.02]]
    found = legs.feet_over_time(legs.solve_ik(pose, ankles, feet.axes[0], np.zeros(2, bool))[None])
    assert np.abs(found.ankles[0] - ankles).max() < 1e-4
    assert np.abs(found.axes[0] - feet.axes[0]).max() < 1e-3


def test_weight_is_moved_over_the_foot_that_bears() -> None:
    model, table = body("human_toes")
    legs, n = LegKinematics(model, table), 400
    pose = model.qpos0.copy()
    for places in legs.legs.qpos:
        pose[places[0]], pose[places[3]], pose[places[4]] = 0.2, -0.4, 0.2
    pose[2] -= legs.feet_over_time(pose[None]).ankles[0, :, 2].min() - 0.075
    stands = np.ones((n, 2), bool)
    stands[:, 1] = False  # on the left foot alone, in a pose that would fall to the right
    found, bears = make_balanced(legs, np.tile(pose, (n, 1)), stands, 0.005)
    feet, before = legs.feet_over_time(found), legs.feet_over_time(pose[None])
    aside = np.abs(feet.com[n // 2] - feet.ankles[n // 2, 0])[1]
    assert bears[:, 0].all()
    assert aside < 0.04 < np.abs(before.com[0] - before.ankles[0, 0])[1]
    assert np.ptp(feet.ankles[:, 0], axis=0).max() < 2e-3


def test_regulator_asks_for_the_references_accelerations_on_the_reference(walk: reference.Reference) -> None:
    model, table = body("human")
    dynamics, sides = BodyDynamics(model, table), [three_link_groups(model, table, side) for side in (0, 1)]
    found = balance_policy.balance_policy(dynamics, sides, walk)
    assert {one.stance for one in found.gains} == {0, 1}
    one = found.gains[0]
    index = one.first + len(one.controls) // 2
    which = found.find(index % len(walk.poses))
    assert which is not None
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    moment = walk.at(index * walk.timestep)
    qpos[: len(moment.pose)], qvel[: len(moment.rates)] = moment.pose, moment.rates
    dynamics.set(qpos, qvel)
    points, _, _ = dynamics.link_coms(sides[one.stance])
    wanted = found.com_accelerations(which, points, 0.0)
    pushed = LinkComs(points.place, points.velocity + np.array([0.3, 0.0, 0.0]))
    assert np.isfinite(wanted).all()
    assert np.linalg.norm(found.com_accelerations(which, pushed, 0.0) - wanted) > 0.1


def test_policy_is_read_from_its_cache_only_for_its_reference(walk: reference.Reference, tmp_path: Path) -> None:
    model, table = body("human")
    dynamics, sides = BodyDynamics(model, table), [three_link_groups(model, table, side) for side in (0, 1)]
    made = balance_policy.balance_policy(dynamics, sides, walk, tmp_path / "p.npz")
    kept = balance_policy.balance_policy(dynamics, sides, walk, tmp_path / "p.npz")
    assert (made.gains[0].K == kept.gains[0].K).all()
    table_of = dict(np.load(tmp_path / "p.npz"))
    np.savez(tmp_path / "p.npz", **(table_of | {"key": np.array("another")}))
    assert (
        pytest.approx(made.gains[0].K)
        == balance_policy.balance_policy(dynamics, sides, walk, tmp_path / "p.npz").gains[0].K
    )


def test_foot_that_has_not_landed_does_not_bear() -> None:
    flat = np.tile(np.eye(3), (2, 1, 1))
    assert list(contact_modes(np.array([FLAT, FLAT]), np.array([True, False]), flat)) == [FLAT, FREE]
    assert list(contact_modes(np.array([FLAT, FREE]), np.array([False, False]), flat)) == [FLAT, FREE]
    tilted, four, turn = flat.copy(), np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(four, np.array([0.0, 1.0, 0.0]), -0.3)  # toes up
    mujoco.mju_quat2Mat(turn, four)
    tilted[0] = turn.reshape(3, 3)
    assert list(contact_modes(np.array([FLAT, TOE]), np.array([True, True]), tilted)) == [HEEL, TOE]


ROLLING = "human/stylized-walk"


def test_heel_that_rises_for_good_rolls_and_toes_that_dip_at_landing_do_not() -> None:
    pitch = np.radians(
        [0.0, 10.0, 3.0, -2.5, 0.0, 0.0, -1.0, -20.0, -40.0, -40.0]
    )  # air, landing, stance, rolling, air
    axes = np.tile(np.eye(3), (len(pitch), 2, 1, 1))
    axes[:, :, 2, 0] = np.sin(pitch)[:, None]
    bears = np.zeros((len(pitch), 2), bool)
    bears[1:9, 0] = True
    modes = rolling_contact_modes(axes, bears, np.sin(np.radians(2.0)))
    assert modes[:, 0].tolist() == [FREE, HEEL, HEEL, FLAT, FLAT, FLAT, TOE, TOE, TOE, FREE]
    assert (modes[:, 1] == FREE).all()


def test_sharp_steps_keep_standing_feet_where_they_are_and_few_harmonics_do_not() -> None:
    scene = Scene(Setup("human/walk"))
    slid = {}
    for harmonics in (None, 30):
        found = reference_from_skill(scene, "human/walk", harmonics)
        flat = (np.abs(found.axes[:, 0, 2, 0]) < np.sin(np.radians(1.5))) & (found.bearing[:, 0] == FLAT)
        first = int(np.flatnonzero(flat & ~np.roll(flat, 1))[0])
        stance = [i for i in range(first, len(flat)) if flat[i]][:40]
        slid[harmonics] = float(np.ptp(found.ankles[stance, 0, 0]))
    assert slid[30] < 0.003 < 0.008 < slid[None]


def test_followed_walk_rolls_over_its_toes_at_the_speed_of_its_reference() -> None:
    sim = sf.Simulation(skill=ROLLING)
    sim.run(4.0)
    card = gait_card(sim.run(6.0, fps=120.0))
    reference_speed = reference_from_skill(sim.scene, "human/walk", 30).rates[:, 0].mean()
    assert not sim.fallen
    assert card.toe_off_pitch < -30.0
    assert card.slip < 0.018
    assert card.first_peak < 1.5
    assert 0.94 < card.speed / reference_speed < 1.02


@pytest.mark.parametrize("changed", [{"harmonics": None}, {"lift": 0.015}])
def test_followed_walk_needs_its_sharp_steps_and_swings_without_lift(changed: dict[str, float | None]) -> None:
    sim = sf.Simulation(skill=with_parameters(load(ROLLING), changed))
    sim.run(4.0)
    motion = sim.run(4.0, fps=120.0)
    assert sim.fallen or gait_card(motion).toe_off_pitch > -33.0


def test_foot_that_strikes_early_moves_the_clock_on_to_the_strike_of_the_reference() -> None:
    sim = sf.Simulation(skill=with_parameters(load(ROLLING), {"early": 0.05}))
    tracker = Tracker(sim.scene, load(ROLLING))
    swing = tracker.reference.swing(0.0)
    for before, expected in ((0.04, swing.strikes), (0.12, swing.strikes - 0.12 + 0.005)):
        state = TrackerState(*np.zeros(len(TRACKER_STATE.names or ())))
        state.clock = swing.strikes - before
        tracker._advance_clock(state, 0.005, np.ones(2))
        assert state.clock == pytest.approx(expected)
        state.clock = swing.strikes - before
        tracker._advance_clock(state, 0.005, np.zeros(2))
        assert state.clock == pytest.approx(swing.strikes - before + 0.005)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_load_is_handed_over_from_foot_to_foot_as_the_reference_moves_on(share: float) -> None:
    sim = sf.Simulation(skill=ROLLING)
    tracker = Tracker(sim.scene, with_parameters(load(ROLLING), {"handover": 0.1}))
    found = tracker.reference
    both = (found.bearing != FREE).all(axis=1)
    clock = min(
        (i * found.timestep for i in np.flatnonzero(both)), key=lambda at: abs(found.left_support_share(at) - share)
    )
    frame, state = found.at(clock), TrackerState(*np.zeros(len(TRACKER_STATE.names or ())))
    state.clock = clock
    qpos, qvel = sim.data.qpos.copy(), sim.data.qvel.copy()
    qpos[: len(frame.pose)], qvel[: len(frame.rates)] = frame.pose, frame.rates
    tracker.body.set(qpos, qvel)
    problem = tracker.build_problem(qpos, qvel, frame, state, np.ones(2))
    edges = solve_qp(problem, len(tracker.body.qpos)).edges
    modes = contact_modes(frame.bearing.tolist(), [True, True], frame.axes, tracker._tilted)
    left = edges[tracker._on_left[modes]].sum() / edges.sum()
    assert left == pytest.approx(found.left_support_share(clock), abs=0.1)
