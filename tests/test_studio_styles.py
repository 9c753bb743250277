"""The style editor: knots, dials, gallery, and that a walk follows them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.controllers.genbicon.style import CURVES, KNOTS
from surefoot.errors import SkillError
from surefoot.skills import load, names
from surefoot.studio import style_gallery, style_parameters
from surefoot.studio.boards import axis_ticks
from surefoot.studio.skill_document import SkillDocument
from surefoot.studio.style_gallery import style_names
from surefoot.studio.style_parameters import CURVE_LABELS, GROUPS, labels, slider_specs

pytest.importorskip("viser")
from surefoot.engine.scene import Setup
from surefoot.studio.app import Studio
from surefoot.studio.panels.style_tab import StyleTab
from surefoot.studio.session import Session

LIMITS = (-3.2, 3.2)
NUMBER = st.floats(-3.2, 3.2)
ANYWHERE = st.tuples(st.floats(-1.0, 2.0), st.floats(-9.0, 9.0))


@st.composite
def knots(draw: Any, least: int = 1) -> style_parameters.Knots:
    count = draw(st.integers(least, KNOTS))
    inner = draw(st.lists(st.integers(1, 99), min_size=count, max_size=count, unique=True))
    phases = [p / 100 for p in sorted(inner)]
    if draw(st.booleans()):
        phases[0] = 0.0
    if draw(st.booleans()) and count > 1:
        phases[-1] = 1.0
    return tuple((p, draw(NUMBER)) for p in phases)


def is_sound(found: style_parameters.Knots) -> bool:
    rising = all(b[0] > a[0] for a, b in itertools.pairwise(found))
    inside = all(0.0 <= p <= 1.0 and LIMITS[0] <= v <= LIMITS[1] for p, v in found)
    return rising and inside and 1 <= len(found) <= KNOTS


@given(knots(), st.data(), ANYWHERE)
def test_a_knot_dragged_anywhere_stays_between_its_neighbours_and_limits(
    one: style_parameters.Knots, data: Any, to: tuple[float, float]
) -> None:
    index = data.draw(st.integers(0, len(one) - 1))
    found = style_parameters.move_knot(one, index, to, LIMITS)
    assert is_sound(found)
    assert [k for i, k in enumerate(found) if i != index] == [k for i, k in enumerate(one) if i != index]
    assert found[0][0] == one[0][0]
    assert found[-1][0] == one[-1][0]


@given(knots(), st.data())
def test_a_knot_moved_to_where_it_is_changes_nothing(one: style_parameters.Knots, data: Any) -> None:
    index = data.draw(st.integers(0, len(one) - 1))
    assert style_parameters.move_knot(one, index, one[index], LIMITS) == one


@given(knots(least=3), st.data(), NUMBER)
def test_an_inner_knot_goes_where_there_is_room(one: style_parameters.Knots, data: Any, value: float) -> None:
    index = data.draw(st.integers(1, len(one) - 2))
    low, high = one[index - 1][0] + style_parameters.MIN_KNOT_GAP, one[index + 1][0] - style_parameters.MIN_KNOT_GAP
    if low < high:
        phase = data.draw(st.floats(low, high))
        assert style_parameters.move_knot(one, index, (phase, value), LIMITS)[index] == (phase, value)


@given(knots())
def test_the_curve_goes_through_its_knots(one: style_parameters.Knots) -> None:
    np.testing.assert_allclose(style_parameters.evaluate(one, [p for p, _ in one]), [v for _, v in one], atol=1e-12)


@given(knots())
def test_an_added_knot_lies_on_the_curve_and_leaves_the_others(one: style_parameters.Knots) -> None:
    if len(one) == KNOTS:
        with pytest.raises(SkillError, match="at most 8"):
            style_parameters.add_knot(one, LIMITS)
        return
    found, index = style_parameters.add_knot(one, LIMITS)
    assert is_sound(found)
    assert len(found) == (3 if len(one) == 1 else len(one) + 1)
    assert found[index][1] == pytest.approx(np.clip(style_parameters.evaluate(one, [found[index][0]])[0], *LIMITS))
    assert len(one) == 1 or set(one) < set(found)


@given(knots(least=2), st.data())
def test_a_removed_knot_is_gone_and_the_curve_still_reaches_its_ends(one: style_parameters.Knots, data: Any) -> None:
    found = style_parameters.remove_knot(one, data.draw(st.integers(0, len(one) - 1)))
    assert is_sound(found)
    assert len(found) == len(one) - 1
    assert len(found) == 1 or (found[0][0], found[-1][0]) == (one[0][0], one[-1][0])


def test_the_only_knot_cannot_be_removed() -> None:
    with pytest.raises(SkillError, match="at least one"):
        style_parameters.remove_knot(((0.0, 0.3),), 0)


@given(knots(least=2), st.floats(0.0, 1.0))
def test_a_curve_turned_round_runs_backwards(one: style_parameters.Knots, phase: float) -> None:
    back = style_parameters.reverse(one)
    assert style_parameters.evaluate(back, [1.0 - phase])[0] == pytest.approx(
        style_parameters.evaluate(one, [phase])[0], abs=1e-9
    )
    np.testing.assert_allclose(style_parameters.reverse(back), one, atol=1e-12)


def test_flat_is_the_mean_of_the_curve() -> None:
    rising: style_parameters.Knots = ((0.0, -0.2), (0.5, 0.3), (1.0, 0.8))
    assert style_parameters.flatten(rising)[0][1] == pytest.approx(0.3)
    assert style_parameters.knots_to_yaml(style_parameters.flatten(rising)) == pytest.approx(0.3)


def test_a_curve_that_is_not_told_is_shown_as_the_controller_takes_it() -> None:
    skill = load("biped/zero-walk")
    assert "height" not in skill.parameters.curves
    assert max(v for _, v in style_parameters.knots_of(skill, "height")) == 1.0
    assert style_parameters.knots_of(skill, "neck") == ((0.0, 0.0),)


def test_every_curve_has_a_name_of_its_own_in_one_group() -> None:
    assert sorted(name for group in GROUPS for name in labels(group).values()) == sorted(CURVES)
    assert "Other" not in GROUPS


@given(knots(), st.sampled_from(sorted(CURVE_LABELS)))
def test_the_axis_holds_the_curves_knots_and_zero(one: style_parameters.Knots, name: str) -> None:
    low, high, step = axis_ticks(one, CURVE_LABELS[name], LIMITS)
    shown = [0.0, *(v * CURVE_LABELS[name].unit.factor for _, v in one)]
    assert low <= min(shown) + 1e-9
    assert high >= max(shown) - 1e-9
    assert 2 <= (high - low) / step <= 7.0 + 1e-9


def test_dials_are_the_schemas_numbers_with_its_bounds() -> None:
    parameters = load("biped/sneak").parameters
    found = {dial.field: dial for dial in slider_specs(parameters)}
    floats = {n for n, f in type(parameters).model_fields.items() if f.annotation is float}
    assert set(found) == floats
    assert (found["speed"].low, found["speed"].high) == (-1.5, 2.5)
    for dial in found.values():
        for end in (dial.low, dial.high):
            SkillDocument(load("biped/sneak")).change({dial.field: round(end / dial.factor, 4)})


@pytest.mark.parametrize("character", ["humanoid", "human", "planar"])
def test_the_gallery_has_all_skills_with_curves_and_no_others(character: str) -> None:
    told = {n for n in names(character) if "curves" in type(load(n).parameters).model_fields}
    assert set(style_names(character)) == told
    assert len(told) >= 33 if character != "planar" else not told


def test_pictures_of_different_styles_differ_and_show_a_figure() -> None:
    march, crouch = (style_gallery.simulate_thumbnail(load(f"biped/{name}")) for name in ("march", "crouch"))
    above = slice(0, style_gallery.HEIGHT - 60)
    assert march.shape == (style_gallery.HEIGHT, style_gallery.WIDTH, 3)
    for cell, name in ((march, "march"), (crouch, "crouch")):
        assert (cell[above] != style_gallery.blank_thumbnail(name)[above]).any(axis=2).mean() > 0.05
    assert (march[above] != crouch[above]).any(axis=2).mean() > 0.05


def test_every_style_has_its_picture_and_every_picture_its_style() -> None:
    """If this fails: `python -m surefoot.studio.style_gallery`."""
    wanted = {style_gallery.thumbnail_path(load(name)): name for name in names() if "curves" in told_by(name)}
    assert set(style_gallery.FOLDER.glob("*/*.png")) == set(wanted)
    for path, name in wanted.items():
        cell, empty = style_gallery.load_thumbnail(load(name)), style_gallery.blank_thumbnail(load(name).name)
        assert cell.shape == empty.shape, path
        assert (np.abs(cell.astype(int) - empty) > 60).any(axis=2).mean() > 0.02, path


def test_a_kept_picture_is_the_style_it_is_named_after() -> None:
    march, crouch = (
        style_gallery.simulate_thumbnail(load(f"biped/{name}")).astype(int) for name in ("march", "crouch")
    )
    kept = style_gallery.load_thumbnail(load("biped/crouch")).astype(int)
    assert np.abs(kept - crouch).mean() < 0.3 * np.abs(kept - march).mean()


def test_a_style_without_a_picture_is_shown_by_its_name() -> None:
    unknown = load("biped/walk").model_copy(update={"name": "never-drawn"})
    assert np.array_equal(style_gallery.load_thumbnail(unknown), style_gallery.blank_thumbnail("never-drawn"))


def told_by(name: str) -> set[str]:
    return set(type(load(name).parameters).model_fields)


def walking(skill: str) -> Session:
    """A humanoid that has walked for four seconds."""
    session = Session(Setup(skill=skill, character="humanoid"))
    session.sim.run(4.0)
    return session


def measured(session: Session) -> tuple[float, float]:
    """Over the last two of four more seconds: the mean COM height and the highest place of a foot [m]."""
    sim = session.sim
    motion, data = sim.run(4.0), mujoco.MjData(sim.model)
    assert not sim.fallen
    half, feet, highest = len(motion) // 2, [sim.model.body(f"{side}_foot").id for side in ("left", "right")], 0.0
    for qpos in motion.qpos[half:]:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(sim.model, data)
        highest = max(highest, float(data.xpos[feet, 2].max()))
    return float(motion.com[half:, 2].mean()), highest


# Measured on the ordinary walk: −0.6 lowers the body by 2 mm only, −0.9 by 38 mm.
@pytest.mark.parametrize(("style", "knee"), [("biped/zero-walk", -0.6), ("biped/walk", -0.9)])
def test_bent_stance_knees_lower_the_body_within_four_seconds(style: str, knee: float) -> None:
    session, document = walking(style), SkillDocument(load(style))
    session.edit_skill(document.change({"curves.stance_knee": knee}))
    assert measured(session)[0] < measured(walking(style))[0] - 0.02


def test_a_larger_step_height_raises_the_swing_foot_and_undo_lowers_it_again() -> None:
    session, document = walking("biped/walk"), SkillDocument(load("biped/walk"))
    before = measured(walking("biped/walk"))[1]
    session.edit_skill(document.change({"step_height": 0.2}))
    raised = measured(session)[1]
    session.edit_skill(document.undo())
    assert raised > before + 0.05
    assert measured(session)[1] < raised - 0.05


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Studio, StyleTab]]:
    studio = Studio(Setup(skill="biped/sneak", character="humanoid"), port=0, folder=tmp_path)
    yield studio, tab(studio)
    studio.stop()


def tab(studio: Studio) -> StyleTab:
    return next(panel for panel in studio._panels if isinstance(panel, StyleTab))


@pytest.mark.parametrize(
    ("skill", "character"), [("planar/walk", None), ("human/fast-walk", None), ("biped/stand", "humanoid")]
)
def test_the_tab_serves_any_skill_in_any_order(
    opened: tuple[Studio, StyleTab], skill: str, character: str | None
) -> None:
    studio, panel = opened
    told = "curves" in type(load(skill).parameters).model_fields
    panel._shown.value = True
    studio.loop.call(lambda: studio.session.rebuild(skill=skill, character=character))
    for _ in range(2):
        studio.loop.call(panel.reload)
        studio.loop.call(panel.refresh)
    assert all(folder.visible == told for folder in panel._editor)
    assert panel._board.visible == told
    assert panel._gallery._folder.visible == (load(skill).character != "planar")
    studio.loop.call(lambda: studio.session.rebuild(skill="biped/sneak", character="humanoid"))
    studio.loop.call(panel.reload)
    studio.loop.call(panel.refresh)
    assert all(folder.visible for folder in panel._editor)


def test_a_drag_is_walked_at_once_and_taken_back_as_one(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened
    before = studio.session.sim.skill

    def act() -> None:
        panel.choose("swing_shoulder")
        for part, value in (("start", 0.9), ("update", 1.3), ("end", 1.4)):
            panel.drag(2, (0.6, value), part)

    studio.loop.call(act)
    assert studio.session.sim.skill.parameters.curves["swing_shoulder"][2] == (0.6, 1.4)
    studio.loop.call(lambda: panel._keeping.undo())
    assert studio.session.sim.skill == before


def test_mirror_takes_the_other_arms_curve_backwards(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened

    def act() -> None:
        panel.choose("stance_shoulder")
        panel.drag(0, (0.0, 2.0), "end")
        panel.choose("swing_shoulder")
        panel.press("Mirror other side")

    studio.loop.call(act)
    found = studio.session.sim.skill.parameters.curves
    assert found["swing_shoulder"][-1] == (1.0, 2.0)
    np.testing.assert_allclose(
        style_parameters.reverse(tuple(found["stance_shoulder"])), found["swing_shoulder"], atol=1e-4
    )


def test_knots_are_added_and_removed_and_a_curve_made_flat(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened

    def press(*buttons: str) -> Any:
        panel.choose("neck")
        for button in buttons:
            panel.press(button)
        return studio.session.sim.skill.parameters.curves["neck"]

    assert studio.loop.call(lambda: press("Add knot")) == [(0.0, -0.1), (0.5, -0.1), (1.0, -0.1)]
    assert studio.loop.call(lambda: press("Remove knot")) == [(0.0, -0.1), (1.0, -0.1)]
    assert studio.loop.call(lambda: press("Flat")) == -0.1


def test_lean_bends_the_whole_trunk_forward(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened
    before = studio.session.sim.skill.parameters.curves
    studio.loop.call(lambda: panel.set_posture("Lean (°)", 45.0))
    after = studio.session.sim.skill.parameters.curves
    assert after["upper_back"] == pytest.approx(-np.pi / 4, abs=1e-3)
    assert after["pelvis"] == pytest.approx(
        before["pelvis"] + 0.3 * (after["upper_back"] - before["upper_back"]), abs=1e-3
    )


def test_a_style_is_taken_while_walking_on(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened

    def act() -> Any:
        studio.session.paused = True
        studio.session.step(1500)
        sim, panel_time = studio.session.sim, studio.session.sim.time
        panel.switch_style("biped/march")
        studio.session.step(2000)
        return sim is studio.session.sim, studio.session.sim.time > panel_time, studio.session.sim.skill.full_name

    assert studio.loop.call(act) == (True, True, "biped/march")


def test_a_style_is_begun_anew_by_a_body_that_walks_otherwise(opened: tuple[Studio, StyleTab]) -> None:
    studio, panel = opened

    def act() -> Any:
        studio.session.rebuild(skill="human/fast-walk", character=None)
        panel.switch_style("biped/march")
        sim = studio.session.sim
        return sim.skill.full_name, sim.scene.table.name

    assert studio.loop.call(act) == ("biped/march", "human")
