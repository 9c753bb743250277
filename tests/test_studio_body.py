"""The Body tab: knobs and proportions, live changes, going back to before them, other characters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from imported_bodies import Body as Stranger
from surefoot import characters
from surefoot.characters import load
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, SurefootError
from surefoot.studio.app import Studio
from surefoot.studio.panels.body_tab import (
    PRESETS,
    BodyTab,
    body_parts,
    measure_body,
    part_size,
    per_side_multipliers,
    preset_for,
    shortest_proportions,
    symmetric,
)
from surefoot.studio.session import Session

HUMANOID = Setup("biped/zero-walk", "humanoid")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(HUMANOID, port=0, folder=tmp_path)
    yield made
    made.stop()


SKILLS = {"planar": "planar/walk", "planar_arms": "planar_arms/stylized-stand"}  # of bodies that are not in space


def body_of(studio: Studio) -> BodyTab:
    return next(panel for panel in studio._panels if isinstance(panel, BodyTab))


def walked(session: Session, seconds: float) -> None:
    for _ in range(round(seconds * 60.0)):
        session.step_frame()


@pytest.mark.parametrize("name", [name for name in characters() if load(name).multipliers])
def test_knobs_say_the_same_as_the_proportions_they_come_from(name: str) -> None:
    table = load(name)
    said = {"thigh_length": 1.1, "left_thigh_length": 0.9, "right_shin_mass": 1.3, "foot_length": 1.2, "mass": 0.8}
    again = shortest_proportions(table, per_side_multipliers(table, said))
    skill = SKILLS.get(name, "biped/zero-walk")
    one, other = (Simulation(name, skill, proportions=p).model for p in (said, again))
    for array in ("body_mass", "body_pos", "geom_size", "actuator_forcerange"):
        assert np.allclose(getattr(one, array), getattr(other, array), rtol=1e-12), array
    assert per_side_multipliers(table, again) == per_side_multipliers(table, said)


def test_every_multiplier_has_its_knob() -> None:
    table = load("humanoid")
    names = {part.name for part in body_parts(table)} | {
        f"{s}_{p.name}" for p in body_parts(table) for s in p.sides if s
    }
    assert names == set(table.multipliers)


def test_both_sides_alike_takes_the_mean() -> None:
    table = load("humanoid")
    values = symmetric(table, per_side_multipliers(table, {"left_thigh_length": 0.9, "right_thigh_length": 1.2}))
    assert shortest_proportions(table, values) == {"thigh_length": 1.05}


def test_sizes_are_those_of_the_table() -> None:
    table = load("humanoid")
    by_name = {part.name: part for part in body_parts(table)}
    assert part_size(table, by_name["thigh"], "left", "length") == pytest.approx(0.42)
    assert part_size(table, by_name["leg"], "right", "length") == pytest.approx(0.84)
    assert part_size(table, by_name["leg"], "right", "mass") == pytest.approx(7.6 + 3.5)
    assert part_size(table, by_name["torso"], "", "mass") == pytest.approx(36.5)


def test_facts_are_measured_in_the_body_as_it_is() -> None:
    plain = measure_body(Simulation("humanoid", "biped/zero-walk").scene)
    grown = measure_body(
        Simulation("humanoid", "biped/zero-walk", proportions={"left_thigh_length": 1.1, "mass": 2.0}).scene
    )
    assert plain.mass == pytest.approx(73.5)
    assert plain.height == pytest.approx(1.75, abs=0.02)
    assert plain.legs == pytest.approx((0.92, 0.92))
    assert grown.legs == pytest.approx((0.962, 0.92))
    assert grown.height == pytest.approx(plain.height + 0.042)
    assert grown.mass == pytest.approx(2.0 * plain.mass)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_presets_walk_from_the_start_and_when_they_come_while_walking(name: str) -> None:
    table = load("humanoid")
    fresh = Simulation("humanoid", "biped/zero-walk", proportions=preset_for(table, name))
    live = Simulation("humanoid", "biped/zero-walk")
    live.step(3000)
    live = live.with_proportions(preset_for(table, name))
    for sim in (fresh, live):
        start = sim.data.qpos[0]
        sim.step(20_000)
        assert not sim.fallen, sim.fall_cause
        assert sim.data.qpos[0] - start > 6.0
        sim = sim.with_proportions({})
        sim.step(5000)
        assert not sim.fallen, sim.fall_cause


@pytest.mark.parametrize("name", [name for name in characters() if load(name).multipliers])
def test_presets_fit_every_character(name: str) -> None:
    skill = SKILLS.get(name, "biped/zero-walk")
    for one in PRESETS:
        Simulation(name, skill, proportions=preset_for(load(name), one))


def test_a_preset_is_told_by_parts_where_a_body_has_no_whole() -> None:
    assert preset_for(load("humanoid"), "One long arm") == {"right_arm_length": 1.6}
    assert preset_for(load("human"), "One long arm") == {"right_upper_arm_length": 1.6, "right_lower_arm_length": 1.6}
    assert preset_for(load("planar"), "One long arm") == {}


def test_after_a_change_one_can_go_back_to_before_it_and_on_with_the_old_body() -> None:
    session = Session(HUMANOID)
    walked(session, 2.0)
    before = session.sim
    session.reshape({"thigh_length": 1.1})
    clock = session.clock
    walked(session, 1.0)
    assert session.clock == pytest.approx(clock + 1.0, abs=0.05)
    assert session.setup.proportions == {"thigh_length": 1.1}
    session.look_back(1.5)
    assert session.sim is before
    assert session.setup.proportions == {}
    session.play()
    walked(session, 0.5)
    assert session.sim is before
    expected = Session(HUMANOID)
    expected.sim.step(round(session.sim.time / session.sim.model.opt.timestep))
    assert np.array_equal(session.sim.snapshot().state, expected.sim.snapshot().state)


def test_a_change_while_looking_back_goes_on_from_there() -> None:
    session = Session(HUMANOID)
    walked(session, 2.0)
    session.look_back(1.0)
    time_then = session.sim.time
    session.reshape({"arm_length": 1.2})
    assert session.shown is None
    assert session.sim.time == time_then
    assert session.timeline.span == pytest.approx(1.0, abs=0.05)


def test_a_long_pull_at_a_slider_does_not_forget_the_minute_before() -> None:
    session = Session(HUMANOID)
    walked(session, 2.0)
    for i in range(30):
        session.reshape({"thigh_length": 1.0 + 0.005 * i})
        session.step_frame()
    session.look_back(2.3)
    assert session.sim.scene.setup.proportions == {}


def test_a_change_that_cannot_be_changes_nothing() -> None:
    session = Session(HUMANOID)
    walked(session, 0.5)
    session.look_back(0.2)
    sim, shown = session.sim, session.shown
    with pytest.raises(CharacterError):
        session.reshape({"thigh_length": 7.0})
    assert (session.sim, session.shown) == (sim, shown)
    assert session.setup == HUMANOID


def test_restart_keeps_the_proportions() -> None:
    session = Session(HUMANOID)
    session.reshape({"chest_mass": 1.5})
    session.restart()
    assert session.sim.scene.setup.proportions == {"chest_mass": 1.5}
    assert session.sim.time == 0.0


def test_the_last_move_of_a_burst_is_what_the_body_gets(studio: Studio) -> None:
    panel, built = body_of(studio), []
    reshape = studio.session.reshape

    def counted(proportions: dict[str, float]) -> None:
        built.append(proportions)
        reshape(proportions)

    def burst() -> None:
        studio.session.reshape = counted  # type: ignore[assignment,method-assign]
        for i in range(1, 51):
            panel._move({"left_thigh_length": 1.0 + 0.004 * i, "right_thigh_length": 1.0 + 0.004 * i})

    studio.loop.call(burst)
    until = time.monotonic() + 1800.0
    while studio.loop.call(lambda: studio.session.sim.scene.setup.proportions) != {"thigh_length": 1.2}:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert len(built) < 25
    assert not studio.session.sim.fallen


@pytest.mark.parametrize(
    "setup",
    [Setup("planar/walk"), Setup("human/fast-walk"), Setup("biped/sneak", "humanoid"), Setup("stand", "human")],
    ids=lambda setup: str(setup.skill),
)
def test_the_tab_shows_any_body(setup: Setup, tmp_path: Path) -> None:
    studio = Studio(setup, port=0, folder=tmp_path)
    try:
        panel = body_of(studio)
        studio.loop.call(lambda: (panel.reload(), panel.refresh()))
        assert len(panel._sliders) == sum(
            2 * (3 if part.sides[0] else 1) for part in body_parts(studio.session.sim.scene.table)
        )
        assert panel._who.value == studio.session.sim.scene.table.name
        assert "kg" in panel._facts.content
        studio.loop.call(lambda: studio.session.reshape({"left_thigh_length": 1.1}))
        studio.loop.call(lambda: (panel.reload(), panel.refresh()))
        assert not panel._even.value
        shown = {(p.name, side): h.value for p, side, what, h in panel._sliders if what == "length"}
        assert shown["thigh", "left"] == pytest.approx(1.1)
        assert shown["thigh", "right"] == 1.0
    finally:
        studio.stop()


def test_presets_and_reset_move_the_sliders(studio: Studio) -> None:
    panel = body_of(studio)
    for name, even in (("One long arm", False), ("Giant", True), ("One heavy leg", False), ("As designed", True)):
        studio.loop.call(lambda name=name: (panel._take(name), panel.reload(), panel.refresh()))  # type: ignore[misc]
        assert panel._preset.value == name
        assert panel._even.value == even
        values = per_side_multipliers(studio.session.sim.scene.table, studio.session.sim.scene.setup.proportions)
        for part, side, what, handle in panel._sliders:
            assert handle.value == values[part.multiplier_name(side or part.sides[0], what)]
            assert handle.visible == (not part.sides[0] or bool(side) != even)


def test_a_figure_that_only_grew_keeps_its_place_on_the_page(studio: Studio) -> None:
    studio.loop.call(lambda: studio.stage.draw(studio.session))
    figure = studio.stage._figure
    studio.loop.call(lambda: (studio.session.reshape({"leg_length": 1.2}), studio.stage.draw(studio.session)))
    assert studio.stage._figure is figure
    assert figure is not None
    for found, node in figure._parts:
        assert np.allclose(node.batched_scales, found.scale, atol=1e-6)
    studio.loop.call(lambda: (studio.session.rebuild(character="ape"), studio.stage.draw(studio.session)))
    assert studio.stage._figure is not figure


def test_another_character_keeps_the_skill_it_can_do_and_else_gets_one_of_its_own(studio: Studio) -> None:
    panel = body_of(studio)
    for name, skill in (("ape", "biped/zero-walk"), ("planar", "planar/walk"), ("humanoid", "biped/zero-walk")):
        studio.loop.call(lambda name=name: panel._choose(name))  # type: ignore[misc]
        assert studio.session.sim.scene.table.name == name
        assert studio.session.sim.skill.full_name == skill


def test_a_stranger_walks_and_hides_its_sliders(studio: Studio) -> None:
    panel = body_of(studio)
    (studio.folder / "mine.xml").write_text(Stranger().mjcf())
    studio.loop.call(lambda: panel._load("mine.xml"))
    studio.loop.call(lambda: (panel.reload(), panel.refresh()))
    assert not panel._lengths.visible
    assert not panel._sliders
    assert "file" in panel._facts.content
    with pytest.raises(CharacterError, match="file"):
        studio.loop.call(lambda: studio.session.reshape({"thigh_length": 1.1}))
    studio.loop.call(lambda: panel._choose("humanoid"))
    studio.loop.call(lambda: (panel.reload(), panel.refresh()))
    assert panel._lengths.visible
    assert panel._sliders


def test_a_file_outside_the_folder_is_refused(studio: Studio) -> None:
    with pytest.raises(SurefootError):
        studio.loop.call(lambda: body_of(studio)._load("../mine.xml"))
