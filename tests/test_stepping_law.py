"""What a stepper does: it sways, steps, walks where it is told, on a path, and refuses what makes no sense."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers.stepping import law as stepping
from surefoot.controllers.stepping.plan import STAND
from surefoot.engine.simulation import Simulation
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.native.kernels import python_impl
from surefoot.skills import library_path, load, with_parameters
from surefoot.terrains import load as load_terrain

SKILL = library_path("stepper/stand").read_text()


def pushed(x: float, y: float, seconds: float = 6.0, skill: str = "stand") -> Simulation:
    """After a push of this impulse in 0.2 s [N·s]."""
    sim = Simulation("stepper", skill)
    sim.step(2000)
    sim.push((5.0 * x, 5.0 * y, 0.0), duration=0.2)
    sim.step(round(1000 * seconds))
    return sim


def stands(sim: Simulation) -> bool:
    mode = python_impl(stepping.stepper_of)(sim.memory.memory)[0].mode
    return not sim.fallen and mode == STAND and abs(sim.memory.report[0].velocity) < 0.05


@pytest.mark.parametrize("way", [0.0, 1.1, math.pi, -2.0])
def test_a_small_push_from_any_side_is_swayed_under_without_a_step(way: float) -> None:
    sim = pushed(6.0 * math.cos(way), 6.0 * math.sin(way), 3.0)
    assert sim.memory.report[0].steps == 0.0
    assert stands(sim)


@pytest.mark.parametrize("way", [0.4, 2.0, -2.6])
def test_a_large_push_from_any_side_makes_it_step_and_it_stands_again(way: float) -> None:
    sim = pushed(60.0 * math.cos(way), 60.0 * math.sin(way), 8.0)
    assert sim.memory.report[0].steps >= 1.0
    assert stands(sim)


def test_pushes_to_the_left_and_to_the_right_are_answered_by_mirrored_steps() -> None:
    left, right = pushed(12.0, 40.0), pushed(12.0, -40.0)
    assert left.memory.report[0].steps == right.memory.report[0].steps >= 1.0
    assert left.memory.com[1] > 0.1
    assert right.memory.com * (1.0, -1.0, 1.0) == pytest.approx(left.memory.com, abs=1e-3)
    assert stands(left)
    assert stands(right)


@pytest.mark.parametrize("speed", [0.6, -0.4])
def test_it_walks_at_the_speed_it_is_told_and_stops(speed: float) -> None:
    sim = Simulation("stepper", "stand")
    sim.command(speed=speed)
    sim.step(6000)
    before = sim.memory.com.copy()
    sim.step(6000)
    assert (sim.memory.com[0] - before[0]) / 6.0 == pytest.approx(speed, abs=0.1 * abs(speed))
    assert abs(sim.memory.com[1] - before[1]) < 0.2
    sim.command(stop=1.0)
    sim.step(5000)
    assert stands(sim)


def test_it_faces_where_it_is_told_while_it_stands() -> None:
    sim = Simulation("stepper", "stand")
    sim.step(1000)
    sim.command(heading=0.7)
    sim.step(9000)
    axes = sim.data.body("pelvis").xmat.reshape(3, 3)
    assert math.atan2(axes[1, 0], axes[0, 0]) == pytest.approx(0.7, abs=0.1)
    for side in ("left", "right"):
        forward = sim.data.body(f"{side}_foot").xmat.reshape(3, 3)[:, 0]
        assert math.atan2(forward[1], forward[0]) == pytest.approx(0.7, abs=math.radians(15.0))
    assert stands(sim)


def test_a_crouch_of_the_command_or_of_the_skill_lowers_the_hips() -> None:
    upright, told = Simulation("stepper", "stand"), Simulation("stepper", "stand")
    own = Simulation("stepper", with_parameters(load("stepper/stand"), {"crouch": 0.85}))
    told.command(crouch=0.85)
    for sim in (upright, told, own):
        sim.step(4000)
        assert stands(sim)
    heights = [float(sim.data.body("pelvis").xpos[2]) for sim in (upright, told, own)]
    assert heights[1] < heights[0] - 0.06
    assert heights[2] == pytest.approx(heights[1], abs=0.02)


def test_it_follows_a_path_and_stands_at_its_end() -> None:
    sim = Simulation("stepper", "walk")
    task = sim.add(sf.tasks.FollowPath([(1.5, 0.0), (2.5, 0.8)], speed=0.5))
    while not task.is_over:
        sim.step(500)
    assert (task.status, sim.fallen) == ("done", False)
    assert "stands" in task.reason
    with pytest.raises(sf.SurefootError, match="takes no task Reach"):
        sim.add(sf.tasks.Reach((1.0, 0.0, 1.0)))


def test_with_no_numbers_changed_a_moment_evaluated_twice_is_the_same() -> None:
    sim = pushed(30.0, 40.0, 0.3)
    mujoco.mj_forward(sim.model, sim.data)
    once = np.concatenate([sim.data.ctrl, sim.data.userdata])
    mujoco.mj_forward(sim.model, sim.data)
    assert np.array_equal(np.concatenate([sim.data.ctrl, sim.data.userdata]), once)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"crouch": 0.2}, "within 0.4 … 1"), ({"pull": 900.0}, "within -400 … 400"),
        ({"speed": 5.0}, "within -1.5 … 2"), ({"sideways": math.nan}, "within -0.8 … 0.8"),
        ({"stop": 2.0}, "within 0 … 1"), ({"wings": 1.0}, "knows: speed"),
        ({"lean": 0.1, "heading": math.inf}, "within -1000"),
    ],
)  # fmt: skip
def test_commands_that_make_no_sense_are_refused_and_nothing_is_told(told: dict[str, float], said: str) -> None:
    sim = Simulation("stepper", "stand")
    before = sim.memory.commands.copy()
    with pytest.raises(sf.SurefootError, match=re.escape(said)):
        sim.command(**told)
    assert np.array_equal(sim.memory.commands, before)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("character: stepper", "character: planar", "legs of two bones"),
        ("character: stepper", "character: bird", "legs of two bones"),
        ("character: stepper", "character: biped", "unknown character"),
        ("walks: false", "walks: 1", "walks"),
        ("walks: false", "walks: false\n  leg: 1.2", "leg"),
        ("walks: false", "walks: false\n  spring: 0.0", "spring"),
        ("walks: false", "walks: false\n  step_time: .nan", "step_time"),
        ("walks: false", "walks: false\n  stride: 0.5", "stride"),
        ("swing_knee: -0.24", "swing_wing: -0.24", "unknown role 'swing_wing'; valid: "),
        ("[speed, sideways,", "[speed, width,", "unknown command 'width'; valid: speed, sideways"),
    ],
)
def test_skill_files_that_make_no_sense_are_refused_in_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in SKILL
    path = tmp_path / "own.yaml"
    path.write_text(SKILL.replace(old, new))
    with pytest.raises(sf.SurefootError) as caught:
        Simulation("stepper", path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "numbers",
    ["", "0", "-0.2", "2.5", "0.2,0.05", "0.2,0.8,2.5", "0.2,0.8,0", "0.2,0.8,3,3.0", "0.2,0.8,3,0.6,0.1", "x"],
)
def test_gaps_that_make_no_sense_are_refused_in_one_line(numbers: str) -> None:
    with pytest.raises(sf.SurefootError) as caught:
        load_terrain(f"gaps:{numbers}")
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------- strides on level ground


def knees(sim: Simulation) -> np.ndarray:
    """(2,) flexion of the left and the right knee [deg]."""
    return np.array([-math.degrees(sim.data.joint(f"{side}_knee").qpos[0]) for side in ("left", "right")])


@pytest.mark.parametrize(("body", "skill"), [("stepper", "stand"), ("human", "stepping-stand")])
def test_it_stands_on_level_ground_with_nearly_straight_knees(body: str, skill: str) -> None:
    sim = Simulation(body, skill)
    sim.step(5000)
    assert stands(sim)
    assert np.all((knees(sim) > 6.0) & (knees(sim) < 23.0))


def test_it_stands_with_bent_knees_where_strides_are_turned_off_or_the_ground_slopes() -> None:
    bent = with_parameters(load("stepper/stand"), {"level_leg": 0.0, "walk_ratio": 0.0})
    for sim in (Simulation("stepper", bent), Simulation("stepper", "stand", "incline:-8")):
        sim.step(5000)
        assert stands(sim)
        assert knees(sim).mean() > 30.0


def test_a_push_bends_the_knees_and_they_are_straight_again_afterwards() -> None:
    sim = Simulation("stepper", "stand")
    sim.step(3000)
    sim.push((0.0, 300.0, 0.0), duration=0.2)
    most = 0.0
    for _ in range(20):
        sim.step(50)
        most = max(most, float(knees(sim).max()))
    assert most > 30.0
    sim.step(9000)
    assert stands(sim)
    assert np.all(knees(sim) < 23.0)


@pytest.fixture(scope="module")
def strides() -> GaitCard:
    sim = Simulation("stepper", "walk")
    sim.command(speed=0.8)
    sim.step(10_000)
    return gait_card(sim.run(8.0, fps=250.0))


def test_a_stride_lands_on_the_heel_and_leaves_over_the_toes(strides: GaitCard) -> None:
    assert strides.strike_pitch > 8.0
    assert strides.toe_off_pitch < -35.0


def test_a_stride_has_a_straight_stance_knee_and_a_double_support(strides: GaitCard) -> None:
    assert strides.stance_knee < 20.0
    assert 0.12 < strides.double_support < 0.28
    assert strides.flight < 0.02


def test_a_leg_that_leaves_the_ground_lets_its_knee_go_and_spends_little_work(strides: GaitCard) -> None:
    assert strides.work < 0.22


def test_a_stride_keeps_its_walk_ratio_and_speed(strides: GaitCard) -> None:
    assert strides.speed == pytest.approx(0.8, abs=0.08)
    assert 0.0055 < strides.walk_ratio < 0.0075


def test_rough_ground_ahead_ends_the_strides_before_it_is_reached() -> None:
    sim = Simulation("stepper", "walk", "stairs:0.1,0.32,12,6")
    sim.command(speed=0.5)
    state = python_impl(stepping.stepper_of)(sim.memory.memory)[0]
    while sim.memory.com[0] < 4.0:
        sim.step(100)
    assert state.ease > 0.9
    while sim.memory.com[0] < 5.6:
        sim.step(100)
    assert state.ease < 0.1
    assert not sim.fallen


def state_of(sim: Simulation) -> Any:
    return python_impl(stepping.stepper_of)(sim.memory.memory)[0]


def test_a_push_in_the_back_bends_the_stance_knee_before_it_locks() -> None:
    sim = Simulation("stepper", "stand")
    sim.step(3800)
    sim.push((104.0, 154.0, 0.0), duration=0.29)
    least = 90.0
    for _ in range(50):
        sim.step(10)
        least = min(least, float(knees(sim).min()))
    assert least > 5.0
    assert state_of(sim).ease == 0.0


@pytest.mark.parametrize(
    "told", [{"speed": -0.4}, {"speed": 0.5, "sideways": 0.2}, {"speed": 0.6, "pull": 60.0}], ids=str
)
def test_backward_sideways_and_under_a_pull_it_walks_on_bent_knees(told: dict[str, float]) -> None:
    sim = Simulation("stepper", "walk")
    sim.command(**told)
    if "pull" in told:
        sim.push((-told["pull"], 0.0, 0.0), duration=20.0)
    sim.step(8000)
    assert not sim.fallen
    assert state_of(sim).ease < 0.05
    assert state_of(sim).stride < 0.05


def test_a_push_in_a_double_support_leaves_the_stride_and_the_walk_goes_on() -> None:
    sim = Simulation("stepper", "walk")
    sim.command(speed=0.6)
    sim.step(8000)
    while not (state_of(sim).phase < 0.0 and state_of(sim).stride > 0.9):
        sim.step(5)
    sim.push((-240.0, 60.0, 0.0), duration=0.15)
    least = 1.0
    for _ in range(60):
        sim.step(10)
        least = min(least, float(state_of(sim).stride))
    assert least == 0.0
    sim.step(9000)
    assert not sim.fallen
    assert state_of(sim).stride > 0.9


@pytest.mark.parametrize("speed", [0.4, 0.9])
def test_strides_settle_to_an_even_pace(speed: float) -> None:
    sim = Simulation("stepper", "walk")
    sim.command(speed=speed)
    sim.step(14_000)
    paces = []
    for _ in range(20):
        sim.step(200)
        paces.append(float(state_of(sim).pace))
    assert np.ptp(paces) < 0.1 * speed
    assert np.mean(paces) == pytest.approx(speed, rel=0.05)


def test_the_bent_skills_never_straighten_their_knees() -> None:
    for name in ("bent-stand", "bent-walk"):
        sim = Simulation("stepper", name)
        for _ in range(60):
            sim.step(100)
            assert state_of(sim).ease == 0.0
        assert not sim.fallen
    assert knees(Simulation("stepper", "bent-stand")).min() > 20.0
