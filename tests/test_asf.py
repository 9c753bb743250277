from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from surefoot.errors import OutputError
from surefoot.lab.experiment import Result, Setting, run_experiment
from surefoot.lab.reproduce import experiments, round_trip
from surefoot.motions import acclaim, bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import world_poses

CLIPS = os.environ.get("SUREFOOT_CLIPS", "")
needs_clips = pytest.mark.skipif(not CLIPS, reason="SUREFOOT_CLIPS does not name a folder of clips")

SKELETON = """# made for tests
:version 1.10
:name test
:units
  mass 1.0
  length 0.5
  angle deg
:documentation
  a root and three bones
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0.3 -0.9 0.2
    length 7.5
    axis 10 -25 40 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
    id 2
    name shin
    direction 0.1 -2.0 0.3
    length 6.25
    axis 0 35 -15 ZXY
    dof rz rx
  end
  begin
    id 3
    name foot
    direction 0 0 1
    length 2
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root thigh
    shin foot
    thigh shin
  end
"""
MOTION = """#!OML:ASF nothing
:FULLY-SPECIFIED
:DEGREES
1
root 1.5 17 -3 12 -34 56
thigh -20 31 12
shin 14 47
2
root 1.75 17.5 -2.5 14 -36 59
shin 15 49
thigh -21 33 9
"""


def files(folder: Path, skeleton: str = SKELETON, motion: str = MOTION) -> tuple[Path, Path]:
    one, other = folder / "take.amc", folder / "body.asf"
    one.write_text(motion)
    other.write_text(skeleton)
    return one, other


def test_bones_are_where_the_formats_rules_put_them(tmp_path: Path) -> None:
    """An independent reading with matrices: R = Rz Ry Rx, C M C⁻¹, bones from their parents' ends on."""
    motion = acclaim.load(*files(tmp_path), fps=50.0, up="z", forward="x")  # the file's own axes
    assert motion.skeleton.names == ("root", "thigh", "shin", "foot")
    assert motion.time == pytest.approx([0.0, 0.02])
    rows = [
        ([1.5, 17, -3], [12, -34, 56], [-20, 31, 12], [47, 14]),
        ([1.75, 17.5, -2.5], [14, -36, 59], [-21, 33, 9], [49, 15]),
    ]
    places, turns = world_poses(motion)
    for now, (place, root, thigh, shin) in enumerate(rows):
        frame = Rotation.from_euler("xyz", root, degrees=True)  # about fixed axes, x first
        own = Rotation.from_euler("xyz", [10, -25, 40], degrees=True)
        upper = frame * own * Rotation.from_euler("xyz", thigh, degrees=True) * own.inv()
        own = Rotation.from_euler("zxy", [-15, 0, 35], degrees=True)
        lower = upper * own * Rotation.from_euler("zx", [shin[1], shin[0]], degrees=True) * own.inv()
        knee = place + upper.apply(7.5 * np.array([0.3, -0.9, 0.2]) / np.linalg.norm([0.3, -0.9, 0.2]))
        ankle = knee + lower.apply(6.25 * np.array([0.1, -2.0, 0.3]) / np.linalg.norm([0.1, -2.0, 0.3]))
        np.testing.assert_allclose(places[now], [place, place, knee, ankle], atol=1e-9)
        found = Rotation.from_quat(turns[now, 3], scalar_first=True)
        assert (found * lower.inv()).magnitude() < 1e-9


def test_metres_and_axes_are_chosen_as_for_bvh(tmp_path: Path) -> None:
    raw = acclaim.load(*files(tmp_path), up="z", forward="x")
    ours = acclaim.load(*files(tmp_path), scale=20.0)  # y up, z forward
    np.testing.assert_allclose(world_poses(ours)[0], world_poses(raw)[0][..., [2, 0, 1]] / 20.0, atol=1e-12)
    assert acclaim.metres_per_unit(tmp_path / "body.asf") == pytest.approx(0.0508)


def test_radians_are_told_by_each_file_for_itself(tmp_path: Path) -> None:
    degrees = acclaim.load(*files(tmp_path))
    rows = [line.split() for line in MOTION.replace(":DEGREES", ":RADIANS").splitlines()]
    for words in rows:
        first = {"root": 4, "thigh": 1, "shin": 1}.get(words[0], len(words))
        words[first:] = [repr(float(np.radians(float(word)))) for word in words[first:]]
    radians = acclaim.load(*files(tmp_path, motion="\n".join(map(" ".join, rows))))
    np.testing.assert_allclose(radians.rotations, degrees.rotations, atol=1e-12)


def test_channels_come_back_as_they_were(tmp_path: Path) -> None:
    amc, body = files(tmp_path)
    motion = acclaim.load(amc, body, scale=17.0)
    table = acclaim.read_asf(body)
    (tmp_path / "again.amc").write_text(acclaim.amc_text(motion, body, scale=17.0))
    before, after = (acclaim.read_amc(path, table)[0] for path in (amc, tmp_path / "again.amc"))
    np.testing.assert_allclose(after, before, atol=2e-9)


def test_a_turn_of_more_than_a_right_angle_and_a_whole_spin_come_back(tmp_path: Path) -> None:
    spin = np.linspace(-150.0, 200.0, 40)
    lines = [f"{i + 1}\nroot 0 17 0 3 {a:.4f} 5\nthigh 4 {0.5 * a:.4f} -7\nshin 1 2" for i, a in enumerate(spin)]
    amc, body = files(tmp_path, motion=":DEGREES\n" + "\n".join(lines))
    found = acclaim.amc_channels(acclaim.load(amc, body), body)
    start = found["root"] - found["root"][0]
    np.testing.assert_allclose(np.abs(start[:, 4]), spin - spin[0], atol=1e-3)
    again = acclaim.load(*files(tmp_path, motion=acclaim.amc_text(acclaim.load(amc, body), body)))
    off = quat.log(quat.multiply(quat.inverse(acclaim.load(amc, body).rotations), again.rotations))
    assert np.abs(off).max() < 1e-9


def test_another_skeletons_motion_is_not_written(tmp_path: Path) -> None:
    amc, body = files(tmp_path)
    motion = acclaim.load(amc, body)
    body.write_text(SKELETON.replace("shin", "calf"))
    with pytest.raises(OutputError, match="not the skeleton"):
        acclaim.amc_text(motion, body)


@needs_clips
@pytest.mark.parametrize(("skeleton", "take"), [("07", "07_05"), ("09", "09_06"), ("131", "131_04")])
def test_a_take_agrees_with_its_bvh_twin(skeleton: str, take: str) -> None:
    folder = Path(CLIPS)
    motion = acclaim.load(folder / f"cmu_asfamc/{take}.amc", folder / f"cmu_asfamc/{skeleton}.asf")
    twin = bvh.load(folder / f"cmu_bvh/{take}.bvh")
    assert round_trip.twins_apart(motion, twin) < 2e-4  # units; the twin is printed with four digits
    head = [m.skeleton.names.index(name) for m, name in ((motion, "head"), (twin, "Head"))]
    high = np.linalg.norm(world_poses(motion)[0][:, head[0]] - world_poses(twin)[0][1:, head[1]], axis=1)
    thorax = acclaim.read_asf(folder / f"cmu_asfamc/{skeleton}.asf").bones
    length = next(bone.length for bone in thorax if bone.name == "thorax")
    np.testing.assert_allclose(high, length, atol=1e-3)  # the bone the conversion left out


def test_without_clips_the_comparisons_are_rows_that_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_CLIPS", raising=False)
    result = Result("motions/round-trip", "")
    round_trip.run(result, Setting(quick=True))
    assert [row.holds for row in result.rows] == [True, False, False, False]
    assert all("SUREFOOT_CLIPS" in row.ours for row in result.rows[1:])


def test_what_was_not_run_is_run_when_the_clips_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_CLIPS", raising=False)
    experiment, setting = experiments()["motions/round-trip"], Setting(quick=True, out=tmp_path / "out")
    assert "not run" in run_experiment(experiment, setting).rows[1].ours
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "a.bvh").write_text(bvh.text(acclaim.load(*files(tmp_path))))
    monkeypatch.setenv("SUREFOOT_CLIPS", str(clips))
    rows = run_experiment(experiment, setting).rows
    assert rows[1].ours.startswith("1 of 1 files exact")
    assert rows[1].holds
    assert not rows[2].holds  # no AMC files


@needs_clips
def test_a_file_of_others_comes_back_as_printed(tmp_path: Path) -> None:
    for path in (Path(CLIPS) / "cmu_bvh/09_06.bvh", Path(CLIPS) / "cmu_bvh/16_22.bvh"):
        trip = round_trip.bvh_trip(path, tmp_path / "again.bvh")
        assert trip.exact
        assert trip.values > 10_000


def test_a_changed_value_is_noticed_by_the_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure can fail: a writer that loses the last printed digit is caught."""
    rows = (
        "1.2345 2.3456 3.4567 10.1234 20.2345 30.3456\n1.5 2.5 3.5 11 21 31\n1.25 2.25 3.25 12.1234 22.2345 32.4567\n"
    )
    channels = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
    text = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS {channels}\nJOINT b\n{{\nOFFSET 1 2 3\nCHANNELS 0\n}}\n}}\n"
    path = tmp_path / "take.bvh"
    path.write_text(f"{text}MOTION\nFrames: 3\nFrame Time: 0.01\n{rows}")
    assert round_trip.bvh_trip(path, tmp_path / "again.bvh").exact
    true = bvh.text
    monkeypatch.setattr(
        bvh, "text", lambda *a, **k: true(*a, **k).replace("30.3456", "30.3457").replace("1.2345", "1.2346")
    )
    assert not round_trip.bvh_trip(path, tmp_path / "again.bvh").exact


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_angles_make_their_rotations_both_ways_and_go_on_smoothly(order: str) -> None:
    steps = np.random.default_rng(6).normal(scale=0.2, size=(300, 3)).cumsum(axis=0)  # passes right angles
    turns = Rotation.from_euler(order, steps)
    found = quat.euler_angles(turns.as_quat(scalar_first=True), ["XYZ".index(axis) for axis in order])
    for way in (found, quat.other_euler_solution(found)):
        assert (Rotation.from_euler(order, way) * turns.inv()).magnitude().max() < 1e-9
    assert np.abs(np.diff(found, axis=0)).max() < 1.0
    assert np.abs(steps[:, 1]).max() > 2.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_turn_about_an_own_axis_is_the_product_with_it(axis: int) -> None:
    rng = np.random.default_rng(7)
    q, angle = rng.normal(size=(5, 3, 4)), rng.normal(scale=3.0, size=(5, 3))
    expected = quat.multiply(q, quat.exp(angle[..., None] * np.eye(3)[axis]))
    np.testing.assert_allclose(quat.rotate_about_own_axis(q, axis, angle), expected, atol=1e-12)
