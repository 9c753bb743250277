from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import surefoot as sf
from glb_reading import Read
from surefoot.errors import OutputError
from surefoot.motions import gltf, meshes
from surefoot.motions.meshes import TriangleMesh
from surefoot.motions.motion import Motion, Skeleton

NAMES = ("hips", "thigh", "shin", "spine")
PARENTS = np.array([-1, 0, 1, 0])
OFFSETS = np.array([[0.3, 0.2, 0.9], [0.02, 0.11, -0.05], [0.01, 0.03, -0.43], [-0.03, 0.01, 0.21]])


def generic(count: int = 30) -> Motion:
    """Smooth rotations far from zero, with the signs of their quaternions mixed up."""
    generator = np.random.default_rng(4)
    ways = generator.normal(size=(1, 4, 3)) + 0.1 * generator.normal(size=(count, 4, 3)).cumsum(axis=0)
    turns = Rotation.from_rotvec(ways.reshape(-1, 3)).as_quat(scalar_first=True).reshape(count, 4, 4)
    turns *= generator.choice([-1.0, 1.0], size=(count, 4, 1))
    places = generator.normal(size=(count, 3)).cumsum(axis=0)
    return Motion(2.0 + np.arange(count) / 30.0, Skeleton(NAMES, PARENTS, OFFSETS), places, turns)


@pytest.fixture(scope="module")
def walk() -> Motion:
    return sf.Simulation("planar", "walk").run(1.0, fps=60)


@pytest.fixture(scope="module")
def files(walk: Motion) -> dict[str, tuple[Motion, Read]]:
    motions = {"walk": walk, "sticks": replace(walk, scene=None), "generic": generic(), "still": generic(1)}
    return {name: (motion, Read(gltf.encode(motion))) for name, motion in motions.items()}


CASES = pytest.mark.parametrize("name", ["walk", "sticks", "generic", "still"])


@CASES
def test_nodes_are_the_skeletons_joints_and_hang_together(files: dict[str, tuple[Motion, Read]], name: str) -> None:
    motion, file = files[name]
    nodes = file.json["nodes"]
    assert [node["name"] for node in nodes] == list(motion.skeleton.names)
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
    assert [parents.get(i, -1) for i in range(len(nodes))] == motion.skeleton.parents.tolist()
    assert file.json["scenes"][0]["nodes"] == [0]
    assert file.json["asset"]["version"] == "2.0"


@CASES
def test_one_time_line_from_zero_drives_all_rotations_and_the_roots_place(
    files: dict[str, tuple[Motion, Read]], name: str
) -> None:
    motion, file = files[name]
    (animation,) = file.json["animations"]
    (clock,) = {sampler["input"] for sampler in animation["samplers"]}
    np.testing.assert_allclose(file.table(clock)[:, 0], motion.time - motion.time[0], atol=1e-6)
    tracks = file.tracks()
    assert set(tracks) == {(0, "translation")} | {(i, "rotation") for i in range(len(motion.skeleton.names))}
    for (_, path), table in tracks.items():
        assert table.shape == (len(motion), 3 if path == "translation" else 4)
        if path == "rotation":
            np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1.0, atol=1e-6)
            assert ((table[1:] * table[:-1]).sum(axis=1) > 0.0).all()


@CASES
def test_nodes_are_where_the_joints_were_with_y_up_and_z_forward(
    files: dict[str, tuple[Motion, Read]], name: str
) -> None:
    motion, file = files[name]
    for frame in (0, len(motion) // 2, len(motion) - 1):
        places, axes = (
            [motion.root_position[frame]],
            [Rotation.from_quat(motion.rotations[frame, 0], scalar_first=True)],
        )
        for joint in range(1, len(motion.skeleton.names)):
            parent = motion.skeleton.parents[joint]
            places.append(places[parent] + axes[parent].apply(motion.skeleton.offsets[joint]))
            axes.append(axes[parent] * Rotation.from_quat(motion.rotations[frame, joint], scalar_first=True))
        x, y, z = np.array(places).T
        np.testing.assert_allclose(file.places(frame), np.column_stack([y, z, x]), atol=1e-5)


@CASES
def test_accessors_say_their_bounds_and_lie_side_by_side(files: dict[str, tuple[Motion, Read]], name: str) -> None:
    _, file = files[name]
    ends = 0
    for number, accessor in enumerate(file.json["accessors"]):
        table = file.table(number)
        assert np.isfinite(table).all()
        if "min" in accessor:
            np.testing.assert_array_equal(np.float32(accessor["min"]), table.min(axis=0))
            np.testing.assert_array_equal(np.float32(accessor["max"]), table.max(axis=0))
    for view in file.json["bufferViews"]:
        assert view["byteOffset"] == ends
        ends += view["byteLength"]
    assert ends == len(file.binary)
    bounded = {i for i, accessor in enumerate(file.json["accessors"]) if "min" in accessor}
    needed = {sampler["input"] for sampler in file.json["animations"][0]["samplers"]}
    for mesh in file.json["meshes"]:
        needed |= {primitive["attributes"]["POSITION"] for primitive in mesh["primitives"]}
    assert bounded == needed


@CASES
def test_meshes_have_valid_triangles_normals_and_materials(files: dict[str, tuple[Motion, Read]], name: str) -> None:
    _, file = files[name]
    assert all("mesh" in node for node in file.json["nodes"])
    for mesh in file.json["meshes"]:
        for primitive in mesh["primitives"]:
            vertices, normals = (file.table(primitive["attributes"][key]) for key in ("POSITION", "NORMAL"))
            triangles = file.table(primitive["indices"])
            assert vertices.shape == normals.shape
            assert len(triangles) % 3 == 0
            assert triangles.max() == len(vertices) - 1
            np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
            assert primitive["material"] < len(file.json["materials"])


def test_a_simulated_bodys_parts_have_its_shapes_and_colours(files: dict[str, tuple[Motion, Read]]) -> None:
    motion, file = files["walk"]
    assert motion.scene is not None
    model = motion.scene.model
    thigh = file.json["meshes"][file.json["nodes"][1]["mesh"]]
    (primitive,) = thigh["primitives"]
    vertices = file.table(primitive["attributes"]["POSITION"])
    radius = model.geom("left_thigh_0").size[0]
    assert vertices.min(axis=0) == pytest.approx([-radius, -0.45 - radius, -radius], abs=1e-6)
    assert vertices.max(axis=0) == pytest.approx([radius, radius, radius], abs=1e-6)
    color = np.array(file.json["materials"][primitive["material"]]["pbrMetallicRoughness"]["baseColorFactor"])
    shown = np.where(color[:3] <= 0.0031308, 12.92 * color[:3], 1.055 * color[:3] ** (1 / 2.4) - 0.055)
    assert shown == pytest.approx(model.geom("left_thigh_0").rgba[:3], abs=1e-4)
    assert len(file.json["materials"]) == len(np.unique(model.geom_rgba[1:], axis=0))


XML = """<mujoco><worldbody><body name="b"><freejoint/>
<geom name="sphere" type="sphere" size=".2" pos=".1 .2 .3"/>
<geom name="ellipsoid" type="ellipsoid" size=".1 .2 .3" pos="0 .1 0" euler="20 30 40"/>
<geom name="capsule" type="capsule" size=".1 .25" pos=".3 0 .1" euler="50 10 5"/>
<geom name="cylinder" type="cylinder" size=".15 .2" pos="0 .3 0" euler="5 60 7"/>
<geom name="box" type="box" size=".1 .2 .3" pos="-.2 0 0" euler="10 20 30" rgba="1 0 0 .5"/>
<geom name="hidden" type="box" size="9 9 9" rgba="1 0 0 0"/>
</body></worldbody></mujoco>"""
VOLUMES = {
    "sphere": 4 / 3 * np.pi * 0.2**3,
    "ellipsoid": 4 / 3 * np.pi * 0.1 * 0.2 * 0.3,
    "capsule": np.pi * 0.1**2 * (0.5 + 4 / 3 * 0.1),
    "cylinder": np.pi * 0.15**2 * 0.4,
    "box": 8 * 0.1 * 0.2 * 0.3,
}


def volume(solid: TriangleMesh) -> tuple[float, np.ndarray]:
    """Enclosed volume and its centre; right only if the surface is closed and its triangles face outward."""
    a, b, c = np.moveaxis(solid.vertices[solid.triangles], 1, 0)
    parts = (np.cross(a, b) * c).sum(axis=1) / 6.0
    return float(parts.sum()), (parts[:, None] * (a + b + c) / 4.0).sum(axis=0) / parts.sum()


@pytest.mark.parametrize("kind", VOLUMES)
def test_solids_enclose_their_volume_and_face_outward(kind: str) -> None:
    model = mujoco.MjModel.from_xml_string(XML)
    solid = meshes.mesh_of_geom(model, model.geom(kind).id)
    assert solid is not None
    size, centre = volume(solid)
    assert size == pytest.approx(VOLUMES[kind], rel=0.0 if kind == "box" else 0.07, abs=1e-9)
    assert centre == pytest.approx(model.geom(kind).pos, abs=1e-6)
    corners = solid.vertices[solid.triangles]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(outward, axis=1)
    assert area.min() > 1e-6  # none is empty
    facing = np.einsum("tj,tkj->tk", outward / area[:, None], solid.normals[solid.triangles])
    assert facing.min() > {"box": 0.999, "cylinder": 0.98}.get(kind, 0.8)
    np.testing.assert_allclose(np.linalg.norm(solid.normals, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("end", [[0.1, 0.2, -0.4], [0.0, 0.0, -0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]])
def test_a_stick_reaches_from_joint_to_joint(end: list[float]) -> None:
    solid = meshes.capsule_to(np.array(end), 0.03)
    way = np.array(end)
    for point in (np.zeros(3), way):
        assert np.linalg.norm(solid.vertices - point, axis=1).min() == pytest.approx(0.03, abs=1e-6)
    assert volume(solid)[1] == pytest.approx(0.5 * way, abs=1e-6)


@pytest.mark.parametrize("end", [[0.1, 0.2, -0.4], [0.0, 0.0, -0.3], [0.0, 0.0, 0.0]])
def test_a_limb_narrows_from_joint_to_joint_in_even_rings(end: list[float]) -> None:
    solid, way = meshes.tapered_capsule(np.array(end), (0.05, 0.02), 0.04), np.array(end)
    long = float(np.linalg.norm(way))
    for point, radius in ((np.zeros(3), 0.05), (way, 0.02 if long else 0.05)):
        assert np.linalg.norm(solid.vertices - point, axis=1).min() == pytest.approx(radius, abs=1e-6)
    corners = solid.vertices[solid.triangles]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.einsum("tj,tkj->tk", outward / np.linalg.norm(outward, axis=1)[:, None], solid.normals[solid.triangles])
    assert facing.min() > 0.8
    if long:
        heights = np.unique(np.round(solid.vertices @ way / long, 6))
        inside = heights[(heights > -1e-6) & (heights < long + 1e-6)]
        assert np.diff(inside).max() < 0.04 + 1e-6


def test_colours_of_one_body_are_primitives_of_one_mesh_and_what_is_hidden_is_left_out() -> None:
    scene: Any = SimpleNamespace(model=mujoco.MjModel.from_xml_string(XML), skill=SimpleNamespace(name="roll"))
    skeleton = Skeleton(("b",), np.array([-1]), np.zeros((1, 3)))
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1, 1))
    file = Read(gltf.encode(Motion(np.array([0.0, 0.1]), skeleton, np.ones((2, 3)), turns, scene=scene)))
    (mesh,) = file.json["meshes"]
    assert len(mesh["primitives"]) == 2
    assert [material.get("alphaMode") for material in file.json["materials"]] == [None, "BLEND"]
    reach = max(np.abs(file.table(p["attributes"]["POSITION"])).max() for p in mesh["primitives"])
    assert reach < 1.0
    assert file.json["animations"][0]["name"] == "roll"


def test_motions_that_cannot_be_shown_are_refused(tmp_path: Path) -> None:
    motion = generic()
    for spoilt, message in (
        (replace(motion, root_position=motion.root_position * np.nan), "finite"),
        (replace(motion, rotations=0.0 * motion.rotations), "length zero"),
        (replace(motion, time=motion.time[::-1]), "increasing times"),
    ):
        with pytest.raises(OutputError, match=message):
            spoilt.save(tmp_path / "bad.glb")
    assert not list(tmp_path.iterdir())
