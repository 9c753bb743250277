"""Balls: parked they do nothing, thrown they fly, hit and are part of the state; pictures show only those that fly."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from conftest import bits
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, TerrainError
from surefoot.motions import bvh, posed_body
from surefoot.terrains import Ball, flat, load, with_props
from surefoot.terrains.balls import ball_bodies, is_parked

BALLS = (Ball(0.08), Ball(0.12), Ball(0.3, 50.0))
BODIES = [(None, "planar/walk"), (None, "human/fast-walk"), ("humanoid", "biped/sneak")]


def world(character: str | None, skill: str, ground: str = "flat") -> Simulation:
    return Simulation(character, skill, with_props(load(ground), BALLS))


def throw_from_behind(sim: Simulation, ball: int = 1, speed: float = 8.0) -> None:
    """At the torso, which it overtakes within half a second."""
    mujoco.mj_forward(sim.model, sim.data)
    torso = sim.data.xipos[sim.model.body(sim.scene.table.anatomy.torso).id]
    sim.throw((torso[0] - 1.5, torso[1], torso[2]), (speed, 0.0, 1.0), ball)


def forward_speed(sim: Simulation) -> float:
    """Of the whole body [m/s]."""
    mujoco.mj_subtreeVel(sim.model, sim.data)
    return float(sim.data.subtree_linvel[1, 0])


def hits(sim: Simulation, ball: int) -> set[int]:
    """Bodies that touch a ball in the last step."""
    pairs = sim.model.geom_bodyid[np.array(sim.data.contact.geom).reshape(-1, 2)]
    body = ball_bodies(sim.model)[ball]
    return {int(other) for pair in pairs if body in pair for other in pair if other != body}


@pytest.mark.parametrize(("radius", "density"), [(0.12, 50.0), (0.2, 431.0)])
def test_radius_and_density_reach_the_model(radius: float, density: float) -> None:
    ball = Ball(radius, density)
    model = Simulation(None, "planar/walk", with_props(flat(), [ball])).model
    assert model.geom_size[model.geom("ball_0").id, 0] == radius
    assert model.body_mass[ball_bodies(model)[0]] == pytest.approx(density * 4.0 / 3.0 * math.pi * radius**3, rel=1e-9)
    assert model.body_mass[ball_bodies(model)[0]] == pytest.approx(ball.mass, rel=1e-9)


@pytest.mark.parametrize(
    ("radius", "density"), [(0.0, 50.0), (2.0, 50.0), (0.1, -1.0), (math.nan, 50.0), (0.1, math.inf)]
)
def test_a_ball_that_cannot_be_built_is_refused(radius: float, density: float) -> None:
    with pytest.raises(TerrainError, match="a ball takes a radius"):
        Ball(radius, density)


@pytest.mark.parametrize(("character", "skill"), BODIES)
def test_parked_balls_do_not_move_and_meet_nothing(character: str | None, skill: str) -> None:
    sim = world(character, skill)
    own = sim.model.nq - 7 * len(BALLS)
    before = sim.data.qpos[own:].copy()
    for _ in range(50):
        sim.step(40)
        assert not any(hits(sim, ball) for ball in range(len(BALLS)))
    assert np.array_equal(sim.data.qpos[own:], before)
    assert not sim.data.qvel[-6 * len(BALLS) :].any()


def test_a_parked_ball_is_where_it_was_after_ten_minutes() -> None:
    sim = Simulation(None, "planar/walk", with_props(flat(), [Ball()]), timestep=0.005)
    before = sim.data.qpos[-7:].copy()
    idle = mujoco.MjData(sim.model)  # without a character's memory there is nothing to control
    idle.qpos[:] = sim.data.qpos
    mujoco.mj_step(sim.model, idle, round(600.0 / 0.005))
    assert idle.time == pytest.approx(600.0)
    assert np.array_equal(idle.qpos[-7:], before)


@pytest.mark.parametrize(("character", "skill"), BODIES)
def test_parked_balls_leave_the_motion_as_it_is(character: str | None, skill: str) -> None:
    """To the last bit where MuJoCo adds up only what is not zero; its dense sums group their terms by the total."""
    with_balls, without = world(character, skill), Simulation(character, skill)
    for sim in (with_balls, without):
        sim.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        sim.step(round(5.0 / sim.model.opt.timestep))
    assert np.array_equal(with_balls.data.qpos[: without.model.nq], without.data.qpos)
    assert np.array_equal(with_balls.data.qvel[: without.model.nv], without.data.qvel)


def test_parked_balls_change_five_seconds_of_walking_by_less_than_a_nanometre() -> None:
    with_balls, without = world(None, "human/fast-walk"), Simulation(None, "human/fast-walk")
    for sim in (with_balls, without):
        sim.step(round(5.0 / sim.model.opt.timestep))
    assert np.abs(with_balls.data.qpos[: without.model.nq] - without.data.qpos).max() < 1e-9


@pytest.mark.parametrize(("character", "skill"), BODIES)
def test_a_thrown_ball_hits_and_moves_the_character(character: str | None, skill: str) -> None:
    thrown, left_alone = world(character, skill), world(character, skill)
    for sim in (thrown, left_alone):
        sim.step(round(0.5 / sim.model.opt.timestep))
    throw_from_behind(thrown)
    met: set[int] = set()
    for _ in range(round(0.6 / thrown.model.opt.timestep)):
        for sim in (thrown, left_alone):
            sim.step()
        met |= hits(thrown, 1)
    assert met & set(range(1, 1 + len(thrown.scene.table.segments)))
    speeds = [forward_speed(sim) for sim in (thrown, left_alone)]
    assert speeds[0] > speeds[1] + 0.05
    assert not thrown.fallen


def test_a_thrown_ball_falls_as_bodies_do_and_comes_to_lie_on_the_ground() -> None:
    sim = world(None, "human/fast-walk")
    sim.throw((3.0, 6.0, 4.0), (-1.0, 2.0, 1.0), 2)
    sim.step(round(0.5 / sim.model.opt.timestep))
    ball = sim.data.qpos[-7:-4]
    free = np.array([3.0 - 0.5, 6.0 + 1.0, 4.0 + 0.5 - 0.5 * 9.81 * 0.25])
    assert ball == pytest.approx(free, abs=0.5 * 9.81 * sim.model.opt.timestep)  # of semi-implicit steps
    sim.step(round(2.0 / sim.model.opt.timestep))
    assert ball[2] == pytest.approx(BALLS[2].radius, abs=0.005)
    assert not sim.fallen


def test_a_fast_small_ball_that_rolls_is_no_fall() -> None:
    sim = Simulation(None, "human/fast-walk", with_props(flat(), [Ball(0.05)]))
    sim.throw((0.0, 3.0, 0.06), (-39.9, 0.0, -2.0))
    sim.step(round(3.0 / sim.model.opt.timestep))
    assert abs(sim.data.qvel[-3:]).max() > 200.0  # it does roll
    assert not sim.fallen


def test_a_ball_can_be_thrown_high_up_a_slope() -> None:
    sim = world(None, "human/uphill-walk", "incline:20")
    high = float(sim.scene.terrain.height(1500.0))
    assert high > 500.0
    sim.throw((1500.0, 0.0, high + 1.0), (0.0, 0.0, 0.0))
    sim.step(200)
    assert not is_parked(sim.data.qpos[-21:-18])


def test_a_parked_ball_stays_where_it_was_put_back() -> None:
    sim = world(None, "human/fast-walk")
    before = sim.data.qpos[-21:].copy()
    throw_from_behind(sim)
    sim.step(200)
    assert not is_parked(sim.data.qpos[-14:-11])
    sim.remove_ball(1)
    sim.step(200)
    assert np.array_equal(sim.data.qpos[-21:], before)


def test_a_snapshot_with_a_ball_in_the_air_is_exact() -> None:
    sim = world("humanoid", "biped/sneak")
    sim.step(300)
    throw_from_behind(sim)
    sim.step(50)
    snapshot = sim.snapshot()
    sim.step(400)
    first = bits(sim).copy()
    sim.remove_ball(1)
    sim.step(30)
    sim.restore(snapshot)
    sim.step(400)
    assert np.array_equal(bits(sim), first)


@pytest.mark.parametrize(
    ("position", "velocity", "ball", "message"),
    [
        ((0.0, 0.0), (0.0, 0.0, 0.0), 0, "three numbers"),
        ((math.nan, 0.0, 1.0), (0.0, 0.0, 0.0), 0, "within"),
        ((0.0, 0.0, 600.0), (0.0, 0.0, 0.0), 0, "parked"),
        ((0.0, 0.0, 1.0), (0.0, 41.0, 0.0), 0, "m/s"),
        ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 3, "valid: 0 … 2"),
        ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), -1, "valid: 0 … 2"),
    ],
)
def test_a_throw_that_makes_no_sense_is_refused(position: tuple, velocity: tuple, ball: int, message: str) -> None:  # type: ignore[type-arg]
    sim = world(None, "planar/walk")
    before = bits(sim)
    with pytest.raises(CommandError, match=message):
        sim.throw(position, velocity, ball)
    assert np.array_equal(bits(sim), before)


def test_where_there_is_no_ball_one_is_told_how_to_get_one() -> None:
    with pytest.raises(CommandError, match="with_props"):
        Simulation(None, "planar/walk").throw((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


@pytest.mark.parametrize("skill", ["planar/walk", "human/fast-walk"])
def test_pictures_and_files_of_a_motion_with_parked_balls_are_those_without(skill: str, tmp_path: Path) -> None:
    """The files are the same to the last byte: nothing of a parked ball is in them."""
    motions = []
    for sim in (world(None, skill), Simulation(None, skill)):
        sim.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        motions.append(sim.run(1.0, fps=30.0))
    for suffix in (".bvh", ".glb", ".png", ".gif"):
        for motion, name in zip(motions, ("with", "without"), strict=True):
            motion.save(tmp_path / f"{name}{suffix}")
        assert (tmp_path / f"with{suffix}").read_bytes() == (tmp_path / f"without{suffix}").read_bytes(), suffix
    assert len(bvh.load(tmp_path / "with.bvh").skeleton.names) == len(motions[1].skeleton.names)


def test_a_ball_that_flies_is_drawn_and_does_not_make_the_figure_smaller(tmp_path: Path) -> None:
    sim = world(None, "human/fast-walk")
    without = Simulation(None, "human/fast-walk").run(0.1)
    sim.throw((-6.0, 0.0, 1.5), (8.0, 0.0, 2.0), 1)
    motion = sim.run(0.1)
    actor = posed_body.posed_body_of(motion)
    assert len(actor.limbs(0.05)) == len(posed_body.posed_body_of(without).limbs(0.05))
    (ball,) = actor.flying_balls(0.05)
    assert ball.shapes[0].radius == BALLS[1].radius
    assert ball.shapes[0].points[0, 0] == pytest.approx(-6.0 + 8.0 * 0.05, abs=0.01)
    motion.save(tmp_path / "thrown.gif")
    motion.save(tmp_path / "thrown.png")
