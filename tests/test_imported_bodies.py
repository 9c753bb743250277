"""Bodies that nobody here has seen are understood from tree and geometry, or refused with what they lack."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from imported_bodies import ANKLE, HALF_WIDTH, SHIN, SKEW, THIGH, Y_UP, Body
from surefoot.characters.links import (
    KINDS,
    LEFT,
    MIDDLE,
    REFERENCE_HIP_HEIGHT,
    REFERENCE_MASS,
    RIGHT,
    Limbs,
    scaled_gain,
)
from surefoot.characters.mjcf_import import ImportedBody, import_mjcf
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, SurefootError, UnknownNameError
from surefoot.skills import load

SUITE = "suite/humanoid.xml"
CMU = "suite/humanoid_CMU.xml"

MADE = {
    "plain": Body(),
    "y up": Body(axes=Y_UP),
    "skew": Body(axes=SKEW, chest_root=True),
    "ball hips": Body(axes=Y_UP, ball_hips=True),
    "split hips": Body(axes=SKEW, split_hips=True),
    "mesh feet": Body(axes=SKEW, mesh_feet=True),
    "chest root": Body(chest_root=True),
    "no arms": Body(arms=False),
    "arms spread": Body(axes=Y_UP, spread_arms=True),
    "no free joint": Body(free=False, props=False),
}


def installed(package: str, file: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(next(iter(found.submodule_search_locations))) / file


@pytest.fixture(scope="module", params=[*MADE, SUITE, CMU])
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ImportedBody:
    if request.param in MADE:
        return import_mjcf(MADE[request.param].write(tmp_path_factory.mktemp("made")))
    return import_mjcf(installed("dm_control", request.param))


def standing(imported: ImportedBody, turn: float = 0.0) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The body on a ground, in its neutral posture."""
    spec = imported.spec.copy()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], contype=0, conaffinity=1, margin=0.002)
    model = spec.compile()
    data = mujoco.MjData(model)
    for joint, angle in imported.limbs.neutral.items():
        data.qpos[model.joint(joint).qposadr[0]] = angle + turn
    mujoco.mj_forward(model, data)
    return model, data


def anchor(model: mujoco.MjModel, data: mujoco.MjData, limbs: Limbs, kind: str, side: int) -> np.ndarray:
    link = limbs.find(kind, side)
    assert link is not None
    return np.mean([data.xanchor[model.joint(j).id] for j in link.joints], axis=0)


def lowest(model: mujoco.MjModel, data: mujoco.MjData, bodies: tuple[str, ...]) -> np.ndarray:
    """(n, 3) lowest points of the ends of all bars and balls, and corners of all meshes, of some bodies."""
    points = []
    for name in bodies:
        for g in np.flatnonzero(model.geom_bodyid == model.body(name).id):
            kind, size, turn = model.geom_type[g], model.geom_size[g], data.geom_xmat[g].reshape(3, 3)
            ends, radius = np.array([[0.0, 0.0, 0.0]]), size[0]
            if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
                ends = np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
            elif kind == mujoco.mjtGeom.mjGEOM_MESH:
                first = model.mesh_vertadr[model.geom_dataid[g]]
                ends, radius = model.mesh_vert[first : first + model.mesh_vertnum[model.geom_dataid[g]]], 0.0
            points += list(data.geom_xpos[g] + ends @ turn.T - [0.0, 0.0, radius])
    return np.array(points)


def anatomy(imported: ImportedBody) -> list[tuple[Any, ...]]:
    """What was understood, without names."""
    limbs = imported.limbs
    return [(k.kind, k.side, len(k.joints), k.flipped) for k in limbs.links] + [limbs.missing]


def test_every_hinge_belongs_to_one_link_and_every_link_to_the_pelvis(imported: ImportedBody) -> None:
    model, _ = standing(imported)
    limbs = imported.limbs
    hinges = [model.joint(j).name for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
    assert sorted(j for link in limbs.links for j in link.joints) == sorted(hinges)
    known = {limbs.pelvis}
    for link in limbs.links:
        assert link.base in known
        assert link.body not in known
        assert link.kind in KINDS
        known.add(link.body)
        ids = [model.joint(j).id for j in link.joints]
        assert ids == list(range(ids[0], ids[0] + len(ids)))
        child, parent = (link.base, link.body) if link.flipped else (link.body, link.base)
        ancestors = [model.body(child).id]
        while ancestors[-1]:
            ancestors.append(int(model.body_parentid[ancestors[-1]]))
        assert model.body_weldid[model.body(parent).id] in model.body_weldid[ancestors[1:]]


def test_left_is_left_and_feet_point_forward(imported: ImportedBody) -> None:
    model, data = standing(imported)
    limbs = imported.limbs
    for kind in ("hip", "knee", "ankle", "shoulder", "elbow"):
        if limbs.find(kind, LEFT):
            assert anchor(model, data, limbs, kind, LEFT)[1] > 0.03
            assert anchor(model, data, limbs, kind, RIGHT)[1] < -0.03
    for side in (LEFT, RIGHT):
        reach = lowest(model, data, limbs.soles[side])[:, 0] - anchor(model, data, limbs, "ankle", side)[0]
        assert reach.max() > 1.3 * -reach.min() > 0.0


def test_stands_upright_with_straight_legs_on_flat_feet(imported: ImportedBody) -> None:
    model, data = standing(imported)
    limbs = imported.limbs
    hips = np.mean([anchor(model, data, limbs, "hip", side) for side in (LEFT, RIGHT)], axis=0)
    top = limbs.find("shoulder", LEFT) or limbs.find("lower_back")
    assert top is not None
    assert data.xipos[model.body(top.body).id, 2] > hips[2]
    for side in (LEFT, RIGHT):
        knee, ankle = (anchor(model, data, limbs, kind, side) for kind in ("knee", "ankle"))
        shin = knee - ankle
        assert shin[2] / np.linalg.norm(shin) > np.cos(np.radians(4.0))
        points = lowest(model, data, limbs.soles[side])
        points = points[points[:, 2] < 0.01]
        assert points[:, 2].min() == pytest.approx(0.0, abs=0.003)
        for axis in (0, 1):
            middle = 0.5 * (points[:, axis].max() + points[:, axis].min())
            halves = [points[sign * (points[:, axis] - middle) > 0.0] for sign in (1.0, -1.0)]
            low = [half[np.argmin(half[:, 2])] for half in halves]
            tilt = np.arctan2(low[0][2] - low[1][2], abs(low[0][axis] - low[1][axis]))
            assert abs(np.degrees(tilt)) < 1.0


def test_neutral_posture_is_symmetric_and_within_the_ranges(imported: ImportedBody) -> None:
    model, data = standing(imported)
    limbs = imported.limbs
    for kind in ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist"):
        if limbs.find(kind, LEFT):
            left, right = (anchor(model, data, limbs, kind, side) for side in (LEFT, RIGHT))
            np.testing.assert_allclose(left, right * [1.0, -1.0, 1.0], atol=0.003)
    for joint, angle in limbs.neutral.items():
        j = model.joint(joint).id
        if model.jnt_limited[j]:
            assert model.jnt_range[j, 0] < angle < model.jnt_range[j, 1]


def test_arms_hang_as_far_as_their_ranges_allow(imported: ImportedBody) -> None:
    model, data = standing(imported)
    limbs = imported.limbs
    for side in (LEFT, RIGHT):
        hand = limbs.hands[side]
        if hand is None:
            assert "arms" in limbs.missing
            continue
        last = limbs.find("wrist", side) or limbs.find("elbow", side)
        assert last is not None
        body = data.body(last.body)
        end = body.xpos + body.xmat.reshape(3, 3) @ hand
        arm = anchor(model, data, limbs, "shoulder", side) - end
        assert arm[2] / np.linalg.norm(arm) > np.cos(np.radians(5.0))
        elbow = anchor(model, data, limbs, "elbow", side)
        assert np.linalg.norm(end - elbow) > 0.2


def test_rest_is_how_all_bodies_are_turned_when_it_stands(imported: ImportedBody) -> None:
    model, data = standing(imported)
    assert len(imported.limbs.rest) == model.nbody - 1
    for name, quaternion in imported.limbs.rest.items():
        assert abs(np.dot(quaternion, data.body(name).xquat)) == pytest.approx(1.0, abs=1e-9)


def test_only_soles_touch_the_ground_and_nothing_touches_itself(imported: ImportedBody) -> None:
    model, data = standing(imported)
    touching = {model.body(int(model.geom_bodyid[g])).name for c in data.contact for g in c.geom}
    assert touching - {"world"} <= {name for side in imported.limbs.soles for name in side}
    bent, data = standing(imported, turn=1.3)
    assert all(0 in bent.geom_bodyid[c.geom] for c in data.contact)
    assert {tuple(f) for f in bent.geom_friction[bent.geom_contype > 0]} == {(imported.friction, 0.005, 0.0001)}


def test_nothing_but_the_body_is_kept(imported: ImportedBody) -> None:
    model = imported.spec.compile()
    assert (model.nu, model.nsensor, model.ntendon, model.neq, model.nkey, model.ncam, model.nlight) == (0,) * 7
    assert len({int(r) for r in model.body_rootid[1:]}) == 1
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    assert not model.dof_damping.any()
    assert not model.jnt_stiffness.any()
    assert (model.dof_armature[6:] > 0.0).all()
    assert re.fullmatch(r"[a-z0-9-]+", imported.name)


def test_gains_fit_the_body(imported: ImportedBody) -> None:
    model, data = standing(imported)
    mass = float(model.body_subtreemass[1])
    hips = [anchor(model, data, imported.limbs, "hip", side)[2] for side in (LEFT, RIGHT)]
    scale = mass / REFERENCE_MASS * np.mean(hips) / REFERENCE_HIP_HEIGHT
    link = imported.limbs.find("knee", RIGHT)
    assert link is not None
    assert (link.gain.kp, link.gain.kd, link.gain.limit) == pytest.approx(
        (300 * scale, 35 * scale, 400 * scale), rel=0.01
    )
    assert imported.limbs.root_gain.kp == pytest.approx(1000 * scale, rel=0.01)


def test_mass_and_inertia_survive_the_copy() -> None:
    path = installed("dm_control", CMU)
    theirs, ours = mujoco.MjModel.from_xml_path(str(path)), import_mjcf(path).spec.compile()
    for name in ("root", "thorax", "lfoot", "rhand"):
        a, b = theirs.body(name), ours.body(name)
        np.testing.assert_allclose(b.mass, a.mass, rtol=1e-12)
        np.testing.assert_allclose(b.inertia, a.inertia, rtol=1e-12)
        np.testing.assert_allclose(b.ipos, a.ipos, atol=1e-12)


def test_hips_are_as_high_as_they_were_drawn(tmp_path: Path) -> None:
    model, data = standing(imported := import_mjcf(Body(axes=SKEW).write(tmp_path)))
    left, right = (anchor(model, data, imported.limbs, "hip", side) for side in (LEFT, RIGHT))
    height = THIGH + SHIN + ANKLE
    np.testing.assert_allclose(left, (0.0, HALF_WIDTH, height), atol=0.002)
    np.testing.assert_allclose(right, (0.0, -HALF_WIDTH, height), atol=0.002)


@pytest.mark.parametrize("file", [SUITE, CMU])
def test_neither_names_nor_the_lie_of_the_root_matter(file: str, tmp_path: Path) -> None:
    path = installed("dm_control", file)
    spec = mujoco.MjSpec.from_file(str(path))
    for element in (*spec.actuators, *spec.sensors, *spec.excludes):
        spec.delete(element)
    for i, body in enumerate(spec.bodies[1:]):
        body.name = f"q{(i * 7919) % 1009}"
    for i, joint in enumerate(spec.joints):
        joint.name = f"k{(i * 7919) % 1009}"
    root = spec.worldbody.first_body()
    root.alt.euler = [37.0, -64.0, 128.0]
    spec.compile()
    renamed = tmp_path / "renamed.xml"
    renamed.write_text(spec.to_xml())
    one, other = import_mjcf(path), import_mjcf(renamed)
    assert anatomy(one) == anatomy(other)
    np.testing.assert_allclose(list(one.limbs.neutral.values()), list(other.limbs.neutral.values()), atol=2e-3)
    turns = [abs(np.dot(a, b)) for a, b in zip(one.limbs.rest.values(), other.limbs.rest.values(), strict=True)]
    np.testing.assert_allclose(turns, 1.0, atol=1e-4)


def test_the_axes_of_the_file_do_not_matter(tmp_path: Path) -> None:
    bodies = [import_mjcf(Body(axes=axes).write(tmp_path)) for axes in (np.eye(3), Y_UP, SKEW)]
    assert anatomy(bodies[0]) == anatomy(bodies[1]) == anatomy(bodies[2])
    for other in bodies[1:]:
        np.testing.assert_allclose(
            list(bodies[0].limbs.neutral.values()), list(other.limbs.neutral.values()), atol=1e-3
        )


def test_suite_humanoid_hangs_from_its_chest() -> None:
    limbs = import_mjcf(installed("dm_control", SUITE)).limbs
    assert limbs.pelvis == "pelvis"
    back = [link for link in limbs.links if link.side == MIDDLE]
    assert [(k.kind, k.body, k.base, k.flipped) for k in back] == [
        ("lower_back", "lower_waist", "pelvis", True),
        ("upper_back", "torso", "lower_waist", True),
    ]
    assert limbs.soles == (("left_foot",), ("right_foot",))
    assert {"toes", "neck", "wrists"} == set(limbs.missing)


def test_cmu_humanoid_has_clavicles_toes_and_fingers() -> None:
    limbs = import_mjcf(installed("dm_control", CMU)).limbs
    kinds = {link.body: (link.kind, link.side) for link in limbs.links}
    assert limbs.pelvis == "root"
    assert kinds["lclavicle"] == ("other", LEFT)
    assert kinds["rhumerus"] == ("shoulder", RIGHT)
    assert kinds["lradius"] == ("elbow", LEFT)
    assert kinds["rhand"] == ("wrist", RIGHT)
    assert kinds["lthumb"] == kinds["lfingers"] == ("other", LEFT)
    assert kinds["rtoes"] == ("toe", RIGHT)
    assert kinds["lowerback"] == ("lower_back", MIDDLE)
    assert kinds["upperback"] == kinds["thorax"] == ("upper_back", MIDDLE)
    assert kinds["head"] == kinds["lowerneck"] == ("neck", MIDDLE)
    assert limbs.soles[RIGHT] == ("rfoot", "rtoes")
    assert limbs.missing == ("ankle roll",)


def test_hinges_beside_each_other_are_one_hip(tmp_path: Path) -> None:
    limbs = import_mjcf(Body(split_hips=True).write(tmp_path)).limbs
    hips = [link for link in limbs.links if link.kind == "hip"]
    assert [len(link.joints) for link in hips] == [3, 3]
    assert {link.base for link in hips} == {limbs.pelvis}


def test_reading_twice_gives_separate_bodies(tmp_path: Path) -> None:
    path = Body().write(tmp_path)
    one, other = import_mjcf(path), import_mjcf(path)
    one.spec.body(one.limbs.pelvis).add_geom(size=[1, 1, 1])
    assert len(other.spec.geoms) == len(one.spec.geoms) - 1


def test_what_was_changed_is_told(tmp_path: Path) -> None:
    balls = import_mjcf(Body(ball_hips=True).write(tmp_path)).notes
    assert sum("ball joint" in note for note in balls) == 2
    assert any("free joint" in note for note in import_mjcf(Body(free=False, props=False).write(tmp_path)).notes)
    slide = Body().mjcf().replace('<body pos="0 0 -0.39">', '<body pos="0 0 -0.39"><joint type="slide" range="0 .1"/>')
    (tmp_path / "slide.xml").write_text(slide)
    assert sum("slide joint" in note for note in import_mjcf(tmp_path / "slide.xml").notes) == 2


def test_gymnasium_humanoid_is_refused_for_its_ankles() -> None:
    with pytest.raises(
        CharacterError, match=r"no ankle joint found below the left knee \('left_shin' ends in 'left_foot'"
    ):
        import_mjcf(installed("gymnasium", "envs/mujoco/assets/humanoid.xml"))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (Body(knees=False), "no knee joint found in the left leg"),
        (Body(legs=(1.0,)), "no two legs found"),
        (Body(legs=(-1.0,), spread_arms=True), "no two legs found"),
        (Body(legs=(), arms=False), "no two legs found"),
        (Body(legs=(0.0, 0.0)), "both hips are in the same place"),
    ],
)
def test_a_body_that_cannot_walk_is_refused_with_what_it_lacks(body: Body, reason: str, tmp_path: Path) -> None:
    with pytest.raises(CharacterError, match=reason):
        import_mjcf(body.write(tmp_path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("one two three", "not XML"),
        ("", "not XML"),
        ("\x00\x01\x7fELF", "not XML"),
        ('<?xml version="1.0"?>\n<!-- a --><robot name="r"/>', "a URDF"),
        ("<svg/>", "<svg>"),
        ("<mujoco><worldbody><body></worldbody></mujoco>", "MuJoCo cannot read it"),
        ('<mujoco><include file="nowhere.xml"/></mujoco>', "MuJoCo cannot read it"),
        ("<mujoco/>", "no body in it"),
    ],
)
def test_what_is_not_a_body_is_refused_in_one_line(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "other.xml"
    path.write_text(text)
    with pytest.raises(CharacterError, match=reason) as caught:
        import_mjcf(path)
    assert "\n" not in str(caught.value)


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CharacterError, match="no such file"):
        import_mjcf(tmp_path / "nobody.xml")
    with pytest.raises(CharacterError, match="no such file"):
        import_mjcf(tmp_path)
    (tmp_path / "huge.xml").write_bytes(b"<mujoco>" + b" " * 2**25)
    with pytest.raises(CharacterError, match="larger than"):
        import_mjcf(tmp_path / "huge.xml")


def test_angles_in_the_wrong_unit_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "degrees.xml").write_text(Body().mjcf().replace('angle="radian"', 'angle="degree"'))
    with pytest.raises(CharacterError, match="knee bends by"):
        import_mjcf(tmp_path / "degrees.xml")


@pytest.mark.parametrize("name", ["human", "planar"])
def test_an_imported_body_named_like_a_character_has_none_of_its_skills(name: str, tmp_path: Path) -> None:
    path = Body().write(tmp_path, f"{name}.xml")
    assert Simulation(str(path), "walk").skill.full_name == "biped/walk"
    for skill in (f"{name}/walk", load(f"{name}/walk")):
        with pytest.raises(SurefootError, match=r"biped/zero-walk|not for"):
            Simulation(str(path), skill)
    sim = Simulation(str(path), "zero-walk")
    sim.run(0.2)
    assert not sim.fallen


def test_gain_of_the_reference_person_is_the_reference() -> None:
    assert scaled_gain("ankle", REFERENCE_MASS, REFERENCE_HIP_HEIGHT).kd == pytest.approx(20.0)
    twice = scaled_gain("root", 2.0 * REFERENCE_MASS, 1.5 * REFERENCE_HIP_HEIGHT)
    assert (twice.kp, twice.limit) == pytest.approx((3000.0, 1200.0))
    assert all(scaled_gain(kind, 60.0, 0.8).limit > 0.0 for kind in KINDS)
    with pytest.raises(UnknownNameError, match="lower_back"):
        scaled_gain("tail", 60.0, 0.8)
