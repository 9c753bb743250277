"""Measuring: what a gait is like, how thresholds are found, how searches and experiments are run and resumed."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from conftest import in_the_air, made_skill
from surefoot import terrains
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError, SurefootError, UnknownNameError
from surefoot.lab import replicas, reproduce, robustness
from surefoot.lab import replicas as cycles
from surefoot.lab.experiment import Experiment, Result, Setting, run_experiment
from surefoot.lab.gait_measures import foot_positions, measure_gait, record_for_measuring, torso_pitch
from surefoot.lab.parameter_tuning import Objective, TuningResult, parameter_value, tune
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.lab.reproduce import PAPERS, experiments, select
from surefoot.lab.reproduce.simbicon.gaits import TABLE_1, replicas_from_start
from surefoot.lab.reproduce.simbicon.planar_robustness import course
from surefoot.lab.robustness import UndisturbedGait, has_recovered, planar_grid, push_survivors, robust_threshold
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion
from surefoot.skills import load, with_parameters

# ------------------------------------------------------------------------------------------------- measures


@pytest.fixture(scope="module")
def walk() -> Motion:
    """Five seconds of the settled walk."""
    sim = Simulation("planar")
    sim.step(6000)
    return sim.run(5.0, fps=200)


def stepping(motion: Motion, step_time: float, overlap: float = 0.02) -> Motion:
    """The motion with made-up loads: the feet take turns every `step_time`, with a short double support."""
    force = np.zeros_like(motion.contact_force)
    turn = np.floor((motion.time - motion.time[0]) / step_time).astype(int)
    within = (motion.time - motion.time[0]) - turn * step_time
    for foot in (0, 1):
        force[:, foot, 2] = np.where((turn % 2 == foot) | (within < overlap), 500.0, 0.0)
    return replace(motion, contact_force=force)


@pytest.mark.parametrize("step_time", [0.3, 0.45])
def test_cadence_is_the_number_of_foot_strikes_over_the_time(walk: Motion, step_time: float) -> None:
    made = stepping(walk, step_time)
    count = int(5.0 / step_time)
    assert len(footstrikes(made)) in (count - 1, count)
    assert measure_gait(made).cadence == pytest.approx(len(footstrikes(made)) / 5.0)
    feet = [foot for _, foot in footstrikes(made)]
    assert all(a != b for a, b in itertools.pairwise(feet))


def test_cadence_of_the_walk_is_that_of_its_state_machine() -> None:
    sim = Simulation("planar")
    sim.step(6000)
    before = sim.memory.report[0].steps
    gait = measure_gait(sim.run(6.0, fps=250))
    assert gait.cadence * 6.0 == pytest.approx(sim.memory.report[0].steps - before, abs=1.01)


def test_a_foot_unloaded_for_an_instant_has_not_taken_a_step(walk: Motion) -> None:
    force = np.full_like(walk.contact_force, 400.0)
    force[300:305, 0, 2] = 0.0  # 25 ms
    assert footstrikes(replace(walk, contact_force=force)) == []
    force[300:320, 0, 2] = 0.0  # 100 ms
    assert footstrikes(replace(walk, contact_force=force)) == [(320, 0)]


def test_a_swinging_foot_that_scuffs_the_ground_has_not_taken_a_step(walk: Motion) -> None:
    force = np.full_like(walk.contact_force, 400.0)
    force[300:340, 0, 2] = 0.0  # 200 ms
    force[320, 0, 2] = 400.0  # 5 ms
    assert footstrikes(replace(walk, contact_force=force)) == [(340, 0)]
    force[320:326, 0, 2] = 400.0  # 30 ms
    assert footstrikes(replace(walk, contact_force=force)) == [(320, 0), (340, 0)]


def test_free_fall_is_all_flight_and_standing_is_none() -> None:
    sim = Simulation("planar")
    in_the_air(sim, 20.0)
    falling = measure_gait(sim.run(0.5, fps=100))
    assert falling.flight == 1.0
    assert falling.cadence == 0.0
    assert falling.step_length == 0.0
    assert measure_gait(standing(0.0, settle=100)).flight == 0.0


def standing(speed: float, settle: int = 0) -> Motion:
    """A body held in an upright pose with both feet down, sliding at first if it has a speed."""
    start = {"torso": 0.0, "torso_rate": 0.0, "speed": speed, "climb": 0.0, "joints": {}, "rates": {}}
    sim = Simulation(skill=made_skill([{"until": "request"}], start=start))
    sim.step(settle)
    return sim.run(0.4, fps=200)


def test_a_sliding_foot_slips_and_a_standing_one_does_not() -> None:
    sliding, still = standing(0.8), standing(0.0)
    slid = float((sliding.slip[-1] - sliding.slip[0]).sum())
    assert slid > 0.005
    assert float((still.slip[-1] - still.slip[0]).sum()) < 0.05 * slid
    assert measure_gait(sliding).slip > 10.0 * measure_gait(still).slip > -1e-12


def test_a_foot_that_pivots_on_one_of_its_contact_points_slips() -> None:
    sim = Simulation(skill="human/stand")
    sim.step(2000)
    model, data, foot, spin = sim.model, sim.data, sim.model.body("left_foot").id, 1.0  # [rad/s]
    places = np.array([c.pos for c in data.contact if foot in model.geom_bodyid[list(c.geom)]])
    assert len(places) >= 3
    data.qvel[:] = 0.0
    data.qvel[3:6] = 0.0, 0.0, spin  # of the whole body, which stands upright
    data.qvel[:2] = spin * np.array([-1.0, 1.0]) * (data.qpos[:2] - places[0, :2])[::-1]
    before = float(sim.memory.slip[0])
    sim.step()
    slid = (float(sim.memory.slip[0]) - before) / model.opt.timestep
    assert slid == pytest.approx(spin * np.linalg.norm(places[:, :2] - places[0, :2], axis=1).mean(), rel=0.01)


def test_speed_is_distance_over_time_and_sway_half_the_range_of_pitch(walk: Motion) -> None:
    gait = measure_gait(walk)
    assert gait.speed == pytest.approx((walk.qpos[-1, 0] - walk.qpos[0, 0]) / 5.0)
    assert gait.sway == pytest.approx(np.degrees(walk.qpos[:, 2].max() - walk.qpos[:, 2].min()) / 2)
    assert gait.peak_torque == np.abs(walk.torque).max()
    assert 0.3 < gait.speed < 2.0


def test_cost_of_transport_grows_with_the_torque_and_is_work_over_weight_and_way(walk: Motion) -> None:
    gait, stronger = measure_gait(walk), measure_gait(replace(walk, torque=2.5 * walk.torque))
    assert stronger.cost_of_transport == pytest.approx(2.5 * gait.cost_of_transport)
    work = np.abs(walk.torque * walk.qvel[:, 3:]).sum(axis=1).mean() * 5.0
    assert gait.cost_of_transport == pytest.approx(work / (90.0 * 9.81 * (walk.qpos[-1, 0] - walk.qpos[0, 0])))


def test_feet_and_torso_are_where_mujoco_has_them(walk: Motion) -> None:
    assert walk.scene is not None
    model, feet = walk.scene.model, foot_positions(walk)
    data = mujoco.MjData(model)
    for frame in (0, 123, 700):
        data.qpos[:] = walk.qpos[frame]
        mujoco.mj_kinematics(model, data)
        for i, side in enumerate(("left", "right")):
            assert feet[frame, i] == pytest.approx(data.body(f"{side}_foot").xpos, abs=1e-9)
    assert torso_pitch(walk) == pytest.approx(walk.qpos[:, 2], abs=1e-9)


def test_step_length_is_the_distance_travelled_per_step(walk: Motion) -> None:
    gait, struck = measure_gait(walk), [frame for frame, _ in footstrikes(walk)]
    travelled = walk.qpos[struck[-1], 0] - walk.qpos[struck[0], 0]
    assert gait.step_length == pytest.approx(travelled / (len(struck) - 1))
    assert gait.step_length * gait.cadence == pytest.approx(gait.speed, rel=0.08)


def test_a_run_travels_farther_per_step_than_its_feet_are_apart_at_a_strike() -> None:
    sim = Simulation(skill="planar/run")
    sim.step(10_000)
    gait = measure_gait(record_for_measuring(sim, 5.0))
    assert gait.step_length * gait.cadence == pytest.approx(gait.speed, rel=0.05)
    assert gait.step_length > 1.3 * gait.foot_spread_at_strike


def test_foot_spread_is_the_distance_between_the_feet_at_a_strike(walk: Motion) -> None:
    gait, feet = measure_gait(walk), foot_positions(walk)
    apart = [abs(feet[f, 0, 0] - feet[f, 1, 0]) for f, _ in footstrikes(walk)]
    assert gait.foot_spread_at_strike == pytest.approx(np.mean(apart))


def test_a_motion_of_too_few_frames_a_second_is_not_measured() -> None:
    motion = Simulation("planar").run(0.5, fps=60)
    with pytest.raises(SurefootError, match="100 frames a second"):
        measure_gait(motion)


def test_a_motion_without_a_scene_cannot_be_measured(walk: Motion) -> None:
    with pytest.raises(SurefootError, match="simulated"):
        measure_gait(replace(walk, scene=None))


# ----------------------------------------------------------------------------------------------- thresholds


def survivors_of(table: dict[float, int]) -> Callable[[list[float]], list[int]]:
    return lambda levels: [table[level] for level in levels]


GRID = [10.0 * i for i in range(1, 15)]


@pytest.mark.parametrize("lost", [30.0, 70.0, 80.0, 140.0])
def test_robust_threshold_of_a_body_that_fails_above_a_level_is_the_level_below(lost: float) -> None:
    survives = survivors_of({level: 5 if level < lost else 0 for level in GRID})
    threshold, tried = robust_threshold(survives, GRID)
    assert threshold == lost - 10.0
    assert tried[-1] == (lost, 0)
    assert [level for level, _ in tried] == GRID[: len(tried)]


def test_a_gap_below_a_survived_level_counts() -> None:
    """A resonance that lets 100 N pass does not make up for 50 N that does not."""
    table = dict.fromkeys(GRID, 5) | {50.0: 3}
    assert robust_threshold(survivors_of(table), GRID)[0] == 40.0


def test_four_of_five_replicas_are_enough_and_three_are_not() -> None:
    assert robust_threshold(survivors_of(dict.fromkeys(GRID, 4)), GRID)[0] == GRID[-1]
    assert robust_threshold(survivors_of(dict.fromkeys(GRID, 3)), GRID)[0] == 0.0


@pytest.mark.parametrize("block", [1, 2, 6, 50])
def test_levels_simulated_at_once_do_not_change_the_threshold(block: int) -> None:
    table = {level: 5 if level <= 90.0 else 2 for level in GRID}
    threshold, tried = robust_threshold(survivors_of(table), GRID, block)
    assert (threshold, tried[-1][0]) == (90.0, 100.0)


def test_planar_grid_has_10_newton_steps_below_100_and_20_above() -> None:
    grid = planar_grid(640.0)
    assert grid[:10] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    assert set(np.diff(grid[9:])) == {20.0}
    assert grid[-1] == 640.0
    assert planar_grid(130.0)[-2:] == [100.0, 120.0]
    assert planar_grid(55.0) == [10.0, 20.0, 30.0, 40.0, 50.0]


def test_a_gait_resumes_if_it_has_70_percent_of_its_speed_again() -> None:
    ahead, back, steps = (
        UndisturbedGait(speed=1.0, steps=10.0),
        UndisturbedGait(speed=-0.8, steps=10.0),
        np.full(4, 9.0),
    )
    assert has_recovered(np.array([1.0, 0.71, 0.69, -1.0]), steps, ahead).tolist() == [True, True, False, False]
    assert has_recovered(np.array([-0.8, -0.57, -0.5, 0.8]), steps, back).tolist() == [True, True, False, False]


def test_a_gait_in_place_resumes_if_it_steps_in_place_again() -> None:
    norm = UndisturbedGait(speed=0.05, steps=10.0)
    assert has_recovered(np.array([0.0, 0.2, 0.6, 0.0]), np.array([9, 6, 9, 1]), norm).tolist() == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.slow
def test_walk_survives_ten_small_pushes_and_none_that_throw_it_over() -> None:
    survives = push_survivors(load("planar/walk"), 1.0, seed=3)
    assert survives([10.0, 5000.0]) == [robustness.NEEDED, 0]  # replicas that cannot change the verdict are not run


# -------------------------------------------------------------------------------------------------- replicas


def test_random_numbers_depend_on_seed_and_purpose_and_on_nothing_else() -> None:
    def draw(seed: int, *labels: object) -> list[float]:
        return seeded_generator(seed, *labels).random(4).tolist()

    first = draw(3, "push", "walk", 1)
    np.random.seed(0)
    assert draw(3, "push", "walk", 1) == first
    others = ((4, "push", "walk", 1), (3, "push", "walk", 2), (3, "start", "walk", 1))
    assert len({tuple(first), *(tuple(draw(*other)) for other in others)}) == 4


@pytest.mark.parametrize("seed", range(4))
def test_replica_noise_stays_within_its_bounds(seed: int) -> None:
    sim = Simulation("planar")
    qpos, qvel = sim.data.qpos.copy(), sim.data.qvel.copy()
    perturb_state(sim.scene, qpos, qvel, seeded_generator(seed, "test"))
    angles, rates = qpos[3:] - sim.data.qpos[3:], qvel[3:] - sim.data.qvel[3:]
    assert (np.abs(angles) <= replicas.ANGLE).all()
    assert (np.abs(rates) <= replicas.RATE).all()
    assert abs(qvel[0] - sim.data.qvel[0]) <= replicas.SPEED
    assert np.count_nonzero(angles) == np.count_nonzero(rates) == 6
    assert (qpos[[0, 2]] == sim.data.qpos[[0, 2]]).all()
    assert (qvel[[1, 2]] == sim.data.qvel[[1, 2]]).all()
    assert sim.scene.clearance(qpos) == pytest.approx(sim.scene.clearance(sim.data.qpos), abs=1e-12)


def test_replica_noise_fills_its_bounds() -> None:
    sim = Simulation("planar")
    found = []
    for i in range(40):
        qpos, qvel = sim.data.qpos.copy(), sim.data.qvel.copy()
        perturb_state(sim.scene, qpos, qvel, seeded_generator(0, i))
        turned, sped = qpos - sim.data.qpos, qvel - sim.data.qvel
        found.append(np.concatenate([turned[3:], sped[3:], sped[:1]]))
    spread = np.ptp(found, axis=0)
    assert spread == pytest.approx(2.0 * np.repeat([replicas.ANGLE, replicas.RATE, replicas.SPEED], [6, 6, 1]), rel=0.3)


def test_a_disturbed_knee_stays_within_its_range() -> None:
    sim = Simulation("planar")
    for joint in ("left_knee", "right_knee"):
        sim.data.joint(joint).qpos[0] = -0.001
    for i in range(10):
        qpos, qvel = sim.data.qpos.copy(), sim.data.qvel.copy()
        perturb_state(sim.scene, qpos, qvel, seeded_generator(1, i))
        assert qpos[4] <= 0.0
        assert qpos[7] <= 0.0


def test_replicas_of_a_start_differ_from_each_other_and_by_seed_alone() -> None:
    skills = [load("planar/walk"), load("planar/run")]
    one, again, other = (replicas_from_start(skills, seed, count=3).states for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert len(np.unique(one, axis=0)) == 6


def test_random_phases_of_a_gait_are_spread_and_reproducible() -> None:
    one, again = (cycles.states_at_random_phases(load("planar/walk"), 3, seed=5) for _ in range(2))
    assert np.array_equal(one, again)
    times = one[:, 0]
    assert (times >= cycles.SETTLE).all()
    assert (times <= cycles.SETTLE + 2.0).all()
    assert len(set(times)) == 3


# ---------------------------------------------------------------------------------------------------- tuning

BOUNDS = {"states.0.cv": (0.0, 0.6), "states.0.targets.swing_hip": (0.2, 0.8)}


def search(generations: int, checkpoint: Path | None = None, seed: int = 2) -> TuningResult:
    objective = Objective(seconds=1.0, replicas=1, speed=0.9)
    return tune(
        load("planar/walk"), BOUNDS, [objective], generations=generations, seed=seed, popsize=4, checkpoint=checkpoint
    )


def test_an_interrupted_search_ends_where_an_uninterrupted_one_does(tmp_path: Path) -> None:
    whole = search(2)
    path = tmp_path / "search.json"
    search(1, path)
    resumed_search = search(2, path)
    assert resumed_search == whole
    assert whole.generations == 2
    assert len(json.loads(path.read_text())["costs"]) == 2
    for name, (low, high) in BOUNDS.items():
        assert low <= whole.values[name] <= high
        assert parameter_value(whole.skill, name) == pytest.approx(whole.values[name])
    assert search(2, seed=3).values != whole.values


def test_a_finished_search_is_replayed_without_simulating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, simulated = tmp_path / "search.json", []
    first = search(1, path)
    right = Objective.costs

    def counted(self: Objective, candidates: Any, seed: int, threads: int = 0) -> np.ndarray:
        simulated.append(len(candidates))
        return right(self, candidates, seed, threads)

    monkeypatch.setattr(Objective, "costs", counted)
    assert search(1, path) == first
    assert 4 not in simulated  # no generation, only the last choice between two


def test_a_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    search(1, path)
    with pytest.raises(OutputError, match="another search: seed was 2, now 9"):
        search(2, path, seed=9)
    path.write_text("{}")
    with pytest.raises(OutputError, match="resume"):
        search(2, path)


def without_simulating(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let every cost be 0; returns how many candidates were asked for at a time."""
    asked = list[int]()

    def costs(self: Objective, candidates: Any, seed: int, threads: int = 0) -> np.ndarray:
        asked.append(len(candidates))
        return np.zeros(len(candidates))

    monkeypatch.setattr(Objective, "costs", costs)
    return asked


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"bounds": {"states.0.cv": (0.0, 0.7)}}, "range of states.0.cv was 0 to 0.6, now 0 to 0.7"),
        ({"bounds": {"states.0.cd": (0.0, 0.6)}}, "range of states.0.cd was not given, now 0 to 0.6"),
        ({"near": 0.1}, "near was 0, now 0.1"),
        ({"sigma": 0.2}, "sigma was 0.1, now 0.2"),
        ({"popsize": 6}, "candidates was 4, now 6"),
        ({"skill": "planar/run"}, "skill was planar/walk"),
        ({"seconds": 3.0}, "seconds was 2, now 3"),
        ({"replicas": 2}, "replicas was 1, now 2"),
        ({"speed": 1.0}, "speed was None, now 1"),
        ({"least_speed": 1.0}, "least_speed was None, now 1"),
        ({"pushes": (100.0, -50.0)}, "pushes was 0, now 100, -50"),
        ({"terrain": "slope:3"}, "terrain was flat, now slope:3"),
        ({"terrain": terrains.load("slope:3")}, "terrain was flat, now slope:3"),
        ({"flight": 0.3}, "flight was None, now 0.3"),
    ],
)
def test_a_checkpoint_of_a_search_that_asks_for_something_else_is_refused_and_kept(
    tmp_path: Path, change: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated, path = without_simulating(monkeypatch), tmp_path / "search.json"

    def run(**changes: Any) -> TuningResult:
        asked = {"seconds": 2.0, "replicas": 1} | changes
        options: dict[str, Any] = {"bounds": {"states.0.cv": (0.0, 0.6)}, "near": 0.0, "sigma": 0.1, "popsize": 4}
        options |= {name: asked.pop(name) for name in list(asked) if name in options}
        skill = load(asked.pop("skill", "planar/walk"))
        limits = options.pop("bounds")
        return tune(skill, limits, [Objective(**asked)], generations=1, checkpoint=path, **options)

    run()
    kept, before = path.read_bytes(), list(simulated)
    with pytest.raises(OutputError, match=re.escape(told)) as refusal:
        run(**change)
    assert "Delete it, or name another checkpoint" in str(refusal.value)
    assert simulated == before
    assert path.read_bytes() == kept
    run()


def test_a_ground_of_ones_own_belongs_to_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_simulating(monkeypatch)
    path = tmp_path / "search.json"

    def run(height: float) -> TuningResult:
        ground = terrains.profile([0.0, 0.0, height])
        return tune(load("planar/walk"), BOUNDS, [Objective(terrain=ground)], generations=1, checkpoint=path)

    assert run(0.1) == run(0.1)
    with pytest.raises(OutputError, match="terrain was"):
        run(0.2)


def test_cost_of_staying_up_is_less_than_of_falling() -> None:
    walk = load("planar/walk")
    fails = made_skill([{"duration": 0.3}])
    costs = Objective(seconds=3.0, replicas=2).costs([walk, fails], seed=1)
    assert costs[0] == 0.0
    assert costs[1] >= 1.0


def test_cost_grows_with_the_distance_from_the_wanted_speed() -> None:
    walk = load("planar/walk")
    near, far = (Objective(seconds=3.0, replicas=1, speed=v).costs([walk], seed=1)[0] for v in (1.0, 1.5))
    assert near < far
    slow, fast = (Objective(seconds=3.0, replicas=1, least_speed=v).costs([walk], seed=1)[0] for v in (0.1, 3.0))
    assert slow == 0.0
    assert fast > 0.0


def test_a_parameter_that_is_not_written_down_counts_as_zero() -> None:
    walk = load("planar/walk")
    assert parameter_value(walk, "states.0.feedback.stance_ankle.1") == 0.0
    assert parameter_value(walk, "states.1.cd") == 2.2
    assert parameter_value(walk, "start.speed") == 0.98


# --------------------------------------------------------------------------------------------------- courses


@pytest.mark.parametrize(("seed", "number"), [(0, 0), (0, 3), (17, 1)])
def test_a_course_has_ten_steps_3_to_6_metres_apart_and_long_slopes(seed: int, number: int) -> None:
    corners = course(seed, number, 0.2, 6.0).vertices
    assert corners is not None
    runs, rises = np.diff(corners[:, 0]), np.diff(corners[:, 1])
    faces, level = runs == 0.0, (runs > 0.0) & (rises == 0.0)
    slopes = (runs > 0.0) & (rises != 0.0)
    assert faces.sum() >= 10
    assert rises[faces] == pytest.approx(-0.2)
    assert slopes.sum() >= 4
    assert (runs[slopes] >= 5.0).all()
    assert np.degrees(np.arctan(np.abs(rises[slopes] / runs[slopes]))) == pytest.approx(6.0)
    assert {-1.0, 1.0} == set(np.sign(rises[slopes]))
    assert (runs[level] >= 3.0).all()
    assert (runs[level] <= 6.0).all()
    assert (level | faces | slopes).all()
    events = np.flatnonzero(~level)
    assert (np.diff(events) == 2).all()  # a level stretch between any two


def test_a_course_depends_on_seed_and_number_alone() -> None:
    def corners(seed: int, number: int) -> bytes:
        vertices = course(seed, number, 0.2, 6.0).vertices
        assert vertices is not None
        return vertices.tobytes()

    assert corners(1, 2) == corners(1, 2)
    assert len({corners(1, 2), corners(1, 3), corners(2, 2)}) == 3


def test_every_course_of_figure_1a_is_walked_on_at_height_zero_first() -> None:
    for number in range(5):
        terrain = course(0, number, 0.2, 6.0)
        assert float(terrain.height(0.0)) == 0.0
        assert float(terrain.height(2.9)) == 0.0


# ----------------------------------------------------------------------------------------------- experiments


def test_a_search_may_use_a_physics_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[float] = []

    class Watched(Population):
        def run(self, *args: object, **named: object) -> list[Motion]:
            built.append(self.scene.timestep)
            return super().run(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("surefoot.lab.parameter_tuning.Population", Watched)
    walk = load("planar/walk")
    for step, used in ((None, 0.0005), (0.001, 0.001)):
        built.clear()
        Objective(seconds=0.1, replicas=1, timestep=step).costs([walk], seed=1)
        assert set(built) == {used}


def test_all_experiments_are_registered_under_names_of_their_own() -> None:
    found = experiments()
    assert len(found) == 83
    assert {name.split("/")[0] for name in found} == set(PAPERS)
    for name, experiment in found.items():
        assert experiment.name == name
        assert experiment.paper.startswith(PAPERS[name.split("/")[0]])
        assert callable(experiment.run)
    assert len({experiment.source for experiment in found.values()}) == len(found)


def test_every_module_of_an_experiment_is_registered_or_shared() -> None:
    here = Path(reproduce.__file__).parent
    named = {experiment.run.__module__ for experiment in experiments().values()}
    shared = {"genbicon.walks", "limit_cycle.limit_cycle_walks", "replica_walks", "simbicon.gaits"}
    shared |= {"stepping.stepping_trials", "scale.devices", "tracking.tracked_clips", "tracking.authored_kneel"}
    there = {".".join(p.relative_to(here).with_suffix("").parts) for p in here.rglob("*.py") if p.stem != "__init__"}
    assert {name.removeprefix("surefoot.lab.reproduce.") for name in named} == there - shared


def test_listing_the_experiments_loads_neither_them_nor_the_simulator() -> None:
    code = (
        "import sys; from surefoot.lab.reproduce import experiments, select; experiments(); select(['simbicon']);"
        "heavy = [m for m in ('numba', 'mujoco', 'numpy', 'matplotlib', 'surefoot.engine') if m in sys.modules];"
        "own = [m for m in sys.modules if m.startswith('surefoot.lab.reproduce.')]; assert not heavy + own, heavy + own"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_experiments_are_chosen_by_name_or_paper() -> None:
    every = list(experiments().values())
    assert select([]) == every
    assert select(["simbicon"]) == [e for e in every if e.name.startswith("simbicon/")]
    assert (
        select(
            ["genbicon", "limit_cycle", "motions", "quality", "scale", "simbicon", "stepping", "stylized", "tracking"]
        )
        == every
    )
    assert select(["simbicon/planar-fel", "simbicon/planar-fel"]) == [experiments()["simbicon/planar-fel"]]
    with pytest.raises(UnknownNameError, match="planar-gaits"):
        select(["simbicon/nothing"])


def test_the_twelve_gaits_are_all_there() -> None:
    assert len(set(TABLE_1)) == 12
    for name in TABLE_1:
        assert load(f"planar/{name}").name == name


@pytest.fixture
def counted() -> tuple[Experiment, list[int]]:
    seeds: list[int] = []

    def run(result: Result, setting: Setting) -> None:
        seeds.append(setting.seed)
        result.add_row("height", "2", f"{setting.seed}", "m", setting.seed < 5)
        result.add_note("colour", "red")
        result.runs += [{"a": 1, "b": 2.5}, {"a": 3, "c": "x"}]

    return Experiment("made/counted", "no paper", run), seeds


def test_an_experiment_that_raises_is_one_row_that_does_not_hold_with_the_reason(tmp_path: Path) -> None:
    def run(result: Result, setting: Setting) -> None:
        result.add_row("before", "", "", "", True)
        raise ZeroDivisionError("no legs to stand on")

    broken = Experiment("made/broken", "no paper", run)
    result = run_experiment(broken, Setting(out=tmp_path))
    assert [row.holds for row in result.rows] == [False]
    assert "no legs to stand on" in result.rows[0].ours
    assert "ZeroDivisionError" in result.rows[0].ours
    assert not result.holds
    assert not list(tmp_path.rglob("result.json"))  # it is tried again the next time


def test_a_finished_result_is_taken_up_again(counted: tuple[Experiment, list[int]], tmp_path: Path) -> None:
    experiment, seeds = counted
    first = run_experiment(experiment, Setting(seed=3, out=tmp_path))
    again = run_experiment(experiment, Setting(seed=3, out=tmp_path))
    assert seeds == [3]
    assert again.as_json() == first.as_json()
    assert again.holds
    table = (tmp_path / "made-counted" / "runs.csv").read_text().splitlines()
    assert table == ["a,b,c", "1,2.5,", "3,,x"]


@pytest.mark.parametrize("other", [Setting(seed=4), Setting(seed=3, quick=True)])
def test_a_result_of_another_seed_or_of_a_quick_look_is_not_taken_up(
    counted: tuple[Experiment, list[int]], tmp_path: Path, other: Setting
) -> None:
    experiment, seeds = counted
    run_experiment(experiment, Setting(seed=3, out=tmp_path))
    result = run_experiment(experiment, replace(other, out=tmp_path))
    assert seeds == [3, other.seed]
    assert result.rows[0].ours == str(other.seed)
    assert result.quick == other.quick


def test_a_result_of_other_code_or_a_damaged_one_is_not_taken_up(
    counted: tuple[Experiment, list[int]], tmp_path: Path
) -> None:
    experiment, seeds = counted
    run_experiment(experiment, Setting(out=tmp_path))
    (path,) = tmp_path.rglob("result.json")
    saved = json.loads(path.read_text())
    saved["key"]["fingerprint"] = "of other code"
    for text in (json.dumps(saved), path.read_text()[:50], "[]", ""):
        path.write_text(text)
        run_experiment(experiment, Setting(out=tmp_path))
    assert len(seeds) == 5


def test_a_result_without_rows_does_not_hold() -> None:
    assert not Result("made/empty", "no paper").holds


def test_a_search_pays_for_legs_that_cross_and_for_flight_that_is_missing() -> None:
    walk = load("human/walk-as-printed")
    crossed = with_parameters(walk, {"torso_gain.kp": 300.0, "torso_gain.kd": 30.0})
    straight, narrow = Objective(seconds=8.0, replicas=1).costs([walk, crossed], seed=1)
    assert straight < 0.1
    assert narrow > straight + 0.3
    assert Objective(seconds=3.0, replicas=1, flight=0.5).costs([walk], seed=1)[0] > 0.9
