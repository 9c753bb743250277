"""USD files: read by USD's own library, they hold the body, its bones and its motion."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from strangers_walk import NAMES, PARENTS, walk
from surefoot.engine.simulation import Simulation
from surefoot.errors import OutputError
from surefoot.motions import usd as usda
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.skinned_mesh import skin_of

CASES = pytest.mark.parametrize("name", ["human/fast-walk", "biped/zero-walk", "stranger"])


@functools.cache
def made(name: str) -> Motion:
    if name == "stranger":
        motion = walk(seconds=1.0, fps=30.0)[0]
        odd = tuple(f"mixamorig:{own}" for own in NAMES)
        return replace(motion, time=motion.time + 2.0, skeleton=replace(motion.skeleton, names=odd))
    return Simulation(skill=name).run(1.0, fps=30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("usd")


def stage_of(folder: Path, name: str) -> Any:
    usd = pytest.importorskip("pxr.Usd", reason="needs USD's library: pip install usd-core")
    path = folder / f"{name.replace('/', '-')}.usda"
    if not path.exists():
        made(name).save(path)
    return usd.Stage.Open(str(path))


def skeleton_of(stage: Any) -> Any:
    """The skeleton as USD's own library understands it."""
    from pxr import Usd, UsdSkel

    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(stage.GetDefaultPrim()), Usd.PrimDefaultPredicate)
    return cache, cache.GetSkelQuery(UsdSkel.Skeleton(stage.GetPrimAtPath("/figure/skeleton")))


@CASES
def test_a_file_says_its_units_axes_and_times(folder: Path, name: str) -> None:
    stage, motion = stage_of(folder, name), made(name)
    from pxr import UsdGeom

    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetDefaultPrim().GetTypeName() == "SkelRoot"
    assert stage.GetStartTimeCode() == 0.0
    span = stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond()
    assert span == pytest.approx(np.ptp(motion.time), abs=1e-6)
    assert stage.GetEndTimeCode() == pytest.approx(len(motion) - 1, abs=1e-3)


@CASES
def test_joints_are_where_they_were(folder: Path, name: str) -> None:
    stage, motion = stage_of(folder, name), made(name)
    _, query = skeleton_of(stage)  # valid as long as the stage is there
    assert query.HasBindPose()
    times = query.GetAnimQuery().GetJointTransformTimeSamples()
    assert len(times) == len(motion)
    places, turns = world_poses(motion)
    for frame in (0, 11, len(motion) - 1):
        found = np.array(query.ComputeJointSkelTransforms(times[frame]))  # rows
        np.testing.assert_allclose(found[:, 3, :3], places[frame], atol=1e-5)
        axes = Rotation.from_quat(turns[frame], scalar_first=True).as_matrix()
        np.testing.assert_allclose(found[:, :3, :3].transpose(0, 2, 1), axes, atol=1e-5)


@CASES
def test_the_skin_follows_its_bones(folder: Path, name: str) -> None:
    stage, motion = stage_of(folder, name), made(name)
    from pxr import Usd, UsdGeom, UsdSkel

    cache, query = skeleton_of(stage)
    mesh = stage.GetPrimAtPath("/figure/body")
    skinning = cache.GetSkinningQuery(mesh)
    assert skinning.HasJointInfluences()
    assert skinning.GetNumInfluencesPerComponent() == 2
    points = UsdGeom.Mesh(mesh).GetPointsAttr().Get()
    skin = skin_of(motion)
    whole = np.concatenate([solid.vertices for solid in skin.shapes.values()])
    joints, weights = (
        np.concatenate([getattr(h, key) for h in skin.weights.values()]) for key in ("joints", "weights")
    )
    np.testing.assert_allclose(np.array(points), whole, atol=1e-5)
    origins, turns = world_poses(motion)
    for frame in (3, len(motion) - 1):
        time = query.GetAnimQuery().GetJointTransformTimeSamples()[frame]
        moved = query.ComputeSkinningTransforms(time)
        assert skinning.ComputeSkinnedPoints(moved, points, Usd.TimeCode(time))  # changes them
        found = np.array(points)
        wanted = np.zeros_like(whole)
        for k in range(2):
            j = joints[:, k]
            local = np.einsum("nab,na->nb", skin.axes[j], whole - skin.places[j])
            there = origins[frame, j] + Rotation.from_quat(turns[frame, j], scalar_first=True).apply(local)
            wanted += weights[:, k : k + 1] * there
        np.testing.assert_allclose(found, wanted, atol=5e-5)
        points = UsdGeom.Mesh(mesh).GetPointsAttr().Get()
    assert UsdSkel.BindingAPI(mesh).GetInheritedSkeleton().GetPrim().GetPath() == "/figure/skeleton"


@CASES
def test_usds_own_checks_find_nothing(folder: Path, name: str) -> None:
    stage = stage_of(folder, name)
    validation = pytest.importorskip("pxr.UsdValidation", reason="this version of USD has no validators")
    checks = validation.ValidationRegistry().GetOrLoadAllValidators()
    found = validation.ValidationContext(checks).Validate(stage)
    assert [(error.GetName(), error.GetMessage()) for error in found] == []


def test_colours_are_materials_of_parts_of_the_body(folder: Path) -> None:
    stage, motion = stage_of(folder, "human/fast-walk"), made("human/fast-walk")
    from pxr import UsdGeom, UsdShade

    body = UsdGeom.Mesh(stage.GetPrimAtPath("/figure/body"))
    parts, colors = UsdGeom.Subset.GetAllGeomSubsets(body), list(skin_of(motion).shapes)
    assert len(parts) == len(colors)
    faces = np.concatenate([np.array(part.GetIndicesAttr().Get()) for part in parts])
    assert sorted(faces) == list(range(len(body.GetFaceVertexCountsAttr().Get())))
    for part, color in zip(parts, colors, strict=True):
        material, _ = UsdShade.MaterialBindingAPI(part.GetPrim()).ComputeBoundMaterial()
        shown = np.array(material.ComputeSurfaceSource()[0].GetInput("diffuseColor").Get())
        shown = np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
        assert shown == pytest.approx(color[:3], abs=1e-4)


def test_names_become_paths_that_usd_allows_and_that_differ() -> None:
    names = ("mixamorig:Hips", "1st rib", "a.b", "a b", "été", *("x",) * 13)
    paths = usda.joint_paths(Skeleton(names, PARENTS, np.zeros((18, 3))))
    assert paths[:5] == [
        "mixamorig_Hips", "mixamorig_Hips/_1st_rib", "mixamorig_Hips/_1st_rib/a_b",
        "mixamorig_Hips/_1st_rib/a_b/a_b_2", "mixamorig_Hips/_1st_rib/a_b/a_b_2/_t_",
    ]  # fmt: skip
    assert len(set(paths)) == 18


def test_a_file_without_usds_library_is_plain_text_of_the_frames() -> None:
    motion = made("stranger")
    text = usda.encode(motion).decode("ascii")
    assert text.startswith("#usda 1.0\n")
    assert text.count("{") == text.count("}")
    x, y, z = motion.root_position[12]
    assert f"    12: [({x:.7g}, {y:.7g}, {z:.7g})" in text
    assert "nan" not in text


def test_motions_that_cannot_be_shown_are_refused(tmp_path: Path) -> None:
    motion = made("stranger")
    for spoilt, message in (
        (replace(motion, root_position=motion.root_position * np.nan), "finite"),
        (replace(motion, rotations=0.0 * motion.rotations), "length zero"),
        (replace(motion, time=motion.time[::-1]), "increasing times"),
    ):
        with pytest.raises(OutputError, match=message):
            spoilt.save(tmp_path / "bad.usda")
    assert not list(tmp_path.iterdir())
