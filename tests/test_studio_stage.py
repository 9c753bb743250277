"""What the stage of the studio shows is where MuJoCo and the terrain say it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
import viser
from PIL import Image

from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.motions import meshes
from surefoot.studio import model_view
from surefoot.studio.model_view import GroundView, Surface, planes, surfaces, tint_right_side
from surefoot.studio.session import Session
from surefoot.studio.stage import MARKS, VIEWS, DistanceMarks, Stage, limb_bodies
from surefoot.terrains import Bar, Crate, Obstacle, Table, Terrain, flat, load, names, with_props

TERRAINS = {
    "flat": "flat", "slope": "slope:6,1.5,30,20", "steps": "steps:2,0.1,4,-0.2", "rough": "rough:3,0.05",
    "incline": "incline:5,30", "stairs": "stairs:0.12,0.31,9", "bumps": "bumps:5,0.07", "image": "image",
    "gaps": "gaps:0.2,0.5,6",
}  # fmt: skip

STRANGER = """
<mujoco>
  <asset>
    <material name="red" rgba="0.9 0.1 0.2 1"/>
    <mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.2 0  0 0 0.1"/>
  </asset>
  <worldbody>
    <body name="a" pos="0 0 1"><freejoint/>
      <geom type="mesh" mesh="wedge" material="red" group="2" mass="1"/>
      <geom type="box" size="0.1 0.2 0.3" group="3"/>
      <geom type="sphere" size="0.1" rgba="1 1 1 0"/>
    </body>
    <body name="b" pos="1 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" group="3" mass="1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    """A page nobody looks at."""
    opened = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield opened
    opened.stop()


def terrain_of(kind: str, folder: Path) -> Terrain:
    """A terrain of a kind, none of it level."""
    if kind != "image":
        return load(TERRAINS[kind])
    grey = np.random.default_rng(1).integers(0, 255, (40, 50)).astype(np.uint8)
    Image.fromarray(grey).save(folder / "hills.png")
    return load(f"image:{folder / 'hills.png'},20,0.2")


def height_of(found: list[Surface], x: float, y: float) -> float:
    """Of the highest triangle above or below a point of the plan [m]."""
    best = -np.inf
    for surface in found:
        a, b, c = (surface.vertices[surface.triangles[:, i]] for i in range(3))
        ab, ac, ap = b[:, :2] - a[:, :2], c[:, :2] - a[:, :2], np.array([x, y]) - a[:, :2]
        area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
        upright = np.abs(area) < 1e-12
        area[upright] = 1.0
        right = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / area
        up = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / area
        inside = ~upright & (right >= 0.0) & (up >= 0.0) & (right + up <= 1.0)
        z = a[:, 2] + right * (b[:, 2] - a[:, 2]) + up * (c[:, 2] - a[:, 2])
        best = max(best, float(z[inside].max(initial=-np.inf)))
    return best


@pytest.mark.parametrize("character", ["planar", "human", "humanoid", "ape"])
def test_shapes_are_where_mujoco_has_its_geoms(character: str) -> None:
    sim = Simulation(character, "walk" if character in ("planar", "human") else "biped/walk")
    rng = np.random.default_rng(4)
    data = mujoco.MjData(sim.model)
    mujoco.mj_integratePos(sim.model, data.qpos, rng.uniform(-1.0, 1.0, sim.model.nv), 1.0)
    mujoco.mj_kinematics(sim.model, data)
    found = model_view.instances(sim.model, set(range(1, sim.model.nbody)))
    drawn = np.zeros(sim.model.ngeom, int)
    for part in found.values():
        positions, turns = part.positions(data), part.orientations(data)
        for geom, scale, along, position, turn in zip(
            part.geom, part.scale, part.z_offset, positions, turns, strict=True
        ):
            drawn[geom] += 1
            axes = np.empty(9)
            mujoco.mju_quat2Mat(axes, turn)
            np.testing.assert_allclose(axes, data.geom_xmat[geom], atol=1e-9)
            shift = axes.reshape(3, 3).T @ (position - data.geom_xpos[geom])
            np.testing.assert_allclose(shift, [0.0, 0.0, along], atol=1e-9)
            assert scale[0] == sim.model.geom_size[geom, 0]
    capsules = (sim.model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE) & (sim.model.geom_bodyid > 0)
    assert capsules.any()
    assert (drawn[capsules] == 3).all()  # two balls and a tube


def test_what_is_hidden_is_not_drawn_unless_it_is_all_there_is() -> None:
    model = mujoco.MjModel.from_xml_string(STRANGER)
    assert model_view.visible_geoms(model, {1}) == [0]
    assert model_view.visible_geoms(model, {2}) == [3]


def test_a_mesh_is_drawn_in_its_materials_colour_where_mujoco_has_its_corners() -> None:
    model = mujoco.MjModel.from_xml_string(STRANGER)
    data = mujoco.MjData(model)
    data.qpos[3:7] = np.array([0.5, -0.5, 0.1, 0.7]) / np.linalg.norm([0.5, -0.5, 0.1, 0.7])
    mujoco.mj_kinematics(model, data)
    ((kind, part),) = model_view.instances(model, {1}).items()
    np.testing.assert_allclose(part.color, [[229.5, 25.5, 51.0]], atol=0.51)
    vertices, triangles = model_view.unit_mesh(model, kind)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, part.orientations(data)[0])
    drawn = part.positions(data)[0] + vertices @ turn.reshape(3, 3).T
    axes = data.body("a").xmat.reshape(3, 3)
    wanted = data.body("a").xpos + np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]) @ axes.T
    assert len(triangles) == 4
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], wanted[np.lexsort(wanted.T)], atol=1e-6)


def test_welding_leaves_no_two_corners_that_are_the_same() -> None:
    ball = meshes.ellipsoid_or_capsule(np.ones(3))
    vertices, triangles = model_view.weld_vertices(ball)
    assert len(np.unique(np.round(vertices, 6), axis=0)) == len(vertices) < len(ball.vertices)
    assert len(triangles) == len(ball.triangles)
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # it is closed


def test_legs_of_one_colour_are_told_apart_and_a_characters_own_are_kept() -> None:
    sim = Simulation("humanoid", "biped/walk")
    moving = set(range(1, sim.model.nbody))
    left, right = limb_bodies(sim)
    assert left
    assert not left & right
    assert len(left) == len(right)
    own = model_view.instances(sim.model, moving)
    kept = tint_right_side(sim.model, own, (left, right))
    assert all((kept[kind].color == own[kind].color).all() for kind in own)
    sim.model.geom_rgba[:, :3] = (0.7, 0.5, 0.3)
    own = model_view.instances(sim.model, moving)
    told = tint_right_side(sim.model, own, (left, right))
    for kind in own:
        is_right = np.isin(sim.model.geom_bodyid[own[kind].geom], list(right))
        assert ((told[kind].color != own[kind].color).any(axis=1) == is_right).all()


def test_every_kind_of_terrain_is_tried() -> None:
    assert {*TERRAINS, "platform", "seesaw"} == set(names())  # which move: they are drawn as bodies are


@pytest.mark.parametrize("kind", TERRAINS)
def test_the_ground_is_drawn_at_the_terrains_height(kind: str, tmp_path: Path) -> None:
    terrain = terrain_of(kind, tmp_path)
    model = Simulation("humanoid", "biped/walk", terrain).model
    found = surfaces(model)
    assert sum(len(surface.vertices) for surface in found) <= model_view.MAX_VERTICES
    rng = np.random.default_rng(2)
    for x, y in rng.uniform(-9.0, 9.0, (60, 2)):
        if kind in ("flat", "incline"):
            ((point, turn),) = planes(model)
            axes = np.empty(9)
            mujoco.mju_quat2Mat(axes, turn)
            normal = axes.reshape(3, 3)[:, 2]
            height = point[2] - (normal[0] * (x - point[0]) + normal[1] * (y - point[1])) / normal[2]
        else:
            height = height_of(found, x, y)
        assert height == pytest.approx(float(terrain.height(x, y)), abs=2e-5)


@pytest.mark.parametrize("text", ["rough:3,0.05,0.25,1000", "bumps:3,0.02,0.1,100"])
def test_the_largest_grounds_have_a_sane_number_of_corners(text: str) -> None:
    found = surfaces(Simulation("humanoid", "biped/walk", text).model)
    assert 1000 < sum(len(surface.vertices) for surface in found) <= 1.01 * model_view.MAX_VERTICES


def test_what_is_fixed_stands_on_the_ground_and_what_can_move_belongs_to_the_figure() -> None:
    props = [Obstacle(3.0, 0.2), Bar(5.0, 1.4), Table((2.0, 1.0)), Crate((0.4, 0.4, 0.4), position=(2.0, -1.0, 0.0))]
    model = Simulation("humanoid", "biped/walk", with_props(flat(), props)).model
    found = surfaces(model)
    assert len(found) == 3
    assert height_of(found, 3.0, 0.1) == pytest.approx(0.2)
    assert height_of(found, 5.0, 0.1) == pytest.approx(1.5)
    assert height_of(found, 2.1, 1.1) == pytest.approx(0.75)
    assert model.body("crate").id not in model_view.fixed_bodies(model)


def test_a_plane_stays_around_the_figure_and_in_itself(server: viser.ViserServer) -> None:
    sim = Simulation("humanoid", "biped/walk", "incline:8,30")
    drawn = GroundView(server.scene, "/ground/1", sim.model)
    place = np.array([41.3, -17.8, float(sim.scene.terrain.height(41.3, -17.8))])
    drawn.center_on(place)
    (grid,) = (node for node in drawn._nodes if isinstance(node, viser.GridHandle))
    assert np.linalg.norm(grid.position - place) < 1.0
    assert grid.position[2] == pytest.approx(float(sim.scene.terrain.height(*grid.position[:2])))


def test_the_ruler_keeps_its_nodes_over_a_hundred_metres_and_names_the_metres_nearby(
    server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    terrain = load("rough:3,0.05")
    ruler = DistanceMarks(server.scene, "/ground/ruler", terrain.height)
    before, sent = list(ruler.nodes), 0
    send = server._websock_server.queue_message

    def counted(message: object) -> None:
        nonlocal sent
        sent += 1
        send(message)  # type: ignore[arg-type]

    monkeypatch.setattr(server.scene._websock_interface, "queue_message", counted)
    for x in np.arange(0.0, 100.0, 0.02):
        ruler.center_on(np.array([x, 0.2 * np.sin(x), 1.0]))
    assert all(one is other for one, other in zip(ruler.nodes, before, strict=True))
    assert len(ruler.nodes) == MARKS + 1
    assert 100 < sent <= 3 * 101  # a metre: the lines, and one label's text and place
    labels = [node for node in ruler.nodes if isinstance(node, viser.LabelHandle)]
    found = {label.text: label.position for label in labels}
    assert set(found) == {f"{metre} m" for metre in range(100 - MARKS // 2, 100 + MARKS // 2 + 1)}
    for text, (x, y, z) in found.items():
        assert x == int(text.removesuffix(" m"))
        assert 0.0 < z - float(terrain.height(x, y)) < 0.05


def test_the_ruler_lies_on_another_ground_with_the_same_nodes(server: viser.ViserServer) -> None:
    ruler = DistanceMarks(server.scene, "/ground/ruler", flat().height)
    before, other = list(ruler.nodes), load("incline:6,20")
    ruler.set_ground(other.height)
    assert all(one is two for one, two in zip(ruler.nodes, before, strict=True))
    for node in ruler.nodes:
        if isinstance(node, viser.LabelHandle):
            assert 0.0 < node.position[2] - float(other.height(*node.position[:2])) < 0.05


def test_the_ruler_lies_across_the_way_also_where_it_goes_sideways(server: viser.ViserServer) -> None:
    ruler = DistanceMarks(server.scene, "/ground/ruler", flat().height)
    for y in np.arange(0.0, -20.0, -0.05):
        ruler.center_on(np.array([3.0, y, 1.0]))
    places = {n.text: n.position for n in ruler.nodes if isinstance(n, viser.LabelHandle)}
    assert places["-20 m"][1] == -20.0
    assert abs(places["-20 m"][0] - 3.0) < 1.5


def test_the_page_goes_with_the_figure_also_uphill_and_stays_when_it_shall_not(server: viser.ViserServer) -> None:
    session = Session(Setup("biped/walk", "humanoid", "slope:5,0.5"))
    stage = Stage(server)
    for _ in range(90):
        session.step(34)
        stage.draw(session)
    root = session.pose.xpos[1]
    assert np.linalg.norm(stage.origin[:2] - root[:2]) < 0.5
    assert stage.origin[2] == pytest.approx(float(session.sim.scene.terrain.height(*stage.origin[:2])), abs=0.05)
    stage.follows, before = False, stage.origin.copy()
    session.step(200)
    stage.draw(session)
    assert (stage.origin == before).all()


def test_nothing_is_sent_while_nothing_moves(server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch) -> None:
    session, stage = Session(Setup("planar/walk")), Stage(server)
    for _ in range(400):
        stage.draw(session)
    sent: list[object] = []
    monkeypatch.setattr(server.scene._websock_interface, "queue_message", sent.append)
    stage.draw(session)
    assert not sent
    session.step(20)
    stage.draw(session)
    assert 0 < len(sent) <= 6


def test_the_same_ground_is_kept_when_it_begins_again_and_another_is_put_in_its_place(
    server: viser.ViserServer,
) -> None:
    session, stage = Session(Setup("planar/walk", terrain="stairs:0.1,0.3,5")), Stage(server)
    stage.draw(session)
    first = stage._ground
    session.restart()
    stage.draw(session)
    assert stage._ground is first
    session.rebuild(terrain="stairs:0.1,0.3,6")
    stage.draw(session)
    assert stage._ground is not first


def test_boards_have_room_and_who_connects_later_sees_the_present_view(server: viser.ViserServer) -> None:
    stage = Stage(server)
    stage.show_boards(True, "poses")
    place, target = stage.camera_pose()
    assert (server.initial_camera.position == place).all()
    half = np.linalg.norm(place - target) * np.tan(0.5 * server.initial_camera.fov)
    assert target[2] - half < -0.3
    assert target[2] + half > 3.0
    stage.show_boards(False, "poses")
    assert np.linalg.norm(stage.camera_pose()[0] - stage.camera_pose()[1]) < np.linalg.norm(place - target)
    ways = []
    for view in VIEWS:
        stage.look_from(view)
        way = np.subtract(*stage.camera_pose())
        ways.append(way / np.linalg.norm(way))
        assert (server.initial_camera.position == stage.camera_pose()[0]).all()
    assert np.argmax(np.abs(ways), axis=1).tolist() == [1, 0, 0, 2]
