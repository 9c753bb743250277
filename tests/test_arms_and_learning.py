"""The upper body: arms that swing or circle, torques that are learned in space, gains that rise after a surprise."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from conftest import bits, machine_of
from human_body import LEFT, RIGHT, ROLES, SIDE, TABLE, graph_of, hovering, look, role, torso_torque, unlimited, walk
from surefoot.controllers.simbicon import law as simbicon
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.native.kernels import python_impl
from surefoot.reflexes.balance import reaction_stiffness
from surefoot.reflexes.displacement import ELBOW, STRAIGHT

CHANNELS = TABLE.anatomy.channels
COUNT = 3 + len(CHANNELS)


def learners(sim: Simulation) -> Any:
    return python_impl(simbicon.learners_of)(sim.memory.memory, ROLES, COUNT)


def at_phase(sim: Simulation, phase: float) -> None:
    """Put the machine at a phase of its step, in a state that goes on."""
    machine = machine_of(sim.memory)
    machine.period = machine.usual_period = 1.0
    machine.step_start, machine.entered = sim.data.time - phase, sim.data.time


def targets(sim: Simulation, leg: int) -> dict[str, float]:
    """Angles at which the law wants the joints that follow their parent's frame, read back from the torques."""
    torques, found = look(sim), {}
    for i, (name, joint) in enumerate(zip(TABLE.anatomy.roles, TABLE.anatomy.joints(leg), strict=True)):
        gain, hinge = graph_of(sim).gains[i], sim.data.joint(joint)
        asked = torques[sim.model.actuator(joint).id]
        found[name] = float((asked + gain.kd * hinge.qvel[0]) / gain.kp + hinge.qpos[0])
    return found


# ----------------------------------------------------------------------------------------------------- arms


@pytest.mark.parametrize("leg", [LEFT, RIGHT])
@pytest.mark.parametrize("phase", [0.0, 0.2, 0.77])
def test_arms_swing_against_the_legs(leg: int, phase: float) -> None:
    """The arm of the leg that begins to swing, and so is behind, is in front; half a cycle later it is behind."""
    sim = hovering(walk(arms__swing=0.24, start__swing=("left", "right")[leg], states__0__duration=0.9), 2)
    at_phase(sim, phase)
    found, ahead = targets(sim, leg), 0.24 * math.cos(math.pi * phase)
    assert found["swing_shoulder"] == pytest.approx(ahead)
    assert found["stance_shoulder"] == pytest.approx(-ahead)
    for side in ("swing", "stance"):
        assert found[f"{side}_shoulder_roll"] == pytest.approx(STRAIGHT)
        assert found[f"{side}_elbow"] == pytest.approx(ELBOW * 0.24 / 0.3)


@pytest.mark.parametrize("leg", [LEFT, RIGHT])
@pytest.mark.parametrize("phase", [0.0, 0.2, 0.77])
def test_straight_arms_circle_on_cones_half_a_turn_apart(leg: int, phase: float) -> None:
    sim = hovering(walk(arms__circle=0.5, start__swing=("left", "right")[leg], states__0__duration=0.9), 2)
    at_phase(sim, phase)
    found, turn = targets(sim, leg), math.pi * phase
    for side, shift in (("swing", 0.0), ("stance", math.pi)):
        assert found[f"{side}_shoulder"] == pytest.approx(0.5 * math.cos(turn + shift))
        assert found[f"{side}_shoulder_roll"] == pytest.approx(STRAIGHT + 0.5 * (1.0 + math.sin(turn + shift)))
        assert found[f"{side}_elbow"] == pytest.approx(0.0, abs=1e-12)


def test_arms_go_on_smoothly_when_the_legs_are_exchanged() -> None:
    ends = []
    for leg, phase in ((LEFT, 1.0 - 1e-7), (RIGHT, 0.0)):
        sim = hovering(walk(arms__swing=0.3, arms__circle=0.2, start__swing=("left", "right")[leg]), 2)
        at_phase(sim, phase)
        found = targets(sim, leg)
        names = ("shoulder", "shoulder_roll", "elbow")
        ends.append([found[f"{side}_{n}"] for side in (("swing", "stance"), ("stance", "swing"))[leg] for n in names])
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_arms_told_nothing_hang_straight_or_keep_their_targets() -> None:
    sim = hovering(walk(states__0__targets__swing_shoulder=0.3), 2)
    at_phase(sim, 0.3)
    found = targets(sim, LEFT)
    assert found["swing_shoulder"] == pytest.approx(0.3)
    assert [found[f"stance_{n}"] for n in TABLE.anatomy.side_roles[6:]] == pytest.approx([0.0] * 5, abs=1e-12)


def test_swinging_adds_to_the_skills_own_targets() -> None:
    sim = hovering(walk(states__0__targets__stance_shoulder=0.2, arms__swing=0.3, arms__circle=0.1), 2)
    at_phase(sim, 0.4)
    assert targets(sim, LEFT)["stance_shoulder"] == pytest.approx(0.2 - 0.4 * math.cos(0.4 * math.pi))


def test_in_a_walk_the_left_hand_is_ahead_when_the_left_foot_is_behind() -> None:
    sim = Simulation(skill=walk(arms__swing=0.5))
    sim.step(3000)
    feet, hands = [], []
    for _ in range(200):
        sim.step(10)
        for found, part in ((feet, "foot"), (hands, "hand")):
            found.append(sim.data.body(f"left_{part}").xpos[0] - sim.data.body(f"right_{part}").xpos[0])
    assert np.corrcoef(feet, hands)[0, 1] < -0.5
    assert np.ptp(hands) > 0.2


# ------------------------------------------------------------------------------------------------- learning


def test_the_table_has_two_rows_of_bins_for_three_torso_torques_and_every_upper_role() -> None:
    sim = Simulation(skill=walk(learning__bins=7))
    assert len(sim.memory.table) == 2 * 7 * COUNT
    uppers = {"shoulder", "shoulder_roll", "shoulder_yaw", "elbow", "wrist"}
    assert set(CHANNELS) == {f"{s}_{u}" for s in ("swing", "stance") for u in uppers} | set(TABLE.anatomy.middle)


@pytest.mark.parametrize("leg", [LEFT, RIGHT])
@pytest.mark.parametrize("phase", [0.1, 0.85])
def test_each_channel_adds_the_torque_of_its_own_bin(leg: int, phase: float) -> None:
    bins = 5
    skill = walk(learning__bins=bins, learning__rate=0.0, start__swing=("left", "right")[leg], states__0__duration=0.9)
    sim = hovering(skill, 3)
    at_phase(sim, phase)
    torso, before = torso_torque(sim), look(sim)
    table = sim.memory.table.reshape(COUNT, 2, bins)
    table[:] = np.random.default_rng(1).uniform(1.0, 9.0, table.shape)
    here = table[:, leg, int(phase * bins)]
    assert torso_torque(sim) - torso == pytest.approx(here[:3])
    after = look(sim)
    for i, name in enumerate(CHANNELS):
        motor = sim.model.actuator(TABLE.anatomy.joints(leg)[role(name)]).id
        assert after[motor] - before[motor] == pytest.approx(here[3 + i]), name
    for name in ("swing_knee", "stance_ankle", "stance_ankle_roll"):
        motor = sim.model.actuator(TABLE.anatomy.joints(leg)[role(name)]).id
        assert after[motor] == before[motor], name
    assert sim.memory.report[0].feedforward == pytest.approx(np.linalg.norm(here))


def test_leaving_a_bin_adds_a_share_of_its_mean_feedback() -> None:
    """Eq. 2 for each channel, from torques that are held constant by standing still in the air."""
    bins, rate = 4, 0.3
    sim = hovering(walk(learning__bins=bins, learning__rate=rate, learning__limit=3.0, states__0__duration=0.9), 3)
    sim.memory.table[:] = 0.0
    learners(sim)["bin"] = -1.0
    kp = np.array([graph_of(sim).head[0].torso_kp] * 3 + [graph_of(sim).gains[role(n)].kp for n in CHANNELS])
    for phase in (0.05, 0.15, 0.3):  # twice in bin 0, then in bin 1
        at_phase(sim, phase)
        torso, torques = torso_torque(sim), sim.data.ctrl.copy()
    motors = [sim.model.actuator(TABLE.anatomy.joints(LEFT)[role(n)]).id for n in CHANNELS]
    speeds = np.array([sim.data.joint(TABLE.anatomy.joints(LEFT)[role(n)]).qvel[0] for n in CHANNELS])
    damping = -sim.model.actuator_biasprm[motors, 2]
    feedback = np.concatenate([torso, torques[motors] - damping * speeds])
    table = sim.memory.table.reshape(COUNT, 2, bins)
    assert table[:, LEFT, 0] == pytest.approx(np.clip(rate * feedback, -3.0 * kp, 3.0 * kp))
    assert not table[:, LEFT, 1:].any()
    assert not table[:, RIGHT].any()
    assert np.abs(feedback).min() > 0.0


def test_learned_torque_is_limited_to_an_angle_times_kp() -> None:
    limit, bins = 0.05, 8
    sim = Simulation(skill=walk(learning__bins=bins, learning__rate=1.0, learning__limit=limit))
    sim.step(3000)
    kp = np.array([graph_of(sim).head[0].torso_kp] * 3 + [graph_of(sim).gains[role(n)].kp for n in CHANNELS])
    largest = np.abs(sim.memory.table.reshape(COUNT, -1)).max(axis=1)
    assert (largest <= limit * kp * (1.0 + 1e-12)).all()
    assert largest[:3].max() == pytest.approx(limit * graph_of(sim).head[0].torso_kp)


def test_a_rate_of_0_learns_nothing_and_walks_as_without_learning() -> None:
    plain_one, never = Simulation(skill=walk()), Simulation(skill=walk(learning__bins=9, learning__rate=0.0))
    for sim in (plain_one, never):
        sim.step(1500)
    assert not never.memory.table.any()
    assert np.array_equal(plain_one.data.qpos, never.data.qpos)


def test_evaluating_a_moment_again_learns_nothing_twice() -> None:
    once, often = (Simulation(skill=walk(learning__bins=9, learning__rate=0.4)) for _ in range(2))
    for _ in range(700):
        once.step()
        often.step()
        mujoco.mj_forward(often.model, often.data)
        mujoco.mj_forward(often.model, often.data)
        mujoco.mj_forward(once.model, once.data)
    assert np.array_equal(bits(once), bits(often))
    assert np.abs(once.memory.table).max() > 0.1
    assert (learners(once)["count"] > 0.0).all()


def test_a_skill_that_learns_needs_room() -> None:
    with pytest.raises(CommandError, match=rf"learns a table of {2 * 9 * COUNT} numbers.*name it in `skills`"):
        Simulation(skill="human/walk-as-printed").switch(walk(learning__bins=9))


# ------------------------------------------------------------------------------------------------- reaction

REACTING = {"learning__bins": 9, "learning__rate": 0.0, "reaction__softness": 0.25}


def test_soft_gains_divide_the_learned_servos_and_no_others() -> None:
    stiff, soft = hovering(walk(learning__bins=9, learning__rate=0.0), 4), hovering(walk(**REACTING), 4)
    assert torso_torque(soft) == pytest.approx(0.25 * torso_torque(stiff))
    one, other = look(stiff), look(soft)
    for i, (name, joint) in enumerate(zip(TABLE.anatomy.roles, TABLE.anatomy.joints(LEFT), strict=True)):
        if i % SIDE >= 3 or i >= 2 * SIDE:  # not a hip
            motor, factor = stiff.model.actuator(joint).id, 0.25 if name in CHANNELS else 1.0
            assert other[motor] == pytest.approx(factor * one[motor]), name


def curve(errors: list[tuple[float, float]], **head: float) -> list[float]:
    """Stiffness at each (time, torso error)."""
    machine = SimpleNamespace(alarmed=0.0)
    given = {"softness": 0.3, "alarm": 0.1, "reaction_delay": 0.15, "reaction_time": 2.0} | head
    return [python_impl(reaction_stiffness)(machine, SimpleNamespace(**given), error, time) for time, error in errors]


def test_gains_rise_after_the_delay_for_the_time_and_fall_again() -> None:
    times = [1.0, 1.1, 1.149, 1.151, 2.0, 3.149, 3.151, 9.0]
    errors = [(0.5, 0.09), *((t, 0.2 if t == 1.0 else 0.0) for t in times)]
    assert curve(errors) == [0.3, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0, 0.3, 0.3]


def test_a_further_surprise_prolongs_the_stiffness_without_another_delay() -> None:
    found = curve([(1.0, 0.2), (2.0, 0.0), (3.0, 0.2), (3.01, 0.0), (3.2, 0.0), (4.99, 0.0), (5.01, 0.0)])
    assert found[:2] + found[3:] == [0.3, 1.0, 1.0, 1.0, 1.0, 0.3]


def test_a_lasting_surprise_keeps_the_gains_up_at_every_step() -> None:
    times = [(0.001 * n, 0.2) for n in range(1000, 3000)]
    assert set(curve(times)[160:]) == {1.0}


def test_a_second_surprise_after_the_gains_fell_waits_for_the_delay_again() -> None:
    assert curve([(1.0, 0.2), (5.0, 0.2), (5.1, 0.2), (5.16, 0.0)]) == [0.3, 0.3, 0.3, 1.0]


def test_without_an_alarm_nothing_surprises() -> None:
    assert curve([(1.0, 3.0), (1.2, 3.0), (2.0, 3.0)], alarm=0.0) == [0.3, 0.3, 0.3]


def test_a_tilted_torso_restores_the_gains_of_a_running_simulation_after_the_delay() -> None:
    sim = Simulation(skill=walk(reaction__alarm=0.2, reaction__delay=0.05, reaction__time=1.0, **REACTING))
    unlimited(sim)
    sim.data.qpos[2] += 3.0

    def torque(time: float, roll: float) -> float:
        sim.data.time = time
        sim.data.qpos[3:7] = Rotation.from_rotvec([roll, 0.0, 0.0]).as_quat(scalar_first=True)
        return float(np.linalg.norm(torso_torque(sim)))

    soft = torque(2.99, 0.15)
    assert torque(3.0, 0.5) == pytest.approx(soft * 0.5 / 0.15)  # the surprise itself finds it soft
    assert torque(3.049, 0.15) == pytest.approx(soft)
    assert torque(3.051, 0.15) == pytest.approx(soft / 0.25)
    assert torque(4.049, 0.15) == pytest.approx(soft / 0.25)
    assert torque(4.051, 0.15) == pytest.approx(soft)
