"""Styles of walking: files of curves that join, walk on any side first, and can be told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from human_body import other_side
from surefoot.characters.table import SAGITTAL
from surefoot.controllers.genbicon.parameters import GenbiconParameters
from surefoot.controllers.genbicon.style import CURVES, NUMBERS, curve_at, slot_size, style_of, write_slot
from surefoot.engine.scene import Scene
from surefoot.lab.figures import contact_sheet
from surefoot.lab.gait_measures import leg_clearance, measure_gait
from surefoot.lab.reproduce.genbicon.styles import Style, styles, told_apart
from surefoot.native.kernels import python_impl
from surefoot.skills import BIPED, load, names, with_parameters
from surefoot.skills.schema import Skill
from test_genbicon_parts import python

BODY = "humanoid"
FILES = [load(name) for name in names() if name.startswith(f"{BIPED}/") and name != f"{BIPED}/careful-walk"]  # no style
WALKS = styles()
GAIT = {"speed", "step_time", "step_width", "step_height", "knee_twist", "toe_out", "walks", "settle"}
LANDING = np.linspace(0.65, 1.0, 8)  # phases at which a foot may come down
IDS = [skill.name for skill in FILES]


def curve(skill: Skill, name: str, phase: float) -> float:
    """A curve as the law reads it."""
    slot = np.zeros(slot_size())
    write_slot(slot, skill)
    return float(python(curve_at)(python_impl(style_of)(slot).curves[CURVES.index(name)], phase))


def mirrored(scene: Scene, qpos: np.ndarray) -> np.ndarray:
    """A posture reflected at the plane of x and z."""
    image, table = qpos.copy(), scene.table
    image[:7] *= (1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
    for joint, hinge in table.hinges.items():
        sign = -1.0 if joint in table.anatomy.middle and hinge.plane != SAGITTAL else 1.0
        here, there = scene.model.joint(joint), scene.model.joint(other_side(joint))
        image[here.qposadr[0]] = sign * qpos[there.qposadr[0]]
    return image


# ----------------------------------------------------------------------------------------------------- the files


def test_there_are_at_least_twenty_styles() -> None:
    assert len(WALKS) >= 20
    assert len({skill.summary for skill in FILES}) == len(FILES)


@pytest.mark.parametrize("skill", FILES, ids=IDS)
def test_a_style_changes_nothing_of_how_it_balances(skill: Skill) -> None:
    usual = GenbiconParameters()
    changed = {name for name in NUMBERS if getattr(skill.parameters, name) != getattr(usual, name)}
    assert changed <= GAIT


@pytest.mark.parametrize("skill", FILES, ids=IDS)
def test_arms_go_on_where_they_were_when_the_legs_exchange_roles(skill: Skill) -> None:
    for part in ("shoulder", "shoulder_roll", "shoulder_yaw", "elbow", "wrist"):
        swing, stance = f"swing_{part}", f"stance_{part}"
        assert curve(skill, swing, 1.0) == pytest.approx(curve(skill, stance, 0.0)), part
        assert curve(skill, stance, 1.0) == pytest.approx(curve(skill, swing, 0.0)), part


@pytest.mark.parametrize("skill", FILES, ids=IDS)
def test_trunk_and_head_go_on_as_the_mirror_image_of_where_they_were(skill: Skill) -> None:
    for part in ("pelvis", "lower_back", "upper_back", "neck"):
        assert curve(skill, part, 1.0) == pytest.approx(curve(skill, part, 0.0)), part
        for axis in ("_roll", "_yaw"):
            assert curve(skill, part + axis, 1.0) == pytest.approx(-curve(skill, part + axis, 0.0)), part + axis


@pytest.mark.parametrize("skill", FILES, ids=IDS)
def test_a_foot_comes_down_nearly_level_and_beside_nothing(skill: Skill) -> None:
    """On its toes, or still led outward, it does not land where the pendulum wants it."""
    assert max(abs(curve(skill, "swing_ankle", phase)) for phase in LANDING) <= 0.15
    assert curve(skill, "swing_out", 0.85) == pytest.approx(0.0, abs=0.01)
    assert curve(skill, "height", 1.0) < 0.0 < curve(skill, "height", 0.4)


# ---------------------------------------------------------------------------------------------------- the motions


@pytest.fixture(scope="module")
def walked() -> tuple[sf.Population, dict[str, sf.Motion]]:
    """All styles after six seconds, the last two of them recorded."""
    population = sf.Population(len(WALKS), BODY, WALKS)
    population.run(4.0)
    motions = population.run(2.0, fps=100)
    return population, {skill.name: motion for skill, motion in zip(WALKS, motions, strict=True)}


def test_every_style_walks_six_seconds(walked: tuple[sf.Population, dict[str, sf.Motion]]) -> None:
    fell = {s.name: at for s, at in zip(WALKS, walked[0].fallen_at, strict=True) if np.isfinite(at)}
    assert not fell


@pytest.mark.parametrize("skill", WALKS, ids=[s.name for s in WALKS])
def test_a_style_goes_about_as_fast_as_its_file_says(
    skill: Skill, walked: tuple[sf.Population, dict[str, sf.Motion]]
) -> None:
    assert measure_gait(walked[1][skill.name]).speed == pytest.approx(skill.parameters.speed, rel=0.25)


def test_no_leg_passes_through_the_other(walked: tuple[sf.Population, dict[str, sf.Motion]]) -> None:
    through = {name: gap for name, motion in walked[1].items() if (gap := leg_clearance(motion)) < 0.0}
    assert not through


def test_a_sheet_has_a_tile_for_each_motion(walked: tuple[sf.Population, dict[str, sf.Motion]]) -> None:
    few = dict(list(walked[1].items())[:4])
    one, page = contact_sheet(few, columns=1), contact_sheet(few, columns=3)
    assert (page.width, page.height) == (3 * one.width, one.height // 2)
    last = np.asarray(page)[page.height // 2 :]
    assert np.array_equal(last[:, : one.width], np.asarray(one)[-page.height // 2 :])
    assert (last[:, one.width :] == 255).all()  # no fifth motion


def test_beginning_with_the_other_foot_gives_the_mirrored_walk() -> None:
    pairs = [with_parameters(skill, {"start.swing": side}) for skill in WALKS for side in ("left", "right")]
    population = sf.Population(len(pairs), BODY, pairs)
    population.run(1.2)
    off = {}
    for i, skill in enumerate(WALKS):
        left, right = population.qpos[2 * i], population.qpos[2 * i + 1]
        assert population.rows[2 * i].report[0].steps >= 1.0
        if right != pytest.approx(mirrored(population.scene, left), abs=1e-6):
            off[skill.name] = float(np.abs(right - mirrored(population.scene, left)).max())
    assert not off


def test_stand_takes_no_step() -> None:
    sim = sf.Simulation(BODY, "biped/stand")
    sim.step(3000)
    assert not sim.fallen
    assert sim.memory.report[0].steps == 0.0
    assert np.abs(sim.data.qvel).max() < 0.05


# ---------------------------------------------------------------------------------------------------- the measures


def test_legs_are_as_far_apart_as_the_thighs_of_one_who_stands() -> None:
    motion = sf.Simulation(BODY, "biped/stand").run(0.1, fps=100)
    assert leg_clearance(motion) == pytest.approx(2 * 0.09 - 2 * 0.06, abs=1e-3)  # hips apart, less two radii


def test_crossed_legs_overlap() -> None:
    motion = sf.Simulation(BODY, "biped/stand").run(0.1, fps=100)
    crossed, model = motion.qpos.copy(), motion.scene.model  # type: ignore[union-attr]
    for side in ("left", "right"):
        crossed[-1, model.joint(f"{side}_hip_roll").qposadr[0]] = -0.2
    assert leg_clearance(replace(motion, qpos=crossed)) < -0.01


@pytest.mark.parametrize(
    ("change", "is_apart"),
    [
        ({}, False),
        ({"angle": 4.9}, False),
        ({"angle": 5.1}, True),
        ({"speed": 1.19}, False),
        ({"speed": 1.26}, True),
        ({"step_width": 0.81}, False),
        ({"step_width": 0.79}, True),
        ({"lift": 1.26}, True),
        ({"lift": 1.2}, False),
    ],
)
def test_styles_are_told_apart_by_five_degrees_or_by_a_fifth_of_the_larger(
    change: dict[str, float], is_apart: bool, walked: tuple[sf.Population, dict[str, sf.Motion]]
) -> None:
    motion = walked[1]["flat-walk"]
    gait = measure_gait(motion)
    one = Style(5, gait, 0.1, 0.0, 0.02, np.full((100, 7), 0.3), motion)
    gaits = {name: getattr(gait, name) * change[name] for name in ("speed", "step_width") if name in change}
    cycle = one.cycle + np.radians(change.get("angle", 0.0))
    other = replace(one, gait=replace(gait, **gaits), lift=one.lift * change.get("lift", 1.0), cycle=cycle)
    assert told_apart(one, other) is is_apart
    assert told_apart(other, one) is is_apart
