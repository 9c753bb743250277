"""Cycles found in signals, in simulated walks and in captured clips."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clip_shelf import clip, needs_clips
from surefoot import Simulation
from surefoot.characters import load as load_character
from surefoot.errors import SurefootError
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.motions.gait_cycle import GaitCycle, stance_slide, step_in_place
from surefoot.motions.gait_search import MAX_CYCLE_MISMATCH, NotCyclicError, find_gait_cycle
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip, retarget

HUMAN = load_character("human")
STRIDES = {  # [s] as measured by autocorrelation in the clips' steady parts
    "07_01": 1.06, "136_21": 1.23, "07_05": 1.57, "16_22": 0.97, "08_07": 1.27, "136_01": 1.24, "136_09": 1.26,
    "136_17": 1.85, "136_25": 1.64, "113_18": 1.37, "16_18": 1.17, "69_17": 1.78, "133_12": 0.8, "120_13": 2.29,
    "104_41": 1.73, "132_55": 1.77, "09_06": 0.75, "38_03": 0.75, "132_24": 0.85, "14_14": 0.72,
}  # fmt: skip
MARCH = (1.19, 1.27)  # [s] out and back again


def walk(
    period: float = 1.13, seconds: float = 6.0, turn: float = 0.0, seed: int = 7, lame: float = 0.0
) -> RetargetedClip:
    """A made-up gait: every joint a series of 3 harmonics, left and right half a cycle apart but for lameness."""
    rng, time = np.random.default_rng(seed), np.arange(0.0, seconds, 1.0 / 60.0)
    phase, angles = time / period, {name: np.zeros(len(time)) for name in HUMAN.hinges}
    for left, right in zip(HUMAN.anatomy.left.joints, HUMAN.anatomy.right.joints, strict=True):
        series = rng.normal(size=7) * np.array([0.1, 0.3, 0.3, 0.05, 0.05, 0.02, 0.02])
        angles[left] = fourier.evaluate(series, phase)
        angles[right] = (1.0 - lame) * fourier.evaluate(series, phase + 0.5) + lame * 0.4
    heading = 0.4 + turn * phase + 0.06 * np.sin(2.0 * np.pi * phase)
    along = 0.9 * np.cumsum(np.exp(1j * (0.4 + turn * phase))) / 60.0
    sway = 1j * 0.03 * np.cos(2.0 * np.pi * phase) * np.exp(1j * (0.4 + turn * phase))
    place = np.column_stack([(along + sway).real, (along + sway).imag, 0.9 + 0.02 * np.cos(4.0 * np.pi * phase)])
    stands = np.column_stack([(phase - start) % 1.0 < 0.6 for start in (0.1, 0.6)])
    return RetargetedClip(time, angles, place, quat.about_vertical(heading), stands, 1.0, ())


@settings(max_examples=25, deadline=None)
@given(st.floats(0.5, 2.4), st.integers(0, 1000), st.floats(1.7, 6.0))
def test_the_period_of_a_harmonic_signal_is_found_exactly(period: float, seed: int, cycles: float) -> None:
    rng, time = np.random.default_rng(seed), np.arange(0.0, cycles * period, 1.0 / 90.0)
    series = rng.normal(size=(7, 2)) * np.array([1.0, 1.0, 1.0, 0.4, 0.4, 0.2, 0.2])[:, None]
    found, left = fourier.find_period(time, fourier.evaluate(series, time / period), 0.4, 1.3 * period)
    assert found == pytest.approx(period, rel=1e-4)
    assert left < 1e-6


def test_the_shortest_of_equally_good_periods_is_taken_in_noise() -> None:
    time = np.arange(0.0, 7.3, 1.0 / 60.0)
    signal = np.sin(2.0 * np.pi * time / 0.83) + 0.3 * np.cos(4.0 * np.pi * time / 0.83 + 1.0)
    noisy = signal + 0.1 * np.random.default_rng(1).normal(size=len(time))
    assert fourier.find_period(time, noisy, 0.4, 3.0)[0] == pytest.approx(0.83, rel=0.01)


def test_coefficients_slope_and_shift_agree_with_the_signal() -> None:
    rng = np.random.default_rng(11)
    series, phase = rng.normal(size=9), rng.uniform(size=200)
    assert fourier.fit(phase, fourier.evaluate(series, phase), 4) == pytest.approx(series, abs=1e-10)
    difference = (fourier.evaluate(series, phase + 1e-6) - fourier.evaluate(series, phase - 1e-6)) / 2e-6
    assert fourier.evaluate(fourier.derivative(series), phase) == pytest.approx(difference, abs=1e-5)
    moved = fourier.evaluate(fourier.shifted(series, 0.37), phase)
    assert moved == pytest.approx(fourier.evaluate(series, phase + 0.37), abs=1e-12)
    top = fourier.peak_phase(series)
    assert fourier.evaluate(series, np.array([top]))[0] >= fourier.evaluate(series, phase).max() - 1e-9


@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_a_made_up_gait_is_found_with_its_period_phase_travel_and_turn(turn: float) -> None:
    made = walk(turn=turn)
    cycle = find_gait_cycle(made, HUMAN, accuracy=1e-4)
    assert cycle.period == pytest.approx(1.13, rel=1e-3)
    assert cycle.turn == pytest.approx(turn, abs=0.01)
    assert np.hypot(*cycle.travel[:2]) == pytest.approx(0.9 * 1.13 * np.sinc(0.5 * turn / np.pi), rel=0.02)
    assert np.arctan2(cycle.travel[1], cycle.travel[0]) == pytest.approx(0.5 * turn, abs=0.03)
    grid = np.arange(0.0, 1.0, 0.001)
    assert grid[np.argmax(cycle.angles_at(grid)["right_hip"])] == pytest.approx(0.25, abs=2e-3)
    assert cycle.residual < np.radians(0.1)
    start = made.time[np.argmax(made.angles["right_hip"][:60])]  # phase 0.25
    later = (0.25 + (made.time - start) / cycle.period) % 1.0
    for name in ("left_hip_roll", "right_knee", "left_elbow"):
        assert np.abs(cycle.angles_at(later)[name] - made.angles[name])[30:120].max() < np.radians(2.0)
    assert cycle.root_at(0.3)["height"] == pytest.approx(0.9, abs=0.03)
    for spans in cycle.contacts:
        assert len(spans) == 1
        assert spans[0][1] - spans[0][0] == pytest.approx(0.6, abs=0.03)


def test_rates_are_the_derivatives_of_angles_in_time() -> None:
    cycle = find_gait_cycle(walk(), HUMAN)
    step, phase = 1e-6, np.array([0.07, 0.41, 0.83])
    for name, rate in cycle.rates(phase).items():
        ahead, behind = cycle.angles_at(phase + step)[name], cycle.angles_at(phase - step)[name]
        assert rate == pytest.approx((ahead - behind) / (2.0 * step * cycle.period), abs=1e-5)


def test_harmonics_are_kept_only_as_far_as_accuracy_asks() -> None:
    rough, fine = (find_gait_cycle(walk(), HUMAN, accuracy=np.radians(a)) for a in (5.0, 0.05))
    assert len(rough.joints["left_hip"]) < len(fine.joints["left_hip"]) <= 17
    assert max(rough.residuals.values()) <= np.radians(5.0)
    assert max(fine.residuals.values()) <= np.radians(0.3)


def test_a_cycle_played_back_is_found_again() -> None:
    cycle = find_gait_cycle(walk(turn=0.3), HUMAN)
    again = find_gait_cycle(cycle.sampled(cycles=5.0), HUMAN)
    assert again.period == pytest.approx(cycle.period, rel=1e-3)
    assert again.turn == pytest.approx(cycle.turn, abs=0.01)
    assert again.travel == pytest.approx(cycle.travel, abs=0.02)
    for name in HUMAN.hinges:
        assert again.angles_at(0.37)[name] == pytest.approx(cycle.angles_at(0.37)[name], abs=np.radians(1.0))


def test_in_place_it_neither_travels_nor_turns_and_moves_its_joints_alike() -> None:
    cycle = find_gait_cycle(walk(turn=0.3), HUMAN)
    still = cycle.without_travel()
    played = still.sampled(cycles=3.0)
    period = round(cycle.period * 60.0)
    assert np.abs(played.root_position[period] - played.root_position[0]).max() < 0.01
    assert np.abs(quat.yaw(played.root_rotation)).max() < 0.1
    assert still.angles_at(0.6)["left_knee"] == cycle.angles_at(0.6)["left_knee"]


def test_symmetry_is_decided_by_the_data() -> None:
    even, lame = find_gait_cycle(walk(), HUMAN), find_gait_cycle(walk(lame=0.8), HUMAN)
    assert even.symmetric
    assert even.asymmetry < np.radians(1.0)
    assert not lame.symmetric
    mean = lame.symmetrized(HUMAN)
    assert mean.symmetric
    for left, right in zip(HUMAN.anatomy.left.joints, HUMAN.anatomy.right.joints, strict=True):
        assert mean.angles_at(0.2)[left] == pytest.approx(mean.angles_at(0.7)[right], abs=1e-9)


@cache
def simulated() -> tuple[GaitCycle, Motion]:
    motion = Simulation("human", "march").run(8.0)
    return find_gait_cycle(retarget(motion, find_body_parts(motion)[0], HUMAN), HUMAN), motion


def test_a_simulated_walk_has_the_period_of_its_steps() -> None:
    cycle, motion = simulated()
    wraps = motion.time[1:][np.diff(motion.phase) < -0.5]
    assert cycle.period == pytest.approx(float(np.median(np.diff(wraps))), rel=0.03)
    assert cycle.symmetric


def test_treading_lifts_the_feet_as_before_and_puts_them_down_where_they_were() -> None:
    cycle = simulated()[0]
    ways = []
    for way in (cycle.without_travel(), step_in_place(cycle, HUMAN)):
        played = way.sampled(cycles=1.0, fps=200.0)
        at = segment_poses(HUMAN, played.angles, played.root_position, played.root_rotation)
        feet = []
        for side, foot in enumerate(("left_foot", "right_foot")):
            ankle, (start, end) = at[foot][0], cycle.contacts[side][0]
            since = (played.time / cycle.period - start) % 1.0
            stands = since < end - start
            feet.append((np.polyfit(since[stands], ankle[stands, 0], 1)[0], np.ptp(ankle[:, 2])))
        ways.append(feet)
    for (slide, lift), (drift, raised) in zip(*ways, strict=True):
        assert slide == pytest.approx(-cycle.travel[0], rel=0.25)  # per cycle, as on a treadmill
        assert abs(drift) < 0.25 * abs(slide)
        assert raised == pytest.approx(lift, abs=0.03)
    assert step_in_place(cycle, HUMAN).angles_at(0.4)["left_elbow"] == cycle.angles_at(0.4)["left_elbow"]


def test_a_foot_slides_evenly_while_it_stands_and_comes_back_without_a_jump() -> None:
    phase = np.arange(0.0, 1.0, 0.001)
    ahead = stance_slide(phase, ((0.83, 1.41),))
    stands = (phase > 0.84) | (phase < 0.40)
    assert np.abs(np.diff(np.append(ahead, ahead[0]))).max() < 0.003
    assert np.gradient(ahead, phase)[stands][1:-1] == pytest.approx(-1.0, abs=1e-6)
    assert ahead.max() == pytest.approx(0.29, abs=1e-3)
    assert not stance_slide(phase, ()).any()


def test_wandering_and_standing_are_no_cycles() -> None:
    made, rng = walk(seconds=8.0), np.random.default_rng(4)
    for name in made.angles:
        steps = np.convolve(rng.normal(size=len(made.time) + 60), np.hanning(60), "valid")[: len(made.time)]
        made.angles[name] = 0.06 * np.cumsum(steps) / 6.0
    with pytest.raises(NotCyclicError, match="no gait cycle") as caught:
        find_gait_cycle(made, HUMAN)
    assert caught.value.mismatch is None or caught.value.mismatch > MAX_CYCLE_MISMATCH
    standing = walk()
    standing.contacts[:] = True
    with pytest.raises(NotCyclicError, match="nothing with steps"):
        find_gait_cycle(standing, HUMAN)


def test_a_period_longer_than_the_signal_is_refused() -> None:
    with pytest.raises(SurefootError, match="cannot be found in 1 s"):
        fourier.find_period(np.linspace(0.0, 1.0, 50), np.zeros(50), 1.5, 3.0)


@cache
def captured(name: str) -> GaitCycle:
    motion = clip(name)
    return find_gait_cycle(retarget(motion, find_body_parts(motion)[0], HUMAN), HUMAN)


@needs_clips
@pytest.mark.parametrize("name", STRIDES)
def test_a_captured_gait_has_its_stride_time(name: str) -> None:
    assert captured(f"cmu_bvh/{name}.bvh").period == pytest.approx(STRIDES[name], rel=0.05)


@needs_clips
def test_marching_out_and_back_has_the_stride_time_of_either_way() -> None:
    assert MARCH[0] * 0.97 < captured("cmu_bvh/91_19.bvh").period < MARCH[1] * 1.03


@needs_clips
def test_an_inertial_capture_has_its_stride_time() -> None:
    assert captured("100style_bvh/Neutral_FW.bvh").period == pytest.approx(1.38, rel=0.05)


@needs_clips
@pytest.mark.parametrize("name", ["104_11", "131_04"])
def test_spins_and_dances_say_that_they_are_not_cyclic(name: str) -> None:
    with pytest.raises(NotCyclicError, match="no gait cycle"):
        captured(f"cmu_bvh/{name}.bvh")


@needs_clips
def test_ways_of_walking_are_told_by_travel() -> None:
    ahead, back, aside = (captured(f"cmu_bvh/{name}.bvh").travel for name in ("07_01", "136_25", "113_18"))
    assert ahead[0] > 1.0
    assert back[0] < -0.5
    assert abs(aside[1]) > 5.0 * abs(aside[0])
