"""How an imitated clip gets its push-off and its numbers: torques over steps, straighter knees, the search's mean."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from human_body import TABLE
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SurefootError
from surefoot.lab.captured_walk_search import (
    CLIP_SHARE,
    WALK_BOUNDS,
    CapturedWalk,
    CapturedWalkObjective,
    PlainWalk,
    clip_share,
    curves_of,
    record_plain_walk,
    search_captured_walk,
    torques_over_step,
)
from surefoot.lab.clip_skills import measure_walk
from surefoot.lab.gait import gait_card
from surefoot.lab.gait_objective import FELL
from surefoot.lab.parameter_tuning import parameter_value
from surefoot.motions import fourier
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.motions.gait_cycle import mix_cycles
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip, straighten_knees
from surefoot.skills import files, load
from surefoot.skills.schema import Skill


@functools.cache
def walked() -> Motion:
    sim = Simulation(skill="human/fast-walk")
    sim.run(2.0)
    return sim.run(4.0, fps=200.0)


def test_torques_are_told_by_role_over_the_steps_between_footstrikes() -> None:
    """The ankle of the leg that struck gets its share of the step, the other one the share backwards."""
    motion, order = walked(), list(TABLE.gains)
    torque = np.zeros_like(motion.torque)
    strikes = footstrikes(motion)
    for (a, leg), (b, _) in pairwise(strikes):
        share, names = np.linspace(0.0, 1.0, b - a, endpoint=False), ("left_ankle", "right_ankle")
        torque[a:b, order.index(names[leg])] = 100.0 * share
        torque[a:b, order.index(names[1 - leg])] = 100.0 * (1.0 - share)
    found = torques_over_step(replace(motion, torque=torque), TABLE, motion.time[0])
    assert set(found) == {"stance_ankle", "swing_ankle", "stance_knee", "swing_knee"}
    assert not np.any(found["stance_knee"])
    inner = slice(1, -1)  # both ends are smoothed
    wanted = np.linspace(0.0, 100.0, len(found["stance_ankle"]))
    assert np.array(found["stance_ankle"])[inner] == pytest.approx(wanted[inner], abs=3.0)
    assert np.array(found["swing_ankle"])[inner] == pytest.approx(100.0 - wanted[inner], abs=3.0)


def test_a_motion_of_too_few_steps_gives_no_torques() -> None:
    with pytest.raises(SurefootError, match="at least 4 steps"):
        torques_over_step(walked(), TABLE, walked().time[-1])


def clip(knee: float) -> RetargetedClip:
    """A body on its left leg with the knees bent by an angle [rad]."""
    angles = {name: np.zeros(5) for name in TABLE.hinges}
    for side in ("left", "right"):
        angles[f"{side}_knee"], angles[f"{side}_hip"] = np.full(5, -knee), np.full(5, 0.5 * knee)
        angles[f"{side}_ankle"] = np.full(5, 0.5 * knee)
    place, turn = np.tile([0.0, 0.0, 0.9], (5, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    return RetargetedClip(np.arange(5) / 60.0, angles, place, turn, np.tile([True, False], (5, 1)), 1.0, ())


@pytest.mark.parametrize(("knee", "bias", "left"), [(0.6, 0.25, 0.35), (0.1, 0.25, 0.0)])
def test_straightened_knees_keep_the_feet_and_raise_the_root(knee: float, bias: float, left: float) -> None:
    before = clip(knee)
    after = straighten_knees(before, TABLE, bias)
    assert after.angles["left_knee"] == pytest.approx(-left)
    assert after.root_position[0, 2] > before.root_position[0, 2]
    was, now = (segment_poses(TABLE, c.angles, c.root_position, c.root_rotation)["left_foot"] for c in (before, after))
    assert now[1] == pytest.approx(was[1], abs=1e-6)  # the foot keeps its pitch
    assert now[0][:, 2] == pytest.approx(was[0][:, 2], abs=1e-6)  # and its height
    assert now[0][:, 0] == pytest.approx(was[0][:, 0], abs=0.01)
    assert before.angles["left_knee"] == pytest.approx(-knee)  # the clip itself is as it was


@functools.cache
def plain() -> PlainWalk:
    return record_plain_walk("human", 1.3)


def walk() -> CapturedWalk:
    """Between the plain walk and one of longer, quicker strides whose knees bend more."""
    own = plain().cycle
    knees = {f"{side}_knee": own.joints[f"{side}_knee"] * 1.2 for side in ("left", "right")}
    other = replace(own, period=0.9 * own.period, travel=1.1 * own.travel, joints=own.joints | knees)
    return CapturedWalk(plain(), other, TABLE, ("striding", "a walk", "clip", ""))


def test_the_curves_of_a_recorded_walk_are_those_of_its_gait_card() -> None:
    sim = Simulation("human", "human/walk")
    sim.command(speed=1.3)
    sim.run(8.0)
    card = gait_card(sim.run(6.0, fps=250.0))
    curves = curves_of(plain().cycle)
    for name, curve in curves.items():
        assert np.sqrt(np.mean((curve[:, None] - card.curves[name]) ** 2)) < 2.0, name
    assert CapturedWalkObjective(1.3, clip=curves).distance(card) < 2.0
    elsewhere = {name: curve + 5.0 for name, curve in curves.items()}
    assert CapturedWalkObjective(1.3, clip=elsewhere).distance(card) == pytest.approx(5.0, abs=1.0)


def test_the_further_a_walk_is_from_the_clip_the_more_it_costs() -> None:
    sim = Simulation("human", "human/walk")
    sim.command(speed=1.3)
    sim.run(6.0)
    card = gait_card(sim.run(4.0, fps=250.0))
    costs = [
        CapturedWalkObjective(1.3, clip={"knee": curves_of(plain().cycle)["knee"] + off}).cost_of_card(card)
        for off in (0.0, 12.0, 24.0)
    ]
    assert costs[0] < costs[1] < costs[2] < 0.5 * FELL


def test_a_mixed_cycle_lies_between_the_two() -> None:
    one, other = plain().cycle, walk().clip
    phase = np.array([0.13, 0.58, 0.91])
    for share in (0.0, 0.3, 1.0):
        mixed = mix_cycles(one, other, share)
        assert mixed.period == pytest.approx((1.0 - share) * one.period + share * other.period)
        for name in ("left_knee", "right_hip", "waist_yaw"):
            wanted = (1.0 - share) * one.angles_at(phase)[name] + share * other.angles_at(phase)[name]
            assert mixed.angles_at(phase)[name] == pytest.approx(wanted, abs=1e-12)


def test_contacts_are_mixed_the_short_way_round_the_cycle() -> None:
    early = replace(plain().cycle, contacts=(((0.9, 1.5),), ((0.4, 1.0),)))
    late = replace(plain().cycle, contacts=(((0.1, 0.8),), ((0.6, 1.3),)))
    (left,), (right,) = mix_cycles(early, late, 0.25).contacts
    assert left == pytest.approx((0.95, 1.575))
    assert right == pytest.approx((0.45, 1.075))


def test_targets_move_off_in_the_right_leg_half_a_cycle_later() -> None:
    values = {"targets.knee.0": 0.05, "targets.knee.1": 0.1, "targets.knee.4": -0.07, "targets.knee.6": 0.03}
    joints = walk().document(0.4, values)["parameters"]["cycle"]["joints"]
    before = walk().document(0.4, {})["parameters"]["cycle"]["joints"]
    moved = {side: np.array(joints[f"{side}_knee"]) - np.array(before[f"{side}_knee"]) for side in ("left", "right")}
    assert moved["left"][[0, 1, 4, 6]] == pytest.approx([0.05, 0.1, -0.07, 0.03], abs=2e-5)
    assert moved["right"] == pytest.approx(fourier.shifted(moved["left"], 0.5), abs=3e-5)
    assert joints["left_hip"] == before["left_hip"]


def test_targets_are_the_walks_own_first_then_slide_and_stay() -> None:
    shares = [clip_share(generation, 40) for generation in range(41)]
    assert shares[:11] == [0.0] * 11
    assert np.all(np.diff(shares) >= 0.0)
    assert 0.0 < shares[15] < CLIP_SHARE
    assert shares[20:] == pytest.approx([CLIP_SHARE] * 21)


def test_the_search_keeps_its_mean_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def tall(self: CapturedWalkObjective, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """The more `support`, the better."""
        return np.array([-parameter_value(skill, "support") for skill in candidates])

    monkeypatch.setattr(CapturedWalkObjective, "costs", tall)
    shares: list[float] = []
    found = search_captured_walk(walk(), 1.3, generations=4, report=lambda text, share: shares.append(share))
    skill = files.validate(found, "striding")
    assert skill.parameters.support > 1.0
    assert skill.parameters.cycle.period == pytest.approx(plain().cycle.period * (1.0 - 0.1 * CLIP_SHARE), abs=1e-4)
    assert shares[-1] == 1.0
    for name, (low, high) in WALK_BOUNDS.items():
        assert low - 1e-4 <= parameter_value(skill, name) <= high + 1e-4, name


def test_a_body_without_a_plain_walk_is_refused() -> None:
    with pytest.raises(CommandError, match="made for human"):
        record_plain_walk("planar", 1.3)


def test_the_captured_walk_is_as_near_to_its_clip_as_the_papers_imitations() -> None:
    """The clip is not here; its skill holds a mixture of it, which a walk must stay close to."""
    skill = load("human/captured-walk")
    done = measure_walk(skill, skill.parameters.cycle, 12.0, replicas=2, seed=3)
    assert done.stays_up
    assert done.is_alike
