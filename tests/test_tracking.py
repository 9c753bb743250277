"""Tracking: the table and its law, reconstruction by sampling, and the feedback that keeps a motion up."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.characters import load as load_character
from surefoot.controllers.tracking import law
from surefoot.controllers.tracking.table import FRAMES, ROOT, TrackingTable, load_table
from surefoot.engine.scene import Scene, Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SurefootError
from surefoot.lab.reconstruction import Reconstructor
from surefoot.lab.tracking_document import tracking_document
from surefoot.lab.tracking_feedback import FeedbackLearner
from surefoot.lab.tracking_guess import guessed_offsets
from surefoot.lab.tracking_reference import MotionToTrack, blank_table
from surefoot.lab.tracking_rows import TrackingRows
from surefoot.lab.tracking_skill import learn
from surefoot.lab.tracking_states import closed_table, differences, displaced, in_first_cycle
from surefoot.skills import files

WINDOWS, WINDOW = 12, 0.05
HUMAN = load_character("human")
ACTUATORS = len(HUMAN.gains)


def standing_motion(model: mujoco.MjModel) -> MotionToTrack:
    """A loop in which somebody stands, bends his knees a little and swings his arms."""
    sim = Simulation(skill="human/stand")
    sim.step(800)
    phase = np.arange(WINDOWS * FRAMES + 1) / (WINDOWS * FRAMES)
    poses = np.tile(sim.data.qpos[:35], (len(phase), 1))
    poses[:, :2] = 0.0
    poses[:, 3:7] = [1.0, 0.0, 0.0, 0.0]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        poses[:, model.joint(f"{side}_shoulder").qposadr[0]] += 0.2 * sign * np.sin(2.0 * np.pi * phase)
    return MotionToTrack(WINDOW, poses, poses.copy(), True, 0.0, 0)


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return Scene(Setup(character="human", skill="stand")).model


@pytest.fixture(scope="module")
def stand(model: mujoco.MjModel) -> TrackingTable:
    motion = standing_motion(model)
    return replace(blank_table(model, HUMAN, motion), offsets=guessed_offsets(model, HUMAN, motion))


@pytest.fixture
def rows(stand: TrackingTable, tmp_path: Path) -> TrackingRows:
    return TrackingRows(40, stand, "human", tmp_path, 0.002)


def random_errors(n: int, seed: int = 3) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).standard_normal((n, ROOT + 2 * ACTUATORS))


def skill_of(table: TrackingTable, folder: Path, **parameters: object) -> object:
    path = folder / "table.npz"
    table.save(path)
    document = tracking_document(table, HUMAN, "tried", str(path), "made-up")
    document["parameters"] |= parameters
    return files.validate(document, "tried")


# --------------------------------------------------------------------------------------------- the table


def test_a_table_is_read_as_it_was_written(stand: TrackingTable, tmp_path: Path) -> None:
    stand.save(tmp_path / "one.npz")
    found = load_table(tmp_path / "one.npz")
    assert found.windows == WINDOWS
    assert found.loops
    assert np.array_equal(found.offsets, stand.offsets)
    assert np.array_equal(found.qpos, stand.qpos)


@pytest.mark.parametrize("broken", ["empty", "other", "shape", "nan"])
def test_a_file_that_is_no_table_is_refused_in_one_line(stand: TrackingTable, tmp_path: Path, broken: str) -> None:
    path = tmp_path / "broken.npz"
    if broken == "empty":
        path.write_bytes(b"")
    elif broken == "other":
        np.savez(path, poses=np.zeros(3))
    else:
        wrong = stand.offsets[:-1] if broken == "shape" else np.full_like(stand.offsets, np.nan)
        replace(stand, **({"gains": stand.gains[:-1]} if broken == "shape" else {"offsets": wrong})).save(path)
    with pytest.raises(SurefootError, match="broken"):
        load_table(path)


def test_displacing_states_undoes_their_difference(stand: TrackingTable) -> None:
    errors, headings = random_errors(WINDOWS), np.linspace(-2.0, 3.0, WINDOWS)
    qpos, qvel = displaced(stand.qpos, stand.qvel, headings, errors)
    assert differences(stand.qpos, stand.qvel, headings, qpos, qvel) == pytest.approx(errors, abs=1e-9)


def test_a_run_around_a_circle_is_moved_back_to_its_first_cycle(stand: TrackingTable) -> None:
    turning = replace(stand, turn=0.7, travel=np.array([1.0, 0.3]))
    there, moves = stand.qpos[:1].copy(), stand.qvel[:1].copy()
    there[:, :2] = [1.0, 0.3]
    half = 0.35
    there[:, 3:7] = [np.cos(half), 0.0, 0.0, np.sin(half)]
    qpos, _ = in_first_cycle(turning, there, moves, 1)
    assert qpos[0, :3] == pytest.approx([0.0, 0.0, stand.qpos[0, 2]])
    assert np.abs(qpos[0, 3:7]) == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-9)


def test_a_loop_is_closed_where_it_closes_best_and_no_jump_is_left(stand: TrackingTable) -> None:
    rng, far = np.random.default_rng(1), 3 * WINDOWS
    drift = np.cumsum(0.01 * rng.standard_normal((far + 1, ROOT + 2 * ACTUATORS)), axis=0)
    at = np.arange(far + 1) % WINDOWS
    qpos, qvel = displaced(stand.qpos[at], stand.qvel[at], stand.headings[at], drift)
    closed = closed_table(stand, qpos, qvel, np.tile(stand.offsets, (3, 1)), np.ones(ROOT + 2 * ACTUATORS))
    steps = np.abs(np.diff(np.vstack([closed.qpos, closed.qpos[:1]])[:, 2], axis=0))
    assert steps.max() < 0.1
    assert closed.offsets == pytest.approx(stand.offsets)


# ----------------------------------------------------------------------------------------------- the law


def test_the_law_measures_the_difference_from_the_window_that_begins(rows: TrackingRows) -> None:
    errors = random_errors(rows.n)
    errors[:, 2] = np.abs(errors[:, 2]) + 0.3  # in the air, so that nothing touches
    windows = np.arange(rows.n) % WINDOWS
    rows.place(windows)
    rows.displace(errors, windows)
    rows.population.step(1)
    assert rows.section("error") == pytest.approx(errors, abs=1e-9)
    assert rows.section("tracker")[:, 2] == pytest.approx(windows)


def test_differences_are_the_same_whichever_way_the_motion_is_turned(rows: TrackingRows) -> None:
    errors, windows, turn = random_errors(rows.n), np.zeros(rows.n, int), 0.9
    errors[:, 2] = 0.5
    rows.place(windows)
    rows.displace(errors, windows)
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, -s], [s, c]])
    rows.qpos[:, :2], rows.qvel[:, :2] = rows.qpos[:, :2] @ spin.T, rows.qvel[:, :2] @ spin.T
    half = np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)])
    for i in range(rows.n):
        mujoco.mju_mulQuat(rows.qpos[i, 3:7], half, rows.qpos[i, 3:7].copy())
    rows.section("tracker")[:, (law.TRACKER.names or ()).index("heading")] = turn
    rows.population.step(1)
    assert rows.section("error") == pytest.approx(errors, abs=1e-9)


def test_displacements_are_the_gains_times_the_difference(rows: TrackingRows, stand: TrackingTable) -> None:
    gains = 0.1 * np.random.default_rng(0).standard_normal(stand.gains.shape)
    rows.follow(replace(stand, gains=gains))
    windows = np.arange(rows.n) % WINDOWS
    rows.place(windows)
    errors = 0.3 * random_errors(rows.n)
    errors[:, 2] = 0.4
    rows.displace(errors, windows)
    rows.population.step(1)
    wanted = stand.offsets[windows] + np.einsum("nij,nj->ni", gains[windows], errors)
    assert rows.section("wanted") == pytest.approx(wanted, abs=1e-9)


def test_a_loop_goes_on_from_where_it_ended(stand: TrackingTable, tmp_path: Path) -> None:
    going = replace(stand, travel=np.array([0.5, 0.2]), turn=0.3)
    rows = TrackingRows(1, going, "human", tmp_path, 0.002)
    rows.place(np.zeros(1, int))
    rows.qpos[:, 2] += 3.0
    rows.population.step(rows.steps * WINDOWS + 1)
    tracker = dict(zip(law.TRACKER.names or (), rows.section("tracker")[0], strict=True))
    assert (tracker["x"], tracker["y"], tracker["heading"]) == pytest.approx((0.5, 0.2, 0.3))
    assert tracker["window"] == 0.0
    rows.population.step(rows.steps * WINDOWS)
    tracker = dict(zip(law.TRACKER.names or (), rows.section("tracker")[0], strict=True))
    c, s = np.cos(0.3), np.sin(0.3)
    assert (tracker["x"], tracker["y"]) == pytest.approx((0.5 + c * 0.5 - s * 0.2, 0.2 + s * 0.5 + c * 0.2))


def test_what_is_followed_once_holds_its_last_window(stand: TrackingTable, tmp_path: Path) -> None:
    rows = TrackingRows(1, replace(stand, back_to=WINDOWS - 1), "human", tmp_path, 0.002)
    rows.place(np.zeros(1, int))
    rows.population.step(rows.steps * (WINDOWS + 3) + 1)
    assert rows.section("tracker")[0, (law.TRACKER.names or ()).index("window")] == WINDOWS - 1


def test_a_skill_begins_in_the_state_of_its_first_window(stand: TrackingTable, tmp_path: Path) -> None:
    moved = 0.3 * random_errors(1)
    moved[:, :3] = moved[:, 12:] = 0.0
    qpos, qvel = displaced(stand.qpos[:1], stand.qvel[:1], stand.headings[:1], moved)
    table = replace(stand, qpos=np.vstack([qpos, stand.qpos[1:]]), qvel=np.vstack([qvel, stand.qvel[1:]]))
    sim = Simulation(skill=skill_of(table, tmp_path))
    assert np.abs(sim.data.qpos[3:7] @ qpos[0, 3:7]) == pytest.approx(1.0, abs=1e-9)
    assert sim.data.qvel[:6] == pytest.approx(qvel[0, :6], abs=1e-5)
    joints = [sim.model.joint(name).qposadr[0] for name in HUMAN.gains]
    assert sim.data.qpos[joints] == pytest.approx(qpos[0, 7:], abs=1e-5)


def test_switching_to_a_table_that_the_simulation_was_built_without_is_refused(
    stand: TrackingTable, tmp_path: Path
) -> None:
    skill = skill_of(stand, tmp_path)
    sim = Simulation(skill="human/walk")
    with pytest.raises(CommandError, match="name it in `skills`"):
        sim.switch(skill)  # type: ignore[arg-type]
    both = Simulation(skill="human/stand", skills=[skill])  # type: ignore[list-item]
    both.switch(skill)  # type: ignore[arg-type]
    both.step(1500)
    assert both.memory.slots[int(both.memory.header[0].active), 0] == both.memory.slots[1, 0]


# ---------------------------------------------------------------------------------- sampling and learning


def test_torques_of_standing_are_found_without_a_simulation(model: mujoco.MjModel, stand: TrackingTable) -> None:
    """Weight alone: every joint of the legs bears less than the body's weight a hand's breadth away."""
    stiffness = np.array([gain.kp for gain in HUMAN.gains.values()])
    assert np.abs(stand.offsets * stiffness).max() < 0.15 * 89.57 * 9.81


def test_sampling_finds_the_same_with_the_same_seed_and_goes_on_from_a_checkpoint(
    rows: TrackingRows, tmp_path: Path
) -> None:
    found = Reconstructor(rows, 2 * WINDOWS, 8, seed=5).run()
    assert len(found.offsets) == 2 * WINDOWS
    assert found.costs.mean() < 3.0
    again = Reconstructor(rows, 2 * WINDOWS, 8, seed=5).run(tmp_path / "search.npz")
    assert np.array_equal(found.qpos, again.qpos)
    resumed = Reconstructor(rows, 2 * WINDOWS, 8, seed=5).run(tmp_path / "search.npz")
    assert np.array_equal(found.offsets, resumed.offsets)
    other = Reconstructor(rows, 2 * WINDOWS, 8, seed=6).run()
    assert not np.array_equal(found.offsets, other.offsets)


def test_learned_feedback_keeps_up_what_falls_without_it(rows: TrackingRows, stand: TrackingTable) -> None:
    learner = FeedbackLearner(rows, seed=1)
    assert learner.trial(stand, 6.0, 10).survived.mean() < 0.9
    table, found = learn(learner, stand, 3, lambda text, share: None)
    assert found.survived.min() == 1.0
    assert np.abs(table.gains).max() > 0.1


def test_a_missing_clip_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "track", tmp_path / "none.bvh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "none.bvh" in done.stderr


@pytest.mark.parametrize("at", [-1.0, 1e12, np.nan, np.inf])
def test_a_row_whose_table_is_said_to_lie_outside_of_the_model_goes_limp(at: float) -> None:
    sim = Simulation(skill="human/tracked-walk")
    sim.step(5)
    assert np.abs(sim.data.ctrl).max() > 0.0
    sim.memory.slots[:, list(law.PLAN.names or ()).index("table")] = at
    sim.step(5)
    assert np.abs(sim.data.ctrl).max() == 0.0
    assert np.isfinite(sim.data.qpos).all()
