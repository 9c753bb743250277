"""Styles as files: what a GENBICON skill may hold, what is refused with line and reason, and who can do it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.characters import load as load_character
from surefoot.controllers.genbicon import law as genbicon
from surefoot.controllers.genbicon.parameters import GenbiconSkill, Stride
from surefoot.controllers.genbicon.style import CURVES, KNOTS, NUMBERS, ROLL_NUMBERS, slot_size, style_of, write_slot
from surefoot.errors import CommandError, SkillError, SurefootError, UnknownNameError
from surefoot.native.kernels import python_impl
from surefoot.skills import BIPED, files, library_path, with_parameters

ZERO = f"{BIPED}/zero-walk"
HEAD = """\
schema: 1
name: made
character: biped
controller: genbicon
summary: made for a test
provenance:
  source: here
commands: [speed, stop]
parameters:
  speed: 0.7
"""  # ten lines: what follows begins at line 11
BODIES = [name for name in sf.characters() if load_character(name).is_biped]


def read(tmp_path: Path, more: str = "", head: str = HEAD) -> sf.Skill:
    path = tmp_path / "made.yaml"
    path.write_text(head + more, encoding="utf-8")
    return files.read(path)[0]


def refusal(tmp_path: Path, more: str = "", head: str = HEAD) -> str:
    with pytest.raises(SkillError) as caught:
        read(tmp_path, more, head)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def knots(count: int) -> str:
    return str([[round(k / count, 3), 0.1] for k in range(count)])


# ------------------------------------------------------------------------------------------------------ refusals

CURVE_ERRORS = {
    "an unknown curve": ("    elbow: 0.3\n", "unknown curve 'elbow'; valid: pelvis"),
    "too many knots": (f"    swing_elbow: {knots(KNOTS + 1)}\n", f"1 … {KNOTS} knots"),
    "no knots": ("    swing_elbow: []\n", f"1 … {KNOTS} knots"),
    "phases that stand still": ("    swing_elbow: [[0.2, 0.1], [0.5, 0.2], [0.5, 0.3]]\n", "rising phase"),
    "falling phases": ("    swing_elbow: [[0.8, 0.1], [0.2, 0.2]]\n", "rising phase"),
    "a value that is not a number": ("    swing_elbow: .nan\n", "finite number"),
    "a knot's value that is not a number": ("    swing_elbow: [[0.1, 0.2], [0.3, .nan]]\n", "finite number"),
    "an endless value": ("    swing_elbow: [[0.1, .inf]]\n", "finite number"),
    "a phase beyond the step": ("    swing_elbow: [[1.2, 0.1]]\n", "less than or equal to 1"),
    "a phase before the step": ("    swing_elbow: [[-0.1, 0.1]]\n", "greater than or equal to 0"),
    "a full turn": ("    swing_elbow: 6.0\n", "less than or equal to 3.2"),
    "a knot of three numbers": ("    swing_elbow: [[0.1, 0.2, 0.3]]\n", "tuple"),
    "a flat list": ("    swing_elbow: [0.1, 0.2]\n", "list"),
    "words": ("    swing_elbow: bent\n", "number"),
    "a truth": ("    swing_elbow: true\n", "number"),
}


@pytest.mark.parametrize("case", CURVE_ERRORS)
def test_a_bad_curve_is_refused_with_its_reason(tmp_path: Path, case: str) -> None:
    curve, reason = CURVE_ERRORS[case]
    assert reason in refusal(tmp_path, "  curves:\n    neck: 0.1\n" + curve)


@pytest.mark.parametrize("case", CURVE_ERRORS)
def test_a_bad_curve_is_refused_with_its_own_line(tmp_path: Path, case: str) -> None:
    assert "line 13: parameters.curves" in refusal(tmp_path, "  curves:\n    neck: 0.1\n" + CURVE_ERRORS[case][0])


NUMBER_ERRORS = {
    "an unknown number": ("  pace: 1.0\n", "line 11: parameters.pace: unknown key; valid: walks, speed, step_time"),
    "a number that is none": ("  step_time: .nan\n", "line 11: parameters.step_time: Input should be a finite number"),
    "an endless number": ("  turn_rate: .inf\n", "line 11: parameters.turn_rate: Input should be a finite number"),
    "a number out of range": ("  step_time: 3.0\n", "line 11: parameters.step_time: Input should be less than or"),
    "a word for a number": ("  step_width: wide\n", "line 11: parameters.step_width: Input should be a valid number"),
    "a number for a truth": ("  walks: 1\n", "line 11: parameters.walks: Input should be a valid boolean"),
    "curves that are a list": ("  curves: [0.1]\n", "line 11: parameters.curves: Input should be a valid dictionary"),
    "a number twice": ("  speed: 0.9\n", "duplicate key"),
    "a pose graph's part": ("  states: []\n", "line 11: parameters.states: unknown key"),
}


@pytest.mark.parametrize("case", NUMBER_ERRORS)
def test_a_bad_number_is_refused_with_line_and_reason(tmp_path: Path, case: str) -> None:
    more, reason = NUMBER_ERRORS[case]
    assert reason in refusal(tmp_path, more)


def test_an_unknown_command_is_refused_with_line_and_the_valid_ones(tmp_path: Path) -> None:
    found = refusal(tmp_path, head=HEAD.replace("[speed, stop]", "[speed, jump]"))
    assert "line 8: commands.1: unknown command 'jump'; valid: speed, heading, lean" in found


@pytest.mark.parametrize("character", ["planar", "centipede"])
def test_a_style_for_a_body_without_two_legs_in_space_is_refused(tmp_path: Path, character: str) -> None:
    found = refusal(tmp_path, head=HEAD.replace("biped", character))
    assert f"line 3: character: unknown character '{character}'; valid: biped" in found
    assert all(name in found for name in BODIES)


def test_an_unknown_controller_is_refused_with_all_that_there_are(tmp_path: Path) -> None:
    found = refusal(tmp_path, head=HEAD.replace("genbicon", "carrier-pigeon"))
    assert "line 4: controller" in found
    assert "genbicon" in found
    assert "simbicon" in found


def test_a_change_by_path_is_checked_like_a_file() -> None:
    skill = sf.load_skill(ZERO)
    assert with_parameters(skill, {"curves.stance_knee": -0.4}).parameters.curves == {"stance_knee": -0.4}
    assert with_parameters(skill, {"knee_twist": 0.3}).parameters.knee_twist == 0.3
    assert skill.parameters.curves == {}  # a copy was changed
    for path, value in (("curves.third_knee", 0.1), ("knee_twist", 9.0), ("step_time", math.nan), ("gait", 1.0)):
        with pytest.raises(SkillError):
            with_parameters(skill, {path: value})


# ------------------------------------------------------------------------------------------------ what is accepted


def test_a_style_reads_numbers_and_knots_as_they_are_written(tmp_path: Path) -> None:
    more = "  curves:\n    neck: 1\n    stance_knee: [[0, -0.1], [0.5, -0.4], [1, 0.1]]\n    height: [[0, 0], [1, 0]]\n"
    curves = read(tmp_path, more).parameters.curves
    assert curves == {
        "neck": 1.0, "stance_knee": [(0.0, -0.1), (0.5, -0.4), (1.0, 0.1)], "height": [(0.0, 0.0), (1.0, 0.0)],
    }  # fmt: skip


def test_as_many_knots_as_there_is_room_for_reach_the_law(tmp_path: Path) -> None:
    skill = read(tmp_path, f"  knee_twist: 0.3\n  curves:\n    swing_out: {knots(KNOTS)}\n    neck_yaw: -0.2\n")
    slot = np.full(slot_size(), 9.0)
    write_slot(slot, skill)
    style = python_impl(style_of)(slot)
    assert style.numbers[0].knee_twist == 0.3
    assert style.numbers[0].speed == 0.7
    full = style.curves[CURVES.index("swing_out")]
    assert full[0] == KNOTS
    assert full[1 : 1 + KNOTS] == pytest.approx([round(k / KNOTS, 3) for k in range(KNOTS)])
    assert full[1 + KNOTS :] == pytest.approx(0.1)
    single = style.curves[CURVES.index("neck_yaw")]
    assert (single[0], single[1], single[1 + KNOTS]) == (1.0, 0.0, -0.2)
    others = [c for c in CURVES if c not in ("swing_out", "neck_yaw", "height")]
    assert not style.curves[[CURVES.index(c) for c in others]].any()


def test_every_number_of_the_law_can_be_written_down_and_every_one_written_down_reaches_it() -> None:
    declared = set(GenbiconSkill.model_fields["parameters"].annotation.model_fields)  # type: ignore[union-attr]
    assert declared - {"curves", "stride"} == set(NUMBERS)
    own = set(Stride.model_fields) - {"curves"} - set(NUMBERS)
    assert own | {"rolling"} == set(ROLL_NUMBERS)


def test_the_zero_walk_loads_by_every_name_it_has() -> None:
    skill = sf.load_skill(ZERO)
    assert (skill.full_name, skill.controller) == (ZERO, "genbicon")
    assert skill.parameters.curves == {}
    assert skill.commands == list(genbicon.COMMANDS)
    assert sf.load_skill("zero-walk") == skill
    assert sf.load_skill("zero-walk", "robot") == skill
    assert sf.load_skill(library_path(ZERO)) == skill


# ------------------------------------------------------------------------------------------------- who can do it


@pytest.mark.parametrize("name", BODIES)
def test_every_body_with_two_legs_in_space_lists_and_takes_the_skills_of_bipeds(name: str) -> None:
    assert ZERO in sf.skills(name)
    assert sf.Simulation(name, "zero-walk").skill.full_name == ZERO


def test_skills_of_a_body_are_its_own_and_those_of_bipeds() -> None:
    assert {full.split("/")[0] for full in sf.skills("human")} == {"human", BIPED}
    assert {full.split("/")[0] for full in sf.skills("planar")} == {"planar"}
    assert {full.split("/")[0] for full in sf.skills()} >= {"human", "planar", BIPED}


@pytest.mark.parametrize("asked", ["zero-walk", ZERO, "object"])
def test_a_planar_body_refuses_the_skills_of_bipeds(asked: str) -> None:
    wanted: Any = sf.load_skill(ZERO) if asked == "object" else asked
    with pytest.raises(SurefootError) as caught:
        sf.Simulation("planar", wanted)
    assert isinstance(caught.value, (CommandError, UnknownNameError))
    assert "zero-walk" in str(caught.value)
    assert "planar" in str(caught.value)


def test_a_biped_skill_without_a_body_is_done_by_the_humanoid() -> None:
    assert sf.Simulation(skill=ZERO).scene.table.name == "humanoid"


def test_commands_are_kept_within_their_ranges_and_unknown_ones_list_the_known() -> None:
    sim = sf.Simulation("robot", "zero-walk")
    with pytest.raises(CommandError, match="unknown command 'jump'; biped/zero-walk knows: speed, heading"):
        sim.command(jump=1.0)
    for bad in ({"speed": 9.0}, {"step_width": -0.1}, {"speed": math.nan}):
        with pytest.raises(CommandError, match="must be within"):
            sim.command(**bad)
    sim.command(speed=-0.4)
    assert sim.memory.commands[genbicon.SPEED] == -0.4


def test_a_switch_to_a_skill_that_the_body_cannot_do_is_refused() -> None:
    sim = sf.Simulation("humanoid", "zero-walk")
    with pytest.raises(CommandError, match="not for 'humanoid'"):
        sim.switch("human/walk-as-printed")


def test_numbers_of_a_running_style_change_at_once() -> None:
    sim = sf.Simulation("humanoid", "zero-walk")
    sim.set_parameters({"knee_twist": 0.25, "curves.neck": -0.3})
    style = python_impl(style_of)(sim.memory.slots[0][: slot_size()])
    assert style.numbers[0].knee_twist == 0.25
    assert style.curves[CURVES.index("neck")][1 + KNOTS] == -0.3
