from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation, Slerp

import surefoot as sf
from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.motion_editing import cut_loop, frame_rate, in_place, resample

PERIOD, SPEED, TURN = 1.13, 1.2, 0.2  # [s], [m/s], [rad/s]
BODY = """<mujoco><worldbody><body name="hips" pos="0 0 1"><freejoint/><geom size=".1"/>
<body name="left_leg" pos="0 .1 0"><joint axis="0 1 0"/><geom type="box" size=".1 .1 .4"/></body>
<body name="right_leg" pos="0 -.1 0"><joint axis="0 1 0"/><geom type="box" size=".1 .1 .4"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def walk() -> Motion:
    return sf.Simulation("planar", "walk").run(5.0, fps=120)


def stroll(seconds: float = 4.0, fps: float = 100.0, turn: float = TURN, drift: float = 0.0) -> Motion:
    """A walk in space: two legs that swing and spread, a pelvis that bobs, sways and yaws, a heading that turns.

    Args:
        seconds: its length.
        fps: frames per second.
        turn: of the heading [rad/s].
        drift: of the left leg's mean angle [rad/s], so that no two cycles are quite the same.
    """
    time = 3.0 + np.arange(round(seconds * fps) + 1) / fps
    phase, heading = 2.0 * np.pi * time / PERIOD, 0.4 + turn * time
    pelvis = np.column_stack([0.05 * np.sin(phase), 0.03 + 0.04 * np.cos(2 * phase), 0.1 * np.sin(phase)])
    legs = [
        np.column_stack([0.1 * np.cos(phase), s * 0.5 * np.sin(phase) + (s > 0) * drift * time, 0.05 * np.sin(phase)])
        for s in (1.0, -1.0)
    ]
    turns = [quat.multiply(quat.about_vertical(heading), quat.exp(pelvis)), *map(quat.exp, legs)]
    steps = SPEED / fps * np.column_stack([np.cos(heading), np.sin(heading)])
    sway = 0.03 * np.sin(phase)[:, None] * np.column_stack([-np.sin(heading), np.cos(heading)])
    places = np.column_stack([np.cumsum(steps, axis=0) + sway, 0.9 + 0.02 * np.cos(2 * phase)])
    skeleton = Skeleton(
        ("hips", "left_leg", "right_leg"), np.array([-1, 0, 0]), np.array([[0.0, 0, 0], [0, 0.1, 0], [0, -0.1, 0]])
    )
    return Motion(time, skeleton, places, np.stack(turns, axis=1))


def angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.linalg.norm(quat.log(quat.multiply(quat.inverse(one), other)), axis=-1)


def poses(motion: Motion) -> np.ndarray:
    """(n, bodies, 7) places and quaternions of the model's bodies, posed by `qpos`."""
    assert motion.scene is not None
    model, found = motion.scene.model, []
    data = mujoco.MjData(model)
    for frame in motion.qpos:
        data.qpos[:] = frame
        mujoco.mj_kinematics(model, data)
        found.append(np.hstack([data.xpos[1:], data.xquat[1:]]))
    return np.array(found)


def assert_in_step(motion: Motion) -> None:
    """`qpos` says the same as root and rotations."""
    assert motion.qpos.size
    bodies = poses(motion)
    np.testing.assert_allclose(bodies[:, 0, :3], motion.root_position, atol=1e-6)
    assert angles(bodies[:, 0, 3:], motion.rotations[:, 0]).max() < 1e-6
    for joint in range(1, len(motion.skeleton.names)):
        parent = motion.skeleton.parents[joint]
        local = quat.multiply(quat.inverse(bodies[:, parent, 3:]), bodies[:, joint, 3:])
        assert angles(local, motion.rotations[:, joint]).max() < 1e-6


def embodied(motion: Motion) -> Motion:
    """A stroll whose legs only swing, with the coordinates of a body with a free root."""
    scene: Any = SimpleNamespace(model=mujoco.MjModel.from_xml_string(BODY))
    swings = quat.log(motion.rotations[:, 1:])[:, :, 1]
    rotations = motion.rotations.copy()
    rotations[:, 1:] = quat.exp(swings[:, :, None] * np.array([0.0, 1.0, 0.0]))
    qpos = np.column_stack([motion.root_position, rotations[:, 0], swings])
    return replace(motion, rotations=rotations, qpos=qpos, scene=scene)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0, 333.3])
def test_frames_are_even_and_between_their_neighbours(fps: float) -> None:
    motion = stroll(2.0, 50.0)
    found = resample(motion, fps)
    np.testing.assert_allclose(np.diff(found.time), 1.0 / fps, atol=1e-12)
    assert 0.0 <= motion.time[-1] - found.time[-1] < 1.0 / fps
    assert frame_rate(found) == pytest.approx(fps)
    for axis in range(3):
        x = np.interp(found.time, motion.time, motion.root_position[:, axis])
        np.testing.assert_allclose(found.root_position[:, axis], x, atol=1e-12)
    for joint in range(3):
        true = Slerp(motion.time, Rotation.from_quat(motion.rotations[:, joint], scalar_first=True))(found.time)
        assert angles(true.as_quat(scalar_first=True), found.rotations[:, joint]).max() < 1e-9


def test_the_sign_of_quaternions_does_not_change_the_way_between_them() -> None:
    motion = stroll(1.0, 30.0)
    signs = np.random.default_rng(2).choice([-1.0, 1.0], size=(len(motion), 3, 1))
    flipped = replace(motion, rotations=signs * motion.rotations)
    assert angles(resample(motion, 77.0).rotations, resample(flipped, 77.0).rotations).max() < 1e-9


def test_the_same_rate_changes_nothing() -> None:
    motion = stroll()
    found = resample(motion, 100.0)
    assert np.array_equal(found.rotations, motion.rotations)
    np.testing.assert_allclose(found.time, motion.time, atol=1e-9)


def test_everything_that_was_simulated_is_carried_along(walk: Motion) -> None:
    half = resample(walk, 60.0)
    for name, table in walk.arrays().items():
        there = half.arrays()[name]
        assert there.dtype == table.dtype
        assert there.shape == (table.shape if name.startswith("skeleton") else (301, *table.shape[1:]))
    assert set(half.state) <= set(walk.state)
    assert_in_step(half)
    assert_in_step(resample(embodied(stroll(1.0)), 37.0))


def test_whole_keeps_the_last_frame_by_stretching_time() -> None:
    motion = stroll(1.013, 1000.0)
    found = resample(motion, 30.0, whole=True)
    assert len(found) == 31
    np.testing.assert_allclose(np.diff(found.time), 1.0 / 30.0, atol=1e-12)
    assert found.root_position[-1] == pytest.approx(motion.root_position[-1])


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf"), 1e6])
def test_rates_that_make_no_sense_are_refused(fps: float, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="frames per second"):
        stroll(0.5).save(tmp_path / "no.npz", fps=fps)
    assert not list(tmp_path.iterdir())


def test_too_many_frames_are_refused() -> None:
    long = replace(stroll(0.5), time=np.linspace(0.0, 1e5, 51))
    with pytest.raises(OutputError, match="at most 1000000 frames"):
        resample(long, 1000.0)


@pytest.mark.parametrize("turn", [0.0, TURN, -1.7])
def test_in_place_has_no_travel_and_no_turn_but_keeps_bob_and_sway(turn: float) -> None:
    motion = stroll(4 * PERIOD, 100.0 / PERIOD, turn)  # whole cycles
    still = in_place(motion)
    assert still.root_position[-1] == pytest.approx(still.root_position[0], abs=1e-9)
    assert angles(still.rotations[0], still.rotations[-1]).max() < 1e-9
    assert np.array_equal(still.root_position[:, 2], motion.root_position[:, 2])
    assert np.array_equal(still.rotations[:, 1:], motion.rotations[:, 1:])
    assert still.root_position[:, :2].mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    left = np.array([-np.sin(0.4 + 3.0 * turn), np.cos(0.4 + 3.0 * turn)])  # at the first frame
    phase = 2.0 * np.pi * motion.time / PERIOD
    sway, surge = still.root_position[:, :2] @ left, still.root_position[:, :2] @ [left[1], -left[0]]
    assert np.corrcoef(sway, np.sin(phase))[0, 1] > 0.99
    assert np.ptp(sway) == pytest.approx(0.06, rel=0.05)
    assert np.ptp(surge) < 0.006
    assert np.ptp(quat.yaw(still.rotations[:, 0])) == pytest.approx(0.2, rel=0.1)


def test_in_place_moves_everything_else_along(walk: Motion) -> None:
    still = in_place(walk)
    assert np.abs(still.root_position[:, 0]).max() < 0.5 < walk.root_position[-1, 0]
    np.testing.assert_allclose(still.com - still.root_position, walk.com - walk.root_position, atol=1e-12)
    assert not still.qvel.size
    assert_in_step(still)
    body = embodied(stroll())
    turned = in_place(
        replace(body, com=body.root_position + np.array([0.1, 0.0, 0.0]), contact_force=np.ones((len(body), 2, 3)))
    )
    assert_in_step(turned)
    heading = quat.yaw(turned.rotations[:, 0]) - quat.yaw(body.rotations[:, 0])
    ahead = turned.com - turned.root_position
    np.testing.assert_allclose(ahead[:, :2], 0.1 * np.column_stack([np.cos(heading), np.sin(heading)]), atol=1e-9)
    np.testing.assert_allclose(turned.contact_force[..., 2], 1.0)
    np.testing.assert_allclose(np.linalg.norm(turned.contact_force, axis=-1), np.sqrt(3.0))


def test_a_planar_body_that_would_have_to_turn_loses_its_coordinates(walk: Motion) -> None:
    turns = walk.rotations.copy()
    turns[:, 0] = quat.multiply(quat.about_vertical(0.1 * walk.time), turns[:, 0])
    assert not in_place(replace(walk, rotations=turns)).qpos.size


@pytest.mark.parametrize("skill", ["walk", "run", "fast-run"])
def test_a_loop_of_a_simulated_gait_is_one_stride_without_a_seam(skill: str) -> None:
    motion = sf.Simulation("planar", skill).run(5.0, fps=120)
    found = cut_loop(motion)
    left = motion.time[[frame for frame, foot in footstrikes(motion) if foot == 0]]
    assert found.time[0] == 0.0
    assert found.time[-1] == pytest.approx(np.median(np.diff(left)[-3:]), abs=0.03)
    np.testing.assert_allclose(found.rotations[-1], found.rotations[0], atol=1e-12)
    assert found.root_position[-1, 2] == pytest.approx(found.root_position[0, 2], abs=1e-12)
    assert found.root_position[-1, 0] - found.root_position[0, 0] > 0.3
    np.testing.assert_allclose(found.qpos[-1, 1:], found.qpos[0, 1:], atol=1e-9)
    assert_in_step(found)
    nearest = min(
        angles(found.rotations, motion.rotations[first : first + len(found)]).max()
        for first in range(len(motion) - len(found) + 1)
    )
    assert nearest < np.radians(6.0)  # it is what was recorded, hardly changed


@pytest.mark.parametrize("known", ["contact_force", "phase", "nothing"])
def test_strikes_and_phase_and_likeness_find_the_same_period(walk: Motion, known: str) -> None:
    bare = Motion(walk.time, walk.skeleton, walk.root_position, walk.rotations)
    told = bare if known == "nothing" else replace(bare, **{known: getattr(walk, known)})
    assert cut_loop(told).time[-1] == pytest.approx(0.7165, abs=0.01)


@pytest.mark.parametrize("drift", [0.0, 0.02])
def test_a_loop_of_a_turning_walk_keeps_its_turn(drift: float) -> None:
    found = cut_loop(stroll(drift=drift))
    assert found.time[-1] == pytest.approx(PERIOD, abs=0.011)
    back = quat.about_vertical(-quat.yaw(found.rotations[:, 0])[[0, -1]])
    first, last = (quat.multiply(back[i], found.rotations[i, 0]) for i in (0, -1))
    assert angles(first, last) < 1e-9
    assert angles(found.rotations[0, 1:], found.rotations[-1, 1:]).max() < 1e-9
    assert np.diff(quat.yaw(found.rotations[:, 0])[[0, -1]])[0] == pytest.approx(TURN * PERIOD, abs=0.02)


def test_a_small_net_turn_is_a_drift_and_closed() -> None:
    found = cut_loop(embodied(stroll(turn=0.03)))
    assert angles(found.rotations[0], found.rotations[-1]).max() < 1e-9
    assert_in_step(found)


def test_a_loop_in_place_ends_exactly_where_it_began() -> None:
    found = in_place(cut_loop(stroll(drift=0.01)))
    assert found.root_position[-1] == pytest.approx(found.root_position[0], abs=1e-9)
    assert angles(found.rotations[0], found.rotations[-1]).max() < 1e-9


def wandering() -> Motion:
    """Joints that go anywhere and never come back together."""
    motion, generator = stroll(), np.random.default_rng(5)
    ways = generator.normal(size=(len(motion), 3, 3)).cumsum(axis=0) * 0.05
    return replace(motion, rotations=quat.exp(ways))


def rising() -> Motion:
    motion = stroll()
    ways = (motion.time - 3.0)[:, None, None] * np.array([[0.0, 0.2, 0], [0, 0.5, 0.1], [0, -0.4, 0]])
    return replace(motion, rotations=quat.exp(ways))


@pytest.mark.parametrize(
    "motion",
    [
        wandering(),
        rising(),
        stroll(0.8 * PERIOD),
        replace(stroll(), rotations=np.tile([1.0, 0, 0, 0], (401, 3, 1))),
        stroll(0.0),
    ],
    ids=["wanders", "rises", "shorter than a cycle", "stands", "one frame"],
)
def test_where_there_is_no_cycle_there_is_no_loop(motion: Motion, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no cycle"):
        motion.save(tmp_path / "loop.npz", loop=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [{"loop": True}, {"root_motion": False}])
def test_numbers_that_blew_up_are_refused(options: dict[str, bool], tmp_path: Path) -> None:
    motion = stroll()
    for spoilt in (
        replace(motion, root_position=motion.root_position * np.nan),
        replace(motion, rotations=np.where(motion.rotations > 0.99, np.inf, motion.rotations)),
    ):
        with pytest.raises(OutputError, match="not finite"):
            spoilt.save(tmp_path / "blown.npz", **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".npz", ".bvh"])
def test_a_saved_loop_ends_on_a_frame_of_the_asked_rate(walk: Motion, tmp_path: Path, suffix: str) -> None:
    walk.save(tmp_path / f"loop{suffix}", fps=30, root_motion=False, loop=True)
    found = sf.load_motion(tmp_path / f"loop{suffix}")
    assert len(found) == 1 + round(0.7165 * 30)
    np.testing.assert_allclose(np.diff(found.time), 1.0 / 30.0, atol=1e-9)
    assert angles(found.rotations[0], found.rotations[-1]).max() < 1e-9
    assert found.root_position[-1] == pytest.approx(found.root_position[0], abs=1e-8)


def test_pictures_and_tables_take_the_same_options(walk: Motion, tmp_path: Path) -> None:
    for suffix in (".csv", ".gif", ".png", ".glb"):
        walk.save(tmp_path / f"loop{suffix}", fps=25, root_motion=False, loop=True)
    with Image.open(tmp_path / "loop.gif") as film:
        assert film.n_frames == 1 + round(0.7165 * 25)  # type: ignore[attr-defined]
    assert len((tmp_path / "loop.csv").read_text().splitlines()) == 2 + round(0.7165 * 25)
