"""The experiments in three dimensions: what they measure, how they judge, what they say of a missing skill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import graph_of
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene, Setup
from surefoot.engine.simulation import Simulation
from surefoot.lab import benchmarks, figures, gait_measures, replicas, skill_metadata
from surefoot.lab.experiment import Result, Run, Setting
from surefoot.lab.reproduce import experiments
from surefoot.lab.reproduce.simbicon import (
    balance_gains,
    error_learning,
    gait_transitions,
    gaits,
    parameter_sweeps,
    spatial_robustness,
    table_gaits,
)
from surefoot.lab.robustness import stable_range
from surefoot.motions.motion import Motion
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain

WALK = load("human/walk-as-printed")
SPATIAL = [name for name in experiments() if name.startswith("simbicon/3d-")]


@pytest.fixture(scope="module")
def motion() -> Motion:
    """Four seconds of the settled walk."""
    sim = Simulation(None, WALK)
    sim.step(5000)
    return sim.run(4.0, fps=200)


def named(name: str, skill: Skill = WALK) -> Skill:
    return skill.model_copy(update={"name": name})


# -------------------------------------------------------------------------------------------------- measures


def test_only_the_order_left_left_right_right_skips() -> None:
    assert table_gaits.skipping_share([0, 0, 1, 1] * 6) == 1.0
    assert table_gaits.skipping_share([1, 0, 0, 1] * 6) == 1.0  # seen from another strike on
    assert table_gaits.skipping_share([0, 1] * 12) == 0.0
    assert table_gaits.skipping_share([0] * 12) == 0.0
    assert 0.8 < table_gaits.skipping_share([0, 0, 1, 1] * 5 + [0] + [0, 0, 1, 1] * 5) < 1.0
    assert table_gaits.skipping_share([0, 0]) == 0.0


def test_a_gait_that_repeats_every_step_every_other_step_or_never_is_told_apart() -> None:
    assert balance_gains.period([0.377, 0.378, 0.377, 0.379, 0.377]) == "1"
    assert balance_gains.period([0.35, 0.40] * 6) == "2"
    assert balance_gains.period([0.35, 0.40, 0.37, 0.42, 0.33, 0.36, 0.41]) == "other"
    assert balance_gains.period([0.38, 0.38]) == "other"  # too few to tell


def test_a_stretch_ends_at_the_first_gap_and_says_where_it_was_not_tried_further() -> None:
    values = np.array([-0.3, -0.1, 0.1, 0.3, 0.5, 0.7])
    inside = stable_range(values, np.array([True, False, True, True, False, True]), 3)
    assert (inside.low, inside.high) == (0.1, 0.3)
    assert inside.width == pytest.approx(0.2)
    assert str(inside) == "0.1 … 0.3"
    whole = stable_range(values, np.ones(6, bool), 3)
    assert str(whole) == "≤ -0.3 … ≥ 0.7"


def test_every_gain_grid_holds_the_printed_value_and_more_than_the_papers_range() -> None:
    for gain in balance_gains.GAINS:
        grid = gain.values()
        assert gain.printed in grid
        assert gain.printed in gain.values(4)
        assert grid[0] < gain.paper[0] < gain.paper[1] < grid[-1]
        assert np.diff(grid) == pytest.approx(0.05 if gain.name.startswith("cd") else 0.02)
        assert all(getattr(state, gain.name) == gain.printed for state in WALK.parameters.states)


def test_style_is_compared_over_seven_angles_from_right_strike_to_right_strike(motion: Motion) -> None:
    usual = gait_measures.mean_cycle(motion)
    assert usual is not None
    assert usual.shape == (gait_measures.PHASES, 7)
    assert motion.scene is not None
    knee = int(motion.scene.model.joint("left_knee").qposadr[0])
    bent = motion.qpos.copy()
    bent[:, knee] -= 0.2
    other = gait_measures.mean_cycle(replace(motion, qpos=bent))
    assert other is not None
    assert gait_measures.style_difference(usual, other) == pytest.approx(np.degrees(0.2) / np.sqrt(7))
    assert gait_measures.style_difference(usual, usual) == 0.0


def test_style_does_not_depend_on_where_the_recording_begins(motion: Motion) -> None:
    names = [n for n in motion.arrays() if not n.startswith("skeleton")]
    late = Motion(skeleton=motion.skeleton, scene=motion.scene, **{n: getattr(motion, n)[130:] for n in names})
    one, other = gait_measures.mean_cycle(motion), gait_measures.mean_cycle(late)
    assert one is not None
    assert other is not None
    assert gait_measures.style_difference(one, other) < 0.3
    assert gait_measures.style_difference(one, np.roll(one, 50, axis=0)) > 5.0


def test_without_a_whole_cycle_there_is_no_style(motion: Motion) -> None:
    assert gait_measures.mean_cycle(replace(motion, contact_force=np.full_like(motion.contact_force, 300.0))) is None


def test_smoothing_over_a_stride_removes_its_swing_and_keeps_a_turn() -> None:
    time = gait_measures.EVERY * np.arange(200)
    swing, turn = 0.1 * np.sin(2.0 * np.pi * time / 0.8), 0.2 * time
    smooth = gait_measures.smoothed(np.column_stack([swing, swing + turn]), 0.8)
    assert np.abs(smooth[:, 0]).max() < 1e-9
    assert np.diff(smooth[:, 1]) == pytest.approx(0.2 * gait_measures.EVERY)


def test_a_watched_population_is_told_and_seen_every_twentieth_of_a_second() -> None:
    population, times = Population(2, skill=[with_parameters(WALK, {"start.heading": y}) for y in (0.4, -1.0)]), []
    yaws, places = gait_measures.track_heading(population, 0.2, times.append)
    assert times == pytest.approx([0.0, 0.05, 0.1, 0.15])
    assert yaws.shape == (4, 2)
    assert places.shape == (4, 2, 2)
    assert yaws[-1] == pytest.approx([0.4, -1.0], abs=0.15)
    assert population.time == pytest.approx([0.2, 0.2])


def test_step_durations_add_up_to_the_time_between_exchanges_of_legs() -> None:
    population = Population(2, skill=[WALK] * 2)
    population.run(1.0)
    before = population.rows[0].report[0].steps
    durations = replicas.step_durations(population, 3.0)
    assert len(durations[0]) == population.rows[0].report[0].steps - before
    assert durations[0] == durations[1]
    assert 2.4 < sum(durations[0]) < 3.5
    assert min(durations[0]) >= 0.3  # the duration of its first state


# ----------------------------------------------------------------------------------------------- experiments


@pytest.mark.parametrize(
    ("name", "count"), [("hop", 1), ("high-knee-walk", 1), ("robust-walk", 1), ("crouch-walk", 0), ("stand", 0)]
)
def test_skills_are_looked_up_by_short_name_and_may_be_missing(name: str, count: int) -> None:
    found = gaits.human(name)
    assert found is None or found.full_name == f"human/{name}"
    assert gaits.skill("walk-as-printed", "human") is WALK
    assert gaits.skill("walk").character == "planar"
    assert (name in (*table_gaits.MOTIONS, spatial_robustness.ROBUST)) == bool(count)


@pytest.mark.parametrize("run", [spatial_robustness.run_pushes, spatial_robustness.run_terrain])
def test_a_missing_skill_is_a_row_that_does_not_hold_and_names_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spatial_robustness, "human", lambda name: None)
    result = Result("made", "paper")
    run(result, Setting(quick=True))
    assert result.rows
    assert not any(row.holds for row in result.rows)
    assert "there is no skill human/robust-walk" in {row.ours for row in result.rows}


def test_one_gait_alone_has_no_transitions_and_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gait_transitions, "human", lambda name: WALK if name == "walk-as-printed" else None)
    result = Result("made", "paper")
    gait_transitions.run_spatial(result, Setting(quick=True))
    assert [row.holds for row in result.rows] == [False] * len(gait_transitions.GAITS)
    assert "0 of 0" in result.rows[0].ours
    assert len(result.notes) == 1


@pytest.mark.slow
def test_a_walk_by_another_name_is_no_run_hop_skip_or_climb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_gaits, "human", named)
    result = Result("made", "paper")
    table_gaits.run_spatial(result, Setting(quick=True))
    holds = {row.case: row.holds for row in result.rows}
    assert {name for name in table_gaits.MOTIONS if holds[name]} == set(table_gaits.FORWARD_WALKS)
    assert not holds["motions that hold"]
    assert not holds["three styles of forward walk differ"]
    described = {shown["case"].split(":")[0] for shown in result.notes if "how it moves" in shown["case"]}
    assert described == {*table_gaits.MOTIONS, *table_gaits.FURTHER} - {"uphill-walk"}  # which fell too soon


def test_a_walk_leads_into_itself_from_every_phase_and_not_into_one_that_falls() -> None:
    falls = with_parameters(WALK, {"states.0.targets.stance_knee": -2.5, "states.1.targets.stance_knee": -2.5})
    kept = gait_transitions.transition_matrix([WALK, named("again"), named("falls", falls)], 2, 3.0, seed=5)
    assert kept[0].tolist() == [-1, 2, 0]
    assert kept[1].tolist() == [2, -1, 0]
    assert kept[2, 2] == -1


@pytest.mark.parametrize(
    "path", ["states.0.cd", "states.1.cv_lateral", "states.0.targets.swing_ankle", "states.1.torso"]
)
def test_a_walk_with_another_number_is_not_the_printed_one(path: str) -> None:
    printed, other = Result("made", "paper"), Result("made", "paper")
    table_gaits._printed(printed, WALK)
    table_gaits._printed(other, with_parameters(WALK, {path: 0.123}))
    assert [row.holds for row in printed.rows] == [True]
    assert [row.holds for row in other.rows] == [False]
    assert f"state {path.split('.')[1]}" in other.rows[0].ours


@pytest.mark.parametrize("proportions", [{"mass": 1.2}, {"mass": 0.8}, {"thigh_length": 1.15}])
def test_other_proportions_can_keep_the_gains_of_the_unchanged_body(proportions: dict[str, float]) -> None:
    kept = spatial_robustness.with_gains_of_the_unchanged_body(WALK, proportions)
    scene, plain = Scene(Setup(kept, proportions=proportions)), Scene(Setup(WALK))
    roles = len(scene.table.anatomy.roles)
    gains = []
    for here, skill in ((scene, kept), (plain, WALK)):
        model = here.model
        qpos, qvel, userdata = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        gains.append(graph_of(here.begin(qpos, qvel, userdata, skill, 0), 0, roles))
    assert scene.table.strength != plain.table.strength
    for name in ("kp", "kd"):
        assert gains[0].gains[name] == pytest.approx(gains[1].gains[name])
    assert gains[0].head[0].torso_kp == pytest.approx(1000.0)
    assert (gains[0].gains["limit"] <= gains[1].gains["limit"] * (1.0 + 1e-9)).all()


def test_grounds_begin_level_and_have_their_edge_where_it_is_said_to_be() -> None:
    for ground, beyond in (
        (spatial_robustness.slope(6.0), np.tan(np.radians(6.0))),
        (spatial_robustness.step(-5.0), -0.05),
    ):
        terrain = load_terrain(ground)
        assert float(terrain.height(spatial_robustness.EDGE - 0.01)) == 0.0
        assert float(terrain.height(spatial_robustness.EDGE + 1.0)) == pytest.approx(beyond)


def test_a_sideways_command_is_walked_to_its_side() -> None:
    velocities, population = parameter_sweeps.told([{"sideways": 0.08}, {"sideways": -0.08}], 2.0, 2.0)
    assert np.isinf(population.fallen_at).all()
    assert velocities[0, 1] > 0.1
    assert velocities[1, 1] < -0.1


def test_replicas_of_what_was_learned_are_soft_and_learn_no_more() -> None:
    learner = with_parameters(WALK, {"learning.bins": 20})
    one = Population(1, skill=[learner])
    one.run(2.0)
    learned = one.rows[0].table.copy()
    assert np.abs(learned).max() > 1.0
    taught = error_learning._taught(learner, learned, 1.0)
    assert taught.rows[0].report[0].swing == 0.0  # the right foot has just been set down
    several = error_learning._replicas(taught, learner, {"reaction.softness": 0.3}, seed=1)
    table = several.rows[0].table.copy()
    several.run(0.5)
    assert np.array_equal(several.rows[0].table, table)
    roles = len(several.scene.table.anatomy.roles)
    assert graph_of(several.rows[2], roles=roles).head[0].softness == 0.3
    assert len({bytes(several.qpos[i].tobytes()) for i in range(several.n)}) == several.n


def test_what_can_be_blended_is_told_from_what_cannot() -> None:
    assert parameter_sweeps._alike(WALK, named("other", with_parameters(WALK, {"states.0.cd": 0.7})))
    timed = WALK.model_dump(by_alias=True)
    assert timed["parameters"]["states"][1]["until"] == "contact"
    other = with_parameters(WALK, {"states.1.until": None, "states.1.duration": 0.1})
    assert not parameter_sweeps._alike(WALK, named("timed", other))


def test_figures_are_drawn_where_they_are_kept_and_nowhere_else(tmp_path: Path) -> None:
    names, share = ["a", "b"], np.array([[np.nan, 0.5], [1.0, np.nan]])
    for path in (None, tmp_path / "matrix.png"):
        figures.transition_heatmap(path, names, share)
    ways = ((0, 1), (1, 0), (0, -1), (-1, 0))
    figures.push_rose(tmp_path / "compass.png", ways, {"one": np.array([3.0, 2.0, 1.0, 2.0])})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["compass.png", "matrix.png"]


def test_there_are_eight_experiments_in_space() -> None:
    assert len(SPATIAL) == 8


@pytest.mark.slow
@pytest.mark.parametrize("name", SPATIAL)
def test_a_quick_look_at_every_experiment_gives_rows_with_a_bar(name: str, tmp_path: Path) -> None:
    experiment = experiments()[name]
    result = Result(name, experiment.paper, quick=True)
    shares: list[float] = []
    experiment.run(result, Setting(quick=True, out=tmp_path, progress=lambda label, share: shares.append(share)))
    assert result.rows
    assert all(isinstance(row.holds, bool) for row in result.rows)
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert shares == sorted(shares)


# ------------------------------------------------------------------------------------ catalogue and benchmark


def test_the_catalogue_measures_the_human_on_the_ground_it_is_made_for() -> None:
    level, uphill = skill_metadata.measure_skill(WALK), skill_metadata.measure_skill(WALK, "incline:4")
    assert level is not None
    assert uphill is not None
    assert level.speed is not None
    assert uphill.speed is not None
    assert uphill.speed < level.speed
    assert level.cadence == pytest.approx(1.0 / replicas.step_period(WALK), rel=0.1)


def test_benchmark_rows_are_named_by_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        benchmarks, "_interleaved", lambda character, rounds: (11.5 if character == "human" else 10.5, 10.0)
    )
    monkeypatch.setattr(benchmarks, "_real_time", lambda character, seconds: 27.0)
    monkeypatch.setattr(benchmarks, "_population", lambda character, rounds: (1000.0, 1900.0))
    monkeypatch.setattr(benchmarks, "_first_step", lambda character, cache: 1.0)
    monkeypatch.setattr(benchmarks, "_row_bytes", lambda character: 2048.0)
    ticks: list[float] = []
    rows = benchmarks.measure_all(True, lambda label, share: ticks.append(share))
    holds = {row["case"]: row["holds"] for row in rows}
    assert holds["planar: physics + control ÷ bare mj_step"] is True
    assert holds["human: physics + control ÷ bare mj_step"] is False
    assert holds["planar: × real time, one core"] is False
    assert holds["human: × real time, one core"] is True
    assert holds["human: population on 2 threads"] is True
    assert len(rows) == len(holds)
    assert ticks == sorted(ticks)
