"""Orientations and torque vectors of servos in the world frame, against SciPy's rotations and virtual work."""

from __future__ import annotations

import math
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from human_body import LEFT, RIGHT, TABLE, graph_of, hip_torque, hovering, look, unlimited, walk
from surefoot.native import vectors
from surefoot.native.kernels import python_impl
from surefoot.reflexes import servo

turned, turn_between = python_impl(vectors.from_yaw_roll_pitch), python_impl(vectors.rotation_between)
world_servo, length = python_impl(servo.world_servo), python_impl(vectors.norm)
SEEDS = range(8)


@pytest.fixture(autouse=True)
def _uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """`within` calls `length`, which can be called by kernels only."""
    monkeypatch.setattr(vectors, "norm", length)


def quaternion(rotation: Rotation) -> tuple[float, float, float, float]:
    w, x, y, z = rotation.as_quat(scalar_first=True).tolist()
    return w, x, y, z


def rotation(q: tuple[float, float, float, float]) -> Rotation:
    return Rotation.from_quat(q, scalar_first=True)


# -------------------------------------------------------------------------------------------------- turned


@pytest.mark.parametrize("seed", SEEDS)
def test_turned_is_yaw_after_roll_after_pitch(seed: int) -> None:
    yaw, roll, pitch = np.random.default_rng(seed).uniform(-3.0, 3.0, 3)
    expected = Rotation.from_rotvec([0.0, 0.0, yaw]) * Rotation.from_rotvec([roll, 0.0, 0.0])
    expected = expected * Rotation.from_rotvec([0.0, -pitch, 0.0])
    found = turned(yaw, roll, pitch)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
    assert rotation(found).as_matrix() == pytest.approx(expected.as_matrix(), abs=1e-14)


def test_positive_angles_turn_x_to_y_and_y_to_z_and_x_to_z() -> None:
    x, y = np.eye(3)[0], np.eye(3)[1]
    assert rotation(turned(0.3, 0.0, 0.0)).apply(x) == pytest.approx([math.cos(0.3), math.sin(0.3), 0.0])
    assert rotation(turned(0.0, 0.3, 0.0)).apply(y) == pytest.approx([0.0, math.cos(0.3), math.sin(0.3)])
    assert rotation(turned(0.0, 0.0, 0.3)).apply(x) == pytest.approx([math.cos(0.3), 0.0, math.sin(0.3)])


# -------------------------------------------------------------------------------------------- turn between


@pytest.mark.parametrize("seed", SEEDS)
def test_turn_between_takes_the_actual_orientation_to_the_wanted_one_in_world_axes(seed: int) -> None:
    wanted, actual = (Rotation.random(rng=seed + offset) for offset in (0, 100))
    found = np.array(turn_between(quaternion(wanted), np.array(quaternion(actual))))
    assert (Rotation.from_rotvec(found) * actual).as_matrix() == pytest.approx(wanted.as_matrix(), abs=1e-12)
    assert found == pytest.approx((wanted * actual.inv()).as_rotvec(), abs=1e-12)
    assert np.linalg.norm(found) <= math.pi + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_a_quaternion_and_its_negative_are_the_same_orientation(seed: int) -> None:
    wanted, actual = (np.array(quaternion(Rotation.random(rng=seed + offset))) for offset in (7, 70))
    first = turn_between(tuple(wanted), actual)
    for a, b in ((1, -1), (-1, 1), (-1, -1)):
        assert turn_between(tuple(a * wanted), b * actual) == pytest.approx(first, abs=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("short", [1e-3, 1e-7, 1e-10, 0.0])
def test_an_error_near_half_a_turn_is_finite_and_half_a_turn_long(seed: int, short: float) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    actual = Rotation.random(rng=seed)
    wanted = Rotation.from_rotvec((math.pi - short) * axis) * actual
    error = np.array(turn_between(quaternion(wanted), np.array(quaternion(actual))))
    assert np.isfinite(error).all()
    assert np.linalg.norm(error) == pytest.approx(math.pi - short, abs=1e-9)
    assert abs(error @ axis) == pytest.approx(math.pi - short, abs=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-14, 1e-10, 3e-9, 1e-6])
def test_tiny_errors_are_themselves_and_never_divide_by_zero(size: float) -> None:
    vector = size * np.array([0.36, -0.48, 0.8])
    wanted = (math.sqrt(1.0 - size**2 / 4.0), *(0.5 * vector).tolist())
    error = turn_between(wanted, np.array([1.0, 0.0, 0.0, 0.0]))
    assert error == pytest.approx(vector.tolist(), rel=1e-6, abs=1e-18)


# ------------------------------------------------------------------------------------- torques and limits


def test_world_servo_pulls_along_the_error_and_brakes_the_spin() -> None:
    torque = world_servo(70.0, 4.0, (0.3, -0.2, 0.5), np.array([1.0, 2.0, -3.0, 9.0, 9.0, 9.0]))
    assert torque == pytest.approx((70 * 0.3 - 4.0, -70 * 0.2 - 8.0, 70 * 0.5 + 12.0))


@pytest.mark.parametrize("limit", [0.5, 6.9, 7.1, 1e9])
def test_within_shortens_a_vector_to_the_limit_and_keeps_its_direction(limit: float) -> None:
    vector = np.array([2.0, -3.0, 6.0])  # 7 long
    found = np.array(python_impl(vectors.limit_norm)(tuple(vector), limit))
    assert np.linalg.norm(found) == pytest.approx(min(limit, 7.0))
    assert found / np.linalg.norm(found) == pytest.approx(vector / 7.0)


def test_within_leaves_no_torque_alone() -> None:
    assert python_impl(vectors.limit_norm)((0.0, 0.0, 0.0), 5.0) == (0.0, 0.0, 0.0)


def test_along_axis_is_the_projection_on_the_actuators_own_joint() -> None:
    axes = Rotation.random(rng=5).as_matrix()
    world = SimpleNamespace(xaxis=axes, joint=np.array([2.0, 0.0, 1.0]))
    torque = np.array([3.0, -1.0, 2.0])
    found = [python_impl(servo.along_axis)(world, actuator, tuple(torque)) for actuator in range(3)]
    assert found == pytest.approx([axes[2] @ torque, axes[0] @ torque, axes[1] @ torque])


# --------------------------------------------------------------------------------- virtual work of a hip


def spun(model: mujoco.MjModel, data: mujoco.MjData, joint: str, body: str, step: float) -> np.ndarray:
    """(3,) rotation vector of a body per radian of a joint, by central differences."""
    other = mujoco.MjData(model)
    ends = []
    for sign in (-1.0, 1.0):
        other.qpos[:] = data.qpos
        other.joint(joint).qpos[0] += sign * step
        mujoco.mj_kinematics(model, other)
        ends.append(Rotation.from_quat(other.body(body).xquat, scalar_first=True))
    return (ends[1] * ends[0].inv()).as_rotvec() / (2.0 * step)


@pytest.mark.parametrize("seed", SEEDS)
def test_hip_torques_do_the_virtual_work_of_the_torque_vector_on_the_thigh(seed: int) -> None:
    """τ_hinge · δq = τ · δθ of the thigh, with δθ measured by turning each hinge a little."""
    sim = hovering(walk(start__swing=("left", "right")[seed % 2]), seed)
    swing = seed % 2
    gain = graph_of(sim).gains[0]
    torques = look(sim)
    exerted = hip_torque(sim, swing, torques)
    assert np.linalg.norm(exerted) > 5.0
    side = (TABLE.anatomy.left, TABLE.anatomy.right)[swing]
    for hinge in side.joints[:3]:
        per_radian = spun(sim.model, sim.data, hinge, side.thigh, 1e-5)
        found = torques[sim.model.actuator(hinge).id]
        assert found == pytest.approx(float(exerted @ per_radian), abs=1e-7 * gain.kp), hinge


@pytest.mark.parametrize("seed", SEEDS)
def test_both_hips_together_put_the_torsos_torque_on_the_pelvis(seed: int) -> None:
    """All three components of τA = −τtorso − τB, with the torso's torque worked out by hand."""
    sim = hovering(walk(start__swing=("left", "right")[seed % 2]), seed + 20)
    head = graph_of(sim).head[0]
    torques = look(sim)
    total = hip_torque(sim, LEFT, torques) + hip_torque(sim, RIGHT, torques)
    trunk = sim.data.body(TABLE.anatomy.torso)
    actual = Rotation.from_quat(trunk.xquat, scalar_first=True)
    expected = head.torso_kp * actual.inv().as_rotvec() - head.torso_kd * trunk.cvel[:3]
    assert -total == pytest.approx(expected, abs=1e-8 * head.torso_kp)
    assert np.abs(expected).min() > 0.1


@pytest.mark.parametrize("which", ["root", "thigh"])
def test_negating_quaternions_changes_no_torque(which: str) -> None:
    """The double cover in the law itself: of the root in `qpos`, and of one part's frame in the model."""
    sim = hovering(walk(), 4)
    before = look(sim)
    if which == "root":
        sim.data.qpos[3:7] *= -1.0
    else:
        sim.model.body("left_thigh").quat[:] *= -1.0
    unlimited(sim)
    assert look(sim) == pytest.approx(before, abs=1e-9)
    assert np.abs(before).max() > 10.0


def test_torque_vectors_are_limited_as_a_whole_not_by_component() -> None:
    sim = hovering(walk(), 9)
    free = hip_torque(sim, LEFT, look(sim))
    limit = 0.4 * float(np.linalg.norm(free))
    graph_of(sim).gains[0].limit = limit
    found = hip_torque(sim, LEFT, look(sim))
    # the flexion hinge has the same limit, which a projection on it cannot exceed
    assert found == pytest.approx(0.4 * free, rel=1e-9)
