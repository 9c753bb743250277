"""Damaged files of clips, motions and references: read, or refused in one clear line, and at once."""

from __future__ import annotations

import functools
import io
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from strangers_walk import walk
from surefoot.controllers.stylized.reference import load_reference
from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError, SurefootError
from surefoot.motions import bvh
from surefoot.motions.motion import load
from surefoot.motions.npz import npz_bytes
from test_cli import call


@functools.cache
def saved_motion() -> dict[str, np.ndarray]:
    sim = Simulation(skill="human/walk")
    return dict(sim.run(0.5, fps=60.0).arrays())


def written(path: Path, **changes: np.ndarray | None) -> Path:
    """The saved motion with some arrays exchanged, or left out (None)."""
    arrays = {name: table for name, table in (saved_motion() | changes).items() if table is not None}
    path.write_bytes(npz_bytes(arrays))
    return path


def refused(path: Path, *reasons: str) -> None:
    with pytest.raises(SurefootError) as caught:
        load(path)
    message = str(caught.value)
    assert len(message) < 400
    assert path.name in message
    for reason in reasons:
        assert reason in message


def test_the_undamaged_motion_is_read(tmp_path: Path) -> None:
    motion = load(written(tmp_path / "a.npz"))
    assert np.array_equal(motion.qpos, saved_motion()["qpos"])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"time": None}, "lacks time"),
        ({"skeleton_parents": None}, "lacks skeleton_parents"),
        ({"dance": np.zeros(3)}, "holds dance"),
        ({"time": np.zeros((3, 2))}, "time has shape"),
        ({"time": np.arange(31.0)[::-1]}, "times do not increase"),
        ({"time": np.full(31, np.nan)}, "times do not increase"),
        ({"time": np.array(["a"] * 31)}, "time does not hold numbers"),
        ({"rotations": np.zeros((31, 15, 3))}, "rotations has shape"),
        ({"root_position": np.zeros((30, 3))}, "root_position has shape"),
        ({"qpos": np.zeros((7, 4))}, "qpos has 7 frames, not 31"),
        ({"skeleton_names": np.arange(15)}, "not a list of names"),
        ({"skeleton_offsets": np.full((15, 3), np.inf)}, "not finite"),
        ({"skeleton_parents": np.full(15, 99)}, "does not exist"),
        ({"skeleton_parents": np.full(15, -1)}, "not one tree"),
        ({"skeleton_parents": np.array([-1, 2, 1, *range(2, 14)])}, "not one tree"),
        ({"skeleton_parents": np.zeros(15)}, "does not exist"),
    ],
)
def test_a_file_that_holds_no_motion_is_refused_with_what_is_wrong(
    tmp_path: Path, changes: dict[str, np.ndarray | None], reason: str
) -> None:
    refused(written(tmp_path / "a.npz", **changes), reason)


def test_files_that_are_no_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    refused(tmp_path / "missing.npz")
    for content in (b"", b"PK\x03\x04", b"\x00" * 999, b"la la la"):
        path.write_bytes(content)
        refused(path)
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    path.write_bytes(file.getvalue())
    refused(path, "one array")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("time.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': (((((")
    refused(path)
    with zipfile.ZipFile(path, "w") as archive:  # a shape of 8 exabytes
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000,), }\n"
        archive.writestr("time.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    refused(path)


@pytest.mark.parametrize("compressed", [True, False])
def test_whatever_is_damaged_in_a_motion_it_is_read_or_refused_in_one_line(tmp_path: Path, compressed: bool) -> None:
    whole, rng = npz_bytes(saved_motion(), compressed), random.Random(5)
    path, outcomes = tmp_path / "a.npz", list[str | None]()
    for _ in range(400):
        raw, kind = bytearray(whole), rng.choice(["cut", "bytes", "block", "zeros", "double"])
        at = rng.randrange(len(raw))
        if kind == "cut":
            del raw[at:]
        elif kind == "bytes":
            for _ in range(rng.randint(1, 20)):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
        elif kind == "double":
            raw[at:at] = raw[: rng.randint(1, 5000)]
        else:
            size = rng.randint(1, 500)
            raw[at : at + size] = rng.randbytes(size) if kind == "block" else bytes(size)
        path.write_bytes(raw)
        outcomes.append(message_of(load, path))
        assert message_of(load_reference, path) is not None  # nothing of it is a reference
    refusals = [message for message in outcomes if message is not None]
    assert len(refusals) >= 250
    assert not any("\n" in message for message in refusals)


def message_of(read: Callable[[Path], object], path: Path) -> str | None:
    """The line with which a file is refused; None if it is read."""
    try:
        read(path)
    except SurefootError as error:
        return str(error)
    return None


def test_a_damaged_motion_is_refused_by_the_commands_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(npz_bytes(saved_motion())[:20_000])
    outcome = call("gait", path)
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1


@functools.cache
def clip_text() -> str:
    return bvh.text(walk(3.0, fps=60.0)[0])


@pytest.mark.parametrize(
    ("frame_time", "reason"),
    [
        ("120", "--fps 120"), ("60", "--fps 60"), ("1e9", "--fps tells"), ("0.0001", "5 … 1000"), ("1e-7", "5 … 1000"),
        ("0.5", "--fps tells"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["imitate", "follow"])
def test_absurd_times_between_frames_are_refused_at_once_with_what_may_be_meant(
    command: str, frame_time: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(re.sub("Frame Time: .*", f"Frame Time: {frame_time}", clip_text()))
    outcome = call(command, path, "--only-read")
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1
    assert reason in outcome.err


def test_the_frame_rate_can_be_told_where_the_file_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(re.sub("Frame Time: .*", "Frame Time: 60", clip_text()))
    outcome = call("imitate", path, "--only-read", "--fps", "60")
    assert outcome.status == 0
    assert "walks forward" in outcome.out


@pytest.mark.parametrize("frames", [1, 2, 3, 7, 9, 20])
@pytest.mark.parametrize("command", ["imitate", "follow"])
def test_clips_of_a_few_frames_are_refused_at_once(command: str, frames: int, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    lines = clip_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Frames:"))
    path.write_text("\n".join([*lines[:at], f"Frames: {frames}", *lines[at + 1 : at + 2 + frames]]) + "\n")
    outcome = call(command, path, "--only-read")
    assert outcome.status == 2, outcome.out
    assert len(outcome.err.splitlines()) == 1


def test_a_damaged_cache_of_a_balance_policy_is_made_anew(tmp_path: Path) -> None:
    from surefoot.controllers.stylized.balance_policy import _cached

    path = tmp_path / "a.npz"
    path.write_bytes(npz_bytes({"key": np.array("x")})[:50])
    assert _cached(path) == {}
    with pytest.raises(OutputError):
        load(path)
