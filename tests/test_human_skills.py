"""Skills of a body in space: what the schema and the checks refuse, with its place and the reason."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from human_body import ROLES, SIDE, TABLE, graph_of, made_human, role, walk
from surefoot.controllers import base as controllers
from surefoot.controllers.simbicon import law as simbicon
from surefoot.controllers.simbicon import slot as graph
from surefoot.controllers.simbicon.parameters import MAX_STATES, gain_names
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SkillError
from surefoot.native.kernels import python_impl
from surefoot.reflexes import pose_graph
from surefoot.skills import files, library_path, load, names, with_parameters

COMMANDS = {name: controllers.load(name).commands for name in controllers.names()}
WALKS = {name: re.sub(r"^measured:.*\n", "", library_path(f"{name}/walk").read_text(), flags=re.MULTILINE)
         for name in ("planar", "human")}  # fmt: skip


def refusal(text: str) -> str:
    with pytest.raises(SkillError) as caught:
        files.validate(files.parse(text, "own.yaml"), "own.yaml")
    return str(caught.value)


def changed(skill: str, **changes: Any) -> str:
    with pytest.raises(SkillError) as caught:
        with_parameters(load(skill), {k.replace("__", "."): v for k, v in changes.items()})
    return str(caught.value)


# ------------------------------------------------------------------------- planar skills told of space


@pytest.mark.parametrize(
    ("path", "value"),
    [("both", True), ("cd_lateral", 0.5), ("cv_lateral", -0.2), ("torso_roll", 0.1), ("torso_yaw", -0.1)],
)
def test_a_planar_state_told_of_another_plane_is_refused_with_its_place_and_reason(path: str, value: Any) -> None:
    text = changed("planar/walk", **{f"states__1__{path}": value})
    assert f"parameters.states.1.{path}: only a character in space can be told that" in text


@pytest.mark.parametrize("path", ["sideways", "roll", "roll_rate", "heading", "yaw", "yaw_rate"])
def test_a_planar_start_out_of_its_plane_is_refused(path: str) -> None:
    assert f"start.{path}: a planar character cannot do that" in changed("planar/walk", **{f"start__{path}": 0.1})


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("reaction.softness", 0.5, "parameters.reaction: only a character in space has a reaction"),
        ("sensing.delay", 0.01, "parameters.sensing: a planar character measures its hips, at once and exactly"),
        ("sensing.point", "com", "parameters.sensing: a planar character measures its hips"),
        ("sensing.noise_distance", 0.01, "parameters.sensing: a planar character measures its hips"),
        ("sensing.noise_velocity", 0.01, "parameters.sensing: a planar character measures its hips"),
        ("arms.swing", 0.2, "parameters.arms: a planar character has no arms"),
        ("arms.circle", 0.2, "parameters.arms: a planar character has no arms"),
    ],
)
def test_what_only_a_body_in_space_has_is_refused_for_a_planar_one(path: str, value: Any, reason: str) -> None:
    assert reason in changed("planar/walk", **{path.replace(".", "__"): value})
    assert walk(learning__bins=5, **{path.replace(".", "__"): value}).character == "human"


def test_the_refusal_names_the_line_of_the_file() -> None:
    text = re.sub(r"^(    - duration: .*)$", r"\1\n      cd_lateral: 0.5", WALKS["planar"], count=1, flags=re.MULTILINE)
    line = 1 + text[: text.index("cd_lateral")].count("\n")
    assert f"own.yaml: line {line}: parameters.states.0.cd_lateral: only a character in space" in refusal(text)


# ------------------------------------------------------------------------------------------ roles, joints


@pytest.mark.parametrize("place", ["states__0__targets", "states__1__feedback", "start__joints", "start__rates"])
def test_an_unknown_role_lists_all_roles(place: str) -> None:
    text = changed("human/walk-as-printed", **{f"{place}__left_hip" + ("__0" if "feedback" in place else ""): 0.1})
    assert f"unknown role 'left_hip'; valid: {', '.join(TABLE.anatomy.roles)}" in text
    assert place.replace("__", ".") in text


@pytest.mark.parametrize("name", ["swing_hip_roll", "waist", "stance_shoulder", "swing_wrist"])
def test_roles_of_space_are_unknown_to_a_planar_body(name: str) -> None:
    assert f"unknown role '{name}'; valid: swing_hip, " in changed(
        "planar/walk", **{f"states__0__targets__{name}": 0.1}
    )


def test_unknown_gains_list_kinds_and_roles() -> None:
    text = changed("human/walk-as-printed", gains__left_knee__kp=100.0)
    assert f"unknown joint 'left_knee'; valid: {', '.join(gain_names(TABLE))}" in text
    assert {"all", "knee", "hip_roll", "waist_yaw", "stance_ankle"} <= set(gain_names(TABLE))


@pytest.mark.parametrize("name", ["knee", "stance_ankle", "waist", "wrist"])
def test_a_torque_limit_beyond_the_bodys_is_refused(name: str) -> None:
    joint = next(j for r, j in zip(TABLE.anatomy.roles, TABLE.anatomy.joints(0), strict=True) if r.endswith(name))
    limit = TABLE.gains[joint].limit
    text = changed("human/walk-as-printed", **{f"gains__{name}__limit": 1.01 * limit})
    assert f"parameters.gains.{name}.limit: exceeds the body's limit of {limit:g} N·m" in text
    assert walk(**{f"gains__{name}__limit": limit}).parameters.gains[name].limit == limit


# ------------------------------------------------------------------------------------------------ commands


@pytest.mark.parametrize("name", sorted(set(simbicon.COMMANDS) - set(simbicon.PLANAR_COMMANDS)))
def test_commands_of_space_are_refused_in_a_planar_skill_with_those_that_are_valid(name: str) -> None:
    text = WALKS["planar"].replace("commands: [", f"commands: [{name}, ")
    line = 1 + text[: text.index("commands:")].count("\n")
    assert refusal(text) == f"own.yaml: line {line}: commands.0: unknown command '{name}'; valid: lean, speed"


def test_commands_nobody_knows_are_refused_in_a_humans_skill() -> None:
    text = WALKS["human"].replace("commands: [", "commands: [jump, ")
    assert f"commands.0: unknown command 'jump'; valid: {', '.join(simbicon.COMMANDS)}" in refusal(text)


def test_a_planar_body_does_not_run_a_humans_skill_nor_the_other_way_round() -> None:
    with pytest.raises(CommandError, match="skill human/walk-as-printed is for 'human', not for 'planar'"):
        Simulation("planar", skill="human/walk-as-printed")
    with pytest.raises(CommandError, match="skill planar/walk is for 'planar', not for 'human'"):
        Simulation("human", skill="planar/walk")
    assert Simulation("human").skill.full_name == "human/walk"


def test_a_blend_of_states_of_one_and_of_both_legs_is_refused() -> None:
    sim = Simulation(skill="human/walk-as-printed")
    with pytest.raises(CommandError, match="differ"):
        sim.blend(walk(states__0__both=True), 0.5)


# --------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("sensing.delay", 0.26), ("sensing.delay", -0.01), ("sensing.point", "head"), ("sensing.noise_distance", 1.1),
        ("sensing.noise_velocity", -0.1), ("arms.swing", 1.6), ("arms.circle", -0.1), ("arms.wave", 0.1),
        ("turn_rate", 0.0), ("turn_rate", 11.0), ("reaction.softness", 1.1), ("learning.limit", 3.1),
        ("states.0.cd_lateral", 21.0), ("states.0.cd_lateral", math.nan), ("states.0.torso_yaw", 6.4),
        ("states.0.both", 1.0), ("start.roll", 7.0), ("start.sideways", 21.0), ("start.yaw_rate", 101.0),
        ("start.yaw", math.inf),
    ],
)  # fmt: skip
def test_values_out_of_bounds_are_refused_with_their_place(path: str, value: Any) -> None:
    text = changed("human/walk-as-printed", **{path.replace(".", "__"): value})
    assert f"{'' if path.startswith('start.') else 'parameters.'}{path}: " in text
    assert "\n" not in text


def test_a_reaction_says_how_soft_it_is() -> None:
    assert "parameters.reaction.softness" in changed("human/walk-as-printed", reaction__alarm=0.2)


def test_a_reaction_without_learning_is_refused() -> None:
    text = changed("human/walk-as-printed", reaction__softness=0.5)
    assert "parameters.reaction: soft servos need `learning`" in text
    assert walk(reaction__softness=0.5, learning__bins=5).parameters.reaction.softness == 0.5


def test_a_skill_in_space_is_unchanged_by_writing_it_down_and_reading_it() -> None:
    upper = {"arms__swing": 0.3, "reaction__softness": 0.5, "learning__bins": 5}
    skill = walk(sensing__delay=0.02, states__0__torso_yaw=0.1, turn_rate=0.9, **upper)
    document = skill.model_dump(by_alias=True)
    assert files.validate(document, "again") == skill


# ---------------------------------------------------------------------------------------- compiled numbers


def test_the_middle_turns_the_other_way_in_the_mirrored_half_and_the_limbs_do_not() -> None:
    targets = {"waist": 0.11, "waist_roll": 0.12, "neck_yaw": 0.13, "swing_hip_roll": 0.14, "stance_shoulder_yaw": 0.15}
    state = {"duration": 0.3, "torso": 0.01, "torso_roll": 0.02, "torso_yaw": 0.03, "targets": targets}
    compiled = graph_of(Simulation(skill=made_human([state])))
    left, right = compiled.states[:2]
    assert (left.torso, left.torso_roll, left.torso_yaw) == (0.01, 0.02, 0.03)
    assert (right.torso, right.torso_roll, right.torso_yaw) == (0.01, -0.02, -0.03)
    for name, value in targets.items():
        sign = -1.0 if name in ("waist_roll", "neck_yaw") else 1.0
        assert compiled.targets[:2, role(name)].tolist() == [value, sign * value], name


def test_lateral_gains_are_the_swing_hips_roll_and_add_to_named_feedback() -> None:
    changes = {
        "states__1__cd_lateral": 0.31,
        "states__1__cv_lateral": 0.12,
        "states__1__feedback__swing_hip_roll__0": 0.2,
    }
    compiled = graph_of(Simulation(skill=walk(**changes)))
    assert compiled.feedback[1, role("swing_hip_roll")] == pytest.approx([0.51, 0.12])
    assert compiled.feedback[3, role("swing_hip_roll")] == pytest.approx([0.51, 0.12])
    parameters = load("human/walk-as-printed").parameters.states[1]
    assert compiled.feedback[1, role("swing_hip")].tolist() == [parameters.cd, parameters.cv]


def test_gains_of_a_role_come_before_those_of_its_kind_and_of_all() -> None:
    gains = {"gains__all__kd": 3.0, "gains__knee__kp": 210.0, "gains__stance_knee__kp": 220.0}
    compiled = graph_of(Simulation(skill=walk(**gains)))
    swing, stance, waist = (compiled.gains[role(n)] for n in ("swing_knee", "stance_knee", "waist"))
    assert (swing.kp, stance.kp, waist.kp) == (210.0, 220.0, TABLE.gains["waist"].kp)
    assert swing.kd == stance.kd == waist.kd == 3.0


def test_slots_have_room_for_the_largest_graph_of_all_roles() -> None:
    skill = made_human([{"duration": 0.1, "targets": {"neck_yaw": 0.01 * i}} for i in range(MAX_STATES // 2)])
    sim = Simulation(skill=skill)
    assert pose_graph.slot_size(MAX_STATES, ROLES) <= graph.slot_size(TABLE) <= len(sim.memory.slots[0])
    views = python_impl(pose_graph.graph_of)(sim.memory.slots[0], ROLES)
    assert views.head[0].states == MAX_STATES
    assert views.targets[MAX_STATES - 1, 2 * SIDE + 5] == pytest.approx(-0.07)
    assert not sim.memory.slots[1].any()


def test_every_human_skill_in_the_library_says_which_commands_it_knows() -> None:
    for name in names("human"):
        skill = load(name)
        assert set(skill.commands) <= set(COMMANDS[skill.controller]), name
