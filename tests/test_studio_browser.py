"""The studio in a real browser, with mouse and keys, as a person uses it."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from browser import Person, chromium_running, until, visit
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.motions.motion import load as load_motion
from surefoot.skills import load
from surefoot.studio import style_parameters
from surefoot.studio.panels.pose_tab import PoseTab
from surefoot.studio.panels.push_tab import PushTab
from surefoot.studio.panels.style_tab import StyleTab
from surefoot.studio.server import MAX_UPLOAD

pytestmark = pytest.mark.browser
T = TypeVar("T")
PAGE = Path(__file__).parents[1] / "docs" / "studio.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium_running() as found:
        yield found


def panel(person: Person, kind: type[T]) -> T:
    return next(found for found in person.studio._panels if isinstance(found, kind))


# These open pages of their own, and come before the page that stays open: each page takes all there is to draw with.


FIRST_GAIT = (
    "On **Walk**, choose **Skill** walk-as-printed and press **Begin with it**.",
    "On **Poses**, tick **Show the poses**.",
    "Drag the swing knee of figure 0 forward and up; the thigh follows.",
    "Write 0.36 into **Duration (s)**.",
    "Press **Undo**, then **Redo**.",
    "Write my-walk into **Name** and press **Save as**.",
    "Press the key L.",
)


def test_the_first_gait_is_made_as_the_page_tells(browser: Any, folder: Path) -> None:
    text = " ".join(PAGE.read_text().split())
    found = [text.find(step) for step in FIRST_GAIT]
    assert -1 not in found, "the page tells other steps than those that are tested"
    assert found == sorted(found)
    with visit(browser, Setup("human/fast-walk"), folder) as person:
        session, board = person.studio.session, panel(person, PoseTab)._board
        person.tab("Walk")
        person.choose("Skill", "walk-as-printed")
        person.button("Begin with it")
        until(
            lambda: person.ask(lambda: session.sim.skill.full_name) == "human/walk-as-printed",
            "it begins with the walk",
        )
        person.tab("Poses")
        person.tick("Show the poses")
        until(lambda: person.ask(lambda: board.visible), "the poses are shown")
        person.page.wait_for_timeout(1500)
        state = lambda: session.sim.skill.parameters.states[0]  # noqa: E731
        knee = next(h.name for h in board._sticks[0].handles if h.path == "targets.swing_hip")
        spot = lambda: person.pixel(person.ask(lambda: board.handle_scene_position(0, knee)))  # noqa: E731
        lifted = lambda: person.ask(state).targets["swing_hip"] > 0.52  # noqa: E731
        person.drag_until(spot, (10.0, -12.0), lifted, "the thigh goes with the knee")
        person.write("Duration (s)", "0.36")
        until(lambda: person.ask(state).duration == 0.36, "the state lasts longer")
        person.button("Undo")
        until(lambda: person.ask(state).duration == 0.30, "the duration is taken back")
        person.button("Redo")
        until(lambda: person.ask(state).duration == 0.36, "and done again")
        person.write("Name", "my-walk")
        person.button("Save as")
        until((folder / "my-walk.yaml").is_file, "the file is there")
        person.page.keyboard.press("l")
        until(lambda: person.ask(lambda: any(p.stop > 0.0 for p in session.row.pushes)), "it is pushed")
    command = [sys.executable, "-m", "surefoot", "simulate", str(folder / "my-walk.yaml"), "--seconds", "3", "--json"]
    assert '"speed"' in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_a_knot_of_a_style_can_be_dragged(browser: Any, tmp_path: Path) -> None:
    with visit(browser, Setup("biped/sneak", "humanoid"), tmp_path) as person:
        session, found = person.studio.session, panel(person, StyleTab)
        person.tab("Style")
        person.tick("Show curve")
        until(lambda: person.ask(lambda: found._board.visible), "the curve is shown")
        person.page.wait_for_timeout(1500)
        knots = lambda: style_parameters.knots_of(session.sim.skill, found._curve)  # noqa: E731
        before = person.ask(knots)

        def spot() -> tuple[float, float]:
            at = person.ask(lambda: found._board._places(*np.array([knots()[2]]).T)[0])
            return person.pixel(found._board.to_scene((float(at[0]), float(at[1]))))

        lower = lambda: person.ask(knots)[2][1] < before[2][1] - 0.1  # noqa: E731
        person.drag_until(spot, (0.0, 60.0), lower, "the knot follows the mouse")
        person.keep("studio-style")
        assert person.ask(lambda: session.sim.time) > 0.5


@pytest.mark.parametrize("setup", [Setup("human/fast-walk"), Setup("biped/sneak", "humanoid")])
def test_nothing_sticks_out_of_the_panel(browser: Any, setup: Setup, tmp_path: Path) -> None:
    tabs, sizes = ("Walk", "Push", "Poses", "Style", "Body", "Plots", "Record"), ((1280, 800), (1920, 1080))
    with visit(browser, setup, tmp_path) as person:
        for (width, height), tab in itertools.product(sizes, tabs):
            person.page.set_viewport_size({"width": width, "height": height})
            last = person.page.get_by_role("tab", name="Record", exact=True)
            until(lambda: width - 430 < last.bounding_box()["x"] < width, "the panel is at the window's right side")  # noqa: B023
            person.tab(tab)
            person.page.wait_for_timeout(700)
            person.keep(f"tab-{tab.lower()}-{setup.character or 'human'}-{width}")
            outside = person.page.evaluate(
                """() => [...document.querySelectorAll('button, input, label')].filter(e => e.offsetParent)
                .map(e => [e, e.getBoundingClientRect()])
                .filter(([e, r]) => r.width > 0 && (r.right > innerWidth + 1 || r.left < -1))
                .map(([e, r]) => e.outerHTML.slice(0, 80))"""
            )
            assert outside == []
            ends = (person.page.get_by_role("tab", name=t, exact=True).bounding_box()["y"] for t in ("Walk", "Record"))
            assert len(set(ends)) == 1, "all tabs are in one row"


# The rest is done on one page.


@pytest.fixture(scope="module")
def person(browser: Any, folder: Path) -> Iterator[Person]:
    with visit(browser, Setup("human/fast-walk"), folder) as found:
        yield found


def test_it_is_seen_to_walk(person: Person) -> None:
    first, began = person.picture(), person.seconds()
    until(lambda: person.seconds() > began + 1.0, "the time on the page runs")
    until(lambda: (np.abs(person.picture() - first) > 20.0).mean() > 0.002, "the picture changes")
    person.keep("studio")


def test_a_dragged_limb_is_pulled_and_let_go(person: Person) -> None:
    person.tab("Push")
    person.write("Pull at most (N)", "90")
    person.ask(person.studio.session.restart)
    person.page.wait_for_timeout(1000)
    start, mouse = person.body_pixel("head"), person.page.mouse
    mouse.move(*start)
    mouse.down()
    for k in range(1, 6):
        mouse.move(start[0] - 20.0 * k, start[1])
        person.page.wait_for_timeout(80)
    pulls = lambda: [p.fx for p in person.studio.session.row.pushes if p.acting]  # noqa: E731
    until(lambda: min(person.ask(pulls), default=0.0) < -10.0, "it is pulled back, to the left on the screen")
    told = lambda: [label.text for label in panel(person, PushTab).arrows._labels]  # noqa: E731
    until(lambda: any(" N, " in text for text in person.ask(told)), "newtons and direction are told")
    person.keep("studio-drag")
    mouse.up()
    until(lambda: not person.ask(pulls), "it is let go")


def test_keys_push_and_throw(person: Person) -> None:
    person.ask(person.studio.session.restart)
    person.page.keyboard.press("l")
    until(lambda: person.ask(lambda: any(p.stop > 0.0 for p in person.studio.session.row.pushes)), "a key pushes")
    person.page.keyboard.press("b")
    height = lambda: float(person.studio.session.sim.data.body("ball_1").xpos[2])  # noqa: E731
    until(lambda: person.ask(height) < 100.0, "a ball flies")


def test_another_gait_is_switched_to_while_it_walks(person: Person) -> None:
    person.ask(person.studio.session.restart)
    person.tab("Walk")
    person.choose("Skill", "high-knee-walk")
    person.button("Switch while it walks")
    name = lambda: person.studio.session.sim.skill.name  # noqa: E731
    until(lambda: person.ask(name) == "high-knee-walk", "the gait is another")
    until(lambda: "high-knee-walk ·" in person.words, "the page says so")
    assert person.ask(lambda: person.studio.session.sim.time) > 0.0


def test_one_looks_back_and_goes_on_from_there(person: Person) -> None:
    person.ask(person.studio.session.restart)
    session = person.studio.session
    until(lambda: person.ask(lambda: session.sim.time) > 4.0, "there is a past")
    person.write("Look back (s)", "-2")
    until(lambda: person.ask(lambda: session.shown is not None), "a moment of the past is looked at")
    clock, then = person.ask(lambda: (session.clock, session.sim.time))
    assert then < clock
    seen = person.picture()
    person.page.wait_for_timeout(800)
    assert np.abs(person.picture() - seen).mean() < 1.0, "the past stands still"
    person.button("Run from here")
    until(lambda: person.ask(lambda: session.shown is None and not session.paused), "it goes on")
    assert person.ask(lambda: session.clock) < clock + 1.5
    until(lambda: person.ask(lambda: session.sim.time) > then + 0.5, "time runs on from there")


def test_a_handle_changes_the_gait_and_the_file_keeps_it(person: Person, folder: Path) -> None:
    person.tab("Walk")
    person.choose("Skill", "fast-walk")
    person.button("Begin with it")
    person.tab("Poses")
    person.tick("Show the poses")
    session, board = person.studio.session, panel(person, PoseTab)._board
    until(lambda: person.ask(lambda: board.visible), "the poses are shown")
    person.page.wait_for_timeout(1500)
    target = lambda: session.sim.skill.parameters.states[0].targets["swing_hip"]  # noqa: E731
    before, time_before = person.ask(target), person.ask(lambda: session.sim.time)
    knee = next(h.name for h in board._sticks[0].handles if h.path == "targets.swing_hip")
    spot = lambda: person.pixel(person.ask(lambda: board.handle_scene_position(0, knee)))  # noqa: E731
    person.drag_until(spot, (14.0, -18.0), lambda: person.ask(target) > before + 0.05, "the target follows the handle")
    assert person.ask(lambda: session.sim.time) > time_before
    person.keep("studio-poses")
    person.write("Name", "prouder")
    person.button("Save as")
    until((folder / "prouder.yaml").is_file, "the file is there")
    saved = load(folder / "prouder.yaml")
    assert saved.parameters.states[0].targets["swing_hip"] == pytest.approx(person.ask(target), abs=1e-5)
    walked = [Simulation(skill=skill).run(4.0).root_position[-1, 0] for skill in (saved, load("human/fast-walk"))]
    assert abs(walked[0] - walked[1]) > 0.05, "it is another gait"
    person.button("Undo")
    until(lambda: person.ask(target) == before, "and it can be taken back")


def test_a_file_that_is_too_large_is_refused_and_not_called_a_success(person: Person, tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_bytes(b"a" * (MAX_UPLOAD + 1))
    person.tab("Poses")
    person.page.locator("input[type=file]").first.set_input_files(tmp_path / "large.yaml")
    until(lambda: "large.yaml was not taken" in person.words, "the page says so")
    person.page.wait_for_timeout(1000)
    assert "successfully" not in person.words
    assert "Uploading" not in person.words


def test_a_bvh_file_is_written_and_read_again(person: Person, folder: Path) -> None:
    session = person.studio.session
    until(lambda: person.ask(lambda: session.sim.time) > 3.0, "there is something to record")
    person.tab("Record")
    person.write("Last seconds", "2")
    option = next(name for name in person.ask(lambda: _formats()) if ".bvh" in name)
    person.choose("Save as", option)
    person.write("File name", "clip")
    person.button("Save")
    until((folder / "clip.bvh").is_file, "the file is there")
    motion = load_motion(folder / "clip.bvh")
    assert motion.time[-1] - motion.time[0] == pytest.approx(2.0, abs=0.1)
    assert len(motion.skeleton.names) == len(session.sim.scene.table.segments)


def _formats() -> list[str]:
    from surefoot.studio.panels.record_tab import FORMATS

    return list(FORMATS)
