"""Hands on the figure: pulling, pushing, throwing, and hearing of falls; without a browser."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from conftest import bits
from surefoot.engine.scene import Setup
from surefoot.errors import CommandError
from surefoot.studio.app import Studio
from surefoot.studio.panels.push_tab import PushTab
from surefoot.studio.perturbation import (
    BALL_LIFETIME,
    Perturbation,
    active_pushes,
    describe_force,
    heading_of,
    unit_vector,
)
from surefoot.studio.session import BALLS, FPS, Session
from surefoot.terrains.balls import ball_bodies, is_parked

HERE = np.zeros(3)
WALKERS = [Setup("planar/walk"), Setup("human/fast-walk"), Setup("biped/sneak", "humanoid")]


def standing(skill: str = "human/fast-walk") -> tuple[Session, Perturbation]:
    session = Session(Setup(skill))
    session.step(round(0.5 / session.sim.model.opt.timestep))
    return session, Perturbation(session)


def frames(session: Session, hands: Perturbation, count: int, each: Callable[[], object] = lambda: None) -> None:
    for _ in range(count):
        hands.update(HERE, 1.0 / FPS)
        each()
        session.advance(1.0 / FPS)


def part(session: Session, name: str) -> tuple[int, np.ndarray]:
    body = session.sim.model.body(name).id
    return body, session.pose.xipos[body].copy()


def fastest(session: Session) -> float:
    """Of all the figure's coordinates [m/s, rad/s]."""
    return float(np.abs(session.sim.data.qvel[: -6 * len(BALLS)]).max())


def total_force(session: Session) -> float:
    return float(np.linalg.norm(sum(push.force for push in active_pushes(session.sim)) + np.zeros(3)))


@pytest.mark.parametrize("setup", WALKERS, ids=lambda setup: str(setup.skill))
def test_a_pulled_part_goes_where_the_mouse_is(setup: Setup) -> None:
    sways = []
    for offset in (0.3, -0.3):
        session = Session(setup)
        hands = Perturbation(session)
        frames(session, hands, 30)
        body, place = part(session, session.sim.scene.table.anatomy.torso)
        hands.grab(body, place, place + np.array([offset, 0.0, 0.0]), HERE)
        frames(session, hands, 10)
        sways.append(part(session, session.sim.scene.table.anatomy.torso)[1][0])
    assert sways[0] > sways[1] + 0.02


def test_the_pull_acts_at_the_point_that_was_grabbed_towards_the_mouse() -> None:
    session, hands = standing()
    origin = np.array([0.4, -0.1, 0.0])
    body, place = part(session, "left_shin")
    held = place + np.array([0.01, 0.02, 0.05])
    hands.grab(body, held - origin, held - origin + np.array([-0.1, 0.2, 0.05]), origin)
    hands.update(origin)
    (push,) = active_pushes(session.sim)
    assert push.body == body
    assert push.application_point(session.pose) == pytest.approx(held, abs=1e-9)
    towards = push.force / np.linalg.norm(push.force)
    assert towards @ (np.array([-0.1, 0.2, 0.05]) / np.linalg.norm((-0.1, 0.2, 0.05))) > 0.7


@pytest.mark.parametrize("limit", [35.0, 600.0])
def test_the_force_never_exceeds_the_limit(limit: float) -> None:
    session, hands = standing()
    hands.max_pull = limit
    body, place = part(session, "trunk")
    hands.grab(body, place, place + np.array([0.0, 3.0, 1.0]), HERE)
    seen: list[float] = []
    frames(session, hands, 20, lambda: seen.append(total_force(session)))
    assert max(seen) == pytest.approx(limit)
    assert max(np.linalg.norm(session.sim.data.xfrc_applied[:, :3], axis=1)) <= limit * (1.0 + 1e-12)


def test_releasing_ends_the_pull_within_a_frame() -> None:
    session, hands = standing()
    body, place = part(session, "trunk")
    hands.grab(body, place, place + np.array([0.3, 0.0, 0.0]), HERE)
    frames(session, hands, 5)
    assert active_pushes(session.sim)
    hands.release()
    assert not active_pushes(session.sim)
    frames(session, hands, 1)
    assert not session.sim.data.xfrc_applied.any()


def test_a_hand_that_is_not_heard_of_lets_go_and_one_that_is_keeps_its_hold() -> None:
    for is_there in (False, True):
        session, hands = standing("planar/walk")
        body, place = part(session, "trunk")
        hands.grab(body, place, place + np.array([0.02, 0.0, 0.0]), HERE)
        frames(session, hands, round(2.5 * FPS), hands.keep_alive if is_there else lambda: None)
        assert hands.holding == is_there


def test_nothing_is_pulled_while_time_stands_still() -> None:
    session, hands = standing()
    session.paused = True
    before = bits(session.sim)
    body, place = part(session, "trunk")
    hands.grab(body, place, place + np.array([0.3, 0.0, 0.0]), HERE)
    frames(session, hands, 5)
    assert np.array_equal(bits(session.sim), before)


def test_a_ball_or_the_ground_cannot_be_grabbed() -> None:
    session, hands = standing()
    for body in (0, ball_bodies(session.sim.model)[0]):
        hands.grab(body, HERE, HERE + 1.0, HERE)
        assert not hands.holding


def test_another_body_opens_the_grip() -> None:
    session, hands = standing()
    body, place = part(session, "trunk")
    hands.grab(body, place, place + np.array([0.1, 0.0, 0.0]), HERE)
    session.rebuild(skill="planar/walk")
    frames(session, hands, 1)
    assert not hands.holding
    assert not active_pushes(session.sim)


def test_a_snapshot_taken_while_pulling_is_exact() -> None:
    session, hands = standing()
    body, place = part(session, "left_shin")
    hands.grab(body, place, place + np.array([0.2, 0.1, 0.1]), HERE)
    frames(session, hands, 7)
    sim = session.sim
    snapshot = sim.snapshot()
    assert active_pushes(sim)
    sim.step(300)
    first = bits(sim).copy()
    sim.restore(snapshot)
    sim.step(300)
    assert np.array_equal(bits(sim), first)


def names(session: Session) -> list[str]:
    return [segment.name for segment in session.sim.scene.table.segments]


@pytest.mark.parametrize("rate", [0.1, 1.0, 2.0])
def test_every_part_can_be_held_still_without_shaking(rate: float) -> None:
    session, hands = standing("stand")
    session.set_rate(rate)
    for name in names(session):
        body, place = part(session, name)
        hands.grab(body, place, place, HERE)
        speeds: list[float] = []
        frames(
            session,
            hands,
            40,
            lambda kept=speeds: kept.append(fastest(session)),  # type: ignore[misc],
        )
        assert max(speeds[20:]) < max(2.0, 2.0 * max(speeds[:10])), name


@pytest.mark.parametrize("setup", WALKERS, ids=lambda setup: str(setup.skill))
def test_a_push_by_form_begins_after_its_delay_and_is_seen_while_it_acts(setup: Setup) -> None:
    session = Session(setup)
    hands = Perturbation(session)
    hands.push(80.0, math.pi, 0.1, delay=0.2)
    seen = {}
    frames(session, hands, 30, lambda: seen.update({round(session.sim.time, 3): total_force(session)}))
    acted = [time for time, force in seen.items() if force == pytest.approx(80.0)]
    assert min(acted) == pytest.approx(0.2, abs=0.02)
    assert max(acted) == pytest.approx(0.3, abs=0.02)


def test_pushing_to_its_left_moves_it_there_whatever_it_faces() -> None:
    session, hands = standing()
    session.row.report[0].heading = 0.7
    hands.push(90.0, 0.5 * math.pi, 0.2)
    (push,) = active_pushes(session.sim)
    assert push.force == pytest.approx(90.0 * np.array([-math.sin(0.7), math.cos(0.7), 0.0]))


def test_a_body_in_a_plane_cannot_be_pushed_to_a_side() -> None:
    _, hands = standing("planar/walk")
    with pytest.raises(CommandError, match="plane"):
        hands.push(90.0, 0.5 * math.pi, 0.2)


@pytest.mark.parametrize(
    ("direction", "rise", "words"),
    [
        (0.0, 0.0, "150 N, forward"),
        (90.0, 0.0, "150 N, to its left"),
        (-80.0, 10.0, "150 N, to its right"),
        (140.0, -30.0, "150 N, back and left, 30° down"),
        (-178.0, 0.0, "150 N, back"),
        (20.0, 80.0, "150 N, up"),
    ],
)
def test_directions_are_told_as_the_figure_sees_them(direction: float, rise: float, words: str) -> None:
    force = 150.0 * unit_vector(0.3 + math.radians(direction), math.radians(rise))
    assert describe_force(force, 0.3) == words


@pytest.mark.parametrize("setup", WALKERS, ids=lambda setup: str(setup.skill))
@pytest.mark.parametrize(("origin", "speed"), [(180.0, 8.0), (0.0, 3.0), (-90.0, 6.0)])
def test_a_thrown_ball_hits_who_walks(setup: Setup, origin: float, speed: float) -> None:
    session = Session(setup)
    hands = Perturbation(session)
    frames(session, hands, 60)
    sim = session.sim
    hands.throw(math.radians(origin), speed)
    ball, met = ball_bodies(sim.model)[1], set[int]()
    for _ in range(round(0.8 / sim.model.opt.timestep)):
        sim.step()
        pairs = sim.model.geom_bodyid[np.array(sim.data.contact.geom).reshape(-1, 2)]
        met |= {int(other) for pair in pairs if ball in pair for other in pair}
    assert met & set(range(1, 1 + len(names(session))))


def test_a_ball_is_taken_away_after_a_while_and_flies_again_when_one_went_back() -> None:
    session, hands = standing("planar/walk")
    hands.throw(math.pi, 6.0)
    joint = session.sim.model.joint("ball_1").qposadr[0]
    place = session.sim.data.qpos[joint : joint + 3]
    frames(session, hands, round((BALL_LIFETIME - 0.5) * FPS))
    assert not is_parked(place)
    session.look_back(session.timeline.span - 0.6)
    session.play()
    assert not is_parked(place)
    frames(session, hands, round((BALL_LIFETIME - 0.5) * FPS))
    assert not is_parked(place)
    frames(session, hands, round(1.0 * FPS))
    assert is_parked(place)


def test_each_size_is_another_ball() -> None:
    session, hands = standing()
    for ball in range(len(BALLS)):
        hands.throw(0.3 * ball, 5.0, ball)
    frames(session, hands, 2)
    model = session.sim.model
    radii = [model.geom_size[model.geom(f"ball_{i}").id, 0] for i in range(len(BALLS))]
    assert radii == [ball.radius for ball in BALLS.values()]
    assert len(ball_bodies(model)) == len(BALLS)
    assert not any(is_parked(session.pose.xpos[body]) for body in ball_bodies(model))


def fall(session: Session, hands: Perturbation, seconds: float = 6.0) -> list[str]:
    """Pushed over, and what was said of it."""
    hands.push(900.0, math.pi, 0.4)
    said: list[str | None] = []
    frames(session, hands, round(seconds * FPS), lambda: said.append(hands.fall_message()))
    assert session.sim.fallen
    return [news for news in said if news]


def test_a_fall_is_told_once_and_again_after_going_back() -> None:
    session, hands = standing()
    frames(session, hands, 180)
    (first,) = fall(session, hands)
    assert session.sim.fall_cause in first
    assert f"{session.sim.fallen_at:.1f} s" in first
    fell_at = session.sim.fallen_at
    session.rewind_before_fall()
    assert session.sim.time == pytest.approx(fell_at - 2.0, abs=0.03)
    assert not session.sim.fallen
    frames(session, hands, 5)
    assert hands.fall_message() is None
    assert len(fall(session, hands)) == 1


def test_looking_back_at_a_fall_is_no_news() -> None:
    session, hands = standing()
    fall(session, hands)
    session.look_back(session.timeline.span)
    assert hands.fall_message() is None
    session.look_back(0.0)
    assert session.sim.fallen
    assert hands.fall_message() is None


def test_before_an_early_fall_is_the_start_of_that_run_and_not_the_run_before() -> None:
    session, hands = standing()
    frames(session, hands, 120)
    session.restart()
    fall(session, hands, 3.0)
    assert session.sim.fallen_at < 2.0
    running = session.sim
    session.rewind_before_fall()
    assert session.sim is running
    assert session.sim.time == 0.0
    assert not session.sim.fallen
    assert not session.paused


def test_before_the_fall_is_found_while_looking_back_too() -> None:
    session, hands = standing()
    frames(session, hands, 180)
    fall(session, hands)
    fell_at = session.sim.fallen_at
    session.look_back(1.0)
    session.rewind_before_fall()
    assert session.sim.time == pytest.approx(fell_at - 2.0, abs=0.03)


def test_a_fall_that_is_forgotten_is_said_to_be() -> None:
    session, hands = standing("planar/walk")
    session.timeline.seconds = 1.0
    fall(session, hands)
    with pytest.raises(CommandError, match="not stored"):
        session.rewind_before_fall()


def test_the_panel_works_with_every_kind_of_body() -> None:
    studio = Studio(Setup("human/fast-walk"), port=0)
    try:
        panel = next(panel for panel in studio._panels if isinstance(panel, PushTab))
        for skill, character in (("planar/walk", None), ("biped/sneak", "humanoid"), ("stand", None)):
            studio.loop.call(lambda s=skill, c=character: studio.session.rebuild(skill=s, character=c))  # type: ignore[misc]
            studio.loop.call(panel.reload)
            parts = studio.loop.call(lambda: names(studio.session))
            assert panel._part.options == tuple(parts)
            assert panel._part.value == studio.session.sim.scene.table.anatomy.torso
            studio.loop.call(lambda: panel._quick("Forward"))
            assert len(studio.loop.call(lambda: active_pushes(studio.session.sim))) == 1
            studio.loop.call(lambda: studio.stage.draw(studio.session))  # with an arrow
            studio.loop.call(panel._throw)
            studio.loop.call(panel.refresh)
    finally:
        studio.stop()


def test_who_grabs_last_has_it_and_nobody_else_moves_or_opens_the_hand() -> None:
    studio = Studio(Setup("human/fast-walk"), port=0)
    try:
        panel = next(panel for panel in studio._panels if isinstance(panel, PushTab))
        call = studio.loop.call
        call(lambda: setattr(studio.session, "paused", True))
        call(lambda: panel._hold(1, "start", 2, HERE + 1.0, HERE + 1.0))
        call(lambda: panel._hold(2, "start", 2, HERE + 1.0, HERE + 1.0))
        call(lambda: panel._hold(1, "end", 2, HERE, HERE))
        assert panel.hands.holding
        call(lambda: panel._hold(2, "end", 2, HERE, HERE))
        assert not panel.hands.holding
    finally:
        studio.stop()


def test_falls_are_undone_if_one_wants_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.studio.panels.push_tab._PAUSE", 0.0)
    studio = Studio(Setup("human/fast-walk"), port=0)
    try:
        panel = next(panel for panel in studio._panels if isinstance(panel, PushTab))
        said: list[str] = []
        monkeypatch.setattr(studio, "notify", lambda title, text="", color="": said.append(text))

        def fall_and_look() -> tuple[bool, bool]:
            sim = studio.session.sim
            panel.hands.push(900.0, math.pi, 0.4)
            while not sim.fallen:
                studio.session.step_frame()
            panel.refresh()
            panel.refresh()
            return sim.fallen, panel._undo_fall.visible

        assert studio.loop.call(fall_and_look) == (True, True)
        assert len(said) == 1
        studio.loop.call(studio.session.rewind_before_fall)
        panel.hands.auto_rewind = True
        assert studio.loop.call(fall_and_look) == (False, False)
    finally:
        studio.stop()


def test_straight_ahead_is_where_it_is_told_to_go() -> None:
    session, _ = standing()
    session.sim.command(heading=0.4)
    session.step(round(4.0 / session.sim.model.opt.timestep))
    assert heading_of(session.sim) == pytest.approx(0.4, abs=0.15)
