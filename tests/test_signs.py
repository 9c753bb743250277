"""One test per sign: each would fail if a plus were a minus."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from conftest import actuator_of, graph_of, in_the_air, machine_of, role_index, torques
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters

KP, KD = 300.0, 30.0
RIGHT_SWINGS, CONTACT_STATE = 1, 3  # of the walk, whose right leg swings in states 2 and 3


def hovering(seed: int = 0, **changes: float) -> Simulation:
    """The walk in the air in a generic pose, right leg swinging, no foot near the ground."""
    sim = Simulation(skill=with_parameters(load("planar/walk"), {k.replace("__", "."): v for k, v in changes.items()}))
    rng = np.random.default_rng(seed)
    sim.data.qpos[2:] = rng.uniform(-0.25, 0.25, 7)
    for knee in ("left_knee", "right_knee"):
        sim.data.joint(knee).qpos[0] = rng.uniform(-0.9, -0.2)
    sim.data.qvel[:] = rng.uniform(-0.4, 0.4, 9)
    in_the_air(sim)
    return sim


def torque(sim: Simulation, role: str) -> float:
    return float(torques(sim)[actuator_of(sim.scene, role, int(sim.memory.report[0].swing))])


# --------------------------------------------------------------------------------------------- world axes


def test_positive_pitch_turns_the_trunks_x_axis_towards_z() -> None:
    sim = hovering()
    sim.data.qpos[2] = 0.3
    mujoco.mj_forward(sim.model, sim.data)
    forward = sim.data.body("trunk").xmat.reshape(3, 3)[:, 0]
    assert forward == pytest.approx([np.cos(0.3), 0.0, np.sin(0.3)])


@pytest.mark.parametrize("joint", ["left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle"])
def test_positive_joint_angle_turns_the_part_below_from_x_towards_z(joint: str) -> None:
    sim = hovering(3)
    body = sim.model.body(sim.model.jnt_bodyid[sim.model.joint(joint).id]).name

    def pitch() -> float:
        mujoco.mj_kinematics(sim.model, sim.data)
        axes = sim.data.body(body).xmat.reshape(3, 3)
        return float(np.arctan2(axes[2, 0], axes[0, 0]))

    before = pitch()
    sim.data.joint(joint).qpos[0] += 0.11
    assert pitch() - before == pytest.approx(0.11)


def test_hip_forward_knee_flexion_back_and_toes_up_have_the_papers_signs() -> None:
    sim = hovering()
    sim.data.qpos[2:] = 0.0
    mujoco.mj_kinematics(sim.model, sim.data)
    ankle, toe = sim.data.body("left_foot").xpos.copy(), sim.data.geom("left_foot_0").xpos.copy()
    moves = {"left_hip": ("left_foot", 0), "left_knee": ("left_foot", 0), "left_ankle": ("toe", 2)}
    for joint, (moved, axis) in moves.items():
        sim.data.qpos[2:] = 0.0
        sim.data.joint(joint).qpos[0] = -0.4
        mujoco.mj_kinematics(sim.model, sim.data)
        now = sim.data.geom("left_foot_0").xpos if moved == "toe" else sim.data.body(moved).xpos
        assert now[axis] < (toe if moved == "toe" else ankle)[axis] - 0.01, joint


def test_gravity_pulls_down_along_z_and_a_push_along_x_gains_speed_along_x() -> None:
    sim, pushed = hovering(1), hovering(1)
    before = sim.data.subtree_com[0].copy()
    pushed.push((50.0, 0.0, 0.0), 0.1)
    sim.step(300)
    pushed.step(300)
    for one in (sim, pushed):
        mujoco.mj_subtreeVel(one.model, one.data)
        mujoco.mj_forward(one.model, one.data)
    assert sim.data.subtree_com[0, 2] < before[2] - 0.05
    assert pushed.data.subtree_linvel[0, 0] > sim.data.subtree_linvel[0, 0]


# -------------------------------------------------------------------------------------- balance feedback


def stance_leg_back(sim: Simulation, **changes: float) -> float:
    """Put the stance ankle behind the hips in the contact state; return d."""
    machine_of(sim.memory).state = CONTACT_STATE
    sim.data.qpos[2] = 0.0
    sim.data.joint("left_hip").qpos[0] = -0.35
    sim.data.joint("left_knee").qpos[0] = changes.get("knee", -0.2)
    mujoco.mj_forward(sim.model, sim.data)
    hips, ankle = sim.data.body("right_thigh").xpos[0], sim.data.body("left_foot").xpos[0]
    return float(hips - ankle)


def test_d_is_how_far_the_hips_are_ahead_of_the_stance_ankle() -> None:
    sim = hovering(2)
    assert stance_leg_back(sim) == pytest.approx(sim.memory.report[0].distance)
    assert sim.memory.report[0].distance > 0.2


def test_v_is_the_speed_of_the_hips_along_x() -> None:
    sim = hovering(2)
    sim.data.qvel[0] = 1.37
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.memory.report[0].velocity == pytest.approx(1.37)


def test_swing_hip_is_driven_forward_when_the_body_is_further_ahead_of_its_foot() -> None:
    near, far = hovering(4), hovering(4)
    d = stance_leg_back(near, knee=-0.2), stance_leg_back(far, knee=-0.6)
    assert d[1] > d[0] + 0.05
    gained = torque(far, "swing_hip") - torque(near, "swing_hip")
    assert gained == pytest.approx(KP * 2.2 * (d[1] - d[0]))
    assert gained > 0.0


def test_swing_hip_is_driven_forward_when_the_body_is_faster() -> None:
    slow, fast = hovering(5), hovering(5)
    fast.data.qvel[0] += 0.5
    gained = torque(fast, "swing_hip") - torque(slow, "swing_hip")
    assert gained == pytest.approx(KP * 0.2 * 0.5)


def test_zero_gains_answer_neither_distance_nor_speed() -> None:
    one, two = (hovering(6, states__0__cv=0.0, states__1__cd=0.0) for _ in range(2))
    two.data.qvel[0] += 0.7
    two.data.joint("left_knee").qpos[0] -= 0.4
    assert torque(one, "swing_hip") == pytest.approx(torque(two, "swing_hip"), abs=1e-9)


def test_swing_hip_target_is_an_angle_in_the_world() -> None:
    """The torso may lean as it likes: what counts is the thigh."""
    upright, leaning = hovering(7), hovering(7)
    leaning.data.qpos[2] += 0.2
    for joint in ("left_hip", "right_hip"):
        leaning.data.joint(joint).qpos[0] -= 0.2
    assert torque(leaning, "swing_hip") == pytest.approx(torque(upright, "swing_hip"), abs=1e-9)


def test_swing_hip_target_stays_within_the_bodys_range() -> None:
    sim = hovering(8, states__0__cv=20.0)
    sim.data.qvel[0] = 15.0
    thigh = sim.data.qpos[2] + sim.data.joint("right_hip").qpos[0]
    rate = sim.data.qvel[2] + sim.data.joint("right_hip").qvel[0]
    assert torque(sim, "swing_hip") == pytest.approx(KP * (1.6 - thigh) - KD * rate)


@pytest.mark.parametrize("role", ["swing_ankle", "stance_ankle", "stance_knee"])
@pytest.mark.parametrize(("gain", "sign"), [(0.3, 1.0), (-0.3, -1.0)])
def test_feedback_of_another_joint_follows_its_own_gains(role: str, gain: float, sign: float) -> None:
    plain = hovering(9)
    by_d = hovering(9, **{f"states__0__feedback__{role}__0": gain})
    by_v = hovering(9, **{f"states__0__feedback__{role}__1": gain})
    d, v = plain.memory.report[0].distance, plain.memory.report[0].velocity
    assert abs(d) > 0.01
    assert abs(v) > 0.01
    assert torque(by_d, role) - torque(plain, role) == pytest.approx(KP * gain * d)
    assert torque(by_v, role) - torque(plain, role) == pytest.approx(KP * gain * v)
    assert np.sign(torque(by_v, role) - torque(plain, role)) == sign * np.sign(v)


# ------------------------------------------------------------------------------------------------ servos


@pytest.mark.parametrize("role", ["swing_knee", "swing_ankle", "stance_knee", "stance_ankle"])
@pytest.mark.parametrize("offset", [-0.13, 0.21])
def test_knees_and_ankles_are_pulled_towards_their_targets(role: str, offset: float) -> None:
    sim = hovering(10)
    target = sim.skill.parameters.states[0].targets[role]
    joint = sim.data.joint(sim.scene.table.anatomy.joints(RIGHT_SWINGS)[role_index(sim.scene, role)])
    joint.qpos[0], joint.qvel[0] = target + offset, 0.0
    assert torque(sim, role) == pytest.approx(-KP * offset)
    joint.qvel[0] = 0.8
    assert torque(sim, role) == pytest.approx(-KP * offset - KD * 0.8)


@pytest.mark.parametrize("role", ["swing_knee", "stance_ankle"])
@pytest.mark.parametrize("offset", [-0.3, 0.3])
def test_a_servo_accelerates_its_joint_towards_the_target(role: str, offset: float) -> None:
    sim = hovering(11)
    sim.data.qvel[:] = 0.0
    target = sim.skill.parameters.states[0].targets[role]
    joint = sim.data.joint(sim.scene.table.anatomy.joints(RIGHT_SWINGS)[role_index(sim.scene, role)])
    joint.qpos[0] = target + offset
    mujoco.mj_forward(sim.model, sim.data)
    driven = joint.qacc[0]
    graph_of(sim.memory).gains[role_index(sim.scene, role)].kp = 0.0
    mujoco.mj_forward(sim.model, sim.data)
    assert np.sign(driven - joint.qacc[0]) == -np.sign(offset)


def test_torque_is_limited_on_both_sides() -> None:
    limit = 12.5
    sim = hovering(12, gains__all__limit=limit)
    sim.data.joint("right_knee").qpos[0], sim.data.joint("left_knee").qpos[0] = -2.0, -0.01
    found = torques(sim)
    assert np.abs(found).max() == pytest.approx(limit)
    assert found[sim.model.actuator("right_knee").id] == pytest.approx(limit)
    assert np.abs(found).max() <= limit + 1e-9


# ------------------------------------------------------------------------------------------------- torso


@pytest.mark.parametrize("seed", range(5))
def test_stance_hip_is_minus_torso_minus_swing_hip(seed: int) -> None:
    sim = hovering(seed)
    machine_of(sim.memory).state = seed % 4
    swing, stance = torque(sim, "swing_hip"), torque(sim, "stance_hip")
    pitch, rate = sim.data.qpos[2], sim.data.qvel[2]
    torso = KP * (0.0 - pitch) - KD * rate
    assert sim.memory.report[0].feedback == pytest.approx(torso)
    assert stance == pytest.approx(-torso - swing, abs=1e-9)


def test_stance_hip_takes_the_feedforward_with_the_feedback() -> None:
    sim = hovering(3, learning__bins=2)
    machine_of(sim.memory).usual_period = 0.4
    sim.memory.table[:] = 17.0, 18.0, 19.0, 20.0
    swing, stance = torque(sim, "swing_hip"), torque(sim, "stance_hip")
    assert sim.memory.report[0].feedforward == 19.0
    assert stance == pytest.approx(-sim.memory.report[0].feedback - 19.0 - swing, abs=1e-9)


@pytest.mark.parametrize("lean", [-0.25, 0.25])
def test_a_leaning_torso_is_erected_through_the_hips(lean: float) -> None:
    sim = hovering()
    sim.data.qvel[:] = 0.0
    sim.data.qpos[2] = lean
    for joint in ("left_hip", "right_hip"):
        sim.data.joint(joint).qpos[0] = -lean
    found = torques(sim)
    on_trunk = -(found[sim.model.actuator("left_hip").id] + found[sim.model.actuator("right_hip").id])
    assert on_trunk == pytest.approx(-KP * lean)
    assert np.sign(sim.data.qacc[2]) == -np.sign(lean)


def test_torso_torque_stays_within_the_limit_its_skill_gives() -> None:
    sim = hovering(3, torso_gain__limit=5.0)
    sim.data.qpos[2], sim.data.qvel[2] = -0.25, 0.0
    found = torques(sim)
    on_trunk = -(found[sim.model.actuator("left_hip").id] + found[sim.model.actuator("right_hip").id])
    assert on_trunk == pytest.approx(5.0)


def test_torso_turning_back_is_braked() -> None:
    calm, turning = hovering(1), hovering(1)
    turning.data.qvel[2] += 0.6
    for joint in ("left_hip", "right_hip"):
        turning.data.joint(joint).qvel[0] -= 0.6
    mujoco.mj_forward(turning.model, turning.data)
    gained = turning.memory.report[0].feedback - calm.memory.report[0].feedback
    assert gained == pytest.approx(-KD * 0.6)


def test_forward_lean_command_asks_for_a_torso_that_leans_forward() -> None:
    plain, told = hovering(2), hovering(2)
    told.command(lean=-0.15)
    mujoco.mj_forward(told.model, told.data)
    assert told.memory.report[0].feedback - plain.memory.report[0].feedback == pytest.approx(-KP * 0.15)


def mean_pitch(sim: Simulation, seconds: float) -> float:
    return float(sim.run(seconds, fps=100).qpos[:, 2].mean())


def test_forward_lean_command_tilts_the_walking_torso_forward() -> None:
    plain, told = Simulation("planar"), Simulation("planar")
    told.command(lean=-0.1)
    plain.step(6000)
    told.step(6000)
    assert mean_pitch(told, 2.0) < mean_pitch(plain, 2.0) - 0.05
    assert not told.fallen


@pytest.mark.parametrize(("faster", "sign"), [(0.4, -1.0), (-0.4, 1.0)])
def test_walk_told_to_be_faster_leans_forward_and_speeds_up(faster: float, sign: float) -> None:
    plain, told = Simulation("planar"), Simulation("planar")
    plain.step(8000)
    told.step(8000)
    x = told.data.qpos[0]
    plain.step(4000)
    usual = (plain.data.qpos[0] - x) / 2.0
    told.command(speed=usual + faster)
    told.step(4000)
    assert sign * machine_of(told.memory).lean > 0.01
    told.step(6000)
    here = told.data.qpos[0]
    tilt = mean_pitch(told, 3.0)
    assert (told.data.qpos[0] - here) / 3.0 - usual == pytest.approx(faster, abs=0.5 * abs(faster))
    assert np.sign(tilt - mean_pitch(plain, 3.0)) == sign
    assert not told.fallen
