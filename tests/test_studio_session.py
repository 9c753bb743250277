"""The studio without a page: time runs, stops, goes back and on; what is edited runs at once."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from surefoot.engine.scene import Setup
from surefoot.errors import CommandError, SkillError, SurefootError
from surefoot.skills import load, with_parameters
from surefoot.studio.session import MAX_BODIES, Session, SimulationThread, Timeline


def passed(session: Session, seconds: float) -> Session:
    for _ in range(round(60 * seconds)):
        session.advance(1.0 / 60.0)
    return session


@pytest.fixture
def session() -> Session:
    return Session(Setup("planar/walk"))


def test_a_second_of_real_time_is_a_second_of_simulated_time(session: Session) -> None:
    assert passed(session, 1.5).sim.time == pytest.approx(1.5, abs=0.002)


def test_time_runs_slower_and_faster_as_asked(session: Session) -> None:
    session.set_rate(0.25)
    assert passed(session, 1.0).sim.time == pytest.approx(0.25, abs=0.002)
    session.set_rate(2.0)
    assert passed(session, 1.0).sim.time == pytest.approx(2.25, abs=0.002)


@pytest.mark.parametrize("rate", [0.0, -1.0, 5.0, float("nan")])
def test_impossible_speeds_of_time_are_refused(session: Session, rate: float) -> None:
    with pytest.raises(CommandError, match="speed of time"):
        session.set_rate(rate)


def test_time_lost_to_a_stall_is_not_hurried_after(session: Session) -> None:
    session.advance(30.0)
    assert session.sim.time == pytest.approx(0.1, abs=0.001)


def test_paused_time_stands_still_and_single_frames_advance_it(session: Session) -> None:
    session.paused = True
    passed(session, 0.5)
    assert session.sim.time == 0.0
    session.step_frame()
    assert session.sim.time == pytest.approx(1 / 60, abs=0.0005)


@pytest.mark.parametrize("setup", [Setup("planar/walk"), Setup("human/fast-walk"), Setup("biped/sneak", "humanoid")])
def test_going_on_from_a_moment_of_the_past_repeats_the_same_bits(setup: Setup) -> None:
    session = passed(Session(setup), 2.0)
    session.sim.push((120.0, 0.0, 0.0), 0.2)
    passed(session, 0.3)
    states = [moment.snapshot().state for moment in session.timeline.last(60.0)]
    session.look_back(1.1)
    began = session.sim.time
    session.play()
    for _ in range(30):
        session.advance(1.0 / 60.0)
    again = [moment.snapshot().state for moment in session.timeline.last(60.0)]
    assert session.sim.time > began
    times = {state[0]: state for state in states}
    compared = [state for state in again if state[0] in times and state[0] > began]
    assert len(compared) > 5
    assert all(np.array_equal(state, times[state[0]]) for state in compared)


def test_looking_back_shows_that_moment_and_changes_nothing(session: Session) -> None:
    passed(session, 2.0)
    last = session.sim.snapshot().state
    session.look_back(1.0)
    assert session.sim.time == pytest.approx(1.0, abs=0.02)
    assert session.pose.qpos[0] == session.sim.data.qpos[0]
    passed(session, 1.0)
    assert session.sim.time == pytest.approx(1.0, abs=0.02)
    session.look_back(0.0)
    assert np.array_equal(session.sim.snapshot().state, last)


def test_what_came_after_the_moment_gone_on_from_is_forgotten(session: Session) -> None:
    passed(session, 3.0)
    session.look_back(2.0)
    session.play()
    assert session.clock == pytest.approx(1.0, abs=0.02)
    assert session.timeline.span == pytest.approx(1.0, abs=0.02)


def test_the_timeline_keeps_a_minute_and_no_more() -> None:
    session = Session(Setup("planar/walk"))
    for _ in range(65 * 10):
        session.advance(0.1)
    assert session.timeline.span == pytest.approx(60.0, abs=0.2)
    session.look_back(60.0)
    assert session.sim.time == pytest.approx(5.0, abs=0.2)


def test_a_minute_of_moments_takes_far_less_than_its_states() -> None:
    session = passed(Session(Setup("biped/zero-walk", "humanoid")), 3.0)
    moments = list(session.timeline.last(60.0))
    kept = sum(m._values.nbytes + len(m._mask) for m in moments)
    assert kept < 0.35 * sum(m.snapshot().state.nbytes for m in moments)


def test_moments_of_many_bodies_do_not_pile_up() -> None:
    session = Session(Setup("planar/walk"))
    for angle in range(2 * MAX_BODIES):
        session.rebuild(terrain=f"slope:{angle / 10}")
        passed(session, 0.1)
    assert len({id(m.sim) for m in session.timeline._moments}) <= MAX_BODIES


def test_an_empty_timeline_says_so() -> None:
    with pytest.raises(SurefootError, match="nothing to go back to"):
        Timeline().at(1.0)


def test_after_a_fall_one_goes_on_from_two_seconds_before(session: Session) -> None:
    passed(session, 3.0)
    session.sim.push((-2000.0, 0.0, 0.0), 0.4)
    passed(session, 2.5)
    fell = session.sim.fallen_at
    assert session.sim.fallen
    session.rewind_before_fall()
    assert not session.sim.fallen
    assert session.sim.time == pytest.approx(max(fell - 2.0, 0.0), abs=0.05)
    assert not session.paused
    with pytest.raises(CommandError, match="not fallen"):
        session.rewind_before_fall()


def test_an_edited_skill_runs_at_once_and_time_goes_on(session: Session) -> None:
    passed(session, 1.0)
    session.edit_skill(with_parameters(load("planar/walk"), {"states.0.targets.swing_hip": 0.55}))
    assert session.sim.time == pytest.approx(1.0, abs=0.02)
    assert session.sim.skill.parameters.states[0].targets["swing_hip"] == 0.55
    before = passed(Session(Setup("planar/walk")), 6.0).sim.data.qpos[0]
    assert passed(session, 5.0).sim.data.qpos[0] != pytest.approx(before, abs=0.05)


def test_a_skill_with_another_number_of_states_begins_again(session: Session) -> None:
    passed(session, 1.0)
    session.edit_skill(load("planar/run"))
    fewer = load("planar/walk").parameters.states
    assert len(session.sim.skill.parameters.states) == len(load("planar/run").parameters.states)
    again = len(fewer) != len(load("planar/run").parameters.states)
    assert (session.sim.time == 0.0) == again


def test_what_cannot_be_built_leaves_everything_as_it_was(session: Session) -> None:
    passed(session, 0.5)
    sim = session.sim
    for changes in ({"terrain": "swamp"}, {"skill": "no-such-walk"}, {"character": "nobody"}):
        with pytest.raises(SurefootError):
            session.rebuild(**changes)
    assert session.sim is sim
    assert passed(session, 0.5).sim.time == pytest.approx(1.0, abs=0.02)


def test_restarting_keeps_what_was_edited(session: Session) -> None:
    session.edit_skill(with_parameters(load("planar/walk"), {"states.1.cd": 1.9}))
    passed(session, 0.5)
    session.restart()
    assert session.sim.time == 0.0
    assert session.sim.skill.parameters.states[1].cd == 1.9


def test_the_last_seconds_are_a_motion_of_exact_frames(session: Session) -> None:
    passed(session, 3.0)
    motion = session.motion(2.0)
    assert motion.time[-1] == session.sim.time
    assert motion.time[-1] - motion.time[0] == pytest.approx(2.0, abs=0.03)
    assert np.array_equal(motion.qpos[-1], session.sim.data.qpos)
    for bad in (0.0, -1.0, 61.0, float("nan")):
        with pytest.raises(CommandError, match="are stored"):
            session.motion(bad)


def test_the_loop_does_what_is_asked_and_survives_what_fails(session: Session) -> None:
    complaints: list[str] = []
    frames: list[float] = []
    loop = SimulationThread(session, frames.append, complaints.append)
    loop.start()
    try:
        assert loop.call(lambda: threading.current_thread().name) == "surefoot-studio"
        loop.post(lambda: session.set_rate(99.0))
        loop.post(lambda: 1 // 0)
        with pytest.raises(SkillError):
            loop.call(lambda: (_ for _ in ()).throw(SkillError("no")))
        loop.call(lambda: None)
        first = session.clock
        deadline = time.monotonic() + 1800.0
        while session.clock <= first and time.monotonic() < deadline:
            time.sleep(0.01)
        assert session.clock > first
        assert loop.is_running
    finally:
        loop.stop()
    assert not loop.is_running
    assert len(complaints) == 2
    assert "speed of time" in complaints[0]
    assert frames


def test_a_flood_of_requests_does_not_grow_without_bound(session: Session) -> None:
    loop = SimulationThread(session, lambda now: None, lambda text: None)
    done: list[int] = []
    for number in range(5000):
        loop.post(lambda number=number: done.append(number))  # type: ignore[misc]
    loop.start()
    try:
        loop.call(lambda: None)
    finally:
        loop.stop()
    assert 0 < len(done) <= 1000
