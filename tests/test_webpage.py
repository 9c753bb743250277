"""A page that plays a motion back: one file, nothing of this machine in it, nothing from the network."""

from __future__ import annotations

import base64
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError
from surefoot.motions.motion import Motion
from surefoot.studio import motion_page as module
from surefoot.studio.motion_page import FPS, webpage

zstandard = pytest.importorskip("zstandard")
msgspec = pytest.importorskip("msgspec")


@pytest.fixture(scope="module")
def walk() -> Motion:
    return Simulation(skill="human/fast-walk").run(2.0)


@pytest.fixture(scope="module")
def page(walk: Motion) -> bytes:
    return webpage(walk)


def embedded(page: bytes) -> bytes:
    """What the page plays, unpacked."""
    found = re.search(rb'__VISER_EMBED_DATA__="([^"]*)"', page)
    assert found
    return bytes(zstandard.ZstdDecompressor().decompressobj().decompress(base64.b64decode(found[1])[8:]))


def played(page: bytes) -> dict[str, Any]:
    """Its messages and how long it plays [s]."""
    content = embedded(page)
    size = int.from_bytes(content[:8], "little")
    return dict(msgspec.msgpack.decode(content[8 : 8 + size]))


def test_a_page_plays_as_long_as_the_motion_at_thirty_frames_a_second(page: bytes) -> None:
    content = played(page)
    times = sorted({time for time, _ in content["messages"]})
    assert content["durationSeconds"] == pytest.approx(2.0, abs=1.5 / FPS)
    assert len(times) == pytest.approx(2.0 * FPS, abs=3)


def test_ten_seconds_are_a_small_file(walk: Motion) -> None:
    assert len(webpage(Simulation(skill="human/fast-walk").run(10.0))) < 5_000_000


def test_the_figure_moves_and_stays_in_the_middle(page: bytes, walk: Motion) -> None:
    ground = [m["position"] for _, m in played(page)["messages"] if m.get("name") == "/ground" and "position" in m]
    travel = walk.root_position[-1, 0] - walk.root_position[0, 0]
    assert ground[0][0] - ground[-1][0] == pytest.approx(travel, abs=0.4)


def test_nothing_of_this_machine_and_nothing_of_the_network_is_in_a_page(page: bytes) -> None:
    here = Path(module.__file__).resolve()
    for secret in {str(here.parent), str(Path.home()), str(Path.cwd()), os.path.abspath(os.sep + "tmp")}:
        assert len(secret) < 3 or (secret.encode() not in embedded(page) and secret.encode() not in page)
    for word in (socket.gethostname(), "127.0.0.1", "localhost"):
        assert word.encode() not in embedded(page)
    assert not re.search(rb"<(script|link|img|iframe)[^>]+(src|href)=.(https?:)?//", page)


def test_uneven_ground_is_in_the_page() -> None:
    motion = Simulation(skill="human/fast-walk", terrain="slope:5").run(1.0)
    kinds = {m["type"] for _, m in played(webpage(motion))["messages"] if m.get("name") == "/ground"}
    assert any("Mesh" in kind for kind in kinds)


def test_nothing_is_printed_and_no_server_is_left(walk: Motion, capfd: pytest.CaptureFixture[str]) -> None:
    webpage(walk)
    assert capfd.readouterr().out == ""


def test_a_loop_in_place_can_be_saved_as_a_page(walk: Motion, tmp_path: Path) -> None:
    walk.save(tmp_path / "walk.html", loop=True, root_motion=False)
    page = (tmp_path / "walk.html").read_bytes()
    assert page.lstrip()[:15].lower() == b"<!doctype html>"
    assert 0.5 < played(page)["durationSeconds"] < 2.0


def test_a_motion_without_its_body_is_a_stick_figure_that_moves(walk: Motion) -> None:
    bare = Motion(walk.time, walk.skeleton, walk.root_position, walk.rotations)
    page = webpage(bare)
    moved = [m for _, m in played(page)["messages"] if m.get("name") == "/figure/tubes"]
    assert len(moved) > 2.0 * FPS
    assert played(page)["durationSeconds"] == pytest.approx(2.0, abs=1.5 / FPS)


def test_numbers_that_are_not_finite_are_refused(walk: Motion) -> None:
    broken = walk.qpos.copy()
    broken[3, 2] = np.nan
    with pytest.raises(OutputError, match="not finite"):
        webpage(replace(walk, qpos=broken))


def test_without_the_studio_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['viser'] = None\n"
        "import surefoot as sf\n"
        "try:\n    sf.Simulation(skill='planar/walk').run(0.1).save(sys.argv[1])\n"
        "except sf.SurefootError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", program, "walk.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "pip install 'surefoot[studio]'" in done.stdout
