from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image

from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError
from surefoot.motions import formats, video
from surefoot.motions.motion import Motion, load


@pytest.fixture(scope="module")
def walk() -> Motion:
    return Simulation(skill="walk").run(1.0)


def read_csv(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    return dict(zip(header, np.array(rows, float).T, strict=True))


def test_npz_loads_back_equal(walk: Motion, tmp_path: Path) -> None:
    walk.save(tmp_path / "walk.npz")
    back, before = load(tmp_path / "walk.npz").arrays(), walk.arrays()
    assert back.keys() == before.keys()
    for key, array in before.items():
        assert np.array_equal(back[key], array), key
        assert back[key].dtype == array.dtype, key


def test_csv_holds_every_number_exactly_under_its_name(walk: Motion, tmp_path: Path) -> None:
    formats.save(walk, tmp_path / "walk.csv")
    table = read_csv(tmp_path / "walk.csv")
    assert walk.scene is not None
    model = walk.scene.model
    assert np.array_equal(table["time"], walk.time)
    for i, axis in enumerate("xyz"):
        assert np.array_equal(table[f"root_{axis}"], walk.root_position[:, i])
        assert np.array_equal(table[f"force_right_{axis}"], walk.contact_force[:, 1, i])
    knee = model.joint("left_knee")
    assert np.array_equal(table["qpos_left_knee"], walk.qpos[:, knee.qposadr[0]])
    assert np.array_equal(table["qvel_left_knee"], walk.qvel[:, knee.dofadr[0]])
    assert np.array_equal(table["torque_right_hip"], walk.torque[:, model.actuator("right_hip").id])
    assert np.array_equal(table["state"], walk.state)
    assert np.array_equal(table["phase"], walk.phase)
    assert len(table) == 1 + 3 + model.nq + model.nv + model.nu + 6 + 3 + 3 + 2 + 2 + 2


def test_csv_without_a_scene_counts_instead_of_naming(walk: Motion, tmp_path: Path) -> None:
    formats.save(replace(walk, scene=None), tmp_path / "walk.csv")
    table = read_csv(tmp_path / "walk.csv")
    assert np.array_equal(table["qpos_4"], walk.qpos[:, 4])
    assert np.array_equal(table["torque_3"], walk.torque[:, 3])
    assert np.array_equal(table["force_1_z"], walk.contact_force[:, 1, 2])


def test_csv_of_a_motion_that_was_not_simulated_has_its_rotations(walk: Motion, tmp_path: Path) -> None:
    bare = Motion(walk.time, walk.skeleton, walk.root_position, walk.rotations)
    formats.save(bare, tmp_path / "bare.csv")
    table = read_csv(tmp_path / "bare.csv")
    assert np.array_equal(table["rotation_left_shin_w"], walk.rotations[:, walk.skeleton.names.index("left_shin"), 0])
    assert len(table) == 1 + 3 + 4 * len(walk.skeleton.names)


def test_png_is_a_filmstrip(walk: Motion, tmp_path: Path) -> None:
    formats.save(walk, tmp_path / "walk.PNG")
    with Image.open(tmp_path / "walk.PNG") as image:
        assert image.format == "PNG"
        assert image.size == (1600, 360)
        assert len(image.convert("RGB").getcolors(1_000_000) or []) > 50


def test_gif_has_a_picture_for_every_fiftieth_of_a_second(walk: Motion, tmp_path: Path) -> None:
    formats.save(walk, tmp_path / "walk.gif")
    with Image.open(tmp_path / "walk.gif") as film:
        assert film.n_frames == 51  # type: ignore[attr-defined]
        assert film.info["duration"] == 20
        assert film.size == (640, 360)


def test_mp4_plays_at_the_motions_own_rate(walk: Motion, tmp_path: Path) -> None:
    formats.save(walk, tmp_path / "walk.mp4")
    with imageio.get_reader(tmp_path / "walk.mp4") as film:
        assert film.get_meta_data()["fps"] == pytest.approx(60.0)
        assert film.count_frames() == len(walk)
        assert film.get_data(30).shape == (360, 640, 3)
        assert film.get_data(30).std() > 5.0


def test_mp4_takes_odd_sizes(walk: Motion, tmp_path: Path) -> None:
    short = replace(walk, **{key: getattr(walk, key)[:5] for key in ("time", "root_position", "rotations", "qpos")})
    (tmp_path / "odd.mp4").write_bytes(video.mp4(short, 201, 121))
    with imageio.get_reader(tmp_path / "odd.mp4") as film:
        assert film.get_data(0).shape == (122, 202, 3)


@pytest.mark.parametrize("suffix", formats.suffixes())
def test_every_format_can_be_written_without_a_scene(walk: Motion, tmp_path: Path, suffix: str) -> None:
    short = {key: getattr(walk, key)[:3] for key in ("time", "root_position", "rotations")}
    formats.save(Motion(skeleton=walk.skeleton, **short), tmp_path / f"bare{suffix}")
    assert (tmp_path / f"bare{suffix}").stat().st_size > 100
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["walk.bvhh", "walk", "walk.npz.txt"])
def test_unknown_suffix_lists_the_valid_ones_and_writes_nothing(walk: Motion, tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"\.npz, \.csv, \.png, \.gif, \.mp4"):
        formats.save(walk, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", formats.suffixes())
def test_missing_folder_is_one_clear_line(walk: Motion, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "file").write_text("kept")
    for parent in ("missing", "file", "nul\0"):
        with pytest.raises(OutputError, match="cannot write") as caught:
            formats.save(walk, tmp_path / parent / f"walk{suffix}")
        assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".png"])
def test_a_target_that_cannot_be_replaced_leaves_nothing_behind(walk: Motion, tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"walk{suffix}").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        formats.save(walk, tmp_path / f"walk{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == [f"walk{suffix}"]


@pytest.mark.parametrize("suffix", [".png", ".gif", ".mp4"])
def test_a_motion_that_cannot_be_drawn_keeps_the_old_file(walk: Motion, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"walk{suffix}"
    target.write_text("old")
    with pytest.raises(OutputError, match="not finite"):
        formats.save(replace(walk, root_position=walk.root_position * np.nan), target)
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
