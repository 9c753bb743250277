"""The examples are a course: each runs as it stands, says something true, and writes only where it is told to."""

from __future__ import annotations

import ast
import csv
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import surefoot as sf
import surefoot.gym as sg

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
WRITES = {
    "01_walk": {"walk.png", "walk.npz"},
    "02_push": {"push.png"},
    "03_switch_gaits": {"last-gait.csv"},
    "04_population": {"population.csv"},
    "05_edit_a_skill": {"search.csv"},
    "06_snapshots": {"future--200.npz", "future-+0.npz", "future-+200.npz"},
    "07_human": {"pushed.png"},
    "08_export": {"skip.glb", "skip-loop.bvh"},
    "09_directions": {"directions.csv"},
    "10_gym": {"search.csv"},
    "11_imported_body": {"mine.xml", "mine.png"},
    "12_follow_path": {"paths.csv"},
    "13_limit_cycle": {"march.png"},
    "14_watch_your_step": {"pushed.png"},
    "15_stylized": {"downhill.png", "pushed.png"},
}


def run(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[str, Path]:
    """What an example prints when it is run from an empty folder and told to write to another."""
    here, there = folder / "here", folder / "there"
    here.mkdir()
    there.mkdir()
    path = next(p for p in EXAMPLES if p.stem == name)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "argv", [str(path), str(there)])
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr()
    assert os.listdir(here) == []
    assert set(os.listdir(there)) == WRITES[name]
    assert printed.err == ""
    assert 3 <= len(printed.out.splitlines()) <= 15
    return printed.out, there


def test_the_examples_are_a_numbered_course_of_short_documented_scripts() -> None:
    assert [path.stem for path in EXAMPLES] == list(WRITES)
    for number, path in enumerate(EXAMPLES, start=1):
        text = path.read_text()
        assert path.name.startswith(f"{number:02d}_")
        assert len(text.splitlines()) <= 40
        assert ast.get_docstring(ast.parse(text))


def test_the_examples_use_the_public_interface_only() -> None:
    for path in EXAMPLES:
        tree = ast.parse(path.read_text())
        imports = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        sources = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert imports <= {"surefoot", "surefoot.gym", "numpy", "sys", "tempfile", "time"}
        assert sources <= {"pathlib"}
        for short, module in (("sf", sf), ("sg", sg)):
            used = {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == short
            }
            assert used <= set(module.__all__)


def test_an_example_runs_as_a_program_without_arguments(tmp_path: Path) -> None:
    environment = dict(os.environ) | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, str(EXAMPLES[0])]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = re.findall(r"wrote (\S+)", done.stdout)
    assert len(written) == 2
    assert all(Path(path).is_file() and Path(path).is_relative_to(tmp_path) for path in written)


def test_01_walks_and_saves_a_filmstrip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("01_walk", tmp_path, monkeypatch, capsys)
    motion = sf.load_motion(there / "walk.npz")
    distance = motion.root_position[-1, 0] - motion.root_position[0, 0]
    assert f"walked {distance:.2f} m in 5.0 s, and stands" in out
    assert 3.0 < distance < 8.0
    with Image.open(there / "walk.png") as picture:
        assert picture.width > 2 * picture.height > 200


def test_02_small_pushes_are_survived_and_a_huge_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run("02_push", tmp_path, monkeypatch, capsys)
    lines = [line for line in out.splitlines() if " N for " in line]
    assert "recovered" in lines[0]
    assert "fell at" in lines[-1]
    fell = float(re.search(r"fell at ([\d.]+) s", lines[-1]).group(1))  # type: ignore[union-attr]
    assert 2.5 < fell < 8.0


def test_03_every_switch_happens_within_a_step_and_nobody_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("03_switch_gaits", tmp_path, monkeypatch, capsys)
    waits = [float(b) - float(a) for a, b in re.findall(r"at ([\d.]+) s, got it at ([\d.]+) s", out)]
    assert len(waits) == 2
    assert all(0.0 < wait < 1.0 for wait in waits)
    assert out.count("upright") == 3
    with (there / "last-gait.csv").open() as file:
        times = [float(row["time"]) for row in csv.DictReader(file)]
    assert times[-1] - times[0] == pytest.approx(4.0)


def test_04_of_two_hundred_walkers_the_hardest_push_fells_more_than_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("04_population", tmp_path, monkeypatch, capsys)
    table = np.loadtxt(there / "population.csv", delimiter=",", skiprows=1)
    assert table.shape == (200, 3)
    stands = np.isinf(table[:, 2])
    assert f"{stands.sum()} of 200 still stand" in out
    forces = np.unique(table[:, 1])
    gentle, hard = (stands[table[:, 1] == force].mean() for force in (forces[0], forces[-1]))
    assert gentle > hard
    assert gentle >= 0.5


def test_05_changed_numbers_change_the_gait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("05_edit_a_skill", tmp_path, monkeypatch, capsys)
    printed, changed, blended, fastest = (float(v) for v in re.findall(r"([\d.]+) m/s", out))
    assert 0.5 < printed < 1.6
    assert changed != printed
    assert blended > 0.0
    table = np.loadtxt(there / "search.csv", delimiter=",", skiprows=1)
    assert table[:, 1].max() == pytest.approx(fastest, abs=0.005)
    assert fastest >= printed - 0.005


def test_06_futures_differ_and_the_replay_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("06_snapshots", tmp_path, monkeypatch, capsys)
    assert "replayed bit for bit: True" in out
    places = [float(x) for x in re.findall(r"x = (-?[\d.]+) m", out)]
    assert len(set(places)) == 3
    assert all(sf.load_motion(there / name).time[0] == pytest.approx(2.0) for name in WRITES["06_snapshots"])


def test_07_the_human_turns_to_the_left_and_stays_upright_when_pushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run("07_human", tmp_path, monkeypatch, capsys)
    ways = [float(degrees) for degrees in re.findall(r"towards (-?\d+)°", out)]
    assert len(ways) == 4
    assert abs(ways[0]) <= 10.0 < ways[1] < 80.0
    assert all(75.0 <= way <= 115.0 for way in ways[2:])
    assert ways[2] > 90.0  # the push was to its left
    assert out.count("upright") == 4


def test_08_the_exported_cycle_ends_as_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("08_export", tmp_path, monkeypatch, capsys)
    assert "and goes on" in out
    clip = sf.load_motion(there / "skip-loop.bvh")
    assert f"{len(clip)} frames of {len(clip.skeleton.names)} joints" in out
    assert 0.5 < clip.time[-1] < 1.5
    assert float(re.search(r"against the first: ([\d.]+)°", out).group(1)) < 0.01  # type: ignore[union-attr]
    assert (there / "skip.glb").read_bytes()[:4] == b"glTF"


def test_09_of_eight_directions_gentle_pushes_are_survived_and_the_hardest_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("09_directions", tmp_path, monkeypatch, capsys)
    table = np.loadtxt(there / "directions.csv", delimiter=",", skiprows=1)
    assert table.shape == (32, 3)
    stands = np.isinf(table[:, 2])
    assert f"{stands.sum()} of 32 still stand" in out
    assert len(np.unique(table[:, 0])) == 8
    assert stands[table[:, 1] == table[:, 1].min()].all()
    assert not stands[table[:, 1] == table[:, 1].max()].all()


def test_10_the_search_earns_more_with_every_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("10_gym", tmp_path, monkeypatch, capsys)
    table = np.loadtxt(there / "search.csv", delimiter=",", skiprows=1)
    assert table.shape == (3, 5)
    assert (np.diff(table[:, 1]) > 0.0).all()
    assert (table[:, 2] >= table[:, 1]).all()
    assert (np.abs(table[:, 3:]) <= 1.0).all()
    said = re.findall(r"generation \d: (\d+) on average, (\d+) at best", out)
    assert np.array(said, float) == pytest.approx(table[:, 1:3], abs=0.5)


def test_11_a_body_from_a_file_walks_at_the_speed_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("11_imported_body", tmp_path, monkeypatch, capsys)
    assert "left out: 12 actuators" in out
    assert "lacks: toes, waist, neck, arms" in out
    distance = float(re.search(r"walked ([\d.]+) m in 8.0 s, and goes on", out).group(1))  # type: ignore[union-attr]
    assert 0.8 * 0.5 * 8.0 < distance < 1.2 * 0.5 * 8.0
    assert "<position" in (there / "mine.xml").read_text()
    with Image.open(there / "mine.png") as picture:
        assert picture.width > 2 * picture.height > 200


def test_12_the_path_is_walked_to_its_end_alone_and_in_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, there = run("12_follow_path", tmp_path, monkeypatch, capsys)
    assert out.startswith("done: stands ")
    passed = [float(off) for off in re.findall(r"passed \(.*\) at ([\d.]+) m", out)]
    assert len(passed) == 3
    assert max(passed) <= 0.3
    assert out.count("m/s: stands ") == 4
    table = np.loadtxt(there / "paths.csv", delimiter=",", skiprows=1)
    assert table.shape[1] == 9
    ends = table[-1, 1:].reshape(4, 2)
    assert np.hypot(*(ends - (3.0, 3.0)).T).max() < 0.3
    halfway = table[len(table) // 3, 1::2]  # the faster, the farther
    assert (np.diff(halfway) > 0.0).all()


def test_13_a_march_falls_by_itself_and_not_with_trials_or_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run("13_limit_cycle", tmp_path, monkeypatch, capsys)
    lines = out.splitlines()
    assert 1.0 < float(re.search(r"fell at ([\d.]+) s", lines[0]).group(1)) < 6.0  # type: ignore[union-attr]
    assert "upright" in lines[1]
    assert "upright" in lines[2]
    assert "fell" not in "".join(lines[1:])


def test_14_it_sways_steps_walks_and_bends_its_knees_under_a_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run("14_watch_your_step", tmp_path, monkeypatch, capsys)
    small, large, way, *boxes, _ = out.splitlines()
    assert small.endswith(" 0 steps")
    assert int(large.split()[-2]) >= 1
    assert 2.0 < float(way.split()[1]) < 4.5
    bends = [float(line.split()[-1].removesuffix("°")) for line in boxes]
    assert bends == sorted(bends)
    assert bends[-1] >= bends[0] + 2.0


def test_15_what_is_followed_goes_downhill_bears_a_push_and_goes_over_into_another_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run("15_stylized", tmp_path, monkeypatch, capsys)
    downhill, pushed, step, walk, _ = out.splitlines()
    assert float(downhill.split()[-5]) > 3.0
    assert pushed.endswith("went on")
    assert abs(float(step.split()[3])) < 1.0 < float(walk.split()[3])
