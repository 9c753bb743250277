"""A skill under one's hands: changes, their history, comparison, files with their comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.engine.scene import Setup
from surefoot.errors import SkillError
from surefoot.skills import files, library_path, load
from surefoot.studio.session import Session
from surefoot.studio.skill_document import ActiveDocument, SkillDocument

HIP = "states.0.targets.swing_hip"


def walk() -> SkillDocument:
    return SkillDocument(load("planar/walk"))


def test_a_change_is_taken_back_and_done_again() -> None:
    document = walk()
    before = document.skill
    after = document.change({HIP: 0.55, "states.1.cd": 1.9})
    assert after.parameters.states[0].targets["swing_hip"] == 0.55
    assert document.undo() == before
    assert not document.can_undo
    assert document.redo() == after
    assert not document.can_redo


def test_moves_of_one_drag_are_taken_back_as_one() -> None:
    document = walk()
    before = document.skill
    for angle in (0.41, 0.47, 0.52):
        document.change({HIP: angle}, key="drag 1")
    between = document.skill
    document.change({HIP: 0.6}, key="drag 2")
    assert document.undo() == between
    assert document.undo() == before


def test_a_change_that_does_not_fit_changes_nothing() -> None:
    document = walk()
    before = document.text()
    with pytest.raises(SkillError, match="less than or equal to 20"):
        document.change({HIP: 0.5, "states.0.cd": 21.0})
    assert document.text() == before
    assert not document.can_undo


def test_there_is_nothing_to_take_back_at_first() -> None:
    with pytest.raises(SkillError, match="nothing more"):
        walk().undo()


def test_differences_are_named_as_changes_are() -> None:
    document = walk()
    document.change({HIP: 0.55, "start.speed": 1.1})
    assert sorted(document.differences()) == [("start.speed", 0.98, 1.1), (HIP, 0.4, 0.55)]
    other = walk()
    other.change({path: new for path, _, new in document.differences()})
    assert other.skill == document.skill


def test_what_is_none_is_left_out_of_the_file() -> None:
    document = walk()
    document.change({"states.0.duration": None, "states.0.until": "contact", "states.1.until": None,
                     "states.1.duration": 0.25})  # fmt: skip
    assert document.text().count("duration:") == 1
    assert document.text().count("until:") == 1
    assert document.skill.parameters.states[0].until == "contact"


def test_going_back_to_what_was_saved_can_be_taken_back() -> None:
    document = walk()
    edited = document.change({HIP: 0.55, "states.0.targets.stance_hip": 0.1})
    assert document.reset() == document.saved
    assert document.differences() == []
    assert document.undo() == edited


def test_a_saved_file_is_the_skill_and_keeps_the_comments(tmp_path: Path) -> None:
    document = walk()
    document.change({HIP: 0.55})
    path = tmp_path / "long-walk.yaml"
    document.save(path, "long-walk")
    again, _ = files.read(path)
    assert again == document.skill == document.saved
    assert again.name == "long-walk"
    assert again.parameters.states[0].targets["swing_hip"] == 0.55
    assert "# left foot ahead, right foot about to swing" in path.read_text()
    assert "planar/walk" in again.provenance.source
    assert again.measured.speed is None
    assert document.differences() == []


def test_what_is_taken_back_after_saving_keeps_the_new_name(tmp_path: Path) -> None:
    document = walk()
    document.change({HIP: 0.55})
    document.save(tmp_path / "long-walk.yaml", "long-walk")
    assert document.undo().name == "long-walk"
    assert document.differences() == [(HIP, 0.55, 0.4)]


def test_a_name_that_is_none_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    document = walk()
    with pytest.raises(SkillError, match="name"):
        document.save(tmp_path / "a.yaml", "../evil")
    assert list(tmp_path.iterdir()) == []
    assert document.skill.name == "walk"


def test_comments_of_a_sent_text_are_kept_if_it_says_the_same() -> None:
    text = library_path("planar/run").read_text().replace("name: run", "name: my-run # mine")
    skill = files.validate(files.parse(text, "sent"), "sent")
    document = SkillDocument(skill)
    assert "# mine" not in document.text()
    document.adopt_formatting(text)
    assert "# mine" in document.text()
    document.adopt_formatting(text.replace("# mine", "# other").replace("duration: 0.2", "duration: 0.3"))
    assert "# other" not in document.text()


def test_an_earlier_version_is_taken_as_a_change_and_another_skill_is_not() -> None:
    document = walk()
    first = document.skill
    edited = document.change({HIP: 0.55}, key="drag")
    assert document.adopt_version(first)
    assert document.skill == first
    assert document.undo() == edited
    assert not document.adopt_version(load("planar/run"))
    assert document.skill == edited


def session(skill: str = "planar/walk") -> Session:
    return Session(Setup(skill=skill))


def test_all_editors_share_one_document_until_another_skill_runs() -> None:
    running = session()
    editing = ActiveDocument(running)
    document = editing.document
    document.change({HIP: 0.55})
    editing.run_version(running, document.skill)
    assert editing.follow_session(running) is document
    assert document.can_undo
    running.rebuild(skill="planar/run")
    other = editing.follow_session(running)
    assert other is not document
    assert other.skill.name == "run"
    assert not other.can_undo


def test_the_saved_version_runs_while_comparing_and_no_edit_is_lost() -> None:
    running = session()
    editing = ActiveDocument(running)
    edited = editing.document.change({HIP: 0.55})
    editing.run_version(running, edited)
    editing.run_version(running, editing.document.saved)
    assert editing.comparing
    assert running.sim.skill == editing.document.saved
    assert editing.follow_session(running).skill == edited
    editing.run_version(running, edited)
    assert not editing.comparing
    assert running.sim.skill == edited


def test_looking_back_keeps_the_edit_and_running_on_from_there_takes_that_version() -> None:
    running = session()
    editing = ActiveDocument(running)
    running.step(200)
    edited = editing.document.change({HIP: 0.55})
    editing.run_version(running, edited)
    running.step(200)
    running.look_back(0.1)
    assert running.sim.skill == editing.document.saved
    assert editing.follow_session(running).skill == edited  # nothing yet
    running.play()
    document = editing.follow_session(running)
    assert document.skill == running.sim.skill == document.saved
    assert document.undo() == edited


def test_a_file_of_ones_own_brings_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(library_path("planar/walk").read_text().replace("name: walk", "name: mine # at home"))
    editing = ActiveDocument(Session(Setup(skill=path)))
    assert editing.document.origin == path
    assert "# at home" in editing.document.text()


def test_a_skill_for_another_body_is_opened_with_that_body() -> None:
    running = session()
    editing = ActiveDocument(running)
    editing.open(running, load("human/walk-as-printed"), None)
    assert running.sim.scene.table.name == "human"
    assert editing.document.skill.full_name == "human/walk-as-printed"
    editing.open(running, load("biped/walk"), None)
    assert running.sim.scene.table.name == "human"
    assert editing.document.skill.full_name == "biped/walk"
