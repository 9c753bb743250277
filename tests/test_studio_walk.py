"""The play panel and the walk tab: what a person does there reaches the simulation, and what happens is shown."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SurefootError, TerrainError
from surefoot.skills import names
from surefoot.studio.app import Studio
from surefoot.studio.panels.playback import PlaybackPanel, status
from surefoot.studio.panels.walk_tab import (
    WalkTab,
    command_value,
    parse_description,
    short_names,
    slider_limits,
    slider_step,
)
from surefoot.studio.session import Session
from surefoot.terrains import names as terrains
from surefoot.terrains import parameters

Opened = Callable[..., Studio]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Studios nobody looks at, with time standing still."""
    found: list[Studio] = []

    def build(skill: str, character: str | None = None, terrain: str = "flat") -> Studio:
        studio = Studio(Setup(skill, character, terrain), port=0, folder=tmp_path)
        found.append(studio)
        studio.loop.call(lambda: setattr(studio.session, "paused", True))
        return studio

    yield build
    for studio in found:
        studio.stop()


def panel(studio: Studio, kind: type[Any]) -> Any:
    """The panel of a kind."""
    return next(found for found in studio._panels if isinstance(found, kind))


def shown(studio: Studio) -> None:
    """Wait until the panels have shown the present moment."""
    count = 0

    def counted(_: float) -> None:
        nonlocal count
        count += 1

    draw = studio.loop._draw
    studio.loop.call(lambda: setattr(studio.loop, "_draw", lambda now: (draw(now), counted(now))))
    until = time.monotonic() + 1800.0
    while count < 15 and time.monotonic() < until:
        time.sleep(0.02)
    studio.loop.call(lambda: setattr(studio.loop, "_draw", draw))


@pytest.mark.parametrize(
    ("skill", "character"),
    [("planar/walk", None), ("human/fast-walk", None), ("biped/sneak", "humanoid"), ("biped/stand", "ape"),
     ("planar/back-flip", None), ("stepper/stand", None), ("human19/march", None)],
)  # fmt: skip
def test_there_is_a_slider_for_every_command_of_the_skill_and_no_other(
    opened: Opened, skill: str, character: str | None
) -> None:
    studio = opened(skill, character)
    shown(studio)
    steering = panel(studio, WalkTab).steering
    sim = studio.session.sim
    assert list(steering._sliders) == list(sim.skill.commands)
    assert steering._none.visible == (not sim.skill.commands)


def test_another_body_and_another_ground_are_shown_after_a_rebuild(opened: Opened) -> None:
    studio = opened("planar/walk")
    walk = panel(studio, WalkTab)
    for skill, character, terrain in (
        ("human/walk-as-printed", "human", "slope:5"), ("biped/march", "robot", "bumps:3,0.02"),
        ("planar/run", "planar", "flat"),
        ("stepper/walk", "stepper", "gaps:0.2"), ("stepper/stand", "stepper", "platform:10"),
    ):  # fmt: skip
        studio.loop.call(
            lambda s=skill, c=character, t=terrain: studio.session.rebuild(skill=s, character=c, terrain=t)  # type: ignore[misc]
        )
        shown(studio)
        assert list(walk.steering._sliders) == list(studio.session.sim.skill.commands)
        assert walk.skills._known[walk.skills._list.value] == skill
        assert set(walk.skills._known.values()) == set(names(character))
        assert walk.ground._kind.value == terrain.partition(":")[0]


@pytest.mark.parametrize(
    ("skill", "character", "name", "written"),
    [("biped/sneak", "humanoid", "heading", 37.0), ("biped/sneak", "humanoid", "speed", 0.75),
     ("human/fast-walk", "human", "sideways", -12.0), ("planar/walk", None, "lean", -6.0),
     ("stepper/stand", None, "crouch", 0.85), ("stepper/stand", None, "pull", 60.0),
     ("stepper/walk", None, "speed", 0.3), ("human19/march", None, "tilt", 0.05)],
)  # fmt: skip
def test_what_a_slider_says_reaches_the_simulation_and_is_shown_and_let_go_again(
    opened: Opened, skill: str, character: str | None, name: str, written: float
) -> None:
    studio = opened(skill, character)
    shown(studio)
    steering, sim = panel(studio, WalkTab).steering, studio.session.sim
    kit, label = sim.scene.controller(sim.skill), name.replace("_", " ")
    own = studio.loop.call(lambda: command_value(sim, name))
    assert own != written
    studio.loop.call(lambda: steering.set_command(name, written))
    told = studio.loop.call(lambda: kit.get_command(sim.memory, sim.skill, name))
    assert told == pytest.approx(math.radians(written) if kit.commands[name].unit == "°" else written)
    shown(studio)
    assert steering._sliders[name].value == pytest.approx(written, abs=steering._sliders[name].step)
    assert label in steering._release.options
    studio.loop.call(lambda: steering.clear_command(label))
    shown(studio)
    assert kit.get_command(sim.memory, sim.skill, name) is None
    assert not steering._release.visible
    assert steering._sliders[name].value == pytest.approx(own, abs=steering._sliders[name].step)


def test_a_person_moving_a_slider_tells_the_simulation(opened: Opened) -> None:
    studio = opened("biped/sneak", "humanoid")
    shown(studio)
    slider = panel(studio, WalkTab).steering._sliders["step_width"]

    class Event:
        client, target = object(), slider

    slider._impl.value = 0.3
    slider._impl.update_cb[0](Event())
    sim = studio.session.sim
    kit = sim.scene.controller(sim.skill)
    assert studio.loop.call(lambda: kit.get_command(sim.memory, sim.skill, "step_width")) == 0.3


def test_turning_by_keys_goes_round_at_half_a_turn(opened: Opened) -> None:
    studio = opened("biped/walk", "humanoid")
    steering, sim = panel(studio, WalkTab).steering, studio.session.sim
    for _ in range(13):
        studio.loop.call(lambda: steering.turn(15.0))
    assert command_value(sim, "heading") == pytest.approx(-165.0)
    planar = opened("planar/walk")
    planar.loop.call(lambda: panel(planar, WalkTab).steering.turn(15.0))  # it cannot turn, and nothing happens


def test_a_released_command_leaves_no_trace() -> None:
    one, other = (Simulation("humanoid", "biped/sneak") for _ in range(2))
    kit = one.scene.controller(one.skill)
    for name in one.skill.commands:
        one.command(**{name: 0.3 if name != "stop" else 1.0})
        assert kit.get_command(one.memory, one.skill, name) is not None
        kit.clear_command(one.memory, one.skill, name)
        assert kit.get_command(one.memory, one.skill, name) is None
    one.step(500)
    other.step(500)
    assert (one.data.qpos == other.data.qpos).all()


def test_a_waiting_switch_is_shown_until_it_happens(opened: Opened) -> None:
    studio = opened("human/walk-as-printed")
    choice = panel(studio, WalkTab).skills
    studio.loop.call(lambda: choice.press("Switch while it walks", "fast-walk"))
    shown(studio)
    assert choice._waiting.visible
    assert "fast-walk" in choice._waiting.content
    assert "fast-walk" in studio.loop.call(lambda: status(studio.session))
    for _ in range(200):
        studio.loop.call(lambda: studio.session.step(20))
        if studio.loop.call(lambda: studio.session.sim.requested) is None:
            break
    shown(studio)
    assert studio.session.sim.skill.name == "fast-walk"
    assert not choice._waiting.visible
    assert choice._list.value == "fast-walk"


def test_number_keys_switch_to_the_first_skills_of_the_list(opened: Opened) -> None:
    studio = opened("biped/walk", "humanoid")
    shown(studio)
    choice = panel(studio, WalkTab).skills
    third = list(choice._known.values())[2]
    studio.loop.call(lambda: choice.switch_to(2))
    assert studio.session.sim.requested is not None
    assert studio.session.sim.requested.full_name == third
    assert choice._commands[2].label.endswith(third.partition("/")[2])
    assert f"**3** {third.partition('/')[2]}" in choice._keys.content


def test_a_switch_that_cannot_be_done_says_what_can(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = opened("human/walk-as-printed")
    shown(studio)
    choice = panel(studio, WalkTab).skills

    def refuse(skill: str) -> None:
        raise CommandError(f"skill {skill} has no room")

    monkeypatch.setattr(studio.session.sim, "switch", refuse)
    with pytest.raises(CommandError, match=r"no room.*Begin with it"):
        studio.loop.call(lambda: choice.press("Switch while it walks", "sneak"))
    assert studio.session.sim.requested is None


def test_beginning_with_a_skill_of_any_biped_keeps_the_body(opened: Opened) -> None:
    studio = opened("human/walk-as-printed")
    shown(studio)
    studio.loop.call(lambda: panel(studio, WalkTab).skills.press("Begin with it", "sneak"))
    assert studio.session.sim.skill.full_name == "biped/sneak"
    assert studio.session.sim.scene.table.name == "human"


def test_switching_to_a_skill_with_other_commands_changes_the_sliders(opened: Opened) -> None:
    studio = opened("human/walk-as-printed")
    shown(studio)
    walk = panel(studio, WalkTab)
    keys = walk.skills._keys.content
    studio.loop.call(lambda: walk.skills.press("Switch while it walks", "sneak"))
    for _ in range(400):
        studio.loop.call(lambda: studio.session.step(20))
        if studio.loop.call(lambda: studio.session.sim.requested) is None:
            break
    shown(studio)
    assert studio.session.sim.skill.full_name == "biped/sneak"
    assert list(walk.steering._sliders) == list(studio.session.sim.skill.commands)
    assert walk.skills._list.value == "sneak"
    assert walk.skills._keys.content == keys  # the same key means the same skill


def test_skills_of_one_name_are_told_apart() -> None:
    found = short_names(names("human"), "human")
    assert set(found.values()) == set(names("human"))
    assert found["walk"] == "human/walk"
    assert found["walk (biped)"] == "biped/walk"
    assert next(iter(found.values())).startswith("human/")
    assert short_names(names("ape"), "ape")["walk"] == "biped/walk"


@pytest.mark.parametrize("kind", terrains())
def test_every_kind_of_ground_can_be_put_there_as_it_is_offered(opened: Opened, kind: str, tmp_path: Path) -> None:
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (20, 20)).astype(np.uint8)).save(tmp_path / "hills.png")
    studio = opened("biped/walk", "humanoid")
    choice = panel(studio, WalkTab).ground
    studio.loop.call(lambda: choice.show_kind(kind))
    assert list(choice._fields) == [parameter.name for parameter in parameters(kind)]
    studio.loop.call(choice.apply_terrain)
    description = studio.session.sim.scene.terrain.description
    assert description.partition(":")[0] == kind
    offered = {name: field.value for name, field in choice._fields.items()}
    for name, value in parse_description(description).items():
        if name != "path":
            assert value == pytest.approx(offered[name]) if not isinstance(value, str) else value == offered[name]


def test_angles_of_the_ground_are_degrees_and_the_running_skill_goes_on_it(opened: Opened) -> None:
    studio = opened("human/walk-as-printed")
    choice, session = panel(studio, WalkTab).ground, studio.session
    studio.loop.call(lambda: panel(studio, WalkTab).skills.press("Begin with it", "fast-walk"))
    studio.loop.call(lambda: choice.show_kind("incline"))
    choice._fields["angle"].value = 3.0
    studio.loop.call(choice.apply_terrain)
    assert float(session.sim.scene.terrain.height(2.0)) == pytest.approx(2.0 * math.tan(math.radians(3.0)))
    assert session.sim.skill.full_name == "human/fast-walk"


@pytest.mark.parametrize("path", ["../hills.png", "/etc/passwd", "a/../../b.png"])
def test_pictures_outside_the_folder_are_refused(opened: Opened, path: str) -> None:
    studio = opened("planar/walk")
    choice, before = panel(studio, WalkTab).ground, studio.session.sim
    studio.loop.call(lambda: choice.show_kind("image"))
    choice._fields["path"].value = path
    with pytest.raises(TerrainError, match="lies in"):
        studio.loop.call(choice.apply_terrain)
    assert studio.session.sim is before


def test_a_ground_that_cannot_be_built_changes_nothing(opened: Opened) -> None:
    studio = opened("planar/walk")
    choice, before = panel(studio, WalkTab).ground, studio.session.sim
    studio.loop.call(lambda: choice.show_kind("slope"))
    choice._fields["angle"].value = 80.0
    with pytest.raises(SurefootError, match="45"):
        studio.loop.call(choice.apply_terrain)
    assert studio.session.sim is before


def test_play_shows_how_far_back_one_looks_and_offers_no_more_than_there_is(opened: Opened) -> None:
    studio = opened("planar/walk")
    play, session = panel(studio, PlaybackPanel), studio.session
    for _ in range(70):
        studio.loop.call(lambda: session.step(200))
    shown(studio)
    assert session.timeline.span <= -play._ago.min < session.timeline.span + 5.0
    studio.loop.call(lambda: session.look_back(3.0))
    shown(studio)
    assert "looking back **3." in play._status.content
    assert play._ago.value == pytest.approx(-3.0, abs=0.2)
    assert play._run.label == "Run from here"
    studio.loop.call(play.toggle)
    studio.loop.call(play.toggle)
    shown(studio)
    assert play._ago.value == 0.0
    assert "paused" in play._status.content


def test_step_stops_time_and_goes_on_by_a_frame(opened: Opened) -> None:
    studio = opened("planar/walk")
    play, session = panel(studio, PlaybackPanel), studio.session
    studio.loop.call(play.toggle)
    assert not session.paused
    studio.loop.call(lambda: play.press("Step"))
    now = session.sim.time
    assert session.paused
    studio.loop.call(lambda: play.press("Step"))
    assert session.sim.time - now == pytest.approx(1.0 / 60.0, abs=1e-3)
    with pytest.raises(CommandError, match="valid"):
        studio.loop.call(lambda: play.press("Jump"))


def test_a_fall_is_said_and_the_way_back_is_offered(opened: Opened) -> None:
    studio = opened("planar/walk")
    play, session = panel(studio, PlaybackPanel), studio.session
    studio.loop.call(lambda: session.step(3000))
    studio.loop.call(lambda: session.sim.push((900.0, 0.0, 0.0), 0.4))
    for _ in range(20):
        studio.loop.call(lambda: session.step(400))
    shown(studio)
    assert "fell at" in play._status.content
    assert "Before the fall" in play._buttons.options
    studio.loop.call(lambda: play.press("Before the fall"))
    assert not session.sim.fallen


def test_commands_are_written_in_degrees_and_taken_in_radians() -> None:
    sim = Simulation("human", "human/walk-as-printed")
    controller = sim.scene.controller(sim.skill)
    lean, heading, speed = (controller.commands[name] for name in ("lean", "heading", "speed"))
    assert lean.from_written("lean", 12.0) == pytest.approx(math.radians(12.0))
    assert lean.to_written(lean.from_written("lean", 12.0)) == pytest.approx(12.0)
    assert heading.to_written(3.5) == pytest.approx(math.degrees(3.5) - 360.0)
    assert speed.from_written("speed", 1.3) == speed.to_written(1.3) == 1.3
    with pytest.raises(CommandError, match="degrees"):
        lean.from_written("lean", 60.0)
    for name in sim.skill.commands:
        for value in slider_limits(controller.commands[name]):
            sim.command(**{name: controller.commands[name].from_written(name, value)})


def test_every_command_of_every_body_has_a_unit_and_round_steps() -> None:
    for character, skill in (("planar", "walk"), ("human", "walk-as-printed"), ("humanoid", "biped/walk")):
        for kit in Session(Setup(skill, character)).sim.scene.controllers.values():
            assert all(command.low < command.high for command in kit.commands.values())
            for command in kit.commands.values():
                low, high = slider_limits(command)
                assert low < high
                step = slider_step(low, high)
                assert f"{step:.0e}"[0] in "125"
                assert 60 <= (high - low) / step <= 160


@pytest.mark.parametrize("value", ["image:/etc/x.png,2,1", "../flat", "", "swamp"])
def test_a_ground_that_was_not_offered_is_refused(value: str, tmp_path: Path) -> None:
    studio = Studio(Setup("planar/walk"), port=0, folder=tmp_path)
    try:
        ground = next(p for p in studio._panels if isinstance(p, WalkTab)).ground
        sim = studio.loop.call(lambda: studio.session.sim)
        with pytest.raises(CommandError, match=r"valid: .*flat"):
            studio.loop.call(lambda: ground.show_kind(value))
        ground._kind.value = value  # as a page of ill will sends it
        with pytest.raises(CommandError, match=r"valid: .*flat"):
            studio.loop.call(ground.apply_terrain)
        assert studio.loop.call(lambda: studio.session.sim) is sim
    finally:
        studio.stop()
