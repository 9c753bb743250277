"""The walking experiments of GENBICON: what their judges let pass, and what not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imported_bodies import SKEW, Y_UP, Body
from surefoot.characters import load as load_character
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.lab import benchmarks, gait_measures, robustness
from surefoot.lab import replicas as cycles
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import EVERY, Gait
from surefoot.lab.reproduce import experiments
from surefoot.lab.reproduce.genbicon import bodies, heading, pushes, speeds, walks
from surefoot.lab.robustness import NEEDED, REPLICAS
from surefoot.motions.motion import Motion
from surefoot.skills import load

GAIT = Gait(
    speed=0.5, sideways=0.0, cadence=2.0, step_length=0.25, foot_spread_at_strike=0.24, step_width=0.13,
    narrowest=0.12, sway=1.0, roll=1.0, drift=0.2, flight=0.0, cost_of_transport=0.3, slip=0.01, peak_torque=150.0,
)  # fmt: skip
GOOD = walks.Walk(math.inf, 0.47, 150.0, GAIT, 0.46)
OURS = ("speeds", "heading", "characters", "strangers", "proportions", "pushes")


@pytest.fixture(scope="module")
def motion() -> Motion:
    """Three seconds of walking in place, after a second's start."""
    sim = Simulation("humanoid", walks.SKILL)
    sim.command(speed=0.0, step_time=0.5)
    sim.step(1000)
    return sim.run(3.0, fps=walks.FPS)


@pytest.fixture(scope="module")
def standing() -> Motion:
    """A second of standing."""
    sim = Simulation("humanoid", walks.SKILL)
    sim.command(stop=1.0)
    sim.step(1000)
    return sim.run(1.0, fps=walks.FPS)


# ---------------------------------------------------------------------------------------------------- walks


def test_a_walk_keeps_a_speed_within_a_tenth_and_no_farther() -> None:
    assert GOOD.keeps(0.5)
    assert GOOD.keeps(0.38)
    assert not GOOD.keeps(0.58)
    assert not GOOD.keeps(-0.47)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"fallen_at": 59.9}, "fell at 59.9 s"),
        ({"fallen_at": 3.0, "gait": None, "step_time": math.inf}, "fell at 3.0 s"),
        ({"gait": replace(GAIT, slip=0.16)}, "skates"),
        ({"gait": replace(GAIT, step_width=-0.01)}, "crosses its legs"),
        ({"step_time": math.inf}, "does not step"),
        ({"gait": None}, "does not step"),
    ],
)
def test_a_walk_that_fell_skates_crosses_or_does_not_step_never_holds(change: dict[str, Any], word: str) -> None:
    bad = replace(GOOD, **change)
    assert not bad.is_valid_gait
    assert not bad.keeps(bad.speed)
    assert not speeds.keeps_time(bad, bad.step_time)
    assert word in bad.failure()
    assert word in walks.upright([GOOD, bad])
    assert bad.record()["fallen_at"] == bad.fallen_at


def test_the_worst_of_the_replicas_is_what_is_printed() -> None:
    worse = replace(GOOD, peak_torque=180.0, gait=replace(GAIT, slip=0.09, step_width=0.05, narrowest=0.02))
    assert walks.quality([GOOD, worse]) == (
        "peak torque 180 N·m (150 at the end), slip 0.090, step width 5 cm (narrowest 2 cm)"
    )
    assert walks.farthest([0.45, 0.52, 0.58], 0.5) == 0.58
    assert walks.grouped([GOOD, worse, GOOD, GOOD], 2) == [[GOOD, worse], [GOOD, GOOD]]


def test_step_time_is_the_mean_time_between_strikes(motion: Motion) -> None:
    loads = np.full_like(motion.contact_force, 300.0)
    assert walks.step_time(replace(motion, contact_force=loads)) == math.inf
    for k, strike in enumerate((40, 75, 118, 160, 197)):  # frames, the feet in turn
        loads[strike - 20 : strike, k % 2] = 0.0
    assert walks.step_time(replace(motion, contact_force=loads)) == pytest.approx(0.01 * (197 - 40) / 4)


def test_replicas_begin_differently_are_told_alike_and_depend_on_the_seed() -> None:
    one, other = (walks.replica_population([{"speed": 0.2}, {"speed": -0.3}], seed) for seed in (1, 2))
    assert one.n == 2 * walks.REPLICAS
    assert len({one.qpos[i].tobytes() for i in range(one.n)}) == one.n
    assert [row.commands[0] for row in one.rows] == [0.2] * walks.REPLICAS + [-0.3] * walks.REPLICAS
    assert not np.array_equal(one.qpos, other.qpos)
    assert np.array_equal(one.qpos, walks.replica_population([{"speed": 0.2}, {"speed": -0.3}], 1).qpos)


def test_a_population_is_judged_from_when_it_has_settled_and_a_fallen_row_has_no_gait() -> None:
    population = walks.replica_population([{"speed": 0.4}], 5, replicas=2)
    population.qvel[1, 4] += 12.0  # it goes head over heels
    found, motions = walks.run_and_measure(population, 6.0, settled=3.0)
    assert found[0].is_valid_gait
    assert found[0].speed == pytest.approx(0.4, abs=0.1)
    assert motions[0].time[0] == pytest.approx(3.0, abs=0.01)
    assert found[1].gait is None
    assert found[1].fallen_at < 3.0
    assert "fell" in found[1].failure()


# ---------------------------------------------------------------------------------------------------- speeds


def test_the_speeds_are_those_of_the_claim() -> None:
    assert speeds.SPEEDS[0] == -0.8
    assert speeds.SPEEDS[-1] == 1.8
    assert np.diff(speeds.SPEEDS) == pytest.approx(0.2)
    assert (speeds.STEP_TIMES[0], speeds.STEP_TIMES[-1]) == (0.4, 0.8)


def test_steps_are_in_time_within_a_tenth() -> None:
    assert speeds.keeps_time(GOOD, 0.5)
    assert not speeds.keeps_time(GOOD, 0.53)


def test_standing_quietly_is_told_from_stepping_swaying_trembling_lifting_a_foot_and_too_short_a_time(
    motion: Motion, standing: Motion
) -> None:
    assert speeds.stands(standing, 1.0)
    assert not speeds.stands(standing, 1.2)
    assert not speeds.stands(motion, 3.0)
    unloaded = standing.contact_force.copy()
    unloaded[40, 1] = 0.0
    assert not speeds.stands(replace(standing, contact_force=unloaded), 1.0)
    swaying = standing.com + np.outer(0.06 * (standing.time - standing.time[0]), [0.0, 1.0, 0.0])
    assert not speeds.stands(replace(standing, com=swaying), 1.0)
    trembling = standing.qvel.copy()
    trembling[50, 6:] = 0.2
    assert not speeds.stands(replace(standing, qvel=trembling), 1.0)
    stepping = standing.state.copy()
    stepping[-1] = 2
    assert not speeds.stands(replace(standing, state=stepping), 1.0)


# --------------------------------------------------------------------------------------------------- heading


def test_turns_to_the_left_and_to_the_right_are_told_apart_even_at_180_degrees() -> None:
    assert heading.told(90.0) == pytest.approx(math.pi / 2)
    assert heading.told(-45.0) == pytest.approx(-math.pi / 4)
    assert math.pi - 0.001 < heading.told(180.0) < math.pi
    assert heading.told(-180.0) == -heading.told(180.0)


def test_a_turn_is_judged_from_ten_seconds_to_the_end_and_a_fallen_row_never_holds() -> None:
    looks = round(heading.SECONDS / EVERY)
    off = np.full((looks, 4), 1.0)
    off[: round(9.0 / EVERY), 0] = 80.0
    off[: round(11.0 / EVERY), 1] = 80.0
    off[-1, 2] = 3.1
    late = heading.late_error(off)
    assert late.tolist() == [1.0, 80.0, 3.1, 1.0]
    assert heading.holds(late, np.array([math.inf, math.inf, math.inf, 12.0])).tolist() == [True, False, False, False]
    assert heading.reached(off[:, 0]) == pytest.approx(9.0 + EVERY)
    assert heading.reached(off[:, 2]) == math.inf
    assert heading.reached(off[:, 3]) == 0.0


# ---------------------------------------------------------------------------------------------------- pushes


def asked(table: np.ndarray, together: int = 1) -> tuple[np.ndarray, set[tuple[int, int, int]]]:
    """The thresholds of a (direction, level, replica) table of survivals, and what was looked up."""
    seen: set[tuple[int, int, int]] = set()

    def kept(cases: Sequence[tuple[int, float]], replicas: Sequence[int]) -> np.ndarray:
        places = [(d, round(level / 10.0) - 1) for d, level in cases]
        seen.update((d, k, r) for d, k in places for r in replicas)
        return np.array([table[d, k, list(replicas)].sum() for d, k in places])

    return robustness.climb_levels(kept, 10.0, 10.0 * table.shape[1], together=together), seen


@pytest.mark.parametrize("seed", range(20))
def test_a_robust_threshold_is_the_largest_level_below_which_none_fails(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((8, 12, REPLICAS)) < rng.uniform(0.5, 1.0)
    found, seen = asked(table)
    for d in range(8):
        enough = table[d].sum(axis=1) >= NEEDED
        first = int(np.argmin(enough)) if not enough.all() else len(enough)
        assert found[d] == 10.0 * first
        for level in range(first):  # every level up to the answer was run, by as many replicas as decide
            ran = [r for r in range(REPLICAS) if (d, level, r) in seen]
            assert table[d, level, ran].sum() >= NEEDED
        assert not any((d, level, 0) in seen for level in range(first + 1, 12))
    for together in (5, 12, 100):  # levels tried at once give the same thresholds
        assert np.array_equal(asked(table, together)[0], found)


def test_one_weak_direction_fails_the_bar() -> None:
    levels = np.full(8, 200.0)
    assert pushes.holds(levels)
    levels[5] = 190.0
    assert not pushes.holds(levels)


def test_bodies_are_pushed_at_the_height_of_the_sternum() -> None:
    assert robustness.sternum(load_character("human")) == robustness.STERNUM
    sim = Simulation("humanoid", walks.SKILL)
    table = sim.scene.table
    chest = sim.data.body(table.anatomy.torso)
    height = float((chest.xpos + chest.xmat.reshape(3, 3) @ robustness.sternum(table))[2])
    assert height == pytest.approx(1.395 * 0.92 / 0.945, abs=0.01)


def test_a_told_walker_is_pushed_from_its_own_strike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "SETTLE", 3.0)
    monkeypatch.setattr(cycles, "SETTLE", 3.0)
    monkeypatch.setattr(robustness, "PUSH_AFTER", 6.0)
    skill = load(f"biped/{walks.SKILL}")
    start = robustness.at_strike(skill, 1, count=2, character="humanoid", commands={"speed": 0.4})
    assert start.speed == pytest.approx(0.4, abs=0.1)
    population = Population(2, "humanoid", skill)
    population.restore(start.states)
    for row in population.rows:
        assert row.commands[0] == 0.4
        assert row.report[0].swing == 0.0  # the right foot has just been set down
    alive = robustness.push_survivors_3d(skill, start, [((0.0, 0.0), 0), ((2000.0, 0.0), 1)], "humanoid")
    assert alive.tolist() == [True, False]


def test_pushes_print_ours_beside_simbicons_and_hold_by_the_weakest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = {
        "humanoid at 0 m/s": np.full(8, 210.0),
        "humanoid at 0.5 m/s": np.append(np.full(7, 300.0), 190.0),
        "humanoid at 1 m/s": np.full(8, 400.0),
        "SIMBICON's robust-walk": np.arange(200.0, 280.0, 10.0),
    }
    monkeypatch.setattr(pushes, "_levels", lambda result, setting, label, *others: given[label])
    result = Result("genbicon/pushes", "paper")
    pushes.run(result, Setting(out=tmp_path))
    assert [row.holds for row in result.rows] == [True, False, True]
    assert "190, forwards to the right" in result.rows[1].ours
    shown = {line["case"]: line for line in result.notes}
    assert shown["humanoid at 1 m/s: backwards"]["ours"] == "≥ 400"
    assert shown["humanoid at 0 m/s: to the left"]["unit"].endswith("SIMBICON's robust-walk 220")
    assert (tmp_path / "genbicon-pushes" / "directions.png").exists()


# ----------------------------------------------------------------------------------- proportions and strangers


def test_the_grid_of_bodies_is_large_distinct_and_spans_the_claim() -> None:
    each = bodies.body_grid()
    assert len(each) >= 100
    assert len({tuple(body.items()) for body in each}) == len(each)
    arm = (0.5, 1.5)
    spans = {"leg_length": (0.7, 1.4), "left_arm_length": arm, "right_arm_length": arm, "torso_mass": (0.5, 2.0)}
    for name, (low, high) in spans.items():
        assert min(body[name] for body in each) == low
        assert max(body[name] for body in each) == high
    assert any(body["left_arm_length"] != body["right_arm_length"] for body in each)
    quick = bodies.body_grid(quick=True)
    assert len(quick) < len(each)
    assert all(body in each for body in quick)


def test_without_the_packages_each_body_is_a_row_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bodies.installed("no_such_package_anywhere", "a.xml") is None
    assert bodies.installed("surefoot", "no/such/file.xml") is None
    monkeypatch.setattr(bodies, "installed", lambda package, file: None)
    result = Result("made", "paper")
    bodies.run_imported(result, Setting(quick=True))
    assert [row.holds for row in result.rows] == [False] * 3
    assert all("not installed" in row.ours for row in result.rows)


def test_a_body_that_should_be_refused_and_is_accepted_does_not_hold(tmp_path: Path) -> None:
    result = Result("made", "paper")
    bodies.refusal(result, "walker", Body().write(tmp_path))
    bodies.refusal(result, "nothing", tmp_path / "missing.xml")
    assert [row.holds for row in result.rows] == [False, False]


@pytest.mark.parametrize("axes", [Y_UP, SKEW])
def test_a_stranger_is_measured_upright_and_facing_where_it_goes_whatever_its_axes(axes: Any, tmp_path: Path) -> None:
    sim = Simulation(str(Body(axes=axes).write(tmp_path)), walks.SKILL)
    sim.command(stop=1.0)
    found = sim.run(0.1, fps=walks.FPS)
    assert gait_measures.root_yaw(found) == pytest.approx(0.0, abs=0.05)
    assert gait_measures.torso_pitch(found) == pytest.approx(0.0, abs=0.05)
    feet = gait_measures.foot_positions(found)
    assert (feet[:, 0, 1] > feet[:, 1, 1] + 0.05).all()
    assert gait_measures.measure_gait(found).roll < 3.0


# ------------------------------------------------------------------------------------- registry and benchmark


def test_the_walking_experiments_are_registered_by_their_modules_names() -> None:
    found = {name: e.run.__module__ for name, e in experiments().items() if name.startswith("genbicon/")}
    for module in OURS:
        own = "bodies" if module in ("characters", "strangers", "proportions") else module
        assert found[f"genbicon/{module}"].endswith(f"genbicon.{own}")
    assert set(bodies.CHARACTERS) == {"humanoid", "robot", "ape", "strider"}


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_a_quick_look_at_every_experiment_gives_rows_with_a_bar(name: str, tmp_path: Path) -> None:
    experiment = experiments()[f"genbicon/{name}"]
    result, shares = Result(experiment.name, experiment.paper, quick=True), list[float]()
    experiment.run(result, Setting(quick=True, out=tmp_path, progress=lambda label, share: shares.append(share)))
    assert result.rows
    assert result.runs
    assert all(isinstance(row.holds, bool) for row in result.rows)
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.parametrize(("ratio", "holds"), [(1.25, True), (1.35, False)])
def test_the_humanoids_control_may_cost_three_tenths_of_a_step(
    ratio: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmarks, "_interleaved", lambda character, rounds: (10.0 * ratio, 10.0))
    monkeypatch.setattr(benchmarks, "_real_time", lambda character, seconds: 27.0)
    monkeypatch.setattr(benchmarks, "_population", lambda character, rounds: (1000.0, 1900.0))
    monkeypatch.setattr(benchmarks, "_first_step", lambda character, cache: 1.0)
    monkeypatch.setattr(benchmarks, "_row_bytes", lambda character: 2048.0)
    rows = {row["case"]: row for row in benchmarks.measure_all(True, lambda label, share: None)}
    assert rows["humanoid: physics + control ÷ bare mj_step"]["holds"] is holds
    assert rows["human: physics + control ÷ bare mj_step"]["holds"] is False
    assert rows["humanoid: × real time, one core"]["holds"] is None
    assert "import to first step, cold cache, genbicon" in rows
