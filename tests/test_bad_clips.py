"""Files that are broken in every way: one line says what is wrong and where, and nothing else happens."""

from __future__ import annotations

import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.motions import clips

ROTATIONS = "CHANNELS 3 Zrotation Xrotation Yrotation"
BVH = f"""HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg
  {{
    OFFSET 0.1 0 0
    {ROTATIONS}
    End Site
    {{
      OFFSET 0 -0.4 0
    }}
  }}
  JOINT RightUpLeg
  {{
    OFFSET -0.1 0 0
    {ROTATIONS}
  }}
}}
MOTION
Frames: 2
Frame Time: 0.01
1 2 3 4 5 6 7 8 9 10 11 12
1 2 3 4 5 6 7 8 9 10 11 12
"""
ASF = """:units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
:bonedata
  begin
    name thigh
    direction 0 -1 0
    length 7
    axis 0 0 20 XYZ
    dof rx ry rz
  end
  begin
    name shin
    direction 0 -1 0
    length 7
    axis 0 0 20 XYZ
    dof rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 1 2 3 4 5 6\nthigh 1 2 3\nshin 4\n2\nroot 1 2 3 4 5 6\nthigh 1 2 3\nshin 4\n"
LEGS = "".join(
    "".join(f"JOINT {side}{part}\n{{\nOFFSET 0 -0.4 0\n{ROTATIONS}\n" for part in ("UpLeg", "Leg", "Foot")) + 3 * "}\n"
    for side in ("Left", "Right")
)
LEGGED = (
    f"HIERARCHY\nROOT Hips\n{{\nOFFSET 0 0 0\n{ROTATIONS}\n{LEGS}"
    f"JOINT Spine\n{{\nOFFSET 0 0.3 0\n{ROTATIONS}\n}}\n}}\nMOTION\nFrames: 3\nFrame Time: 0.01\n"
    + 3
    * (" ".join(str(7 * i % 50) for i in range(24)) + "\n")
)


def read(kind: str, text: str | bytes, folder: Path) -> clips.Clip:
    """Read files of which one, of this kind, has another text."""
    texts: dict[str, str | bytes] = {"bvh": BVH, "asf": ASF, "amc": AMC} | {kind: text}
    for suffix, each in texts.items():
        (folder / f"a.{suffix}").write_bytes(each if isinstance(each, bytes) else each.encode())
    if kind == "bvh":
        return clips.read_clip(folder / "a.bvh")
    return clips.read_clip(folder / "a.amc", asf=folder / "a.asf")


def refused(kind: str, text: str | bytes, folder: Path) -> str:
    with pytest.raises(SurefootError) as caught:
        read(kind, text, folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert re.search(rf"a\.{kind}:\d+: ", message), message
    return message


@pytest.mark.parametrize("kind", ["bvh", "amc"])
def test_the_unbroken_files_are_read(tmp_path: Path, kind: str) -> None:
    assert len(read(kind, {"bvh": BVH, "amc": AMC}[kind], tmp_path).motion) == 2


def test_the_unbroken_body_with_legs_is_understood(tmp_path: Path) -> None:
    assert read("bvh", LEGGED, tmp_path).scale == 1.0


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("Frames: 2", "Frames: 3", 25, "ends after 2 of 3 frames"),
        ("Frames: 2", "Frames: 1", 25, "more rows than the 1 frames"),
        ("Frames: 2", "Frames: 0", 23, "at least one frame"),
        ("Frames: 2", "Frames: -2", 22, "expected 'Frames: COUNT'"),
        ("Frames: 2", "Frames: 99999999999", 22, "expected 'Frames: COUNT'"),
        ("Frames: 2", "Frames:", 22, "expected 'Frames: COUNT'"),
        ("Frame Time: 0.01", "Frame Time: 0", 23, "positive frame time"),
        ("Frame Time: 0.01", "Frame Time: inf", 23, "not finite"),
        ("11 12\n1", "11\n1", 24, "expected 12 numbers, got 11"),
        ("11 12\n1", "11 nan\n1", 24, "not finite"),
        ("11 12\n1", "11 -inf\n1", 24, "not finite"),
        ("11 12\n1", "11 1e300\n1", 24, "too large"),
        ("11 12\n1", "11 twelve\n1", 24, "could not convert"),
        ("OFFSET 0.1 0 0", "OFFSET 0.1 nan 0", 8, "not finite"),
        ("OFFSET 0.1 0 0", "OFFSET 0.1 0", 8, "expected 3 numbers"),
        ("CHANNELS 6", "CHANNELS 5", 5, "their number"),
        ("Yposition", "Xposition", 5, "at most once"),
        ("MOTION", "}\nMOTION", 21, "MOTION"),
        ("  JOINT RightUpLeg", "  ROOT RightUpLeg", 15, "JOINT"),
        ("HIERARCHY", "", 2, "HIERARCHY"),
    ],
)
def test_a_broken_bvh_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    message = refused("bvh", BVH.replace(old, new, 1), tmp_path)
    assert says in message
    assert f"a.bvh:{line}: " in message


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("thigh shin\n", "thigh shin\nshin thigh\n", 26, "hangs from two bones"),
        ("root thigh\n    thigh shin", "shin thigh\n    thigh shin", 25, "hangs from itself"),
        ("thigh shin\n", "shin shin\n", 25, "hangs from itself"),
        ("root thigh\n", "\n", 26, "does not hang from the root"),
        ("thigh shin\n", "thigh root\n", 25, "the root hangs"),
        ("thigh shin\n", "thigh calf\n", 25, "no bone 'calf'"),
        ("name shin", "name thigh", 16, "a second bone"),
        ("length 7", "length nan", 11, "not finite"),
        ("length 7", "length -7", 11, "not negative"),
        ("length 0.45", "length 0", 2, "positive"),
        ("direction 0 -1 0", "direction 0 0 0", 11, "needs a direction"),
        ("axis 0 0 20 XYZ", "axis 0 0 20 XYY", 12, "order of axes"),
        ("axis 0 0 20 XYZ", "axis 0 0", 12, "expected 3 numbers"),
        ("dof rx ry rz", "dof rx l", 13, "valid are rx, ry, rz"),
        ("  end\n:hierarchy", ":hierarchy", 21, "no 'end'"),
        ("angle deg", "angle gon", 3, "deg or rad"),
        ("axis XYZ\n", "axis XYZ\norientation 0 0 5\n", 7, "orientation"),
        (":units", "units", 1, "expected a section"),
    ],
)
def test_a_broken_skeleton_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    message = refused("asf", ASF.replace(old, new, 1), tmp_path)
    assert says in message
    assert f"a.asf:{line}: " in message


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("shin 4\n2", "2", 6, "ends without shin"),
        ("shin 4\n2", "shin 4 5\n2", 6, "1 channels, got 2"),
        ("shin 4\n2", "shin nan\n2", 3, "not finite"),
        ("shin 4\n2", "shin 4\nshin 4\n2", 7, "second time"),
        ("shin 4\n2", "shin four\n2", 6, "could not convert"),
        ("shin 4\n2", "shin 4\n3", 7, "expected frame 2"),
        ("shin 4\n2", "calf 4\n2", 6, "a bone with channels, got 'calf 4'"),
        (AMC[AMC.index("1\n") :], "", 2, "at least one frame"),
    ],
)
def test_a_broken_amc_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    message = refused("amc", AMC.replace(old, new, 1), tmp_path)
    assert says in message
    assert f"a.amc:{line}: " in message


@pytest.mark.parametrize("kind", ["bvh", "asf", "amc"])
def test_rubbish_and_emptiness_are_refused(tmp_path: Path, kind: str) -> None:
    noise = random.Random(3).randbytes(20_000)
    for text in (
        b"",
        b"\n\n  \n",
        noise,
        b"\x00" * 5000,
        b"\x7fELF\x02\x01\x01" + noise,
        "日本語".encode("utf-16"),
        b"7" * 9000,
    ):
        refused(kind, text, tmp_path)


def test_a_million_joints_and_the_deepest_nest_are_refused_at_once(tmp_path: Path) -> None:
    joint = f"JOINT a\n{{\nOFFSET 0 0 0\n{ROTATIONS}\n"
    head = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\n"
    wide = head + (joint + "}\n") * 1_000_000 + "}\nMOTION\nFrames: 1\nFrame Time: 1\n"
    assert "at most 1000 joints" in refused("bvh", wide, tmp_path)
    assert "at most 1000 joints" in refused("bvh", head + joint * 50_000, tmp_path)
    bones = "".join(f"begin\nname b{i}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\nend\n" for i in range(100_000))
    assert "at most 1000 bones" in refused("asf", f":root\n:bonedata\n{bones}:hierarchy\nbegin\nend\n", tmp_path)


def test_the_deepest_chains_that_are_allowed_are_read(tmp_path: Path) -> None:
    joints = 999
    nest = "".join(f"JOINT LeftLeg\n{{\nOFFSET 0 {i % 7} 0\nCHANNELS 1 Zrotation\n" for i in range(joints))
    head = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\n"
    row = " ".join("1" for _ in range(joints))
    text = f"{head}{nest}{'}' + chr(10)}{('}' + chr(10)) * joints}MOTION\nFrames: 1\nFrame Time: 0.01\n{row}\n"
    assert len(read("bvh", text, tmp_path).motion.skeleton.names) == 1000
    names = [f"b{i}" for i in range(1000)]
    bones = "".join(f"begin\nname {n}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\nend\n" for n in names)
    tree = "\n".join(f"{a} {b}" for a, b in zip(["root", *names], names, strict=False))
    skeleton = f":root\norder RX RY RZ\n:bonedata\n{bones}:hierarchy\nbegin\n{tree}\nend\n"
    (tmp_path / "a.amc").write_text("1\nroot 1 2 3\n")
    (tmp_path / "a.asf").write_text(skeleton)
    assert len(clips.read_clip(tmp_path / "a.amc", asf=tmp_path / "a.asf").motion.skeleton.names) == 1001


def test_a_missing_file_and_a_folder_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.bvh").mkdir()
    for name in ("nothing.bvh", "folder.bvh"):
        with pytest.raises(SurefootError, match="cannot read"):
            clips.read_clip(tmp_path / name)


def test_extreme_frame_times_do_no_harm(tmp_path: Path) -> None:
    for value in ("5e-324", "1e-300", "1e-7", "1e-4", "1", "120", "1e8"):
        with pytest.raises(SurefootError, match="frames"):
            read("bvh", BVH.replace("0.01", value), tmp_path)
    clip = read("bvh", BVH.replace("0.01", "0.1"), tmp_path)
    assert any("unusual for motion capture" in note for note in clip.unsure)


WORDS = (
    *("nan", "inf", "-1e308", "1e-320", "0", "-7", "99999999", "١٢", "1_0"),
    *("{", "}", "JOINT", "ROOT x", "End Site", "MOTION", "begin", "end", "root", "thigh shin", ":bonedata", ":root"),
    *("\x00", "\x85", "\t", "# ", "// ", ":", "\r"),
)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> bytes:
    """The text with a few words, lines or bytes lost, exchanged, repeated or put in."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(start + draw(st.sampled_from([0, 0, 1, 2, 8, 40, 200])), len(text))
        kind = draw(st.sampled_from(["cut", "put", "repeat", "truncate", "word", "line"]))
        if kind == "truncate":
            text = text[:start]
        elif kind == "repeat":
            text = text[:end] + text[start:end] * draw(st.integers(1, 3)) + text[end:]
        elif kind == "line":
            lines = text.split("\n")
            i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
        elif kind == "word":
            words = re.split(r"(\s+)", text)
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS))
            text = "".join(words)
        else:
            put = draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=5))) if kind == "put" else ""
            text = text[:start] + put + text[end:]
    raw = text.encode("utf-8", errors="surrogatepass")
    if raw and draw(st.booleans()) and draw(st.booleans()):
        at = draw(st.integers(0, len(raw) - 1))
        raw = raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]
    return raw


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "text"), [("bvh", BVH), ("bvh", LEGGED), ("asf", ASF), ("amc", AMC)])
@settings(deadline=None, max_examples=250)
@given(data=st.data())
def test_whatever_is_done_to_a_file_it_is_read_or_refused_in_one_line(
    kind: str, text: str, data: st.DataObject
) -> None:
    raw = data.draw(mutated(text))
    clip, refusal = None, ""
    with TemporaryDirectory() as folder:
        try:
            clip = read(kind, raw, Path(folder))
        except SurefootError as error:
            refusal = str(error)
    assert "\n" not in refusal
    if clip is None:
        return
    assert np.isfinite(clip.motion.rotations).all()
    assert np.isfinite(clip.motion.root_position).all()
    assert np.isfinite(clip.motion.skeleton.offsets).all()
    np.testing.assert_allclose(np.linalg.norm(clip.motion.rotations, axis=-1), 1.0, atol=1e-9)
    assert clip.scale > 0.0
    assert clip.understood
