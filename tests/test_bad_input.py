"""Wrong numbers and names from a program: refused with the valid choices, and nothing has changed afterwards."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.engine.scene import PUSHES
from surefoot.errors import OutputError
from surefoot.terrains import load as load_terrain
from surefoot.terrains import names, profile, rough, slope, steps

NAN, INF = math.nan, math.inf
NOT_A_TIME = (NAN, INF, -INF, -1.0, -1e-9, 1e9)
FUZZ = settings(max_examples=500, deadline=None, derandomize=True, database=None)
LEARNER = sf.with_parameters(sf.load_skill("walk"), {"learning.bins": 8})


@pytest.fixture(autouse=True)
def _never_hangs() -> Iterator[None]:
    """A call that would not return fails its test in place of stopping the suite."""

    def stop(*_: object) -> None:
        raise TimeoutError("still running after an hour")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 3600.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def centaur(name: str = "walk") -> sf.Skill:
    """A valid skill of a body there is not."""
    return sf.load_skill(name).model_copy(update={"character": "centaur"})


# --- terrains ----------------------------------------------------------------------------------------------


def check_terrain(text: str) -> None:
    """A terrain string is refused, or gives finite ground that is level where the character starts."""
    try:
        terrain = load_terrain(text)
    except sf.SurefootError as error:
        message = str(error)
        found = None
    else:
        message, found = "", terrain
    if found is None:
        assert len(message.splitlines()) == 1
        assert len(message) < 400
        return
    assert np.isfinite(found.height(np.linspace(-50.0, 2000.0, 500))).all()
    assert found.height(0.0) == 0.0
    assert load_terrain(found.description).description == found.description  # it can be asked for again


numbers = st.one_of(
    st.floats(),
    st.integers(-(10**40), 10**40),
    st.floats(-3.0, 3.0),
    st.integers(-5, 60),
    st.sampled_from(["", " ", "x"]),
)


@FUZZ
@given(text=st.text(max_size=30))
def test_any_text_is_a_terrain_or_refused(text: str) -> None:
    check_terrain(text)


@FUZZ
@given(name=st.sampled_from(names()), parts=st.lists(numbers, max_size=6))
def test_any_numbers_make_finite_ground_or_are_refused(name: str, parts: list[float | str]) -> None:
    check_terrain(f"{name}:{','.join(map(str, parts))}")


@settings(FUZZ, max_examples=40)
@given(
    places=st.lists(st.floats(0.3, 20.0), min_size=1, max_size=8), heights=st.lists(st.floats(-2.0, 2.0), min_size=8)
)
def test_every_terrain_that_is_accepted_can_be_stood_on(places: list[float], heights: list[float]) -> None:
    places.sort()
    sim = sf.Simulation("planar", terrain=steps(places, heights[: len(places)]))
    sim.step(10)
    assert np.isfinite(sim.data.qpos).all()


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("moon", "bumps, flat, gaps, image"),
        ("", "bumps, flat, gaps, image"),
        ("Flat", "bumps, flat, gaps, image"),
        ("flat:1", "no numbers"),
        ("slope", "angle"),
        ("slope:89", "within ±"),
        ("slope:-89", "within ±"),
        ("slope:nan", "finite"),
        ("slope:inf", "finite"),
        ("slope:1e400", "finite"),
        ("slope:six", "numbers"),
        ("slope:6,2,-1", "length > 0"),
        ("slope:6,-3", "start >= 0.3"),
        ("slope:6,2,1e9", "2000"),
        ("slope:6,2,3,4,5", "angle, start, length, direction"),
        ("steps:", "as many heights as places"),
        ("steps:1", "as many heights as places"),
        ("steps:1,0.1,2", "as many heights as places"),
        ("steps:4,0.1,3,0.1", "not decrease"),
        ("steps:1,3", "2 m"),
        ("steps:1e9,0.1", "2000"),
        ("steps:-5,0.5", "height 0"),
        ("steps:-5,0,-4,0.5", "height 0"),
        ("rough:7", "amplitude"),
        ("rough:-7,0.1", "seed >= 0"),
        ("rough:7,2", "amplitude 0 … 1"),
        ("rough:7,-0.1", "amplitude 0 … 1"),
        ("rough:7,0.1,-0.5", "spacing 0.05"),
        ("rough:7,0.1,0", "spacing 0.05"),
        ("rough:7,0.1,0.5,1e9", "1000"),
    ],
)
def test_an_impossible_terrain_is_refused_with_what_would_be_valid(text: str, valid: str) -> None:
    with pytest.raises(sf.SurefootError) as caught:
        sf.Simulation("planar", terrain=text)
    assert valid in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: slope(NAN), lambda: slope(INF), lambda: slope(0.1, NAN), lambda: slope(0.1, 2.0, INF),
        lambda: slope(0.0, 2.0, INF), lambda: slope(math.radians(89)), lambda: steps([], []), lambda: steps([1.0], []),
        lambda: steps([NAN], [0.1]), lambda: steps([1.0], [NAN]), lambda: steps([2.0, 1.0], [0.1, 0.1]),
        lambda: rough(1, NAN), lambda: rough(1, 0.1, NAN), lambda: rough(NAN, 0.1),  # type: ignore[arg-type]
        lambda: rough(INF, 0.1),  # type: ignore[arg-type]
        lambda: profile([]), lambda: profile([0.0, NAN]), lambda: profile([0.0, 1e9]),
        lambda: profile(np.zeros((2, 2))), lambda: profile([0.0], -1.0),
        lambda: profile([0.0], NAN), lambda: profile([0.0], 1.0, NAN),
        lambda: profile([1.0, 1.0], 1.0, -5.0), lambda: profile(np.zeros(30_000), 0.01),
        lambda: sf.Terrain("mine", np.zeros((0, 2))), lambda: sf.Terrain("mine", np.zeros(4)),
        lambda: sf.Terrain("mine", np.array([[2.0, 0.0], [1.0, 0.0]])),
        lambda: sf.Terrain("mine", np.array([[-5.0, 0.0], [-4.0, 1.0]])),  # 1 m above x = 0
    ],
)  # fmt: skip
def test_ground_that_cannot_be_is_refused(make: Callable[[], sf.Terrain]) -> None:
    with pytest.raises(sf.SurefootError):
        make()


# --- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [sf.Simulation, lambda **given: sf.Population(2, **given)])
@pytest.mark.parametrize(
    ("given_", "valid"),
    [
        ({"character": "centaur"}, sf.characters()),
        ({"skill": "fly"}, sf.skills("planar")),
        ({"skill": "human/fly"}, sf.skills("human")),
        ({"skill": "centaur/fly"}, sf.skills()),
        ({"terrain": "moon"}, sf.terrains()),
        ({"proportions": {"tail_length": 1.0}}, ("mass", "thigh_length", "left_shin_mass")),
    ],
)
def test_an_unknown_name_is_answered_with_the_valid_ones(
    kind: Callable[..., Any], given_: dict[str, Any], valid: tuple[str, ...]
) -> None:
    with pytest.raises(sf.SurefootError) as caught:
        kind(**given_)
    assert all(name in str(caught.value) for name in valid)


@pytest.mark.parametrize("kind", [sf.Simulation, lambda **given: sf.Population(2, **given)])
@pytest.mark.parametrize(
    "given_",
    [
        *({"timestep": value} for value in (NAN, INF, 0.0, -0.001, 1e-9, 0.1)),
        *({"proportions": {"mass": value}} for value in (NAN, INF, 0.0, -1.0, 0.1, 50.0)),
        *({"proportions": {"thigh_length": value}} for value in (NAN, 0.0)),
    ],
)
def test_a_body_or_time_step_that_cannot_be_is_refused(kind: Callable[..., Any], given_: dict[str, Any]) -> None:
    with pytest.raises(sf.SurefootError, match="within"):
        kind(**given_)


def test_proportions_may_be_numpy_numbers() -> None:
    values: list[Any] = [np.float32(1.5), 1.5]
    one, other = (sf.Simulation("planar", proportions={"mass": value}) for value in values)
    assert np.array_equal(one.model.body_mass, other.model.body_mass)


def test_another_characters_skill_is_refused_wherever_it_is_given() -> None:
    sim, population = sf.Simulation("planar"), sf.Population(2, "planar")
    for use in (
        lambda: sf.Simulation(skill=centaur()),
        lambda: sf.Simulation("planar", skills=[centaur()]),
        lambda: sim.switch(centaur("run")),
        lambda: sim.blend(centaur("run"), 0.5),
        lambda: sf.Population(2, skill=["walk", centaur()]),
        lambda: population.switch(centaur("run")),
    ):
        with pytest.raises(sf.SurefootError, match=r"centaur.*planar"):
            use()


# --- one simulation ----------------------------------------------------------------------------------------

FORWARD = (50.0, 0.0, 0.0)
WRONG_PARAMETERS = (
    ("states.0.cd", NAN), ("states.0.cd", 1e9), ("states.9.cd", 1.0), ("states.-1.cd", 1.0), ("states", 1.0),
    ("", 1.0), (".", 1.0), ("wings", 1.0), ("a.b.c", 1.0), ("states.²", 1.0), ("states.0.targets.tail", 1.0),
    ("gains.tail.kp", 1.0), ("gains.all.limit", 5000.0), ("learning.bins", 8), ("states.0.duration", -1.0),
    ("start.joints.tail", 1.0), ("start.state", 9),
)  # fmt: skip
REFUSED_CALLS: dict[str, Any] = {  # of a simulation
    **{f"run {v}": lambda s, v=v: s.run(v) for v in NOT_A_TIME},
    **{f"run at {v} fps": lambda s, v=v: s.run(0.1, v) for v in (NAN, INF, 0.0, -60.0, 1e9)},
    "step -1": lambda s: s.step(-1),
    **{f"push of {v} N": lambda s, v=v: s.push((v, 0.0, 0.0), 0.1) for v in (NAN, INF)},
    **{f"push for {v} s": lambda s, v=v: s.push(FORWARD, v) for v in (NAN, INF, 0.0, -0.1)},
    **{f"push {v} s from now": lambda s, v=v: s.push(FORWARD, 0.1, delay=v) for v in (NAN, INF, -0.05, -1.0)},
    "push out of its plane": lambda s: s.push((50.0, 10.0, 0.0), 0.1),
    "push with two numbers": lambda s: s.push((50.0, 0.0), 0.1),
    "push with four numbers": lambda s: s.push((50.0, 0.0, 0.0, 0.0), 0.1),
    "push no body": lambda s: s.push(FORWARD, 0.1, body="tail"),
    "push at no point": lambda s: s.push(FORWARD, 0.1, point=(0.0, NAN, 0.0)),
    "push at two numbers": lambda s: s.push(FORWARD, 0.1, point=(0.0, 0.0)),
    "unknown command": lambda s: s.command(fly=1.0),
    "unknown command after a known one": lambda s: s.command(speed=1.0, fly=1.0),
    "bad command after a good one": lambda s: s.command(lean=0.01, speed=NAN),
    **{f"speed {v}": lambda s, v=v: s.command(speed=v) for v in (NAN, INF, -100.0, 100.0)},
    "switch to nothing": lambda s: s.switch("fly"),
    "switch to what does not fit": lambda s: s.switch(LEARNER),
    "switch to an unknown role": lambda s: s.switch(sf.with_parameters(s.skill, {"states.0.targets.tail": 1.0})),
    "switch to an unknown gain": lambda s: s.switch(sf.with_parameters(s.skill, {"gains.tail.kp": 1.0})),
    **{f"blend {v}": lambda s, v=v: s.blend("run", v) for v in (NAN, INF, -0.1, 1.1)},
    "blend with nothing": lambda s: s.blend("fly", 0.5),
    "blend with another structure": lambda s: s.blend("skip", 0.5),
    **{f"set {path} to {v}": lambda s, path=path, v=v: s.set_parameters({path: v}) for path, v in WRONG_PARAMETERS},
    "set one that is and one that is not": lambda s: s.set_parameters({"states.0.cd": 0.1, "states.9.cd": 1.0}),
    "restore another kind": lambda s: s.restore(sf.Simulation("planar", skills=[LEARNER]).snapshot()),
    "restore another terrain's": lambda s: s.restore(sf.Simulation("planar", terrain="slope:3").snapshot()),
    "restore another body's": lambda s: s.restore(
        sf.Simulation("planar", proportions={"thigh_length": 1.1}).snapshot()
    ),
    "restore another time step's": lambda s: s.restore(sf.Simulation("planar", timestep=0.001).snapshot()),
}


@pytest.fixture(scope="module")
def busy() -> sf.Simulation:
    """A walk with a push under way, another one queued, a command given and a switch requested."""
    sim = sf.Simulation("planar")
    sim.push((20.0, 0.0, 0.0), 0.5)
    sim.push((20.0, 0.0, 5.0), 0.5, body="left_shin", point=(0.0, 0.0, -0.1), delay=1.0)
    sim.command(speed=0.9)
    sim.step(200)
    sim.switch("run")
    return sim


@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_a_refused_call_changes_nothing(busy: sf.Simulation, name: str) -> None:
    before = busy.snapshot()
    try:
        with pytest.raises(sf.SurefootError) as caught:
            REFUSED_CALLS[name](busy)
        after = busy.snapshot()
    finally:
        busy.restore(before)
    assert len(str(caught.value).splitlines()) == 1
    assert np.array_equal(before.state, after.state, equal_nan=True)
    assert before.skill is after.skill
    assert before.requested is after.requested


def test_a_refusal_says_what_would_have_been_valid(busy: sf.Simulation) -> None:
    for call, valid in (
        (lambda: busy.push(FORWARD, 0.1, body="tail"), ("trunk", "left_shin", "right_foot")),
        (lambda: busy.command(fly=1.0), ("lean", "speed")),
        (lambda: busy.command(speed=100.0), ("-3", "5")),
        (lambda: busy.blend("run", 2.0), ("0 … 1",)),
        (lambda: busy.run(-1.0), ("0 … 100000",)),
        (lambda: busy.set_parameters({"states.0.cd": 1e9}), ("states.0.cd", "20")),
    ):
        with pytest.raises(sf.SurefootError) as caught:
            call()
        assert all(text in str(caught.value) for text in valid)


def test_a_command_the_file_names_but_the_controller_does_not_know_is_never_a_crash() -> None:
    skill = sf.load_skill("walk").model_copy(update={"commands": ["lean", "fly"]})
    with pytest.raises(sf.SurefootError, match="fly"):
        sf.Simulation(skill=skill).command(fly=1.0)


def test_one_push_too_many_is_refused_and_the_others_stay() -> None:
    sim = sf.Simulation("planar")
    for k in range(PUSHES):
        sim.push(FORWARD, 0.1, delay=1.0 + k)
    before = sim.snapshot().state
    with pytest.raises(sf.SurefootError, match=str(PUSHES)):
        sim.push(FORWARD, 0.1, delay=50.0)
    assert np.array_equal(before, sim.snapshot().state)


def test_a_run_of_no_time_is_one_frame_and_changes_nothing(busy: sf.Simulation) -> None:
    before = busy.snapshot().state
    motion = busy.run(0.0)
    assert len(motion) == 1
    assert np.array_equal(before, busy.snapshot().state)


# --- a population ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "given_"),
    [
        (0, {}),
        (-3, {}),
        (3, {"skill": ["walk", "run"]}),
        (2, {"skill": []}),
        (2, {"parameters": {"states.0.cd": [1.0]}}),
        (2, {"parameters": {"states.0.cd": np.zeros(3)}}),
        (2, {"parameters": {"states.0.cd": [1.0, NAN]}}),
        (2, {"parameters": {"states.9.cd": [1.0, 1.0]}}),
        (2, {"parameters": {"states.0.targets.tail": [1.0, 1.0]}}),
        (2, {"pushes": [[]]}),
        (2, {"pushes": [sf.Push((NAN, 0.0, 0.0), 0.1, 1.0)]}),
        (2, {"pushes": [sf.Push(FORWARD, 0.0, 1.0)]}),
        (2, {"pushes": [sf.Push(FORWARD, 0.1, -1.0)]}),
        (2, {"pushes": [sf.Push(FORWARD, 0.1, 1.0, body="tail")]}),
        (2, {"pushes": [sf.Push((1.0, 0.0), 0.1, 1.0)]}),  # type: ignore[arg-type]
        (2, {"pushes": [[sf.Push(FORWARD, 0.1, 1.0)], sf.Push(FORWARD, 0.1, 1.0)]}),
    ],
)
def test_a_population_that_cannot_be_is_refused(n: int, given_: dict[str, Any]) -> None:
    with pytest.raises(sf.SurefootError) as caught:
        sf.Population(n, **given_)
    assert len(str(caught.value).splitlines()) == 1


POPULATION_CALLS: dict[str, Any] = {  # of a population
    **{f"run {v}": lambda p, v=v: p.run(v) for v in NOT_A_TIME},
    **{f"run at {v} fps": lambda p, v=v: p.run(0.01, fps=v) for v in (NAN, INF, 0.0, -60.0, 1e9)},
    **{f"advance {v}": lambda p, v=v: p.advance([0.0, 0.0, v]) for v in (NAN, INF, -1.0)},
    "advance too few": lambda p: p.advance([0.01]),
    "advance too many": lambda p: p.advance([0.01] * 4),
    "push a row that is not": lambda p: p.push(sf.Push(FORWARD, 0.1, 5.0), rows=[0, 9]),
    "switch a row that is not": lambda p: p.switch("run", rows=[0, 9]),
    "push NaN": lambda p: p.push(sf.Push((NAN, 0.0, 0.0), 0.1, 5.0)),
    "push into the past": lambda p: p.push(sf.Push(FORWARD, 0.01, 0.0)),
    "switch to nothing": lambda p: p.switch("fly"),
    "switch to what does not fit": lambda p: p.switch(LEARNER),
    "restore other rows": lambda p: p.restore(p.states[:2]),
    "restore another kind": lambda p: p.restore(sf.Population(3, skill=LEARNER).states),
}


@pytest.fixture(scope="module")
def rows() -> sf.Population:
    population = sf.Population(3, "planar")
    population.run(0.1)
    return population


@pytest.mark.parametrize("name", POPULATION_CALLS)
def test_a_refused_call_changes_no_row(rows: sf.Population, name: str) -> None:
    before, skills = rows.states, list(rows.skills)
    try:
        with pytest.raises(sf.SurefootError) as caught:
            POPULATION_CALLS[name](rows)
        after, skills_after = rows.states, list(rows.skills)
    finally:
        rows.restore(before)
        rows.skills = skills
    assert len(str(caught.value).splitlines()) == 1
    assert np.array_equal(before, after)
    assert skills == skills_after


# --- numbers that blow up ----------------------------------------------------------------------------------


def spoil(sim: sf.Simulation, how: str) -> None:
    match how:
        case "huge speed":
            sim.data.qvel[:] = 1e10
        case "huge speed near overflow":
            sim.data.qvel[:] = 1e300
        case "NaN speed":
            sim.data.qvel[0] = NAN
        case "NaN angle":
            sim.data.qpos[4] = NAN
        case "infinite height":
            sim.data.qpos[1] = INF
        case "push of 1e6 N":
            sim.push((1e6, 0.0, 0.0), 0.4)
        case "push of 1e6 N into the ground":
            sim.push((0.0, 0.0, -1e6), 0.4)


WAYS = (
    "huge speed", "huge speed near overflow", "NaN speed", "NaN angle", "infinite height", "push of 1e6 N",
    "push of 1e6 N into the ground",
)  # fmt: skip


@pytest.mark.parametrize("how", WAYS)
def test_numbers_that_blow_up_are_a_fall_with_a_time_and_a_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = sf.Simulation("planar")
    sim.step(200)
    spoil(sim, how)
    motion = sim.run(0.05)
    assert sim.fallen
    assert 0.1 <= sim.fallen_at <= 0.15
    assert sim.fall_cause in ("touched the ground", "too low", "tilted", "not finite")
    assert sim.time == pytest.approx(0.15)
    assert np.isfinite(motion.time).all()
    assert len(motion) == 4


@pytest.mark.parametrize("how", ["NaN speed"])
def test_a_motion_that_blew_up_is_saved_or_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = sf.Simulation("planar")
    spoil(sim, how)
    motion = sim.run(0.05)
    motion.save(tmp_path / "motion.npz")
    assert np.array_equal(sf.load_motion(tmp_path / "motion.npz").qpos, motion.qpos, equal_nan=True)
    motion.save(tmp_path / "motion.csv")
    assert len((tmp_path / "motion.csv").read_text().splitlines()) == 1 + len(motion)
    for suffix in (".png", ".gif", ".mp4"):
        with pytest.raises(OutputError, match="finite"):
            motion.save(tmp_path / f"motion{suffix}")
    assert not [
        name for name in os.listdir(tmp_path) if name.startswith((".motion", "motion.p", "motion.g", "motion.m"))
    ]


def test_a_row_that_blows_up_leaves_the_others_bit_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spoilt, clean = sf.Population(5, "planar"), sf.Population(5, "planar")
    for population in (spoilt, clean):
        population.run(0.1)
    spoilt.qvel[1] = 1e10
    spoilt.qvel[2, 0] = NAN
    spoilt.push(sf.Push((1e6, 0.0, 0.0), 0.1, 0.1), rows=[3])
    motions = spoilt.run(0.05, fps=60)
    clean.run(0.05, fps=60)
    assert np.isfinite(spoilt.fallen_at[1:4]).all()
    assert np.isinf(spoilt.fallen_at[[0, 4]]).all()
    assert np.array_equal(spoilt.states[[0, 4]], clean.states[[0, 4]])
    assert len(motions) == 5
    assert spoilt.time == pytest.approx(np.full(5, 0.15))


def test_a_restore_heals_a_simulation_that_blew_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sim, other = sf.Simulation("planar"), sf.Simulation("planar")
    sim.step(200)
    here = sim.snapshot()
    sim.data.qvel[:] = NAN
    sim.step(5)
    assert sim.fallen
    sim.restore(here)
    assert not sim.fallen
    sim.step(200)
    other.step(400)
    assert np.array_equal(sim.snapshot().state, other.snapshot().state)


def test_numbers_that_blow_up_print_nothing_and_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sim, population = sf.Simulation("planar"), sf.Population(2, "planar")
    sim.push((1e6, 0.0, 0.0), 0.01)
    population.push(sf.Push((1e6, 0.0, 0.0), 0.01, 0.0), [0])
    sim.run(0.02)
    population.run(0.02)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
    assert os.listdir(tmp_path) == []
