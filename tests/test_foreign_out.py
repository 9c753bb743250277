"""What can be written of a body of ours can be written of a stranger's skeleton."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from clip_shelf import needs_clips
from strangers_walk import NAMES, walk
from surefoot.motions import body_parts, bvh, clips
from surefoot.motions import quaternions as quat
from surefoot.motions.formats import suffixes
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion, Skeleton, load
from surefoot.motions.painter import mean_facing
from surefoot.motions.posed_body import posed_body_of

ASF = (
    *("root", "lfemur", "ltibia", "lfoot", "ltoes", "rfemur", "rtibia", "rfoot", "rtoes"),
    *("thorax", "lowerneck", "head", "lhumerus", "lradius", "lthumb", "rhumerus", "rradius", "rthumb"),
)
SIDES = [0, 1, 1, 1, 1, -1, -1, -1, -1, 0, 0, 0, 1, 1, 1, -1, -1, -1]
STRIDE = 1.12  # [s] of the walk


def read(folder: Path, up: str = "z", forward: str = "-y", names: tuple[str, ...] = NAMES) -> Motion:
    """A walk as a file of another program and back, in centimetres, facing another way at rest."""
    motion, _ = walk(seconds=3.0, fps=60.0)
    motion = replace(motion, skeleton=replace(motion.skeleton, names=names))
    bvh.save(motion, folder / "theirs.bvh", scale=100.0, up=up, forward=forward)
    return clips.read_clip(folder / "theirs.bvh").motion


def shuffled(motion: Motion) -> Motion:
    """The same with children before their parents, but for the root."""
    order = [0, *range(len(motion.skeleton.names) - 1, 0, -1)]
    parents = np.array([order.index(p) if p >= 0 else -1 for p in motion.skeleton.parents[order]])
    skeleton = Skeleton(tuple(motion.skeleton.names[i] for i in order), parents, motion.skeleton.offsets[order])
    return replace(motion, skeleton=skeleton, rotations=motion.rotations[:, order])


def lying(motion: Motion) -> Motion:
    """The same motion of a skeleton whose rest pose lies on its back."""
    down = Rotation.from_euler("y", -90.0, degrees=True)
    back = np.tile(down.inv().as_quat(scalar_first=True), (len(motion), 1))
    rotations = quat.multiply(quat.inverse(back[:, None]), quat.multiply(motion.rotations, back[:, None]))
    rotations[:, 0] = quat.multiply(motion.rotations[:, 0], back)
    skeleton = replace(motion.skeleton, offsets=down.apply(motion.skeleton.offsets))
    return replace(motion, skeleton=skeleton, rotations=rotations)


@pytest.mark.parametrize("names", [NAMES, ASF, tuple("mixamorig:" + name for name in NAMES)])
def test_names_of_many_makers_tell_the_side(names: tuple[str, ...]) -> None:
    assert body_parts.side_signs(names) == SIDES
    motion, _ = walk(seconds=0.5)
    limbs = posed_body_of(replace(motion, skeleton=replace(motion.skeleton, names=names))).limbs(0.2)
    assert [limb.side for limb in limbs] == SIDES


def test_a_body_of_one_side_keeps_it() -> None:
    assert body_parts.side_signs(("pelvis", "left_thigh", "left_shin")) == [0, 1, 1]


@pytest.mark.parametrize(("up", "forward"), [("y", "z"), ("z", "-y"), ("z", "y"), ("y", "-x")])
def test_a_clip_is_seen_from_its_side_whichever_way_its_rest_pose_faces(tmp_path: Path, up: str, forward: str) -> None:
    motion = read(tmp_path, up, forward)
    travel = motion.root_position[-1] - motion.root_position[0]
    assert np.cos(mean_facing(motion) - np.arctan2(travel[1], travel[0])) > 0.999


@pytest.mark.parametrize("change", [shuffled, lying])
def test_a_stick_figure_is_where_its_joints_are_and_of_a_fit_size(change: object) -> None:
    plain, _ = walk(seconds=1.0)
    motion = change(plain)  # type: ignore[operator]
    places, _ = world_poses(motion)
    assert np.sort(places[40], axis=0) == pytest.approx(np.sort(world_poses(plain)[0][40], axis=0), abs=1e-9)
    limbs = posed_body_of(motion).limbs(float(motion.time[40]))
    for limb, place in zip(limbs, places[40], strict=True):
        assert limb.shapes[0].points[0] == pytest.approx(place, abs=1e-9)
    radius = posed_body_of(plain).limbs(0.0)[0].shapes[0].radius
    assert 0.6 * radius < limbs[0].shapes[0].radius < 1.7 * radius
    assert np.ptp([p for limb in limbs for shape in limb.shapes for p in shape.points], axis=0)[2] < 1.7


@pytest.mark.parametrize("change", [shuffled, lying, replace])
@pytest.mark.parametrize("suffix", [s for s in suffixes() if s not in (".mp4", ".gif")])
def test_every_format_takes_a_strangers_skeleton_as_a_loop_in_place(
    tmp_path: Path, change: object, suffix: str
) -> None:
    motion = change(read(tmp_path))  # type: ignore[operator]
    motion.save(tmp_path / f"out{suffix}", fps=30.0)
    motion.save(tmp_path / f"loop{suffix}", fps=30.0, loop=True, root_motion=False)
    assert (tmp_path / f"out{suffix}").stat().st_size > 1000
    if suffix in (".npz", ".bvh"):
        loop = load(tmp_path / f"loop{suffix}")
        assert loop.time[-1] == pytest.approx(STRIDE, abs=0.05)
        assert np.ptp(loop.root_position[:, :2], axis=0).max() < 0.05
        places, _ = world_poses(loop)
        assert places[-1] == pytest.approx(places[0], abs=2e-3)
        assert np.ptp(places, axis=0).max() > 0.3  # it moves in between


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_films_take_a_strangers_skeleton(tmp_path: Path, suffix: str) -> None:
    read(tmp_path).save(tmp_path / f"out{suffix}", fps=10.0, loop=True, root_motion=False)
    assert (tmp_path / f"out{suffix}").stat().st_size > 1000


@needs_clips
@pytest.mark.parametrize(
    ("name", "asf"),
    [("cmu_bvh/07_01.bvh", None), ("100style_bvh/Neutral_FW.bvh", None), ("cmu_asfamc/07_05.amc", "cmu_asfamc/07.asf")],
)
@pytest.mark.parametrize("suffix", [s for s in suffixes() if s not in (".mp4", ".gif", ".csv")])
def test_captured_clips_can_be_written(tmp_path: Path, name: str, asf: str | None, suffix: str) -> None:
    shelf = Path(os.environ["SUREFOOT_CLIPS"])
    motion = clips.read_clip(shelf / name, asf=None if asf is None else shelf / asf).motion
    motion.save(tmp_path / f"loop{suffix}", fps=30.0, loop=True, root_motion=False)
    assert (tmp_path / f"loop{suffix}").stat().st_size > 1000
    if suffix == ".bvh":
        assert 0.9 < load(tmp_path / "loop.bvh").time[-1] < 1.7
