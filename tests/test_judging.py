"""The judge of skills made from clips, and `surefoot learn`, which keeps the way that it likes best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from captured_gait import clip_file, document, gait, own_cycle
from surefoot.characters import load as load_character
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.lab import clip_following, clip_learning, clip_skills
from surefoot.lab.clip_following import SOFTNESSES, ClipToFollow, make_following_skill
from surefoot.lab.clip_learning import Made, Wish, choose_ways, learn_clip
from surefoot.lab.judging import ClipTarget, Verdict, judge, target_of_clip, target_of_cycle, verdict_on
from surefoot.lab.tracking_error import BodyPoses, Frames
from surefoot.motions import quaternions as quat
from surefoot.motions.clip_reading import ClipSource, ReadClip, read_clip_for
from surefoot.motions.findings import Findings
from surefoot.skills import files, load
from test_cli import call

BODY = cast(BodyPoses, SimpleNamespace(joints={"knee": 7, "hip": 8}, is_planar=False))
SPEED = np.array([1.2, -0.3])  # [m/s]
PERIOD = 1.1
PHASES = np.arange(100) / 100.0


def waves(phase: np.ndarray) -> dict[str, np.ndarray]:
    turn = 2.0 * np.pi * phase
    return {"knee": 0.4 * np.sin(turn) + 0.1 * np.sin(2.0 * turn), "hip": 0.3 * np.cos(turn)}


LOOP = ClipTarget(waves(PHASES), PERIOD / 100, True, SPEED)
ONCE = ClipTarget(waves(np.arange(500) * 0.01 / PERIOD), 0.01, False, SPEED)


def run(
    late: float = 0.0, off: float = 0.0, slower: float = 1.0, fallen_at: float = np.inf, lasts: float = 12.0,
    turn: float = 0.3, speed: np.ndarray = SPEED,
) -> Frames:  # fmt: skip
    """A run that goes through the waves, late by [s], with a knee that is off by [rad]; it turns [rad/s]."""
    time = np.arange(0.0, lasts, 0.02)
    angles = waves((time - late) / (slower * PERIOD))
    steps = (speed[0] + 1.0j * speed[1]) * np.exp(1.0j * turn * time[:-1]) * 0.02
    place = np.concatenate([[0.0], np.cumsum(steps)])
    root = np.column_stack([place.real, place.imag, np.ones_like(time), quat.about_vertical(turn * time)])
    return Frames(time, np.column_stack([root, angles["knee"] + off, angles["hip"]]), np.zeros(0), fallen_at)


# --------------------------------------------------------------------------------------------------- the judge


def test_a_run_that_goes_through_the_clip_is_like_it_whenever_its_cycle_begins() -> None:
    for late in (0.0, 0.3, 0.9):
        assert verdict_on([run(late)], BODY, LOOP, 12.0).joints < 0.02
    assert verdict_on([run(0.2, lasts=5.0)], BODY, ONCE, 5.0).joints < 0.06  # it waits before it begins


def test_what_is_off_counts_as_much_as_it_is_off() -> None:
    assert verdict_on([run(off=0.3)], BODY, LOOP, 12.0).joints == pytest.approx(0.3 / np.sqrt(2.0), rel=0.02)
    both = verdict_on([run(), run(off=0.3)], BODY, LOOP, 12.0).joints
    assert both == pytest.approx(0.15, rel=0.05)
    assert verdict_on([run(off=0.3, lasts=5.0)], BODY, ONCE, 5.0).joints == pytest.approx(0.3 / np.sqrt(2.0), rel=0.05)


def test_another_pace_and_a_late_motion_are_unlike() -> None:
    assert verdict_on([run(slower=1.5)], BODY, LOOP, 12.0).joints > 0.1
    assert verdict_on([run(0.55, lasts=5.0)], BODY, ONCE, 5.0).joints > 0.1  # half a cycle late in what is done once


def test_travel_counts_as_the_body_faces() -> None:
    for turn in (0.0, 0.7, -0.4):
        assert verdict_on([run(turn=turn)], BODY, LOOP, 12.0).travel < 0.01
    slow = run(speed=SPEED - [0.4, 0.0])
    assert verdict_on([run(), slow], BODY, LOOP, 12.0).travel == pytest.approx(0.4, abs=0.01)
    assert verdict_on([run(lasts=5.0), run(lasts=5.0, speed=-SPEED)], BODY, ONCE, 5.0).travel > 2.0


def test_a_verdict_says_how_many_fell_and_when_the_first_did() -> None:
    up, falls = Verdict(60.0, (np.inf,) * 3, 0.1, 0.04), Verdict(60.0, (np.inf, 21.7, 40.0), np.inf)
    assert (up.stays_up, falls.stays_up) == (True, False)
    assert str(up) == "3 of 3 disturbed runs last 60.0 s, joints 5.7° and travel 0.04 m/s from the clip's"
    assert str(falls) == "1 of 3 disturbed runs last 60.0 s, the first falls at 21.7 s"
    assert falls.lasted == pytest.approx((60.0 + 21.7 + 40.0) / 3.0)


def test_staying_up_ranks_first_then_lasting_then_likeness() -> None:
    order = [
        Verdict(60.0, (1.0, 2.0), 0.01), Verdict(60.0, (50.0, 2.0), 0.5), Verdict(5.0, (4.0, 4.9), 0.5),
        Verdict(60.0, (np.inf, np.inf), 0.1, 0.9), Verdict(60.0, (np.inf, np.inf), 0.3, 0.1),
        Verdict(5.0, (np.inf, np.inf), 0.1, 0.1),
    ]  # fmt: skip
    assert sorted(order, key=lambda verdict: verdict.rank) == order


def test_a_skill_is_judged_by_disturbed_runs_that_the_seed_repeats() -> None:
    cycle = own_cycle()
    phases = {name: np.asarray(series) for name, series in cycle.joints.items()}
    wanted = ClipTarget(
        {n: clip_skills.cycle_angles(cycle, n, PHASES) for n in phases},
        cycle.period / 100,
        True,
        np.array(cycle.travel) / cycle.period,
    )
    one = judge(gait(), wanted, 4.0, replicas=2, seed=3)
    assert one == judge(gait(), wanted, 4.0, replicas=2, seed=3)
    assert one.joints < np.radians(15.0)
    falls = judge(gait(torso=-0.9), wanted, 4.0, replicas=2, seed=3)
    assert not falls.stays_up
    assert len(set(falls.fallen_at)) == 2  # disturbed differently
    assert falls.rank < one.rank


def test_an_imitation_says_in_its_file_what_the_judge_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip_skills, "tune_skill", lambda documents, *_, **__: documents[0])
    done = clip_skills.make_imitation_skill([document()], own_cycle(), 5.0)
    assert done.document["provenance"]["why"] == str(done.walk.verdict)
    assert "disturbed runs last 5.0 s" in files.validate(done.document, "own").provenance.why


# ------------------------------------------------------------------------------------------------ following


@pytest.fixture(scope="module")
def clip() -> ReadClip:
    return read_clip_for(load_character("human"), ClipSource(clip_file()), Findings())


def scripted(monkeypatch: pytest.MonkeyPatch, seconds: Sequence[float]) -> list[dict[str, Any]]:
    """The judge says that the tries fall after so many seconds; returns the parameters and replicas it was asked of."""
    falls: Iterator[float] = iter(seconds)
    asked: list[dict[str, Any]] = []

    def judge(skill: Any, angles: ClipTarget, lasts: float, replicas: int = 3, seed: int = 0) -> Verdict:
        asked.append({"softness": skill.parameters.softness, "replicas": replicas, "seconds": lasts})
        return Verdict(lasts, (next(falls),) * replicas, 0.1)

    monkeypatch.setattr(clip_following, "judge", judge)
    return asked


def test_when_all_tries_fall_the_one_that_lasted_longest_is_written(
    clip: ReadClip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = scripted(monkeypatch, [1.0, 7.0, 2.0, 3.0, 1.0, 2.0, 6.0])  # the last is the whole judgement of the best
    done = make_following_skill(ClipToFollow(clip, True), tmp_path / "own.yaml", "Own")
    assert done.document["parameters"]["softness"] == SOFTNESSES[1]
    assert not done.verdict.stays_up
    assert asked[-1] == {"softness": SOFTNESSES[1], "replicas": 3, "seconds": 60.0}
    assert "the first falls at 6.0 s" in done.document["provenance"]["why"]
    files.write(done.document, tmp_path / "own.yaml")
    assert load(tmp_path / "own.yaml").parameters.reference == str(tmp_path / "own.npz")


def test_a_try_that_passes_the_first_look_and_falls_later_is_no_success(
    clip: ReadClip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = scripted(monkeypatch, [np.inf, 21.7, 3.0, np.inf, np.inf])
    done = make_following_skill(ClipToFollow(clip, True), tmp_path / "own.yaml", "")
    assert [one["replicas"] for one in asked] == [1, 3, 1, 1, 3]
    assert [one["seconds"] for one in asked] == [10.0, 60.0, 10.0, 10.0, 60.0]
    assert done.verdict.stays_up
    assert done.document["parameters"]["softness"] == SOFTNESSES[2]


def test_a_whole_judgement_counts_more_than_a_longer_first_look(
    clip: ReadClip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, [9.0, np.inf, 8.0, 9.0, 9.0, 9.0, 9.0])
    done = make_following_skill(ClipToFollow(clip, True), tmp_path / "own.yaml", "")
    assert done.document["parameters"]["softness"] == SOFTNESSES[1]


def test_what_is_done_once_is_judged_to_its_end_and_what_loops_by_its_cycle(clip: ReadClip) -> None:
    once, loop = ClipToFollow(clip, False).target, ClipToFollow(clip, True).target
    assert (once.loops, loop.loops) == (False, True)
    assert once.duration == pytest.approx(5.0, abs=0.1)
    assert clip.cycle is not None
    assert loop.duration == pytest.approx(clip.cycle.period)
    assert set(target_of_clip(clip.found).angles) == set(target_of_cycle(clip.cycle).angles)


# -------------------------------------------------------------------------------------------------- learning


class Told:
    """A way whose verdict is told."""

    def __init__(self, name: str, verdict: Verdict | None, misfit: str = "") -> None:
        self.name, self._verdict, self._misfit, self.tried = name, verdict, misfit, False

    def misfit(self, clip: ReadClip, wish: Wish) -> str:
        return self._misfit

    def make(self, clip: ReadClip, wish: Wish, report: clip_learning.Report) -> Made:
        self.tried = True
        report("working", 0.5)
        wish.path.with_suffix(".npz").write_text(self.name)
        if self._verdict is None:
            raise SurefootError("it cannot")
        return Made(document() | {"summary": self.name}, self._verdict)


UP, FALLS = Verdict(60.0, (np.inf,) * 3, 0.1, 0.1), Verdict(60.0, (21.7, 3.0, 9.0), 0.05, 0.1)


@pytest.mark.parametrize(
    ("ways", "kept", "why"),
    [
        ((Told("a", FALLS), Told("b", UP)), "b", "it alone stays up"),
        ((Told("a", UP), Told("b", replace(UP, joints=0.05))), "b", "most like the clip"),
        ((Told("a", FALLS), Told("b", replace(FALLS, fallen_at=(30.0,) * 3))), "b", "lasts longest, but it falls"),
        ((Told("a", UP), Told("b", None)), "a", "no other way"),
        ((Told("a", None), Told("b", FALLS), Told("c", UP, "too blue")), "b", "no other way"),
    ],
)  # fmt: skip
def test_the_best_way_is_kept_with_its_files_and_it_is_said_why(
    clip: ReadClip, tmp_path: Path, ways: tuple[Told, ...], kept: str, why: str
) -> None:
    shares: list[float] = []
    done = learn_clip(clip, Wish(tmp_path / "own.yaml"), ways, lambda text, share: shares.append(share))
    assert done.way == kept
    assert why in done.why
    assert load(tmp_path / "own.yaml").summary == kept
    assert (tmp_path / "own.npz").read_text() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.npz", "own.yaml"]
    assert [attempt.way for attempt in done.attempts] == [way.name for way in ways]
    assert not [way for way in ways if way.tried and way.misfit(clip, Wish(tmp_path))]
    assert shares == sorted(shares)


def test_if_no_way_makes_a_skill_all_reasons_are_told_and_nothing_is_written(clip: ReadClip, tmp_path: Path) -> None:
    with pytest.raises(SurefootError, match=r"a: it cannot; b: not tried, too blue"):
        learn_clip(clip, Wish(tmp_path / "own.yaml"), (Told("a", None), Told("b", UP, "too blue")), lambda *_: None)
    assert not list(tmp_path.iterdir())


def test_ways_fit_by_body_and_by_what_the_clip_is(clip: ReadClip, tmp_path: Path) -> None:
    follow, imitate = choose_ways(["imitate", "follow"])
    wish = Wish(tmp_path / "own.yaml")
    assert (follow.misfit(clip, wish), imitate.misfit(clip, wish)) == ("", "")
    assert "once" in imitate.misfit(clip, replace(wish, once=True))
    robot = replace(clip, table=load_character("robot"))
    assert "human_toes" in follow.misfit(robot, wish)
    assert imitate.misfit(robot, wish) == ""
    with pytest.raises(UnknownNameError, match="valid: follow, imitate"):
        choose_ways(["fly"])


def test_the_command_reads_once_tries_a_way_and_writes_its_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = call("learn", clip_file(), "--only-read")
    assert outcome.status == 0
    assert "follow: fits" in outcome.out
    assert not list(tmp_path.iterdir())
    outcome = call("learn", clip_file(), "--way", "follow", "--seconds", "5", "--save", "own.yaml", "--credit", "Own")
    skill = load(tmp_path / "own.yaml")
    assert (skill.controller, skill.credit) == ("stylized", "Own")
    assert outcome.status == (0 if "3 of 3 disturbed runs" in outcome.out else 1)
    assert "follow is kept" in outcome.out
    refused = call("learn", clip_file(), "--way", "fly")
    assert refused.status == 2
    assert "valid: follow, imitate" in refused.err
