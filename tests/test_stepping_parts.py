"""The parts of stepping on their own: pendulum, support regions, leg lengths, inverse kinematics, paths, heights."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from surefoot.characters import load as load_character
from surefoot.controllers.stepping import center_of_pressure, decision, foot_target, slip, support
from surefoot.controllers.stepping import law as stepping
from surefoot.controllers.stepping.parameters import SteppingParameters
from surefoot.controllers.stepping.plan import BALANCE, NUMBERS, STEPPER
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.reflexes import leg_ik
from surefoot.skills import load as load_skill
from surefoot.terrains import ground_kernels
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import packed_heights
from test_genbicon_parts import bend_range, built, python, spanned

G = 9.81
RNG = np.random.default_rng(8)
LEFT, RIGHT = 0, 1


def region(x: float, y: float, angle: float = 0.0, half: float = 0.05, radius: float = 0.035) -> support.Region:
    return support.Region(x, y, 0.0, half * math.cos(angle), half * math.sin(angle), radius, (0.0, 0.0, 1.0))


def plan(**values: float) -> SimpleNamespace:
    parameters = SteppingParameters(**values)
    return SimpleNamespace(**{name: float(getattr(parameters, name)) for name in NUMBERS})


@pytest.mark.parametrize("case", range(20))
def test_a_mass_over_a_foot_at_the_step_distance_comes_to_rest_above_it(case: int) -> None:
    rng = np.random.default_rng(case)
    v, h, s = rng.uniform(0.1, 3.0), rng.uniform(0.5, 1.2), rng.uniform(-0.3, 0.3)
    d = python(slip.step_distance)(v, h, s)
    leg = math.hypot(h - s, d)  # the pendulum's length, and the height of the mass when it is above the foot
    assert 0.5 * v * v + G * (h - s) == pytest.approx(G * leg, rel=1e-12)
    assert python(slip.step_distance)(-v, h, s) == -d


def test_a_foothold_that_lies_higher_is_nearer() -> None:
    distance = python(slip.step_distance)
    assert distance(1.1, 0.95, 0.15) < distance(1.1, 0.95, 0.0) < distance(1.1, 0.95, -0.15)


def test_pull_bias_balances_moments_about_the_foot() -> None:
    mass, force, height = 83.0, 57.0, 1.13
    shift = python(slip.pull_bias)(force, mass, height)
    assert mass * G * shift == pytest.approx(force * height)


def test_leg_force_is_that_of_a_damped_spring() -> None:
    assert python(slip.leg_force)(900.0, 70.0, 0.03, -0.2) == pytest.approx(900.0 * 0.03 + 70.0 * 0.2)


@pytest.mark.parametrize("case", range(20))
def test_nearest_point_of_a_foot_is_the_nearest_of_many_that_lie_in_it(case: int) -> None:
    rng = np.random.default_rng(case)
    foot = region(0.3, -0.2, rng.uniform(-3, 3))
    x, y = rng.uniform(-0.3, 0.9), rng.uniform(-0.6, 0.3)
    found = np.array(python(support.within_foot)(foot, x, y))
    t, angle, r = rng.uniform(-1, 1, 4000), rng.uniform(-np.pi, np.pi, 4000), foot.radius * rng.uniform(0, 1, 4000)
    inside = np.column_stack([foot.x + t * foot.ax + r * np.cos(angle), foot.y + t * foot.ay + r * np.sin(angle)])
    away = np.linalg.norm(inside - (x, y), axis=1).min()
    assert np.linalg.norm(found - (x, y)) <= away + 1e-9
    assert np.linalg.norm(found - (x, y)) == pytest.approx(away, abs=0.01)


def test_a_point_within_a_foot_stays_and_one_outside_comes_to_its_edge() -> None:
    foot = region(0.1, 0.2, 0.4)
    inner = (0.1 + 0.5 * foot.ax - 0.01, 0.2 + 0.5 * foot.ay + 0.01)
    assert python(support.within_foot)(foot, *inner) == pytest.approx(inner, abs=1e-12)
    edge = python(support.within_foot)(foot, 3.0, 1.0)
    assert python(support.within_foot)(foot, *edge) == pytest.approx(edge, abs=1e-12)
    circle = region(0.1, 0.2, half=0.0)
    assert math.dist(python(support.within_foot)(circle, 3.0, 1.0), (0.1, 0.2)) == pytest.approx(circle.radius)


@pytest.mark.parametrize("case", range(10))
def test_both_feet_bear_only_at_points_between_points_of_theirs(case: int) -> None:
    rng = np.random.default_rng(case)
    left, right = region(*rng.uniform(-0.3, 0.3, 2), 0.2), region(*rng.uniform(-0.3, 0.3, 2), 0.2)
    x, y = rng.uniform(-1, 1, 2)
    px, py, share = python(support.within_both)(left, right, x, y)
    assert 0.0 <= share <= 1.0
    ox, oy = px - share * left.x - (1 - share) * right.x, py - share * left.y - (1 - share) * right.y
    for foot in (left, right):  # the same offset lies within either foot
        there = (foot.x + ox, foot.y + oy)
        assert python(support.within_foot)(foot, *there) == pytest.approx(there, abs=1e-9)


def test_feet_side_by_side_bear_at_the_nearest_point_of_their_hull() -> None:
    left, right = region(0.0, 0.1), region(0.0, -0.1)
    assert python(support.within_both)(left, right, 0.02, 0.05) == pytest.approx((0.02, 0.05, 0.75))
    found = python(support.within_both)(left, right, 0.5, 0.03)
    assert found[:2] == pytest.approx((0.085, 0.03), abs=support._TOLERANCE)
    *place, share = python(support.within_both)(left, right, 0.03, 0.5)
    assert place == pytest.approx((0.03, 0.135), abs=support._TOLERANCE)
    assert share == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("case", range(12))
def test_feet_anyhow_bear_at_a_point_as_near_as_any_of_many_between_them(case: int) -> None:
    rng = np.random.default_rng(100 + case)
    left, right = (region(*rng.uniform(-0.3, 0.3, 2), rng.uniform(-1.0, 1.0)) for _ in range(2))
    x, y = rng.uniform(-0.5, 0.5, 2)
    px, py, _ = python(support.within_both)(left, right, x, y)
    many = []
    for foot in (left, right):
        along, turn = rng.uniform(-1, 1, 4000), rng.uniform(0, 2 * np.pi, 4000)
        across = foot.radius * np.sqrt(rng.uniform(0, 1, 4000)) * (np.cos(turn), np.sin(turn))
        many.append(np.array([[foot.x], [foot.y]]) + along * np.array([[foot.ax], [foot.ay]]) + across)
    share = rng.uniform(0, 1, 4000)
    between = np.concatenate([share * many[0] + (1 - share) * many[1], *many], axis=1)
    least = np.hypot(*(between - np.array([[x], [y]]))).min()
    assert math.hypot(px - x, py - y) <= least + support._TOLERANCE


def test_a_point_of_a_tilted_sole_lies_in_its_plane() -> None:
    tilt = 0.3
    foot = support.Region(0.2, 0.1, 0.5, 0.05, 0.0, 0.03, (-math.sin(tilt), 0.0, math.cos(tilt)))
    assert python(support.on_sole)(foot, 0.26, 0.12)[2] == pytest.approx(0.5 + 0.06 * math.tan(tilt))


def test_on_a_step_the_longest_leg_is_full_and_the_other_shorter_by_the_step() -> None:
    full, low, high = 0.82, 0.07, 0.22
    height = python(center_of_pressure.hip_height)(low, 0.05, high, 0.11, full)
    lower, upper = (
        python(center_of_pressure.rest_length)(low, 0.05, height),
        python(center_of_pressure.rest_length)(high, 0.11, height),
    )
    assert lower == pytest.approx(full)
    assert upper < full
    assert math.sqrt(upper**2 - 0.11**2) == pytest.approx(math.sqrt(full**2 - 0.05**2) - 0.15)


def test_on_a_slope_rest_lengths_put_both_feet_on_the_ground() -> None:
    full, slope = 0.8, math.tan(math.radians(25))
    places = np.array([-0.15, 0.15])
    height = python(center_of_pressure.hip_height)(slope * places[0], 0.15, slope * places[1], 0.15, full)
    for place in places:
        length = python(center_of_pressure.rest_length)(slope * place, 0.15, height)
        assert length <= full + 1e-12
        assert height - math.sqrt(length**2 - 0.15**2) == pytest.approx(slope * place)


@pytest.mark.parametrize("character", ["stepper", "human"])
@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_leg_angles_put_the_ankle_where_it_can_be_to_a_millimetre(character: str, side: int) -> None:
    body = built(load_character(character))
    chain = body.numbers.legs[side]
    a, b = np.array([chain.ax, chain.ay, chain.az]), np.array([chain.bx, chain.by, chain.bz])
    nearest = min(spanned(chain, angle) for angle in np.linspace(*bend_range(body, chain), 1001))
    rng = np.random.default_rng(side)
    reached = 0
    for _ in range(200):
        to = tuple(rng.normal(size=3) * 0.5)
        if not python(leg_ik.can_reach)(chain, to):
            assert not nearest < np.linalg.norm(to) < 0.999 * chain.reach
            continue
        turn, bend = python(leg_ik.leg_angles)(chain, to, (0.1, 1.0, 0.05))
        knee = _about(np.array([chain.nx, chain.ny, chain.nz]), bend)
        end = _rotation(turn) @ (a + knee @ b)
        assert np.linalg.norm(end - to) < 1e-3
        reached += 1
    assert reached > 50


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    return _rotation((math.cos(angle / 2), *(math.sin(angle / 2) * axis)))


def _rotation(quaternion: Any) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, float))
    return matrix.reshape(3, 3)


def test_a_path_begins_and_ends_where_it_should_and_passes_over_its_top() -> None:
    z0, z1, top = 0.03, 0.21, 0.35
    control = python(foot_target.control_height)(z0, z1, top)
    heights = [python(foot_target.bezier)(s, z0, control, control, z1) for s in (0.0, 0.5, 1.0)]
    assert heights == pytest.approx([z0, top, z1])
    assert python(foot_target.travel_share)(0.0) == 0.0
    assert python(foot_target.travel_share)(1.7) == 1.0
    assert python(foot_target.travel_share)(0.3) == pytest.approx(3 * 0.3**2 - 2 * 0.3**3)


@pytest.mark.parametrize("text", ["flat", "incline:14,50", "slope:-9,1,30", "stairs:0.16,0.3,12", "rough:3,0.05",
                                  "gaps:0.2", "bumps:4,0.05,0.4,8", "steps:0.5,0.1,1.4,-0.3"])  # fmt: skip
def test_a_law_reads_the_heights_the_terrain_has(text: str) -> None:
    terrain = load_terrain(text)
    world = SimpleNamespace(numeric=np.concatenate([np.full(5, np.nan), packed_heights(terrain)]))
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(-5.0, 5.0, (300, 2)):
        assert python(ground_kernels.height_at)(world, 5, x, y) == pytest.approx(float(terrain.height(x, y)), abs=1e-6)


def test_without_numbers_the_ground_is_level() -> None:
    assert python(ground_kernels.height_at)(SimpleNamespace(numeric=np.zeros(3)), -1, 3.3, -2.0) == 0.0


def test_the_platforms_normal_goes_round_a_cone() -> None:
    angle, period, ramp = 0.6, 12.0, 4.0
    for time in (5.0, 7.3, 11.1):
        a, b = python(ground_kernels.platform_angles)(time, angle, period, ramp)
        normal = _about(np.array([1.0, 0.0, 0.0]), a) @ _about(np.array([0.0, 1.0, 0.0]), b) @ (0.0, 0.0, 1.0)
        way = 2 * np.pi * time / period
        assert normal == pytest.approx(
            [np.sin(angle) * np.cos(way), np.sin(angle) * np.sin(way), np.cos(angle)], abs=1e-12
        )
    assert python(ground_kernels.platform_angles)(0.0, angle, period, ramp) == (0.0, 0.0)


def stepper(**values: float) -> Any:
    made = np.zeros(1, STEPPER).view(np.recarray)[0]
    for name, value in values.items():
        setattr(made, name, value)
    return made


def test_crossed_and_turned_feet_are_uncomfortable_and_feet_side_by_side_are_not() -> None:
    facing, wanted = stepper(heading=0.3), plan()
    c, s = math.cos(0.3), math.sin(0.3)

    def feet(along: float, beside: float, turn: float = 0.0) -> tuple[support.Region, support.Region]:
        x, y = 0.5 * (c * along - s * beside), 0.5 * (s * along + c * beside)
        return region(1.0 + x, 2.0 + y, 0.3 + turn), region(1.0 - x, 2.0 - y, 0.3)

    assert python(decision.discomfort)(wanted, facing, *feet(0.01, wanted.step_width)) < 0.2
    assert python(decision.discomfort)(wanted, facing, *feet(0.0, -wanted.step_width)) > 1.0
    assert python(decision.discomfort)(wanted, facing, *feet(0.3, wanted.step_width)) > 1.0
    assert python(decision.discomfort)(wanted, facing, *feet(0.0, wanted.step_width, 0.4)) > 1.0
    place = python(decision.comfortable_place)(wanted, facing, region(1.0, 2.0), LEFT)
    assert python(decision.discomfort)(wanted, facing, region(*place, 0.3), region(1.0, 2.0, 0.3)) < 1e-6


def test_a_pendulum_at_rest_above_its_foot_is_caught_right_there() -> None:
    still = stepper(x=0.4, y=-0.1, z=0.02, kind=BALANCE)
    x, y, omega = python(foot_target.stopping_foothold)(
        still, plan(spring_bias=0.0), (0.4, -0.1, 1.0), (0.0, 0.0, 0.0), 0.2, 0.0, 0.0, 0.0, 0.0
    )
    assert (x, y) == (0.4, -0.1)
    assert omega == pytest.approx(math.sqrt(G / 0.98))


def test_the_capture_is_where_the_pendulum_will_need_it_not_where_it_needs_it_now() -> None:
    moving = stepper(x=0.0, y=0.0, z=0.0, kind=BALANCE)
    com, velocity = (0.05, 0.01, 0.95), (0.5, -0.2, 0.0)
    soon = python(foot_target.stopping_foothold)(moving, plan(spring_bias=0.0), com, velocity, 0.25, 0.0, 0.0, 0.0, 0.0)
    omega = soon[2]
    grown = math.exp(omega * 0.25)
    # of a linear pendulum p + v/ω grows so; equation 2 is a little longer, as it is not linear
    assert soon[0] == pytest.approx((0.05 + 0.5 / omega) * grown, rel=0.1)
    assert soon[1] == pytest.approx((0.01 - 0.2 / omega) * grown, rel=0.1)


def test_commands_have_ranges_and_the_skills_know_them_all() -> None:
    for name in ("stepper/stand", "stepper/walk"):
        assert load_skill(name).commands == list(stepping.COMMANDS)


def test_no_push_no_step() -> None:
    sim = Simulation("stepper", "stand")
    sim.step(8000)
    report, before = sim.memory.report[0], sim.memory.com.copy()
    assert not sim.fallen
    sim.step(2000)
    assert report.steps == 0.0
    assert np.linalg.norm(sim.memory.com - before) < 0.005
    assert python_impl(stepping.stepper_of)(sim.memory.memory)[0].mode == 0.0
