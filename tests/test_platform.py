"""A platform gyrates as it says, carries who stands on it, and pictures show it as it is."""

from __future__ import annotations

import math
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from surefoot.engine.simulation import Simulation
from surefoot.errors import TerrainError
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.posed_body import posed_body_of
from surefoot.terrains import ground_kernels, load, platform
from surefoot.terrains.ground_shapes import PLATFORM_BODY
from test_genbicon_parts import python


@pytest.fixture(scope="module")
def sim() -> Simulation:
    sim = Simulation("stepper", "stand", "platform:15,12,3")
    sim.step(5300)
    return sim


def plate_height(sim: Simulation, x: float, y: float) -> float:
    """Of the plate's upper side, by a ray from above [m]."""
    mujoco.mj_forward(sim.model, sim.data)
    met = np.zeros(1, np.int32)
    own = np.array([1, 1, 1, 1, 1, 1], np.uint8)
    start = np.array([x, y, 50.0])
    height = 50.0 - mujoco.mj_ray(sim.model, sim.data, start, np.array([0.0, 0.0, -1.0]), own, 1, -1, met)
    assert sim.model.geom(int(met[0])).name == PLATFORM_BODY
    return float(height)


def test_the_plate_is_where_the_terrain_says_it_is_at_that_moment(sim: Simulation) -> None:
    now = sim.scene.terrain.at(sim.time)
    for x, y in ((3.1, 0.4), (-2.2, 5.0), (1.0, -7.3)):
        assert plate_height(sim, x, y) == pytest.approx(float(now.height(x, y)), abs=1e-4)
    assert abs(float(now.height(3.0, 1.0))) > 0.1
    assert not sim.fallen


def test_a_law_reads_the_tilted_plates_height(sim: Simulation) -> None:
    mujoco.mj_forward(sim.model, sim.data)
    world = SimpleNamespace(numeric=sim.model.numeric_data, xpos=sim.data.xpos, xmat=sim.data.xmat)
    at = int(sim.memory.header[0].ground)
    for x, y in ((3.1, 0.4), (-2.2, 5.0)):
        assert python(ground_kernels.height_at)(world, at, x, y) == pytest.approx(plate_height(sim, x, y), abs=1e-9)


def test_its_steepest_way_down_goes_round_once_in_a_period() -> None:
    terrain, period = load("platform:30,9,2"), 9.0
    for time in (2.5, 6.0, 8.25):
        way = 2.0 * math.pi * time / period
        x, y = 2.0 * math.cos(way), 2.0 * math.sin(way)
        assert float(terrain.at(time).height(x, y)) == pytest.approx(-2.0 * math.tan(math.radians(30.0)))
        assert float(terrain.at(time).height(-y, x)) == pytest.approx(0.0, abs=1e-12)
    assert float(terrain.at(0.0).height(2.0, 1.0)) == 0.0
    assert 0.0 < abs(float(terrain.at(0.5).height(2.0, 1.0))) < abs(float(terrain.at(9.5).height(2.0, 1.0)))


def test_ground_that_does_not_move_is_the_same_at_all_times() -> None:
    terrain = load("slope:6")
    assert not terrain.moves
    assert terrain.at(4.0) is terrain
    assert load("platform:5").moves


def test_it_gyrates_under_the_planar_biped_too() -> None:
    sim = Simulation("planar", "walk", "platform:3,10,1")
    sim.step(round(1.5 / sim.model.opt.timestep))
    assert sim.data.joint(f"{PLATFORM_BODY}_y").qpos[0] == pytest.approx(
        math.radians(3.0) * math.cos(0.3 * math.pi), abs=2e-3
    )


def test_who_stands_on_it_does_not_tilt_it() -> None:
    empty, laden = (Simulation("stepper", "stand", "platform:10,12,2", proportions={"mass": m}) for m in (1.0, 2.0))
    for sim in (empty, laden):
        sim.step(3000)
    for hinge in ("x", "y"):
        one, other = (sim.data.joint(f"{PLATFORM_BODY}_{hinge}").qpos[0] for sim in (empty, laden))
        assert one == pytest.approx(other, abs=1e-4)


def test_pictures_show_the_ground_tilted_and_no_plate_around_the_body(sim: Simulation) -> None:
    here = sim.snapshot()
    motion = sim.run(0.6, fps=20)
    sim.restore(here)
    points = np.vstack([shape.points for limb in posed_body_of(motion).limbs(motion.time[3]) for shape in limb.shapes])
    assert np.ptp(points, axis=0).max() < 2.0
    moment = float(motion.time[2])
    picture = np.asarray(filmstrip(motion, frames=1, start=moment, end=moment))
    soil = (picture[:, :, 2] < 225) & (picture[:, :, 0] > 220)
    left, right = (int(np.flatnonzero(soil[:, 800 + aside])[0]) for aside in (-150, 150))
    now = sim.scene.terrain.at(moment)
    assert math.copysign(1.0, right - left) == math.copysign(1.0, float(now.height(-1.0) - now.height(1.0)))
    assert abs(right - left) > 10


@pytest.mark.parametrize(
    "numbers", ["", "61", "-3", "10,0.5", "10,15,0", "10,15,5,2", "x", "nan", "10,1e9"],
)  # fmt: skip
def test_a_platform_nobody_could_stand_on_is_refused_in_one_line(numbers: str) -> None:
    with pytest.raises(TerrainError) as caught:
        load(f"platform:{numbers}")
    assert "\n" not in str(caught.value)


def test_its_text_reads_back_as_the_same_platform() -> None:
    assert load(platform(0.37, 11.0).description) == platform(0.37, 11.0)
