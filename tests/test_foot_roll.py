"""A GENBICON foot that rolls: heel strike, heel rise, push-off in double support; nothing of it unless asked for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.controllers.genbicon import foot_roll
from surefoot.engine.population import Population
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from test_genbicon_parts import python

CHAIN = SimpleNamespace(depth=0.08, ball=0.115)
LIMBS = SimpleNamespace(legs=[CHAIN, CHAIN], biped=[SimpleNamespace(behind=0.067)])
SETTLED, MEASURED = 7.0, 3.0  # [s]


def walked(skill: Skill, speed: float, body: str = "humanoid") -> GaitCard:
    population = Population(1, body, [skill], threads=1)
    population.command(None, speed=speed)
    population.run(SETTLED, stop_fallen=True)
    motion = population.run(MEASURED, fps=250.0, stop_fallen=True)[0]
    assert np.isinf(population.fallen_at).all()
    return gait_card(motion)


@pytest.fixture(scope="module")
def rolling() -> GaitCard:
    return walked(load("biped/walk"), 1.3)


def test_the_walk_lands_on_its_heel_and_leaves_from_its_toes(rolling: GaitCard) -> None:
    assert rolling.strike_pitch > 8.0
    assert rolling.toe_off_pitch < -30.0


def test_the_walk_hands_its_weight_over_on_both_feet(rolling: GaitCard) -> None:
    assert 0.1 < rolling.double_support < 0.3
    assert rolling.flight < 0.01


def test_the_walk_stands_on_nearly_straight_legs(rolling: GaitCard) -> None:
    assert rolling.stance_knee < 22.0


def test_without_rolling_the_foot_stays_flat() -> None:
    flat = walked(with_parameters(load("biped/walk"), {"rolling": False}), 0.7)
    assert abs(flat.strike_pitch) < 3.0
    assert abs(flat.toe_off_pitch) < 5.0
    assert flat.double_support < 0.06


@pytest.mark.parametrize("name", ["zero-walk", "sneak", "crouch"])
def test_numbers_of_a_rolling_foot_change_nothing_of_a_style_that_does_not_roll(name: str) -> None:
    plain = load(f"biped/{name}")
    values = {"double_support": 0.3, "push_force": 2.0, "push_knee": 0.0, "curves.pressure": 0.9}
    others = with_parameters(plain, values)
    population = Population(2, "humanoid", [plain, others], threads=1)
    population.run(3.0)
    assert (population.qpos[0] == population.qpos[1]).all()


@pytest.mark.parametrize(("speed", "share"), [(-0.5, 0.0), (0.0, 0.0), (0.4, 0.5), (1.5, 1.0)])
def test_a_walk_in_place_or_backwards_does_not_roll(speed: float, share: float) -> None:
    walker, numbers = SimpleNamespace(speed=speed), SimpleNamespace(rolling=1.0)
    assert python(foot_roll.roll_share)(walker, numbers) == pytest.approx(share)
    assert python(foot_roll.roll_share)(walker, SimpleNamespace(rolling=0.0)) == 0.0


@pytest.mark.parametrize("pitch", [-1.0, -0.2, 0.0, 0.3])
@pytest.mark.parametrize("along", [-0.067, 0.0, 0.115])
def test_points_of_the_sole_turn_about_the_ankle(along: float, pitch: float) -> None:
    ahead, below = python(foot_roll.point_of_sole)(CHAIN, along, pitch)
    assert np.hypot(ahead, below) == pytest.approx(np.hypot(along, CHAIN.depth))
    assert np.arctan2(below, ahead) - np.arctan2(-CHAIN.depth, along) == pytest.approx(pitch)


def test_a_tilted_foot_stands_on_its_heel_or_on_its_ball() -> None:
    pressed, depth = python(foot_roll.pressed_point), python(foot_roll.sole_depth)
    assert pressed(LIMBS, 0, 0.03, 0.0) == pytest.approx(0.03)
    assert pressed(LIMBS, 0, 0.03, 0.3) == pytest.approx(-0.067)
    assert pressed(LIMBS, 0, 0.03, -0.3) == pytest.approx(0.115)
    assert depth(LIMBS, 0, 0.0) == pytest.approx(CHAIN.depth)
    assert depth(LIMBS, 0, 0.3) > CHAIN.depth
    assert depth(LIMBS, 0, -0.3) > depth(LIMBS, 0, 0.3)


@pytest.mark.parametrize("pitch", np.linspace(-1.2, 0.5, 18).tolist())
def test_the_depth_of_a_swing_foot_is_that_of_its_sole_rounded(pitch: float) -> None:
    over = python(foot_roll.swing_depth)(LIMBS, 0, pitch) - python(foot_roll.sole_depth)(LIMBS, 0, pitch)
    assert 0.0 < over < 0.015


def test_the_load_passes_from_the_foot_left_behind_to_the_new_one() -> None:
    numbers = SimpleNamespace(rolling=1.0, double_support=0.2)
    lead = python(foot_roll.lead_share)
    shares = [lead(SimpleNamespace(pushing=1.0, phase=p, speed=1.3), numbers) for p in np.linspace(0.0, 0.2, 9)]
    assert shares[0] < 0.2
    assert shares[-1] == pytest.approx(1.0)
    assert (np.diff(shares) > 0.0).all()
    assert lead(SimpleNamespace(pushing=0.0, phase=0.0, speed=1.3), numbers) == 1.0
