"""See-saws tip under who walks over them, and references are laid on ground that is not level."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.contact_patches import FLAT, FREE
from surefoot.controllers.stylized.controller import tracker_of
from surefoot.controllers.stylized.multibody_dynamics import LinkComs
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame, Swing
from surefoot.controllers.stylized.step_adaptation import speed_up_step
from surefoot.controllers.stylized.terrain_adaptation import GroundQuery, TerrainAdaptation, raise_by_slope
from surefoot.controllers.stylized.tracker import Tracker
from surefoot.engine.simulation import Simulation
from surefoot.errors import TerrainError
from surefoot.lab.reference_tracking import PathDrift
from surefoot.lab.reproduce.stylized.mocap import author
from surefoot.terrains import SeeSaw, load, seesaw, stairs
from surefoot.terrains.props import tip_fraction

STAND = "human_toes/stylized-stand"


def board_alone(prop: SeeSaw, load_at: float | None = None) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A see-saw, with a weight of 60 kg let go over a place of its upper side [m from the near end]."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    prop.build(spec.worldbody, "ground_seesaw_0", 1.0, load("flat"))
    if load_at is not None:
        x = prop.start + load_at
        body = spec.worldbody.add_body(pos=[x, 0.0, 2.0 * prop.height * load_at / prop.length + 0.15])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1], mass=60.0, contype=1, friction=[2.0, 0, 0])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def upper_ends(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(2, 3) of the board's upper side: near, far."""
    geom = model.geom("ground_seesaw_0").id
    size = model.geom_size[geom]
    corners = np.array([[-size[0], 0.0, size[2]], [size[0], 0.0, size[2]]])
    return np.asarray(data.geom_xpos[geom] + corners @ data.geom_xmat[geom].reshape(3, 3).T)


@pytest.mark.parametrize("prop", [SeeSaw(), SeeSaw(2.2, 0.2, 0.7, 1.0, 30.0)])
def test_a_seesaw_lies_with_its_near_end_on_the_ground_where_it_starts(prop: SeeSaw) -> None:
    near, far = upper_ends(*board_alone(prop))
    assert near == pytest.approx([prop.start, 0.0, 0.0], abs=1e-9)
    assert far == pytest.approx([prop.end, 0.0, 2.0 * prop.height], abs=1e-9)


def test_a_seesaw_stays_as_it_is_without_a_load_and_under_one_before_its_hinge() -> None:
    prop = SeeSaw(damping=20.0)
    for load_at in (None, 0.6):
        model, data = board_alone(prop, load_at)
        for _ in range(1000):
            mujoco.mj_step(model, data)
        assert tip_fraction(model, data) == pytest.approx(0.0, abs=0.01)


def test_a_seesaw_tips_wholly_under_a_load_behind_its_hinge_and_ends_at_the_ground() -> None:
    prop = SeeSaw(damping=20.0)
    model, data = board_alone(prop, 2.4)
    for _ in range(1500):
        mujoco.mj_step(model, data)
    assert tip_fraction(model, data) == pytest.approx(1.0, abs=0.02)
    assert upper_ends(model, data)[1] == pytest.approx([prop.end, 0.0, 0.0], abs=5e-3)


@pytest.mark.parametrize("numbers", ["0.3", "3,0", "3,0.9", "3,0.1,0", "3,0.1,1,0.1", "3,0.1,1,2,-1", "3,nan"])
def test_a_seesaw_nobody_could_walk_on_is_refused_in_one_line(numbers: str) -> None:
    with pytest.raises(TerrainError) as caught:
        load(f"seesaw:{numbers}")
    assert "\n" not in str(caught.value)


def test_a_seesaws_text_reads_back_as_the_same() -> None:
    terrain = seesaw(2.5, 0.11, 0.9, 1.7, 123.0)
    assert load(terrain.description) == terrain
    assert load("seesaw").props == (SeeSaw(),)


def test_feet_on_a_seesaw_touch_and_do_not_fall() -> None:
    sim = Simulation(skill=STAND, terrain="seesaw:3,0.05,0.3")
    sim.data.qpos[0] += 0.6
    sim.data.qpos[2] += 0.6 * math.tan(SeeSaw(3, 0.05, 0.3).tilt)
    sim.run(0.3)
    assert sim.memory.touch.all()
    assert not sim.fallen


def test_stairs_go_where_their_direction_says() -> None:
    down = stairs(-0.05, 0.4, 3, 0.5, math.radians(-90.0))
    assert [float(down.height(x, y)) for x, y in ((0.0, -0.4), (0.0, -0.6), (3.0, -1.0), (-2.0, -9.0), (9.0, 0.0))] == (
        pytest.approx([0.0, -0.05, -0.1, -0.15, 0.0])
    )


def moment() -> ReferenceFrame:
    rng = np.random.default_rng(4)
    axes = np.tile(np.eye(3), (2, 1, 1))
    ankles = np.array([[0.1, 0.1, 0.08], [0.5, -0.1, 0.2]])
    return ReferenceFrame(
        rng.normal(size=20), rng.normal(size=19), rng.normal(size=19), np.array([FLAT, FREE]), ankles, axes,
        rng.normal(size=(2, 6)), np.array([0.25, 0.0, 0.9]), np.array([0.9, 0.1, 0.05]),
    )  # fmt: skip


def test_laid_on_a_rise_everything_goes_up_as_the_ground_does() -> None:
    flat, laid, rise = moment(), moment(), np.array([0.1, -0.05])
    raise_by_slope(laid, rise, 0.7, 3)
    middle = 0.7 * flat.ankles[0, :2] + 0.3 * flat.ankles[1, :2]
    assert laid.pose[2] - flat.pose[2] == pytest.approx(rise @ (flat.pose[:2] - middle))
    assert laid.ankles[:, 2] - flat.ankles[:, 2] == pytest.approx((flat.ankles[:, :2] - middle) @ rise)
    assert laid.rates[2] - flat.rates[2] == pytest.approx(rise @ flat.rates[:2])
    assert (laid.pose[3:] == flat.pose[3:]).all()


@pytest.mark.parametrize("terrain", ["slope:7,0.5", "stairs:-0.1,0.3,4,0.5", "seesaw:2,0.1,0.5", "platform:8,10,1"])
def test_the_ground_is_seen_where_rays_meet_it(terrain: str) -> None:
    sim = Simulation(skill=STAND, terrain=terrain)
    sim.run(0.2)
    seen = GroundQuery(sim.scene, sim.data)
    places = np.array([[0.9, 0.1], [1.7, -0.3], [2.1, 0.2]])
    mujoco.mj_forward(sim.model, sim.data)
    met, none = np.zeros(1, np.int32), np.array([0.0, 0.0, -1.0])
    for place, height in zip(places, seen.heights_at(places), strict=True):
        far = mujoco.mj_ray(sim.model, sim.data, np.array([*place, 4.0]), none, None, 1, -1, met)
        assert height == pytest.approx(4.0 - far, abs=1e-6)


def test_what_lies_on_a_slope_is_turned_by_its_angle_and_beside_an_edge_not_at_all() -> None:
    sim = Simulation(skill=STAND, terrain="slope:7,0.5")
    (turn,) = GroundQuery(sim.scene, sim.data).surface_rotations(np.array([[2.0, 0.3, 0.5]]))
    assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-12)
    assert turn[:, 2] == pytest.approx([-math.sin(math.radians(7.0)), 0.0, math.cos(math.radians(7.0))], abs=1e-6)
    sim = Simulation(skill=STAND, terrain="stairs:-0.1,0.5,4,0.5")
    (turn,) = GroundQuery(sim.scene, sim.data).surface_rotations(np.array([[0.97, 0.0, 0.0]]))
    assert turn == pytest.approx(np.eye(3))


def test_a_foot_that_would_land_on_an_edge_lands_beside_it() -> None:
    sim = Simulation(skill=STAND, terrain="stairs:-0.1,0.5,4,0.6")
    tracker = tracker_of(sim.scene, sim.skill)
    assert isinstance(tracker, Tracker)
    tracker.body.set(sim.data.qpos, sim.data.qvel)
    seen = GroundQuery(sim.scene, tracker.body.data)
    feet = [int(sim.model.body(f"{side}_foot").id) for side in ("left", "right")]
    laying = TerrainAdaptation(seen, tracker.body)
    stride = np.array([0.5, -0.2, 0.0])
    elsewhere = laying.foothold_search(Swing(1, 0.0, 0.5), stride)
    ankle = tracker.body.xpos[feet[0]] + stride
    sole = np.array([[-0.1, 0.0], [0.22, 0.0]])
    assert np.ptp(seen.heights_at(ankle[:2] + sole)) > 0.05  # it would land on one
    assert np.ptp(seen.heights_at(ankle[:2] + elsewhere(np.zeros(3)) + sole)) == pytest.approx(0.0)


def test_level_ground_lays_nothing() -> None:
    sim = Simulation(skill=STAND)
    assert GroundQuery(sim.scene, sim.data).is_level


@pytest.mark.parametrize(("ahead", "faster"), [(0.1, True), (0.0, False), (-0.1, False)])
def test_a_reference_hastens_where_the_body_is_ahead_and_never_waits(ahead: float, faster: bool) -> None:
    one, two = moment(), moment()
    com = one.com - one.ankles[0] + [ahead, 0.0, 0.0]
    points = LinkComs(np.tile(com, (3, 1)), np.tile(one.com_velocity, (3, 1)))
    stride = np.array([0.6, 0.0, 0.0])
    pace = speed_up_step(one, Swing(1, 0.0, 0.5), 0.2, stride, points, np.array([8.0, 40.0, 12.0]), 1.0)
    assert (pace > 0.01) is faster
    assert one.rates == pytest.approx((1.0 + pace) * two.rates)
    assert speed_up_step(two, Swing(1, 0.0, 0.5), 0.2, stride, points, np.array([8.0, 40.0, 12.0]), 0.0) == 0.0


def test_a_path_that_goes_round_with_its_reference_does_not_drift_and_another_does() -> None:
    n, dt, turn = 50, 0.02, 0.4
    poses, rates = np.zeros((n, 7)), np.zeros((n, 6))
    poses[:, 0], rates[:, 0] = 0.01 * np.arange(n), 0.5
    empty = np.zeros((n, 2, 3))
    reference = Reference(
        poses, rates, rates, np.ones((n, 2), int), empty, empty, empty, empty[:, 0], empty[:, 0], dt, True, turn
    )
    place, heading = np.array([3.0, -1.0]), 0.0
    same, still = PathDrift(reference, 2, place), PathDrift(reference, 2, place)
    for i in range(1, 3 * n):
        heading = turn * ((i - 1) // n)
        place = place + 0.01 * np.array([math.cos(heading), math.sin(heading)])
        same.add((i % n) * dt, place)
        still.add((i % n) * dt, np.array([3.0, -1.0]))
    assert same.drift == pytest.approx((0.0, 0.0), abs=1e-9)
    assert still.drift[1] > 1.0


def test_the_authored_stomp_reads_back_as_a_clip_that_raises_one_foot_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "sumo.bvh"
    author(path)
    sim = Simulation(skill=STAND)
    found = reference_sources.one_shot_reference(
        sim.model, sim.scene.table, reference_sources.retarget_file(path, sim.scene.table)
    )
    raised = found.ankles[:, :, 2] - found.ankles[0, :, 2]
    assert (raised.max(axis=0) > 0.2).all()
    right, left = raised[:, 1].argmax(), raised[:, 0].argmax()
    assert right < left
    assert found.bearing[right].tolist() == [FLAT, FREE]
    assert found.bearing[left].tolist() == [FREE, FLAT]


@pytest.mark.parametrize(("rise", "level"), [(0.0, True), (0.06, False)])
def test_a_reference_whose_feet_lie_at_two_heights_is_not_level(rise: float, level: bool) -> None:
    n, dt = 40, 0.02
    poses, rates, ankles, axes = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3, 3))
    ankles[n // 2 :, :, 2] = rise
    ankles[3, 0, 2] = 0.2  # a foot that rolls over is not what counts
    bearing = np.full((n, 2), FLAT)
    twists, com = np.zeros((n, 2, 6)), np.zeros((n, 3))
    found = Reference(poses, rates, rates, bearing, ankles, axes, twists, com, com, dt, False)
    assert found.is_level is level
