"""How an imitated clip gets its push-off and its numbers: torques over steps, straighter knees, the search's mean."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from captured_gait import document, gait
from human_body import TABLE
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab import captured_walk_search, clip_skills
from surefoot.lab.captured_walk_search import WALK_BOUNDS, search_captured_walk, torques_over_step
from surefoot.lab.parameter_tuning import parameter_value
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip, straighten_knees
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
    assert set(found) == {"stance_ankle", "swing_ankle"}
    inner = slice(4, -4)  # both ends are smoothed
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


def test_the_search_keeps_its_mean_and_neither_cycle_nor_table_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tall:
        """The more `support`, the better."""

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
            return np.array([-parameter_value(skill, "support") for skill in candidates])

    monkeypatch.setattr(captured_walk_search, "GaitObjective", Tall)
    begin = gait({"feedforward": {"stance_ankle": [0.0, -50.0]}})
    shares: list[float] = []
    found = search_captured_walk(begin, 1.3, generations=4, report=lambda text, share: shares.append(share))
    assert found.parameters.cycle == begin.parameters.cycle
    assert found.parameters.feedforward == begin.parameters.feedforward
    assert found.parameters.support > begin.parameters.support
    assert shares[-1] == 1.0
    for name, (low, high) in WALK_BOUNDS.items():
        assert low <= parameter_value(found, name) <= high


def test_the_search_by_the_gait_card_begins_with_an_imitation_that_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Skill] = []

    def search(skill: Skill, *_: object, **__: object) -> Skill:
        begun.append(skill)
        return skill

    untuned = document()
    walks = untuned | {"parameters": untuned["parameters"] | {"support": 3.25}}
    monkeypatch.setattr(clip_skills, "tune_skill", lambda *_, **__: walks)
    monkeypatch.setattr(clip_skills, "followed_torques", lambda *_: {"stance_ankle": [0.0, -50.0]})
    monkeypatch.setattr(clip_skills, "search_captured_walk", search)
    monkeypatch.setattr(clip_skills, "measure_walk", lambda *_, **__: None)
    done = clip_skills.make_walking_skill(
        untuned, clip_skills.ClipSource(Path("walk.bvh")), gait().parameters.cycle, 1.3, 5.0
    )
    assert begun[0].parameters.support == 3.25
    assert begun[0].parameters.feedforward == {"stance_ankle": [0.0, -50.0]}
    assert done.document["parameters"]["support"] == 3.25
