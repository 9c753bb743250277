"""One test per sign of SIMBICON in space: each would fail if a plus were a minus, or one plane's d were the other's."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from conftest import machine_of
from human_body import (
    LEFT,
    RIGHT,
    TABLE,
    graph_of,
    hovering,
    look,
    role,
    torso_torque,
    walk,
    wanted_thigh,
    wanted_torso,
)
from surefoot.engine.simulation import Simulation
from surefoot.reflexes.displacement import LIFT_KNEE, SLOPE_ANKLE, SLOPE_HIP, SLOPE_LEAN

HEADING = 0.9  # [rad] a generic one, so that x is not ahead and y is not left
AHEAD = np.array([math.cos(HEADING), math.sin(HEADING), 0.0])
ASIDE = np.array([-math.sin(HEADING), math.cos(HEADING), 0.0])
SIDES = pytest.mark.parametrize("leg", [LEFT, RIGHT])


def in_air(leg: int, seed: int = 1, **changes: float) -> Simulation:
    """The walk in the air, facing the generic heading, with gains of d and v that are all different."""
    gains = {
        "states__0__cd": 0.31, "states__0__cv": 0.17, "states__0__cd_lateral": 0.43, "states__0__cv_lateral": 0.23,
    }  # fmt: skip
    return hovering(walk(start__swing=("left", "right")[leg], start__heading=HEADING, **(gains | changes)), seed)


def stance_ankle(sim: Simulation, leg: int) -> np.ndarray:
    return np.array(sim.data.body(("right_foot", "left_foot")[leg]).xpos)


# ------------------------------------------------------------------------------------------- swing hip


@SIDES
def test_swing_thigh_answers_d_and_v_of_both_planes_of_the_heading(leg: int) -> None:
    """Eq. 1 in both planes, with d and v worked out here: the hips' midpoint is the pelvis' origin."""
    sim = in_air(leg)
    d = sim.data.body("pelvis").xpos - stance_ankle(sim, leg)
    v, target = sim.data.qvel[:3], sim.skill.parameters.states[0].targets["swing_hip"]
    yaw, lateral, flexion = wanted_thigh(sim, leg)
    assert yaw == pytest.approx(HEADING)
    assert flexion == pytest.approx(target + 0.31 * (d @ AHEAD) + 0.17 * (v @ AHEAD))
    assert lateral == pytest.approx(0.43 * (d @ ASIDE) + 0.23 * (v @ ASIDE))
    report = sim.memory.report[0]
    assert (report.distance, report.velocity) == pytest.approx((d @ AHEAD, v @ AHEAD))
    assert (report.lateral_distance, report.lateral_velocity) == pytest.approx((d @ ASIDE, v @ ASIDE))


@SIDES
def test_a_body_pushed_forward_swings_its_thigh_further_forward(leg: int) -> None:
    sim = in_air(leg)
    before = wanted_thigh(sim, leg)
    sim.data.qvel[:3] += 0.5 * AHEAD
    assert wanted_thigh(sim, leg) - before == pytest.approx([0.0, 0.0, 0.17 * 0.5], abs=1e-9)


@SIDES
def test_a_body_pushed_to_the_left_swings_its_thigh_to_the_left_whichever_leg_it_is(leg: int) -> None:
    sim = in_air(leg)
    before = wanted_thigh(sim, leg)
    sim.data.qvel[:3] += 0.5 * ASIDE
    assert wanted_thigh(sim, leg) - before == pytest.approx([0.0, 0.23 * 0.5, 0.0], abs=1e-9)


@SIDES
def test_positive_roll_target_moves_the_swing_foot_outward_and_positive_yaw_turns_its_toes_out(leg: int) -> None:
    sim = in_air(leg, states__0__targets__swing_hip_roll=0.2, states__0__targets__swing_hip_yaw=0.15)
    outward = (1.0, -1.0)[leg]
    gained = wanted_thigh(sim, leg) - wanted_thigh(in_air(leg), leg)
    assert gained == pytest.approx([0.15 * outward, 0.2 * outward, 0.0], abs=1e-9)
    foot = Rotation.from_euler("ZXY", [0.0, 0.2 * outward, 0.0]).apply([0.0, 0.0, -1.0])
    assert foot[1] * outward > 0.0


@SIDES
def test_swing_hip_target_stays_within_the_bodys_range(leg: int) -> None:
    sim = in_air(leg, states__0__targets__swing_hip=2.3)
    sim.data.qvel[:3] += 9.0 * AHEAD
    assert wanted_thigh(sim, leg)[2] == pytest.approx(TABLE.hip_targets[1])


@SIDES
def test_the_other_joints_answer_d_and_v_of_their_own_plane(leg: int) -> None:
    names = ("stance_ankle", "stance_ankle_roll", "swing_ankle_roll", "stance_knee", "waist_roll", "waist")
    plain, by_d, by_v = (
        in_air(leg, **{f"states__0__feedback__{n}__{k}": 0.3 for n in names for k in which})
        for which in ((), (0,), (1,))
    )
    report, torques = plain.memory.report[0], [look(sim) for sim in (plain, by_d, by_v)]
    for name in names:
        joint = TABLE.anatomy.joints(leg)[role(name)]
        at, kp = plain.model.actuator(joint).id, TABLE.gains[joint].kp
        sign = TABLE.hinges[joint].axis[0] if name.endswith("roll") else 1.0
        d = sign * (report.lateral_distance if name.endswith("roll") else report.distance)
        v = sign * (report.lateral_velocity if name.endswith("roll") else report.velocity)
        assert torques[1][at] - torques[0][at] == pytest.approx(kp * 0.3 * d), name
        assert torques[2][at] - torques[0][at] == pytest.approx(kp * 0.3 * v), name


@SIDES
def test_a_swing_hips_yaw_turns_its_toes_to_the_side_the_body_is_on_or_moves_to(leg: int) -> None:
    plain = in_air(leg)
    report, before = plain.memory.report[0], wanted_thigh(plain, leg)
    for which, seen in ((0, report.lateral_distance), (1, report.lateral_velocity)):
        changes = {f"states__0__feedback__swing_hip_yaw__{which}": 0.4}
        gained = wanted_thigh(in_air(leg, **changes), leg) - before
        assert gained == pytest.approx([0.4 * seen, 0.0, 0.0], abs=1e-9)
        assert abs(seen) > 0.01


# ----------------------------------------------------------------------------------------------- torso


@SIDES
@pytest.mark.parametrize(("axis", "name"), [(0, "roll"), (1, "pitch"), (2, "yaw")])
@pytest.mark.parametrize("angle", [-0.3, 0.3])
def test_a_turned_torso_is_turned_back_through_the_hips(leg: int, axis: int, name: str, angle: float) -> None:
    """By its torque, and by what the body does of it: beside one without the torso's servo, in the air."""
    spun = []
    for on in (True, False):
        sim = Simulation(skill=walk(start__swing=("left", "right")[leg], start__speed=0.0))
        sim.data.qpos[2] += 1.0
        turn = Rotation.from_rotvec(np.eye(3)[axis] * angle)
        sim.data.qpos[3:7] = turn.as_quat(scalar_first=True)
        if on:
            assert np.sign(torso_torque(sim)[axis]) == -np.sign(angle), name
        else:
            graph_of(sim).head[0].torso_kp = graph_of(sim).head[0].torso_kd = 0.0
        mujoco.mj_forward(sim.model, sim.data)
        sim.step(25)
        spun.append(Rotation.from_quat(sim.data.body("trunk").xquat, scalar_first=True).as_rotvec()[axis])
    assert (spun[0] - spun[1]) * np.sign(angle) < -0.001


@SIDES
def test_the_torso_is_held_at_its_targets_in_the_heading(leg: int) -> None:
    sim = in_air(leg, states__0__torso=0.05, states__0__torso_roll=0.11, states__0__torso_yaw=0.13)
    mirror = (1.0, -1.0)[leg]
    assert wanted_torso(sim) == pytest.approx([HEADING + 0.13 * mirror, 0.11 * mirror, 0.05], abs=1e-9)
    assert wanted_torso(in_air(leg)) == pytest.approx([HEADING, 0.0, 0.0], abs=1e-9)


def test_lean_slope_and_load_pitch_the_torso_forward_together() -> None:
    sim = in_air(LEFT)
    sim.command(lean=-0.07, slope=0.2)
    graph_of(sim).head[0].load_lean = -0.04
    assert wanted_torso(sim)[2] == pytest.approx(-0.07 + SLOPE_LEAN * 0.2 - 0.04, abs=1e-9)
    assert SLOPE_LEAN < 0.0


# -------------------------------------------------------------------------------- commands as displacements


@SIDES
def test_slope_and_lift_displace_hip_knee_and_ankles(leg: int) -> None:
    sim = in_air(leg)
    hip, before = wanted_thigh(sim, leg), look(sim)
    sim.command(slope=0.2, lift=0.3)
    gained = look(sim) - before
    assert wanted_thigh(sim, leg) - hip == pytest.approx([0.0, 0.0, SLOPE_HIP * 0.2 + 0.3], abs=1e-9)
    expected = {
        "swing_knee": LIFT_KNEE * 0.3, "swing_ankle": SLOPE_ANKLE * 0.2,
        "stance_ankle": SLOPE_ANKLE * 0.2, "stance_knee": 0.0,
    }  # fmt: skip
    for name, angle in expected.items():
        joint = TABLE.anatomy.joints(leg)[role(name)]
        assert gained[sim.model.actuator(joint).id] == pytest.approx(TABLE.gains[joint].kp * angle, abs=1e-8), name


@SIDES
def test_width_moves_the_swing_foot_outward_and_sideways_moves_it_to_the_right(leg: int) -> None:
    sim = in_air(leg)
    before = wanted_thigh(sim, leg)
    sim.command(width=0.1)
    assert wanted_thigh(sim, leg) - before == pytest.approx([0.0, (0.1, -0.1)[leg], 0.0], abs=1e-9)
    sim.command(width=0.0, sideways=0.08)
    assert wanted_thigh(sim, leg) - before == pytest.approx([0.0, -0.08, 0.0], abs=1e-9)


# ---------------------------------------------------------------------------------------------- heading


def test_a_starts_rates_turn_the_body_back_to_the_left_side_up_and_to_the_left() -> None:
    rates = {"start__roll_rate": 0.3, "start__torso_rate": 0.5, "start__yaw_rate": -0.2, "start__yaw": 0.4}
    sim = Simulation(skill=walk(start__heading=HEADING, start__roll=0.2, **rates))
    spin = Rotation.from_euler("z", HEADING).apply([0.3, -0.5, -0.2])
    assert sim.data.body("pelvis").cvel[:3] == pytest.approx(spin)


def test_a_start_turned_from_its_heading_is_turned_back() -> None:
    sim = Simulation(skill=walk(start__heading=HEADING, start__yaw=0.2))
    assert sim.data.qpos[3:7] == pytest.approx(Rotation.from_euler("z", HEADING + 0.2).as_quat(scalar_first=True))
    assert sim.data.qvel[:3] == pytest.approx(sim.skill.start.speed * AHEAD)
    assert sim.memory.report[0].heading == HEADING
    assert wanted_torso(hovering(sim.skill, 2))[0] == pytest.approx(HEADING)


@pytest.mark.parametrize("angle", [0.5, -0.5])
def test_heading_is_approached_at_the_skills_rate_and_then_held(angle: float) -> None:
    sim = Simulation(skill=walk(turn_rate=0.8))
    sim.command(heading=angle)
    sim.step(250)
    assert sim.memory.report[0].heading == pytest.approx(math.copysign(0.8 * 0.25, angle), abs=0.8 * 0.0011)
    sim.step(500)
    assert sim.memory.report[0].heading == pytest.approx(angle)


@pytest.mark.parametrize(
    ("begin", "wanted", "sign"), [(3.0, -3.0, 1.0), (-2.5, 2.5, -1.0), (0.4, 0.4 + 1.9 * math.pi, -1.0)]
)
def test_heading_takes_the_shorter_way_round(begin: float, wanted: float, sign: float) -> None:
    sim = Simulation(skill=walk(start__heading=begin))
    sim.command(heading=wanted)
    sim.step(100)
    assert (sim.memory.report[0].heading - begin) * sign == pytest.approx(0.6 * 0.1, abs=0.001)


def test_another_heading_at_the_start_gives_the_same_motion_turned() -> None:
    """Nothing in the law knows the world's x and y: starts, senses, servos and steering turn with the heading."""
    yaw, skill = 0.7, {"states__0__feedback__stance_ankle_roll__1": 0.05, "states__1__targets__waist_yaw": 0.1}
    start = {"yaw": 0.05, "roll": 0.02, "roll_rate": 0.1, "torso_rate": 0.05, "sideways": 0.05}
    skill |= {f"start__{name}": value for name, value in start.items()}
    straight, yawed = (Simulation(skill=walk(start__heading=heading, **skill)) for heading in (0.0, yaw))
    turn = Rotation.from_euler("z", yaw)
    for sim, base in ((straight, 0.0), (yawed, yaw)):
        sim.command(heading=base + 0.3, sideways=0.03, speed=0.4, width=0.02)
    for _ in range(10):
        straight.step(60)
        yawed.step(60)
        here, there = straight.data.qpos, yawed.data.qpos
        assert there[:3] == pytest.approx(turn.apply(here[:3]), abs=1e-9)
        root = turn * Rotation.from_quat(here[3:7], scalar_first=True)
        assert (root.inv() * Rotation.from_quat(there[3:7], scalar_first=True)).magnitude() < 1e-9
        assert there[7:] == pytest.approx(here[7:], abs=1e-9)
        for name in ("distance", "velocity", "lateral_distance", "lateral_velocity"):
            assert yawed.memory.report[0][name] == pytest.approx(straight.memory.report[0][name], abs=1e-9), name


def test_machine_keeps_what_it_measured_when_a_moment_is_evaluated_again() -> None:
    sim = in_air(LEFT)
    before = machine_of(sim.memory).d, sim.data.ctrl.copy()
    mujoco.mj_forward(sim.model, sim.data)
    assert machine_of(sim.memory).d == before[0]
    assert np.array_equal(sim.data.ctrl, before[1])
