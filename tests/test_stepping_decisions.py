"""Stepping's centre of pressure and decisions: known answers of the equations, limits, and left-right symmetry."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from surefoot.controllers.stepping import center_of_pressure as pressure
from surefoot.controllers.stepping import decision, support
from surefoot.controllers.stepping.plan import BALANCE, CAREFUL, COMFORT, SHIFT, STAND, STEP, WALK
from surefoot.reflexes import pendulum
from test_genbicon_parts import python
from test_stepping_parts import G, plan, region, stepper

LEFT, RIGHT = 0, 1
HEIGHT = 0.93  # [m] of the COM
OMEGA = math.sqrt(G / HEIGHT)


def feet(angle: float = 0.0) -> tuple[support.Region, support.Region]:
    return region(0.03, 0.11, angle), region(-0.02, -0.09, angle)


def mirrored(foot: support.Region) -> support.Region:
    """The image of a foot in the plane of x and z."""
    return foot._replace(y=-foot.y, ay=-foot.ay, up=(foot.up[0], -foot.up[1], foot.up[2]))


def mirror(state: Any) -> Any:
    """The mirror image of a stepper: the other foot swings, everything across the x axis changes sign."""
    image = state.copy()
    for name in ("y", "heading", "sideways", "side_integral", "goal_y", "y0", "yaw0", "roll0", "goal_roll", "mark_y"):
        image[name] = -state[name]
    image.swing, image.share = 1.0 - state.swing, 1.0 - state.share
    return image


def world(**values: float) -> SimpleNamespace:
    return SimpleNamespace(**{"time": 5.0, "dt": 0.001, "numeric": np.zeros(1)} | values)


def row(touch: tuple[float, float] = (1.0, 1.0), load: float = 400.0) -> SimpleNamespace:
    header = SimpleNamespace(pending=0.0, active=0.0, ground=-1.0)
    force = np.zeros((2, 3))
    force[:, 2] = load * np.array(touch)
    return SimpleNamespace(header=[header], touch=np.array(touch), contact_force=force)


def decided(state: Any, left: Any, right: Any, capture: tuple[float, float], wanted: Any = None, **there: Any) -> Any:
    """A stepper after one decision, at rest with its capture point, which is its COM, at a place."""
    state, there = state.copy(), {"world": world(), "row": row()} | there
    com = (*capture, HEIGHT)
    python(decision.decide)(
        there["world"], there["row"], LIMBS, wanted or plan(), state, left, right, com, (0.0, 0.0, 0.0), 70.0
    )
    return state


BIPED = SimpleNamespace(ahead=0.16, behind=0.06, half_width=0.04, leg_length=0.85)
LIMBS = SimpleNamespace(biped=[BIPED])


# --------------------------------------------------------------------------------------------- center of pressure


@pytest.mark.parametrize("case", range(10))
def test_pressure_is_the_capture_point_pushed_away_from_the_point_of_rest(case: int) -> None:
    rng = np.random.default_rng(case)
    (x, y), (cx, cy) = rng.uniform(-0.2, 0.2, 2), rng.uniform(-0.2, 0.2, 2)
    found = python(pressure._pressure_towards)(plan(stiffness=1.7), x, y, cx, cy)
    assert found == pytest.approx((cx + 2.7 * (x - cx), cy + 2.7 * (y - cy)))


def test_next_to_the_point_of_rest_the_feet_do_nothing() -> None:
    assert python(pressure._pressure_towards)(plan(still=0.01), 0.1, 0.206, 0.1, 0.2) == (0.1, 0.206)


@pytest.mark.parametrize("mode", [STAND, SHIFT, STEP])
@pytest.mark.parametrize("kind", [BALANCE, WALK, CAREFUL])
def test_pressure_of_a_mirrored_body_is_the_mirrored_pressure(mode: float, kind: float) -> None:
    state = stepper(mode=mode, kind=kind, swing=0.0, heading=0.2, phase=0.4, duration=0.4, speed=0.5, sideways=0.1,
                    goal_x=0.3, goal_y=0.12, goal_z=-0.1, share=0.4)  # fmt: skip
    left, right = feet(0.2)
    com, velocity = (0.02, 0.03, HEIGHT), (0.1, -0.07, 0.0)
    image = mirror(state)
    python(pressure.choose_pressure)(plan(), state, left, right, com, velocity)
    python(pressure.choose_pressure)(
        plan(), image, mirrored(right), mirrored(left), (com[0], -com[1], com[2]), (velocity[0], -velocity[1], 0.0)
    )
    assert (image.x, image.y, image.z, image.share) == pytest.approx(
        (state.x, -state.y, state.z, 1.0 - state.share), abs=1e-9
    )


@pytest.mark.parametrize("case", range(8))
def test_pressure_stays_under_the_feet_that_bear(case: int) -> None:
    rng = np.random.default_rng(case)
    left, right = feet(0.3)
    com, velocity = (*rng.uniform(-0.3, 0.3, 2), HEIGHT), (*rng.uniform(-1.0, 1.0, 2), 0.0)
    state = stepper(mode=STEP, kind=BALANCE, swing=float(case % 2), duration=0.4)
    python(pressure.choose_pressure)(plan(), state, left, right, com, velocity)
    stance = right if case % 2 == 0 else left
    assert (state.x, state.y) == pytest.approx(python(support.within_foot)(stance, state.x, state.y), abs=1e-9)
    assert state.share == float(case % 2)
    state = stepper(mode=STAND)
    python(pressure.choose_pressure)(plan(), state, left, right, com, velocity)
    assert not python(support.is_beyond)(left, right, 0.0, state.x, state.y)
    assert 0.0 <= state.share <= 1.0


def test_walking_pressure_brings_the_capture_point_where_a_steady_walk_has_it_at_the_end_of_the_step() -> None:
    wanted, stance = plan(step_time=0.4, step_width=0.2, steering=1.0), region(0.4, -0.1)
    state = stepper(swing=0.0, heading=0.3, phase=0.35, duration=0.4, speed=0.7, integral=0.05, sideways=0.1)
    x, y, rest = 0.48, -0.02, 0.65 * 0.4
    zx, zy = python(pressure._walking_pressure)(wanted, state, stance, (0.0, 0.0, HEIGHT), x, y)
    grown = math.exp(OMEGA * rest)
    end = np.array([zx + (x - zx) * grown - stance.x, zy + (y - zy) * grown - stance.y])
    c, s = math.cos(0.3), math.sin(0.3)
    ahead = python(pendulum.periodic_capture_ahead)
    beside = python(pendulum.periodic_capture_beside)(0.2, OMEGA, 0.4) + ahead(0.1, OMEGA, 0.4)
    assert (c * end[0] + s * end[1], c * end[1] - s * end[0]) == pytest.approx((ahead(0.75, OMEGA, 0.4), beside))


def test_ground_force_at_rest_bears_the_weight_along_the_line_from_the_pressure_to_the_mass() -> None:
    state = stepper(x=0.05, y=-0.02, z=0.03, height=0.8)
    fx, fy, fz = python(pressure.ground_force)(plan(), state, (0.11, 0.04, 0.93), 70.0, 70.0, 0.8, 0.0)
    assert fz == pytest.approx(70.0 * G)
    assert (fx / fz, fy / fz) == pytest.approx((0.06 / 0.9, 0.06 / 0.9))


def test_ground_force_answers_sinking_hips_like_a_spring_and_stays_within_its_limits() -> None:
    state, com = stepper(height=0.8, height_rate=0.1), (0.0, 0.0, 0.93)
    force = python(pressure.ground_force)
    wanted = plan(spring=150.0, damper=20.0)
    assert force(wanted, state, com, 70.0, 70.0, 0.79, 0.2)[2] == pytest.approx(70 * G + 70 * (1.5 - 2.0))
    assert force(wanted, state, com, 70.0, 70.0, -5.0, 0.0)[2] == pytest.approx(pressure._MOST_LOAD * 70 * G)
    assert force(wanted, state, com, 70.0, 70.0, 5.0, 0.0)[2] == pytest.approx(pressure._LEAST_LOAD * 70 * G)


def test_lowest_hip_height_is_that_of_a_shin_at_its_limit_and_a_thigh_that_reaches_the_hip() -> None:
    thigh, shin, ahead, lean = 0.41, 0.38, 0.07, 0.55
    height = python(pressure.lowest_hip_height)(thigh, shin, ahead, lean)
    knee = (shin * math.sin(lean), shin * math.cos(lean))
    assert math.hypot(ahead - knee[0], height - knee[1]) == pytest.approx(thigh)
    assert python(pressure.lowest_hip_height)(thigh, shin, ahead, lean + 0.1) < height


def test_only_a_careful_step_down_lets_the_body_fall_and_never_all_the_way() -> None:
    share, stance = python(pressure._falling_share), region(0.0, 0.0)
    falls = stepper(kind=CAREFUL, goal_z=-0.15, phase=0.7)
    assert share(falls, stance) == pytest.approx(pressure._LET_GO_SHARE * 0.5)
    falls.phase = 3.0
    assert share(falls, stance) == pressure._LET_GO_SHARE
    assert share(stepper(kind=CAREFUL, goal_z=-0.03, phase=0.9), stance) == 0.0
    assert share(stepper(kind=WALK, goal_z=-0.15, phase=0.9), stance) == 0.0


# --------------------------------------------------------------------------------------------------------- decision


def test_a_capture_point_within_the_feet_needs_no_step_and_one_outside_does() -> None:
    left, right = region(0.0, 0.1), region(0.0, -0.1)
    still = stepper(mode=STAND, since=4.9, share=0.5)
    assert decided(still, left, right, (0.01, 0.02)).mode == STAND
    for capture in ((0.2, 0.0), (-0.2, 0.02), (0.0, 0.3), (0.01, -0.3)):
        assert (decided(still, left, right, capture).mode, decided(still, left, right, capture).kind) == (STEP, BALANCE)


@pytest.mark.parametrize("capture", [(0.02, 0.3), (0.1, -0.25), (-0.2, 0.08), (0.25, 0.12)])
def test_a_mirrored_push_is_caught_by_the_other_foot(capture: tuple[float, float]) -> None:
    left, right = feet()
    state = stepper(mode=STAND, since=4.9, swing=1.0)
    one = decided(state, left, right, capture)
    image = decided(mirror(state), mirrored(right), mirrored(left), (capture[0], -capture[1]))
    assert one.mode == image.mode == STEP
    assert image.swing == 1.0 - one.swing
    assert (image.x0, image.y0) == pytest.approx((one.x0, -one.y0))


def test_a_body_pushed_to_one_side_steps_with_the_foot_on_the_other_that_bears_less() -> None:
    left, right = region(0.0, 0.1), region(0.0, -0.1)
    state = stepper(mode=STAND, since=4.9)
    assert decided(state, left, right, (0.0, 0.3)).swing == RIGHT
    assert decided(state, left, right, (0.0, -0.3)).swing == LEFT


def test_of_two_feet_that_bear_alike_the_one_behind_catches_the_body() -> None:
    ahead, behind = region(0.06, 0.1), region(-0.06, -0.1)
    catching = python(decision._catching_foot)
    assert catching(stepper(), ahead, behind, 0.1, 0.0, 0.5) == RIGHT
    assert catching(stepper(), ahead, behind, -0.1, 0.0, 0.5) == LEFT
    assert catching(stepper(), ahead, behind, 0.1, 0.0, 0.8) == RIGHT
    assert catching(stepper(), ahead, behind, -0.1, 0.0, 0.2) == LEFT


def test_a_foot_without_ground_is_set_down_elsewhere_once_it_has_hung_for_a_while() -> None:
    left, right = region(0.0, 0.1)._replace(z=0.2), region(0.0, -0.1)
    state, air = stepper(mode=STAND, since=4.95), row((0.0, 1.0))
    assert decided(state, left, right, (0.0, 0.0), row=air).mode == STAND
    later = decided(state, left, right, (0.0, 0.0), row=air, world=world(time=5.5))
    assert (later.mode, later.kind, later.swing) == (STEP, BALANCE, LEFT)


@pytest.mark.parametrize(("along", "swing"), [(-0.1, LEFT), (0.1, RIGHT)])
def test_a_walk_begins_with_the_foot_behind(along: float, swing: int) -> None:
    state = stepper(mode=STAND, since=4.0, speed=0.5, swing=1.0)
    found = decided(state, region(along, 0.1), region(0.0, -0.1), (0.5 * along, 0.0))
    assert (found.mode, found.kind, found.swing) == (SHIFT, WALK, swing)


def test_a_careful_skill_shifts_carefully_and_a_body_just_landed_waits() -> None:
    state, pair = stepper(mode=STAND, since=4.0, speed=0.5), (region(0.0, 0.1), region(0.0, -0.1))
    assert decided(state, *pair, (0.0, 0.0), plan(careful=True)).kind == CAREFUL
    state.since = 4.9
    assert decided(state, *pair, (0.0, 0.0)).mode == STAND


def test_uncomfortable_feet_are_moved_when_the_body_is_calm_and_only_if_the_skill_wants_comfort() -> None:
    state, crossed = stepper(mode=STAND, since=4.0), (region(0.0, -0.05), region(0.0, 0.05))
    assert decided(state, *crossed, (0.0, 0.0)).kind == COMFORT
    assert decided(state, *crossed, (0.0, 0.0), plan(comfort=False)).mode == STAND


@pytest.mark.parametrize("turn", [0.25, -0.3])
def test_the_foot_turned_further_is_moved_first_and_mirrored_feet_choose_the_other(turn: float) -> None:
    state, wanted = stepper(heading=0.1), plan(comfort_angle=0.2)
    left, right = region(0.0, 0.1, 0.1 + turn), region(0.05, -0.1, 0.1)
    foot = python(decision.foot_to_move)
    assert foot(wanted, state, left, right) == LEFT
    assert foot(wanted, mirror(state), mirrored(right), mirrored(left)) == RIGHT


def test_a_step_that_begins_on_its_steady_course_keeps_its_time_and_one_off_it_is_shorter() -> None:
    wanted, stance = plan(step_time=0.42, push_time=0.3, hurry=1.2, step_width=0.2), region(0.3, -0.1)
    state = stepper(swing=0.0, speed=0.6, integral=0.02, duration=0.42)
    lead = python(pendulum.speed_offset)(OMEGA, 0.42)
    x = stance.x + lead * 0.62
    y = stance.y + 0.1 * python(pendulum.sway_offset)(OMEGA, 0.42)
    shorten = python(decision._shorten_step)
    shorten(wanted, state, stance, x, y, OMEGA)
    assert state.duration == pytest.approx(0.42)
    shorten(wanted, state, stance, x + 0.06, y + 0.08, OMEGA)  # 0.1 m off
    assert state.duration == pytest.approx(0.42 - 1.2 * (0.1 - decision._FREE_DEVIATION))
    shorten(wanted, state, stance, x + 1.0, y, OMEGA)
    assert state.duration == pytest.approx(0.3)


def test_a_step_turned_into_one_that_balances_is_the_same_step_from_where_the_foot_is() -> None:
    state, foot = stepper(mode=STEP, kind=CAREFUL, steps=7.0, phase=0.6, swing=1.0), region(0.31, -0.12, 0.2)
    python(decision._restart_as_balance_step)(world(), plan(push_time=0.33), state, foot, RIGHT, (0.1, 0.0, HEIGHT))
    assert (state.steps, state.kind, state.phase, state.unloaded) == (7.0, BALANCE, 0.0, 1.0)
    assert (state.x0, state.y0, state.yaw0, state.duration) == pytest.approx((0.31, -0.12, 0.2, 0.33))


def test_a_landed_foot_ends_its_step_and_an_early_touch_does_not() -> None:
    left, right = region(0.2, 0.1), region(0.0, -0.1)
    state = stepper(mode=STEP, kind=WALK, swing=0.0, phase=0.8, unloaded=1.0, duration=0.42, speed=0.6, steps=3.0,
                    mark_time=4.6, goal_x=0.2, goal_y=0.1)  # fmt: skip
    landed = decided(state, left, right, (0.16, 0.02))
    assert (landed.mode, landed.swing, landed.steps) == (STEP, RIGHT, 4.0)
    state.phase = 0.3
    assert decided(state, left, right, (0.16, 0.02)).steps == 3.0
    state.phase, state.unloaded = 0.8, 0.0
    assert decided(state, left, right, (0.16, 0.02)).steps == 3.0


def test_missed_speed_is_added_to_the_steps_that_follow_within_a_bound() -> None:
    left, right = region(0.2, 0.1), region(0.0, -0.1)
    state = stepper(mode=STEP, kind=WALK, swing=0.0, phase=0.8, unloaded=1.0, duration=0.42, speed=0.6, mark_time=4.6,
                    mark_x=0.0, goal_x=0.2, goal_y=0.1)  # fmt: skip
    found = decided(state, left, right, (0.16, 0.02), plan(speed_integral=0.25))
    assert found.integral == pytest.approx(0.25 * (0.6 - 0.16 / 0.4))
    state.integral, state.speed = 0.59, 2.0
    assert decided(state, left, right, (0.16, 0.02)).integral == decision._MOST_INTEGRAL
