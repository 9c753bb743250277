"""The gait report card: what it measures of motions whose answers are known, and what must not change it."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.gait import (
    BANDS,
    CURVES,
    POINTS,
    GaitCard,
    card_rows,
    find_strides,
    gait_card,
    mean_card,
    norm_curves,
)
from surefoot.lab.gait_events import FootEvents
from surefoot.lab.gait_markers import GaitSignals, cut
from surefoot.lab.gait_picture import card_picture, norm_force
from surefoot.lab.gait_signals import record_signals, signals_of
from surefoot.motions import quaternions as quat
from surefoot.motions.clips import read_clip
from surefoot.motions.motion import Motion
from test_cli import call, only_object, refused

CLIPS = os.environ.get("SUREFOOT_CLIPS", "")
FPS, STRIDE, STANCE, SPEED = 200.0, 1.1, 0.62, 1.3
MIRRORED = ("pelvis_turn", "pelvis_list", "trunk_roll", "heading")
SIDED = (
    "ankle_place", "toe_place", "thigh", "knee", "ankle", "foot_pitch", "upper_arm", "stands", "load", "slip",
)  # fmt: skip


def norm_walk(
    stance: float = STANCE, stride: float = STRIDE, seconds: float = 8.0, shake: float = 0.0, speed: float = SPEED
) -> GaitSignals:
    """A walk whose curves are the published means; `shake` is the size of a 12 Hz motion of the joints [rad/s]."""
    time = np.arange(round(seconds * FPS)) / FPS
    phase = np.stack([time / stride, time / stride + 0.5], axis=1) + 0.25
    norms, share = norm_curves(), np.linspace(0.0, 1.0, POINTS)
    curves = {name: np.radians(np.interp(phase % 1.0, share, norms[name])) for name in CURVES}
    count, ahead = len(time), speed * time
    com = np.stack([ahead, 0.0 * time, 1.0 + 0.02 * np.cos(4.0 * np.pi * time / stride)], axis=1)
    feet = np.zeros((count, 2, 3))
    feet[:, :, 0] = ahead[:, None] + 0.3 * np.cos(2.0 * np.pi * phase)
    feet[:, :, 1] = (0.05, -0.05)
    rate = np.sin(2.0 * np.pi * time / stride)[:, None] + shake * np.sin(2.0 * np.pi * 12.0 * time)[:, None]
    return GaitSignals(
        time=time, heading=np.zeros(count), ankle_place=feet, toe_place=feet, trunk_lean=np.full(count, 0.05),
        trunk_roll=0.02 * np.sin(2.0 * np.pi * time / stride), pelvis_turn=0.08 * np.sin(2.0 * np.pi * time / stride),
        pelvis_list=0.07 * np.cos(2.0 * np.pi * time / stride), upper_arm=0.3 * np.cos(2.0 * np.pi * phase[:, ::-1]),
        head_place=com + np.array([0.0, 0.0, 0.6]), com=com, stands=phase % 1.0 < stance, joint_speed=rate,
        leg_length=0.85, **curves,
    )  # fmt: skip


def mirrored(signals: GaitSignals) -> GaitSignals:
    """The same gait in a mirror: left and right change places."""
    changed = {name: getattr(signals, name)[:, ::-1] for name in SIDED if getattr(signals, name) is not None}
    for name in ("ankle_place", "toe_place"):
        changed[name] = changed[name] * np.array([1.0, -1.0, 1.0])
    for name in MIRRORED:
        changed[name] = -getattr(signals, name)
    for name in ("com", "head_place"):
        changed[name] = getattr(signals, name) * np.array([1.0, -1.0, 1.0])
    return replace(signals, **changed)


def turned(motion: Motion, yaw: float, by: tuple[float, float, float]) -> Motion:
    """A saved motion elsewhere in the world, facing elsewhere."""
    turn, count = quat.about_vertical(np.array([yaw])), len(motion)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(np.tile(turn, (count, 1)), rotations[:, 0])

    def moved(places: np.ndarray) -> np.ndarray:
        return quat.rotate(np.tile(turn, (count, 1)), places) + np.array(by)

    return replace(
        motion, scene=None, root_position=moved(motion.root_position), rotations=rotations, com=moved(motion.com)
    )


def values(card: GaitCard) -> dict[str, float]:
    return {name: getattr(card, name) for name in BANDS}


def differing(one: GaitCard, other: GaitCard, near: float = 1e-6) -> dict[str, tuple[float, float]]:
    """Measures that differ by more than a share, other than NaN in both."""
    pairs = {name: (value, values(other)[name]) for name, value in values(one).items()}
    return {n: p for n, p in pairs.items() if not np.isclose(*p, rtol=near, atol=near, equal_nan=True)}


@pytest.fixture(scope="module")
def motion() -> Motion:
    simulation = Simulation("human", "human/captured-forward")
    simulation.step(4000)
    return simulation.run(5.0, fps=250.0)


def test_the_published_means_score_nothing_and_have_no_asymmetry() -> None:
    card = gait_card(norm_walk())
    assert card.score < 0.5  # footstrikes are known to a frame, half a percent of the stride
    assert card.asymmetry < 0.5
    assert card.swing_knee == pytest.approx(61.0, abs=1.0)


def test_a_curve_that_is_off_by_ten_degrees_scores_as_its_share_of_the_mean_square() -> None:
    walk = norm_walk()
    card = gait_card(replace(walk, knee=walk.knee + np.radians(10.0)))
    assert card.score == pytest.approx(5.0, abs=0.1)  # one of four curves: sqrt(100 / 4)


def test_a_limp_is_seen_as_asymmetry() -> None:
    walk = norm_walk()
    limp = replace(walk, knee=walk.knee + np.radians([8.0, 0.0]))
    assert gait_card(limp).asymmetry == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("stance", [0.55, 0.6, 0.65])
def test_double_support_is_the_share_of_the_stride_on_both_feet(stance: float) -> None:
    card = gait_card(norm_walk(stance))
    assert card.double_support == pytest.approx(2.0 * stance - 1.0, abs=0.015)
    assert card.flight == 0.0
    assert not card.runs


def test_stances_shorter_than_half_a_stride_are_a_run() -> None:
    card = gait_card(norm_walk(stance=0.35))
    assert card.flight == pytest.approx(0.3, abs=0.015)
    assert card.double_support == 0.0
    assert card.runs


def test_faster_strides_change_the_cadence_and_not_the_curves() -> None:
    slow, fast = gait_card(norm_walk(stride=1.2)), gait_card(norm_walk(stride=0.96))
    assert slow.cadence == pytest.approx(100.0, rel=0.005)
    assert fast.cadence == pytest.approx(125.0, rel=0.005)
    assert slow.walk_ratio == pytest.approx(slow.step_length / slow.cadence)
    assert slow.step_length == pytest.approx(0.5 * 1.2 * SPEED, rel=0.01)
    for name in CURVES:
        np.testing.assert_allclose(slow.curves[name], fast.curves[name], atol=3.0)


@pytest.mark.parametrize("shake", [0.1, 0.3, 0.5])
def test_tremble_is_the_share_of_the_power_of_a_fast_motion(shake: float) -> None:
    found = gait_card(norm_walk(shake=shake)).tremble
    assert found == pytest.approx(shake**2 / (1.0 + shake**2), rel=0.03)


def test_a_mirrored_walk_has_the_same_card(motion: Motion) -> None:
    for signals in (signals_of(motion), norm_walk()):
        other = differing(gait_card(signals), gait_card(mirrored(signals)))
        other.pop("drift", None)  # to the other side
        assert not other


def test_a_card_does_not_depend_on_where_in_the_world_it_is(motion: Motion) -> None:
    here = gait_card(replace(motion, scene=None))
    assert not differing(here, gait_card(turned(motion, 2.2, (3.0, -8.0, 0.0))), 1e-5)


def test_a_clip_s_card_does_not_depend_on_where_in_the_world_it_is(motion: Motion) -> None:
    bare = replace(motion, scene=None, contact_force=np.zeros(0))
    there = replace(turned(motion, -1.3, (5.0, 2.0, 0.0)), contact_force=np.zeros(0))
    assert not differing(gait_card(bare), gait_card(there), 0.02)


def test_a_time_reversed_walk_goes_backwards_at_the_same_cadence() -> None:
    walk = norm_walk()
    arrays = {
        f.name: getattr(walk, f.name)[::-1]
        for f in fields(walk)
        if isinstance(getattr(walk, f.name), np.ndarray) and f.name != "time"
    }
    back, card = gait_card(replace(walk, **arrays)), gait_card(walk)
    assert back.speed == pytest.approx(-card.speed, rel=0.01)
    assert back.cadence == pytest.approx(card.cadence, rel=0.01)
    assert back.double_support == pytest.approx(card.double_support, abs=0.015)
    assert back.score > 10.0


def test_rows_of_a_population_have_the_signals_of_a_motion_of_the_same_run() -> None:
    population = Population(2, "human", ["human/captured-forward"] * 2)
    found = record_signals(population, 3.0, fps=100.0)
    simulation = Simulation("human", "human/captured-forward")
    alone = signals_of(simulation.run(3.0, fps=100.0))
    for signals in found:
        assert signals is not None
        for name in ("thigh", "knee", "ankle", "foot_pitch", "com", "load", "torque", "toe_place"):
            np.testing.assert_allclose(getattr(signals, name), getattr(alone, name)[1:], atol=0.02, err_msg=name)
        assert np.mean(signals.stands != alone.stands[1:]) < 0.01


def test_a_saved_motion_has_the_card_it_had_without_torques(motion: Motion, tmp_path: Path) -> None:
    from surefoot.motions.motion import load

    motion.save(tmp_path / "walk.npz")
    saved, live = gait_card(load(tmp_path / "walk.npz")), gait_card(motion)
    assert np.isnan(saved.work)
    for name in ("speed", "cadence", "double_support", "stance_knee", "swing_knee", "step_width", "slip"):
        assert getattr(saved, name) == pytest.approx(getattr(live, name), rel=1e-6), name
    assert saved.first_peak == pytest.approx(live.first_peak, rel=0.02)
    assert saved.toe_off_pitch == pytest.approx(live.toe_off_pitch, abs=2.0)
    assert saved.score == pytest.approx(live.score, abs=0.5)


@pytest.mark.parametrize("skill", ["captured-forward", "captured-run"])
def test_events_found_without_forces_are_near_those_by_forces(skill: str) -> None:
    simulation = Simulation("human", f"human/{skill}")
    simulation.step(4000)
    motion = simulation.run(6.0, fps=120.0)
    by_force, by_place = gait_card(motion), gait_card(replace(motion, scene=None, contact_force=np.zeros(0)))
    assert by_place.cadence == pytest.approx(by_force.cadence, rel=0.01)
    assert by_place.double_support == pytest.approx(by_force.double_support, abs=0.06)
    assert by_place.flight == pytest.approx(by_force.flight, abs=0.08)


def test_events_make_stances_from_strike_to_toe_off() -> None:
    stands = FootEvents((2, 8), (5,)).stands(10)
    assert stands.tolist() == [False, False, True, True, True, False, False, False, True, True]
    assert FootEvents((8,), (5,)).stands(10)[:5].all()


def test_a_leg_with_one_footstrike_is_measured_from_toe_off_to_toe_off() -> None:
    walk, stride = norm_walk(), STRIDE * FPS
    short = cut(walk, round(1.0 * stride), round(2.5 * stride))  # left foot: strikes at 1.75, leaves at 1.37, 2.37
    left, right = find_strides(short)
    assert [one.strike == one.first for one in (*left, *right)] == [False, True]
    assert gait_card(short).score < 1.0


def test_the_mean_of_cards_is_that_of_their_measures() -> None:
    one, other = gait_card(norm_walk(speed=1.0)), gait_card(norm_walk(speed=1.4))
    both = mean_card([one, other])
    assert both.speed == pytest.approx(1.2, abs=0.01)
    assert both.strides == one.strides + other.strides
    with pytest.raises(SurefootError, match="at least one"):
        mean_card([])


def test_rows_mark_what_is_outside_of_a_band_and_nothing_unknown() -> None:
    rows = {row.name: row for row in card_rows(gait_card(norm_walk(stance=0.51)))}
    assert rows["double_support"].inside is False
    assert rows["swing_knee"].inside is True
    assert rows["work"].inside is None
    assert rows["work"].value == "–"


def test_too_little_of_a_gait_is_refused_with_what_is_missing() -> None:
    with pytest.raises(SurefootError, match="no whole stride of the left and of the right leg"):
        gait_card(cut(norm_walk(), 0, round(0.5 * STRIDE * FPS)))


def test_hops_are_no_walk() -> None:
    walk = norm_walk(stance=0.4)
    with pytest.raises(SurefootError, match="in turn"):
        gait_card(replace(walk, stands=walk.stands[:, [0, 0]]))


def test_few_frames_and_other_bodies_are_refused(motion: Motion) -> None:
    with pytest.raises(SurefootError, match="60 frames"):
        gait_card(motion.select(slice(None, None, 10)))
    with pytest.raises(SurefootError, match="three frames"):
        gait_card(motion.select(slice(0, 2)))
    with pytest.raises(SurefootError, match="humanoid"):
        gait_card(Simulation("planar", "planar/walk").run(1.0, fps=100.0))
    with pytest.raises(SurefootError, match="lasts from"):
        signals_of(motion, start=1000.0)


def test_the_picture_is_drawn_of_a_simulated_walk(motion: Motion) -> None:
    signals = signals_of(motion)
    image = card_picture(gait_card(signals), signals, motion, "a walk")
    assert image.width == 1800
    assert np.asarray(image).std() > 10.0
    force = norm_force()
    assert force.max() == pytest.approx(1.12, abs=0.01)
    assert (force[63:] == 0.0).all()


def test_the_command_prints_a_card_draws_it_and_says_the_same_as_json(motion: Motion, tmp_path: Path) -> None:
    motion.save(tmp_path / "walk.npz")
    done = call("gait", tmp_path / "walk.npz", "--save", tmp_path / "card.png")
    assert done.status == 0
    assert "gait profile score" in done.out
    assert (tmp_path / "card.png").stat().st_size > 10_000
    said = only_object(call("gait", tmp_path / "walk.npz", "--json").out)
    assert said["kind"] == "walk"
    assert said["measures"]["work"]["value"] is None
    assert said["measures"]["swing_knee"]["inside"] in (True, False)
    json.dumps(said, allow_nan=False)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("planar/walk",), "humanoid"), (("human/stand",), "strikes 0 times"), (("human/no-such-skill",), "valid:"),
        (("human/hop",), "in turn"), (("human/captured-forward", "--start", "2"), "clips and saved motions only"),
        (("human/captured-forward", "--seconds", "0"), "seconds must be"),
        (("human/captured-forward", "--save", "card.jpg"), ".png"), (("no-such.bvh",), "no-such.bvh"),
    ],
)  # fmt: skip
def test_bad_input_to_the_command_is_one_line_that_says_what_would_be_valid(
    arguments: tuple[str, ...], reason: str
) -> None:
    assert reason in refused("gait", *arguments)


@pytest.mark.skipif(not CLIPS, reason="SUREFOOT_CLIPS does not name a folder of clips")
@pytest.mark.parametrize(
    ("name", "cadence", "runs"),
    [("07_01", 113, False), ("07_05", 77, False), ("136_21", 97, False), ("16_22", 124, False), ("09_06", 160, True)],
)
def test_captured_gaits_have_their_known_cadence(name: str, cadence: float, runs: bool) -> None:
    card = gait_card(read_clip(next(Path(CLIPS).rglob(f"{name}.bvh"))).motion)
    assert card.cadence == pytest.approx(cadence, rel=0.03)
    assert card.runs == runs
    assert runs or 0.15 < card.double_support < 0.27
