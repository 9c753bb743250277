"""How like its clip a gait is: measured of made-up frames whose errors are known, and of a walk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captured_gait import gait, own_cycle, understood
from human_body import TABLE
from surefoot.controllers.imitation.parameters import Cycle
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene, Setup
from surefoot.errors import OutputError
from surefoot.lab import clip_skills
from surefoot.lab.imitation_search import BOUNDS, FALL_COST, ImitationCost, Stage, imitate, initial_guesses
from surefoot.lab.parameter_tuning import parameter_value, tune
from surefoot.lab.tracking_error import (
    FPS,
    BodyPoses,
    Frames,
    TrackingError,
    cycle_angles,
    measure_tracking,
    record_frames,
)
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.gait_description import describe_gait
from surefoot.native.userdata import REPORT
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SCENE = Scene(Setup("human/fast-walk"))
BODY = BodyPoses(SCENE)


def frames(
    slower: float = 1.0, off: dict[str, float] | None = None, travel: Any = None, turn: float = 0.0,
    seconds: float = 9.0, fallen_at: float = np.inf, heading: float = 0.0,
) -> Frames:  # fmt: skip
    """The clip itself as a run, in strides of a whole number of frames, with known differences.

    Args:
        slower: factor of the period.
        off: [rad] added to joints.
        travel: [m] per cycle, forward and left; the clip's own by default.
        turn: [rad] of heading per cycle.
        seconds: how long.
        fallen_at: [s].
        heading: [rad] at the beginning.
    """
    cycle = own_cycle()
    per = round(cycle.period * slower * FPS)
    time = np.arange(round(seconds * FPS)) / FPS
    done = np.arange(len(time)) / per
    qpos = np.tile(SCENE.model.qpos0, (len(time), 1))
    for name, at in BODY.joints.items():
        qpos[:, at] = cycle_angles(cycle, name, cycle.lands[0] + done) + (off or {}).get(name, 0.0)
    root = {axis: fourier.evaluate(np.array(series), cycle.lands[0] + done) for axis, series in cycle.root.items()}
    tilt = quat.rotate_about_own_axis(
        quat.rotate_about_own_axis(quat.about_vertical(root["yaw"]), 1, root["pitch"]), 0, root["roll"]
    )
    qpos[:, 3:7] = tilt
    reports = np.zeros(len(time), REPORT)
    reports["heading"] = heading + turn * np.floor(done)
    ahead, left = cycle.travel if travel is None else travel
    step = np.exp(1j * (heading + turn * np.arange(int(done[-1]) + 2))) * (ahead + 1j * left)
    place = np.interp(done, np.arange(len(step)), np.cumsum(step) - step)
    qpos[:, 0], qpos[:, 1] = place.real, place.imag
    reports["swing"] = (done % 1.0) < 0.5  # after the left foot came down the right leg swings
    reports["state"] = reports["swing"]
    reports["phase"] = (cycle.lands[0] + done) % 1.0
    reports["steps"] = np.floor(2.0 * done)
    return Frames(time, qpos, reports, fallen_at)


def seen(**changes: Any) -> TrackingError:
    return measure_tracking(frames(**changes), own_cycle(), BODY, 1.0)


def exact(slower: float = 1.0) -> float:
    """Cadence of frames of strides that were rounded to whole frames."""
    return float(own_cycle().period * FPS / round(own_cycle().period * slower * FPS))


def test_the_clip_itself_is_like_itself() -> None:
    found = seen()
    assert found.strides >= 8
    assert found.error < 1e-9
    assert found.cadence == pytest.approx(exact())
    assert found.travel == pytest.approx(own_cycle().travel, abs=1e-9)
    assert found.travel_error < 1e-9
    assert found.tilt < 1e-4
    assert set(found.errors) == set(TABLE.gains)


def test_errors_are_told_by_joint_and_the_worst_of_some() -> None:
    found = seen(off={"left_knee": 0.2, "neck": -0.4, "right_ankle": 0.1})
    assert found.errors["left_knee"] == pytest.approx(0.2)
    assert found.errors["neck"] == pytest.approx(0.4)
    assert found.errors["left_hip"] < 1e-9
    assert found.error == pytest.approx(0.7 / len(TABLE.gains))
    assert found.worst_joint(BODY.legs) == pytest.approx(0.2)
    assert "left_knee" in BODY.legs
    assert not {"neck", "left_elbow"} & set(BODY.legs)


@pytest.mark.parametrize("slower", [0.8, 1.25])
def test_a_slower_cadence_is_told_and_is_no_error_of_the_joints(slower: float) -> None:
    found = seen(slower=slower)
    assert found.cadence == pytest.approx(exact(slower))
    assert abs(found.cadence - 1.0) > 0.15
    assert found.error < 1e-9


def test_what_comes_too_late_is_an_error() -> None:
    late = frames()
    for at in BODY.joints.values():
        late.qpos[:, at] = np.roll(late.qpos[:, at], 3)
    assert measure_tracking(late, own_cycle(), BODY, 1.0).errors["left_knee"] > 0.1


@pytest.mark.parametrize(("heading", "turn"), [(0.0, 0.0), (2.0, 0.0), (0.3, 0.25)])
def test_travel_is_told_along_the_heading_at_each_stride(heading: float, turn: float) -> None:
    found = seen(travel=(0.7, 0.2), heading=heading, turn=turn)
    assert found.travel == pytest.approx((0.7, 0.2), abs=1e-9)
    assert found.turn == pytest.approx(turn)
    wanted = np.array(own_cycle().travel)
    assert found.travel_error == pytest.approx(np.linalg.norm(found.travel - wanted) / max(np.linalg.norm(wanted), 0.5))


def test_width_is_that_of_the_clip_and_grows_with_the_legs() -> None:
    narrow, wide = seen(), seen(off={"left_hip_roll": 0.1, "right_hip_roll": 0.1})
    assert narrow.width == pytest.approx(narrow.wanted_width, abs=0.02)
    assert narrow.wanted_width > 0.03
    assert wide.width == pytest.approx(narrow.width + 2 * 0.87 * 0.1, abs=0.03)
    assert wide.wanted_width == narrow.wanted_width


def test_width_and_lean_do_not_depend_on_the_heading() -> None:
    here, there = frames(), frames(heading=2.0)
    there.qpos[:, 3:7] = quat.multiply(quat.about_vertical(np.array([2.0])), there.qpos[:, 3:7])
    found = [measure_tracking(f, own_cycle(), BODY, 1.0) for f in (here, there)]
    assert found[1].width == pytest.approx(found[0].width, abs=1e-9)
    assert found[1].tilt == pytest.approx(found[0].tilt, abs=1e-9)


@pytest.mark.parametrize("fallen_at", [0.5, 1.5])
def test_without_a_whole_stride_everything_is_infinitely_unlike(fallen_at: float) -> None:
    found = seen(fallen_at=fallen_at)
    assert found.strides == 0
    assert np.isinf([found.error, found.cadence, found.travel_error]).all()


def test_strides_that_end_in_a_fall_do_not_count() -> None:
    assert seen(fallen_at=5.0).strides < seen().strides


def test_watched_frames_are_those_of_the_rows() -> None:
    population = Population(2, skill=[gait(), gait(cd=0.0, cv=0.0, cd_lateral=0.0, cv_lateral=0.0, torso=0.2)])
    one, other = record_frames(population, 0.6)
    assert len(one.time) == round(0.6 * FPS) + 1
    assert np.array_equal(one.qpos[-1], population.qpos[0])
    assert one.reports[-1] == population.reports[0]
    assert not np.array_equal(one.qpos[-1], other.qpos[-1])


# --------------------------------------------------------------------------------------------- what it costs


def test_a_fall_costs_more_than_any_walk_and_an_early_one_more_than_a_late_one() -> None:
    asks = ImitationCost(own_cycle(), 9.0)
    good = asks._cost(frames(), BODY)
    unlike = asks._cost(frames(slower=1.2, off=dict.fromkeys(BODY.joints, 0.3)), BODY)
    late, early = (asks._cost(frames(fallen_at=at), BODY) for at in (8.0, 3.0))
    assert good < 0.5 < unlike
    assert FALL_COST < late < early


def test_a_search_may_change_what_it_names_and_keeps_within_bounds() -> None:
    skill = gait()
    for path, (low, high) in BOUNDS.items():
        for value in (low, high):
            assert parameter_value(with_parameters(skill, {path: value}), path) == value


def test_a_search_ends_when_it_is_enough() -> None:
    told: list[list[float]] = []

    class Flat:
        def costs(self, candidates: Any, seed: int, threads: int = 0) -> np.ndarray:
            return np.array([abs(c.parameters.cd - 0.5) for c in candidates])

    def enough(costs: Any) -> bool:
        told.append(list(costs))
        return len(told) == 2

    found = tune(gait(), {"cd": (0.0, 1.5)}, [Flat()], generations=9, popsize=4, enough=enough)
    assert found.generations == 2
    assert [len(costs) for costs in told] == [4, 4]
    assert found.cost == min(min(told[0]), min(told[1]))


class Cheap:
    """A cost that needs no walk: whatever has a small cd stays up."""

    def __init__(self, cycle: Any, seconds: float, *_: Any) -> None:
        self.seconds = seconds

    def costs(self, candidates: Any, seed: int, threads: int = 0) -> np.ndarray:
        return np.array([c.parameters.cd + (FALL_COST if c.parameters.cd > 0.6 else 0.0) for c in candidates])


@pytest.mark.parametrize("is_good", [True, False])
def test_stages_follow_each_other_until_it_stays_up_and_is_good(is_good: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.lab.imitation_search._CANDIDATES", 4)
    monkeypatch.setattr("surefoot.lab.imitation_search.ImitationCost", Cheap)
    stages = (
        Stage(3.0, 2, 0.01, starts=2), Stage(3.0, 2, 0.01), Stage(5.0, 2, 0.01, share_up=2.0),
        Stage(6.0, 1, 0.01, only_if_error_above=1.0),
    )  # fmt: skip

    def searched(*cds: float) -> tuple[list[str], float]:
        told: list[str] = []
        found = imitate(
            [gait()], own_cycle(), stages=stages, begin_with=[{"cd": cd} for cd in cds],
            unlike=lambda skill: 0.9 if is_good else 1.1, report=lambda text, share: told.append(text.split(",")[0]),
        )  # fmt: skip
        for path, (low, high) in BOUNDS.items():
            assert low - 1e-9 <= parameter_value(found, path) <= high + 1e-9
        assert found.parameters.cycle == gait().parameters.cycle
        return told, found.parameters.cd

    spare = [] if is_good else ["6 s"]
    up, cd = searched(1.0, 0.3, 0.9)  # the best beginning stays up at once: no other, no longer search of that length
    assert up == ["3 s", "5 s", "5 s", *spare]
    assert cd < 0.35
    down, cd = searched(1.0, 1.2, 0.9)  # the two best of them, then the better one again
    assert down == ["3 s"] * 6 + ["5 s"] * 2 + spare
    assert 0.7 < cd < 0.95


def test_a_checkpoint_of_another_imitation_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImitationCost, "costs", lambda self, candidates, seed, threads=0: np.ones(len(candidates)))
    slower = own_cycle().model_copy(update={"period": 1.1 * own_cycle().period})

    def search(cycle: Cycle, *stages: Stage) -> Skill:
        return imitate([gait()], cycle, stages=stages, begin_with=[{}], checkpoint=tmp_path / "own.search")

    first = search(own_cycle(), Stage(3.0, 2, 0.1, share_up=2.0))
    assert search(own_cycle(), Stage(3.0, 2, 0.1, share_up=2.0)) == first
    for told, cycle, other in (
        ("cycle was", slower, Stage(3.0, 2, 0.1)),
        ("seconds was 3, now 5", own_cycle(), Stage(5.0, 2, 0.1)),
        ("push was 0, now 60", own_cycle(), Stage(3.0, 2, 0.1, push=60.0)),
        ("replicas was 1, now 2", own_cycle(), Stage(3.0, 2, 0.1, replicas=2)),
        ("sigma was 0.1, now 0.2", own_cycle(), Stage(3.0, 2, 0.2)),
    ):
        with pytest.raises(OutputError, match=f"another search: {told}"):
            search(cycle, other)


def test_a_search_begins_with_what_was_found_for_other_clips_but_not_for_this_one() -> None:
    known = load("human/captured-forward")
    own = {path: parameter_value(known, path) for path in BOUNDS}
    assert own in initial_guesses()
    assert own not in initial_guesses(without=known.clip)
    assert len(initial_guesses(without=known.clip)) == len(initial_guesses()) - 1


@pytest.mark.parametrize(("lean", "wanted"), [(0.0, 0.0), (0.3, 0.3), (-0.2, -0.2)])
def test_the_torso_of_a_pose_is_told_in_the_world(lean: float, wanted: float) -> None:
    qpos = SCENE.model.qpos0.copy()
    yaw = 1.2
    qpos[3:7] = quat.multiply(quat.about_vertical(np.array([yaw])), quat.exp(np.array([[0.0, lean, 0.0]])))[0]
    apart, roll, pitch = BODY.stance(qpos, yaw)
    assert -pitch == pytest.approx(wanted, abs=1e-6)  # turned about the axis to the left, it leans forward
    assert roll == pytest.approx(0.0, abs=1e-6)
    assert apart > 0.05


def test_a_torso_that_does_not_lean_like_the_clip_is_an_error() -> None:
    leaning = frames()
    leaning.qpos[:, 3:7] = quat.rotate_about_own_axis(leaning.qpos[:, 3:7], 1, np.full(len(leaning.time), 0.2))
    assert measure_tracking(leaning, own_cycle(), BODY, 1.0).tilt == pytest.approx(0.2 / np.sqrt(2.0), rel=0.03)


def test_a_walk_is_measured_against_the_clip_in_words() -> None:
    walked = clip_skills.measure_walk(gait(), own_cycle(), seconds=4.0, replicas=1)
    assert len(walked.seen) == 1
    words = clip_skills.walk_summary(walked)
    assert ("fell" in words["walked"]) != walked.stays_up
    assert ("cadence" in words) == bool(walked.seen[0].strides)
    if walked.seen[0].strides:
        assert walked.error < np.radians(20.0)
        assert 0.8 < walked.cadence < 1.25


def test_a_gait_in_words_tells_direction_speed_and_lean() -> None:
    cycle = understood().cycle
    assert describe_gait(cycle, TABLE).startswith("walks forward, 1.3")
    assert "trunk bent forward" in describe_gait(cycle, TABLE)
    back = replace(cycle, travel=-cycle.travel)
    assert describe_gait(back, TABLE).startswith("walks backwards")
    aside = replace(cycle, travel=np.array([0.0, -0.5, 0.0]), turn=0.4)
    assert describe_gait(aside, TABLE).startswith("walks to the right")
    assert "turning left" in describe_gait(aside, TABLE)
    assert describe_gait(cycle.without_travel(), TABLE).startswith("steps on the spot")
