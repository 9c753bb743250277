from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image, ImageChops

from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError, UnknownNameError
from surefoot.motions import painter, posed_body, video
from surefoot.motions import quaternions as quat
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.painter import Camera, Canvas, mean_facing
from surefoot.terrains import Terrain
from surefoot.terrains import load as load_terrain

PAPER = np.round(255 * np.array(painter.PAPER))


@pytest.fixture(scope="module")
def walk() -> Motion:
    return Simulation(skill="walk").run(1.5)


def painted(motion: Motion, time: float, camera: Camera, width: int = 400, height: int = 300) -> Image.Image:
    canvas = Canvas(width, height)
    painter.paint_body(canvas, posed_body.posed_body_of(motion).limbs(time), camera)
    return canvas.image()


def around(x: float, view: str = "side") -> Camera:
    return Camera(view, 150.0, left=x - 200.0 / 150.0, top=1.9)  # type: ignore[arg-type]


def drawn(image: Image.Image) -> np.ndarray:
    """(rows, columns) where the picture is not paper."""
    return np.asarray(np.abs(np.asarray(image, float) - PAPER).max(axis=2) > 12)


def color_at(image: Image.Image, pixel: np.ndarray) -> np.ndarray:
    return np.array(image.getpixel((int(pixel[0]), int(pixel[1]))))


def close(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(np.asarray(one, float) - other).max() <= 4)


def test_trunk_and_near_shin_have_their_colours_where_they_are(walk: Motion) -> None:
    assert walk.scene is not None
    model, data = walk.scene.model, mujoco.MjData(walk.scene.model)
    for frame in (0, 40, 77):
        camera = around(walk.root_position[frame, 0])
        image = painted(walk, walk.time[frame], camera)
        data.qpos[:] = walk.qpos[frame]
        mujoco.mj_kinematics(model, data)
        for name in ("trunk_0", "trunk_1", "right_shin_0"):
            geom = model.geom(name).id
            pixel = camera.project(data.geom_xpos[geom][None])[0]
            assert close(color_at(image, pixel), 255 * model.geom_rgba[geom, :3]), (frame, name)


def test_nothing_is_drawn_outside_the_bodys_extent(walk: Motion) -> None:
    limbs, camera = posed_body.posed_body_of(walk).limbs(0.5), around(0.4)
    rows, columns = np.nonzero(drawn(painted(walk, 0.5, camera)))
    (left, right), (low, high) = painter.extent_along(limbs, 0), painter.extent_along(limbs, 2)
    corners = camera.project(np.array([[left, 0.0, high], [right, 0.0, low]]))
    found = np.array([[columns.min(), rows.min()], [columns.max(), rows.max()]])
    assert np.abs(found - corners).max() < 4.0


def test_right_leg_hides_the_left_one_seen_from_the_side(walk: Motion) -> None:
    assert walk.scene is not None
    camera = around(walk.root_position[0, 0])
    hip = camera.project(walk.root_position[:1])[0]
    near = walk.scene.model.geom("right_thigh_0").rgba[:3]
    assert close(color_at(painted(walk, 0.0, camera), hip), 255 * near)


def test_side_and_front_differ(walk: Motion) -> None:
    side, front = painted(walk, 0.5, around(0.5)), painted(walk, 0.5, around(0.0, "front"))
    assert ImageChops.difference(side, front).getbbox() is not None
    width = [np.ptp(np.nonzero(drawn(image))[1]) for image in (side, front)]
    assert width[0] > 1.5 * width[1]  # a planar body is thin from the front


def test_faded_figure_is_nearer_to_the_paper(walk: Motion) -> None:
    limbs, camera = posed_body.posed_body_of(walk).limbs(0.0), around(0.0)
    contrast = []
    for fade in (0.0, 0.5, 1.0):
        canvas = Canvas(400, 300)
        painter.paint_body(canvas, limbs, camera, fade)
        contrast.append(float(np.abs(np.asarray(canvas.image(), float) - PAPER).mean()))
    assert contrast[0] > 1.8 * contrast[1] > 0.0
    assert contrast[2] == pytest.approx(0.0, abs=0.01)


def test_pose_between_two_frames_lies_between_them(walk: Motion) -> None:
    for motion in (walk, replace(walk, scene=None)):
        actor = posed_body.posed_body_of(motion)
        before, middle, after = (
            np.vstack([s.points for limb in actor.limbs(t) for s in limb.shapes])
            for t in (walk.time[30], 0.5 * (walk.time[30] + walk.time[31]), walk.time[31])
        )
        assert np.abs(middle - 0.5 * (before + after)).max() < 1e-3
        assert np.abs(after - before).max() > 1e-2


def test_stick_figure_joints_are_where_the_bodies_are(walk: Motion) -> None:
    assert walk.scene is not None
    model, data = walk.scene.model, mujoco.MjData(walk.scene.model)
    for frame in (0, 50):
        data.qpos[:] = walk.qpos[frame]
        mujoco.mj_kinematics(model, data)
        limbs = posed_body.posed_body_of(replace(walk, scene=None)).limbs(walk.time[frame])
        joints = np.array([limb.shapes[0].points[0] for limb in limbs])
        assert np.abs(joints - data.xpos[1 : 1 + len(joints)]).max() < 1e-9


def ground_drawn(terrain: Terrain | None, camera: Camera, path: np.ndarray) -> Image.Image:
    canvas = Canvas(400, 300)
    painter.paint_ground(canvas, terrain, camera, 0.0, 400.0, path)
    return canvas.image()


def surface_of(image: Image.Image, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """(n,) places along the picture and heights [m] of what is highest in each column."""
    columns = np.arange(5, image.width - 5)
    rows = drawn(image).argmax(axis=0)[columns]
    return camera.left + (columns + 0.5) / camera.scale, camera.top - (rows + 1.0) / camera.scale


def axes_of(yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """(2,) the way ahead and to the left."""
    return np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])


UNEVEN = ["bumps:7,0.2,0.8,12", "incline:12,30", "slope:15,0.4,2,60", "steps:0.8,0.3,1.6,-0.5", "rough:3,0.2", "flat"]


@pytest.mark.parametrize("text", UNEVEN)
@pytest.mark.parametrize("yaw", [0.0, 0.7, 1.5708, -2.1])
@pytest.mark.parametrize("view", ["side", "front"])
def test_ground_line_is_where_the_ground_below_the_body_is(text: str, yaw: float, view: str) -> None:
    terrain, place = load_terrain(text), np.array([1.3, -0.4])
    ahead, left = axes_of(yaw)
    right, deep = (ahead, left) if view == "side" else (left, ahead)
    camera = Camera(view, 100.0, left=float(place @ right) - 2.0, top=1.9, yaw=yaw)  # type: ignore[arg-type]
    along, seen = surface_of(ground_drawn(terrain, camera, place[None]), camera)
    x, y = np.outer(right, along) + (deep * (place @ deep))[:, None]
    off = np.abs(seen - terrain.height(x, y))
    steep = np.abs(np.gradient(terrain.height(x, y), along)) > 1.2  # at a face a column shows both of its sides
    steep = np.convolve(steep, np.ones(7), mode="same") > 0
    assert off[~steep].max() < 0.03
    assert steep.mean() < 0.2


def test_ground_of_a_long_way_is_cut_where_the_body_went() -> None:
    terrain, along = load_terrain("incline:15,90"), np.linspace(-3.0, 3.0, 13)
    for direction in (1, -1):  # forward and backward
        path = np.column_stack([along, 0.5 * np.sin(along)])[::direction]
        camera = Camera("side", 80.0, left=-2.5, top=1.5)
        places, seen = surface_of(ground_drawn(terrain, camera, path), camera)
        assert np.abs(seen - np.tan(np.radians(15.0)) * 0.5 * np.sin(places)).max() < 0.03


def test_marks_of_distance_stand_along_the_way_it_faces() -> None:
    for yaw in (0.0, 0.9):
        ahead, _ = axes_of(yaw)
        camera = Camera("side", 100.0, left=1.0, top=1.9, yaw=yaw)
        image = ground_drawn(None, camera, 3.0 * ahead[None])
        for distance in (1.5, 2.5, 4.5):
            column, row = camera.project(np.array([[*distance * ahead, 0.0]]))[0]
            dark = np.asarray(image.convert("L"), float)[int(row) + 3, int(column) - 12 : int(column) + 12]
            assert abs(int(dark.argmin()) - 12) <= 1, (yaw, distance)
            assert dark.max() - dark.min() > 20


def test_ground_is_filled_up_to_its_profile_with_vertical_faces() -> None:
    terrain = Terrain("drop", np.array([[1.0, 0.0], [1.0, -0.4]]))
    camera = Camera("side", 100.0, left=-1.0, top=2.0)
    filled = drawn(ground_drawn(terrain, camera, np.zeros((1, 2))))
    first = filled.argmax(axis=0)  # (columns,) of the first row that is not paper
    assert np.abs(first[20:198] - 200).max() <= 2
    assert np.abs(first[203:380] - 240).max() <= 2
    assert filled[-1].all()


def test_boxes_and_spheres_are_drawn_in_their_true_shape() -> None:
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="thing", pos=[0, 0, 1])
    body.add_freejoint(name="root")
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.4, 0.1, 0.2], rgba=[1, 0, 0, 1])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], pos=[0, 0, 0.5], rgba=[0, 0, 1, 1])
    model = spec.compile()
    rotations = np.array([[[1.0, 0.0, 0.0, 0.0]]])
    skeleton = SimpleNamespace(names=("thing",), parents=np.array([-1]), offsets=np.zeros((1, 3)))
    motion = Motion(
        np.zeros(1), skeleton, np.array([[0.0, 0.0, 1.0]]), rotations,  # type: ignore[arg-type]
        qpos=model.qpos0[None].copy(), scene=SimpleNamespace(model=model),  # type: ignore[arg-type]
    )  # fmt: skip
    for view, half in (("side", 0.4), ("front", 0.1)):
        camera = around(0.0, view)
        image = painted(motion, 0.0, camera)
        inside = camera.project(np.array([[half - 0.03, half - 0.03, 0.83]]))[0]
        outside = camera.project(np.array([[half + 0.03, half + 0.03, 0.83]]))[0]
        assert close(color_at(image, inside), np.array([255, 0, 0]))
        assert close(color_at(image, outside), PAPER)
        assert close(color_at(image, camera.project(np.array([[0.0, 0.0, 1.58]]))[0]), np.array([0, 0, 255]))


@pytest.mark.parametrize("kind", ["ellipsoid", "cylinder"])
def test_round_shapes_are_drawn_in_their_true_shape(kind: str) -> None:
    spec, half = mujoco.MjSpec(), np.array([0.4, 0.4 if kind == "cylinder" else 0.15, 0.25])
    body = spec.worldbody.add_body(name="thing", pos=[0, 0, 1])
    body.add_freejoint(name="root")
    size = [0.4, 0.25, 0.0] if kind == "cylinder" else half
    body.add_geom(type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"), size=size, rgba=[1, 0, 0, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[3:7] = np.array([0.9, 0.1, -0.2, 0.35]) / np.linalg.norm([0.9, 0.1, -0.2, 0.35])
    mujoco.mj_kinematics(model, data)
    skeleton = SimpleNamespace(names=("thing",), parents=np.array([-1]), offsets=np.zeros((1, 3)))
    motion = Motion(
        np.zeros(1), skeleton, data.qpos[None, :3], data.qpos[None, None, 3:7],  # type: ignore[arg-type]
        qpos=data.qpos[None].copy(), scene=SimpleNamespace(model=model),  # type: ignore[arg-type]
    )  # fmt: skip
    camera = around(0.0)
    found = np.argwhere(drawn(painted(motion, 0.0, camera)))[:, ::-1] + 0.5
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40_000, 3))
    if kind == "cylinder":  # on its rims, which span its hull
        points /= np.linalg.norm(points[:, :2], axis=1, keepdims=True)
        points[:, 2] = np.sign(points[:, 2])
    else:
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    surface = camera.project(data.geom_xpos[0] + (points * half) @ data.geom_xmat[0].reshape(3, 3).T)
    for direction in np.column_stack([np.cos(np.arange(0, 6.2, 0.3)), np.sin(np.arange(0, 6.2, 0.3))]):
        assert (found @ direction).max() == pytest.approx((surface @ direction).max() + 1.1, abs=1.2)  # the outline


@pytest.fixture(scope="module")
def human_walk() -> Motion:
    return Simulation(skill="human/walk-as-printed").run(1.5)


def turned_about_the_origin(motion: Motion, yaw: float) -> Motion:
    """The same motion with everything turned about the vertical axis."""
    turn = quat.about_vertical(np.full(len(motion), yaw))
    rotations, qpos = motion.rotations.copy(), motion.qpos.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    qpos[:, :3], qpos[:, 3:7] = quat.rotate(turn, qpos[:, :3]), quat.multiply(turn, qpos[:, 3:7])
    return replace(motion, root_position=quat.rotate(turn, motion.root_position), rotations=rotations, qpos=qpos)


@pytest.mark.parametrize("view", ["side", "front"])
@pytest.mark.parametrize("with_scene", [True, False])
def test_a_walker_that_heads_elsewhere_is_drawn_from_its_own_side(
    human_walk: Motion, view: str, with_scene: bool
) -> None:
    motion = human_walk if with_scene else replace(human_walk, scene=None)
    for degrees in (90.0, -130.0):
        other = turned_about_the_origin(motion, np.radians(degrees))
        strips = [filmstrip(m, frames=6, view=view) for m in (motion, other)]  # type: ignore[arg-type]
        *_, one = video.frames(motion, 2.0, view=view)  # type: ignore[arg-type]
        *_, two = video.frames(other, 2.0, view=view)  # type: ignore[arg-type]
        for first, second in (strips, (one, two)):
            assert first.size == second.size
            assert np.abs(np.asarray(first, float) - np.asarray(second)).mean() < 0.2
    wrong = filmstrip(motion, frames=6, view="front" if view == "side" else "side")
    assert wrong.size != strips[0].size or np.abs(np.asarray(wrong, float) - np.asarray(strips[0])).mean() > 2.0


def test_side_view_looks_from_the_right_of_a_walker_along_y(human_walk: Motion) -> None:
    along_y = turned_about_the_origin(human_walk, np.radians(90.0))
    yaw = mean_facing(along_y)
    assert yaw == pytest.approx(np.radians(90.0), abs=0.3)
    camera = Camera("side", 150.0, yaw=yaw)
    hips = np.array([[0.1, 2.0, 1.0], [-0.1, 2.0, 1.0], [0.0, 2.5, 1.0]])  # right, left, ahead
    assert camera.depth(hips[:1]) < camera.depth(hips[1:2])
    assert camera.project(hips)[2, 0] > camera.project(hips)[:2, 0].max() + 50.0


def test_mean_facing_is_not_turned_by_flips_and_averages_over_the_back() -> None:
    pitch = np.linspace(0.0, 2.0 * np.pi, 50)
    flip = np.column_stack([np.cos(pitch / 2), np.zeros(50), np.sin(pitch / 2), np.zeros(50)])
    yaw = np.radians(np.where(np.arange(50) < 25, 165.0, -175.0))
    rotations = quat.multiply(quat.about_vertical(yaw), flip)[:, None]
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    motion = Motion(np.linspace(0.0, 1.0, 50), skeleton, np.zeros((50, 3)), rotations)
    assert np.degrees(mean_facing(motion)) % 360.0 == pytest.approx(175.0, abs=1e-6)
    assert np.degrees(mean_facing(motion, 0.0, 0.4)) == pytest.approx(165.0, abs=1e-6)
    assert np.degrees(mean_facing(motion, 0.701, 0.702)) == pytest.approx(-175.0, abs=1e-6)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is written onto a picture from now on."""
    texts: list[str] = []
    write = Canvas.text

    def remembered(self: Canvas, x: float, y: float, text: str, *others: Any, **named: Any) -> float:
        texts.append(text)
        return write(self, x, y, text, *others, **named)

    monkeypatch.setattr(Canvas, "text", remembered)
    return texts


def test_speed_in_the_caption_is_that_along_the_way_it_faces(human_walk: Motion, written: list[str]) -> None:
    ahead, left = axes_of(np.radians(70.0))
    time = human_walk.time[:, None]
    standing = replace(turned_about_the_origin(human_walk, np.radians(70.0)), scene=None)
    rotations = standing.rotations.copy()
    rotations[:, 0] = quat.about_vertical(np.full(len(time), np.radians(70.0)))
    places = np.column_stack([time * (0.8 * ahead + 0.5 * left), np.ones(len(time))])
    filmstrip(replace(standing, root_position=places, rotations=rotations))
    assert "0.80 m/s" in written


@pytest.mark.parametrize("terrain", ["incline:2", "bumps:7,0.005", "slope:3,0.5"])
def test_uneven_ground_of_any_kind_is_named_and_shown_for_longer(terrain: str, written: list[str]) -> None:
    motion = Simulation(skill="planar/walk", terrain=terrain).run(4.0)
    filmstrip(motion)
    assert any(terrain in text for text in written)
    assert "0.00 s" in written  # less than 8.5 m from the end, though more than 2.75 s
    written.clear()
    filmstrip(Simulation(skill="planar/walk").run(4.0))
    assert "0.00 s" not in written


def test_camera_of_a_film_rises_with_the_ground_to_the_side(human_walk: Motion) -> None:
    scene = Simulation(skill="human/walk-as-printed", terrain="incline:10,90").scene
    aside, rise = 3.0, 3.0 * np.tan(np.radians(10.0))
    qpos, root = human_walk.qpos + 0.0, human_walk.root_position + np.array([0.0, aside, rise])
    qpos[:, 1:3] += aside, rise
    picture = next(video.frames(replace(human_walk, qpos=qpos, root_position=root, scene=scene), 1.0))
    first = drawn(picture).argmax(axis=0)
    assert np.abs(first[[10, 630]] - 0.85 * 360).max() < 6.0  # the ground, where it always is


@pytest.mark.parametrize("view", ["side", "front"])
@pytest.mark.parametrize("with_scene", [True, False])
def test_filmstrip_shows_as_many_figures_as_asked_for(walk: Motion, view: str, with_scene: bool) -> None:
    motion = walk if with_scene else replace(walk, scene=None)
    image = filmstrip(motion, frames=7, view=view)  # type: ignore[arg-type]
    assert image.size == (1600, 360)
    heads = drawn(image)[48:78].any(axis=0)  # a band at the height of the heads, below the caption
    assert np.count_nonzero(np.diff(heads.astype(int)) == 1) == 7


def test_uneven_ground_is_shown_at_true_places() -> None:
    motion = Simulation(skill="walk", terrain="steps:3,-0.2,6,-0.2").run(7.5)
    image = filmstrip(motion, caption="")
    width, height = image.size
    assert width == 1600
    assert 360 <= height <= 520
    first = drawn(image)[:, [3, width - 4]].argmax(axis=0)  # the ground at both ends
    assert first[1] - first[0] > 40  # it has come down 0.4 m


def test_a_long_way_is_drawn_where_it_was_walked() -> None:
    motion = Simulation(skill="walk").run(8.0)
    image = filmstrip(motion, frames=10, start=0.0, caption="")
    heads = drawn(image)[45:75].any(axis=0)
    figures = np.flatnonzero(np.diff(heads.astype(int)) == 1)
    way = np.ptp(motion.root_position[:, 0])
    marks = 1540 / (way + 1.4)  # [px/m] at least, if it fills the picture
    assert 0.7 * way * marks < np.ptp(figures) < 1540


def test_filmstrip_of_one_frame_and_of_a_fallen_body_can_be_drawn() -> None:
    simulation = Simulation(skill="walk")
    assert drawn(filmstrip(simulation.run(0.0))).any()
    simulation.push((2000.0, 0.0, 0.0), 0.4)
    motion = simulation.run(4.0)
    assert simulation.fallen
    image = filmstrip(motion)
    assert image.width == 1600
    assert drawn(image).any()


def test_senseless_filmstrips_are_refused(walk: Motion) -> None:
    with pytest.raises(OutputError, match="figures"):
        filmstrip(walk, frames=0)
    with pytest.raises(OutputError, match="within 0"):
        filmstrip(walk, start=1.0, end=9.0)
    with pytest.raises(OutputError, match="within 0"):
        filmstrip(walk, end=-1.0)
    with pytest.raises(OutputError, match="px"):
        filmstrip(walk, width=3)
    with pytest.raises(UnknownNameError, match="side, front"):
        filmstrip(walk, view="top")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="without frames"):
        filmstrip(replace(walk, time=np.zeros(0)))
    with pytest.raises(OutputError, match="not finite"):
        filmstrip(replace(walk, root_position=walk.root_position * np.nan))


def test_gif_plays_in_real_time_with_at_most_fifty_pictures_a_second(walk: Motion) -> None:
    with Image.open(io.BytesIO(video.gif(walk, 240, 136))) as film:
        durations = []
        for i in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(i)
            durations.append(film.info["duration"])
        assert film.size == (240, 136)
    assert min(durations) >= 20
    assert sum(durations) / 1000 == pytest.approx(1.5, abs=0.05)


def test_camera_keeps_the_body_in_the_picture() -> None:
    motion = Simulation(skill="fast-run").run(2.0)
    *_, last = video.frames(motion, 5.0)
    orange = np.asarray(last, float) @ [1.0, 0.0, -1.0] > 90  # the near leg
    columns = np.nonzero(orange)[1]
    assert len(columns) > 200
    assert 120 < columns.mean() < 520
