from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from PIL import Image, ImageChops

from surefoot.errors import OutputError, UnknownNameError
from surefoot.motions import figure, painter, video
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion
from surefoot.motions.painter import Camera, Canvas
from surefoot.simulation import Simulation
from surefoot.terrains import Terrain

PAPER = np.round(255 * np.array(painter.PAPER))


@pytest.fixture(scope="module")
def walk() -> Motion:
    return Simulation(skill="walk").run(1.5)


def painted(motion: Motion, time: float, camera: Camera, width: int = 400, height: int = 300) -> Image.Image:
    canvas = Canvas(width, height)
    painter.paint_body(canvas, figure.actor_of(motion).limbs(time), camera)
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
    limbs, camera = figure.actor_of(walk).limbs(0.5), around(0.4)
    rows, columns = np.nonzero(drawn(painted(walk, 0.5, camera)))
    (left, right), (low, high) = painter.extent(limbs, 0), painter.extent(limbs, 2)
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
    limbs, camera = figure.actor_of(walk).limbs(0.0), around(0.0)
    contrast = []
    for fade in (0.0, 0.5, 1.0):
        canvas = Canvas(400, 300)
        painter.paint_body(canvas, limbs, camera, fade)
        contrast.append(float(np.abs(np.asarray(canvas.image(), float) - PAPER).mean()))
    assert contrast[0] > 1.8 * contrast[1] > 0.0
    assert contrast[2] == pytest.approx(0.0, abs=0.01)


def test_pose_between_two_frames_lies_between_them(walk: Motion) -> None:
    for motion in (walk, replace(walk, scene=None)):
        actor = figure.actor_of(motion)
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
        limbs = figure.actor_of(replace(walk, scene=None)).limbs(walk.time[frame])
        joints = np.array([limb.shapes[0].points[0] for limb in limbs])
        assert np.abs(joints - data.xpos[1 : 1 + len(joints)]).max() < 1e-9


def test_ground_is_filled_up_to_its_profile_with_vertical_faces() -> None:
    terrain = Terrain("drop", np.array([[1.0, 0.0], [1.0, -0.4]]))
    canvas, camera = Canvas(400, 300), Camera("side", 100.0, left=-1.0, top=2.0)
    painter.paint_ground(canvas, terrain, camera, 0.0, 400.0, 0.0)
    filled = drawn(canvas.image())
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
