"""Stylized locomotion in the plane: shadows and sequences of clips, walks up slopes, the paper's own parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from stylized_bodies import body
from surefoot.characters import load as load_character
from surefoot.controllers.stylized.contact_patches import FLAT, foot_patches
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.reference_balancing import LegKinematics, make_balanced
from surefoot.controllers.stylized.reference_sources import (
    clip_sequence,
    motion_as_retargeted,
    reference_from_skill,
    reference_on_slope,
)
from surefoot.engine.scene import Scene, Setup
from surefoot.errors import SurefootError
from surefoot.lab.reference_tracking import track_reference
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip, retarget
from surefoot.motions.segment_frames import SegmentFrames, project_to_sagittal, segment_frames_of
from surefoot.skills import load, with_parameters

PLANAR, WALK, UPHILL, DEGREES = "planar_arms", "planar_arms/walk", "planar_arms/uphill-walk", 5.0


@pytest.fixture(scope="module")
def walked() -> Motion:
    return sf.Simulation("human", "human/walk-as-printed").run(3.0, fps=60.0)


SCENE = Scene(Setup("planar_arms/stylized-walk"))


@pytest.fixture(scope="module")
def uphill() -> Reference:
    return reference_on_slope(SCENE, UPHILL, DEGREES)


def cycle_of(skill: str) -> RetargetedClip:
    sim = sf.Simulation(skill=skill)
    sim.run(6.0, fps=5.0)
    return motion_as_retargeted(sim.run(5.0, fps=200.0), sim.scene.table)


def turned(motion: Motion, angle: float) -> Motion:
    """As seen by one who has turned to the right."""
    about, rotations = quat.about_vertical(np.full(len(motion), angle)), motion.rotations.copy()
    rotations[:, 0] = quat.multiply(about, rotations[:, 0])
    return replace(motion, root_position=quat.rotate(about, motion.root_position), rotations=rotations)


def shadows(motion: Motion) -> SegmentFrames:
    return project_to_sagittal(segment_frames_of(motion, find_body_parts(motion)[0]), motion.time)


def test_shadow_of_a_clip_does_not_depend_on_where_it_heads(walked: Motion) -> None:
    table = load_character(PLANAR)
    parts = find_body_parts(walked)[0]
    one, other = (retarget(m, parts, table) for m in (walked, turned(walked, 2.2)))
    for name in table.hinges:
        assert np.abs(one.angles[name] - other.angles[name]).max() < 1e-3, name
    ways = [found.root_position - found.root_position[0] for found in (one, other)]
    assert np.abs(ways[0] - ways[1]).max() < 2e-3
    assert ways[0][-1, 0] > 0.5
    assert np.abs(ways[0][:, 1]).max() < 1e-9


def test_bones_of_a_shadow_point_where_the_clip_s_do_seen_from_the_side(walked: Motion) -> None:
    there, here = segment_frames_of(walked, find_body_parts(walked)[0]), shadows(walked)
    for side in (0, 1):
        wanted, found = there.legs[side].thigh[..., 2], here.legs[side].thigh[..., 2]
        off = np.arctan2(wanted[:, 0], wanted[:, 2]) - np.arctan2(found[:, 0], found[:, 2])
        assert np.degrees(np.abs(off)).max() < 1.5  # the walk heads along x, but for a few degrees
        assert np.abs(here.legs[side].shank[:, 1] - [0.0, 1.0, 0.0]).max() == 0.0
    assert (here.legs[0].hip == here.legs[1].hip).all()


def test_a_clip_that_goes_round_a_circle_goes_straight_on_as_a_shadow(walked: Motion) -> None:
    radius, speed, time = 2.0, 1.0, np.linspace(0.0, 6.0, len(walked))
    yaw, rotations = speed * time / radius, walked.rotations.copy()
    rotations[:, 0] = quat.about_vertical(yaw)
    place = np.column_stack([radius * np.sin(yaw), radius * (1.0 - np.cos(yaw)), walked.root_position[:, 2]])
    found = shadows(replace(walked, time=time, root_position=place, rotations=rotations))
    way = found.legs[0].hip[:, 0]
    assert way[-1] == pytest.approx(speed * time[-1], rel=0.03)
    assert (np.diff(way) > 0.0).all()


def test_the_paper_s_parameters_follow_a_walk_in_the_plane_without_adapted_steps() -> None:
    skill, reference = load("planar_arms/stylized-walk"), reference_from_skill(SCENE, WALK)
    used = skill.parameters
    assert (used.style, used.balance_weight, used.style_weight) == (500.0, 0.1, 0.5)
    assert (used.stepping, used.leading) == (0.0, 0.0)
    found = track_reference(skill, 6.0)
    assert found.stays_up
    assert found.failures == 0
    assert np.degrees(found.joints) < 3.0
    assert found.path[0] == pytest.approx(6.0 * reference.rates[:, 0].mean(), rel=0.1)


def test_reference_up_a_slope_rises_with_its_way_and_its_soles_lie_on_it(uphill: Reference) -> None:
    slope = np.radians(DEGREES)
    rise = uphill.rates[:, 1].mean() / uphill.rates[:, 0].mean()
    assert rise == pytest.approx(np.tan(slope), rel=0.01)
    for side in (0, 1):
        flat = uphill.bearing[:, side] == FLAT
        assert flat.mean() > 0.3
        tilts = np.arcsin(uphill.axes[flat, side, 2, 0])
        assert np.degrees(abs(np.median(tilts) - slope)) < 0.5
        foot = uphill.ankles[flat, side]
        above = foot @ [-np.sin(slope), 0.0, np.cos(slope)]
        assert np.median(above) == pytest.approx(load_character(PLANAR).sole_depth, abs=0.003)


def test_reference_up_a_slope_is_followed_there(uphill: Reference, tmp_path: Path) -> None:
    uphill.save(tmp_path / "uphill.npz")
    skill = with_parameters(load("planar_arms/stylized-walk"), {"reference": str(tmp_path / "uphill.npz")})
    found = track_reference(skill, 5.0, f"incline:{DEGREES:g}")
    assert found.stays_up
    assert np.degrees(found.joints) < 3.0
    assert found.path[0] == pytest.approx(found.path[1], rel=0.1)


def test_only_planar_walks_that_stay_up_are_recorded_on_slopes() -> None:
    with pytest.raises(SurefootError, match="not for a planar body"):
        reference_on_slope(SCENE, "human/walk-as-printed", 0.0)
    with pytest.raises(SurefootError, match="falls at 40°"):
        reference_on_slope(SCENE, WALK, 40.0)


def test_weight_on_a_slope_is_carried_farther_uphill() -> None:
    model, table = body(PLANAR)
    sim, slope = sf.Simulation(skill="planar_arms/stylized-stand"), 0.15
    poses, stands = np.tile(sim.data.qpos, (200, 1)), np.ones((200, 2), bool)
    legs = LegKinematics(model, table)
    level, tilted = (make_balanced(legs, poses, stands, 0.005, slope=s)[0] for s in (0.0, slope))
    places = [legs.feet_over_time(found) for found in (level, tilted)]
    sole = places[1].ankles[100, 0] + foot_patches(model, table, 0)[FLAT][0].corners
    com = places[1].com[100]
    assert sole[:, 0].min() < com[0] - com[2] * np.tan(slope) < sole[:, 0].max()
    assert com[0] > places[0].com[100, 0] + 0.02
    assert np.abs(places[1].ankles - places[0].ankles).max() < 0.005


def test_a_sequence_does_one_motion_after_the_other_and_is_followed(tmp_path: Path) -> None:
    model, table = body(PLANAR)
    one, other = cycle_of(WALK), cycle_of("planar_arms/uphill-walk")
    upright, leaning = (float(np.mean(-2.0 * found.root_rotation[:, 2])) for found in (one, other))
    assert leaning < upright - 0.05
    found = clip_sequence(model, table, [(one, 2), (other, 2)])
    n = len(found.poses)
    assert np.mean(found.poses[: n // 4, 2]) == pytest.approx(upright, abs=0.02)
    assert np.mean(found.poses[n // 2 : 3 * n // 4, 2]) == pytest.approx(leaning, abs=0.02)
    step = np.abs(np.diff(found.poses[:, 1:], axis=0)).max()
    assert np.abs(found.poses[0, 1:] - found.poses[-1, 1:]).max() <= 1.5 * step
    found.save(tmp_path / "sequence.npz")
    skill = with_parameters(load("planar_arms/stylized-walk"), {"reference": str(tmp_path / "sequence.npz")})
    assert track_reference(skill, found.duration + 1.0).stays_up


def test_sequences_on_bodies_in_space_and_of_one_clip_are_refused() -> None:
    model, table = body("human")
    none = RetargetedClip(np.zeros(0), {}, np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 2), bool), 1.0, ())
    with pytest.raises(SurefootError, match="planar bodies only"):
        clip_sequence(model, table, [(none, 1), (none, 1)])
    model, table = body(PLANAR)
    with pytest.raises(SurefootError, match="two clips or more"):
        clip_sequence(model, table, [(none, 3)])
