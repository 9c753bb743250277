"""The law of a captured gait: it follows its series, its phase follows the feet, it answers what differs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from captured_gait import AS_IS, asked, begun, document, gait, imitator_of, own_cycle, plan_of
from conftest import bits
from human_body import RIGHT, TABLE, angles, hip_torque, image_of, look, mirrored
from surefoot.controllers.imitation.trajectory import (
    HARMONICS,
    KNOTS,
    THIGHS,
    TORSO,
    WIDTH,
    evaluate_series,
    step_span,
    torque_at,
)
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.motions import fourier
from surefoot.native.kernels import python_impl
from surefoot.skills import files, with_parameters
from surefoot.skills.schema import Skill

JOINTS, DT = len(TABLE.gains), TABLE.timestep
LEARNS = {"learning__bins": 12, "learning__rate": 0.2, "learning__limit": 0.3}


# --------------------------------------------------------------------------------------------------- series


@settings(max_examples=40, deadline=None)
@given(st.integers(0, HARMONICS), st.integers(1, 5), st.floats(0.0, 1.0), st.floats(0.3, 3.0), st.integers(0, 999))
def test_followed_values_and_rates_are_those_of_the_series(
    harmonics: int, count: int, phase: float, rate: float, seed: int
) -> None:
    series, width = np.zeros((count, WIDTH)), 2 * harmonics + 1
    series[:, :width] = np.random.default_rng(seed).normal(size=(count, width))
    values, rates = np.empty(count), np.empty(count)
    python_impl(evaluate_series)(series, phase, rate, values, rates)
    assert values == pytest.approx(fourier.evaluate(series.T, np.array([phase]))[0], abs=1e-10)
    around = fourier.evaluate(series.T, phase + np.array([-1e-6, 1e-6]))
    assert rates == pytest.approx(rate * (around[1] - around[0]) / 2e-6, abs=1e-4)


@pytest.mark.parametrize(
    ("at", "part"), [(TORSO, TABLE.anatomy.torso), (THIGHS, "left_thigh"), (THIGHS + 3, "right_thigh")]
)
def test_parts_begin_where_their_series_in_the_world_have_them(at: int, part: str) -> None:
    """A heading of 0.4 rad is not part of the series."""
    skill = gait(AS_IS, start__heading=0.4)
    sim = begun(skill)
    series = plan_of(sim).series[JOINTS + at : JOINTS + at + 3].T
    wanted = fourier.evaluate(series, np.array([skill.parameters.begins]))[0] + (0.4, 0.0, 0.0)
    found = angles(Rotation.from_quat(sim.data.body(part).xquat, scalar_first=True))
    assert np.abs(wanted).max() > 0.05
    assert found == pytest.approx(wanted, abs=2e-3)


def test_body_and_clip_agree_on_place_and_velocity_at_the_start() -> None:
    """What is left is the motion of one physics step."""
    sim = Simulation(skill=gait(AS_IS))
    report = sim.memory.report[0]
    assert (report.distance, report.lateral_distance) == pytest.approx((0.0, 0.0), abs=2.5e-3)
    assert (report.velocity, report.lateral_velocity) == pytest.approx((0.0, 0.0), abs=0.03)
    assert imitator_of(sim).sunk == pytest.approx(0.0, abs=0.02)


def test_nothing_is_asked_of_the_joints_that_are_where_the_clip_has_them() -> None:
    still, off = begun(gait(AS_IS)), begun(gait(AS_IS))
    off.data.joint("left_elbow").qpos[0] += 0.1
    at = off.model.actuator("left_elbow").id
    kp = plan_of(off).gains[list(TABLE.anatomy.joints(RIGHT)).index("left_elbow")].kp
    assert look(off)[at] - look(still)[at] == pytest.approx(-0.1 * kp, rel=1e-9)
    assert abs(look(still)[at]) < 0.05 * kp * 0.1


# ---------------------------------------------------------------------------------------------------- phase


def test_the_phase_goes_on_without_jumps_and_legs_are_exchanged_by_footstrikes() -> None:
    skill = gait()
    sim, before, exchanges = Simulation(skill=skill), None, 0
    head = plan_of(sim).head[0]
    for _ in range(1500):
        now = imitator_of(sim).copy()
        if before is not None:
            went = (now.phase - before.phase + 0.5) % 1.0 - 0.5
            assert -1e-12 <= went <= head.catch_up * head.rate * DT + 1e-12
            if now.steps != before.steps:
                exchanges += 1
                swing = int(before.swing)
                span = 0.5  # the clip is symmetric
                assert now.swing == 1 - swing
                assert sim.memory.touch[swing] == 1.0
                assert before.done + head.rate * head.catch_up * DT >= head.earliest * span
                assert now.done == pytest.approx(before.done + went - span, abs=1e-9)
        before = now
        sim.step()
    assert exchanges >= 3
    assert not sim.fallen


def test_a_step_without_footstrike_waits_a_little_after_the_clips_own() -> None:
    sim = Simulation(skill=gait(overrun=0.03))
    sim.data.qpos[2] += 30.0
    sim.step(700)
    imitator, swing = imitator_of(sim), int(imitator_of(sim).swing)
    assert imitator.steps == 0.0
    assert imitator.phase == pytest.approx((own_cycle().lands[swing] + 0.03) % 1.0, abs=6e-3)
    assert imitator.pace == 0.0
    assert imitator.late > 0.2


def test_a_late_leg_straightens_and_the_other_yields() -> None:
    knees = []
    for reach in (0.0, 1.5):
        sim = begun(gait(reach=reach))
        sim.data.qpos[2] += 30.0
        imitator_of(sim).late, imitator_of(sim).done = 0.2, 0.52
        torques = look(sim)
        knees.append([torques[sim.model.actuator(f"{side}_knee").id] for side in ("right", "left")])
    swing, stance = np.diff(knees, axis=0)[0]
    assert swing > 10.0
    assert stance == pytest.approx(-swing, rel=1e-6)


# -------------------------------------------------------------------------------------------------- balance


@pytest.mark.parametrize(("faster", "ahead"), [((0.3, 0.0), (0.0, 0.0)), ((0.0, 0.0), (0.06, 0.0))])
def test_a_body_ahead_of_the_clip_swings_its_thigh_further_forward(faster: tuple, ahead: tuple) -> None:
    gains = {"cd": 0.8, "cv": 0.2, "cd_lateral": 0.0, "cv_lateral": 0.0}
    (sim, with_it), (_, without) = (
        asked(gait(AS_IS | gains | off), faster, ahead) for off in ({}, {"cd": 0.0, "cv": 0.0})
    )
    more = hip_torque(sim, RIGHT, with_it) - hip_torque(sim, RIGHT, without)
    report, kp = sim.memory.report[0], plan_of(sim).gains[0].kp
    assert -more[1] == pytest.approx(kp * (0.8 * report.distance + 0.2 * report.velocity), rel=0.02)
    assert -more[1] > 0.9 * kp * (0.8 * ahead[0] + 0.2 * faster[0]) - 2.0


@pytest.mark.parametrize("across", [0.2, -0.2])
def test_a_body_that_drifts_sets_its_foot_down_on_that_side(across: float) -> None:
    (sim, with_it), (_, without) = (
        asked(gait(AS_IS | {"cd_lateral": 0.0, "cv_lateral": gain}), (0.0, across)) for gain in (0.3, 0.0)
    )
    more = hip_torque(sim, RIGHT, with_it) - hip_torque(sim, RIGHT, without)
    kp = plan_of(sim).gains[0].kp
    assert np.linalg.norm(more) == pytest.approx(kp * 0.3 * abs(sim.memory.report[0].lateral_velocity), rel=0.02)
    assert np.sign(more[0]) == np.sign(across)  # about x: the foot goes to the left of a body that goes left


def test_a_stance_ankle_answers_in_its_own_gain_and_only_what_differs_from_the_clip() -> None:
    feedback = {"stance_ankle": [-1.0, -0.4]}
    (sim, with_it), (_, without) = (asked(gait(AS_IS | {"feedback": f}), (0.25, 0.0)) for f in (feedback, {}))
    at, report = sim.model.actuator("left_ankle").id, sim.memory.report[0]
    kp = plan_of(sim).gains[TABLE.anatomy.roles.index("stance_ankle")].kp
    answer = -1.0 * report.distance - 0.4 * report.velocity
    assert with_it[at] - without[at] == pytest.approx(kp * answer, rel=1e-6)
    others = np.delete(with_it - without, at)
    assert np.abs(others).max() < 1e-9


def test_a_stance_knee_straightens_under_hips_that_sink() -> None:
    sims = [begun(gait(AS_IS | {"support": support})) for support in (0.0, 3.0)]
    for sim in sims:
        plan_of(sim).series[JOINTS + 9 + 2 :: 3][:2, 0] += 0.05  # the clip's hips are higher
    without, with_it = (look(sim) for sim in sims)
    at = sims[0].model.actuator("left_knee").id
    kp = plan_of(sims[1]).gains[TABLE.anatomy.roles.index("stance_knee")].kp
    assert with_it[at] - without[at] == pytest.approx(3.0 * kp * imitator_of(sims[1]).sunk, rel=1e-6)
    assert imitator_of(sims[1]).sunk == pytest.approx(0.05, abs=0.02)


# ------------------------------------------------------------------------------------------------ feed-forward


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.5, 1.5), st.integers(0, 999))
def test_a_table_is_interpolated_over_the_step_and_held_beyond_its_ends(share: float, seed: int) -> None:
    torques = np.random.default_rng(seed).normal(0.0, 50.0, KNOTS)
    wanted = np.interp(share, np.linspace(0.0, 1.0, KNOTS), torques)
    assert python_impl(torque_at)(torques, share) == pytest.approx(wanted, abs=1e-9)


def test_a_role_gets_its_share_of_the_table_and_no_other_joint_gets_any() -> None:
    table = {"stance_ankle": [0.0, -40.0, -120.0]}
    (sim, with_it), (_, without) = (
        asked(gait(AS_IS | {"feedforward": fed, "feedforward_share": 0.5})) for fed in (table, {})
    )
    imitator, at = imitator_of(sim), sim.model.actuator("left_ankle").id
    share = float(imitator.done) / python_impl(step_span)(plan_of(sim), int(imitator.swing))[1]
    assert 0.1 < share < 0.9
    given = with_it[at] - without[at]
    assert given == pytest.approx(0.5 * np.interp(share, [0.0, 0.5, 1.0], table["stance_ankle"]), rel=1e-6)
    assert np.abs(np.delete(with_it - without, at)).max() < 1e-9


# ----------------------------------------------------------------------------------- mirror images and states


def image(skill: Skill) -> Skill:
    """The same, begun half a cycle later with the other leg, of a clip that is symmetric."""
    return with_parameters(image_of(skill), {"begins": (skill.parameters.begins + 0.5) % 1.0})


FED = {"feedforward": {"stance_ankle": [0.0, -20.0, -60.0], "swing_ankle": [-60.0, 0.0]}}


@pytest.mark.parametrize("changes", [{}, FED, LEARNS, {"sensing__point": "com", "sensing__delay": 0.01}])
def test_begun_on_the_other_leg_a_symmetric_cycle_gives_the_mirrored_motion(changes: dict) -> None:
    skill = gait(changes) if changes is FED else gait(**changes)
    right, left = Simulation(skill=skill), Simulation(skill=image(skill))
    for _ in range(9):
        qpos, qvel = mirrored(right.model, right.data.qpos, right.data.qvel)
        assert left.data.qpos == pytest.approx(qpos, abs=1e-6)
        assert left.data.qvel == pytest.approx(qvel, abs=1e-4)
        assert left.memory.report[0].swing == 1.0 - right.memory.report[0].swing
        right.step(100)
        left.step(100)
    assert right.memory.report[0].steps >= 1.0


def test_what_learns_goes_on_from_a_snapshot_with_the_same_bits() -> None:
    sim = Simulation(skill=gait(**LEARNS))
    sim.step(900)
    moment = sim.snapshot()
    sim.step(700)
    first = bits(sim)
    assert np.abs(sim.memory.table).max() > 0.1
    sim.restore(moment)
    sim.step(700)
    assert np.array_equal(bits(sim), first)


def test_a_row_of_a_population_is_the_simulation_and_reports_the_same() -> None:
    skills = [gait(**LEARNS), gait(cd=0.7, tempo=1.02, **LEARNS)]
    population = Population(2, skill=skills, seed=4)
    population.run(1.2)
    for i, skill in enumerate(skills):
        sim = Simulation(skill=skill, seed=4 + i)
        sim.run(1.2)
        assert np.array_equal(population.qpos[i], sim.data.qpos)
        assert population.reports[i] == sim.memory.report[0]
    population.reports["steps"][0] = 99.0  # copies
    assert population.reports["steps"][0] < 10.0


def test_a_turning_gait_turns_its_heading_and_the_commanded_one() -> None:
    found = document(tempo=1.1)
    found["parameters"]["cycle"]["turn"] = 0.5
    sim = Simulation(skill=files.validate(found, "turning"))
    sim.step(400)
    cycles = 400 * DT * 1.1 / own_cycle().period
    assert sim.memory.report[0].heading == pytest.approx(0.5 * cycles, rel=1e-3)
    before, turn = sim.memory.report[0].heading, 0.5 * 1.1 / own_cycle().period
    sim.command(heading=0.1)  # which turns along
    sim.step(100)
    rate = turn - sim.skill.parameters.turn_rate
    assert sim.memory.report[0].heading - before == pytest.approx(100 * DT * rate, abs=1e-9)
