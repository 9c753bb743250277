"""`surefoot imitate`: what it says of a clip, what it refuses in one line, and what it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captured_gait import clip_file, document, own_cycle, understood
from surefoot.engine.simulation import Simulation
from surefoot.lab import clip_skills, parameter_tuning
from surefoot.lab.imitation_search import FALLEN, Stage
from surefoot.lab.tracking_error import TrackingError
from surefoot.skills import files, load
from test_cli import Outcome, call

TINY = (Stage(0.3, 1, 0.05, replicas=1),)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default a skill is written where one is."""
    monkeypatch.chdir(tmp_path)


def refused(outcome: Outcome, *reasons: str) -> None:
    """Exit status 2 and one line on stderr that gives the reasons; nothing was written."""
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("surefoot: ")
    for reason in reasons:
        assert reason in outcome.err
    assert not [path for path in Path().glob("*.yaml") if path.is_file()]


# ------------------------------------------------------------------------------------------------- reading


def test_only_reading_tells_what_was_understood_and_writes_nothing() -> None:
    outcome = call("imitate", clip_file(), "--only-read")
    text = " ".join(outcome.out.split())
    assert outcome.status == 0
    assert "lengths are in metres" in text
    assert "y is up" in text
    assert "a cycle of 0.79 s" in text
    assert "walks forward" in text
    assert "unsure: the left foot has no toe joint" in text
    assert not list(Path().iterdir())


def test_on_the_spot_the_travel_is_taken_out() -> None:
    outcome = call("imitate", clip_file(), "--only-read", "--in-place")
    assert outcome.status == 0
    assert "steps on the spot" in outcome.out
    found = clip_skills.read_gait_clip(clip_skills.ClipSource(clip_file(), in_place=True))
    assert np.abs(found.cycle.travel[:2]).max() < 1e-9


def test_a_clip_of_our_own_walk_becomes_a_skill_that_begins_like_it() -> None:
    (made,), cycle = clip_skills.untuned_skills(understood(), "own", "Somebody, CC BY")
    skill = files.validate(made, "own")
    assert skill.credit == "Somebody, CC BY"
    assert skill.controller == "imitation"
    assert cycle.period == pytest.approx(own_cycle().period)
    assert cycle.travel[0] / cycle.period == pytest.approx(1.36, abs=0.05)
    sim = Simulation(skill=skill)
    assert sim.data.qvel[0] == pytest.approx(1.36, abs=0.3)
    sim.run(0.5)
    assert not sim.fallen


# ------------------------------------------------------------------------------------------------ refusals


def test_nonsense_and_missing_files_are_refused() -> None:
    Path("nonsense.bvh").write_bytes(bytes(range(256)) * 20)
    refused(call("imitate", "nonsense.bvh"), "nonsense.bvh")
    refused(call("imitate", "missing.bvh"), "missing.bvh")
    refused(call("imitate", "."), "")
    Path("walk.mp3").write_text("la la la")
    refused(call("imitate", "walk.mp3"), "walk.mp3", ".bvh")
    Path("walk.amc").write_text(":FULLY-SPECIFIED\n1\n")
    refused(call("imitate", "walk.amc"), "skeleton")


def test_a_truncated_clip_is_refused_with_its_line() -> None:
    text = clip_file().read_text()
    Path("short.bvh").write_text(text[: int(0.7 * len(text))].rsplit(" ", 1)[0])
    refused(call("imitate", "short.bvh"), "short.bvh")


def test_a_clip_without_steps_is_refused() -> None:
    Simulation(skill="human/stand").run(4.0, fps=60.0).save(Path("stand.bvh"))
    refused(call("imitate", "stand.bvh"), "no gait cycle")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--character", "nobody"), "valid: ape, bird, human"),
        (("--character", "planar"), "a character in space"),
        (("--up", "w"), "valid: x, -x"),
        (("--scale", "0"), "scale"),
        (("--scale", "nan"), "scale"),
        (("--fps", "-3"), "frames per second"),
        (("--seconds", "1"), "5"),
        (("--seed", "-1"), "seed"),
        (("--asf", "missing.asf"), ""),
        (("--save", "nowhere/skill.yaml"), "no such folder"),
        (("--save", "skills.yaml"), "folder"),
        (("--save", "skill.txt"), ".yaml"),
        (("--credit", "x" * 3000), "credit"),
    ],
)
def test_impossible_options_are_refused_before_anything_is_searched(
    options: tuple[str, ...], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_skills, "make_imitation_skill", lambda *_, **__: pytest.fail("it searched"))
    Path("folder").mkdir()
    Path("folder/skills.yaml").mkdir()
    monkeypatch.chdir("folder")
    refused(call("imitate", clip_file(), *options), reason)


@pytest.mark.parametrize("character", ["humanoid", "ape", "robot", "strider"])
def test_every_body_in_space_gets_a_skill_to_begin_with(character: str) -> None:
    found = clip_skills.read_gait_clip(clip_skills.ClipSource(clip_file(), character=character))
    skill = files.validate(clip_skills.untuned_skills(found, "own")[0][0], "own")
    assert skill.character == character
    sim = Simulation(skill=skill)
    sim.step(50)
    assert np.isfinite(sim.data.qpos).all()
    assert sim.memory.report[0].phase > skill.parameters.begins


def test_an_uneven_cycle_is_followed_as_it_is_or_evenly() -> None:
    even = understood()
    uneven = replace(even, cycle=replace(even.cycle, symmetric=False, travel=np.array([1.2, 0.3, 0.0]), turn=0.2))
    (own, made_even), cycle = clip_skills.untuned_skills(uneven, "own")
    assert own["parameters"]["cycle"]["travel"] == pytest.approx([1.2, 0.3])
    assert made_even["parameters"]["cycle"]["travel"] == pytest.approx([1.2, 0.0])
    assert (own["parameters"]["cycle"]["turn"], made_even["parameters"]["cycle"]["turn"]) == (0.2, 0.0)
    assert cycle.travel == pytest.approx((1.2, 0.3))  # measured against the clip in either case


# ------------------------------------------------------------------------------------------- what it writes


def walked(fallen_at: float = np.inf, strides: int = 9) -> clip_skills.Walk:
    """A made-up outcome."""
    none = np.inf if strides == 0 else 0.0
    travel = np.array([1.0 + none, 0.0])
    seen = TrackingError(
        strides, {"left_knee": 0.1 + none}, 1.02 + none, travel, np.array([1.1, 0.0]), 0.0, 0.1 - none, 0.1, 0.1
    )
    return clip_skills.Walk(60.0, (fallen_at, np.inf), (seen,), ("left_knee",))


@pytest.mark.parametrize(("fallen_at", "status"), [(np.inf, 0), (31.0, 1)])
def test_a_skill_is_written_and_a_fall_is_told_by_the_exit_status(
    fallen_at: float, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        clip_skills,
        "make_imitation_skill",
        lambda made, *_, **__: clip_skills.ImitationResult(made[0], walked(fallen_at)),
    )
    outcome = call("imitate", clip_file(), "--credit", "Somebody")
    assert outcome.status == status
    assert ("fell after 31.0 s" in outcome.out) == bool(status)
    skill = load(Path("fast-walk.yaml"))
    assert (skill.name, skill.credit, skill.controller) == ("fast-walk", "Somebody", "imitation")


def test_of_several_clips_each_becomes_a_skill_and_one_that_does_not_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[str] = []

    def made(documents: Any, *_: object, **__: object) -> clip_skills.ImitationResult:
        searched.append(documents[0]["name"])
        return clip_skills.ImitationResult(documents[0], walked())

    monkeypatch.setattr(clip_skills, "make_imitation_skill", made)
    Path("nonsense.bvh").write_text("nonsense")
    Path("other walk.bvh").write_bytes(clip_file().read_bytes())
    Path("skills").mkdir()
    clips = (clip_file(), "nonsense.bvh", "other walk.bvh")
    outcome = call("imitate", *clips, "--save", "skills", "--credit", "Somebody")
    assert outcome.status == 1
    assert "nonsense.bvh" in outcome.out
    assert searched == ["fast-walk", "other-walk"]
    assert {path.name for path in Path("skills").iterdir()} == {"fast-walk.yaml", "other-walk.yaml"}
    alone = call("imitate", clip_file(), "--credit", "Somebody")
    assert alone.status == 0
    assert Path("fast-walk.yaml").read_bytes() == Path("skills/fast-walk.yaml").read_bytes()
    assert call("imitate", clip_file(), "other walk.bvh", "--save", "skills").status == 0


def test_several_clips_that_would_be_one_skill_or_have_no_folder_are_refused() -> None:
    Path("sub").mkdir()
    Path("sub/walk.bvh").write_text("nonsense")
    refused(call("imitate", "walk.bvh", "sub/walk.bvh"), "walk.yaml", "differently")
    refused(call("imitate", "walk.bvh", "run.bvh", "--save", "own.yaml"), "a folder")
    refused(call("imitate", "walk.bvh", "run.bvh", "--only-read"), "one clip")


def test_how_unlike_a_walk_is_goes_by_its_worst_difference_and_a_fall_is_worse_the_sooner_it_comes() -> None:
    like = walked()
    assert like.unlike == pytest.approx(0.1 / np.radians(12.0))
    far = replace(like, seen=(replace(like.seen[0], cadence=0.9),))
    assert far.unlike == pytest.approx(2.0)
    assert (like.is_alike, far.is_alike) == (True, False)
    assert far.unlike < FALLEN < walked(31.0).unlike < walked(12.0).unlike < walked(1.0).unlike
    assert walked(1.0).unlike < replace(like, fallen_at=(3.0, 3.0)).unlike < replace(like, fallen_at=(1.0, 2.0)).unlike


def test_a_fall_without_a_stride_is_told_without_infinities() -> None:
    words = clip_skills.walk_summary(walked(0.9, strides=0))
    assert words["walked"] == "fell after 0.9 s"
    assert "inf" not in " ".join(words.values())


def test_a_search_keeps_the_cycle_and_the_gains_and_resumes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefoot.lab.imitation_search._CANDIDATES", 3)
    shares: list[float] = []

    def search() -> dict[str, Any]:
        return clip_skills.tune_skill(
            [document()], own_cycle(), stages=TINY, checkpoint=tmp_path / "own.search",
            report=lambda text, share: shares.append(share),
        )  # fmt: skip

    found = search()
    assert found["parameters"]["cycle"] == document()["parameters"]["cycle"]
    assert found["parameters"]["gains"] == document()["parameters"]["gains"]
    assert found["parameters"]["cd"] != document()["parameters"]["cd"]
    assert max(shares) == pytest.approx(1.0)
    assert files.validate(found, "own").name == "captured"
    kept = list(tmp_path.glob("own*.json"))
    assert kept
    assert all(json.loads(path.read_text())["costs"] for path in kept)
    assert search() == found


def test_a_written_skill_is_simulated_by_its_file() -> None:
    files.write(document(), Path("own.yaml"))
    outcome = call("simulate", "own.yaml", "--seconds", "0.5", "--json")
    summary = json.loads(outcome.out)
    assert outcome.status == 0
    assert summary["skill"] == "human/captured"
    assert summary["fallen_at"] is None
    assert call("simulate", "own.yaml", "--seconds", "0.1", "--command", "ahead=3", "--speed", "1.2").status == 0
    refused_line = call("simulate", "own.yaml", "--command", "dance=3")
    assert refused_line.status == 2
    assert "ahead" in refused_line.err


@pytest.mark.parametrize(("stem", "name"), [("Fast Walk", "fast-walk"), ("07_01", "07-01"), ("...", "captured")])
def test_a_skill_is_named_after_its_file(stem: str, name: str) -> None:
    assert parameter_tuning.skill_name(Path(f"{stem}.bvh"), "captured") == name
