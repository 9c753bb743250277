"""A clip on our bodies: limbs point as they did, feet stand where they stood, sides are not mixed up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from clip_shelf import clip, needs_clips
from surefoot import Simulation
from surefoot.characters import load as load_character
from surefoot.characters.table import SAGITTAL
from surefoot.errors import CharacterError, OutputError
from surefoot.motions import bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.forward_kinematics import segment_poses, sole_depth_below_ankle, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.retargeting import RetargetedClip, qpos_of, retarget, to_motion

HUMAN = load_character("human")
STYLES = ("07_01", "136_01", "136_17", "132_55", "104_41", "113_18", "09_06", "136_25")


@pytest.fixture(scope="module")
def walked() -> Motion:
    return Simulation("human", "walk-as-printed").run(3.0)


def degrees_apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    cosine = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def strange(seconds: float = 2.0, seed: int = 3) -> RetargetedClip:
    """A human that sways with both feet flat below it, arms and head going their own ways."""
    rng, time = np.random.default_rng(seed), np.arange(0.0, seconds, 1.0 / 60.0)
    angles = {name: np.zeros(len(time)) for name in HUMAN.hinges}
    for name, hinge in HUMAN.hinges.items():
        if any(word in name for word in ("shoulder", "elbow", "waist", "neck", "wrist")):
            middle, half = 0.5 * (hinge.low + hinge.high), 0.3 * (hinge.high - hinge.low)
            middle = 0.5 if name.endswith("shoulder_roll") else middle
            half = 0.4 if name.endswith("shoulder_roll") else min(half, 0.8)
            angles[name] = middle + half * np.sin(2.0 * np.pi * (rng.uniform(0.4, 1.2) * time + rng.uniform()))
    bend = 0.25 + 0.15 * np.sin(2.0 * np.pi * 0.7 * time)
    for side in ("left", "right"):
        angles[f"{side}_hip"], angles[f"{side}_knee"], angles[f"{side}_ankle"] = bend, -2.0 * bend, bend
    height = 0.44 * np.cos(bend) + 0.43 * np.cos(bend) + HUMAN.sole_depth
    ahead = 0.01 * np.sin(bend)  # thigh and shank are not of one length
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1))
    place = np.column_stack([ahead, np.zeros(len(time)), height])
    return RetargetedClip(time, angles, place, turn, np.ones((len(time), 2), bool), 1.0, ())


def mirrored(motion: Motion) -> Motion:
    """Seen in a mirror: left is right."""
    names = motion.skeleton.names
    other = tuple(n.replace("left", "*").replace("right", "left").replace("*", "right") for n in names)
    flip = np.array([1.0, -1.0, 1.0])
    skeleton = Skeleton(other, motion.skeleton.parents, motion.skeleton.offsets * flip)
    turns = motion.rotations * np.array([1.0, -1.0, 1.0, -1.0])
    return Motion(motion.time, skeleton, motion.root_position * flip, turns)


def test_a_simulated_motion_comes_back_to_its_own_joint_angles(walked: Motion, tmp_path: Path) -> None:
    walked.save(tmp_path / "walk.bvh")
    read = bvh.load(tmp_path / "walk.bvh")
    found = retarget(read, find_body_parts(read)[0], HUMAN)
    assert walked.scene is not None
    for name in HUMAN.hinges:
        own = walked.qpos[:, walked.scene.model.joint(name).qposadr[0]]
        assert np.degrees(np.abs(found.angles[name] - own)).max() < 1.0, name
    assert np.abs(found.root_position - walked.root_position).max() < 0.005
    assert np.abs(qpos_of(HUMAN, found) - walked.qpos).max() < np.radians(1.0)


def test_wild_arms_trunk_and_head_come_back_within_a_tenth_of_a_degree() -> None:
    wild = strange()
    motion = to_motion(wild, HUMAN)
    found = retarget(motion, find_body_parts(motion)[0], HUMAN)
    for name in HUMAN.hinges:
        bound = 1.0 if any(word in name for word in ("knee", "hip", "ankle")) else 0.1
        assert np.degrees(np.abs(found.angles[name] - wild.angles[name])).max() < bound, name


def test_a_mirrored_clip_gives_mirrored_angles(walked: Motion) -> None:
    one = Motion(walked.time, walked.skeleton, walked.root_position, walked.rotations)
    here = retarget(one, find_body_parts(one)[0], HUMAN)
    other = mirrored(one)
    there = retarget(other, find_body_parts(other)[0], HUMAN)
    for left, right in zip(HUMAN.anatomy.left.joints, HUMAN.anatomy.right.joints, strict=True):
        assert np.abs(here.angles[left] - there.angles[right]).max() < 1e-6
        assert np.abs(here.angles[right] - there.angles[left]).max() < 1e-6
    for name in HUMAN.anatomy.middle:
        sign = 1.0 if HUMAN.hinges[name].plane == SAGITTAL else -1.0
        assert np.abs(here.angles[name] - sign * there.angles[name]).max() < 1e-6
    assert (here.contacts == there.contacts[:, ::-1]).all()


def test_size_place_and_heading_of_a_clip_change_no_angle(walked: Motion) -> None:
    one = Motion(walked.time, walked.skeleton, walked.root_position, walked.rotations)
    turn = quat.about_vertical(np.full(len(one), 2.1))
    skeleton = Skeleton(one.skeleton.names, one.skeleton.parents, 0.63 * one.skeleton.offsets)
    rotations = one.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    moved = 0.63 * quat.rotate(turn, one.root_position) + np.array([3.0, -7.0, 0.4])
    other = Motion(one.time, skeleton, moved, rotations)
    here, there = (retarget(m, find_body_parts(m)[0], HUMAN) for m in (one, other))
    for name in HUMAN.hinges:
        assert np.degrees(np.abs(here.angles[name] - there.angles[name])).max() < 0.1, name
    assert there.scale == pytest.approx(here.scale / 0.63)
    assert np.abs(here.root_position[:, 2] - there.root_position[:, 2]).max() < 1e-3


def test_a_splayed_rest_pose_changes_no_angle(walked: Motion) -> None:
    """The same motion told from a rest pose with legs and arms spread."""
    one = Motion(walked.time, walked.skeleton, walked.root_position, walked.rotations)
    names, parents = one.skeleton.names, one.skeleton.parents
    spread = {"left_thigh": 0.35, "right_thigh": -0.35, "left_upper_arm": 1.5, "right_upper_arm": -1.5}
    rest = np.zeros((len(names), 3))
    for joint, name in enumerate(names):  # parents come first
        rest[joint, 0] = spread.get(name, 0.0) + (rest[parents[joint], 0] if parents[joint] > 0 else 0.0)
    back = quat.exp(-rest)
    offsets, rotations = one.skeleton.offsets.copy(), one.rotations.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            offsets[joint] = quat.rotate(quat.inverse(back[parent]), offsets[joint])
            rotations[:, joint] = quat.multiply(quat.inverse(back[parent])[None], rotations[:, joint])
        rotations[:, joint] = quat.multiply(rotations[:, joint], back[joint][None])
    other = Motion(one.time, Skeleton(names, parents, offsets), one.root_position, rotations)
    assert np.abs(world_poses(one)[0] - world_poses(other)[0]).max() < 1e-9
    here, there = (retarget(m, find_body_parts(m)[0], HUMAN) for m in (one, other))
    for name in HUMAN.hinges:
        if "ankle" not in name and "wrist" not in name:
            assert np.degrees(np.abs(here.angles[name] - there.angles[name])).max() < 1.5, name


def test_angles_stay_within_the_limits_and_it_is_told_where_they_would_not() -> None:
    wild = strange()
    wild.angles["left_elbow"] = np.full(len(wild.time), 2.9)
    motion = to_motion(wild, HUMAN)
    found = retarget(motion, find_body_parts(motion)[0], HUMAN)
    for name, hinge in HUMAN.hinges.items():
        assert (found.angles[name] >= hinge.low).all(), name
        assert (found.angles[name] <= hinge.high).all(), name
    assert any("left_elbow" in note and "beyond its limits" in note for note in found.notes)
    assert not any("right_elbow" in note for note in found.notes)


@pytest.mark.parametrize("character", ["humanoid", "ape", "robot", "strider", "planar"])
def test_every_character_takes_a_clip_and_keeps_its_soles_on_the_ground(walked: Motion, character: str) -> None:
    table = load_character(character)
    found = retarget(walked, find_body_parts(walked)[0], table)
    at = segment_poses(table, found.angles, found.root_position, found.root_rotation)
    for side, leg in enumerate((table.anatomy.left, table.anatomy.right)):
        ankle, foot = at[leg.foot]
        low = (ankle[:, 2] - sole_depth_below_ankle(table, side, foot))[found.contacts[:, side]]
        assert abs(float(np.median(low))) < 0.02
    assert qpos_of(table, found).shape[1] == len(table.hinges) + (7 if table.root == "free" else 3)
    travel = found.root_position[-1, 0] - found.root_position[0, 0]
    walked_far = walked.root_position[-1, 0] - walked.root_position[0, 0]
    assert travel == pytest.approx(found.scale * walked_far, rel=0.05)


def test_quaternions_and_matrices_are_each_other_s_inverse() -> None:
    turns = np.random.default_rng(5).normal(size=(200, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    back = quat.from_matrices(quat.to_matrices(turns))
    assert np.abs(np.abs((back * turns).sum(axis=1)) - 1.0).max() < 1e-12


def test_bodies_from_files_and_clips_of_two_frames_are_refused(walked: Motion) -> None:
    parts = find_body_parts(walked)[0]
    with pytest.raises(CharacterError, match="written as tables"):
        retarget(walked, parts, replace(HUMAN, imported=object()))
    short = Motion(walked.time[:2], walked.skeleton, walked.root_position[:2], walked.rotations[:2])
    with pytest.raises(OutputError, match="at least 3 frames"):
        retarget(short, parts, HUMAN)


@needs_clips
@pytest.mark.parametrize("name", STYLES)
def test_limbs_of_a_captured_clip_point_as_captured(name: str) -> None:
    motion = clip(f"cmu_bvh/{name}.bvh", fps=30.0)
    parts = find_body_parts(motion)[0]
    found = retarget(motion, parts, HUMAN)
    model = Simulation("human", "walk-as-printed").scene.model
    data, at = mujoco.MjData(model), []
    for row in qpos_of(HUMAN, found):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        at.append(data.xpos.copy())
    ours, theirs = np.array(at), world_poses(motion)[0]
    held = any("beyond its limits" in note for note in found.notes)
    pairs = [("trunk", "head", parts.trunk[0], parts.neck[0])]
    for side, leg, arm in (("left", parts.left, parts.left_arm), ("right", parts.right, parts.right_arm)):
        assert arm is not None
        pairs += [
            (f"{side}_thigh", f"{side}_shin", leg.hip, leg.knee),
            (f"{side}_shin", f"{side}_foot", leg.knee, leg.ankle),
            (f"{side}_upper_arm", f"{side}_lower_arm", arm.shoulder, arm.elbow),
            (f"{side}_lower_arm", f"{side}_hand", arm.elbow, arm.wrist),
        ]
    for near, far, one, other in pairs:
        bone = ours[:, model.body(far).id] - ours[:, model.body(near).id]
        off = degrees_apart(bone, theirs[:, other] - theirs[:, one])
        assert np.median(off) < 2.0, (near, far)
        assert np.quantile(off, 0.95) < 4.0, (near, far)
        assert held or off.max() < 5.0, (near, far)
    lows = []
    feet = segment_poses(HUMAN, found.angles, found.root_position, found.root_rotation)
    for side, foot in enumerate(("left_foot", "right_foot")):
        ankle, frame = feet[foot]
        lows.append((ankle[:, 2] - sole_depth_below_ankle(HUMAN, side, frame))[found.contacts[:, side]])
    assert np.quantile(np.abs(np.concatenate(lows)), 0.9) < 0.02
