"""Stepping over, ducking under, climbing: what is planned, that nothing is touched, and how they end."""

from __future__ import annotations

import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers.genbicon import swing
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.lab.reproduce.genbicon import obstacles
from surefoot.native.kernels import python_impl
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks import load as load_task
from surefoot.tasks.climb_stairs import Climb
from surefoot.tasks.duck_under import DuckUnder, least_duck
from surefoot.tasks.footstep_planning import speed_for, step_count
from surefoot.tasks.obstacle_course import Course
from surefoot.tasks.step_over import StepOver
from surefoot.terrains import flat
from surefoot.terrains import load as load_terrain
from surefoot.terrains.props import Bar, Crate, Obstacle, Prop, with_props

KNOTS = (0.2, 0.05, 0.5, 0.31, 0.9, 0.28, 1.3, 0.12)  # start, first high place, last high place, goal: x and z


def walker(*props: Prop, terrain: str = "flat") -> sf.Simulation:
    return sf.Simulation("humanoid", "careful-walk", with_props(load_terrain(terrain), props))


def finished(simulation: sf.Simulation, task: Task) -> Task:
    while not task.is_over:
        simulation.step(200)
    return task


# ------------------------------------------------------------------------------------------------- what is planned


def test_a_path_over_something_passes_its_knots_and_rests_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swing, "_hermite", python_impl(swing._hermite))
    path = python_impl(swing.obstacle_path)
    places = np.array([path(s, *KNOTS) for s in np.linspace(0.0, 1.0, 20_001)])
    assert places[0] == pytest.approx(KNOTS[:2])
    assert places[-1] == pytest.approx(KNOTS[6:])
    for knot in (KNOTS[2:4], (0.7, 0.295), KNOTS[4:6]):
        assert np.hypot(*(places - knot).T).min() < 1e-3
    speed = np.hypot(*np.diff(places, axis=0).T) * 20_000
    assert speed[0] < 0.01
    assert speed[-1] < 0.01
    assert speed.max() < 4.0
    assert np.abs(np.diff(speed)).max() < 0.01  # no kink at a knot
    above = (places[:, 0] > 0.5) & (places[:, 0] < 0.9)
    assert places[above, 1].min() > 0.27


def test_steps_to_a_place_are_even_and_none_is_too_long() -> None:
    for distance in np.linspace(0.05, 4.0, 80):
        count = step_count(distance, 0.38, 0.48)
        assert distance / count <= 0.48 + 1e-9
        assert count == 1 or distance / count >= 0.25


def test_the_speed_of_two_lengths_brings_a_pendulum_to_where_they_need_it() -> None:
    first, second, period, height = 0.31, 0.47, 0.63, 0.94
    omega = math.sqrt(GRAVITY / height)
    speed = speed_for(first, second, period, height)
    capture = 0.5 * speed * period * (1.0 + 1.0 / math.tanh(0.5 * omega * period))  # at the end of a periodic step
    after = (capture - first) * math.exp(omega * period)  # of the step after, from its foot
    assert after == pytest.approx((capture - first) + second)  # it then leaves as it came, by `second`
    assert speed_for(0.4, 0.4, period, height) == pytest.approx(0.4 / period)


def test_lower_bars_need_deeper_ducks_and_high_ones_none() -> None:
    actor = walker().actor
    ducks = [least_duck(actor, height) for height in (1.2, 1.35, 1.5, 1.9)]
    assert ducks[0].bend > ducks[1].bend > ducks[2].bend > 0.5
    assert ducks[0].ahead > ducks[2].ahead > 0.4
    assert (ducks[3].bend, ducks[3].crouch) == (0.0, 0.0)


# ------------------------------------------------------------------------------------------------ what comes of it


def test_it_steps_over_and_ducks_under_side_by_side_and_touches_nothing_at_any_step() -> None:
    things = [Obstacle(2.6, 0.22, 0.12), Bar(2.9, 1.25)]
    simulation = walker(*things)
    stepping, under = simulation.add(StepOver(things[:1])), simulation.add(DuckUnder(things[1:]))  # type: ignore[arg-type]
    props = {simulation.model.body(name).id for name in ("obstacle_0", "bar_0")}
    highest = 0.0
    while not (stepping.is_over and under.is_over):
        simulation.step(1)
        touching = simulation.model.geom_bodyid[simulation.data.contact.geom]
        assert not props & set(touching.ravel().tolist())
        highest = max(highest, float(simulation.actor.intent.bend))
    assert (stepping.status, under.status) == ("done", "done")
    assert stepping.reason == "stepped over 1 obstacles"
    assert highest > 1.2
    assert simulation.data.qpos[0] > 3.0
    assert simulation.actor.intent.bend == 0.0


def test_a_course_of_the_experiment_is_passed_and_the_same_seed_gives_the_same_course() -> None:
    assert obstacles.course(3, 1) == obstacles.course(3, 1) != obstacles.course(3, 2)
    found = obstacles.run_course(0, 0)
    assert found["done"], found["reason"]


def test_touching_a_thing_that_was_not_told_of_fails_a_course_and_says_what_touched_it() -> None:
    simulation = walker(Obstacle(1.2, 0.2), Obstacle(4.0, 0.1))
    task = simulation.add(Course([Obstacle(4.0, 0.1)]))
    finished(simulation, task)
    assert task.status == "failed"
    assert task.touched == "obstacle_0"
    assert "touched obstacle_0 at" in task.reason
    part = task.reason.split()[1]
    assert simulation.actor.is_own_body(part)


@pytest.mark.parametrize("rise", [0.14, -0.14])
def test_stairs_are_climbed_to_a_stand(rise: float) -> None:
    simulation = walker(terrain=f"stairs:{rise},0.3,3,1.5")
    task = finished(simulation, simulation.add(Climb(2.8)))
    assert (task.status, task.reason) == ("done", "stands behind 3 stairs")
    assert simulation.actor.feet[:, 2] == pytest.approx(3 * rise + 0.08, abs=0.02)
    assert simulation.actor.intent.crouch == 0.0
    assert simulation.actor.intent.over == 0.0


# ----------------------------------------------------------------------------------------------- how they go wrong


def test_timeouts_say_what_was_being_done() -> None:
    cases: list[tuple[Task, str]] = [
        (StepOver([Obstacle(3.0, 0.1)], timeout=0.5), "not done within 0.5 s, on the way to obstacle 1 of 1"),
        (DuckUnder([Bar(3.0, 1.4)], timeout=0.5), "not done within 0.5 s, on the way to bar 1 of 1"),
        (Climb(3.0, timeout=0.5), "not done within 0.5 s, on stair 1 of 2"),
    ]
    for task, reason in cases:
        simulation = walker(terrain="stairs:0.1,0.3,2,1.5")
        finished(simulation, simulation.add(task))
        assert (task.status, task.reason) == ("failed", reason)
    course = Course([Obstacle(3.0, 0.1), Bar(3.0, 1.4)], timeout=0.3)
    finished(simulation := walker(), simulation.add(course))
    assert course.reason.endswith("on the way to obstacle 1 of 1 and on the way to bar 1 of 1")


def test_what_cannot_be_done_is_refused_with_what_can() -> None:
    with pytest.raises(CommandError, match=r"up to 0.25 m high and 0.15 m deep, got 0.3 m"):
        StepOver([Obstacle(2.0, 0.3)])
    for make in (StepOver, DuckUnder, Course):
        with pytest.raises(CommandError, match="one or more"):
            make([])
        with pytest.raises(CommandError, match="one or more"):
            make([Crate()])  # type: ignore[list-item]
    with pytest.raises(CommandError, match="within ± 1000 m, got nan"):
        Climb(math.nan)
    simulation = walker(Bar(2.0, 0.9))
    task = simulation.add(DuckUnder([Bar(2.0, 0.9)]))
    simulation.step(1)
    assert task.status == "failed"
    assert task.reason.startswith("humanoid ducks under bars from 1.")
    simulation = walker()
    back = simulation.add(Climb(-1.0))
    simulation.step(1)
    assert "ends at more than" in back.reason


def test_tasks_are_read_from_text_and_bad_text_tells_how_it_is_written() -> None:
    course = load_task("course:3,0.2,0.1,3.4,1.3,timeout=50")
    assert isinstance(course, Course)
    assert course.timeout == 50.0
    assert course.props() == (Obstacle(3.0, 0.2, 0.1), Bar(3.4, 1.3))
    assert load_task("step-over:2,0.1,0.1").props() == (Obstacle(2.0, 0.1, 0.1),)
    assert load_task("duck-under:2,1.4,5,1.3").props() == (Bar(2.0, 1.4), Bar(5.0, 1.3))
    climb = load_task("climb:4.5")
    assert isinstance(climb, Climb)
    assert climb.x == 4.5
    for text in ("course:1,2", "step-over:1", "duck-under:", "climb:1,2", "climb:x"):
        with pytest.raises(CommandError, match=f"task {text.partition(':')[0]} is"):
            load_task(text)


def test_a_flat_terrain_has_no_stairs_to_climb_and_is_walked() -> None:
    simulation = sf.Simulation("humanoid", "careful-walk", flat())
    task = finished(simulation, simulation.add(Climb(0.6)))
    assert (task.status, task.reason) == ("done", "stands behind 0 stairs")
