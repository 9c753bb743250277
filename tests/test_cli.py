"""The command line: exit status 0 did it, 1 fell or a figure does not hold, 2 bad input in one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.cli.main import main
from surefoot.controllers.simbicon.law import COMMANDS
from surefoot.lab import benchmarks
from surefoot.lab.experiment import Experiment, Result, Setting, run_experiment
from surefoot.lab.gait_measures import measure_gait, record_for_measuring
from surefoot.skills import library_path

WALK = library_path("planar/walk").read_text()
SHORT = ("--seconds", "0.02")
TUNE = ("--generations", "1", "--seconds", "1", "--replicas", "1")
CD = ("--parameter", "states.1.cd=0:4")
HANGS = 3600.0  # [s] after which a call counts as hanging: longer than the slowest machine needs


class Outcome(NamedTuple):
    status: object
    out: str
    err: str


@contextlib.contextmanager
def limited(seconds: float = HANGS) -> Iterator[None]:
    """What hangs fails, in place of stopping the suite."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def call(*arguments: object) -> Outcome:
    """Run the command line in this process; anything but an exit is an error of the test."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["surefoot", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        limited(),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return Outcome(left.value.code, out.getvalue(), err.getvalue())


def start(*arguments: object, cwd: Path) -> Outcome:
    """Run it as a user does."""
    command = [sys.executable, "-m", "surefoot", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=HANGS, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def refused(*arguments: object) -> str:
    """The one line with which bad input is refused."""
    outcome = call(*arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("surefoot: ")
    assert outcome.err.endswith("\n")
    assert len(outcome.err.splitlines()) == 1
    return outcome.err


def only_object(text: str) -> dict[str, Any]:
    """The one JSON object a text consists of, by the letter of the standard."""

    def not_json(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    assert text.endswith("\n")
    assert len(text.splitlines()) == 1
    found = json.loads(text, parse_constant=not_json)
    assert isinstance(found, dict)
    return found


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- as a program ------------------------------------------------------------------------------------------


def test_simulate_as_a_program_prints_one_json_object_and_writes_what_was_asked_for(tmp_path: Path) -> None:
    start("simulate", "walk", *SHORT, cwd=tmp_path)  # compiles what was never compiled, and says so
    outcome = start(
        "simulate", "walk", "--seconds", "1.5", "--terrain", "slope:1", "--push", "0.2,40,0,0,0.1",
        "--switch", "0.4:run", "--proportion", "thigh_length=1.02", "--save", "run.npz", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert outcome.status == 0
    assert outcome.err == ""
    summary = only_object(outcome.out)
    assert summary["skill"] == "planar/run"
    assert summary["terrain"] == "slope:1"
    assert summary["seconds"] == 1.5
    assert summary["fallen_at"] is None
    assert summary["saved"] == ["run.npz"]
    assert len(sf.load_motion(tmp_path / "run.npz")) == 151
    assert os.listdir(tmp_path) == ["run.npz"]


def test_bad_input_as_a_program_is_one_line_and_status_2(tmp_path: Path) -> None:
    outcome = start("simulate", "fly", cwd=tmp_path)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("surefoot: unknown skill 'fly'; valid: ")
    assert len(outcome.err.splitlines()) == 1


def test_numbers_that_blow_up_are_status_1_with_valid_json_and_no_litter(tmp_path: Path) -> None:
    outcome = start("simulate", "--seconds", "0.3", "--push", "0.01,1e6,0,1e6,0.25", "--json", cwd=tmp_path)
    assert outcome.status == 1
    summary = only_object(outcome.out)
    assert 0.01 <= summary["fallen_at"] <= 0.3
    assert summary["fall_cause"] in ("not finite", "too low")
    assert outcome.err == ""
    assert os.listdir(tmp_path) == []


# --- simulate ----------------------------------------------------------------------------------------------


def test_a_fall_is_status_1_and_said() -> None:
    outcome = call("simulate", "--seconds", "3", "--push", "0.1,2000,0,0,0.2", "--json")
    assert outcome.status == 1
    summary = only_object(outcome.out)
    assert 0.1 < summary["fallen_at"] < 3.0
    assert summary["fall_cause"]
    assert summary["speed"] is None
    assert "fall cause" in call("simulate", "--seconds", "1", "--push", "0.1,2000,0,0,0.2").out


def test_simulate_does_what_the_program_interface_does() -> None:
    given_ = ("--speed", "0.9", "--push", "0.2,30,0,0,0.1", "--proportion", "mass=1.1")
    summary = only_object(call("simulate", "--seconds", "1", *given_, "--json").out)
    sim = sf.Simulation("planar", proportions={"mass": 1.1})
    sim.command(speed=0.9)
    sim.push((30.0, 0.0, 0.0), 0.1, delay=0.2)
    before = sim.data.qpos[0]
    sim.step(2000)
    assert summary["distance"] == pytest.approx(sim.data.qpos[0] - before, abs=1e-9)


def test_a_walker_in_space_does_what_the_program_interface_does() -> None:
    given_ = ("--command", "heading=35", "--command", "width=5", "--backpack", "6", "--self-collision")
    more = ("--command", "speed=0.4", "--proportion", "thigh_length=1.05", "--terrain", "bumps:3,0.01")
    summary = only_object(call("simulate", "human/walk-as-printed", "--seconds", "2", *given_, *more, "--json").out)
    sim = sf.Simulation(
        skill="human/walk-as-printed", terrain="bumps:3,0.01", proportions={"thigh_length": 1.05}, backpack=6.0,
        self_collision=True,
    )  # fmt: skip
    sim.command(heading=np.radians(35.0), width=np.radians(5.0), speed=0.4)
    motion = record_for_measuring(sim, 2.0)
    way, gait = motion.root_position[-1] - motion.root_position[0], measure_gait(motion)
    assert summary["skill"] == "human/walk-as-printed"
    assert summary["distance"] == pytest.approx(np.hypot(way[0], way[1]), abs=1e-9)
    for key, value in {
        "speed": gait.speed, "sideways": gait.sideways, "step_width": gait.step_width, "narrowest": gait.narrowest,
        "torso_roll_deg": gait.roll, "drift_deg": gait.drift,
    }.items():  # fmt: skip
        assert summary[key] == pytest.approx(value, abs=1e-9), key
        assert summary[key] != 0.0


def test_measures_of_space_are_not_given_of_a_planar_body() -> None:
    summary = only_object(call("simulate", "planar/walk", "--seconds", "0.5", "--json").out)
    assert summary["step_length"] is not None
    assert not {"sideways", "step_width", "narrowest", "torso_roll_deg", "drift_deg"} & set(summary)


def test_the_skill_names_its_body_unless_another_is_asked_for() -> None:
    for arguments, full in (
        (("human/walk-as-printed",), "human/walk-as-printed"), (("walk",), "planar/walk"),
        (("walk", "--character", "human"), "human/walk"),
    ):  # fmt: skip
        assert only_object(call("simulate", *arguments, *SHORT, "--json").out)["skill"] == full


def test_a_loop_in_place_is_one_cycle_at_the_frame_rate_asked_for(tmp_path: Path) -> None:
    arguments = ("simulate", "walk", "--seconds", "4", "--fps", "30", "--save", "walk.npz", "--json")
    kept = {}
    for options in ((), ("--loop",), ("--in-place",), ("--loop", "--in-place")):
        assert call(*arguments, *options).status == 0
        kept[options] = sf.load_motion(tmp_path / "walk.npz")
    assert len(kept[()]) == len(kept["--in-place",]) == 121
    for motion in kept.values():
        assert np.diff(motion.time) == pytest.approx(1.0 / 30.0, abs=0.003)
    for options in (("--loop",), ("--loop", "--in-place")):
        motion = kept[options]
        assert 0.4 < np.ptp(motion.time) < 2.0
        assert motion.rotations[-1] == pytest.approx(motion.rotations[0], abs=1e-6)
    travel = {options: float(np.ptp(motion.root_position[:, 0])) for options, motion in kept.items()}
    assert travel[()] > 2.0
    assert travel["--loop",] > 0.3
    assert max(travel["--in-place",], travel["--loop", "--in-place"]) < 0.3


def test_a_skin_goes_to_the_files_that_can_hold_one(tmp_path: Path) -> None:
    saves = [part for name in ("a.glb", "a.usda", "a.npz") for part in ("--save", tmp_path / name)]
    assert call("simulate", *SHORT, *saves, "--skinned").status == 0
    assert b'"skins"' in (tmp_path / "a.glb").read_bytes()
    assert (tmp_path / "a.usda").read_bytes().startswith(b"#usda 1.0")
    assert len(sf.load_motion(tmp_path / "a.npz")) > 1


def test_a_loop_is_cut_from_more_frames_than_it_is_saved_with(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = []

    def save(self: sf.Motion, path: Path, **options: Any) -> None:
        recorded.append(((len(self) - 1) / float(np.ptp(self.time)), options))

    monkeypatch.setattr(sf.Motion, "save", save)
    for fps in ("24", "200"):
        assert call("simulate", "--seconds", "2", "--fps", fps, "--loop", "--save", "walk.npz").status == 0
    assert [round(rate) for rate, _ in recorded] == [120, 200]
    assert [options["fps"] for _, options in recorded] == [24.0, 200.0]


def test_the_same_seed_gives_the_same_output() -> None:
    first, second = (call("simulate", "--seconds", "0.5", "--seed", "3", "--json").out for _ in range(2))
    assert first == second


def test_a_skill_file_of_ones_own_can_be_simulated(tmp_path: Path) -> None:
    path = tmp_path / "my walk ü.yaml"
    path.write_text(WALK.replace("name: walk", "name: mine"))
    assert only_object(call("simulate", path, *SHORT, "--json").out)["skill"] == "planar/mine"


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        (("fly",), "planar/walk"),
        (("human/fly",), "human/walk-as-printed"),
        (("human/walk-as-printed", "--character", "planar"), "not for 'planar'"),
        (("missing.yaml",), "missing.yaml"),
        (("walk", "run"), "run"),
        (
            ("--character", "centaur"),
            "ape, bird, human, human19, human_toes, humanoid, planar, planar_arms, robot, stepper, strider",
        ),
        (("--terrain", "moon"), "bumps, flat, gaps, image, incline, platform, rough"),
        (("--terrain", "image:missing.png,9,0.5"), "missing.png"),
        (("--terrain", "slope:89"), "within ±"),
        (("--terrain", "steps:1"), "as many"),
        (("--terrain", ""), "flat"),
        (("--seconds", "0"), "0 …"),
        (("--seconds", "-1"), "0 …"),
        (("--seconds", "nan"), "0 …"),
        (("--seconds", "inf"), "0 …"),
        (("--seconds", "soon"), "number"),
        (("--fps", "0"), "0 …"),
        (("--fps", "nan"), "0 …"),
        (("--fps", "-5"), "0 …"),
        (("--speed", "99"), "-3 … 5"),
        (("--speed", "nan"), "-3 … 5"),
        (("--command", "lean"), "NAME=VALUE"),
        (("--command", "lean=far"), "NAME=VALUE"),
        (("--command", "lean=58"), "-57.296 … 57.296 degrees"),
        (("--command", "lean=nan"), "-57.296 … 57.296 degrees"),
        (("--command", "speed=99"), "-3 … 5"),
        (("--command", "heading=90"), "lean, speed"),
        (("--command", "self=1"), "lean, speed"),
        (("--command", "lean=1", "--command", "lean=2"), "twice"),
        (("--command", "speed=1", "--speed", "1"), "twice"),
        (("human/walk-as-printed", "--command", "width=30"), "-11.459 … 22.918 degrees"),
        (("--backpack", "5"), "human"),
        (("human/walk-as-printed", "--backpack", "-5"), "0 … 60 kg"),
        (("human/walk-as-printed", "--backpack", "nan"), "0 … 60 kg"),
        (("--loop",), "--save"),
        (("--in-place",), "--save"),
        (("--loop", "--fps", "0", "--save", "walk.npz"), "0 …"),
        (("--loop", "--fps", "nan", "--save", "walk.npz"), "0 …"),
        (("--loop", "--seconds", "0.1", "--save", "walk.npz"), "no cycle"),
        (("--seed", "1.5"), "integer"),
        (("--push", "1,2,3"), "T,FX,FY,FZ,DURATION"),
        (("--push", "a,b,c,d,e"), "T,FX,FY,FZ,DURATION"),
        (("--push", "0.1,nan,0,0,1"), "finite"),
        (("--push", "-1,1,0,0,1"), "past"),
        (("--push", "1,1,0,0,0"), "a push takes"),
        (("--switch", "run"), "T:SKILL"),
        (("--switch", "1:"), "T:SKILL"),
        (("--switch", "-1:run"), "T:SKILL"),
        (("--switch", "nan:run"), "T:SKILL"),
        (("--switch", "1:fly"), "planar/run"),
        (("--proportion", "thigh_length"), "NAME=FACTOR"),
        (("--proportion", "mass=big"), "NAME=FACTOR"),
        (("--proportion", "mass=1", "--proportion", "mass=1.1"), "twice"),
        (("--proportion", "mass=nan"), "0.2 … 5"),
        (("--proportion", "tail_length=1"), "thigh_length"),
        (("--wings",), "--wings"),
        (("--skinned",), ".glb, .usda"),
        (("--skinned", "--save", "walk.bvh"), ".glb, .usda"),
        (("--save", "walk.xyz"), ".npz, .csv, .png, .gif, .mp4, .bvh, .glb"),
        (("--save", "walk"), ".npz, .csv, .png, .gif, .mp4, .bvh, .glb"),
        (("--save", "no/folder/walk.npz"), "folder"),
        (("--save", "good.npz", "--save", "bad.xyz"), ".npz"),
    ],
)
def test_bad_input_to_simulate_is_one_line_that_says_what_would_be_valid(
    tmp_path: Path, arguments: tuple[str, ...], valid: str
) -> None:
    assert valid in refused("simulate", *arguments)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("seconds", ["1e-9", "0.0001", "0.0002"])
def test_less_than_a_physics_step_is_refused_or_done_but_never_hangs(seconds: str) -> None:
    outcome = call("simulate", "--seconds", seconds, "--json")
    assert outcome.status in (0, 2)
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("when", ["0.0101", "0.01024", "0.0099999", "0"])
def test_a_switch_between_two_physics_steps_happens(when: str) -> None:
    outcome = call("simulate", "--seconds", "0.6", "--switch", f"{when}:run", "--json")
    assert outcome.status == 0
    assert only_object(outcome.out)["skill"] == "planar/run"


@pytest.mark.parametrize("seconds", ["0.0203", "1.0001"])
def test_seconds_between_two_physics_steps_are_rounded(seconds: str) -> None:
    summary = only_object(call("simulate", "--seconds", seconds, "--json").out)
    assert summary["seconds"] == pytest.approx(float(seconds), abs=0.00026)


def test_what_cannot_be_written_is_said_and_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.npz").mkdir()
    before = sorted(os.listdir(tmp_path))
    for target in ("file/walk.npz", "folder.npz", "x" * 300 + ".npz", "/proc/walk.npz", "missing/walk.mp4"):
        assert "cannot write" in refused("simulate", *SHORT, "--save", target)
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_no_file_is_written_if_one_of_them_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    refused("simulate", *SHORT, "--save", "good.npz", "--save", "folder.npz")
    assert os.listdir(tmp_path) == ["folder.npz"]


def test_an_existing_file_survives_a_refused_call(tmp_path: Path) -> None:
    call("simulate", *SHORT, "--save", "walk.npz")
    before = (tmp_path / "walk.npz").read_bytes()
    refused("simulate", *SHORT, "--save", "walk.npz", "--push", "0,nan,0,0,1")
    assert (tmp_path / "walk.npz").read_bytes() == before


OPTIONS = (
    "--push", "--switch", "--terrain", "--proportion", "--speed", "--seconds", "--fps", "--character", "--seed",
    "--command", "--backpack",
)  # fmt: skip


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    option=st.sampled_from(OPTIONS),
    value=st.one_of(
        st.text(max_size=12),
        st.lists(st.floats() | st.integers(-3, 3), min_size=1, max_size=5).map(lambda v: ",".join(map(str, v))),
        st.sampled_from(
            ["0.001:run", "flat:", "mass=1", "lean=-1e400", "human", "walk-as-printed", "1e3", "-0", "0x1", "1_0"]
        ),
    ),
)
def test_no_value_of_an_option_gives_a_traceback(option: str, value: str) -> None:
    last = () if option == "--seconds" else SHORT
    if option == "--seconds" and value in ("1e3", "1_0"):
        return  # valid, and long
    outcome = call("simulate", f"{option}={value}", *last, "--json")
    assert outcome.status in (0, 1, 2)
    assert len(outcome.err.splitlines()) == (outcome.status == 2)
    if outcome.status != 2:
        only_object(outcome.out)


# --- list and the rest -------------------------------------------------------------------------------------


def test_list_names_everything_there_is() -> None:
    outcome = call("list", "--json")
    assert outcome.status == 0, outcome.err
    found = only_object(outcome.out)
    assert tuple(found["characters"]) == sf.characters()
    assert tuple(found["skills"]) == sf.skills()
    assert tuple(found["terrains"]) == sf.terrains()
    assert tuple(found["tasks"]) == sf.tasks.names()
    assert "simbicon/planar-fel" in found["experiments"]
    shown = call("list")
    assert shown.status == 0
    assert {"human", "humanoid", "planar"} <= set(found["characters"])
    named = (*sf.skills(), *sf.terrains(), *sf.tasks.names(), *found["experiments"])
    assert all(name in shown.out for name in named)
    assert "".join(f"\n  {name}" for name in sf.characters()) + "\n" in shown.out


def test_list_chooses_by_words_body_and_controller() -> None:
    found = only_object(call("list", "walk", "--character", "human", "--controller", "simbicon", "--json").out)
    assert set(found) == {"skills"}
    assert "human/walk" in found["skills"]
    assert "biped/walk" not in found["skills"]  # of another controller
    for name, summary in found["skills"].items():
        assert name in sf.skills("human")
        assert sf.load_skill(name).controller == "simbicon"
        assert "walk" in f"{name} {summary}".lower()
    shown = call("list", "snow").out  # a word of a summary
    assert "biped/high-step" in shown
    assert "planar" not in shown
    assert "did you mean human?" in refused("list", "--character", "humna")
    assert "valid: genbicon" in refused("list", "--controller", "pid")
    assert "surefoot list" in refused("list", "walk", "no-such-word")


def test_what_is_piped_has_a_line_for_each_row(tmp_path: Path) -> None:
    lines = start("list", "--character", "human", cwd=tmp_path).out.splitlines()
    assert len(lines) == 1 + len(sf.skills("human"))


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    assert "(did you mean human/walk?)" in refused("simulate", "human/wlak")
    assert "(did you mean biped/zombie?)" in refused("simulate", "humanoid/zombie")
    assert "did you mean" not in refused("simulate", "xyzzy")
    assert "(did you mean simbicon/planar-gaits?)" in refused("reproduce", "simbicon/planar-gait")


def test_show_tells_what_a_skill_is_and_every_number_by_the_path_that_tune_takes(tmp_path: Path) -> None:
    found = only_object(call("show", "planar/walk", "--parameters", "--json").out)
    assert found["controller"] == "simbicon"
    assert found["commands"]["speed"]["unit"] == "m/s"
    value = found["parameters"]["states.1.cd"]
    assert sf.load_skill("planar/walk").parameters.states[1].cd == value
    changed = sf.with_parameters(sf.load_skill("planar/walk"), {"states.1.cd": value + 0.1})
    assert changed.parameters.states[1].cd == value + 0.1
    shown = call("show", "human/walk", "--save", tmp_path / "walk.png")
    assert shown.status == 0
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")
    assert "stepping-walk" in shown.out  # its slow part
    assert "m/s" in shown.out
    assert ".png" in refused("show", "planar/walk", "--save", "walk.mp4")


def test_doctor_says_what_is_there_and_what_is_missing_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.cli import doctor

    here = call("doctor", "--json")
    assert here.status == 0
    found = {one["what"]: one for one in json.loads(here.out)}
    assert found["mujoco"]["found"] == mujoco.__version__
    assert found["a first step"]["found"] == "a body walks"
    installed = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name in ("numba", "gymnasium") else installed(name))
    lacking = call("doctor")
    assert lacking.status == 1  # numba is needed for everything
    assert "surefoot[gym]" in lacking.out


def test_what_would_happen_after_the_end_is_refused() -> None:
    assert "--seconds" in refused("simulate", "walk", "--seconds", "2", "--push", "5,100,0,0,0.1")
    assert "--seconds" in refused("simulate", "walk", "--seconds", "2", "--switch", "2:run")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for a display as Linux does")
def test_a_window_without_a_display_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    hidden = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "simulate", "walk", "--view"],
        cwd=tmp_path, env=hidden, capture_output=True, text=True, timeout=HANGS, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no display" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_summary_has_units_and_says_did_not_fall() -> None:
    shown = call("simulate", "walk", "--seconds", "1").out
    assert "did not fall" in shown
    assert "m/s" in shown
    assert "None" not in shown


@pytest.mark.parametrize("arguments", [("fly",), ("--wings",), ("list", "--x"), ("bench", "--wings"), ("tune",)])
def test_an_unknown_command_or_option_is_bad_input(arguments: tuple[str, ...]) -> None:
    refused(*arguments)


def test_help_is_status_0() -> None:
    for command in ((), ("simulate",), ("reproduce",), ("tune",), ("bench",), ("list",), ("show",), ("doctor",)):
        assert call(*command, "-h").status == 0
        outcome = call(*command, "--help")
        assert outcome.status == 0
        assert "Usage" in outcome.out
    told = " ".join(call("simulate", "--help").out.split())
    assert all(name in told for name in (*sf.terrains(), *COMMANDS, "m/s", "kg", "--in-place", "--self-collision"))


def test_bench_prints_one_json_object_and_its_status_follows_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    for holds, status in ((True, 0), (None, 0), (False, 1)):
        row = {"case": "a", "ours": "1", "bar": "≤ 2", "holds": holds}
        monkeypatch.setattr(benchmarks, "measure_all", lambda quick, tick, row=row: [row])
        outcome = call("bench", "--json")
        assert outcome.status == status
        only_object(outcome.out)


# --- reproduce ---------------------------------------------------------------------------------------------


def test_bad_input_to_reproduce_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    name = "simbicon/planar-fel"
    assert name in refused("reproduce", "simbicon/flying")
    assert name in refused("reproduce", name, "nope")
    assert "seed" in refused("reproduce", name, "--seed", "-1")
    for arguments in (
        ("--json", "no/folder/result.json"), ("--json", "file/result.json"), ("--json", "."), ("--out", "file"),
        ("--out", "file/below", "--json", "result.json"),
    ):  # fmt: skip
        refused("reproduce", name, "--quick", *arguments)
    assert os.listdir(tmp_path) == ["file"]


def test_reproduce_writes_its_format_and_takes_up_what_is_finished(tmp_path: Path) -> None:
    arguments = ("reproduce", "simbicon/planar-fel", "--quick", "--json", "result.json", "--out", "out")
    outcome = call(*arguments)
    results = json.loads((tmp_path / "result.json").read_text())
    assert [r["experiment"] for r in results] == ["simbicon/planar-fel"]
    assert {"experiment", "paper", "rows", "also"} <= set(results[0])
    for row in results[0]["rows"]:
        assert set(row) == {"case", "paper", "ours", "unit", "holds"}
        assert all(isinstance(row[key], str) for key in ("case", "paper", "ours", "unit"))
        assert row["holds"] in (True, False)
        assert row["holds"] is not None
    assert outcome.status == (0 if all(row["holds"] for row in results[0]["rows"]) else 1)
    assert "quick" in outcome.out
    kept = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {"runs.csv", "figure-7.png", "result.json"} == kept
    with mock.patch.object(sf.Population, "run", side_effect=AssertionError("simulated again")):
        again = call(*arguments[:3], "--json", "again.json", "--out", "out")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "result.json").read_bytes()
    assert again == outcome


def counted(result: Result, setting: Setting) -> None:
    """An experiment that leaves a mark each time it runs."""
    assert setting.out is not None
    with (setting.out / "marks").open("a") as file:
        file.write("x")
    holds: Any = np.bool_(True)  # as a comparison of arrays gives it
    result.add_row("case", "1", "1", "m", holds)
    result.runs.append({"case": "case", "speed": 1.0})


def test_a_finished_experiment_is_taken_up_only_for_the_same_seed_and_thoroughness(tmp_path: Path) -> None:
    experiment = Experiment("paper/claim", "A paper", counted)
    for setting in (Setting(0, True, tmp_path), Setting(0, True, tmp_path)):
        assert run_experiment(experiment, setting).holds
    assert (tmp_path / "marks").read_text() == "x"
    for setting in (Setting(1, True, tmp_path), Setting(1, False, tmp_path)):
        assert run_experiment(experiment, setting).holds
    assert (tmp_path / "marks").read_text() == "xxx"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"3", b"null", b'"text"', b"[]", b"{}", b"\xff\xfe", b'{"key": 1}', b'{"key": null, "rows": 3}'],
)
def test_a_damaged_result_is_computed_again(tmp_path: Path, content: bytes) -> None:
    experiment, setting = Experiment("paper/claim", "A paper", counted), Setting(0, True, tmp_path)
    run_experiment(experiment, setting)
    (tmp_path / "paper-claim" / "result.json").write_bytes(content)
    assert run_experiment(experiment, setting).holds
    assert (tmp_path / "marks").read_text() == "xx"


def test_an_experiment_that_cannot_run_has_one_row_that_does_not_hold_and_is_not_kept(tmp_path: Path) -> None:
    def fails(result: Result, setting: Setting) -> None:
        result.add_row("before the failure", "1", "1", "m", True)
        raise ZeroDivisionError("no steps were taken")

    result = run_experiment(Experiment("paper/claim", "A paper", fails), Setting(0, True, tmp_path))
    assert [(row.holds, "no steps were taken" in row.ours) for row in result.rows] == [(False, True)]
    assert not result.holds
    assert not (tmp_path / "paper-claim" / "result.json").exists()


def test_an_experiment_without_rows_does_not_hold(tmp_path: Path) -> None:
    assert not run_experiment(Experiment("paper/claim", "A paper", lambda result, setting: None), Setting()).holds


# --- tune --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        (("walk",), "PATH=LOW:HIGH"),
        (("fly", *CD), "planar/walk"),
        (("walk", "--parameter", "states.1.cd"), "PATH=LOW:HIGH"),
        (("walk", "--parameter", "states.1.cd=4:0"), "low < high"),
        (("walk", "--parameter", "states.1.cd=nan:1"), "low < high"),
        (("walk", "--parameter", "states.1.cd=0:inf"), "finite"),
        (("walk", "--parameter", "states.1.until=0:1"), "not a number"),
        (("walk", "--parameter", "states.9.cd=0:1"), "states.9.cd"),
        (("walk", "--parameter", "wings.cd=0:1"), "wings"),
        (("walk", "--parameter", "states.0.targets.tail=0:1"), "tail"),
        (("walk", "--parameter", "states.1.cd=900:901"), "20"),
        (("walk", *CD, "--terrain", "moon"), "bumps, flat, gaps, image"),
        (("walk", *CD, "--generations", "0"), "1"),
        (("walk", *CD, "--seconds", "nan"), "600"),
        (("walk", *CD, "--seed", "-5"), "seed"),
        (("walk", *CD, "--near", "nan"), "near"),
        (("walk", *CD, "--save", "no/folder/tuned.yaml", "--checkpoint", "search.json"), "cannot write"),
    ],
)
def test_bad_input_to_tune_is_refused_before_the_search_begins(
    tmp_path: Path, arguments: tuple[str, ...], valid: str
) -> None:
    generations = () if "--generations" in arguments else ("--generations", "400")
    with mock.patch("cma.CMAEvolutionStrategy", side_effect=AssertionError("the search began")):
        assert valid in refused("tune", *arguments, *generations)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("save", ["tuned.yaml", "Tuned 2.yaml", "läufer.yaml", "Walk.yaml"])
def test_a_tuned_skill_is_a_skill_whatever_its_file_is_called(tmp_path: Path, save: str) -> None:
    assert call("tune", "walk", *CD, *TUNE, "--save", save).status == 0
    skill = sf.load_skill(tmp_path / save)
    assert 0.0 <= skill.parameters.states[1].cd <= 4.0
    assert "walk" in skill.provenance.source


def test_a_skill_file_of_ones_own_can_be_tuned(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(WALK.replace("name: walk", "name: mine").replace("cv: 0.20", "cv: 0.25"))
    assert call("tune", "mine.yaml", *CD, *TUNE, "--save", "better.yaml").status == 0
    assert sf.load_skill(tmp_path / "better.yaml").parameters.states[0].cv == 0.25


@pytest.mark.parametrize(
    "content",
    [b"{", b"3", b"[]", b"{}", b"\xff", b'{"parameters": ["states.1.cd"], "seed": 0, "costs": [[1.0]]}',
     b'{"parameters": ["states.0.cd"], "seed": 0, "costs": []}'],
)  # fmt: skip
def test_a_checkpoint_that_is_damaged_or_of_another_search_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "search.json"
    path.write_bytes(content)
    assert "search.json" in refused("tune", "walk", *CD, *TUNE, "--checkpoint", path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["search.json"]


def test_tune_says_what_differs_from_the_search_of_a_checkpoint_and_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    arguments = ("tune", "walk", *CD, *TUNE, "--checkpoint", path)
    assert call(*arguments).status == 0
    (tmp_path / "tuned.yaml").unlink()
    told = refused(*arguments, "--push", "600", "--near", "0.5")
    assert "near was 0.05, now 0.5; pushes was 0, now 600." in told
    assert "--checkpoint" in told
    assert os.listdir(tmp_path) == ["search.json"]


@pytest.mark.parametrize("skill", ["planar/skip", "human/walk-as-printed"])
def test_the_numbers_of_a_gait_do_not_depend_on_the_frame_rate(skill: str) -> None:
    rates = ("15", "100", "977")
    found = [only_object(call("simulate", skill, "--seconds", "6.3", "--fps", fps, "--json").out) for fps in rates]
    assert found[0]["cadence"] > 1.0
    assert found[0] == found[1] == found[2]
