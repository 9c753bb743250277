"""Pushes from eight directions at a phase of the cycle."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.engine.population import Population
from surefoot.lab import robustness
from surefoot.skills import load


@pytest.fixture(scope="module")
def start() -> robustness.StrikeStart:
    return robustness.at_strike(load("human/robust-walk"), seed=3, count=2)


def test_replicas_begin_as_the_right_foot_strikes_and_the_left_leg_begins_to_swing(
    start: robustness.StrikeStart,
) -> None:
    skill = load("human/robust-walk")
    population = Population(2, skill=[skill] * 2)
    population.restore(start.states)
    for row in population.rows:
        assert row.report[0].swing == 0.0
        assert row.touch[1] == 1.0
    assert not np.array_equal(population.qpos[0], population.qpos[1])
    assert 0.4 < start.period < 1.0
    assert np.abs(start.shifts).max() <= 0.02 * start.period


def test_no_push_is_survived_and_one_of_ten_times_the_papers_is_not(start: robustness.StrikeStart) -> None:
    skill = load("human/robust-walk")
    alive = robustness.push_survivors_3d(skill, start, [((0.0, 0.0), 0), ((3300.0, 0.0), 0), ((0.0, -2700.0), 1)])
    assert alive.tolist() == [True, False, False]


@pytest.mark.parametrize(("force", "axis", "sign"), [((60.0, 0.0), 1, 1), ((-60.0, 0.0), 1, -1), ((0.0, 60.0), 0, 1)])
def test_lateral_is_to_the_left_and_sagittal_ahead(
    start: robustness.StrikeStart, monkeypatch: pytest.MonkeyPatch, force: tuple[float, float], axis: int, sign: int
) -> None:
    pushed = []
    original = Population.run

    def noted(self: Population, *args: float, **kwargs: bool) -> object:
        pushed.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Population, "run", noted)
    monkeypatch.setattr(robustness, "PUSH_AFTER", 5.0)
    robustness.push_survivors_3d(load("human/robust-walk"), start, [(force, 0)])
    push = pushed[0].rows[0].pushes[0]
    assert np.sign([push.fx, push.fy][axis]) == sign
    assert (push.stop - push.start) == pytest.approx(0.4)
    assert (push.px, push.py, push.pz) == robustness.STERNUM


def test_the_papers_figures_are_those_of_section_7_2() -> None:
    pairs = [
        (p * lateral, p * sagittal)
        for p, (lateral, sagittal) in zip(robustness.PAPER_FORCES, robustness.DIRECTIONS, strict=True)
    ]
    assert pairs == [
        (0, 340), (230, 230), (330, 0), (220, -220), (0, -270), (-190, -190), (-240, 0), (-190, 190),
    ]  # fmt: skip
    assert sum(robustness.PAPER_FORCES) == 2010
