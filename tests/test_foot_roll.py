"""A GENBICON foot that rolls: heel strike, heel rise, push-off in double support; only while the walk is at ease."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.controllers.genbicon import ease, foot_roll, law
from surefoot.controllers.genbicon.parameters import ROLL
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.lab.gait_measures import leg_clearance
from surefoot.native.kernels import python_impl
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


def flat_walk() -> Skill:
    """The library's walk without its stride."""
    walk = load("biped/walk")
    return walk.model_copy(update={"parameters": walk.parameters.model_copy(update={"stride": None})})


def test_without_a_stride_the_foot_stays_flat() -> None:
    flat = walked(flat_walk(), 0.7)
    assert abs(flat.strike_pitch) < 3.0
    assert abs(flat.toe_off_pitch) < 5.0
    assert flat.double_support < 0.06


@pytest.mark.parametrize("speed", [-0.5, 0.0])
def test_in_place_and_backwards_a_stride_changes_nothing(speed: float) -> None:
    population = Population(2, "humanoid", [load("biped/walk"), flat_walk()], threads=1)
    population.command(None, speed=speed)
    population.run(3.0)
    assert (population.qpos[0] == population.qpos[1]).all()


@pytest.mark.parametrize(("speed", "share"), [(-0.5, 0.0), (0.0, 0.0), (0.4, 0.5), (1.3, 1.0), (1.8, 0.0)])
def test_how_far_a_foot_rolls_grows_with_speed_and_ease(speed: float, share: float) -> None:
    roll, stride = python(ease.roll_share), SimpleNamespace(rolling=1.0, rolling_speed=0.8)
    assert roll(SimpleNamespace(speed=speed, ease=1.0), stride) == pytest.approx(share)
    assert roll(SimpleNamespace(speed=speed, ease=0.3), stride) == pytest.approx(0.3 * share)
    assert roll(SimpleNamespace(speed=speed, ease=1.0), SimpleNamespace(rolling=0.0, rolling_speed=0.8)) == 0.0


def strolling() -> tuple[Simulation, np.record]:
    """The walk at 1 m/s, rolling, and its state."""
    sim = Simulation("humanoid", "biped/walk")
    sim.command(speed=1.0)
    sim.step(round(8.0 / sim.scene.model.opt.timestep))
    return sim, python_impl(law.walker_of)(sim.memory.memory)[0]


def test_a_push_ends_the_rolling_at_once_and_it_comes_back() -> None:
    sim, walker = strolling()
    assert walker.ease > 0.95
    sim.push((0.0, 120.0, 0.0), duration=0.4)
    steps = round(0.1 / sim.scene.model.opt.timestep)
    least = 1.0
    for _ in range(6):
        sim.step(steps)
        least = min(least, float(walker.ease))
    assert least < 0.05
    sim.step(60 * steps)
    assert not sim.fallen
    assert walker.ease > 0.8


@pytest.mark.parametrize("commands", [{"heading": 1.0}, {"stop": 1.0}])
def test_turning_and_stopping_are_done_on_flat_feet(commands: dict[str, float]) -> None:
    sim, walker = strolling()
    sim.command(**commands)
    sim.step(round(0.3 / sim.scene.model.opt.timestep))
    assert walker.ease < 0.05


@pytest.mark.parametrize("sideways", [0.12, -0.2])
def test_told_to_step_aside_on_the_spot_it_goes_as_fast_as_told_and_keeps_its_feet_apart(sideways: float) -> None:
    sim = Simulation("humanoid", "biped/walk")
    sim.command(speed=0.0, sideways=sideways)
    sim.run(4.0)
    motion = sim.run(6.0, fps=60.0)
    moved = motion.root_position[-1] - motion.root_position[0]
    assert moved[1] / 6.0 == pytest.approx(sideways, rel=0.1)
    assert abs(moved[0]) < 0.1
    assert leg_clearance(motion) > 0.0
    assert not sim.fallen


def test_a_style_that_settles_takes_up_its_bend_slowly_and_wholly() -> None:
    def bend(sim: Simulation) -> float:
        """How far the upper back is bent forward [rad]."""
        up = sim.data.body(sim.scene.table.anatomy.torso).xmat.reshape(3, 3)[:, 2]
        return float(np.arctan2(up[0], up[2]))

    slow = Simulation("humanoid", with_parameters(load("biped/sad"), {"settle": 1.0}))
    quick = Simulation("humanoid", with_parameters(load("biped/sad"), {"settle": 0.0}))
    for sim in (slow, quick):
        sim.run(0.3)
    assert bend(slow) < 0.5 * bend(quick)
    for sim in (slow, quick):
        sim.run(2.7)
    assert bend(slow) == pytest.approx(bend(quick), abs=0.1)


def test_a_stride_takes_the_walks_numbers_and_curves_for_those_it_does_not_give() -> None:
    walk = with_parameters(load("biped/walk"), {"stride.step_time": 1.3, "stride.curves.pressure": 0.5})
    stride = walk.parameters.stride
    assert (stride.step_time, stride.curves["pressure"]) == (1.3, 0.5)
    assert {name: stride.curves[name] for name in ROLL if name != "pressure"} == {
        name: curve for name, curve in ROLL.items() if name != "pressure"
    }


@pytest.mark.parametrize("pitch", [-1.0, -0.2, 0.0, 0.3])
@pytest.mark.parametrize("along", [-0.067, 0.0, 0.115])
def test_points_of_the_sole_turn_about_the_ankle(along: float, pitch: float) -> None:
    ahead, below = python(foot_roll.point_of_sole)(CHAIN, along, pitch)
    assert np.hypot(ahead, below) == pytest.approx(np.hypot(along, CHAIN.depth))
    turned = np.arctan2(below, ahead) - np.arctan2(-CHAIN.depth, along)
    assert np.exp(1j * turned) == pytest.approx(np.exp(1j * pitch))


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
