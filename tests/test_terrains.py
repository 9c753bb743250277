"""Every ground is where it says it is, for rays and for bodies that fall on it."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError, TerrainError
from surefoot.terrains import Terrain, bumps, field, ground_shapes, image, incline, load, names, profile, slope, stairs

TEXTS = {
    "flat": ["flat"],
    "slope": ["slope:6", "slope:-20,0.5,3,90", "slope:33,1,4,-140"],
    "steps": ["steps:2,-0.2", "steps:1,0.1,2.5,0.15,4,-0.3,4.2,-0.3"],
    "rough": ["rough:7,0.03", "rough:0,0.1,0.3,30"],
    "incline": ["incline:20", "incline:-8,90", "incline:40,203"],
    "stairs": ["stairs:0.15,0.3,10", "stairs:-0.2,0.25,12,0.4", "stairs:-0.05,0.4,5,0.5,-90"],
    "bumps": ["bumps:7,0.03", "bumps:1,0.2,0.3,6", "bumps:2,0.05,0.1,8"],
    "gaps": ["gaps:0.2", "gaps:0.35,0.5,4,0.4,0.6"],
    "platform": ["platform:30", "platform:12.5,20,5"],
    "seesaw": ["seesaw", "seesaw:2.5,0.1,0.8,1.5,50"],
    "image": ["image:hills.png,9,0.5", "image:hills.png,6,-0,4.5", "image:deep.png,8,1.2,5"],
}
ALL = [text for texts in TEXTS.values() for text in texts]
OBJECTS: dict[str, Callable[[], Terrain]] = {
    "field": lambda: field(np.random.default_rng(3).uniform(-0.2, 0.3, (17, 23)), (0.4, 0.3)),
    "field-aside": lambda: field(np.random.default_rng(4).uniform(0.0, 0.2, (9, 6)), 0.5, (-0.7, -3.1)),
    "field-away": lambda: field(np.random.default_rng(5).uniform(0.0, 0.2, (9, 6)), 0.5, (1.0, 0.5)),
    "field-level": lambda: field(np.full((4, 5), 0.37), 0.5),
    "profile": lambda: profile([0.0, 0.1, 0.05, 0.3, 0.0], spacing=0.4),
}


@pytest.fixture(autouse=True)
def _pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pictures in the working folder: 8 bits, 31 × 25; 16 bits, 41 × 21."""
    y, x = np.mgrid[0:25, 0:31]
    smooth = 0.5 + 0.5 * np.sin(0.3 * x) * np.cos(0.4 * y + 0.02 * x)
    Image.fromarray((255 * smooth).astype(np.uint8)).save(tmp_path / "hills.png")
    y, x = np.mgrid[0:21, 0:41]
    Image.fromarray((65535 * (0.5 + 0.5 * np.sin(0.2 * x + 0.3 * y))).astype(np.uint16)).save(tmp_path / "deep.png")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=[*ALL, *OBJECTS])
def terrain(request: pytest.FixtureRequest) -> Terrain:
    return OBJECTS[request.param]() if request.param in OBJECTS else load(request.param)


@pytest.fixture(params=[*(text for text in ALL if not text.startswith("platform")), *OBJECTS])
def fixed(request: pytest.FixtureRequest) -> Terrain:
    """Ground that does not move."""
    return OBJECTS[request.param]() if request.param in OBJECTS else load(request.param)


def compiled(terrain: Terrain, *shapes: dict[str, object]) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The ground, and a free body of these shapes."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.0005
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    terrain.build(spec.worldbody, 0.8)
    if shapes:
        body = spec.worldbody.add_body()
        body.add_freejoint()
        for shape in shapes:
            body.add_geom(**{"contype": 1, "conaffinity": 0, "density": 1000.0, **shape})
    terrain.build_moving(spec.worldbody, 0.8)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def generic_points(terrain: Terrain, count: int = 300, reach: float = 12.0) -> np.ndarray:
    """(n, 2) random points, none within a millimetre of a vertical face."""
    points = np.random.default_rng(6).uniform(-reach, reach, (count, 2))
    if terrain.vertices is None:
        return points
    return points[(np.abs(points[:, :1] - terrain.vertices[:, 0]) > 1e-3).all(axis=1)]


# ------------------------------------------------------------------------------------------- where ground is


def test_every_kind_has_examples_here() -> None:
    assert set(TEXTS) == set(names())


def test_rays_from_above_meet_the_ground_at_its_height(terrain: Terrain) -> None:
    model, data = compiled(terrain)
    points, met = generic_points(terrain), np.zeros(1, np.int32)
    down, top = np.array([0.0, 0.0, -1.0]), 60.0
    heights = [top - mujoco.mj_ray(model, data, np.array([*p, top]), down, None, 1, -1, met) for p in points]
    assert np.abs(np.array(heights) - terrain.height(*points.T)).max() < 1e-9


def test_far_away_there_still_is_ground(fixed: Terrain) -> None:
    model, data = compiled(fixed)
    met, down, top = np.zeros(1, np.int32), np.array([0.0, 0.0, -1.0]), 1500.0
    for x, y in ((300.3, 1.0), (-300.7, 2.0), (3.3, 300.1), (4.4, -300.9), (250.3, -260.3)):
        height = top - mujoco.mj_ray(model, data, np.array([x, y, top]), down, None, 1, -1, met)
        assert height == pytest.approx(float(fixed.height(x, y)), abs=1e-8)


def test_spheres_touch_the_ground_where_its_height_says(terrain: Terrain) -> None:
    radius, near = 1e-3, 2e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]])
    model, data = compiled(terrain, {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [radius, 0, 0]})
    points = generic_points(terrain, 80, 4.0)
    around = terrain.height(points[:, :1] + near[:, 0], points[:, 1:] + near[:, 1])
    bend = np.abs(around[:, 0::2] + around[:, 1::2] - 2.0 * terrain.height(*points.T)[:, None]).max(axis=1)
    even = points[bend < 1e-6]  # no edge nearby
    assert len(even) > 40
    for x, y in even:
        data.qpos[:3] = x, y, float(terrain.height(x, y)) + 0.5 * radius
        mujoco.mj_forward(model, data)
        right, left, ahead, back = terrain.height(x + near[:4, 0], y + near[:4, 1])
        tilt = 1.0 / math.hypot(1.0, (right - left) / 4e-3, (ahead - back) / 4e-3)
        depth = min(contact.dist for contact in data.contact)
        assert depth == pytest.approx(0.5 * radius * tilt - radius, abs=1e-5)


def test_height_takes_arrays_of_any_matching_shapes(terrain: Terrain) -> None:
    x, y = np.linspace(-3.1, 4.2, 7), np.linspace(-2.3, 5.1, 5)[:, None]
    grid = terrain.height(x, y)
    assert grid.shape == (5, 7)
    for (i, one_y), (j, one_x) in itertools.product(enumerate(y[:, 0]), enumerate(x)):
        assert grid[i, j] == terrain.height(one_x, one_y)
    assert np.array_equal(terrain.height(x), terrain.height(x, 0.0))
    assert terrain.height(1.3).shape == ()


def test_ground_is_at_height_zero_at_the_origin(terrain: Terrain) -> None:
    assert float(terrain.height(0.0, 0.0)) == 0.0


def test_ground_is_fixed_to_the_world_and_meets_characters_only(fixed: Terrain) -> None:
    model, _ = compiled(fixed)
    assert model.nbody == 1
    meets_characters_only(model)


def test_a_platform_hangs_on_two_hinges_and_meets_characters_only() -> None:
    model, _ = compiled(load("platform:20"))
    assert (model.nbody, model.nv) == (2, 2)
    meets_characters_only(model)


def meets_characters_only(model: mujoco.MjModel) -> None:
    assert all(model.geom(i).name.startswith("ground") for i in range(model.ngeom))
    assert not model.geom_contype.any()
    assert (model.geom_conaffinity == 1).all()
    assert (model.geom_condim == 3).all()
    assert (model.geom_friction[:, 0] == 0.8).all()
    assert (model.geom_solref == [0.01, 1.0]).all()


# --------------------------------------------------------------------------------------------- what it is like


@pytest.mark.parametrize("direction", [0.0, 0.4, math.pi / 2, -2.5])
def test_incline_rises_by_its_tangent_towards_its_direction(direction: float) -> None:
    ahead = np.array([math.cos(direction), math.sin(direction)])
    across = np.array([-ahead[1], ahead[0]])
    ground = incline(math.radians(12.0), direction)
    assert float(ground.height(*(3.0 * ahead))) == pytest.approx(3.0 * math.tan(math.radians(12.0)))
    assert float(ground.height(*(-7.0 * ahead))) == pytest.approx(-7.0 * math.tan(math.radians(12.0)))
    assert float(ground.height(*(5.0 * across))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("direction", [0.0, 0.4, math.pi / 2, -2.5])
def test_slope_begins_at_its_start_towards_its_direction(direction: float) -> None:
    ahead = np.array([math.cos(direction), math.sin(direction)])
    across = np.array([-ahead[1], ahead[0]])
    ground = slope(math.radians(10.0), 1.5, 4.0, direction)
    along = np.array([-3.0, 1.4, 2.5, 5.5, 9.0])
    expected = math.tan(math.radians(10.0)) * np.array([0.0, 0.0, 1.0, 4.0, 4.0])
    for aside in (-6.0, 0.0, 2.2):
        points = along[:, None] * ahead + aside * across
        assert ground.height(*points.T) == pytest.approx(expected, abs=1e-12)


def test_degrees_in_a_text_are_radians_in_a_program() -> None:
    points = generic_points(load("flat"), 50)
    for text, made in (
        ("incline:20,90", incline(math.radians(20), math.pi / 2)),
        ("slope:6,2,500,45", slope(math.radians(6), direction=math.pi / 4)),
    ):
        assert np.array_equal(load(text).height(*points.T), made.height(*points.T))
        assert made.description == text


def test_stairs_rise_step_by_step_and_end_level() -> None:
    up, down = stairs(0.15, 0.3, 4), stairs(-0.2, 0.25, 3, 0.5)
    x = np.array([0.99, 1.01, 1.29, 1.31, 1.91, 50.0])
    assert up.height(x, 3.0) == pytest.approx([0.0, 0.15, 0.15, 0.3, 0.6, 0.6])
    assert down.height(np.array([0.49, 0.51, 0.76, 1.01, 9.0])) == pytest.approx([0.0, -0.2, -0.4, -0.6, -0.6])


def test_bumps_depend_on_their_seed_and_stay_within_their_amplitude() -> None:
    points = generic_points(load("flat"), 4000, 19.0)
    one, again, other = (bumps(seed, 0.07).height(*points.T) for seed in (4, 4, 5))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert 0.05 < one.max() <= 0.07
    assert -0.07 <= one.min() < -0.05


@pytest.mark.parametrize("spacing", [0.1, 0.25, 0.4, 1.0])
def test_bumps_are_level_around_the_origin_and_around_themselves(spacing: float) -> None:
    ground = bumps(3, 0.05, spacing, 16.0)
    turn = np.linspace(0.0, 2.0 * math.pi, 60)
    for radius in (0.2, 0.45, 0.599):
        assert not ground.height(radius * np.cos(turn), radius * np.sin(turn)).any()
    assert np.abs(ground.height(2.3 * np.cos(turn), 2.3 * np.sin(turn))).max() > 0.01
    aside = np.linspace(-9.0, 9.0, 50)
    for beyond in (-8.51, 8.51):
        assert not ground.height(aside, beyond).any()
        assert not ground.height(beyond, aside).any()


def test_field_with_a_level_border_goes_through_its_heights_moved_as_one() -> None:
    heights = np.zeros((6, 9))
    heights[1:-1, 1:-1] = np.random.default_rng(8).uniform(-0.1, 0.1, (4, 7))
    ground = field(heights, (0.5, 0.4), (-1.3, -0.9))
    y, x = np.mgrid[0:6, 0:9]
    found = ground.height(-1.3 + 0.5 * x, -0.9 + 0.4 * y)
    moved = found - heights
    assert moved == pytest.approx(float(moved[0, 0]), abs=1e-7)
    assert float(ground.height(40.0, 3.0)) == found[0, 0]


def test_border_that_is_not_level_is_drawn_to_its_mean_within_a_tenth() -> None:
    heights = np.random.default_rng(9).uniform(0.0, 0.2, (41, 61))
    ground = field(heights, 0.25)
    border = np.concatenate([heights[0], heights[-1], heights[1:-1, 0], heights[1:-1, -1]]).mean()
    outside = float(ground.height(80.0, -3.0))
    assert outside == pytest.approx(border - heights[20, 30], abs=1e-7)
    assert ground.height(np.linspace(-7.5, 7.5, 31), -5.0) == pytest.approx(outside)
    y, x = np.mgrid[5:36, 5:56]  # more than a metre from the border
    found = ground.height(0.25 * (x - 30), 0.25 * (y - 20))
    assert found == pytest.approx(heights[5:36, 5:56] - heights[20, 30], abs=1e-7)


def test_image_has_its_right_along_x_and_its_top_along_y() -> None:
    pixels = np.zeros((9, 13), np.uint8)
    pixels[2, 9] = 255  # right of the middle by 3, above it by 2
    Image.fromarray(pixels).save("peak.png")
    ground = image("peak.png", 6.0, 0.4)
    assert float(ground.height(1.5, 1.0)) == pytest.approx(0.4, abs=1e-7)
    for x, y in ((-1.5, 1.0), (1.5, -1.0), (-1.5, -1.0)):
        assert float(ground.height(x, y)) == 0.0


def test_sixteen_bits_of_grey_are_finer_than_eight() -> None:
    pixels = np.zeros((5, 5), np.uint16)
    pixels[2, 3] = 77  # of 65535
    Image.fromarray(pixels).save("fine.png")
    assert float(image("fine.png", 2.0, 1.0).height(0.5, 0.0)) == pytest.approx(77 / 65535, abs=1e-9)


def test_image_in_colours_is_made_grey() -> None:
    pixels = np.zeros((5, 5, 3), np.uint8)
    pixels[2, 3] = 255
    Image.fromarray(pixels).save("colours.png")
    assert float(image("colours.png", 2.0, 0.3).height(0.5, 0.0)) == pytest.approx(0.3, abs=1e-7)


# ------------------------------------------------------------------------------------------------- falling on it

LYING = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "size": [0.03, 0.1, 0.0], "quat": [0.5**0.5, 0.0, 0.5**0.5, 0.0]}
FEET: dict[str, list[dict[str, object]]] = {
    "capsules": [{**LYING, "pos": [0.0, y, 0.0]} for y in (-0.03, 0.03)],
    "box": [{"type": mujoco.mjtGeom.mjGEOM_BOX, "size": [0.13, 0.06, 0.03]}],
}


def gap(terrain: Terrain, model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Least height of a body's surface over the ground, below zero where it has sunk in [m]."""
    least = math.inf
    for i in np.flatnonzero(model.geom_contype):
        axes, center, size = data.geom_xmat[i].reshape(3, 3), data.geom_xpos[i], model.geom_size[i]
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_BOX:
            points = center + np.array(list(itertools.product(*[(-s, 0.0, s) for s in size]))) @ axes.T
            radius = 0.0
        else:
            points, radius = center + np.linspace(-size[1], size[1], 31)[:, None] * axes[:, 2], size[0]
        least = min(least, float((points[:, 2] - terrain.height(*points[:, :2].T)).min()) - radius)
    return least


@pytest.mark.parametrize("foot", FEET)
@pytest.mark.parametrize("text", ["bumps:1,0.04", "bumps:5,0.02,0.1,8", "bumps:2,0.1,1,20", "image:hills.png,9,0.3"])
@pytest.mark.parametrize("place", [(1.37, -0.81), (-2.2, 1.63)])
def test_body_that_falls_on_a_field_comes_to_rest_on_it(foot: str, text: str, place: tuple[float, float]) -> None:
    terrain = load(text)
    model, data = compiled(terrain, *FEET[foot])
    data.qpos[:3] = *place, float(terrain.height(*place)) + 0.5
    for _ in range(6000):
        mujoco.mj_step(model, data)
        assert np.abs(data.qvel[:3]).max() < 4.0  # it has fallen half a metre and was thrown no farther
    assert np.abs(data.qvel).max() < 0.02
    assert -2e-3 < gap(terrain, model, data) < 5e-3
    assert math.hypot(*(data.qpos[:2] - place)) < 0.5


@pytest.mark.parametrize("foot", FEET)
@pytest.mark.parametrize("spacing", [0.1, 0.4, 1.0, 3.0])
def test_loaded_foot_stands_on_a_field_as_quietly_as_on_a_plane(foot: str, spacing: float) -> None:
    terrain, rng = field(np.zeros((9, 9)), spacing), np.random.default_rng(2)
    for _ in range(4):
        load_at = [*rng.uniform([-0.06, -0.02], [0.06, 0.02]), 0.3]
        weight = {
            "type": mujoco.mjtGeom.mjGEOM_SPHERE,
            "size": [0.05, 0, 0],
            "pos": load_at,
            "mass": 40.0,
            "contype": 0,
        }
        model, data = compiled(terrain, *FEET[foot], weight)
        yaw = rng.uniform(0.0, 2.0 * math.pi)
        data.qpos[:] = *rng.uniform(-0.3, 0.3, 2), 0.0301, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)
        for _ in range(2000):
            mujoco.mj_step(model, data)
            assert data.xmat[1][8] > math.cos(math.radians(0.3))
        assert np.abs(data.qvel).max() < 0.01


@pytest.mark.parametrize("spacing", [(2.0, 0.06), (0.3, 0.1), (0.07, 0.07), (10.0, 10.0)])
def test_cells_are_built_no_finer_than_a_foot_can_touch(spacing: tuple[float, float]) -> None:
    model, _ = compiled(field(np.zeros((9, 12)), spacing))
    across, along = model.hfield_size[0, :2] * 2.0 / (model.hfield_ncol[0] - 1, model.hfield_nrow[0] - 1)
    assert min(across, along) >= 0.05
    assert model.hfield_ncol[0] <= 1024
    assert model.hfield_nrow[0] <= 1024


def test_body_slides_from_a_field_onto_the_ground_around_it_as_on_one_plane() -> None:
    highest, ends = [], []
    for terrain in (load("flat"), field(np.zeros((9, 9)), 0.5)):
        model, data = compiled(terrain, *FEET["box"])
        data.qpos[:3], data.qvel[0] = (1.2, 0.31, 0.0301), 6.0
        top = 0.0
        for _ in range(3000):
            mujoco.mj_step(model, data)
            top = max(top, float(data.qpos[2]))
        highest.append(top)
        ends.append(float(data.qpos[0]))
    assert min(ends) > 2.6  # the border is at 2 m
    assert ends[1] == pytest.approx(ends[0], abs=0.1)
    assert highest[1] < highest[0] + 1e-3


def test_planar_walk_is_the_same_bit_for_bit_on_wide_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for width in (4.0, 512.0):
        monkeypatch.setattr(ground_shapes, "_HALF_WIDTH", width)
        sim = Simulation("planar", "robust-walk", load("rough:7,0.03"))
        sim.step(int(8.0 / sim.model.opt.timestep))
        assert sim.data.qpos[0] > 8.0
        ends.append(np.concatenate([sim.data.qpos, sim.data.qvel]))
    assert np.array_equal(*ends)


# -------------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize("text", ALL)
def test_description_gives_the_same_terrain_again(text: str) -> None:
    terrain = load(text)
    again = load(terrain.description)
    points = generic_points(terrain, 200)
    assert again.description == terrain.description
    assert np.array_equal(again.height(*points.T), terrain.height(*points.T))


@pytest.mark.parametrize(
    "make",
    [
        lambda: incline(0.1234567890123, 1.1),
        lambda: slope(-1 / 3, 2 / 3, 100 / 7, -1.7),
        lambda: stairs(1 / 7, 1 / 3, 5, 2 / 3),
        lambda: bumps(12345678901, 1 / 30, 1 / 3, 20 / 3),
        lambda: image("hills.png", (20 / 3, 17 / 3), 1 / 3),
    ],
    ids=["incline", "slope", "stairs", "bumps", "image"],
)
def test_description_keeps_all_digits(make: Callable[[], Terrain]) -> None:
    terrain = make()
    points = generic_points(terrain, 200)
    assert np.array_equal(load(terrain.description).height(*points.T), terrain.height(*points.T))


def test_path_of_an_image_may_have_commas() -> None:
    Path("hills.png").rename("hills, 20 by 5.png")
    assert load("image:hills, 20 by 5.png,9,0.5").description == "image:hills, 20 by 5.png,9,0.5"


# -------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("moon", "bumps, flat, gaps, image, incline"),
        ("incline", "angle, direction"),
        ("incline:50", "± 45°"),
        ("incline:20,400", "± 360°"),
        ("incline:20,nan", "finite"),
        ("slope:6,2,3,4,5", "angle, start, length, direction"),
        ("slope:6,2,3,-361", "± 360°"),
        ("stairs:0.15,0.3", "rise, run, count, start"),
        ("stairs:0.15,0.01,5", "run 0.05 … 10 m"),
        ("stairs:0.15,0.3,2.5", "whole count"),
        ("stairs:0.15,0.3,0", "1 … 1000"),
        ("stairs:2.5,0.3,4", "± 2 m"),
        ("stairs:0.1,0.3,4,-1", "start >= 0.3"),
        ("bumps:7", "seed, amplitude, spacing, size"),
        ("bumps:7,-0.1", "amplitude 0 … 1 m"),
        ("bumps:-1,0.1", "seed >= 0"),
        ("bumps:7,0.1,0.01", "spacing 0.05 … 10 m"),
        ("bumps:7,0.1,0.4,1e6", "2 … 1022 times"),
        ("bumps:7,0.1,0.4,0.1", "2 … 1022 times"),
        ("bumps:7,0.9,0.2", "at most 60°"),
        ("image", "path, size, height"),
        ("image:hills.png", "path, size, height"),
        ("image:hills.png,20", "path, size, height"),
        ("image:hills.png,twenty,1", "numbers"),
        ("image:hills.png,inf,1", "finite"),
        ("image:hills.png,0,1", "sizes > 0"),
        ("image:hills.png,20,-1", "0 … 100 m"),
        ("image:hills.png,20,99", "at most 60°"),
        ("image:hills.png,1,0.1", "make its size 1.5 m"),
        ("image:missing.png,20,1", "PNG file"),
        ("image:.,20,1", "PNG file"),
        ("image:,20,1", "PNG file"),
        ("image:\0,20,1", "PNG file"),
        ("image:notes.png,20,1", "as a PNG file"),
        ("image:cut.png,20,1", "as a PNG file"),
        ("image:hills.jpg,20,1", "as a PNG file"),
        ("image:vast.png,20,1", "3 × 3 to 1024 × 1024"),
        ("image:tiny.png,20,1", "3 × 3 to 1024 × 1024"),
    ],
)
def test_wrong_text_is_refused_with_what_is_valid(text: str, valid: str) -> None:
    Path("notes.png").write_text("not a picture")
    Path("cut.png").write_bytes(Path("hills.png").read_bytes()[:300])
    Image.open("hills.png").save("hills.jpg")
    Image.new("L", (1025, 4)).save("vast.png")
    Image.new("L", (4, 2)).save("tiny.png")
    with pytest.raises(SurefootError) as caught:
        load(text)
    assert valid in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


def test_picture_that_says_it_is_gigantic_is_refused_before_it_is_read() -> None:
    whole = bytearray(Path("hills.png").read_bytes())
    for side in (20_000, 60_000):  # Pillow warns of the one and refuses the other
        whole[16:24] = side.to_bytes(4, "big") * 2
        whole[29:33] = zlib.crc32(whole[12:29]).to_bytes(4, "big")
        Path("giant.png").write_bytes(whole)
        with pytest.raises(TerrainError, match=r"giant\.png"):
            image("giant.png", 20.0, 1.0)


def test_damaged_picture_is_read_or_refused() -> None:
    whole, rng = Path("deep.png").read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            damaged[at] = rng.integers(0, 256)
        Path("damaged.png").write_bytes(damaged[: rng.integers(20, len(whole) + 1)])
        try:
            image("damaged.png", 30.0, 0.1)
        except TerrainError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("make", "valid"),
    [
        (lambda: field([[0.0, 0.0], [0.0, 0.0]]), "3 … 1024 rows"),
        (lambda: field(np.zeros(9)), "3 … 1024 rows"),
        (lambda: field(np.zeros((3, 1025))), "3 … 1024 rows"),
        (lambda: field([[0.0, 0.0, 0.0], [0.0, 0.0]]), "rows of heights"),
        (lambda: field(np.full((4, 4), np.nan)), "finite"),
        (lambda: field(np.zeros((4, 4)), 0.01), "0.05 … 10 m"),
        (lambda: field(np.zeros((4, 4)), (0.5, math.nan)), "0.05 … 10 m"),
        (lambda: field(np.zeros((4, 4)), (0.5, 0.5, 0.5)), "one or two spacings"),
        (lambda: field(np.zeros((4, 4)), 0.5, (math.inf, 0.0)), "finite"),
        (lambda: field(np.zeros((4, 4)), 0.5, (1.0,)), "corner (x, y)"),
        (lambda: field(np.diag(np.arange(6.0)), 0.5), "at most 60°"),
        (lambda: incline(math.nan), "± 45°"),
        (lambda: incline(0.1, math.inf), "± 360°"),
        (lambda: stairs(math.nan, 0.3, 3), "± 2 m"),
        (lambda: stairs(0.1, 0.3, math.inf), "whole count"),
        (lambda: bumps(1, math.nan), "amplitude 0 … 1"),
        (lambda: image("hills.png", math.nan, 1.0), "sizes > 0"),
    ],
)
def test_wrong_numbers_are_refused_with_what_is_valid(make: Callable[[], Terrain], valid: str) -> None:
    with pytest.raises(TerrainError) as caught:
        make()
    assert valid in str(caught.value)


def test_given_heights_are_copied() -> None:
    heights = np.zeros((5, 5))
    heights[2, 3] = 0.1
    ground = field(heights, 0.5)
    before = float(ground.height(0.4, 0.0))
    heights[:] = 0.0
    assert float(ground.height(0.4, 0.0)) == before > 0.0
