"""Import a body from an MJCF file: its anatomy is found from its tree and geometry, never from names.

Everything is read from the compiled model, where units, defaults, includes and classes are settled, and written into
a new specification that holds nothing but bodies, hinges in radians and geoms; everything else is left out. The
imported body becomes a `CharacterTable`, so that scenes treat it like a built-in character; it walks by GENBICON alone.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from surefoot.characters import mjcf_import_anatomy, mjcf_import_posture
from surefoot.characters.link_geometry import geom_points, neutral_state, solid_geoms
from surefoot.characters.links import (
    LEFT,
    MIDDLE,
    REFERENCE_HIP_HEIGHT,
    REFERENCE_MASS,
    RIGHT,
    Limbs,
    Link,
    scaled_gain,
)
from surefoot.characters.mjcf_import_anatomy import NEEDS, Legs, Role
from surefoot.characters.mjcf_import_tree import KinematicTree
from surefoot.characters.table import Anatomy, CharacterTable, Segment, Side, Vector
from surefoot.errors import CharacterError

_LARGEST = 16 * 2**20  # [bytes] of the file
_MOST_BODIES = 1000
_SOFTNESS = (0.01, 1.0)  # contacts are as stiff as those of the built-in characters
_FREE, _SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
_ROUND = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_ELLIPSOID),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER), int(mujoco.mjtGeom.mjGEOM_BOX), int(mujoco.mjtGeom.mjGEOM_MESH),
}  # fmt: skip


def compile_mjcf(path: Path) -> mujoco.MjModel:
    """Compile an MJCF file with its includes.

    Raises:
        CharacterError: it is no MJCF file, is too large, or MuJoCo cannot read it.
    """
    if not path.is_file():
        raise CharacterError(f"{path}: no such file; an MJCF file is needed")
    if path.stat().st_size > _LARGEST:
        raise CharacterError(f"{path}: larger than {_LARGEST // 2**20} MiB; an MJCF file is a text of a few kB")
    head = re.sub(rb"<!--.*?-->|<\?.*?\?>|<!.*?>", b"", path.read_bytes(), flags=re.DOTALL)
    first = re.match(rb"[\s\xef\xbb\xbf]*<([A-Za-z_][\w.-]*)", head)
    kind = first.group(1).decode(errors="replace") if first else ""
    if kind != "mujoco":
        what = "a URDF" if kind == "robot" else f"<{kind}>" if kind else "not XML"
        raise CharacterError(f"{path}: not an MJCF file ({what}); one begins with <mujoco>")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        if len(spec.bodies) > _MOST_BODIES:
            raise CharacterError(f"{path}: {len(spec.bodies)} bodies; at most {_MOST_BODIES} are read")
        return spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())[:240]
        raise CharacterError(f"{path}: MuJoCo cannot read it: {reason}") from None


def root_candidates(model: mujoco.MjModel) -> list[int]:
    """The bodies at which a character may begin, the tree with most bodies first.

    They are the bodies with a free joint; in a file without any, the one that carries the heaviest tree.
    """
    top = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0 and model.body_mocapid[b] < 0]
    top.sort(key=lambda b: -float(model.body_subtreemass[b]))
    moving = [b for b in top if model.body_jntnum[b] and model.jnt_type[model.body_jntadr[b]] == _FREE]
    return sorted(moving, key=lambda b: -int(np.count_nonzero(model.body_rootid == b))) or top[:1]


def contact_friction(model: mujoco.MjModel, root: int) -> float:
    """Sliding friction between the tree and the file's ground: the larger of the two, as in MuJoCo."""
    own = [g for g in range(model.ngeom) if model.body_rootid[model.geom_bodyid[g]] == root]
    ground = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == 0]
    values = [float(model.geom_friction[g, 0]) for g in (*own, *ground) if _collides(model, g)]
    return max(values, default=1.0)


def copy_tree(model: mujoco.MjModel, root: int) -> tuple[mujoco.MjSpec, list[str]]:
    """Copy a tree into a specification of its own, with its root floating at the origin.

    Returns:
        The specification, and one note for each thing that had to be changed or left out.
    """
    spec, notes = mujoco.MjSpec(), list[str]()
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    own = [b for b in range(1, model.nbody) if model.body_rootid[b] == root]
    taken = {"world", *(model.body(b).name for b in own)}
    bodies = {0: spec.worldbody}
    used: set[str] = {model.joint(j).name for b in own for j in _joints(model, b)}
    for i, b in enumerate(own):
        name = model.body(b).name or _free_name(f"body_{i}", taken)
        body = bodies[b] = bodies[0 if b == root else int(model.body_parentid[b])].add_body(name=name)
        if b != root:
            body.pos, body.quat = model.body_pos[b], model.body_quat[b]
        if model.body_mass[b] > 0.0:
            body.mass, body.inertia = model.body_mass[b], model.body_inertia[b]
            body.ipos, body.iquat = model.body_ipos[b], model.body_iquat[b]
            body.explicitinertial = True
        notes += (_add_root if b == root else _add_joints)(model, b, body, used)
        for g in range(model.body_geomadr[b], model.body_geomadr[b] + model.body_geomnum[b]):
            _add_geom(model, g, spec, body)
    others = ((model.neq, "equality constraints"), (model.ntendon, "tendons"), (model.nu, "actuators"))
    return spec, notes + [f"left out: {count} {what}" for count, what in others if count]


def _joints(model: mujoco.MjModel, body: int) -> range:
    return range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])


def _free_name(wish: str, used: set[str]) -> str:
    """The wished name, with underscores added until nothing else has it; it is then used."""
    while wish in used:
        wish += "_"
    used.add(wish)
    return wish


def _add_root(model: mujoco.MjModel, root: int, body: mujoco.MjsBody, used: set[str]) -> list[str]:
    joints = _joints(model, root)
    free = next((j for j in joints if model.jnt_type[j] == _FREE), None)
    if free is None:
        body.add_freejoint(name=_free_name("root", used))
        held = f", in place of its {len(joints)} joints with the world" if len(joints) else ""
        return [f"'{body.name}' was given a free joint{held}"]
    body.add_freejoint(name=model.joint(free).name or _free_name("root", used))
    return []


def _add_joints(model: mujoco.MjModel, b: int, body: mujoco.MjsBody, used: set[str]) -> list[str]:
    notes = []
    for j in _joints(model, b):
        kind, name = model.jnt_type[j], model.joint(j).name or _free_name(f"{body.name}_joint", used)
        if kind == _SLIDE:
            notes.append(f"slide joint '{name}' was welded")
            continue
        low, high = (float(v) for v in model.jnt_range[j])
        if kind == _HINGE:
            zero = float(model.qpos0[model.jnt_qposadr[j]])
            low, high, axes = low - zero, high - zero, {name: model.jnt_axis[j]}
        else:
            low, axes = -high, {_free_name(f"{name}_{c}", used): e for c, e in zip("xyz", np.eye(3), strict=True)}
            notes.append(f"ball joint '{name}' became three hinges")
        limited = mujoco.mjtLimited.mjLIMITED_TRUE if model.jnt_limited[j] else mujoco.mjtLimited.mjLIMITED_FALSE
        for hinge, axis in axes.items():
            body.add_joint(
                name=hinge, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, pos=model.jnt_pos[j], limited=limited,
                range=[low, high], armature=float(model.dof_armature[model.jnt_dofadr[j]]),
                solref_limit=model.jnt_solref[j], solimp_limit=model.jnt_solimp[j],
            )  # fmt: skip
    return notes


def _collides(model: mujoco.MjModel, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def _add_geom(model: mujoco.MjModel, g: int, spec: mujoco.MjSpec, body: mujoco.MjsBody) -> None:
    kind, material = int(model.geom_type[g]), int(model.geom_matid[g])
    if kind not in _ROUND:
        return
    geom = body.add_geom(
        type=kind, size=model.geom_size[g], pos=model.geom_pos[g], quat=model.geom_quat[g], mass=0.0,
        contype=int(_collides(model, g)), conaffinity=0, condim=3, solref=_SOFTNESS, group=int(model.geom_group[g]),
        rgba=model.geom_rgba[g] if material < 0 else model.mat_rgba[material],
    )  # fmt: skip
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        m = int(model.geom_dataid[g])
        geom.meshname = f"mesh_{m}"
        if spec.mesh(geom.meshname) is None:
            vertices = model.mesh_vert[model.mesh_vertadr[m] :][: model.mesh_vertnum[m]]
            faces = model.mesh_face[model.mesh_faceadr[m] :][: model.mesh_facenum[m]]
            mesh = spec.add_mesh(name=geom.meshname, uservert=vertices.ravel(), userface=faces.ravel())
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX


_ARMATURE = 0.01  # [kg·m²] least rotor inertia for a body of the reference person's size: calms light hands and feet
_ARM = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class ImportedBody:
    """A body from an MJCF file.

    Attributes:
        name: made from the file's name.
        spec: its bodies, hinges and geoms and nothing else: no motors, no ground. In its neutral posture the body
            stands on z = 0, its hips over the origin, and faces x. Geoms collide with what has conaffinity 1, never
            with each other.
        limbs: its links.
        friction: sliding friction of its contacts.
        notes: what was changed and what was found, one line each.
    """

    name: str
    spec: mujoco.MjSpec
    limbs: Limbs
    friction: float
    notes: tuple[str, ...]


def import_mjcf(path: Path) -> ImportedBody:
    """Import the biped of an MJCF file.

    Args:
        path: of the file.

    Raises:
        CharacterError: the file cannot be read, or no body in it has two legs with hips, knees and ankles; the
            message says what is missing.
    """
    path = Path(path)
    model = compile_mjcf(path)
    refusals = []
    for root in root_candidates(model):
        try:
            return _import_tree(path, model, root)
        except CharacterError as error:
            refusals.append(error)
    raise refusals[0] if refusals else CharacterError(f"{path}: no body in it; {NEEDS}")


def _import_tree(path: Path, model: mujoco.MjModel, root: int) -> ImportedBody:
    spec, changed = copy_tree(model, root)
    tree = KinematicTree(spec.compile())
    legs = mjcf_import_anatomy.find_legs(tree, str(path))
    tree.hold(legs.pelvis, legs.upright)
    roles = mjcf_import_anatomy.assign_roles(tree, legs)
    short = mjcf_import_posture.find_neutral_posture(tree, legs, roles)
    for kind in ("hip", "ankle"):
        if f"{kind} pitch" in mjcf_import_anatomy.missing_parts(tree, roles):
            raise CharacterError(f"{path}: no hinge across the {kind}s, by which it could step; {NEEDS}")
    hips = np.mean([mjcf_import_anatomy.hip_center(tree, leg, legs.pelvis) for leg in (legs.left, legs.right)], axis=0)
    feet = [part for leg in (legs.left, legs.right) for part in leg.foot_parts(tree)]
    centres, radii = tree.bounding_balls(feet)
    ground = float(np.min(centres[:, 2] - radii if len(centres) else tree.data.xpos[feet, 2]))
    height = float(hips[2] - ground)
    friction = contact_friction(model, root)
    _finish(spec, tree, np.array([hips[0], hips[1], ground]), height, friction)
    limbs = _limbs(tree, legs, roles, height)
    return ImportedBody(
        name=re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "imported",
        spec=spec,
        limbs=limbs,
        friction=friction,
        notes=(*changed, *legs.notes, *short, *_findings(tree, limbs, height)),
    )


def _finish(spec: mujoco.MjSpec, tree: KinematicTree, origin: np.ndarray, height: float, friction: float) -> None:
    """Place the root, and give joints and geoms the numbers that depend on the body's size and its ground."""
    body = spec.body(tree.model.body(tree.root).name)
    body.pos, body.quat = tree.data.xpos[tree.root] - origin, tree.data.xquat[tree.root]
    mass = tree.mass(tree.parts)
    least = _ARMATURE * (mass / REFERENCE_MASS) * (height / REFERENCE_HIP_HEIGHT) ** 2
    for j in tree.hinges:
        joint = spec.joint(tree.model.joint(j).name)
        joint.armature = max(float(joint.armature), least)
    for geom in spec.geoms:
        geom.friction = [friction, 0.005, 0.0001]


def _limbs(tree: KinematicTree, legs: Legs, roles: list[Role], height: float) -> Limbs:
    model, mass = tree.model, tree.mass(tree.parts)
    links = tuple(
        Link(
            body=model.body(r.part).name, base=model.body(r.base).name,
            joints=tuple(model.joint(j).name for j in r.joints), kind=r.kind, side=r.side,
            gain=scaled_gain(r.kind, mass, height), flipped=r.part < r.base,
        )
        for r in roles
    )  # fmt: skip
    soles = [
        tuple(model.body(b).name for p in leg.foot_parts(tree) for b in tree.bodies(p))
        for leg in (legs.left, legs.right)
    ]
    return Limbs(
        pelvis=model.body(legs.pelvis).name,
        links=links,
        root_gain=scaled_gain("root", mass, height),
        hands=(_hand(tree, roles, LEFT), _hand(tree, roles, RIGHT)),
        soles=(soles[LEFT], soles[RIGHT]),
        rest={model.body(b).name: tuple(tree.data.xquat[b].tolist()) for b in range(1, model.nbody)},
        neutral={model.joint(j).name: angle for j, angle in tree.angles.items()},
        missing=mjcf_import_anatomy.missing_parts(tree, roles),
    )


def _hand(tree: KinematicTree, roles: list[Role], side: int) -> Vector | None:
    """The point of an arm that is farthest from its elbow, or from its shoulder if it has no elbow."""
    arm = [r for r in roles if r.side == side and r.kind in _ARM]
    if not arm:
        return None
    start = next((r for r in arm if r.kind == "elbow"), arm[0])
    last = arm[-1].part
    end = tree.farthest_point([last], tree.data.xanchor[start.joints[0]])
    return tuple((tree.data.xmat[last].reshape(3, 3).T @ (end - tree.data.xpos[last])).tolist())


def _findings(tree: KinematicTree, limbs: Limbs, height: float) -> list[str]:
    sides = {LEFT: "left ", RIGHT: "right ", MIDDLE: ""}
    parts = ", ".join(f"{sides[link.side]}{link.kind} '{link.body}'" for link in limbs.links if link.side != RIGHT)
    missing = [f"lacks: {', '.join(limbs.missing)}"] if limbs.missing else []
    return [
        f"{tree.mass(tree.parts):.1f} kg, hips {height:.2f} m above the soles, {len(tree.hinges)} hinges",
        f"pelvis '{limbs.pelvis}', {parts}",
        *missing,
    ]


_GREY = (0.6, 0.6, 0.6)


@functools.cache
def _import_once(path: Path, changed: float) -> ImportedBody:
    """The body of a file, read anew only when the file has changed."""
    return import_mjcf(path)


def table_from_mjcf(path: Path) -> CharacterTable:
    """The body of an MJCF file as a table.

    Args:
        path: of the file.

    Raises:
        CharacterError: the file holds no body that can walk; the message says what is missing.
    """
    found = _import_once(path, path.stat().st_mtime if path.is_file() else 0.0)
    limbs, model = found.limbs, found.spec.compile()
    data = neutral_state(model, limbs)
    feet = [model.body(name).id for soles in limbs.soles for name in soles]
    clouds = [geom_points(model, data, geom) for geom in solid_geoms(model, feet)]
    ground = min(float(points[:, 2].min()) - radius for points, radius in clouds)
    segments = tuple(
        Segment(
            model.body(b).name, "world" if model.body_parentid[b] == 0 else model.body(model.body_parentid[b]).name,
            tuple(model.body_pos[b].tolist()), (), float(model.body_mass[b]), tuple(model.body_ipos[b].tolist()),
            tuple(model.body_inertia[b].tolist()), (), _GREY,
        )
        for b in range(1, model.nbody)
    )  # fmt: skip
    trunk = next((link.body for link in limbs.links if link.kind in ("upper_back", "lower_back")), limbs.pelvis)
    legs = [[limbs.require(kind, side).body for kind in ("hip", "knee", "ankle")] for side in (LEFT, RIGHT)]
    left, right = (Side(thigh, shin, foot, joints=()) for thigh, shin, foot in legs)
    return CharacterTable(
        name=found.name, summary=f"{path.name}: {found.notes[-1] if found.notes else ''}", root="free",
        segments=segments, anatomy=Anatomy(limbs.pelvis, trunk, left, right, ()),
        gains={joint: link.gain for link in limbs.links for joint in link.joints}, torso_gain=limbs.root_gain,
        hip_targets=(-1.5, 2.8), friction=found.friction, timestep=0.001, source=path.name,
        sole_depth=float(np.mean([data.body(side.foot).xpos[2] for side in (left, right)]) - ground),
        height=float(data.body(limbs.pelvis).xpos[2] - ground), imported=found,
    )  # fmt: skip
