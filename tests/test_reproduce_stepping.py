"""The experiments of "Watch your step": what their judges let pass, and what not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.engine.population import Population
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping import (
    box,
    cost,
    gyrating_platform,
    paper_coupling,
    proportions,
    pushes,
    speed,
    stand,
    stepping_trials,
    terrain_courses,
    thrown_balls,
)
from surefoot.terrains import load as load_terrain

HOLDS = math.inf  # [s] when it fell


def judged(module: Any, monkeypatch: pytest.MonkeyPatch, **measured: Any) -> dict[str, bool]:
    """Which rows of an experiment hold if this is what it measures."""
    for name, value in measured.items():
        monkeypatch.setattr(module, name, value)
    result = Result("stepping/x", "Watch your step")
    module.run(result, Setting())
    return {row.case: row.holds for row in result.rows}


# ------------------------------------------------------------------------------------------------------ pushes


def test_random_pushes_are_those_of_the_paper_and_the_same_every_time() -> None:
    each, again = (stepping_trials.shoves(4, "x", 200, 2.0, 3.0) for _ in range(2))
    assert each == again
    assert each != stepping_trials.shoves(5, "x", 200, 2.0, 3.0)
    assert all(10.0 <= s.force <= 500.0 and 0.1 <= s.duration <= 0.5 and 2.0 <= s.start <= 3.0 for s in each)
    assert {math.copysign(1.0, f(s.direction)) for s in each for f in (math.sin, math.cos)} == {-1.0, 1.0}
    assert math.hypot(*each[3].push().force) == pytest.approx(each[3].force)


@pytest.mark.parametrize(
    ("lost", "falls", "holds"),
    [([], [HOLDS] * 5, (True, True, True, True)), ([90.0], [HOLDS] * 5, (False, True, True, True)),
     ([70.0], [HOLDS, 300.0], (False, True, False, False)), ([120.0, 150.0], [HOLDS] * 5, (True, False, True, True))],
)  # fmt: skip
def test_pushes_are_judged_by_their_impulses(
    lost: list[float], falls: list[float], holds: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    impulses = np.linspace(60.0, 150.0, 10)
    survived = ~np.isin(impulses, lost)
    measured = {"tried": lambda *_: (impulses, survived), "repeated": lambda *_: falls}
    assert tuple(judged(pushes, monkeypatch, **measured).values()) == holds


def test_a_push_that_fells_is_not_survived_and_one_that_tickles_is() -> None:
    some = [stepping_trials.Shove(20.0, 0.1, 0.3, 3.0), stepping_trials.Shove(5000.0, 0.5, 0.3, 3.0)]
    assert pushes._outlived(some, walks=False, seed=0).tolist() == [True, False]


def test_feet_are_crossed_where_the_left_one_is_on_the_right() -> None:
    population = Population(3, "stepper", "stand")
    model = population.scene.model
    for side in ("left", "right"):
        population.qpos[1, model.joint(f"{side}_hip_roll").qposadr[0]] = -0.2
        population.qpos[2, model.joint(f"{side}_hip_yaw").qposadr[0]] = math.radians(25.0)
    crossed, turned = pushes.feet(population)
    assert crossed.tolist() == [False, True, False]
    assert turned[0] < 3.0
    assert turned[2] == pytest.approx(25.0, abs=3.0)


# ----------------------------------------------------------------------------------------------- other judges


@pytest.mark.parametrize(
    ("drift", "steps", "fell", "first", "holds"),
    [(0.005, 0.0, False, 20.0, (True, True, True, True)), (0.03, 0.0, False, 20.0, (True, False, True, True)),
     (0.005, 2.0, False, 20.0, (False, True, True, True)), (0.005, 0.0, True, 20.0, (True, False, True, True)),
     (0.005, 0.0, False, 2.0, (True, True, False, True)), (0.005, 0.0, False, math.inf, (True, True, True, False))],
)  # fmt: skip
def test_standing_is_judged_by_steps_drift_and_what_makes_it_step(
    drift: float, steps: float, fell: bool, first: float, holds: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    angles = np.linspace(-3.0, 3.0, 4)
    measured = {
        "stood": lambda *_: (drift, steps, fell, 100.0),
        "thresholds": lambda *_: ((angles, np.full(4, first)), np.full(4, 0.01)),
    }
    assert tuple(judged(stand, monkeypatch, **measured).values()) == holds


@pytest.mark.parametrize(("kept", "fallen", "holds"), [(0.95, False, True), (0.85, False, False), (1.0, True, False)])
def test_a_speed_is_kept_within_a_tenth_without_a_fall(
    kept: float, fallen: bool, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walked(panel: speed.Panel, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        time = np.arange(0.0, seconds, 0.1)
        wanted = np.array([[v for begin, v in panel.commands if begin <= t][-1] for t in time])
        return time, kept * wanted, wanted, fallen

    rows = judged(speed, monkeypatch, walked=walked)
    assert len(rows) == 7
    assert set(rows.values()) == {holds}


@pytest.mark.parametrize(("limit", "holds"), [(30.0, False), (35.0, True), (45.0, True)])
def test_the_platform_is_held_up_to_the_first_angle_it_falls_at(
    limit: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []

    def stood(angle: float, seconds: float, pushed: bool, setting: Setting) -> float:
        tried.append(angle)
        return HOLDS if angle <= limit else 12.0

    rows = judged(gyrating_platform, monkeypatch, stood=stood)
    assert list(rows.values()) == [holds]
    assert max(tried) == min(limit + 5.0, 45.0)


@pytest.mark.parametrize(
    ("bends", "reached", "holds"),
    [((36.0, 38.0), 30.0, (True, True)), ((36.0, 36.5), 30.0, (False, True)), ((36.0, 38.0), 29.9, (True, False))],
)
def test_the_box_has_to_bend_knees_and_to_reach_thirty_kilograms(
    bends: tuple[float, float], reached: float, holds: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = {
        "bends": lambda share, seed: np.linspace(*bends, len(box._MASSES)).tolist(),
        "raised": lambda number, rise, setting: (reached if number == 2 else 30.0, HOLDS, 20.0),
    }
    assert tuple(judged(box, monkeypatch, **measured).values()) == holds


def test_a_box_is_raised_and_a_fall_ends_it_short_of_the_mass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(box, "AFTER", 4.5)
    mass, fell, _ = box.raised(0, 1.0, Setting(out=tmp_path))
    assert (mass, fell) == (30.0, HOLDS)
    assert (tmp_path / "stepping-box" / "pushed.png").exists()
    monkeypatch.setattr(box, "PUSH", (3000.0, 3001.0))
    mass, fell, _ = box.raised(0, 20.0, Setting())
    assert mass < 30.0
    assert fell < 20.0


@pytest.mark.parametrize(("survived", "heavy", "holds"), [(200, 0.4, True), (199, 0.4, False), (200, 0.2, False)])
def test_balls_are_survived_all_and_enough_of_them_are_heavy(
    survived: int, heavy: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = judged(thrown_balls, monkeypatch, thrown=lambda *_: (survived, heavy, HOLDS))
    assert all(rows.values()) is holds


def test_balls_come_in_all_sizes_and_more_than_enough_are_heavy_on_average() -> None:
    sizes = thrown_balls.sizes()
    assert (sizes[0], sizes[-1]) == pytest.approx(thrown_balls.DIAMETERS)
    speeds = np.linspace(*thrown_balls.SPEEDS, 101)
    impulses = thrown_balls.DENSITY * np.pi / 6.0 * sizes[:, None] ** 3 * speeds
    assert (impulses > thrown_balls.HEAVY).mean() > thrown_balls.SHARE


@pytest.mark.parametrize(("creep", "fell", "holds"), [(0.0005, False, True), (0.002, False, False), (0.0, True, False)])
def test_standing_on_a_slope_is_judged_by_creep_and_falls(
    creep: float, fell: bool, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terrain_courses, "crept", lambda angle, seconds: (creep, fell))
    walked: Any = lambda course, tries, setting: (np.ones(tries, bool), np.full(tries, course.length))  # noqa: E731
    rows = judged(terrain_courses, monkeypatch, walked=walked)
    stood = [held for case, held in rows.items() if case.startswith("stands")]
    assert set(stood) == {holds}
    assert len(stood) == 2
    assert all(held for case, held in rows.items() if not case.startswith("stands"))


def test_courses_are_grounds_that_are_as_long_as_the_way() -> None:
    each = terrain_courses.courses()
    assert {course.terrain.partition(":")[0] for course in each} >= {"slope", "gaps", "bumps", "stairs"}
    for course in each:
        ground = load_terrain(course.terrain)
        assert float(ground.height(0.2)) == 0.0
        if course.terrain.startswith("stairs"):
            assert course.tries == terrain_courses.REPLICAS
            assert abs(float(ground.height(course.length))) == pytest.approx(12 * abs(float(ground.height(1.1))))


@pytest.mark.parametrize(("fell", "walked", "holds"), [(HOLDS, 0.5, True), (9.0, 0.5, False), (HOLDS, 0.2, False)])
def test_other_legs_have_to_walk_on_and_crouches_to_last(
    fell: float, walked: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = judged(
        proportions, monkeypatch, lasted=lambda skill, seconds, told, *_: (fell, walked, told.get("crouch", 1.0))
    )
    assert {held for case, held in rows.items() if case.startswith("legs")} == {holds}
    assert {held for case, held in rows.items() if "crouched" in case} == {math.isinf(fell)}
    assert not any("walks crouched to 0.5" in case for case in rows)


@pytest.mark.parametrize(("control", "whole", "holds"), [(0.1, 0.5, (True, True)), (0.3, 0.7, (False, False))])
def test_cost_is_judged_by_the_median(
    control: float, whole: float, holds: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    outliers = iter([(9.0, 1.0), *[(whole, whole - control)] * 3, (0.01, 0.0)])
    assert tuple(judged(cost, monkeypatch, measured=lambda *_: next(outliers)).values()) == holds


def test_only_our_coupling_is_judged_and_the_papers_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: dict[str, Any] = {
        "stood": lambda skill, *_: HOLDS if skill.parameters.force else 1.2,
        "pushed": lambda skill, *_: bool(skill.parameters.force),
        "walked": lambda skill, *_: (HOLDS if skill.parameters.force else 2.0, 30.0),
    }
    rows = judged(paper_coupling, monkeypatch, **measured)
    assert len(rows) == 3
    assert all(rows.values())
    assert all(case.startswith("ours") for case in rows)


def test_a_speed_is_judged_only_where_it_had_time_to_settle() -> None:
    panel = speed.PANELS[0]
    assert len(speed._stretches(panel, speed.SECONDS, speed.SETTLED)) == len(panel.commands)
    for begin, end, wanted in speed._stretches(panel, 15.0, 5.0):
        told = max(time for time, value in panel.commands if value == wanted)
        assert begin == told + 5.0
        assert end - begin > 1.0


def test_a_course_ends_when_all_who_walk_it_have_fallen() -> None:
    course = terrain_courses.Course("a cliff", "steps:0.6,-1.5", 0.5, 4.0, tries=2)
    arrived, _ = terrain_courses.walked(course, 2, Setting())
    assert not arrived.any()
