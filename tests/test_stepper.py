"""The stepper's body: what Tables 1 and 2 of "Watch your step" print reaches the compiled model."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from surefoot.characters import load
from surefoot.engine.simulation import Simulation

MASSES = {
    "head": 4.8, "pelvis": 21.0, "trunk": 25.5, "left_upper_arm": 3.0, "right_lower_arm": 1.6, "left_hand": 0.7,
    "right_thigh": 8.7, "left_shin": 3.7, "right_foot": 1.4,
}  # fmt: skip
HEIGHTS = {"head": 1.64, "pelvis": 1.01, "trunk": 1.31, "left_thigh": 0.68, "right_shin": 0.26, "left_foot": 0.02}
LIMITS = {  # [°] in our senses: flexion forward positive (knees and the waist bend negative)
    "waist": (-85, 40), "waist_yaw": (-45, 45), "waist_roll": (-50, 50), "left_hip": (-40, 170),
    "right_hip_roll": (-25, 25), "left_knee": (-160, 0), "right_ankle": (-40, 40), "left_elbow": (0, 110),
    "right_shoulder": (-75, 150), "left_wrist_roll": (-85, 85), "neck": (-90, 45), "neck_yaw": (-55, 55),
}  # fmt: skip
STIFFNESS = {
    "waist": 540.0, "waist_roll": 900.0, "left_hip": 350.0, "right_hip_yaw": 175.0, "left_knee": 320.0,
    "right_ankle": 120.0, "left_ankle_roll": 60.0, "right_shoulder": 110.0, "left_wrist": 30.0, "neck_yaw": 55.0,
    "left_elbow": 105.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return Simulation("stepper", "stand").model


def test_has_thirty_joints_and_weighs_what_is_printed(model: mujoco.MjModel) -> None:
    assert (model.nv, model.nu) == (36, 30)
    assert model.body_subtreemass[model.body("pelvis").id] == pytest.approx(89.5)
    for name, mass in MASSES.items():
        assert model.body(name).mass[0] == pytest.approx(mass), name


def test_standing_straight_its_parts_are_at_the_printed_heights(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    data.qpos[2] = 0.91
    mujoco.mj_kinematics(model, data)
    for name, height in HEIGHTS.items():
        assert data.body(name).xipos[2] == pytest.approx(height), name
    top = max(
        data.geom_xpos[g, 2] + model.geom_size[g, 0] for g in range(model.ngeom) if model.geom(g).name[:4] == "head"
    )
    assert top < 1.701


def test_joints_have_the_printed_limits_and_stiffness(model: mujoco.MjModel) -> None:
    table = load("stepper")
    for name, limits in LIMITS.items():
        assert np.degrees(model.joint(name).range) == pytest.approx(limits), name
    for name, kp in STIFFNESS.items():
        assert (table.gains[name].kp, table.gains[name].kd, table.gains[name].limit) == (
            kp,
            pytest.approx(kp / 10),
            500.0,
        )


def test_friction_and_torques_are_within_the_papers(model: mujoco.MjModel) -> None:
    assert set(model.geom_friction[:, 0]) == {1.0}
    assert np.abs(model.actuator_forcerange).max() == pytest.approx(500.0)


def test_inertias_are_those_of_solid_boxes() -> None:
    for segment in load("stepper").segments:
        a, b, c = segment.inertia
        assert max(a, b, c) < a + b + c - max(a, b, c), segment.name
        assert 0.01 < math.sqrt(max(segment.inertia) / segment.mass) < 0.25
