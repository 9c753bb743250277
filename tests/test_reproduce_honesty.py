"""No experiment is called held when a part of it did not run, and no row prints a figure that was not measured."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from surefoot.lab.experiment import NO_CLIPS, NOT_QUICK, Experiment, Result, Setting, run_experiment
from surefoot.lab.reference_tracking import TrackingRun
from surefoot.lab.reproduce.genbicon import pushes as genbicon_pushes
from surefoot.lab.reproduce.limit_cycle import predicted
from surefoot.lab.reproduce.simbicon import fel_mocap, planar_robustness, spatial_robustness
from surefoot.lab.reproduce.stepping import thrown_balls
from surefoot.lab.reproduce.stylized import (
    action_graph_walks,
    against_simbicon,
    computing_cost,
    mocap,
    planar_motions,
    worlds,
)
from surefoot.lab.reproduce.stylized.against_simbicon import ClipError
from surefoot.lab.robustness import DIRECTIONS, PAPER_FORCES, REPLICAS

UP = TrackingRun(15.0, np.inf, 0.05, (10.0, 10.0), 100, 0, tipped=1.0, place=(99.0, 0.0))


@pytest.fixture(autouse=True)
def no_clips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_CLIPS", raising=False)


def found(run: Any, **setting: Any) -> Result:
    result = Result("made/x", "paper", quick=setting.get("quick", False))
    run(result, Setting(**setting))
    return result


# ------------------------------------------------------------------------------------------------ missing parts


def test_a_missing_part_is_a_row_that_does_not_hold_and_the_json_says_so(tmp_path: Path) -> None:
    def run(result: Result, setting: Setting) -> None:
        result.add_row("there", "1", "1", "", True)
        result.add_missing("elsewhere", "2")

    result = run_experiment(Experiment("made/half", "paper", run), Setting(out=tmp_path))
    assert not result.holds
    told = json.loads(json.dumps(result.as_json()))
    assert (told["holds"], told["partial"]) == (False, True)
    assert told["rows"][1] == {"case": "elsewhere", "paper": "2", "ours": NO_CLIPS, "unit": "", "holds": False}
    assert not list(tmp_path.rglob("result.json"))  # it is run again when the clips are there


def test_a_quick_look_that_leaves_something_out_does_not_hold_and_is_kept(tmp_path: Path) -> None:
    def run(result: Result, setting: Setting) -> None:
        result.add_missing("thresholds", reason=NOT_QUICK)

    result = run_experiment(Experiment("made/quick", "paper", run), Setting(quick=True, out=tmp_path))
    assert not result.holds
    assert list(tmp_path.rglob("result.json"))


def test_other_worlds_do_not_hold_without_the_recorded_motions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "track_reference", lambda *args, **others: UP)
    result = found(worlds.run)
    missing = [row.case for row in result.rows if row.ours == NO_CLIPS]
    assert len(missing) == 4  # three worlds and one of the pushed walks
    assert all(row.holds for row in result.rows if row.case not in missing)
    assert not result.holds
    assert result.partial


def test_planar_motions_do_not_hold_without_the_recorded_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planar_motions, "track_reference", lambda *args, **others: UP)
    made = SimpleNamespace(save=lambda path: None, poses=np.zeros((2, 9)))
    kind = planar_motions.KINDS["uphill"]._replace(make=lambda scene, clips: made, cycle=None)
    monkeypatch.setitem(planar_motions.KINDS, "uphill", kind)
    monkeypatch.setattr(planar_motions, "with_parameters", lambda skill, changes: skill)
    result = found(planar_motions.run)
    assert [row.ours == NO_CLIPS for row in result.rows] == [True, False, True, True, False]
    assert [row.holds for row in result.rows] == [False, True, False, False, False]
    assert result.rows[-1].ours == "1"  # of the four motions


def test_recorded_motions_costs_and_the_action_graph_do_not_hold_without_clips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mocap, "stomp", lambda clip, reference: None)
    monkeypatch.setattr(mocap, "load_reference", lambda path: SimpleNamespace(duration=1.0))
    monkeypatch.setattr(mocap, "skill_for", lambda path: None)
    monkeypatch.setattr(mocap, "track_reference", lambda *args: UP)
    for run, count in ((mocap.run, 17), (computing_cost.run_precompute, 7), (action_graph_walks.run, 1)):
        result = found(run)
        assert len(result.rows) == count
        assert not any(row.holds for row in result.rows)
        assert result.partial


def test_learning_is_not_compared_with_a_clip_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = fel_mocap.Seen(0.9, 2.0, 10.0), fel_mocap.Seen(0.1, 2.1, 5.0)
    looks = iter([[seen[0]] * fel_mocap.REPLICAS, [seen[1]] * fel_mocap.REPLICAS])
    monkeypatch.setattr(fel_mocap, "_look", lambda *args: next(looks))
    monkeypatch.setattr(fel_mocap, "_SETTLE", 0.01)
    result = found(fel_mocap.run, quick=True)
    rows = {row.case.partition(": ")[2]: row for row in result.rows}
    assert rows["joint error against the clip's own cycle"].ours == NO_CLIPS
    assert not rows["joint error against the clip's own cycle"].holds
    assert "60 s" not in rows["gains × 0.5 afterwards"].ours  # a quick look does not walk that long


# -------------------------------------------------------------------------------------------------------- bars


def error(joints: float, fallen: bool = False) -> ClipError:
    return ClipError(joints, 0.0, 1.0, fallen)


@pytest.mark.parametrize(("ours", "nearer"), [((0.1, 0.1, 0.1, 0.3, 0.3, 0.3), 3), ((0.1, 0.1, 0.1, 0.1, 0.3, 0.3), 4)])
def test_all_six_clips_count_against_simbicon_and_most_of_them_have_to_be_nearer(
    ours: tuple[float, ...], nearer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = iter([e for joints in ours for e in (error(joints), error(0.2))])
    cycle = SimpleNamespace(poses=np.zeros((3, 9)), stands=np.zeros(2))
    monkeypatch.setattr(against_simbicon, "find_clip", lambda setting, stem: Path(stem))
    monkeypatch.setattr(against_simbicon, "clip_reference", lambda setting, stem, *others: Path(stem))
    sources = SimpleNamespace(best_cycle=lambda *args: cycle, retarget_file=lambda *args: None)
    monkeypatch.setattr(against_simbicon, "reference_sources", sources)
    monkeypatch.setattr(against_simbicon, "skill_for", lambda path, base: None)
    monkeypatch.setattr(against_simbicon, "_clip_error", lambda *args: next(errors))
    row = found(against_simbicon.run).rows[-1]
    assert row.ours == f"{nearer} of 6"
    assert row.holds is (nearer > 3)


def test_a_fall_is_a_loss_against_simbicon() -> None:
    assert against_simbicon.is_nearer(error(0.1), error(0.2))
    assert against_simbicon.is_nearer(error(0.3), error(0.2, fallen=True))
    assert not against_simbicon.is_nearer(error(0.1, fallen=True), error(0.2))
    assert not against_simbicon.is_nearer(error(0.1, fallen=True), error(0.2, fallen=True))


@pytest.mark.parametrize(("least", "holds"), [(80.0, True), (70.0, False), (0.0, False)])
def test_predicted_steps_have_to_bear_pushes_at_each_speed(least: float, holds: bool) -> None:
    trials = np.full((3, 8), 100.0)
    ours = np.full((3, 8), 100.0)
    ours[1] = least  # its sum over all speeds is still more than 0.8
    result = Result("made", "paper")
    predicted._judge_pushes(result, trials, ours)
    assert [row.holds for row in result.rows] == [holds]
    nothing = Result("made", "paper")
    predicted._judge_pushes(nothing, np.vstack([np.zeros((1, 8)), trials[1:]]), np.full((3, 8), 100.0))
    assert not nothing.holds  # nothing to compare with at one speed


def test_balls_that_felled_it_are_not_among_the_heavy_ones_it_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrown_balls, "DENSITY", 20000.0)
    survived, heavy, fell = thrown_balls.thrown("standing", "stand", 3, Setting(), 0.0)
    assert (survived, heavy) == (0, 0.0)
    assert np.isfinite(fell)


# ------------------------------------------------------------------------------------------------- quick looks


@pytest.mark.parametrize("kept", [0, 3, 5])
def test_a_quick_look_at_pushes_in_space_prints_survivors_and_no_thresholds(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spatial_robustness, "at_strike", lambda *args, **others: None)
    alive = np.tile(np.arange(REPLICAS) < kept, len(DIRECTIONS))
    monkeypatch.setattr(spatial_robustness, "push_survivors_3d", lambda *args: alive)
    result = found(spatial_robustness.run_pushes, quick=True)
    assert [row.ours for row in result.rows[:2]] == [NOT_QUICK] * 2
    for row, paper in zip(result.rows[2:], PAPER_FORCES, strict=True):
        assert row.ours == f"{kept} of {REPLICAS} survive {paper:g}"
        assert row.holds is (kept == REPLICAS)
    assert not result.holds
    ours = found(genbicon_pushes.run, quick=True).rows
    assert [(row.ours.partition(",")[0], row.holds) for row in ours] == [(f"{kept} of 5 survive 200", kept == 5)]


@pytest.mark.parametrize(("kept", "holds"), [(5, [True] * 4), (3, [False] * 4)])
def test_a_quick_look_at_pushes_in_the_plane_prints_survivors_of_what_was_tried(
    kept: int, holds: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    survivors: Any = lambda skill, direction, seed: lambda levels: [kept for _ in levels]  # noqa: E731
    monkeypatch.setattr(planar_robustness, "push_survivors", survivors)
    rows = found(planar_robustness.run_pushes, quick=True).rows
    assert [row.holds for row in rows] == holds
    assert all(row.ours == NOT_QUICK or row.ours.startswith(f"{kept} replicas survive") for row in rows)
    assert [row.ours == NOT_QUICK for row in rows] == [False, kept < 5, kept < 5, kept < 5]


def test_a_quick_look_says_that_the_predicted_walk_was_not_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = SimpleNamespace(
        upright=lambda: "", are_fair=lambda: True, quality=lambda: "", record=lambda *args: None, motions=[None]
    )
    monkeypatch.setattr(predicted, "march_population", lambda *args: SimpleNamespace(rows=[], scene=None))
    monkeypatch.setattr(predicted, "Marches", lambda *args: walks)
    monkeypatch.setattr(predicted, "cost_ratio", lambda *args: 1.0)
    monkeypatch.setattr(predicted, "_speeds", lambda *args: None)
    result = found(predicted.run, quick=True)
    assert [row.holds for row in result.rows] == [True, True, False]
    assert result.rows[-1].ours == NOT_QUICK
