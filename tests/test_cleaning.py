from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from strangers_walk import NAMES, hops, walk
from surefoot.errors import SurefootError
from surefoot.motions import bvh, clip_leg_ik, floor_fit
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts, find_body_parts
from surefoot.motions.cleaning import Cleaned, clean, glitches
from surefoot.motions.cleaning.foot_planting import spread_corrections
from surefoot.motions.findings import Findings
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.signals import span_mask

WALK, PLANTED = walk()
PARTS, _ = find_body_parts(WALK)
LEGS = [1, 2, 3, 5, 6, 7]
FPS = 120.0


def turned(motion: Motion, joint: int, frames: slice, vector: tuple[float, float, float]) -> Motion:
    rotations = motion.rotations.copy()
    rotations[frames, joint] = quat.multiply(rotations[frames, joint], quat.exp(np.array([vector])))
    return replace(motion, rotations=rotations)


def placed(motion: Motion, added: np.ndarray) -> Motion:
    return replace(motion, root_position=motion.root_position + added)


def faced(motion: Motion, yaw: float) -> Motion:
    turn = quat.about_vertical(np.full(len(motion), yaw))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    return replace(motion, root_position=quat.rotate(turn, motion.root_position), rotations=rotations)


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[deg] between rotations."""
    return np.degrees(np.linalg.norm(quat.log(quat.multiply(quat.inverse(a), b)), axis=-1))


def steps(motion: Motion, joints: list[int]) -> np.ndarray:
    return angles(motion.rotations[:-1, joints], motion.rotations[1:, joints])


def planted_toes(done: Cleaned, parts: BodyParts) -> list[tuple[float, np.ndarray]]:
    """Of each foot: median skate [m/s] and heights [m] in its contacts."""
    places, _ = world_poses(done.motion)
    found = []
    for limb, foot in ((parts.left, done.contacts.left), (parts.right, done.contacts.right)):
        on = span_mask(foot.toe, len(done.motion))
        there = places[:, limb.toe]
        found.append((float(np.median(floor_fit.horizontal_speeds(there, done.motion.time)[on])), there[on, 2]))
    return found


def test_a_clean_walk_stays_as_it_is() -> None:
    done = clean(WALK, PARTS)
    assert done.first == 0
    assert len(done.motion) == len(WALK)
    assert done.unsure == []
    assert not any("jump" in text or "teleport" in text or "tilted" in text for text in done.understood)
    assert angles(WALK.rotations[:, LEGS], done.motion.rotations[:, LEGS]).max() < 3.0
    assert np.sqrt((angles(WALK.rotations, done.motion.rotations) ** 2).mean()) < 0.5


def test_contacts_are_those_of_the_walk_and_give_its_cadence() -> None:
    done = clean(faced(WALK, 0.7), PARTS)
    for foot, truth in zip((done.contacts.left, done.contacts.right), PLANTED.T, strict=True):
        assert (foot.mask(len(WALK)) != truth).mean() < 0.05
    cadence = done.contacts.cadence(done.motion.time)
    assert cadence == pytest.approx(120.0 / 1.12, rel=0.02)
    assert done.contacts.cadence(done.motion.time, 1.0, 1.2) is None


@pytest.mark.parametrize("count", [1, 3])
def test_a_rest_pose_before_the_motion_is_dropped(count: int) -> None:
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (count, len(NAMES), 1))
    longer = Motion(
        np.arange(len(WALK) + count) / FPS,
        WALK.skeleton,
        np.concatenate([np.tile(WALK.root_position[0], (count, 1)), WALK.root_position]),
        np.concatenate([rest, WALK.rotations]),
    )
    done = clean(longer, PARTS)
    assert done.first == count
    assert done.motion.time[0] == 0.0
    assert len(done.motion) == len(WALK)
    assert any("rest pose" in text for text in done.understood)


@pytest.mark.parametrize(("joint", "degrees"), [(4, 60.0), (3, 170.0), (13, 35.0)])
def test_a_joint_that_jumps_and_comes_back_is_interpolated(joint: int, degrees: float) -> None:
    spiked = turned(WALK, joint, slice(211, 214), (0.3, np.radians(degrees), 0.1))
    done = clean(spiked, PARTS)
    whole = clean(WALK, PARTS)
    assert any(NAMES[joint] in text and "3 frames" in text for text in done.understood)
    assert angles(done.motion.rotations[:, joint], whole.motion.rotations[:, joint]).max() < 3.0


def test_a_lasting_flip_is_turned_back_and_doubted() -> None:
    flipped = turned(WALK, 7, slice(250, None), (0.0, 0.0, np.radians(168.0)))
    done = clean(flipped, PARTS)
    assert any("RightFoot flips" in text for text in done.unsure)
    assert angles(done.motion.rotations[:, 7], WALK.rotations[:, 7]).max() < 5.0


def test_a_fast_swing_is_no_glitch() -> None:
    rotations = WALK.rotations.copy()
    fast = np.column_stack([np.zeros(len(WALK)), 1.2 * np.sin(14.0 * WALK.time), np.zeros(len(WALK))])  # 960 °/s
    rotations[:, 12] = quat.exp(fast)
    done = clean(replace(WALK, rotations=rotations), PARTS)
    assert not any("LeftArm" in text for text in done.understood + done.unsure)
    assert angles(done.motion.rotations[:, 12], rotations[:, 12]).max() < 1e-6


def test_a_teleport_at_the_start_is_cut_off() -> None:
    added = np.where(np.arange(len(WALK))[:, None] < 9, [[2.1, 0.4, 0.1]], 0.0)
    done = clean(placed(WALK, added), PARTS)
    assert done.first == 9
    assert len(done.motion) == len(WALK) - 9
    assert any("9 frames before" in text for text in done.understood)


def test_a_teleport_in_the_middle_is_bridged_and_doubted() -> None:
    added = np.where(np.arange(len(WALK))[:, None] >= 300, [[1.3, -0.8, 0.0]], 0.0)
    done = clean(placed(WALK, added), PARTS)
    assert any("bridged" in text for text in done.unsure)
    assert len(done.motion) == len(WALK)
    speed = np.linalg.norm(np.diff(done.motion.root_position, axis=0), axis=1) * FPS
    assert speed.max() < 2.0


def test_a_root_that_strays_for_a_moment_is_brought_back() -> None:
    added = np.zeros((len(WALK), 3))
    added[205:208] = [0.2, 0.1, 0.05]
    done = clean(placed(WALK, added), PARTS)
    assert any("root jumps" in text for text in done.understood)
    assert np.abs(done.motion.root_position - clean(WALK, PARTS).motion.root_position).max() < 0.01


@pytest.mark.parametrize("rise", [(0.018, -0.007), (-0.011, 0.014)])
def test_a_tilted_floor_is_levelled(rise: tuple[float, float]) -> None:
    ahead = faced(WALK, 0.9)
    tilted = floor_fit.level_floor(ahead, -np.array(rise))
    places, _ = world_poses(tilted)
    direction = np.array([np.cos(0.9), np.sin(0.9)])  # the only one in which a straight walk tells
    assert floor_fit.floor_slope(places, tilted.time, PARTS) @ direction == pytest.approx(
        np.array(rise) @ direction, abs=1e-3
    )
    for skate, heights in planted_toes(clean(tilted, PARTS), PARTS):
        assert skate < 0.005
        assert np.ptp(np.quantile(heights, [0.02, 0.98])) < 0.01


def damaged() -> Motion:
    """Skating, noisy, floating, with a foot that points down too much."""
    noise = np.random.default_rng(4).normal(0.0, 0.001, (len(WALK), 3))
    slide = np.column_stack([-0.08 * WALK.time, 0.03 * np.sin(3.0 * WALK.time), np.full(len(WALK), 0.043)])
    return turned(placed(WALK, noise + slide), 3, slice(None), (0.0, 0.12, 0.0))


def test_feet_are_planted_flat_on_the_ground() -> None:
    done = clean(damaged(), PARTS)
    for (skate, heights), limb in zip(planted_toes(done, PARTS), (PARTS.left, PARTS.right), strict=True):
        places, turns = world_poses(done.motion)
        assert skate < 0.005
        ball = floor_fit.BALL * floor_fit.leg_length(places, limb)
        assert np.abs(np.quantile(heights, [0.05, 0.95]) - ball).max() < 0.01
        foot = done.contacts.left if limb is PARTS.left else done.contacts.right
        up = quat.rotate(turns[:, limb.toe], np.array([0.0, 0.0, 1.0]))[span_mask(foot.toe, len(done.motion))]
        assert np.degrees(np.arccos(np.clip(up[:, 2], -1.0, 1.0))).max() < 0.5
    lengths = [np.median(places[:, limb.ankle, 2] - places[:, limb.toe, 2]) for limb in (PARTS.left, PARTS.right)]
    assert abs(lengths[0] - lengths[1]) < 0.004


def test_planted_toes_are_level_however_the_rest_pose_is_rolled() -> None:
    roll = quat.exp(np.array([0.37, 0.0, 0.0]))
    raw = damaged()
    rotations = raw.rotations.copy()
    rotations[:, 4] = quat.multiply(rotations[:, 4], roll[None])
    done = clean(turned(replace(raw, rotations=rotations), 4, slice(None), (0.0, -0.2, 0.0)), PARTS)
    _, turns = world_poses(done.motion)
    on = span_mask(done.contacts.left.toe, len(done.motion))
    bone = quat.rotate(turns[on, 4], np.array([1.0, 0.0, 0.0]))
    sole = quat.rotate(turns[on, 4], quat.rotate(quat.inverse(roll), np.array([0.0, 0.0, 1.0])))
    assert np.degrees(np.arcsin(np.abs(bone[:, 2]))).max() < 0.5
    assert np.degrees(np.arccos(np.clip(sole[:, 2], -1.0, 1.0))).max() < 3.0


def test_planting_makes_no_jumps() -> None:
    raw, done = damaged(), clean(damaged(), PARTS)
    assert steps(done.motion, LEGS).max() < 1.5 * steps(raw, LEGS).max()
    assert angles(done.motion.rotations[:, [2, 6]], WALK.rotations[:, [2, 6]]).mean() < 5.0


def test_a_clip_can_be_cleaned_without_moving_its_legs() -> None:
    done = clean(damaged(), PARTS, feet=False)
    assert np.array_equal(done.motion.rotations[:, LEGS], quat.make_continuous(damaged().rotations)[:, LEGS])
    places, _ = world_poses(done.motion)
    assert np.quantile(places[:, PARTS.right.toe, 2], 0.1) == pytest.approx(floor_fit.BALL * 0.85, abs=0.02)


def test_feet_without_toes_are_planted_at_their_ankles() -> None:
    keep = [joint for joint in range(len(NAMES)) if "Toe" not in NAMES[joint]]
    parents = np.array([-1 if p < 0 else keep.index(p) for p in WALK.skeleton.parents[keep]])
    skeleton = Skeleton(tuple(NAMES[i] for i in keep), parents, WALK.skeleton.offsets[keep])
    raw = damaged()
    motion = Motion(raw.time, skeleton, raw.root_position, raw.rotations[:, keep])
    parts, _ = find_body_parts(motion)
    done = clean(motion, parts)
    places, _ = world_poses(done.motion)
    for limb, foot in ((parts.left, done.contacts.left), (parts.right, done.contacts.right)):
        on, there = span_mask(foot.toe, len(motion)), places[:, limb.ankle]
        assert np.median(floor_fit.horizontal_speeds(there, motion.time)[on]) < 0.005
        assert np.quantile(np.abs(there[on, 2] - 0.1 * 0.85), 0.95) < 0.01


@pytest.mark.parametrize("what", ["rotations", "nothing"])
def test_rubbish_comes_out_finite_and_standing_still_is_one_contact(what: str) -> None:
    rng = np.random.default_rng(11)
    still = Motion(WALK.time[:90], WALK.skeleton, WALK.root_position[[7] * 90], WALK.rotations[[7] * 90])
    if what == "rotations":
        wild = rng.normal(size=still.rotations.shape)
        still = replace(still, rotations=wild / np.linalg.norm(wild, axis=-1, keepdims=True))
    done = clean(still, PARTS)
    assert np.isfinite(done.motion.rotations).all()
    assert np.abs(np.linalg.norm(done.motion.rotations, axis=-1) - 1.0).max() < 1e-9
    if what == "nothing":
        assert done.contacts.left.any == ((0, 90),)
        assert done.contacts.cadence(done.motion.time) is None


def test_a_root_that_teleports_again_and_again_is_refused() -> None:
    rng = np.random.default_rng(11)
    with pytest.raises(SurefootError, match="teleports"):
        clean(placed(WALK, rng.normal(size=(len(WALK), 3))), PARTS)
    with pytest.raises(SurefootError, match=r"teleports 9 times, first at 0\.49 s"):
        clean(placed(WALK, np.outer(np.arange(len(WALK)) // 60, [2.6, 0.0, 0.0])), PARTS)


@pytest.mark.parametrize(
    "way", [np.array([2.6]), np.array([2.6] * 4), np.array([2.6, 2.0, 1.2, 0.5]), np.linspace(2.6, 0.3, 15)]
)
def test_teleports_in_the_first_frames_are_cut_off_whatever_their_shape(way: np.ndarray) -> None:
    added = np.zeros((len(WALK), 3))
    added[: len(way), 0] = way
    done = clean(placed(WALK, added), PARTS)
    assert any("teleports" in text and "cut off" in text for text in done.understood)
    whole = clean(WALK, PARTS).motion.select(slice(done.first, None))
    assert np.abs(done.motion.root_position - whole.root_position)[:, :2].max() < 0.05
    assert len(way) <= done.first <= len(way) + 1


FLIP = (0.1, 0.0, np.radians(168.0))
FOOT = 7


def flipped(motion: Motion, spans: list[tuple[int, int]], through: int = 1) -> Motion:
    """A motion whose right foot is turned over in some spans; each flip takes `through` steps."""
    share = np.zeros(len(motion))
    for first, stop in spans:
        share[first:stop] = 1.0
        for k in range(1, through):
            share[first - through + k] = share[stop - 1 + through - k] = k / through
    rotations = motion.rotations.copy()
    rotations[:, FOOT] = quat.multiply(rotations[:, FOOT], quat.exp(np.outer(share, FLIP)))
    return replace(motion, rotations=rotations)


@pytest.mark.parametrize(
    ("spans", "through"),
    [
        ([(200, 260)], 1), ([(200, 260)], 2), ([(k, k + 40) for k in range(50, 560, 90)], 1), ([(250, 600)], 1),
        ([(60, 600)], 1), ([(0, 400)], 1), ([(90, 300), (350, 500)], 3),
    ],
)  # fmt: skip
def test_only_the_frames_in_which_a_joint_is_flipped_over_are_turned_back(
    spans: list[tuple[int, int]], through: int
) -> None:
    findings = Findings()
    mended = glitches.repair_joints(flipped(WALK, spans, through), PARTS, findings)
    assert any("RightFoot flips over" in text and "turned back" in text for text in findings.unsure)
    off = angles(mended.rotations[:, FOOT], WALK.rotations[:, FOOT])
    assert off.max() < 12.0
    assert off[~span_mask([(max(first - 4, 0), stop + 4) for first, stop in spans], len(WALK))].max() < 1e-6


def test_a_flip_that_no_turn_explains_is_eased_over_and_its_loss_is_told() -> None:
    rotations = flipped(WALK, [(200, 320)]).rotations.copy()
    twist = np.outer(np.linspace(0.0, 1.0, 120), [0.0, np.radians(75.0), 0.0])
    rotations[200:320, FOOT] = quat.multiply(quat.exp(twist), rotations[200:320, FOOT])
    findings = Findings()
    mended = glitches.repair_joints(replace(WALK, rotations=rotations), PARTS, findings)
    assert any("RightFoot flips over" in text and "movement there is lost" in text for text in findings.unsure)
    assert np.delete(angles(mended.rotations[:, FOOT], WALK.rotations[:, FOOT]), slice(195, 325)).max() < 1e-6
    assert steps(mended, [FOOT]).max() < 10.0


def test_a_flipping_foot_hides_neither_a_rest_pose_nor_a_teleport() -> None:
    wild = flipped(WALK, [(k, k + 30) for k in range(50, 560, 50)])
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (1, len(NAMES), 1))
    longer = Motion(
        np.arange(len(WALK) + 1) / FPS, WALK.skeleton, np.concatenate([WALK.root_position[:1], WALK.root_position]),
        np.concatenate([rest, wild.rotations]),
    )  # fmt: skip
    assert any("rest pose" in text for text in clean(longer, PARTS).understood)
    jumped = placed(wild, np.where(np.arange(len(WALK))[:, None] >= 300, [[1.3, -0.8, 0.0]], 0.0))
    assert any("bridged" in text for text in clean(jumped, PARTS).unsure)  # it is not taken for another motion


def test_a_foot_that_trembles_while_it_stands_takes_no_step() -> None:
    places = clean(WALK, PARTS)
    trembling = turned(WALK, 1, slice(None), (0.0, 0.0, 0.0))
    shaken = trembling.rotations.copy()
    stands = span_mask(places.contacts.left.any, len(WALK))
    wave = np.where(stands, 0.055 * np.sin(2.0 * np.pi * 4.5 * WALK.time), 0.0)
    shaken[:, 1] = quat.multiply(quat.exp(np.outer(wave, [0.0, 0.0, 1.0])), shaken[:, 1])
    done = clean(replace(WALK, rotations=shaken), PARTS)
    assert len(done.contacts.left.any) == len(places.contacts.left.any)


@pytest.mark.parametrize("wrong", [1.0, 2.0, 0.5, 4.0])
def test_a_wrong_frame_rate_is_corrected_by_free_fall(wrong: float) -> None:
    motion = hops()
    done = clean(replace(motion, time=motion.time / wrong), PARTS)
    assert done.motion.time[-1] == pytest.approx(motion.time[-1], rel=1e-9)
    said = " ".join(done.understood)
    assert ("fits" in said) if wrong == 1.0 else (f"stamped {wrong:g} times" in said)


def test_a_told_frame_rate_is_kept_and_an_odd_one_only_reported() -> None:
    motion = hops()
    told = clean(motion, PARTS, fps=240.0)
    assert told.motion.time[1] == pytest.approx(1.0 / 240.0)
    assert any("39" in text for text in told.unsure)
    odd = clean(replace(motion, time=motion.time / 1.5), PARTS)
    assert odd.motion.time[-1] == pytest.approx(motion.time[-1] / 1.5)
    assert any("frame rate" in text for text in odd.unsure)


def test_a_walk_does_not_tell_its_frame_rate() -> None:
    done = clean(replace(WALK, time=WALK.time / 2.0), PARTS)
    assert done.motion.time[-1] == pytest.approx(WALK.time[-1] / 2.0)
    assert any("no clear flight" in text for text in done.understood)


def test_a_leg_reaches_what_is_wanted() -> None:
    rng = np.random.default_rng(7)
    places, _ = world_poses(WALK)
    goal = places[:, PARTS.left.ankle] + rng.normal(0.0, 0.02, (len(WALK), 3)) + [0.0, 0.0, 0.05]
    foot, toe = (quat.exp(rng.normal(0.0, 0.4, (len(WALK), 3))) for _ in range(2))
    across = places[:, PARTS.left.hip] - places[:, PARTS.right.hip]
    there, turns = world_poses(
        replace(WALK, rotations=clip_leg_ik.reach_ankle(WALK, PARTS.left, across, goal, foot, toe))
    )
    assert np.abs(there[:, PARTS.left.ankle] - goal).max() < 1e-9
    assert angles(turns[:, PARTS.left.ankle], foot).max() < 1e-5
    assert angles(turns[:, PARTS.left.toe], toe).max() < 1e-5
    assert np.abs(there[:, PARTS.right.toe] - places[:, PARTS.right.toe]).max() == 0.0


def test_a_leg_stretches_towards_what_it_cannot_reach() -> None:
    places, turns = world_poses(WALK)
    hip, ankle = places[:, PARTS.left.hip], places[:, PARTS.left.ankle]
    goal = hip + 1.7 * (ankle - hip)
    across = hip - places[:, PARTS.right.hip]
    ankle_turn, toe_turn = turns[:, PARTS.left.ankle], turns[:, PARTS.left.toe]
    there, _ = world_poses(
        replace(WALK, rotations=clip_leg_ik.reach_ankle(WALK, PARTS.left, across, goal, ankle_turn, toe_turn))
    )
    reached = there[:, PARTS.left.ankle] - hip
    assert np.linalg.norm(np.cross(quat.unit_vectors(reached), quat.unit_vectors(goal - hip)), axis=1).max() < 1e-6
    assert np.linalg.norm(reached, axis=1).min() > 0.999 * 0.85


def test_a_spread_correction_holds_and_stays_between_without_jumps() -> None:
    time = np.arange(300) / FPS
    held = (time < 0.6) | ((time > 1.0) & (time < 1.7)) | (time > 2.1)
    values = np.column_stack([0.02 * np.floor(time), 0.01 + 0.003 * np.sin(40.0 * time)])
    found = spread_corrections(values, held, time)
    assert np.abs(found - values)[held].max() < 1e-12
    assert found[:, 0].min() > -0.003
    assert found[:, 0].max() < 0.043
    let_go = ~held[1:] | ~held[:-1]
    assert np.abs(np.diff(found, axis=0))[let_go].max() < 0.001
    assert not spread_corrections(values, np.zeros(300, dtype=bool), time).any()


@pytest.mark.parametrize("fps", [0.0, -30.0, np.nan, np.inf])
def test_an_impossible_frame_rate_is_refused(fps: float) -> None:
    with pytest.raises(SurefootError, match="positive number"):
        clean(WALK, PARTS, fps=fps)


def test_what_cannot_be_cleaned_is_refused() -> None:
    short = Motion(WALK.time[:5], WALK.skeleton, WALK.root_position[:5], WALK.rotations[:5])
    with pytest.raises(SurefootError, match="at least 8 frames"):
        clean(short, PARTS)
    with pytest.raises(SurefootError, match="not finite"):
        clean(placed(WALK, np.where(np.arange(len(WALK))[:, None] == 77, np.nan, 0.0)), PARTS)
    with pytest.raises(SurefootError, match="increasing"):
        clean(replace(WALK, time=WALK.time[::-1]), PARTS)


CMU, CENTIMETRES = 1.0 / 0.0564444, 100.0  # [units/m]
CLIPS = {  # scale, steady window [s], steps per minute
    "cmu_bvh/07_01": (CMU, (0.0, 2.63), 113.0),
    "cmu_bvh/136_21": (CMU, (0.0, 4.0), 97.0),
    "cmu_bvh/07_05": (CMU, (0.0, 4.3), 77.0),
    "cmu_bvh/16_22": (CMU, (0.0, 2.56), 124.0),
    "cmu_bvh/08_07": (CMU, (0.1, 2.5), 94.0),
    "cmu_bvh/136_01": (CMU, (2.0, 7.2), 97.0),
    "cmu_bvh/136_09": (CMU, (3.0, 9.4), 95.0),
    "cmu_bvh/136_17": (CMU, (10.8, 14.8), 65.0),
    "cmu_bvh/91_19": (CMU, (2.6, 6.9), 101.0),
    "cmu_bvh/136_25": (CMU, (2.0, 13.3), 73.0),
    "cmu_bvh/113_18": (CMU, (1.0, 8.6), 88.0),
    "cmu_bvh/16_18": (CMU, (0.0, 4.3), 103.0),
    "cmu_bvh/69_17": (CMU, (1.0, 8.0), 67.0),
    "cmu_bvh/133_12": (CMU, (0.9, 3.0), 150.0),
    "cmu_bvh/120_13": (CMU, (0.5, 7.2), 52.0),
    "cmu_bvh/104_41": (CMU, (2.0, 11.5), 69.0),
    "cmu_bvh/132_55": (CMU, (2.0, 7.0), 68.0),
    "cmu_bvh/09_06": (CMU, (0.0, 1.17), 160.0),
    "cmu_bvh/38_03": (CMU, (0.0, 6.3), 160.0),
    "cmu_bvh/14_14": (CMU, (3.6, 9.0), 166.0),
    "100style_bvh/Neutral_FW": (CENTIMETRES, (8.0, 20.0), 87.0),
}
RUNS = ("cmu_bvh/09_06", "cmu_bvh/38_03")


@pytest.mark.skipif("SUREFOOT_CLIPS" not in os.environ, reason="needs the clips: set SUREFOOT_CLIPS to their folder")
@pytest.mark.parametrize("name", CLIPS)
def test_captured_feet_are_planted_and_step_at_their_known_cadence(name: str) -> None:
    scale, (start, end), cadence = CLIPS[name]
    motion = bvh.load(Path(os.environ["SUREFOOT_CLIPS"]) / f"{name}.bvh", scale=scale)
    parts, _ = find_body_parts(motion)
    done = clean(motion, parts)
    assert (done.first > 0) == (scale == CMU)
    late = max(done.first - 1, 0) * (motion.time[1] - motion.time[0])  # the windows count from the file's frame 1
    assert done.contacts.cadence(done.motion.time, start - late, end - late) == pytest.approx(cadence, rel=0.05)
    places, _ = world_poses(done.motion)
    ball = floor_fit.BALL * np.mean([floor_fit.leg_length(places, limb) for limb in (parts.left, parts.right)])
    for skate, heights in planted_toes(done, parts):
        assert skate <= (0.05 if name in RUNS else 0.02)
        assert np.mean(np.abs(heights - ball) < 0.01) > 0.9
    assert done.motion.time[-1] == pytest.approx(motion.time[len(done.motion) - 1])  # none has a wrong frame rate
