"""Measurements over the last seconds, the charts made of them, and the tab that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.controllers.genbicon.style import KNOTS, WIDTH, curve_at
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.lab.gait import card_rows, gait_card
from surefoot.studio.app import Studio
from surefoot.studio.panels import gait_card as gait_panel
from surefoot.studio.panels import plot_tab
from surefoot.studio.panels.plot_tab import PlotTab
from surefoot.studio.session import Session
from surefoot.studio.style_parameters import evaluate_array
from surefoot.studio.telemetry import WINDOW_POINTS, WINDOW_SECONDS, Telemetry, hinge_angles, rotation_matrix
from test_genbicon_parts import python

SETUPS = {
    "planar": Setup("planar/walk"),
    "human": Setup("human/fast-walk"),
    "style": Setup("biped/sneak", "humanoid"),
    "stand": Setup("human/stand"),
}
ALL = 100_000  # points: none is left out


def passed(session: Session, seconds: float) -> Session:
    for _ in range(round(60 * seconds)):
        session.step_frame()
    return session


@pytest.fixture(scope="module")
def sessions() -> dict[str, Session]:
    return {name: passed(Session(setup), 6.0) for name, setup in SETUPS.items()}


@pytest.mark.parametrize("name", SETUPS)
def test_channels_are_what_a_motion_of_the_same_seconds_holds(sessions: dict[str, Session], name: str) -> None:
    session = sessions[name]
    window, motion = Telemetry().window(session.timeline, points=ALL), session.motion(WINDOW_SECONDS)
    model = session.sim.model
    assert np.array_equal(window["time"], motion.time)
    for joint in ("left_knee", "right_ankle"):
        angle = np.degrees(motion.qpos[:, model.joint(joint).qposadr[0]])
        np.testing.assert_allclose(window[f"angle:{joint}"], angle, atol=1e-12)
        assert np.array_equal(window[f"torque:{joint}"], motion.torque[:, model.actuator(joint).id])
    assert np.array_equal(window["left_force"], motion.contact_force[:, 0, 2])
    assert np.array_equal(window["right_force"], motion.contact_force[:, 1, 2])
    np.testing.assert_allclose(window["height"], motion.com[:, 2], atol=1e-12)  # on flat ground
    speed = np.gradient(motion.com[:, 0], motion.time)
    np.testing.assert_allclose(window["speed"][2:-2], speed[2:-2], atol=0.06)


def test_height_is_above_the_ground_and_not_above_the_origin() -> None:
    session = passed(Session(Setup("human/fast-walk", terrain="slope:5")), 4.0)
    window, motion = Telemetry().window(session.timeline, points=ALL), session.motion(WINDOW_SECONDS)
    assert motion.com[-1, 2] - motion.com[0, 2] > 0.2
    assert np.ptp(window["height"]) < 0.15


def test_a_window_is_thin_and_its_points_stay_the_same_as_time_goes_on(sessions: dict[str, Session]) -> None:
    session, channels = passed(Session(SETUPS["planar"]), 7.0), Telemetry()
    before = channels.window(session.timeline)
    session.step_frame()
    after = channels.window(session.timeline)
    assert len(before) <= WINDOW_POINTS + 2
    assert before["time"][-1] - before["time"][0] == pytest.approx(WINDOW_SECONDS, abs=0.05)
    assert set(before["time"][2:-1]) <= set(after["time"])


def test_looking_back_shows_the_seconds_before_that_moment() -> None:
    session, channels = passed(Session(SETUPS["planar"]), 8.0), Telemetry()
    present = session.sim.time
    session.look_back(2.5)
    window = channels.window(session.timeline, session.shown)
    assert window["time"][-1] == session.sim.time == pytest.approx(present - 2.5, abs=0.02)
    assert window["time"][0] == pytest.approx(present - 2.5 - WINDOW_SECONDS, abs=0.05)


def test_what_came_after_a_moment_one_went_on_from_vanishes() -> None:
    session, channels = passed(Session(SETUPS["planar"]), 4.0), Telemetry()
    channels.window(session.timeline, points=ALL)
    session.look_back(2.0)
    back = session.sim.time
    session.play()
    session.sim.push((250.0, 0.0, 0.0), 0.2, session.sim.scene.table.anatomy.torso)  # it goes on differently
    passed(session, 1.0)
    window, motion = channels.window(session.timeline, points=ALL), session.motion(WINDOW_SECONDS)
    assert np.array_equal(window["time"], motion.time)
    assert (np.diff(window["time"]) > 0.0).all()
    assert window["time"][-1] == pytest.approx(back + 1.0, abs=0.02)
    knee = session.sim.model.joint("left_knee").qposadr[0]
    np.testing.assert_allclose(window["angle:left_knee"], np.degrees(motion.qpos[:, knee]), atol=1e-12)


def test_another_body_begins_another_window() -> None:
    session, channels = passed(Session(SETUPS["planar"]), 2.0), Telemetry()
    assert "angle:neck" not in channels.window(session.timeline).columns
    session.rebuild(skill="human/fast-walk")
    passed(session, 0.5)
    window = channels.window(session.timeline)
    assert "angle:neck" in window.columns
    assert window["time"][0] == 0.0


def implied(session: Session, joint: str) -> np.ndarray:
    """(n,) the angle a servo with the body's gains must have been given, to exert the torque it did [°]."""
    motion, gain = session.motion(WINDOW_SECONDS), session.sim.scene.table.gains[joint]
    place, rate = (getattr(session.sim.model.joint(joint), a)[0] for a in ("qposadr", "dofadr"))
    torque = motion.torque[:, session.sim.model.actuator(joint).id]
    return np.asarray(np.degrees(motion.qpos[:, place] + (torque + gain.kd * motion.qvel[:, rate]) / gain.kp))


@pytest.mark.parametrize(
    ("name", "joint"),
    [("planar", "left_knee"), ("planar", "right_ankle"), ("human", "right_knee"), ("human", "left_shoulder"),
     ("human", "left_ankle_roll"), ("human", "neck"), ("human", "waist_yaw")],
)  # fmt: skip
def test_targets_of_a_pose_graph_are_those_its_servos_follow(
    sessions: dict[str, Session], name: str, joint: str
) -> None:
    window = Telemetry().window(sessions[name].timeline, points=ALL)
    free = np.abs(window[f"torque:{joint}"]) < 0.98 * window[f"limit:{joint}"]
    off = np.abs(window[f"target:{joint}"] - implied(sessions[name], joint))[free]
    assert free.mean() > 0.8
    assert np.median(off) < 0.25
    assert np.mean(off) < 0.7


@pytest.mark.parametrize("name", ["planar", "human"])
def test_a_swinging_hip_has_a_target_and_a_standing_one_has_none(sessions: dict[str, Session], name: str) -> None:
    window = Telemetry().window(sessions[name].timeline, points=ALL)
    for swing, side in ((0.0, "left"), (1.0, "right")):
        told = np.isfinite(window[f"target:{side}_hip"])
        assert np.array_equal(told, window["swing"] == swing)
        assert 0.2 < told.mean() < 0.8


def test_the_target_of_a_swinging_hip_is_the_thigh_s_in_the_world(sessions: dict[str, Session]) -> None:
    session = sessions["planar"]
    window, motion = Telemetry().window(session.timeline, points=ALL), session.motion(WINDOW_SECONDS)
    pitching = session.sim.model.joint("root_pitch").dofadr[0]  # its rate damps the servo too
    gain = session.sim.scene.table.gains["left_hip"]
    followed = implied(session, "left_hip") + np.degrees(gain.kd * motion.qvel[:, pitching] / gain.kp)
    off = np.abs(window["target:left_hip"] - followed)[window["swing"] == 0.0]
    assert np.median(off) < 0.25
    assert np.mean(off) < 0.7


def test_arms_of_a_style_follow_its_curves(sessions: dict[str, Session]) -> None:
    window = Telemetry().window(sessions["style"].timeline, points=ALL)
    for joint in ("left_shoulder", "right_shoulder", "left_elbow", "right_elbow"):
        assert np.abs(window[f"target:{joint}"] - window[f"angle:{joint}"]).mean() < 8.0
    assert np.abs(window["target:left_elbow"]).mean() > 20.0
    assert np.isnan(window["target:left_knee"]).all()


@pytest.mark.parametrize("name", SETUPS)
def test_no_torque_is_beyond_its_limit_and_some_limit_is_near(sessions: dict[str, Session], name: str) -> None:
    window = Telemetry().window(sessions[name].timeline, points=ALL)
    shares = [np.abs(window[f"torque:{j}"] / window[f"limit:{j}"]).max() for j in sessions[name].sim.scene.table.gains]
    assert max(shares) <= 1.0 + 1e-9
    assert max(shares) > 0.05


def test_sway_has_the_sign_of_the_lean() -> None:
    session = Session(Setup("human/fast-walk"))
    session.sim.command(lean=-0.3)  # forward
    forward = Telemetry().window(passed(session, 3.0).timeline)["forward_lean"][-60:].mean()
    upright = Session(Setup("human/fast-walk"))
    assert forward > Telemetry().window(passed(upright, 3.0).timeline)["forward_lean"][-60:].mean() + 5.0


def test_a_curve_is_read_as_the_law_reads_it() -> None:
    rng = np.random.default_rng(3)
    for count in (0, 1, 2, 5, KNOTS):
        curve = np.zeros(WIDTH)
        curve[0] = count
        curve[1 : 1 + count] = np.sort(rng.uniform(0.05, 0.95, count))
        curve[1 + KNOTS : 1 + KNOTS + count] = rng.normal(size=count)
        for phase in (0.0, *rng.uniform(0.0, 1.0, 20), 1.0):
            assert evaluate_array(curve, phase) == pytest.approx(python(curve_at)(curve, phase), abs=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_rotation_in_hinges_turns_a_thigh_like_the_rotation(side: str) -> None:
    sim = Simulation(skill="human/fast-walk")
    outward = 1.0 if side == "left" else -1.0
    turn = rotation_matrix(0.2, -0.3, 0.7)
    sim.data.qpos[:] = sim.model.qpos0
    hinges = hinge_angles(turn, outward)
    for hinge, angle in zip((f"{side}_hip", f"{side}_hip_roll", f"{side}_hip_yaw"), hinges, strict=True):
        sim.data.qpos[sim.model.joint(hinge).qposadr[0]] = angle
    mujoco.mj_kinematics(sim.model, sim.data)
    pelvis, thigh = (sim.data.body(name).xmat.reshape(3, 3) for name in ("pelvis", f"{side}_thigh"))
    np.testing.assert_allclose(pelvis.T @ thigh, turn, atol=1e-9)


@pytest.mark.parametrize("name", SETUPS)
@pytest.mark.parametrize("kind", plot_tab.KINDS)
def test_every_chart_of_every_joint_has_finite_numbers_and_a_unit(
    sessions: dict[str, Session], name: str, kind: str
) -> None:
    table = sessions[name].sim.scene.table
    window = Telemetry().window(sessions[name].timeline)
    for joint in plot_tab.joint_names(table) if kind in plot_tab.JOINT_CHARTS else ("",):
        for side in plot_tab.SIDES:
            chart = plot_tab.make_chart(kind, table, joint, side)
            data = chart.data(window)
            assert len(data) == 1 + len(chart.lines)
            assert all(len(line) == len(window) and np.isfinite(line).all() for line in data)
            assert chart.y_label
            assert all(line.label for line in chart.lines)


def test_the_newest_point_of_a_portrait_comes_first(sessions: dict[str, Session]) -> None:
    window = Telemetry().window(sessions["human"].timeline)
    for kind, prefix in ((plot_tab.BALANCE, ""), (plot_tab.SIDEWAYS, "lateral_")):
        d, v, now = plot_tab.make_chart(kind, sessions["human"].sim.scene.table, "", "").data(window)
        row = sessions["human"].row.report[0]
        assert (d[0], v[0], now[0]) == (row[f"{prefix}distance"], row[f"{prefix}velocity"], row[f"{prefix}velocity"])


def test_left_and_right_have_their_colours_in_every_chart(sessions: dict[str, Session]) -> None:
    table = sessions["human"].sim.scene.table
    for kind in (plot_tab.FEET, plot_tab.ANGLE, plot_tab.TORQUE):
        by_label = {
            line.label: line.color
            for line in plot_tab.make_chart(kind, table, "knee", "left and right").lines
            if line.label
        }
        for label, color in by_label.items():
            if label.startswith("left"):
                assert color == plot_tab.LEFT
            if label.startswith("right"):
                assert color == plot_tab.RIGHT
        assert len(by_label) >= 2


def test_the_swinging_leg_changes_sides_with_every_step(sessions: dict[str, Session]) -> None:
    table = sessions["planar"].sim.scene.table
    window = Telemetry().window(sessions["planar"].timeline)
    _, swinging, *_ = plot_tab.make_chart(plot_tab.ANGLE, table, "knee", "swinging and standing leg").data(window)
    left = window["swing"] == 0.0
    assert np.array_equal(swinging[left], window["angle:left_knee"][left])
    assert np.array_equal(swinging[~left], window["angle:right_knee"][~left])
    assert 0.2 < left.mean() < 0.8


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(Setup("planar/walk"), port=0, folder=tmp_path)
    yield studio
    studio.stop()


def tab(studio: Studio) -> PlotTab:
    return next(panel for panel in studio._panels if isinstance(panel, PlotTab))


def sent(plots: PlotTab) -> list[tuple[np.ndarray, ...]]:
    return [plot._handle.data for plot in plots._plots]


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_the_tab_shows_whatever_runs(studio: Studio, setup: Setup) -> None:
    plots = tab(studio)
    changes = {"skill": setup.skill, "character": setup.character}
    studio.loop.call(lambda: studio.session.rebuild(**changes))
    studio.loop.call(lambda: passed(studio.session, 1.0))
    for kind in plot_tab.KINDS:
        for plot in plots._plots:
            plot._kind.value = kind
        studio.loop.call(lambda: (plots.reload(), plots.refresh()))
        for data, plot in zip(sent(plots), plots._plots, strict=True):
            assert len(data) == len(plot._handle.series)
            assert len(data[0]) > 10
            assert len(data[0]) <= WINDOW_POINTS + 2


def test_held_plots_stand_still_while_the_simulation_goes_on(studio: Studio) -> None:
    plots = tab(studio)
    studio.loop.call(lambda: passed(studio.session, 1.0))
    studio.loop.call(lambda: (plots.refresh(), plots.toggle_hold()))
    before = sent(plots)[0][0][-1]
    studio.loop.call(lambda: (passed(studio.session, 0.5), plots.refresh()))
    assert sent(plots)[0][0][-1] == before
    studio.loop.call(lambda: (plots.toggle_hold(), plots.refresh()))
    assert sent(plots)[0][0][-1] > before + 0.4


def test_a_portrait_is_drawn_within_a_wider_range(studio: Studio) -> None:
    plots = tab(studio)
    plots._plots[0]._kind.value = plot_tab.BALANCE
    studio.loop.call(lambda: (passed(studio.session, 2.0), plots.reload(), plots.refresh()))
    handle = plots._plots[0]._handle
    low, high = handle.scales["x"]["range"]  # type: ignore[index]
    assert low < handle.data[0].min() < handle.data[0].max() < high


def measured(studio: Studio, setup: Setup, seconds: float) -> str:
    """What the gait card says of a skill after some seconds."""
    card = tab(studio).card
    studio.session.paused = True  # only the frames below are in the timeline, whatever the machine is busy with
    studio.loop.call(lambda: studio.session.rebuild(skill=setup.skill, character=setup.character))
    studio.loop.call(lambda: passed(studio.session, seconds), timeout=200.0)
    card._on.value = True
    for _ in range(2):  # the first one has it measured, the second one shows it
        studio.loop.call(lambda: (setattr(card, "_next", 0.0), card.refresh()))
        card.wait(30.0)
    studio.loop.call(card.refresh)
    return str(card._text.content)


def test_the_gait_card_shows_what_the_last_seconds_measure(studio: Studio) -> None:
    text = measured(studio, SETUPS["human"], gait_panel.SECONDS + 1.0)
    assert text.startswith("A walk")
    rows = {row.name: row for row in card_rows(gait_card(studio.loop.call(lambda: studio.session.motion(6.0))))}
    for name in gait_panel.SHOWN:
        line = next(line for line in text.splitlines() if line.startswith(f"| {rows[name].label} ["))
        assert rows[name].value in line
        assert rows[name].band in line
        assert ("✗" in line) == (rows[name].inside is False)


@pytest.mark.parametrize(("name", "reason"), [("planar", "bodies in space"), ("stand", "no whole stride")])
def test_the_gait_card_says_why_there_is_none(studio: Studio, name: str, reason: str) -> None:
    text = measured(studio, SETUPS[name], 2.0)
    assert text.startswith("No card yet")
    assert reason in text


def test_the_gait_card_of_too_few_moments_says_what_to_do() -> None:
    session = Session(SETUPS["human"])
    for _ in range(60):
        session.step(50)
    assert "Speed of time" in gait_panel.card_text(session.moments(gait_panel.SECONDS))


def test_the_gait_card_measures_nothing_until_it_is_asked_to(studio: Studio) -> None:
    card = tab(studio).card
    studio.loop.call(lambda: (passed(studio.session, 1.0), card.refresh()))
    assert not card.is_measuring
    assert card._text.content == ""
