from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import surefoot as sf
from surefoot.errors import OutputError
from surefoot.motions import bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion, Skeleton

NAMES = ("hips", "left_thigh", "left_shin", "spine", "head", "right_thigh")
PARENTS = np.array([-1, 0, 1, 0, 3, 0])
OFFSETS = np.array(
    [[0.0, 0, 0], [0.02, 0.11, -0.05], [0.01, 0.03, -0.43], [-0.03, 0, 0.21], [0.02, 0, 0.3], [0, -0.1, 0]]
)


def made(rotations: np.ndarray, fps: float = 50.0) -> Motion:
    """A spatial skeleton's motion with these rotations (n, 6, 4)."""
    count = len(rotations)
    places = np.random.default_rng(3).normal(size=(count, 3)).cumsum(axis=0)
    return Motion(np.arange(count) / fps, Skeleton(NAMES, PARENTS, OFFSETS), places, rotations)


def generic(count: int = 40, seed: int = 1) -> Motion:
    quats = np.random.default_rng(seed).normal(size=(count, len(NAMES), 4))
    return made(quats / np.linalg.norm(quats, axis=-1, keepdims=True))


def apart(one: Motion, other: Motion) -> float:
    """Largest angle between the rotations of two motions [rad]."""
    return float(np.linalg.norm(quat.log(quat.multiply(quat.inverse(one.rotations), other.rotations)), axis=-1).max())


def round_trip(motion: Motion, path: Path, **options: object) -> Motion:
    bvh.save(motion, path, **options)  # type: ignore[arg-type]
    return bvh.load(path, **{k: v for k, v in options.items() if k != "fps"})  # type: ignore[arg-type]


def assert_same(motion: Motion, back: Motion) -> None:
    assert back.skeleton.names == motion.skeleton.names
    assert back.skeleton.parents.tolist() == motion.skeleton.parents.tolist()
    np.testing.assert_allclose(back.skeleton.offsets, motion.skeleton.offsets, atol=1e-8)
    np.testing.assert_allclose(back.root_position, motion.root_position, atol=1e-8)
    np.testing.assert_allclose(back.time, motion.time, atol=1e-9)
    assert apart(motion, back) < 1e-9


@pytest.mark.parametrize("scale", [1.0, 100.0, 1.0 / 0.0564444])
@pytest.mark.parametrize(("up", "forward"), [("y", "z"), ("z", "x"), ("z", "-y"), ("-x", "y"), ("y", "-z")])
def test_a_file_gives_back_the_motion_it_was_made_of(tmp_path: Path, scale: float, up: str, forward: str) -> None:
    motion = generic()
    assert_same(motion, round_trip(motion, tmp_path / "made.bvh", scale=scale, up=up, forward=forward))


@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1), st.floats(-9.0, 0.0), st.sampled_from([-1.0, 1.0]))
def test_rotations_near_gimbal_lock_survive(first: float, last: float, near: float, side: float) -> None:
    off = side * (0.5 * np.pi - 10.0**near)
    steep = Rotation.from_euler("ZXY", [first, off, last]).as_quat(scalar_first=True)
    exact = Rotation.from_euler("ZXY", [first, side * 0.5 * np.pi, last]).as_quat(scalar_first=True)
    ours = np.stack([steep, exact, -steep])[:, [0, 3, 1, 2]]  # X, Y, Z of the file are our y, z, x
    motion = made(np.repeat(ours[:, None], len(NAMES), axis=1))
    rows = bvh.text(motion).splitlines()[-3:]
    angles = np.array([row.split()[3:6] for row in rows], float)
    found = Rotation.from_euler("ZXY", angles, degrees=True)
    true = Rotation.from_quat(np.stack([steep, exact, steep]), scalar_first=True)
    assert (found * true.inv()).magnitude().max() < 1e-9


def test_the_sign_of_a_quaternion_makes_no_difference() -> None:
    motion = generic()
    signs = np.random.default_rng(8).choice([-1.0, 1.0], size=(*motion.rotations.shape[:2], 1))
    assert bvh.text(motion) == bvh.text(replace(motion, rotations=signs * motion.rotations))


def test_angles_go_on_smoothly_where_a_joint_passes_a_right_angle() -> None:
    bend = np.linspace(-130.0, 130.0, 60)  # about our y, which is the middle axis of the file
    angles = np.column_stack([np.full(60, 20.0), bend, np.full(60, -35.0)])
    turns = Rotation.from_euler("ZXY", angles, degrees=True).as_quat(scalar_first=True)[:, [0, 3, 1, 2]]
    rows = bvh.text(made(np.repeat(turns[:, None], len(NAMES), axis=1))).splitlines()[-60:]
    written = np.array([row.split()[3:] for row in rows], float)
    assert np.abs(np.diff(written, axis=0)).max() == pytest.approx(260.0 / 59, abs=1e-6)


def test_joints_are_where_the_files_own_rules_put_them() -> None:
    """An independent reading: offsets, intrinsic ZXY angles in degrees, Y up, +Z forward, X left."""
    motion = generic(5)
    lines = bvh.text(motion, scale=100.0).splitlines()
    offsets = [np.array(line.split()[1:], float) for line in lines if line.strip().startswith("OFFSET")]
    leaves = {2: 3, 4: 6, 5: 8}  # joint: place of its End Site among the offsets
    own = [offset for i, offset in enumerate(offsets) if i not in leaves.values()]
    for row, root, turns in zip(lines[-5:], motion.root_position, motion.rotations, strict=True):
        values = np.array(row.split(), float)
        places, frames = [values[:3]], [Rotation.from_euler("ZXY", values[3:6], degrees=True)]
        ours, axes = [root], [Rotation.from_quat(turns[0], scalar_first=True)]
        for joint in range(1, len(NAMES)):
            parent = PARENTS[joint]
            places.append(places[parent] + frames[parent].apply(own[joint]))
            angles = values[3 + 3 * joint : 6 + 3 * joint]
            frames.append(frames[parent] * Rotation.from_euler("ZXY", angles, degrees=True))
            ours.append(ours[parent] + axes[parent].apply(OFFSETS[joint]))
            axes.append(axes[parent] * Rotation.from_quat(turns[joint], scalar_first=True))
        x, y, z = np.array(ours).T
        np.testing.assert_allclose(np.array(places), 100.0 * np.column_stack([y, z, x]), atol=1e-5)


def test_a_simulated_walk_comes_back_at_even_frames(tmp_path: Path) -> None:
    walk = sf.Simulation("planar", "walk").run(2.0, fps=120)
    walk.save(tmp_path / "walk.bvh", fps=60)
    back = sf.load_motion(tmp_path / "walk.bvh")
    assert len(back) == 121
    np.testing.assert_allclose(np.diff(back.time), 1.0 / 60.0, atol=1e-12)
    x = np.interp(back.time, walk.time, walk.root_position[:, 0])
    np.testing.assert_allclose(back.root_position[:, 0], x, atol=1e-8)
    assert back.skeleton.names == walk.skeleton.names
    walk.save(tmp_path / "again.bvh")
    assert len(sf.load_motion(tmp_path / "again.bvh")) == len(walk)


def test_last_bones_have_length_and_a_simulated_foot_ends_at_its_toes() -> None:
    walk = sf.Simulation("planar", "walk").run(0.1, fps=60)
    for motion in (walk, replace(walk, scene=None), generic()):
        lines = [line.split() for line in bvh.text(motion).splitlines()]
        ends = [np.array(lines[i + 2][1:], float) for i, words in enumerate(lines) if words == ["End", "Site"]]
        leaves = [j for j in range(len(motion.skeleton.names)) if not (motion.skeleton.parents == j).any()]
        assert len(ends) == len(leaves)
        assert all(0.02 < np.linalg.norm(end) < 0.5 for end in ends)
        if motion.skeleton is walk.skeleton:
            assert all(end[2] > 0.1 for end in ends)  # forward
    assert ends[1] == pytest.approx([0.0, 0.15, 0.01])  # the head goes on as the neck did


def test_joints_out_of_order_are_written_depth_first(tmp_path: Path) -> None:
    motion, order = generic(), [0, 3, 1, 5, 2, 4]
    mixed = replace(
        motion,
        skeleton=Skeleton(tuple(NAMES[i] for i in order), np.array([-1, 0, 0, 0, 2, 1]), OFFSETS[order]),
        rotations=motion.rotations[:, order],
    )
    back = round_trip(mixed, tmp_path / "mixed.bvh")
    assert back.skeleton.names == ("hips", "spine", "head", "left_thigh", "left_shin", "right_thigh")
    picked = [back.skeleton.names.index(name) for name in NAMES]
    assert apart(motion, replace(back, rotations=back.rotations[:, picked])) < 1e-9
    np.testing.assert_allclose(back.skeleton.offsets[picked], OFFSETS, atol=1e-8)


FOREIGN = """HIERARCHY
ROOT Hips {{
  OFFSET 1 2 3
  CHANNELS 6 Yrotation Zposition Xrotation Xposition Zrotation Yposition
  JOINT Left Arm
  {{
    OFFSET 0 10 0
    CHANNELS {arm}
    END SITE
    {{
      OFFSET 0 5 0
    }}
  }}
}}

MOTION
Frames:  2
Frame Time: .025
10 3.5 20 1.5 30 2.5 {values}
11 3.6 21 1.6 31 2.6 {values}
"""


def foreign(path: Path, arm: str = "3 Xrotation Yrotation Zrotation", values: str = "40 50 60") -> Path:
    path.write_text(FOREIGN.format(arm=arm, values=values))
    return path


def test_any_order_of_channels_is_read(tmp_path: Path) -> None:
    motion = bvh.load(foreign(tmp_path / "other.bvh"), scale=10.0)
    assert motion.skeleton.names == ("Hips", "Left Arm")
    np.testing.assert_allclose(motion.root_position, [[0.35, 0.15, 0.25], [0.36, 0.16, 0.26]])
    np.testing.assert_allclose(motion.skeleton.offsets[1], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(motion.time, [0.0, 0.025])
    hips = Rotation.from_euler("YXZ", [10.0, 20.0, 30.0], degrees=True).as_quat()
    arm = Rotation.from_euler("XYZ", [40.0, 50.0, 60.0], degrees=True).as_quat()
    for found, (x, y, z, w) in zip(motion.rotations[0], (hips, arm), strict=True):
        assert abs(found @ [w, z, x, y]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("values", "height"), [("0 12 0 40 50 60", 1.2), ("0 0 0 40 50 60", 1.0)])
def test_positions_of_joints_replace_their_offsets_unless_all_are_zero(
    tmp_path: Path, values: str, height: float
) -> None:
    arm = "6 Xposition Yposition Zposition Xrotation Yrotation Zrotation"
    motion = bvh.load(foreign(tmp_path / "six.bvh", arm, values), scale=10.0)
    np.testing.assert_allclose(motion.skeleton.offsets[1], [0.0, 0.0, height], atol=1e-12)
    plain = bvh.load(foreign(tmp_path / "three.bvh"), scale=10.0)
    np.testing.assert_allclose(motion.rotations, plain.rotations, atol=1e-12)


def test_joints_without_channels_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = foreign(tmp_path / "bare.bvh", "0", "")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    motion = bvh.load(path)
    np.testing.assert_array_equal(motion.rotations[:, 1], [[1.0, 0, 0, 0]] * 2)


def test_bones_that_stretch_are_refused_by_name(tmp_path: Path) -> None:
    arm = "6 Xposition Yposition Zposition Xrotation Yrotation Zrotation"
    path = foreign(tmp_path / "rubber.bvh", arm, "0 10 0 40 50 60")
    path.write_text(path.read_text().replace("2.6 0 10 0", "2.6 0 14 0"))
    with pytest.raises(OutputError, match="Left Arm slides"):
        bvh.load(path)


SPOILT = {
    "not a BVH": ("HIERARCHY", "PK", "1: expected HIERARCHY"),
    "no root": ("ROOT", "JOINT", "2: expected ROOT"),
    "no offset": ("  OFFSET 1 2 3\n", "", "3: expected OFFSET"),
    "two numbers": ("OFFSET 1 2 3", "OFFSET 1 2", "3: expected 3 numbers, got 2"),
    "a word": ("OFFSET 1 2 3", "OFFSET 1 two 3", "3: .*two"),
    "a comma": ("OFFSET 1 2 3", "OFFSET 1,0 2 3", "3: .*1,0"),
    "NaN": ("10 3.5", "nan 3.5", "19: a number that is not finite"),
    "infinity": ("10 3.5", "1e999 3.5", "19: a number that is not finite"),
    "wrong count of channels": ("CHANNELS 6", "CHANNELS 5", "4: expected CHANNELS"),
    "unknown channel": ("Zposition", "Zscale", "4: channels are Xposition"),
    "channel twice": ("Zposition", "Xposition", "4: channels are Xposition"),
    "block not closed": ("}\n\nMOTION", "MOTION", "14: expected JOINT"),
    "block closed twice": ("}\n\nMOTION", "}\n}\nMOTION", "15: expected MOTION"),
    "joint in an end site": ("OFFSET 0 5 0", "OFFSET 0 5 0\nJOINT x", "12: expected"),
    "second skeleton": ("MOTION", "ROOT b", "16: a second skeleton"),
    "count is no number": ("Frames:  2", "Frames: -2", "17: expected 'Frames"),
    "huge count": ("Frames:  2", "Frames: " + "9" * 5000, "17: expected 'Frames"),
    "no frames": ("Frames:  2", "Frames: 0", "18: a motion needs"),
    "time stands still": (".025", "0", "18: a motion needs"),
    "time is no number": (".025", "soon", "18: .*soon"),
    "too few values": ("10 3.5", "3.5", "19: expected 9 numbers, got 8"),
    "too many frames": ("Frames:  2", "Frames: 1", "20: more rows than the 1"),
    "too few frames": ("Frames:  2", "Frames: 9", "20: the file ends after 2 of 9"),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_file_is_one_line_with_the_line_number(tmp_path: Path, what: str) -> None:
    old, new, message = SPOILT[what]
    path = foreign(tmp_path / "spoilt.bvh")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(OutputError, match=rf"spoilt\.bvh:{message}") as caught:
        bvh.load(path)
    assert "\n" not in str(caught.value)


def prefixes(text: str) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    yield from ("".join(lines[:count]) for count in range(len(lines)))


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.bvh"
    for text in prefixes(bvh.text(generic(3))):
        path.write_text(text)
        with pytest.raises(OutputError, match=r"cut\.bvh:\d+: "):
            bvh.load(path)


def test_files_too_large_or_missing_or_too_many_joints_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OutputError, match="cannot read"):
        bvh.load(tmp_path / "missing.bvh")
    path = foreign(tmp_path / "other.bvh")
    monkeypatch.setattr(bvh, "MAX_JOINTS", 1)
    with pytest.raises(OutputError, match="at most 1 joints"):
        bvh.load(path)
    monkeypatch.setattr(bvh, "MAX_BYTES", 100)
    with pytest.raises(OutputError, match="at most"):
        bvh.load(path)


def test_bad_options_and_motions_are_refused(tmp_path: Path) -> None:
    motion = generic()
    for options, message in (
        ({"up": "w"}, "valid: x, -x, y, -y, z, -z"),
        ({"up": "z", "forward": "-z"}, "different axes"),
        ({"scale": 0.0}, "scale"),
        ({"scale": float("nan")}, "scale"),
        ({"fps": 0.0}, "frames per second"),
    ):
        with pytest.raises(OutputError, match=message):
            bvh.save(motion, tmp_path / "bad.bvh", **options)  # type: ignore[arg-type]
    for spoilt, message in (
        (replace(motion, root_position=motion.root_position * np.nan), "finite"),
        (replace(motion, skeleton=Skeleton(NAMES, np.array([-1, 0, 1, -1, 3, 0]), OFFSETS)), "one root"),
        (replace(motion, time=motion.time[::-1]), "increasing times"),
        (Motion(np.zeros(0), motion.skeleton, np.zeros((0, 3)), np.zeros((0, 6, 4))), "needs frames"),
    ):
        with pytest.raises(OutputError, match=message):
            bvh.save(spoilt, tmp_path / "bad.bvh")
    assert not list(tmp_path.iterdir())


def test_only_files_that_hold_motions_are_loaded(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"valid: \.npz, \.bvh"):
        sf.load_motion(tmp_path / "walk.fbx")
