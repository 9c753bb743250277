"""What is said of a clip: gait and cadence, flights, turns, pauses, doubts of the frame rate; also of refused clips."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from strangers_walk import hops, walk
from surefoot.characters import load as load_character
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.motions import bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.clip_events import find_pauses, find_turns
from surefoot.motions.clip_reading import ClipSource, ReadClip, ShortClipError, read_clip_for
from surefoot.motions.findings import Findings
from surefoot.motions.gait_description import GaitManner, gait_manner
from surefoot.motions.motion import Motion
from surefoot.motions.motion_editing import resample
from surefoot.motions.plausibility import doubt_frame_rate
from test_cli import call

HUMAN = load_character("human")


@functools.cache
def simulated(skill: str, seconds: float = 4.0) -> Motion:
    """A settled gait of the library at 60 frames a second."""
    sim = Simulation(skill=skill)
    sim.run(3.0)
    found = sim.run(seconds, fps=60.0)
    return Motion(found.time - found.time[0], found.skeleton, found.root_position, found.rotations)


def read(motion: Motion, folder: Path, stamped: float | None = None, told: float | None = None) -> tuple[ReadClip, str]:
    """A motion read from a file, which may be stamped with another frame rate; and all that was said."""
    faster = 1.0 if stamped is None else stamped / 60.0
    bvh.save(replace(motion, time=motion.time / faster), folder / "a.bvh")
    findings = Findings()
    found = read_clip_for(HUMAN, ClipSource(folder / "a.bvh", fps=told), findings)
    return found, "\n".join([*findings.understood, *(f"unsure: {line}" for line in findings.unsure)])


# -------------------------------------------------------------------------------------------- what a gait is


@pytest.mark.parametrize(
    ("skill", "says", "cadence"),
    [
        ("human/walk", "walks forward", 116.0), ("human/run", "runs forward", 155.0),
        ("human/captured-run", "runs forward", 161.0), ("human/captured-backwards", "walks backwards", 76.0),
        ("human/captured-high-knees", "runs on the spot", 171.0), ("human/hop", "jumps forward on both feet", 198.0),
    ],
)  # fmt: skip
def test_a_gait_is_called_what_it_is_with_its_cadence(tmp_path: Path, skill: str, says: str, cadence: float) -> None:
    found, said = read(simulated(skill), tmp_path)
    assert says in said
    assert found.cycle is not None
    assert gait_manner(found.cycle, HUMAN).cadence == pytest.approx(cadence, rel=0.03)


def test_a_hop_on_one_foot_counts_its_hops(tmp_path: Path) -> None:
    motion = hops(flight=0.3, stance=0.32, count=8)
    rotations = motion.rotations.copy()
    swing = 0.25 * np.sin(2.0 * np.pi * motion.time / 0.62)
    for joint, angle in ((5, -0.9 + swing), (6, np.full_like(swing, 1.3))):
        rotations[:, joint] = quat.exp(np.column_stack([np.zeros_like(angle), angle, np.zeros_like(angle)]))
    found, said = read(resample(replace(motion, rotations=rotations), 60.0), tmp_path)
    assert "hops on the spot on the left foot" in said
    assert found.cycle is not None
    assert gait_manner(found.cycle, HUMAN).cadence == pytest.approx(60.0 / 0.62, rel=0.03)


def swaying(motion: Motion, period: float, size: float) -> Motion:
    """A gait of which every second stride differs: thighs, trunk, pelvis and arms sway with twice its period."""
    joints, wave = {name: i for i, name in enumerate(motion.skeleton.names)}, np.sin(np.pi * motion.time / period)
    rotations = motion.rotations.copy()
    for name, axis, share in (
        ("trunk", 2, 1.0), ("trunk", 1, 0.5), ("left_upper_arm", 1, 2.0), ("right_upper_arm", 1, -2.0),
        ("pelvis", 2, 0.4), ("left_thigh", 1, 0.35), ("right_thigh", 1, -0.35),
    ):  # fmt: skip
        turn = quat.exp(np.outer(size * share * wave, np.eye(3)[axis]))
        rotations[:, joints[name]] = quat.multiply(rotations[:, joints[name]], turn)
    return replace(motion, rotations=rotations)


@pytest.mark.parametrize(("skill", "period", "steps"), [("human/walk", 1.03, 116.0), ("human/run", 0.774, 155.0)])
@pytest.mark.parametrize("size", [0.3, 0.45])
def test_two_strides_that_differ_are_not_taken_for_one(
    tmp_path: Path, skill: str, period: float, steps: float, size: float
) -> None:
    found, _ = read(swaying(simulated(skill, 5.5), period, size), tmp_path)
    assert found.cycle is not None
    assert gait_manner(found.cycle, HUMAN).cadence == pytest.approx(steps, rel=0.03)
    if size < 0.4:  # strides that are alike enough are averaged
        assert found.cycle.period == pytest.approx(period, rel=0.03)


# ----------------------------------------------------------------------------------------------- frame rates


@pytest.mark.parametrize(
    "skill", ["human/walk", "human/fast-walk", "human/captured-backwards", "human/captured-in-place", "human/skip"]
)
def test_a_gait_that_no_person_does_is_doubted_and_the_likely_rate_is_named(tmp_path: Path, skill: str) -> None:
    _, said = read(simulated(skill), tmp_path, stamped=120.0)
    assert "which no person does: the frame rate of 120 is doubtful" in said
    assert "at 60 frames per second (--fps 60)" in said
    right, said = read(simulated(skill), tmp_path, stamped=120.0, told=60.0)
    assert "no person" not in said
    assert right.cycle is not None


@pytest.mark.parametrize(
    "skill",
    [
        "human/walk", "human/fast-walk", "human/run", "human/captured-run", "human/captured-backwards",
        "human/captured-high-knees", "human/captured-in-place", "human/captured-wide-stance", "human/hop",
    ],
)  # fmt: skip
def test_a_right_frame_rate_is_not_doubted(tmp_path: Path, skill: str) -> None:
    assert "doubtful" not in read(simulated(skill), tmp_path)[1]


@pytest.mark.parametrize("skill", ["human/run", "human/captured-run"])
def test_flights_at_four_times_free_fall_are_corrected_and_it_is_said(tmp_path: Path, skill: str) -> None:
    right, wrong = read(simulated(skill), tmp_path)[0], read(simulated(skill), tmp_path, stamped=120.0)
    assert "stamped 2 times its true frame rate, which was corrected" in wrong[1]
    assert "doubtful" not in wrong[1]
    assert right.cycle is not None
    assert wrong[0].cycle is not None
    assert wrong[0].cycle.period == pytest.approx(right.cycle.period, rel=0.01)


def test_limits_grow_with_the_legs() -> None:
    def doubts(leg: float, cadence: float, speed: float, fall: float = 0.3) -> list[str]:
        findings = Findings()
        doubt_frame_rate(GaitManner("walk", "", cadence, np.array([speed, 0.0]), fall), leg, 120.0, findings)
        return findings.unsure

    assert not doubts(0.87, 170.0, 2.0)
    assert not doubts(0.5, 220.0, 1.6)  # a child
    assert "220 steps/min (at most 180)" in doubts(0.87, 220.0, 1.6)[0]
    assert "2.00 m/s (at most 1.7)" in doubts(0.5, 150.0, 2.0)[0]
    assert "falls at 1.5 g (at most 1)" in doubts(0.87, 150.0, 1.0, 1.5)[0]
    assert "--fps 60" in doubts(0.87, 220.0, 2.5)[0]
    assert "--fps" not in doubts(0.87, 2000.0, 2.5)[0]  # nothing makes it a person's


# --------------------------------------------------------------------------------------------------- events


def turning(angle: float, begin: float, end: float, seconds: float = 6.0) -> Motion:
    """A walk that turns evenly between two moments."""
    motion, _ = walk(seconds, fps=60.0)
    heading = angle * np.clip((motion.time - begin) / (end - begin), 0.0, 1.0)
    turn = quat.about_vertical(heading)
    steps = quat.rotate(turn[1:], np.diff(motion.root_position, axis=0))
    places = motion.root_position[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    return replace(motion, root_position=places, rotations=rotations)


@pytest.mark.parametrize("angle", [np.radians(98.0), -np.radians(170.0), np.radians(400.0)])
def test_a_turn_is_told_with_its_angle_side_and_time(angle: float) -> None:
    motion = turning(angle, 2.0, 4.5)
    (turn,) = find_turns(motion, find_body_parts(motion)[0])
    assert turn.angle == pytest.approx(angle, abs=np.radians(6.0))
    assert turn.start == pytest.approx(2.0, abs=0.35)
    assert turn.end == pytest.approx(4.5, abs=0.35)
    assert f"{abs(np.degrees(turn.angle)):.0f}° to the {'left' if angle > 0.0 else 'right'}" in str(turn)


def test_a_straight_walk_does_not_turn_whatever_its_pelvis_does() -> None:
    motion, _ = walk(6.0, fps=60.0)
    twist = quat.about_vertical(np.radians(12.0) * np.sin(2.0 * np.pi * motion.time / 1.12))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(twist, rotations[:, 0])
    motion = replace(motion, rotations=rotations)
    assert find_turns(motion, find_body_parts(motion)[0]) == []


def stopping(begin: float, pause: float) -> Motion:
    """A walk whose time stands still for a while."""
    motion, _ = walk(6.0, fps=60.0)
    clock = np.arange(0.0, 6.0 + pause, 1.0 / 60.0)
    eased = np.where(clock < begin, clock, np.where(clock < begin + pause, begin, clock - pause))
    at = np.clip(np.round(eased * 60.0).astype(int), 0, len(motion) - 1)
    return replace(motion.select(at), time=clock)


def test_a_pause_is_told_with_its_time() -> None:
    motion = stopping(2.3, 1.5)  # both feet are on the ground then
    parts, _ = find_body_parts(motion)
    done = clean(motion, parts)
    (pause,) = find_pauses(done.motion, parts, done.contacts)
    assert pause == pytest.approx((2.3, 3.8), abs=0.2)
    assert any("it stands between 2." in line for line in done.understood)
    assert find_pauses(stopping(2.3, 0.2), parts, clean(stopping(2.3, 0.2), parts).contacts) == []


def test_standing_at_the_ends_and_all_the_time_is_told() -> None:
    motion = stopping(2.3, 1.5)
    parts, _ = find_body_parts(motion)
    ending, beginning = motion.select(motion.time < 3.7), motion.select(motion.time > 2.5)
    assert any("it stands from 2." in line for line in clean(ending, parts).understood)
    assert any("it stands until 1." in line for line in clean(beginning, parts).understood)
    still = motion.select((motion.time > 2.4) & (motion.time < 3.7))
    assert "it stands all the time" in clean(still, parts).understood


def test_flights_are_told_with_their_time() -> None:
    motion = hops(flight=0.36, stance=0.31, count=5)
    parts, _ = find_body_parts(motion)
    done = clean(motion, parts)
    assert len(done.flights) == 5
    for first, stop in done.flights:
        assert (stop - first) / 120.0 == pytest.approx(0.36, abs=0.1)
    assert any("in the air 5 times between 1." in line for line in done.understood)
    assert clean(walk()[0], find_body_parts(walk()[0])[0]).flights == ()


# ------------------------------------------------------------------------------------------- refused clips


def test_a_refused_clip_tells_all_that_was_understood_until_then(tmp_path: Path) -> None:
    stand = simulated("human/stand")
    bvh.save(stand, tmp_path / "stand.bvh")
    outcome = call("imitate", tmp_path / "stand.bvh", "--only-read")
    assert outcome.status == 2
    assert outcome.err.startswith("surefoot: no gait cycle")
    for words in ("y is up", "lengths are in metres", "it stands all the time", "lengths × "):
        assert words in " ".join(outcome.out.split())


def test_a_clip_with_a_broken_path_tells_what_was_read_of_its_file(tmp_path: Path) -> None:
    motion, _ = walk(5.0, fps=60.0)
    broken = replace(motion, root_position=motion.root_position + np.outer(np.arange(300) // 25, [2.6, 0.0, 0.0]))
    bvh.save(broken, tmp_path / "a.bvh")
    for command in ("imitate", "follow", "learn"):
        outcome = call(command, tmp_path / "a.bvh", "--only-read")
        assert outcome.status == 2
        assert "teleports" in outcome.err
        assert "18 joints, 300 frames" in outcome.out


def test_following_says_as_much_as_imitating(tmp_path: Path) -> None:
    bvh.save(turning(np.radians(88.0), 2.0, 4.5), tmp_path / "a.bvh")
    said = {
        command: set(call(command, tmp_path / "a.bvh", "--only-read", "--character", "human").out.splitlines())
        for command in ("imitate", "follow")
    }
    assert said["imitate"] <= said["follow"]


def test_a_short_clip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShortClipError, match=r"at least 0\.5 s"):
        read(walk(0.3, fps=60.0)[0], tmp_path)
    with pytest.raises(SurefootError, match="at least 8 frames"):
        read(walk(2 / 60.0, fps=60.0)[0], tmp_path)


def test_a_backward_walk_of_feet_without_toes_is_not_taken_for_a_mirrored_one(tmp_path: Path) -> None:
    assert "mirrored" not in read(simulated("human/captured-backwards"), tmp_path)[1]
