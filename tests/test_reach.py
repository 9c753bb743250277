"""Reaching: an arm that finds its point, a body that stoops for it, and a task that ends upright or says why not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from conftest import bits
from surefoot import tasks
from surefoot.errors import CommandError
from surefoot.tasks import LEFT, RIGHT, Actor, Task
from surefoot.tasks.reach_target import Reach, ReachingArm, reach_ratio
from surefoot.tasks.stoop import Stoop


class Point(Task):
    """Stands and points somewhere."""

    def __init__(self, side: int, target: tuple[float, float, float]) -> None:
        super().__init__(60.0)
        self.arm, self.target, self.miss = ReachingArm(side), np.array(target), math.nan

    def begin(self, actor: Actor) -> None:
        actor.command(stop=1.0)

    def tick(self, actor: Actor) -> None:
        self.miss = self.arm.reach(actor, self.target, self.period)


class Bow(Task):
    """Stands and stoops all the way."""

    def __init__(self, side: int) -> None:
        super().__init__(60.0)
        self.stoop = Stoop(side)

    def begin(self, actor: Actor) -> None:
        actor.command(stop=1.0)

    def tick(self, actor: Actor) -> None:
        self.stoop.change_depth(actor, 1.0, self.period)


def walker() -> sf.Simulation:
    return sf.Simulation("humanoid", "zero-walk")


def seconds(sim: sf.Simulation, count: float) -> None:
    sim.step(round(count / sim.actor.model.opt.timestep))


def finished(sim: sf.Simulation, task: Task) -> Task:
    while not task.is_over:
        seconds(sim, 0.5)
    return task


# -------------------------------------------------------------------------------------------- an arm and a body


@pytest.mark.parametrize("target", [(0.37, 0.21, 1.07), (0.31, 0.35, 1.83), (0.52, -0.08, 1.29), (0.21, 0.55, 1.51)])
def test_a_hand_settles_on_a_point_within_its_reach(target: tuple[float, float, float]) -> None:
    sim = walker()
    task = sim.add(Point(LEFT, target))
    seconds(sim, 5.0)
    assert sim.actor.standing
    assert math.dist(sim.actor.hand(LEFT), target) < 0.003
    assert task.miss == pytest.approx(math.dist(sim.actor.hand(LEFT), target), abs=1e-3)


def test_a_hand_that_is_pulled_comes_back_by_the_integrated_error_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    misses = []
    for gain in (0.0, 1.2):
        monkeypatch.setattr("surefoot.tasks.reach_target._GAIN", gain)
        sim = walker()
        task = sim.add(Point(RIGHT, (0.31, -0.35, 1.83)))
        sim.push((3.0, 0.0, -6.0), 10.0, "right_lower_arm")
        seconds(sim, 6.0)
        misses.append(task.miss)
    assert misses[0] > 0.02
    assert misses[1] < 0.2 * misses[0]


def test_the_commanded_point_stays_near_a_point_that_no_arm_reaches() -> None:
    sim = walker()
    sim.add(Point(LEFT, (1.5, 0.2, 1.2)))
    seconds(sim, 4.0)
    hand = sim.actor.hands[LEFT]
    assert math.dist((hand.x, hand.y, hand.z), (1.5, 0.2, 1.2)) < 0.3
    assert reach_ratio(sim.actor, LEFT, (1.5, 0.2, 1.2)) > 1.5
    assert sim.actor.standing


def test_a_left_and_a_right_hand_are_mirrored() -> None:
    hands = []
    for side, sign in ((LEFT, 1.0), (RIGHT, -1.0)):
        sim = walker()
        sim.add(Point(side, (0.41, sign * 0.27, 1.13)))
        seconds(sim, 1.5)
        hands.append(sim.actor.hand(side) * (1.0, sign, 1.0))
    assert hands[0] == pytest.approx(hands[1], abs=1e-6)


def test_a_stoop_brings_the_shoulder_down_over_feet_that_stay_where_they_are() -> None:
    sim = walker()
    sim.add(Bow(RIGHT))
    feet, shoulder = sim.actor.feet, sim.actor.shoulder(RIGHT)
    seconds(sim, 4.0)
    assert sim.actor.standing
    assert sim.actor.shoulder(RIGHT)[2] < 0.52 * shoulder[2]
    assert sim.actor.shoulder(RIGHT)[2] < sim.actor.shoulder(LEFT)[2] - 0.05
    assert np.abs(sim.actor.feet - feet).max() < 0.02
    assert sim.actor.hand(LEFT)[2] < sim.actor.shoulder(LEFT)[2] - 0.3  # the other arm hangs


# -------------------------------------------------------------------------------------------------- the whole task


@pytest.mark.parametrize("target", [(1.3, -0.4, 0.13), (0.9, 0.7, 1.87), (1.1, 0.3, 0.95)])
def test_it_holds_a_target_and_stands_upright_again(target: tuple[float, float, float]) -> None:
    sim = walker()
    task = sim.add(Reach(target))
    pelvis, held, longest = float(sim.actor.position("pelvis")[2]), 0, 0
    while not task.is_over:
        sim.step(10)
        held = held + 1 if math.dist(sim.actor.hand(task.side), target) <= 0.03 else 0
        longest = max(longest, held)
    assert (task.status, task.side) == ("done", LEFT if target[1] > 0 else RIGHT), task.reason
    assert longest >= 49
    seconds(sim, 1.0)
    actor = sim.actor
    assert actor.standing
    assert not actor.fallen
    assert actor.position("pelvis")[2] > 0.98 * pelvis
    assert actor.rotation("chest")[2, 2] > 0.99
    assert [float(actor.intent[name]) for name in ("bend", "crouch", "bend_roll", "foothold")] == [0.0] * 4
    assert [float(hand.reach) for hand in actor.hands] == [0.0, 0.0]


def test_a_told_hand_is_used_though_the_target_is_on_the_other_side() -> None:
    sim = walker()
    task = sim.add(Reach((1.1, 0.3, 1.2), hand="right"))
    finished(sim, task)
    assert (task.status, task.side) == ("done", RIGHT)
    assert task.reason == "held the right hand within 0.03 m of the target"


def test_a_target_too_near_is_reached_after_stepping_back() -> None:
    sim = walker()
    task = sim.add(Reach((0.25, 0.1, 1.2)))
    finished(sim, task)
    assert task.status == "done"
    assert sim.actor.distance_to(task.target) > 0.3  # from 0.27


@pytest.mark.parametrize(("height", "says"), [(2.3, "2.30 m above the ground"), (0.01, "from 0.05 to 2.0")])
def test_a_target_too_high_or_too_low_is_refused_with_what_would_be_reached(height: float, says: str) -> None:
    sim = walker()
    task = sim.add(Reach((1.5, 0.2, height)))
    sim.step(1)
    assert task.status == "failed"
    assert says in task.reason


def test_a_timeout_says_what_it_was_at() -> None:
    sim = walker()
    task = sim.add(Reach((3.0, 0.2, 1.0), timeout=1.0))
    finished(sim, task)
    assert (task.status, task.reason) == ("failed", "not done within 1 s, walking to the target")
    assert sim.actor.row.commands[7] == 1.0  # it is to stand


def test_time_that_runs_out_while_it_stoops_is_told_after_standing_up() -> None:
    sim = walker()
    task = sim.add(Reach((1.1, 0.3, 0.12), hold=30.0, timeout=8.0))
    finished(sim, task)
    assert (task.status, task.reason) == ("failed", "not done within 8 s, reaching for the target")
    seconds(sim, 1.0)
    assert sim.actor.standing
    assert sim.actor.rotation("chest")[2, 2] > 0.99


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"target": "there"}, r"a point \(x, y, z\)"),
        ({"target": (1.0, 2.0)}, "shape"),
        ({"target": (1.0, math.nan, 1.0)}, "finite"),
        ({"target": (1.0, 0.0, 1e9)}, "within ± 1000 m"),
        ({"hand": "both"}, "auto, left or right"),
        ({"hold": -0.1}, "hold must be within 0 … 60"),
        ({"tolerance": 0.0}, "tolerance must be within"),
        ({"speed": math.nan}, "speed must be within"),
        ({"timeout": 0.0}, "timeout must be within"),
    ],
)
def test_bad_input_is_refused_by_what_would_be_valid(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        Reach(**({"target": (1.0, 0.0, 1.0)} | arguments))


def test_it_can_be_asked_for_by_name() -> None:
    task = tasks.load("reach:1.2,0.3,0.9,hold=1,tolerance=0.02")
    assert isinstance(task, Reach)
    assert (task.target.tolist(), task.hold, task.tolerance) == ([1.2, 0.3, 0.9], 1.0, 0.02)
    with pytest.raises(CommandError, match="reach:X,Y,Z"):
        tasks.load("reach:1,2")


@pytest.mark.parametrize("moment", [1.0, 4.6])
def test_a_snapshot_in_the_middle_of_it_goes_on_the_same(moment: float) -> None:
    sim = walker()
    task = sim.add(Reach((1.0, 0.3, 0.4)))
    seconds(sim, moment)
    saved = sim.snapshot()
    seconds(sim, 2.0)
    first, depth = bits(sim), task._stoop.depth
    sim.restore(saved)
    seconds(sim, 2.0)
    assert np.array_equal(bits(sim), first)
    assert task._stoop.depth == depth
