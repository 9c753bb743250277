"""The cost of gaits that do not move as people do, and files that extend others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import CommandError, SkillError, SurefootError
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.lab.gait_objective import FELL, WALK, GaitObjective, SturdinessObjective, Wish
from surefoot.lab.genbicon_gait_search import BOUNDS, StyleObjective, search_style, search_walk
from surefoot.lab.parameter_tuning import parameter_value
from surefoot.lab.walk_search import RECOVERY_BOUNDS, find_ability, objective, slope_bounds
from surefoot.skills import with_parameters


def test_a_wish_costs_nothing_within_its_band_and_grows_beyond_it() -> None:
    wish = Wish(1.0, 2.0, 0.1)
    assert [wish.cost(v) for v in (1.0, 1.5, 2.0)] == [0.0, 0.0, 0.0]
    beyond = [wish.cost(2.0 + 0.05 * k) for k in range(1, 40)]
    assert beyond == sorted(beyond)
    assert wish.cost(2.3) == pytest.approx(wish.cost(0.7))
    assert wish.cost(float("nan")) > 0.0


def test_a_wish_has_no_step_where_it_becomes_linear() -> None:
    wish = Wish(0.0, 1.0, 0.2, weight=2.0)
    around = np.array([1.2 - 1e-6, 1.2 + 1e-6])
    values = [wish.cost(float(v)) for v in around]
    assert values[1] - values[0] == pytest.approx(2.0 * 2e-6 / 0.2, rel=0.01)


@pytest.fixture(scope="module")
def card() -> GaitCard:
    sim = sf.Simulation("human", "fast-walk")
    sim.step(2000)
    return gait_card(sim.run(3.0, fps=250))


def test_every_measure_that_is_wished_for_counts(card: GaitCard) -> None:
    cost = GaitObjective(card.speed)
    inside = replace(card, **{name: 0.5 * (wish.low + wish.high) for name, wish in WALK.items()})
    assert cost.cost_of_card(inside) == 0.0
    for name, wish in WALK.items():
        assert cost.cost_of_card(replace(inside, **{name: wish.high + 3.0 * wish.tolerance})) > 0.0, name


def test_of_two_bad_gaits_the_worse_costs_more_and_still_less_than_a_fall(card: GaitCard) -> None:
    cost = GaitObjective(card.speed)
    bad = replace(card, **{name: wish.high + 6.0 * wish.tolerance for name, wish in WALK.items()})
    worse = replace(card, **{name: wish.high + 10.0 * wish.tolerance for name, wish in WALK.items()})
    assert 50.0 < cost.cost_of_card(bad) < cost.cost_of_card(worse) - 1.0 < 0.5 * FELL


def test_a_fall_costs_more_than_any_gait_and_an_early_one_more_than_a_late_one() -> None:
    objective = GaitObjective(1.3, pushes=(), replicas=1, settle=1.0, measured=1.5)
    walk = sf.load_skill("human/fast-walk")
    early = with_parameters(walk, {"states.*.torso": -1.2})
    late = with_parameters(walk, {"states.*.torso": -0.6})
    costs = objective.costs([walk, early, late], seed=0, threads=1)
    assert costs[0] <= 0.5 * FELL
    assert costs[1] > costs[2] > 0.5 * FELL


def test_slow_walks_may_take_short_steps() -> None:
    assert "walk_ratio" in objective("walk", 1.3).wishes
    assert "walk_ratio" not in objective("walk", 0.5).wishes


def test_a_gait_that_falls_after_a_push_costs_more_than_one_that_recovers() -> None:
    walk = sf.load_skill("human/walk")
    objective = SturdinessObjective(1.3, pushes=((0.0, 90.0), (-90.0, 0.0)), seconds=7.0)
    recovers, falls = objective.costs([walk, with_parameters(walk, {"recovery": None})], 0)
    assert recovers < 0.25 * FELL < 0.4 * FELL < falls


def test_grounds_differ_in_every_generation_and_not_between_candidates() -> None:
    walk = sf.load_skill("human/walk")
    objective = SturdinessObjective(1.3, ground="slope:-6,{edge}", replicas=1, seconds=4.0, timestep=0.002)
    one, other = objective.costs([walk, walk], 3)
    assert one == other
    assert one != objective.costs([walk], 4)[0]


def test_what_the_searches_for_abilities_may_change_is_in_the_walk() -> None:
    walk = sf.load_skill("human/walk")
    for path, (low, high) in {**RECOVERY_BOUNDS, **slope_bounds("up"), **slope_bounds("down")}.items():
        assert low <= parameter_value(walk, path) <= high, path


def test_only_a_gait_of_several_speeds_is_given_abilities() -> None:
    with pytest.raises(SkillError, match="by_speed"):
        find_ability("uphill", 1.3, sf.load_skill("human/fast-walk"))


def test_a_style_costs_nothing_with_rolling_feet_at_its_own_speed_and_more_for_each_miss(card: GaitCard) -> None:
    style, objective = sf.load_skill("biped/proud"), StyleObjective()
    good = replace(
        card, speed=style.parameters.speed, strike_pitch=15.0, toe_off_pitch=-42.0, double_support=0.2, first_peak=1.2,
        score=9.0, slip=0.01, step_width=0.12, pelvis_turn=9.0,
    )  # fmt: skip
    assert objective.cost_of_card(good, style) == 0.0
    misses = {"strike_pitch": 2.0, "toe_off_pitch": -10.0, "double_support": 0.05, "first_peak": 2.0, "score": 20.0,
              "slip": 0.05, "step_width": 0.05, "pelvis_turn": 60.0, "speed": 0.5}  # fmt: skip
    for name, value in misses.items():
        assert objective.cost_of_card(replace(good, **{name: value}), style) > 0.1, name


def test_a_search_for_a_style_keeps_its_curves_and_begins_with_the_ordinary_stride(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, object] = {}

    def tune(skill: sf.Skill, bounds: dict[str, tuple[float, float]], objectives: object, **rest: object) -> None:
        seen.update(skill=skill, bounds=bounds, **rest)

    monkeypatch.setattr("surefoot.lab.genbicon_gait_search.tune", tune)
    sneak = sf.load_skill("biped/sneak")
    assert sneak.parameters.stride is None
    search_style(sneak, 0.9, generations=3)
    begin, bounds = seen["skill"], seen["bounds"]
    assert isinstance(begin, sf.Skill)
    assert isinstance(bounds, dict)
    assert begin.parameters.curves == sneak.parameters.curves
    assert begin.parameters.stride == sf.load_skill("biped/walk").parameters.stride
    assert seen["keep_mean"] is True
    for path, (low, high) in bounds.items():
        assert low <= parameter_value(begin, path) <= high, path


def test_what_the_search_for_a_rolling_walk_may_change_is_in_the_walk() -> None:
    walk = sf.load_skill("biped/walk")
    for path, (low, high) in BOUNDS.items():
        assert low <= parameter_value(walk, path) <= high, path


def test_a_search_for_a_rolling_walk_begins_with_one_that_rolls() -> None:
    with pytest.raises(CommandError, match="biped/walk"):
        search_walk(sf.load_skill("biped/flat-walk"), 1.3)


def test_a_file_can_extend_a_registered_skill(tmp_path: Path) -> None:
    path = tmp_path / "upright.yaml"
    path.write_text("extends: human/fast-walk\nname: upright\nparameters:\n  arms: {swing: 0.1}\n")
    skill, base = sf.load_skill(path), sf.load_skill("human/fast-walk")
    assert skill.name == "upright"
    assert skill.parameters.arms.swing == 0.1
    assert skill.parameters.states == base.parameters.states
    assert skill.start == base.start


@pytest.mark.parametrize("text", ["extends: human/no-such\nname: a\n", "extends: human/fast-walk\nnam: a\n"])
def test_a_file_that_extends_what_is_not_there_or_has_unknown_keys_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(SurefootError, match=r"no-such|unknown key"):
        sf.load_skill(path)
