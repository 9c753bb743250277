"""States in which both legs do the same, of SIMBICON in space: they swing together, or bear together."""

from __future__ import annotations

from typing import Any

import pytest

from human_body import LEFT, RIGHT, SIDE, TABLE, hovering, look, made_human, torso_servo, wanted_thigh
from surefoot.engine.simulation import Simulation

HEADING = 0.9  # [rad] a generic one
LEGS = pytest.mark.parametrize("leg", [LEFT, RIGHT])
CALLED = pytest.mark.parametrize("swing", ["left", "right"])  # the leg a state calls the swing leg


def both(swing: str, touching: bool, **state: Any) -> Simulation:
    states = [{"until": "request", "both": True, "torso": 0.05} | state]
    sim = hovering(made_human(states, {"heading": HEADING, "swing": swing}), 6)
    if touching:
        sim.data.qpos[2] -= sim.scene.clearance(sim.data.qpos) + 0.002
    sim.command(width=0.04, sideways=0.03)
    look(sim)
    assert sim.memory.touch.any() == touching
    return sim


def wanted(sim: Simulation, leg: int, swing: str) -> list[float]:
    """(yaw, roll, pitch) at which the law wants a swinging thigh."""
    return wanted_thigh(sim, leg, 0 if leg == ("left", "right").index(swing) else SIDE).tolist()


TARGETS = {"swing_hip": 0.2, "swing_hip_roll": 0.1, "swing_hip_yaw": 0.07}


@CALLED
@LEGS
def test_a_leg_that_bears_flexes_with_half_the_torsos_torque(swing: str, leg: int) -> None:
    sim = both(swing, touching=True, targets=TARGETS)
    torques, name = look(sim), ("left_hip", "right_hip")[leg]
    expected = -0.5 * torso_servo(sim, HEADING, 0.0, 0.05) @ sim.data.joint(name).xaxis
    assert torques[sim.model.actuator(name).id] == pytest.approx(expected, abs=1e-9)
    assert abs(expected) > 1.0


@CALLED
@LEGS
@pytest.mark.parametrize(("hinge", "target"), [("roll", 0.1 + 0.04), ("yaw", 0.07)])
def test_a_leg_that_bears_holds_the_poses_roll_and_width_and_its_yaw(
    swing: str, leg: int, hinge: str, target: float
) -> None:
    sim = both(swing, touching=True, targets=TARGETS)
    name = f"{('left', 'right')[leg]}_hip_{hinge}"
    torque, joint, gain = look(sim)[sim.model.actuator(name).id], sim.data.joint(name), TABLE.gains[name]
    assert torque == pytest.approx(gain.kp * (target - joint.qpos[0]) - gain.kd * joint.qvel[0], abs=1e-9)


@CALLED
def test_legs_in_the_air_swing_together_as_mirror_images_displaced_to_the_same_side(swing: str) -> None:
    sim = both(swing, touching=False, targets=TARGETS, cd=0.3, cv_lateral=0.2)
    report = sim.memory.report[0]
    flexion, aside = 0.2 + 0.3 * report.distance, 0.2 * report.lateral_velocity - 0.03
    assert wanted(sim, LEFT, swing) == pytest.approx([HEADING + 0.07, aside + 0.14, flexion], abs=1e-9)
    assert wanted(sim, RIGHT, swing) == pytest.approx([HEADING - 0.07, aside - 0.14, flexion], abs=1e-9)


@CALLED
@pytest.mark.parametrize("role", ["swing_hip", "swing_hip_roll"])
def test_legs_in_the_air_answer_v_alike(role: str, swing: str) -> None:
    plain, answering = (both(swing, touching=False, feedback={role: [0.0, gain]}) for gain in (0.0, 0.5))
    report = plain.memory.report[0]
    gained = {"swing_hip": [0.0, 0.0, report.velocity], "swing_hip_roll": [0.0, report.lateral_velocity, 0.0]}[role]
    for leg in (LEFT, RIGHT):
        difference = [a - b for a, b in zip(wanted(answering, leg, swing), wanted(plain, leg, swing), strict=True)]
        assert difference == pytest.approx([0.5 * value for value in gained], abs=1e-9)
    assert max(map(abs, gained)) > 0.01


def thighs(swing: str, role: str, skill_seed: int = 6) -> tuple[list[float], list[float]]:
    states = [{"until": "request", "both": True, "feedback": {role: [0.0, 0.5]}}]
    sim: Simulation = hovering(made_human(states, {"swing": swing}), skill_seed)
    left, right = (0, SIDE) if swing == "left" else (SIDE, 0)
    return list(wanted_thigh(sim, LEFT, left)), list(wanted_thigh(sim, RIGHT, right))


@pytest.mark.parametrize("role", ["swing_hip", "swing_hip_roll", "swing_hip_yaw"])
def test_two_legs_that_swing_together_answer_v_alike_whichever_is_called_the_swing_leg(role: str) -> None:
    by_left, by_right = thighs("left", role), thighs("right", role)
    assert by_left[0] == pytest.approx(by_left[1], abs=1e-9)
    assert by_left[0] == pytest.approx(by_right[0], abs=1e-9)
