"""Saving the last seconds: whole, exact, in the folder and nowhere else, while time goes on."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from surefoot.engine.scene import Setup
from surefoot.errors import CommandError, SurefootError
from surefoot.motions import bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.formats import suffixes
from surefoot.motions.motion import load
from surefoot.studio.app import Studio
from surefoot.studio.panels import record_tab
from surefoot.studio.panels.record_tab import FORMATS, SKINNED, Exporter, ExportJob, RecordTab
from surefoot.studio.session import Session, motion_from_moments


def passed(session: Session, seconds: float) -> Session:
    for _ in range(round(60 * seconds)):
        session.step_frame()
    return session


@pytest.fixture(scope="module")
def session() -> Session:
    return passed(Session(Setup("human/fast-walk")), 6.0)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(Setup("planar/walk"), port=0, folder=tmp_path)
    studio.loop.call(lambda: passed(studio.session, 4.0))
    yield studio
    studio.stop()


def tab(studio: Studio) -> RecordTab:
    return next(panel for panel in studio._panels if isinstance(panel, RecordTab))


def written(studio: Studio, label: str, name: str, **options: object) -> Path:
    """Press Save and wait."""
    record = tab(studio)
    record._format.value, record._name.value, record._seconds.value = label, name, 3.0
    for option, value in options.items():
        getattr(record, f"_{option}").value = value
    studio.loop.call(record.save)
    record._saver.wait(1800.0)
    return studio.folder / f"{name}{FORMATS[label]}"


def test_every_format_that_can_be_written_is_offered() -> None:
    assert set(FORMATS.values()) == set(suffixes())


def test_moments_of_another_thread_make_the_same_motion(session: Session) -> None:
    here, found = session.motion(3.0).arrays(), {}
    moments = session.moments(3.0)
    thread = threading.Thread(target=lambda: found.update(motion_from_moments(moments).arrays()))
    thread.start()
    thread.join()
    assert found.keys() == here.keys()
    assert all(np.array_equal(found[key], here[key]) for key in here)


def test_looking_back_saves_what_is_seen_and_not_what_came_after(session: Session) -> None:
    session.look_back(2.0)
    shown = session.sim.time
    motion = session.motion(1.5)
    session.shown = None
    assert motion.time[-1] == shown
    assert motion.time[0] == pytest.approx(shown - 1.5, abs=0.02)


def test_npz_and_csv_hold_the_motion_at_the_rate_that_was_asked_for(session: Session, tmp_path: Path) -> None:
    for name in ("a.npz", "a.csv"):
        Exporter(lambda _: None, pytest.fail)._write(ExportJob(session.moments(2.0), tmp_path / name, 30.0))
    motion, back = session.motion(2.0), load(tmp_path / "a.npz")
    np.testing.assert_allclose(np.diff(back.time), 1.0 / 30.0)
    assert back.time[0] == motion.time[0]
    np.testing.assert_allclose(
        back.root_position[:, 0], np.interp(back.time, motion.time, motion.root_position[:, 0]), atol=1e-9
    )
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["time"]) for row in rows] == back.time.tolist()
    knee = [float(row["qpos_left_knee"]) for row in rows]
    place = session.sim.model.joint("left_knee").qposadr[0]
    np.testing.assert_allclose(knee, np.interp(back.time, motion.time, motion.qpos[:, place]), atol=1e-9)


def test_a_bvh_is_read_again_as_it_was_saved(session: Session, tmp_path: Path) -> None:
    Exporter(lambda _: None, pytest.fail)._write(ExportJob(session.moments(3.0), tmp_path / "a.bvh", 60.0))
    Exporter(lambda _: None, pytest.fail)._write(ExportJob(session.moments(3.0), tmp_path / "a.npz", 60.0))
    one, other = bvh.load(tmp_path / "a.bvh"), load(tmp_path / "a.npz")
    assert len(one) == len(other) > 170
    np.testing.assert_allclose(one.root_position, other.root_position, atol=1e-6)
    order = [other.skeleton.names.index(name) for name in one.skeleton.names]
    off = quat.log(quat.multiply(quat.inverse(one.rotations), other.rotations[:, order]))
    assert np.abs(off).max() < 1e-6


def test_a_loop_in_place_ends_as_it_began(session: Session, tmp_path: Path) -> None:
    order = ExportJob(session.moments(5.0), tmp_path / "a.npz", 60.0, root_motion=False, loop=True)
    Exporter(lambda _: None, pytest.fail)._write(order)
    back = load(tmp_path / "a.npz")
    off = quat.log(quat.multiply(quat.inverse(back.rotations[0]), back.rotations[-1]))
    assert np.abs(off).max() < 1e-6
    assert np.abs(back.root_position[-1] - back.root_position[0]).max() < 1e-3
    assert 0.5 < np.ptp(back.time) < 2.0
    middle = quat.log(quat.multiply(quat.inverse(back.rotations[0]), back.rotations[len(back) // 2]))
    assert np.abs(middle).max() > 0.3  # it moves in between


@pytest.mark.parametrize("label", [label for label in FORMATS if FORMATS[label] != ".mp4"])
def test_the_tab_writes_every_format(studio: Studio, label: str) -> None:
    path = written(studio, label, "mine")
    assert path.stat().st_size > 1000
    assert [other.name for other in studio.folder.iterdir()] == [path.name]


def test_a_rigged_character_has_a_skin_and_a_body_with_its_shapes_has_none(studio: Studio) -> None:
    plain, rigged = written(studio, "Body with its shapes (.glb)", "plain"), written(studio, SKINNED, "rigged")
    assert b'"skins"' in rigged.read_bytes()
    assert b'"skins"' not in plain.read_bytes()


def test_the_tab_writes_a_film(studio: Studio) -> None:
    assert written(studio, "Film (.mp4)", "mine", rate="24").read_bytes()[4:8] == b"ftyp"


def test_options_of_the_tab_reach_the_file(studio: Studio) -> None:
    back = load(written(studio, "Everything, for NumPy (.npz)", "mine", rate="24", travel=False, loop=True))
    np.testing.assert_allclose(np.diff(back.time), 1.0 / 24.0)
    assert np.ptp(back.root_position[:, 0]) < 0.3
    assert np.ptp(back.time) < 2.0


def test_a_file_that_is_there_already_is_not_overwritten(studio: Studio) -> None:
    first = written(studio, "Everything, for NumPy (.npz)", "mine")
    content = first.read_bytes()
    written(studio, "Everything, for NumPy (.npz)", "mine")
    assert first.read_bytes() == content
    assert sorted(path.name for path in studio.folder.iterdir()) == ["mine-2.npz", "mine.npz"]


@pytest.mark.parametrize("name", ["../mine", "/tmp/mine", "a/b", "", "..", ".hidden"])
def test_names_that_lead_elsewhere_are_refused(studio: Studio, name: str) -> None:
    with pytest.raises(SurefootError):
        written(studio, "Everything, for NumPy (.npz)", name)
    assert not list(studio.folder.iterdir())
    assert not (studio.folder.parent / "mine.npz").exists()


def test_the_name_follows_the_skill_until_one_writes_another(studio: Studio) -> None:
    record = tab(studio)
    studio.loop.call(record.reload)
    assert record._name.value == "walk"
    studio.loop.call(lambda: studio.session.rebuild(skill="human/fast-walk"))
    studio.loop.call(record.reload)
    assert record._name.value == "fast-walk"
    record._name.value = "mine"
    studio.loop.call(lambda: studio.session.rebuild(skill="planar/walk"))
    studio.loop.call(record.reload)
    assert record._name.value == "mine"


def test_only_one_file_is_written_at_a_time_and_the_second_is_told(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, done = threading.Event(), []
    real = record_tab.motion_from_moments
    monkeypatch.setattr(record_tab, "motion_from_moments", lambda moments: go.wait(1800.0) and real(moments))
    writer = Exporter(done.append, pytest.fail)
    order = ExportJob(session.moments(1.0), tmp_path / "a.npz", 60.0)
    writer.start(order)
    assert "a.npz" in writer.progress
    with pytest.raises(CommandError, match=r"a\.npz is still being written"):
        writer.start(ExportJob(session.moments(1.0), tmp_path / "b.npz", 60.0))
    go.set()
    writer.wait(1800.0)
    assert done == [order]
    assert writer.progress == ""
    writer.start(ExportJob(session.moments(1.0), tmp_path / "b.npz", 60.0))
    writer.wait(1800.0)
    assert (tmp_path / "b.npz").exists()


def test_what_cannot_be_written_is_told_and_the_next_can_be(session: Session, tmp_path: Path) -> None:
    told: list[str] = []
    writer = Exporter(lambda _: None, told.append)
    writer.start(ExportJob(session.moments(0.1), tmp_path / "a.npz", 60.0, loop=True))  # too short for a cycle
    writer.wait(1800.0)
    assert len(told) == 1
    assert "cannot cut a loop" in told[0]
    writer.start(ExportJob(session.moments(1.0), tmp_path / "a.npz", 60.0))
    writer.wait(1800.0)
    assert len(told) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_time_goes_on_while_a_film_is_written(studio: Studio) -> None:
    record = tab(studio)
    record._format.value, record._name.value = "Film (.mp4)", "mine"
    studio.loop.call(record.save)
    before = studio.loop.call(lambda: studio.session.clock)
    record._saver.wait(1800.0)
    after = studio.loop.call(lambda: studio.session.clock)
    assert after > before
