"""`surefoot follow`: a clip becomes a reference and a skill beside it; what is refused on the way."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

from surefoot.controllers.stylized.reference import load_reference
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.skills import load, with_parameters
from test_cli import call


@functools.cache
def clip_file() -> Path:
    """A clip of five seconds of the library's robust walk."""
    sim = Simulation(skill="human/robust-walk")
    sim.run(5.0)
    path = Path(tempfile.mkdtemp(prefix="clip-")) / "Slow Walk.bvh"
    sim.run(5.0, fps=60.0).save(path)
    return path


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip of our own walk as a skill of the body that has no toes."""
    path = tmp_path_factory.mktemp("followed") / "own.yaml"
    options = ("--character", "human", "--save", path, "--seconds", "3", "--credit", "Own")
    outcome = call("follow", clip_file(), *options)  # with a cold cache all is compiled first
    assert "looped" in outcome.out
    assert outcome.status == 0, outcome.out
    return path


def test_a_clip_becomes_a_skill_with_its_reference_beside_it(followed: Path) -> None:
    skill = load(followed)
    assert (skill.credit, skill.clip, skill.character) == ("Own", "Slow Walk", "human")
    assert Path(skill.parameters.reference) == followed.with_suffix(".npz")
    reference = load_reference(followed.with_suffix(".npz"))
    assert reference.loops
    assert 0.6 < reference.duration < 2.5
    assert np.abs(reference.rates[:, 0]).mean() == pytest.approx(0.47, abs=0.1)


def test_the_skill_goes_as_fast_as_the_clip_from_any_folder(
    followed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = Simulation(skill=followed)
    sim.run(2.0)
    assert not sim.fallen
    assert sim.data.qpos[0] / 2.0 == pytest.approx(0.47, abs=0.1)


def test_a_reference_of_another_body_is_refused(followed: Path) -> None:
    other = with_parameters(load("human_toes/stylized-stand"), {"reference": str(followed.with_suffix(".npz"))})
    with pytest.raises(SurefootError, match="another body"):
        Simulation(skill=other)


def test_files_that_hold_no_reference_are_refused_with_what_would(followed: Path, tmp_path: Path) -> None:
    missing, text, arrays = (tmp_path / name for name in ("missing.npz", "text.npz", "arrays.npz"))
    text.write_text("la la la")
    np.savez(arrays, poses=np.zeros(3))
    for path, reason in ((missing, "surefoot follow"), (text, "surefoot follow"), (arrays, "bearing")):
        with pytest.raises(SurefootError, match=reason):
            Simulation(skill=with_parameters(load("human/stylized-stand"), {"reference": str(path)}))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("missing.bvh",), "missing.bvh"),
        ((None, "--character", "robot"), "valid: human_toes, human, planar_arms"),
        ((None, "--save", "own.txt"), ".yaml"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: tuple[str | None, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = call("follow", *(clip_file() if word is None else word for word in arguments))
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1
    assert reason in outcome.err
    assert not list(tmp_path.iterdir())


def test_reading_alone_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = call("follow", clip_file(), "--character", "human", "--only-read", "--once")
    assert outcome.status == 0
    assert "from beginning to end" in " ".join(outcome.out.split())
    assert not list(tmp_path.iterdir())
