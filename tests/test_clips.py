from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from surefoot.errors import OutputError
from surefoot.motions import bvh, clips
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion, Skeleton

CLIPS = os.environ.get("SUREFOOT_CLIPS", "")
PARENTS = np.array([-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 10, 12, 13, 10, 15, 16])
OFFSETS = np.array(
    [
        [0, 0, 0], [0, 0.09, -0.04], [0, 0, -0.41], [0, 0, -0.42], [0.14, 0, -0.06],
        [0, -0.09, -0.04], [0, 0, -0.42], [0, 0, -0.42], [0.13, 0, -0.06],
        [0, 0, 0.2], [0, 0, 0.3], [0, 0, 0.12],
        [0, 0.18, 0], [0, 0.29, 0], [0, 0.26, 0], [0, -0.18, 0], [0, -0.28, 0], [0, -0.27, 0],
    ]
)  # fmt: skip  # [m] of a person whose arms are stretched out at rest
LIMBS = {
    "CMU": ("Hips", "UpLeg Leg Foot ToeBase", "Spine Spine1 Head", "Arm ForeArm Hand", "{}{}"),
    "100STYLE": ("Hips", "Hip Knee Ankle Toe", "Chest Chest2 Head", "Shoulder Elbow Wrist", "{}{}"),
    "Mixamo": ("mixamorig:Hips", "UpLeg Leg Foot ToeBase", "Spine Spine1 Head", "Arm ForeArm Hand", "mixamorig:{}{}"),
    "nameless": ("b", "b b b b", "b b b", "b b b", "{}{}"),
}


def names(family: str) -> tuple[str, ...]:
    root, leg, trunk, arm, form = LIMBS[family]
    legs = [form.format(side, part) for side in ("Left", "Right") for part in leg.split()]
    arms = [form.format(side, part) for side in ("Left", "Right") for part in arm.split()]
    found = [root, *legs, *[form.format("", part) for part in trunk.split()], *arms]
    return tuple(f"bone{i}" for i in range(18)) if family == "nameless" else tuple(found)


def walker(family: str = "CMU", lean: float = 0.0, bend: float = 0.0, size: float = 1.0) -> Motion:
    """Somebody who goes along, as a whole leant over by an angle [rad] about the y axis, and bent in the back."""
    count, rng = 120, np.random.default_rng(4)
    phase = np.linspace(0.0, 4.0 * np.pi, count)
    turns = np.zeros((count, 18, 3))
    turns[:, 0] = [0.0, lean, 0.0]
    turns[:, 9, 1] = bend
    turns[:, 0, 2] += 0.3 * np.sin(0.3 * phase)
    for hip, side in ((1, 1.0), (5, -1.0)):
        turns[:, hip, 1] = 0.4 * side * np.sin(phase)
        turns[:, hip + 1, 1] = 0.4 + 0.3 * side * np.cos(phase)
    turns[:, [12, 15], 0] = [-1.3, 1.3]
    turns += 0.03 * rng.normal(size=(1, 18, 3))
    rotations = Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat(scalar_first=True).reshape(count, 18, 4)
    place = np.column_stack([0.01 * np.arange(count) + 2.0, np.full(count, -1.0), 0.9 + 0.02 * np.cos(2.0 * phase)])
    return Motion(np.arange(count) / 60.0, Skeleton(names(family), PARENTS, size * OFFSETS), size * place, rotations)


@pytest.mark.parametrize("family", LIMBS)
@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001, 0.0254, 0.3048, 0.1, 0.0254 / 0.45])
def test_units_are_told_by_the_size_of_the_body(tmp_path: Path, family: str, unit: float) -> None:
    bvh.save(walker(family), tmp_path / "a.bvh", scale=1.0 / unit)
    clip = clips.read_clip(tmp_path / "a.bvh")
    assert clip.scale == pytest.approx(unit, rel=1e-9)
    assert clip.up == "y"
    assert clip.fps == 60.0
    np.testing.assert_allclose(world_poses(clip.motion)[0], world_poses(walker(family))[0], atol=1e-6)


@pytest.mark.parametrize("family", ["100STYLE", "nameless"])
@pytest.mark.parametrize(("up", "forward"), [("y", "z"), ("z", "x"), ("z", "-y"), ("x", "y"), ("-y", "x"), ("y", "-x")])
def test_up_is_where_the_body_stands_and_heights_are_kept(tmp_path: Path, family: str, up: str, forward: str) -> None:
    motion = walker(family)
    bvh.save(motion, tmp_path / "a.bvh", scale=100.0, up=up, forward=forward)
    clip = clips.read_clip(tmp_path / "a.bvh")
    assert clip.up == up
    ours, theirs = world_poses(clip.motion)[0], world_poses(motion)[0]
    np.testing.assert_allclose(ours[..., 2], theirs[..., 2], atol=1e-6)
    across = [np.linalg.norm(each[:, 4, :2] - each[:, 0, :2], axis=1) for each in (ours, theirs)]
    np.testing.assert_allclose(across[0], across[1], atol=1e-6)
    left = [np.cross(each[:, 4] - each[:, 3], each[:, 1] - each[:, 5])[:, 2] for each in (ours, theirs)]
    np.testing.assert_allclose(left[0], left[1], atol=1e-6)  # not mirrored


def test_somebody_bent_far_over_still_stands(tmp_path: Path) -> None:
    bvh.save(walker(bend=1.3), tmp_path / "a.bvh")
    assert clips.read_clip(tmp_path / "a.bvh").up == "y"


def test_somebody_who_lies_makes_it_unsure(tmp_path: Path) -> None:
    bvh.save(walker(lean=1.5), tmp_path / "a.bvh")
    clip = clips.read_clip(tmp_path / "a.bvh", up="y")
    assert any("lies" in note for note in clip.unsure)


def test_what_is_told_is_taken(tmp_path: Path) -> None:
    motion = walker()
    bvh.save(motion, tmp_path / "a.bvh", scale=100.0)
    clip = clips.read_clip(tmp_path / "a.bvh", scale=0.02, up="z", fps=30.0)
    assert (clip.scale, clip.up, clip.fps) == (0.02, "z", 30.0)
    assert clip.motion.time[-1] == pytest.approx(119 / 30.0)
    raw = bvh.load(tmp_path / "a.bvh", up="z", forward="x")
    np.testing.assert_allclose(clip.motion.root_position, 0.02 * raw.root_position, atol=1e-9)
    assert sum("as told" in note for note in clip.understood) == 3


def test_a_child_is_unsure_and_a_giant_is_scaled_to_a_person(tmp_path: Path) -> None:
    bvh.save(walker(size=0.6), tmp_path / "child.bvh", scale=100.0)
    child = clips.read_clip(tmp_path / "child.bvh")
    assert child.scale == 0.01
    assert any("unusual for a grown person" in note for note in child.unsure)
    bvh.save(walker(size=5e-5), tmp_path / "mite.bvh")
    mite = clips.read_clip(tmp_path / "mite.bvh")
    assert any("no known unit" in note for note in mite.unsure)
    assert np.linalg.norm(mite.motion.skeleton.offsets[[2, 3]], axis=1).sum() == pytest.approx(0.83, rel=0.02)


def test_other_units_than_metric_ones_are_said_to_be_a_guess(tmp_path: Path) -> None:
    bvh.save(walker(), tmp_path / "a.bvh", scale=1.0 / 0.0254)
    assert any("inches" in note and "alone" in note for note in clips.read_clip(tmp_path / "a.bvh").unsure)
    bvh.save(walker(), tmp_path / "b.bvh", scale=100.0)
    assert not clips.read_clip(tmp_path / "b.bvh").unsure


def test_names_of_the_file_and_of_the_family_change_nothing(tmp_path: Path) -> None:
    found = []
    for family, name in (("CMU", "zebra.bvh"), ("nameless", "07_01_mm_zup.BVH")):
        bvh.save(walker(family), tmp_path / name, scale=10.0)
        clip = clips.read_clip(tmp_path / name)
        found.append((clip.scale, clip.up, clip.fps))
        assert any("by their lengths" in note for note in clip.unsure) == (family == "nameless")
    assert found[0] == found[1]


def test_a_thing_without_legs_is_read_and_said_to_be_unsure(tmp_path: Path) -> None:
    path = tmp_path / "stick.bvh"
    channels = "CHANNELS 3 Zrotation Xrotation Yrotation"
    hierarchy = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\n{channels}\nJOINT b\n{{\nOFFSET 0 1 0\n{channels}\n}}\n}}\n"
    path.write_text(f"{hierarchy}MOTION\nFrames: 1\nFrame Time: 0.02\n1 2 3 4 5 6\n")
    clip = clips.read_clip(path)
    assert (clip.scale, clip.up) == (1.0, "y")
    assert sum("no two legs" in note for note in clip.unsure) == 2


def test_any_order_of_channels_positions_of_joints_tabs_and_remarks_are_read(tmp_path: Path) -> None:
    text = (
        "\ufeff# made by hand\r\nHIERARCHY\r\n\r\nROOT mixamorig:Hips {\r\n\tOFFSET 0 1 0\r\n"
        "\tCHANNELS 6 Zposition Yrotation Xposition Xrotation Yposition Zrotation\r\n"
        "// remark\r\n\tJOINT mixamorig:Spine\r\n\t{\r\n\t\tOFFSET\t0\t.2\t0\r\n"
        "\t\tCHANNELS 6 Xposition Yposition Zposition Xrotation Zrotation Yrotation\r\n"
        "\t\tEnd Site\r\n\t\t{\r\n\t\t\tOFFSET 0 0.1 0\r\n\t\t}\r\n\t}\r\n}\r\nMOTION\r\nFrames:2\r\n"
        "Frame Time:\t.0333333\r\n"
        "3 20 1 30 2 40\t0 .25 0 5 6 7\r\n# between\r\n3 21 1 31 2 41 0 .25 0 5 6 7\r\n"
    )
    (tmp_path / "a.bvh").write_bytes(text.encode())
    clip = clips.read_clip(tmp_path / "a.bvh", up="z", scale=1.0)
    assert clip.fps == 30.0
    assert clip.motion.skeleton.names == ("mixamorig:Hips", "mixamorig:Spine")
    np.testing.assert_allclose(clip.motion.root_position, [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_allclose(clip.motion.skeleton.offsets[1], [0, 0.25, 0])
    for now, angles in enumerate(([20, 30, 40], [21, 31, 41])):
        true = Rotation.from_euler("YXZ", angles, degrees=True)
        found = Rotation.from_quat(clip.motion.rotations[now, 0], scalar_first=True)
        assert (found * true.inv()).magnitude() < 1e-12


@pytest.mark.parametrize(
    ("printed", "fps"), [(".0083333", 120.0), ("0.016667", 60.0), ("0.0333667", 1 / 0.0333667), ("0.00833", 120.0)]
)
def test_rounded_frame_times_are_whole_rates(tmp_path: Path, printed: str, fps: float) -> None:
    lines = bvh.text(walker(), scale=100.0).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Frame Time"))
    (tmp_path / "a.bvh").write_text("\n".join([*lines[:at], f"Frame Time: {printed}", *lines[at + 1 :]]))
    clip = clips.read_clip(tmp_path / "a.bvh")
    assert clip.fps == pytest.approx(fps, rel=1e-9)
    assert clip.motion.time[1] == pytest.approx(1.0 / fps, rel=1e-9)


def test_wrong_options_are_refused_with_the_valid_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    bvh.save(walker(), path)
    for options, match in (
        ({"up": "w"}, "valid: x"), ({"up": ""}, "valid: x"), ({"scale": 0.0}, "positive"),
        ({"scale": np.nan}, "positive"),
        ({"fps": -1.0}, "within"), ({"asf": path}, "holds its skeleton"),
    ):  # fmt: skip
        with pytest.raises(OutputError, match=match):
            clips.read_clip(path, **options)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match=r"its \.asf file is needed"):
        clips.read_clip(tmp_path / "a.amc")
    with pytest.raises(OutputError, match=r"valid: \.bvh, \.amc"):
        clips.read_clip(tmp_path / "a.fbx")


MEASURE = """
import resource, sys
from surefoot.motions import clips
clip = clips.read_clip(sys.argv[1])
print(len(clip.motion), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_clip_of_50_mb_takes_a_gigabyte_at_most(tmp_path: Path) -> None:
    text = bvh.text(walker(), scale=100.0)
    head, rows = text.split("MOTION")[0], text.splitlines()[-120:]
    short = [" ".join(f"{float(word):.4f}" for word in row.split()) for row in rows]
    repeats = 50 * 1024**2 // sum(len(row) + 1 for row in short)
    lines = ["MOTION", f"Frames: {120 * repeats}", "Frame Time: .0083333", *(short * repeats)]
    (tmp_path / "long.bvh").write_text(head + "\n".join(lines) + "\n")
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "long.bvh")]
    frames, kilobytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(frames) == 120 * repeats
    assert int(kilobytes) <= 1024**2


@pytest.mark.skipif(not CLIPS, reason="SUREFOOT_CLIPS does not name a folder of clips")
@pytest.mark.parametrize(
    ("name", "scale", "fps", "leg"),
    [
        ("cmu_bvh/07_01.bvh", 0.0564444, 120.0, 0.809),
        ("cmu_bvh/91_19.bvh", 0.0564444, 120.0, 0.752),
        ("cmu_bvh/120_13.bvh", 0.0564444, 120.0, 0.837),
        ("100style_bvh/Neutral_FW.bvh", 0.01, 60.0, 0.869),
    ],
)
def test_takes_of_others_are_understood(name: str, scale: float, fps: float, leg: float) -> None:
    clip = clips.read_clip(Path(CLIPS) / name)
    assert clip.scale == pytest.approx(scale, rel=1e-5)
    assert (clip.up, clip.fps) == ("y", fps)
    told = next(note for note in clip.understood if "from hip to ankle" in note and "lengths" in note)
    assert float(told.split("the legs are ")[1].split(" m")[0]) == pytest.approx(leg, abs=0.02)
