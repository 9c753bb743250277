"""What the walking human does of its commands, over many steps; and commands that are refused."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from human_body import walk
from surefoot.controllers.simbicon import law as simbicon
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.lab.gait_measures import Gait, measure_gait, root_yaw
from surefoot.motions.motion import Motion
from surefoot.skills import load

COMMANDS = sorted(simbicon.COMMANDS)


@functools.cache
def walked(**commands: float) -> tuple[Gait, Motion]:
    """Its gait under commands, once it has settled."""
    sim = Simulation(skill="human/walk-as-printed")
    sim.step(2000)
    sim.command(**commands)
    sim.step(8000)
    motion = sim.run(6.0, fps=100)
    assert not sim.fallen
    return measure_gait(motion), motion


def gait(**commands: float) -> Gait:
    return walked(**commands)[0]


def test_left_alone_it_walks_straight_ahead_with_its_feet_apart() -> None:
    found = gait()
    assert found.speed > 0.1
    assert abs(found.sideways) < 0.02
    assert found.narrowest > 0.05
    assert found.drift < 1.0


@pytest.mark.parametrize("angle", [0.04, -0.04])
def test_sideways_walks_to_the_left_when_positive_and_to_the_right_when_negative(angle: float) -> None:
    assert gait(sideways=angle).sideways * math.copysign(1.0, angle) > 0.15
    assert gait(sideways=angle).narrowest > 0.0


def test_sideways_to_either_side_is_as_fast() -> None:
    left, right = gait(sideways=0.04), gait(sideways=-0.04)
    assert left.sideways == pytest.approx(-right.sideways, rel=0.05)
    assert left.speed == pytest.approx(right.speed, rel=0.05)


def test_width_widens_the_stance() -> None:
    assert gait(width=0.04).step_width > gait().step_width + 0.03
    assert gait(width=-0.02).step_width < gait().step_width - 0.01


@pytest.mark.parametrize("faster", [-0.2, 0.15, 0.3])
def test_a_commanded_speed_is_reached(faster: float) -> None:
    wanted = gait().speed + faster
    assert gait(speed=wanted).speed == pytest.approx(wanted, abs=0.03)


def test_a_torso_pitched_forward_walks_faster_and_one_pitched_back_slower() -> None:
    assert gait(lean=-0.03).speed > gait().speed + 0.05
    assert gait(lean=0.03).speed < gait().speed - 0.05


@pytest.mark.parametrize("angle", [1.1, -1.1])
def test_a_commanded_heading_turns_it_to_the_left_when_positive_and_it_walks_that_way(angle: float) -> None:
    found, motion = walked(heading=angle)
    way = motion.root_position[-1, :2] - motion.root_position[0, :2]
    assert math.atan2(way[1], way[0]) == pytest.approx(angle, abs=0.15)
    assert np.unwrap(root_yaw(motion)).mean() == pytest.approx(angle, abs=0.05)
    assert found.speed == pytest.approx(gait().speed, rel=0.1)


def test_a_commanded_speed_is_that_along_the_heading() -> None:
    wanted = gait().speed + 0.2
    found, motion = walked(heading=2.0, speed=wanted)
    way = motion.root_position[-1, :2] - motion.root_position[0, :2]
    assert way @ (math.cos(2.0), math.sin(2.0)) / 6.0 == pytest.approx(wanted, abs=0.04)
    assert found.speed == pytest.approx(wanted, abs=0.04)


def test_lift_raises_the_swing_foot_further() -> None:
    def highest(**commands: float) -> float:
        sim, top = Simulation(skill="human/walk-as-printed"), 0.0
        sim.command(**commands)
        for _ in range(60):
            sim.step(5)
            top = max(top, float(sim.data.body("left_foot").xpos[2]))
        return top

    assert highest(lift=0.3) > highest() + 0.02


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_taken_at_their_limits_and_refused_beyond(name: str) -> None:
    sim = Simulation(skill="human/walk-as-printed")
    _, low, high = simbicon.COMMANDS[name]
    at = list(simbicon.COMMANDS).index(name)
    for value in (low, high):
        sim.command(**{name: value})
        assert sim.memory.commands[at] == value
    kept = sim.memory.commands.copy()
    for value in (np.nextafter(low, -np.inf), np.nextafter(high, np.inf), math.nan, math.inf, -math.inf):
        with pytest.raises(CommandError, match=rf"command {name} must be within .* got"):
            sim.command(**{name: float(value)})
        assert np.array_equal(sim.memory.commands, kept)


def test_one_wrong_command_of_several_sets_none() -> None:
    sim = Simulation(skill="human/walk-as-printed")
    with pytest.raises(CommandError, match="width"):
        sim.command(lean=0.1, width=7.0)
    assert sim.memory.commands[simbicon.LEAN] == 0.0


def test_an_unknown_command_lists_those_the_skill_knows() -> None:
    skill = walk().model_copy(update={"commands": ["lean", "heading"]})
    sim = Simulation(skill=skill)
    with pytest.raises(CommandError, match=r"unknown command 'sideways'; human/walk-as-printed knows: lean, heading"):
        sim.command(sideways=0.1)


def test_the_walk_knows_every_command_there_is() -> None:
    assert sorted(load("human/walk-as-printed").commands) == COMMANDS == sorted(simbicon.COMMANDS)


def test_commands_are_kept_by_a_snapshot() -> None:
    sim = Simulation(skill="human/walk-as-printed")
    sim.command(heading=0.4, sideways=0.02)
    sim.step(50)
    kept = sim.snapshot()
    sim.command(heading=-0.9)
    sim.step(300)
    sim.restore(kept)
    assert sim.memory.commands[simbicon.HEADING] == 0.4
    sim.step(1000)
    assert sim.memory.report[0].heading == pytest.approx(0.4)
