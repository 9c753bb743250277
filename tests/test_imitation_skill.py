"""Skills made of clips: what a file may say, how a body begins with one, and how it changes to another and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captured_gait import AS_IS, document, gait, imitator_of, own_cycle, plan_of, understood
from human_body import TABLE
from surefoot.controllers.imitation import captured_gait
from surefoot.controllers.imitation.parameters import ROOT
from surefoot.controllers.imitation.trajectory import HARMONICS, WIDTH
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SkillError
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.skills import files, load
from surefoot.studio.panels.walk_tab import command_value
from surefoot.studio.session import Session
from surefoot.studio.telemetry import JointTargets

Edit = Callable[[dict[str, Any]], Any]


def refusal(edit: Edit, folder: Path) -> str:
    """The one line with which an edited file is refused; it names the file and a line of it."""
    found, path = document(), folder / "own.yaml"
    edit(found)
    files.write(found, path)
    with pytest.raises(SkillError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line ")
    assert len(message.splitlines()) == 1
    return message


def in_cycle(**values: Any) -> Edit:
    return lambda found: found["parameters"]["cycle"].update(values)


def in_joints(**values: Any) -> Edit:
    return lambda found: found["parameters"]["cycle"]["joints"].update(values)


def in_parameters(**values: Any) -> Edit:
    return lambda found: found["parameters"].update(values)


REFUSED: dict[str, tuple[Edit, str]] = {
    "a pair of numbers": (in_joints(left_knee=[0.1, 0.2]), f"1, 3, 5 … {WIDTH} numbers"),
    "an even series": (in_joints(left_knee=[0.1, 0.2, 0.3, 0.4]), f"1, 3, 5 … {WIDTH} numbers"),
    "an empty series": (in_joints(left_knee=[]), f"1, 3, 5 … {WIDTH} numbers"),
    "nine harmonics": (in_joints(left_knee=[0.0] * (WIDTH + 2)), f"1, 3, 5 … {WIDTH} numbers"),
    "not a number": (in_joints(left_knee=[float("nan")]), "finite number"),
    "an infinite turn": (in_cycle(turn=float("inf")), "finite number"),
    "text": (in_joints(left_knee=["high"]), "valid number"),
    "a huge angle": (in_joints(left_knee=[1e9]), "less than or equal to 20"),
    "an unknown joint": (in_joints(left_kneee=[0.1]), "valid: left_hip"),
    "an unknown role": (in_parameters(offsets={"left_knee": 0.1}), "valid: swing_hip"),
    "feedback of an unknown role": (in_parameters(feedback={"knee": [0.1, 0.1]}), "valid: swing_hip"),
    "a torque fed to a hip": (in_parameters(feedforward={"stance_hip": [0.0, 1.0]}), "valid: swing_knee"),
    "a table of one number": (in_parameters(feedforward={"stance_ankle": [1.0]}), "at least 2 items"),
    "an unknown axis": (lambda d: d["parameters"]["cycle"]["root"].update(heave=[0.1]), f"valid: {', '.join(ROOT)}"),
    "a missing axis": (lambda d: d["parameters"]["cycle"]["root"].pop("sway"), "sway is missing; needed: surge"),
    "feet that land together": (in_cycle(lands=[0.3, 0.35]), "a tenth of a cycle apart"),
    "feet that land together at the end": (in_cycle(lands=[0.98, 0.02]), "a tenth of a cycle apart"),
    "a phase of 1": (in_cycle(lands=[1.0, 0.5]), "less than 1"),
    "a period of nothing": (in_cycle(period=0.0), "greater than 0.1"),
    "a reaction without learning": (in_parameters(reaction={"softness": 0.5}), "need `learning`"),
    "one bin": (in_parameters(learning={"bins": 1}), "greater than or equal to 2"),
    "a limit above the body's": (in_parameters(gains={"knee": {"limit": 9999.0}}), "exceeds the body's limit of"),
    "an unknown gain": (in_parameters(gains={"tail": {"kp": 1.0}}), "valid: all"),
    "hip targets the wrong way round": (in_parameters(hip_targets=[1.0, -0.5]), "the lower limit comes first"),
    "an unknown command": (lambda d: d.update(commands=["dance"]), "valid: lean, speed"),
    "an unknown start role": (lambda d: d["start"]["joints"].update(tail=0.1), "valid: swing_hip"),
    "an unknown key": (in_parameters(states=[]), "unknown key; valid: cycle"),
    "a body in a plane": (lambda d: d.update(character="planar"), "a character in space"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_is_wrong_is_refused_in_one_line_that_says_what_is_valid(what: str, tmp_path: Path) -> None:
    edit, reason = REFUSED[what]
    assert reason in refusal(edit, tmp_path)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, WIDTH + 4), st.sampled_from(["left_knee", "neck"]))
def test_exactly_series_of_whole_harmonics_are_taken(count: int, joint: str) -> None:
    found = document()
    found["parameters"]["cycle"]["joints"][joint] = [0.01] * count
    if count % 2 and count <= 2 * HARMONICS + 1:
        assert len(files.validate(found, "own").parameters.cycle.joints[joint]) == count
    else:
        with pytest.raises(SkillError, match=f"{joint}.*numbers"):
            files.validate(found, "own")


def test_a_file_written_and_read_again_is_the_same_skill(tmp_path: Path) -> None:
    files.write(document(), tmp_path / "own.yaml")
    assert load(tmp_path / "own.yaml") == gait()


# --------------------------------------------------------------------------------------------- its beginning


def spun(cycle: GaitCycle, phase: float) -> tuple[np.ndarray, np.ndarray]:
    """Position [m] and orientation of a cycle's root as it is played, of frames half a millisecond apart."""
    played = cycle.sampled(1.2, 2000.0)
    at = round(phase * cycle.period * 2000.0)
    return played.root_position[at - 1 : at + 2], played.root_rotation[at - 1 : at + 2]


@pytest.mark.parametrize("turn", [0.0, 0.6])
def test_the_start_moves_and_spins_as_the_cycle_does(turn: float) -> None:
    """Bent by 20° and rolling, where angles in another order would be other angles."""
    cycle = replace(understood().followed[0], turn=turn)
    skill = files.validate(captured_gait.skill_from_gait(cycle, TABLE, "own", "turns", "a test"), "own")
    sim = Simulation(skill=skill)
    places, rotations = spun(cycle, skill.parameters.begins)
    spin, facing = np.zeros(3), turn * skill.parameters.begins
    differ = rotations * np.array([1.0, -1.0, -1.0, -1.0])
    later, back = np.empty(4), np.empty(4)
    mujoco.mju_mulQuat(later, rotations[2], differ[0])
    mujoco.mju_quat2Vel(spin, later, 1.0 / 1000.0)
    c, s = np.cos(facing), np.sin(facing)
    along = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])  # into the heading of this moment
    mujoco.mju_mulQuat(back, np.array([np.cos(-facing / 2), 0.0, 0.0, np.sin(-facing / 2)]), rotations[1])
    assert abs(sim.data.qpos[3:7] @ back) == pytest.approx(1.0, abs=1e-6)
    found = np.empty(3)
    mujoco.mju_rotVecQuat(found, sim.data.qvel[3:6], sim.data.qpos[3:7])
    assert found == pytest.approx(along @ spin, abs=0.02)
    assert np.abs(found).max() > 0.1
    if turn == 0.0:
        assert sim.data.qvel[:3] == pytest.approx((places[2] - places[0]) / 1e-3, abs=0.02)


def test_numbers_of_a_skill_reach_its_plan() -> None:
    skill = gait(cd=0.7, cv_lateral=0.3, handoff=0.4, tempo=1.1, learning__bins=9, learning__limit=0.5)
    plan, cycle = plan_of(Simulation(skill=skill)), skill.parameters.cycle
    head = plan.head[0]
    assert plan.feedback[0] == pytest.approx((0.7, skill.parameters.cv))
    assert plan.feedback[1] == pytest.approx((skill.parameters.cd_lateral, 0.3))
    assert (head.rate, head.handoff, head.bins, head.learning_limit) == pytest.approx((1.1 / cycle.period, 0.4, 9, 0.5))
    assert (head.left_lands, head.right_lands) == cycle.lands
    assert head.mean_speed == pytest.approx(cycle.travel[0] * 1.1 / cycle.period)
    for i, joint in enumerate(TABLE.gains):
        series = cycle.joints.get(joint, [0.0])
        assert plan.series[i, : len(series)].tolist() == list(series)
        assert not plan.series[i, len(series) :].any()


# -------------------------------------------------------------------------------------------------- changes


def until_changed(sim: Simulation, skill: Any) -> tuple[float, float]:
    """Ask for a skill and wait for it; the steps before and after the moment it began."""
    sim.switch(skill)
    before = sim.memory.report[0].steps
    for _ in range(1500):
        sim.step()
        if sim.requested is None:
            return before, float(sim.memory.report[0].steps)
        before = float(sim.memory.report[0].steps)
    raise AssertionError("nothing changed")


def test_another_captured_gait_begins_when_the_legs_are_exchanged() -> None:
    other = document(tempo=1.05)
    other["name"], other["parameters"]["cycle"]["lands"] = "other", [0.93, 0.43]
    sim = Simulation(skill=gait())
    sim.step(50)
    before, after = until_changed(sim, files.validate(other, "other"))
    assert after == before + 1.0
    assert sim.skill.name == "other"
    swing, imitator = int(sim.memory.report[0].swing), imitator_of(sim)
    assert imitator.phase == pytest.approx(((0.93, 0.43)[1 - swing] + imitator.done) % 1.0, abs=1e-9)


def test_it_takes_over_from_a_pose_graph_at_a_footstrike_and_gives_back() -> None:
    sim = Simulation(skill="human/fast-walk")
    sim.command(heading=0.2)
    sim.run(2.0)
    until_changed(sim, gait())
    swing, imitator = int(sim.memory.report[0].swing), imitator_of(sim)
    sim.step(2)
    assert imitator.steps == 0.0
    assert imitator.phase == pytest.approx(own_cycle().lands[1 - swing] % 1.0, abs=0.02)
    assert sim.memory.report[0].heading == pytest.approx(0.2, abs=0.02)
    until_changed(sim, "human/fast-walk")
    sim.run(0.3)
    assert sim.skill.full_name == "human/fast-walk"
    assert sim.memory.report[0].heading == pytest.approx(0.2, abs=0.02)
    assert not sim.fallen


def test_a_skill_that_learns_needs_room_for_its_table() -> None:
    learns = gait(learning__bins=20)
    with pytest.raises(CommandError, match="learns a table of"):
        Simulation(skill="human/fast-walk").switch(learns)
    Simulation(skill="human/fast-walk", skills=[learns]).switch(learns)


def test_a_changed_number_goes_on_from_where_it_is() -> None:
    sim = Simulation(skill=gait())
    sim.step(300)
    phase = imitator_of(sim).phase
    assert sim.edit_skill(gait(cd=0.9, cycle__period=0.8))
    assert imitator_of(sim).phase == phase
    assert plan_of(sim).feedback[0, 0] == 0.9
    assert not sim.edit_skill(gait(learning__bins=20))


# ------------------------------------------------------------------------------------------------ the studio


def test_the_studio_runs_one_and_goes_back_in_time(tmp_path: Path) -> None:
    files.write(document(**AS_IS), tmp_path / "own.yaml")
    session = Session(Setup(str(tmp_path / "own.yaml")))
    for _ in range(30):
        session.advance(1.0 / 60.0)
    targets, limits = JointTargets(session.sim.scene, session.sim.memory, session.sim.data).read(session.sim.skill)
    assert np.isnan(targets).all()
    assert (limits > 0.0).all()
    session.look_back(0.2)
    session.play()
    assert session.sim.time == pytest.approx(0.3, abs=0.02)


def test_the_studio_shows_the_speed_of_the_clip_where_none_is_commanded() -> None:
    skill = gait(speed=0.05, tempo=1.0)
    sim = Simulation(skill=skill)
    shown = command_value(sim, "speed")
    assert shown == pytest.approx(skill.parameters.cycle.travel[0] / skill.parameters.cycle.period, abs=1e-6)
