"""A body as one skin over bones: what the file holds, and where it puts the vertices."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import surefoot as sf
from glb_reading import Read
from strangers_walk import walk
from surefoot.errors import OutputError
from surefoot.motions import gltf
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.skinned_mesh import JointBlend, skin_of, skin_weights

XML = """<mujoco><compiler angle="degree"/><worldbody><body name="b" pos="0 0 1" euler="20 30 40"><freejoint/>
<geom type="capsule" size=".08 .2" euler="10 50 5"/>
<body name="c" pos=".1 .2 -.3" euler="70 -40 25"><joint axis="0 1 0"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 .3 0"/>
<body name="d" pos="0 .3 0" euler="5 15 80"><joint axis="1 0 0"/>
<geom type="box" size=".1 .05 .03" pos=".1 0 0"/></body>
</body></body></worldbody></mujoco>"""


def tilted() -> Motion:
    """A body whose frames are all turned against each other at rest."""
    scene: Any = SimpleNamespace(model=mujoco.MjModel.from_xml_string(XML), skill=SimpleNamespace(name="roll"))
    model, rng = scene.model, np.random.default_rng(8)
    skeleton = Skeleton(("b", "c", "d"), np.array([-1, 0, 1]), model.body_pos[1:].copy())
    turns = Rotation.random(3 * 20, random_state=3).as_quat(scalar_first=True).reshape(20, 3, 4)
    return Motion(np.arange(20) / 30.0, skeleton, rng.normal(size=(20, 3)), turns, scene=scene)


@functools.cache
def made(name: str) -> Motion:
    if name == "tilted":
        return tilted()
    if name == "stranger":
        return walk(seconds=1.0, fps=30.0)[0]
    return sf.Simulation(skill=name).run(1.0, fps=30)


@functools.cache
def file_of(name: str) -> Read:
    return Read(gltf.encode(made(name), skinned=True))


CASES = pytest.mark.parametrize("name", ["human/fast-walk", "biped/zero-walk", "planar/walk", "stranger", "tilted"])


def vertices(file: Read) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All vertices (n, 3), their joints (n, 4) and weights (n, 4)."""
    (mesh,) = file.json["meshes"]
    tables = [
        [file.table(primitive["attributes"][key]) for primitive in mesh["primitives"]]
        for key in ("POSITION", "JOINTS_0", "WEIGHTS_0")
    ]
    places, joints, weights = (np.concatenate(table) for table in tables)
    return places.astype(float), joints, weights.astype(float)


def bindings(file: Read) -> np.ndarray:
    """(joints, 4, 4) from the world at rest to each joint."""
    (skin,) = file.json["skins"]
    return file.table(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)


def skinned(file: Read, frame: int) -> np.ndarray:
    """(n, 3) where the vertices are in a frame, by glTF's rules."""
    places, joints, weights = vertices(file)
    moved = file.transforms(frame)[file.json["skins"][0]["joints"]] @ bindings(file)
    whole = np.column_stack([places, np.ones(len(places))])
    return np.einsum("nk,nkab,nb->na", weights, moved[joints], whole)[:, :3]


@CASES
def test_one_node_wears_the_skin_and_all_others_are_its_bones(name: str) -> None:
    file, names = file_of(name), list(made(name).skeleton.names)
    *bones, body = file.json["nodes"]
    assert [bone["name"] for bone in bones] == names
    assert (body["mesh"], body["skin"]) == (0, 0)
    assert not any("mesh" in bone for bone in bones)
    (skin,) = file.json["skins"]
    assert skin["joints"] == list(range(len(names)))
    parents = {child: i for i, bone in enumerate(bones) for child in bone.get("children", [])}
    assert [parents.get(i, -1) for i in range(len(bones))] == made(name).skeleton.parents.tolist()
    assert file.json["scenes"][0]["nodes"] == [0, len(bones)]
    paths = {(i, "rotation") for i in range(len(names))} | {(0, "translation")}
    assert set(file.tracks()) == paths


@CASES
def test_every_vertex_is_held_by_one_or_two_bones_that_meet(name: str) -> None:
    file, parents = file_of(name), made(name).skeleton.parents
    places, joints, weights = vertices(file)
    assert joints.max() < len(parents)
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    assert not weights[:, 2:].any()
    assert not joints[weights == 0.0].any()  # as the specification asks
    first, second = joints[weights[:, 1] > 0.0, :2].T
    assert ((parents[first] == second) | (parents[second] == first)).all()
    assert 0.02 < (weights[:, 1] > 0.0).mean() < 0.8
    assert len(np.unique(weights[:, 1].round(2))) > 5  # smooth, not just on and off
    for accessor in file.json["accessors"]:
        if "min" in accessor and accessor["type"] == "VEC3":
            assert np.all(np.array(accessor["max"]) > accessor["min"])
    assert len(places) == sum(
        file.json["accessors"][p["attributes"]["NORMAL"]]["count"] for p in file.json["meshes"][0]["primitives"]
    )


@CASES
def test_at_rest_the_skin_is_as_it_was_bound_and_stands_over_the_origin(name: str) -> None:
    file = file_of(name)
    bones = len(made(name).skeleton.names)
    rest = file.transforms(None)[:bones]
    np.testing.assert_allclose(rest @ bindings(file), np.tile(np.eye(4), (bones, 1, 1)), atol=2e-6)
    assert vertices(file)[0][:, 1].min() == pytest.approx(0.0, abs=1e-6)
    assert rest[0, [0, 2], 3] == pytest.approx([0.0, 0.0])


@CASES
@pytest.mark.parametrize("frame", [0, 7, -1])
def test_vertices_go_with_their_bones(name: str, frame: int) -> None:
    file, motion = file_of(name), made(name)
    origins, turns = (table[frame] for table in world_poses(motion))
    places, joints, weights = vertices(file)
    skin = skin_of(motion)
    found = skinned(file, frame)[:, [2, 0, 1]]  # in our axes
    local = [np.einsum("nab,na->nb", skin.axes[j], places[:, [2, 0, 1]] - skin.places[j]) for j in joints[:, :2].T]
    there = [
        origins[j] + Rotation.from_quat(turns[j], scalar_first=True).apply(own)
        for j, own in zip(joints[:, :2].T, local, strict=True)
    ]
    rigid = weights[:, 0] == 1.0
    np.testing.assert_allclose(found[rigid], there[0][rigid], atol=2e-5)
    between = weights[:, :1] * there[0] + weights[:, 1:2] * there[1]
    np.testing.assert_allclose(found, between, atol=2e-5)
    for joint, parent in enumerate(motion.skeleton.parents[1:], start=1):  # around a joint its two bones agree
        own = (np.isin(joints, [joint, parent]) | (weights == 0.0)).all(axis=1)
        near = own & (np.linalg.norm(places[:, [2, 0, 1]] - skin.places[joint], axis=1) < 0.03)
        assert np.linalg.norm(found[near] - origins[joint], axis=1).max(initial=0.0) < 0.031


def test_simulated_shapes_are_where_the_engine_has_them() -> None:
    motion, file = made("human/fast-walk"), file_of("human/fast-walk")
    assert motion.scene is not None
    model, frame = motion.scene.model, 13
    data = mujoco.MjData(model)
    data.qpos[:] = motion.qpos[frame]
    mujoco.mj_kinematics(model, data)
    found = skinned(file, frame)[:, [2, 0, 1]]
    _, joints, weights = vertices(file)
    for name in ("head", "left_hand", "right_foot"):
        own = found[(joints[:, 0] == motion.skeleton.names.index(name)) & (weights[:, 0] == 1.0)]
        body = model.body(name).id
        geoms = np.flatnonzero(model.geom_bodyid == body)
        reach = max(model.geom_size[g, :2].sum() for g in geoms)
        assert np.linalg.norm(own[:, None] - data.geom_xpos[geoms], axis=2).min(axis=1).max() < reach + 1e-5


@pytest.mark.parametrize("name", ["human/fast-walk", "biped/zero-walk", "stranger"])
def test_both_sides_are_held_alike(name: str) -> None:
    motion = made(name)
    _, joints, weights = vertices(file_of(name))
    total = np.bincount(joints.ravel(), weights.ravel())
    for joint, own in enumerate(motion.skeleton.names):
        if own.lower().startswith("left"):
            other = motion.skeleton.names.index(own.replace("left", "right").replace("Left", "Right"))
            assert total[joint] == pytest.approx(total[other], rel=1e-3)


def test_legs_that_hang_from_one_point_leave_the_trunk_alone() -> None:
    down, points = np.array([0.0, 0.0, -1.0]), np.random.default_rng(1).normal(scale=0.1, size=(200, 3))
    legs = [JointBlend(joint, 0, np.zeros(3), down, 0.1) for joint in (1, 4)]
    assert (skin_weights(points, 0, legs).weights == [1.0, 0.0]).all()
    assert (skin_weights(points, 0, legs[:1]).weights[:, 1] > 0.0).mean() > 0.2


def test_a_strangers_limbs_are_the_thicker_the_more_hangs_from_them() -> None:
    skin = skin_of(made("stranger"))
    (solid,), (held,) = skin.shapes.values(), skin.weights.values()
    names = made("stranger").skeleton.names
    girths = []
    for upper, lower in (("LeftUpLeg", "LeftLeg"), ("LeftLeg", "LeftFoot"), ("LeftFoot", "LeftToeBase")):
        top, end = skin.places[names.index(upper)], skin.places[names.index(lower)]
        own = solid.vertices[held.joints[:, 0] == names.index(upper)]
        along = (own - top) @ (end - top) / ((end - top) @ (end - top))
        middle = own[(along > 0.2) & (along < 0.8)]
        aside = np.linalg.norm(np.cross(middle - top, (end - top) / np.linalg.norm(end - top)), axis=1)
        girths.append(float(np.median(aside)))
    assert girths == sorted(girths, reverse=True)
    assert 0.05 < girths[0] < 0.1
    assert 0.9 < np.ptp(solid.vertices[:, 2]) / 1.7 < 1.1


def test_a_hinge_hands_over_from_one_bone_to_the_other() -> None:
    way = np.array([0.6, 0.0, 0.8])
    hinge = JointBlend(5, 2, np.array([1.0, 2.0, 3.0]), way, 0.1)
    along = np.array([-0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.14])
    points = hinge.place + along[:, None] * way
    for joint in (2, 5):
        found = skin_weights(points, joint, [hinge])
        farther = np.where(found.joints == 5, found.weights, 0.0).sum(axis=1)
        assert farther == pytest.approx([0.0, 0.0, 0.15625, 0.5, 0.84375, 1.0, 1.0], abs=1e-6)
        assert (found.weights[:, 0] >= found.weights[:, 1]).all()
    far = skin_weights(hinge.place + np.array([[0.0, 0.3, 0.0]]), 2, [hinge])
    assert far.weights.tolist() == [[1.0, 0.0]]


def test_only_formats_with_a_skin_take_one(tmp_path: Path) -> None:
    motion = made("stranger")
    for suffix in (".bvh", ".npz", ".png"):
        with pytest.raises(OutputError, match=r"\.glb, \.usda"):
            motion.save(tmp_path / f"walk{suffix}", skinned=True)
    motion.save(tmp_path / "walk.glb", skinned=True, fps=10.0, loop=False)
    assert "skins" in Read((tmp_path / "walk.glb").read_bytes()).json
    motion.save(tmp_path / "plain.glb")
    assert "skins" not in Read((tmp_path / "plain.glb").read_bytes()).json
