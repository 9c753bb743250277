"""Limit cycle control: its bodies, its reflex, its trials, and the perturbation they lead to."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from surefoot.characters import load as load_character
from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.controllers.limit_cycle.planner import TrialPlanner
from surefoot.controllers.limit_cycle.regulation import CYCLE, REGULATION, solve_perturbation
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SkillError
from surefoot.lab.gait_measures import measure_gait
from surefoot.native.kernels import python_impl
from surefoot.skills import load, names, with_parameters

MARCH = load("human19/march")
OPEN = with_parameters(MARCH, {"regulation.control": "open-loop"})
DERIVATIVES = ("forward_by_pitch", "forward_by_roll", "lateral_by_pitch", "lateral_by_roll")
# Laszlo, van de Panne, Fiume 1996, Table 1: mass [kg], inertia [kg·m²] about the forward, vertical and lateral axis
TABLE_1 = {
    "body": (14.72, (0.47, 0.26, 0.40)), "head": (20.9, (1.11, 0.92, 0.72)),
    "left_upper_leg": (1.2, (0.001, 0.01, 0.01)), "left_mid_leg": (1.6, (0.023, 0.0013, 0.023)),
    "left_lower_leg": (2.2, (0.057, 0.0018, 0.057)), "left_ankle": (1.4, (0.0012, 0.015, 0.015)),
    "left_foot": (2.52, (0.0098, 0.024, 0.016)),
}  # fmt: skip


def cycle_of(sim: Simulation) -> Any:
    return python_impl(limit_cycle.cycle_of)(sim.memory.memory)[0]


def asked(seconds: float = 3.0, skill: Any = MARCH) -> Simulation:
    """A walk at the beginning of a step whose perturbation is not known yet."""
    sim = Simulation(skill=skill)
    sim.step(round(seconds / sim.model.opt.timestep))
    while cycle_of(sim).asked == 0.0:
        mujoco.mj_step(sim.model, sim.data)
    return sim


def decided(sim: Simulation) -> Any:
    TrialPlanner(sim.scene).plan([sim._scheduled])
    return cycle_of(sim)


# --------------------------------------------------------------------------------------------------- bodies


@pytest.mark.parametrize(("name", "joints", "freedom"), [("human19", 13, 19), ("bird", 11, 15)])
def test_body_has_the_joints_and_degrees_of_freedom_of_the_paper(name: str, joints: int, freedom: int) -> None:
    table = load_character(name)
    assert sum(bool(segment.hinges) for segment in table.segments) == joints
    assert len(table.hinges) == len(table.gains) == freedom


def test_human19_weighs_what_the_human_of_simbicon_weighs() -> None:
    ours, theirs = load_character("human19"), load_character("human")
    assert [(s.name, s.mass, s.inertia) for s in ours.segments] == [
        (s.name, s.mass, s.inertia) for s in theirs.segments
    ]
    assert sum(segment.mass for segment in ours.segments) == pytest.approx(89.57, abs=0.02)


@pytest.mark.parametrize("part", TABLE_1)
def test_bird_has_the_masses_and_inertias_of_table_1(part: str) -> None:
    """Of parts that hang down here and lie there, the long axis is another: the values are the same ones."""
    segment = next(s for s in load_character("bird").segments if s.name == part)
    mass, inertia = TABLE_1[part]
    assert segment.mass == mass
    assert sorted(segment.inertia) == sorted(inertia)
    if part in ("body", "head", "left_foot"):
        assert segment.inertia == (inertia[0], inertia[2], inertia[1])


def test_a_foot_bears_on_four_points_that_may_each_slip() -> None:
    sim = Simulation(skill=OPEN)
    sim.data.qpos[3:] = 0.0
    sim.data.qpos[3] = 1.0
    sim.data.qpos[2] -= sim.scene.clearance(sim.data.qpos) + 1e-4
    mujoco.mj_forward(sim.model, sim.data)
    feet = [sim.model.geom_bodyid[sim.data.contact.geom2[i]] for i in range(sim.data.ncon)]
    assert sorted(np.bincount(feet)[np.bincount(feet) > 0]) == [4, 4]
    assert (sim.data.contact.friction[:, 0] == 0.8).all()


# ---------------------------------------------------------------------------------------------------- walks


def test_open_loop_falls_and_the_same_start_walks_with_control() -> None:
    falls, walks = Simulation(skill=OPEN), Simulation(skill=MARCH)
    falls.step(10_000)
    walks.step(12_000)
    assert 1.0 < falls.fallen_at < 10.0
    assert falls.memory.report[0].steps >= 3
    assert not walks.fallen
    assert cycle_of(walks).singular == cycle_of(walks).lost == 0.0


def test_a_walk_does_not_depend_on_how_it_is_stepped_and_a_row_is_a_simulation() -> None:
    one, other = Simulation(skill=MARCH), Simulation(skill=MARCH)
    one.step(2500)
    for count in (1, 13, 700, 1, 785, 1000):
        other.step(count)
    rows = Population(3, skill=MARCH, pushes=[[], [Push((40.0, 0.0, 0.0), 0.2, 0.9)], []])
    rows.run(2.5)
    assert np.array_equal(one.snapshot().state, other.snapshot().state)
    assert np.array_equal(rows.states[0], one.snapshot().state)
    assert np.array_equal(rows.qpos[2], rows.qpos[0])
    assert not np.array_equal(rows.qpos[1], rows.qpos[0])


def test_a_snapshot_brings_back_every_bit_of_a_walk() -> None:
    sim = Simulation(skill=MARCH)
    sim.step(1234)
    kept = sim.snapshot()
    sim.step(900)
    first = sim.snapshot().state
    sim.restore(kept)
    sim.step(900)
    assert np.array_equal(sim.snapshot().state, first)


# --------------------------------------------------------------------------------------------------- trials


def test_a_trial_changes_nothing_of_the_real_state_but_the_perturbation() -> None:
    sim = asked()
    before = sim.data.userdata.copy(), sim.data.qpos.copy(), sim.data.qvel.copy(), sim.data.qacc_warmstart.copy()
    cycle = decided(sim)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(before[1:], (sim.data.qpos, sim.data.qvel, sim.data.qacc_warmstart), strict=True)
    )
    changed = np.flatnonzero(before[0] != sim.data.userdata)
    begin = (cycle.__array_interface__["data"][0] - sim.data.userdata.__array_interface__["data"][0]) // 8
    names = {CYCLE.names[i - begin] for i in changed}  # type: ignore[index]
    assert names <= {"asked", "pitch", "roll", "nominal_forward", "nominal_lateral", *DERIVATIVES}
    assert {"asked", "pitch", "roll"} <= names


def test_a_step_whose_perturbation_is_written_without_trials_is_the_same_step() -> None:
    sim = asked()
    here = sim.snapshot()
    pitch, roll = (cycle := decided(sim)).pitch, cycle.roll
    sim.step(400)
    walked = sim.data.qpos.copy()
    sim.restore(here)
    cycle = cycle_of(sim)
    cycle.asked, cycle.pitch, cycle.roll = 0.0, pitch, roll
    mujoco.mj_step(sim.model, sim.data, 400)
    assert np.array_equal(sim.data.qpos, walked)
    assert abs(pitch) > 1e-4


def test_trials_know_no_push_that_has_not_begun() -> None:
    quiet, pushed = asked(), asked()
    pushed.push((200.0, 0.0, 0.0), 0.2, delay=0.05)
    assert decided(pushed).pitch == decided(quiet).pitch


def test_the_jacobian_of_trials_is_that_of_a_finer_one() -> None:
    coarse, fine = asked(), asked()
    fine.set_parameters({"regulation.trial": 0.01})
    a, b = decided(coarse), decided(fine)
    for name in ("forward_by_pitch", "lateral_by_roll"):
        assert a[name] == pytest.approx(b[name], rel=0.2)
        assert abs(a[name]) > 0.3
    for name in ("forward_by_roll", "lateral_by_pitch"):
        assert a[name] == pytest.approx(b[name], abs=0.2)
    assert (a.nominal_forward, a.nominal_lateral) == pytest.approx((b.nominal_forward, b.nominal_lateral), abs=0.02)


def test_the_model_foretells_what_the_step_ends_with() -> None:
    sim = asked()
    cycle = decided(sim)
    told = cycle.wanted_forward, cycle.wanted_lateral
    before = cycle.begun
    while cycle.begun == before:
        mujoco.mj_step(sim.model, sim.data)
    assert (cycle.forward, cycle.lateral) == pytest.approx(told, abs=0.03)


def test_no_error_needs_no_perturbation() -> None:
    sim = asked()
    cycle = decided(sim)
    cycle.wanted_forward, cycle.wanted_lateral = cycle.nominal_forward, cycle.nominal_lateral
    cycle.asked = 1.0
    cycle = decided(sim)
    assert (cycle.pitch, cycle.roll) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_left_and_right_steps_are_mirror_images() -> None:
    left, right = (Simulation(skill=with_parameters(MARCH, {"start.swing": side})) for side in ("left", "right"))
    for sim in (left, right):
        sim.step(300)
    assert left.data.qpos[1] == pytest.approx(-right.data.qpos[1], abs=1e-9)
    assert abs(left.data.qpos[1]) > 1e-3
    for name in ("pitch", "roll", *DERIVATIVES, "nominal_forward", "nominal_lateral"):
        assert cycle_of(left)[name] == pytest.approx(cycle_of(right)[name], abs=1e-6), name
    swings = {sim.model.joint(f"{side}_hip").qposadr[0]: sim for side, sim in (("left", left), ("right", right))}
    angles = [float(sim.data.qpos[address]) for address, sim in swings.items()]
    assert angles[0] == pytest.approx(angles[1], abs=1e-9)


def test_a_model_that_cannot_be_inverted_is_reported_and_not_divided_by() -> None:
    sim = Simulation(skill=with_parameters(MARCH, {"regulation.least": 10.0}))
    sim.step(1300)
    cycle = cycle_of(sim)
    assert cycle.singular == 3.0
    assert cycle.pitch == cycle.roll == 0.0
    assert cycle.forward_by_pitch != 0.0


def test_trials_that_all_fall_are_counted_and_perturb_nothing() -> None:
    sim = asked()
    sim.data.qpos[2] -= 0.55
    sim.data.qvel[:6] = (3.0, 3.0, -3.0, 5.0, 5.0, 0.0)
    cycle = decided(sim)
    assert cycle.lost == 1.0
    assert np.isfinite([cycle.pitch, cycle.roll]).all()


def regulation(**values: float) -> Any:
    record = np.zeros(1, REGULATION).view(np.recarray)[0]
    for name, value in ({"least": 0.02, "most_pitch": 0.5, "most_roll": 0.4} | values).items():
        record[name] = value
    return record


def test_the_full_jacobian_is_inverted_and_the_diagonal_one_divided_by() -> None:
    jacobian, wanted = np.array([[1.1, 0.3], [-0.2, -0.7]]), np.array([0.07, -0.04])
    full = python_impl(solve_perturbation)(regulation(full=1.0), *jacobian.ravel(), *wanted)
    assert full[:2] == pytest.approx(np.linalg.solve(jacobian, wanted))
    diagonal = python_impl(solve_perturbation)(regulation(), *jacobian.ravel(), *wanted)
    assert diagonal[:2] == pytest.approx(wanted / np.diag(jacobian))
    assert full[2] == diagonal[2] == 0.0


@pytest.mark.parametrize("full", [0.0, 1.0])
def test_perturbations_are_limited_and_what_has_no_effect_is_not_used(full: float) -> None:
    assert python_impl(solve_perturbation)(regulation(full=full), 1.0, 0.0, 0.0, 0.001, 0.9, 0.1) == (0.5, 0.0, 1.0)
    assert python_impl(solve_perturbation)(regulation(full=full), 1.0, 0.0, 0.0, -0.5, 0.1, 0.9) == (0.1, -0.4, 0.0)


# ----------------------------------------------------------------------------------------- commands, bad input


def test_a_speed_out_of_reach_is_clamped_with_a_warning_that_says_the_range(caplog: pytest.LogCaptureFixture) -> None:
    sim = Simulation(skill=with_parameters(MARCH, {"speed.rise": 1.0}))
    low, high = MARCH.parameters.speed.range
    sim.command(speed=high)
    assert not caplog.records
    sim.command(speed=2.5)
    sim.command(speed=2.5)
    assert caplog.text.count(f"{low:g} … {high:g} m/s") == 1
    sim.step(700)  # from the next step on
    assert cycle_of(sim).pace == high


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"regulation.control": "predicted", "model": None}, "learned `model`"),
        ({"regulation.forward": float("nan")}, "finite"),
        ({"states.0.duration": 0.1}, "either after"),
        ({"states.1.targets.swing_wing": 0.1}, "unknown role"),
        ({"start.state": 9}, "states, counted from 0"),
        ({"gains.hip.limit": 5000.0}, "body's limit"),
        ({"regulation.variable": "sideways"}, "up-vector"),
    ],
)
def test_a_skill_that_cannot_be_is_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(SkillError, match=reason):
        with_parameters(MARCH, changes)


def test_backward_is_walked_with_exactly_the_states_of_the_forward_march() -> None:
    backward, march = load("human19/backward"), load("human19/march")
    assert backward.parameters.states == march.parameters.states
    assert backward.parameters.gains == march.parameters.gains
    sim = Simulation(skill=backward)
    sim.run(6.0)
    assert not sim.fallen
    assert sim.data.qpos[0] < -0.6


def test_the_bird_runs_with_flight() -> None:
    sim = Simulation(skill=load("bird/run"))
    gait = measure_gait(sim.run(8.0, fps=100.0))
    assert not sim.fallen
    assert gait.speed > 0.5  # it begins slower than it ends
    assert gait.flight > 0.05


def test_a_bird_does_nothing_that_is_for_legs_of_two_bones() -> None:
    assert not any(name.startswith("biped/") for name in names("bird"))
    assert any(name.startswith("biped/") for name in names("human19"))
    with pytest.raises(CommandError, match="for 'biped', not for 'bird'"):
        Simulation("bird", "biped/zero-walk")
