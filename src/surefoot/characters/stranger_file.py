"""A stranger's file, and the plain body that is copied out of it.

Everything is read from the compiled model, where units, defaults, includes and classes are settled, and written into
a new specification: radians, hinges only, nothing but bodies, joints and geoms. What is not copied is left behind.
"""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np

from surefoot.errors import CharacterError

_LARGEST = 16 * 2**20  # [bytes] of the file itself
_MOST_BODIES = 1000
_SOFTNESS = (0.01, 1.0)  # contacts are as stiff as those of our own bodies
_FREE, _BALL, _SLIDE, _HINGE = range(4)  # mjtJoint
_ROUND = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_ELLIPSOID),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER), int(mujoco.mjtGeom.mjGEOM_BOX), int(mujoco.mjtGeom.mjGEOM_MESH),
}  # fmt: skip


def compiled(path: Path) -> mujoco.MjModel:
    """The model of an MJCF file, includes and all; anything else is refused."""
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


def roots(model: mujoco.MjModel) -> list[int]:
    """The bodies at which a character may begin, the tree of most bodies first.

    They are the bodies with a free joint; in a file without any, the one on which the heaviest tree hangs.
    """
    top = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0 and model.body_mocapid[b] < 0]
    top.sort(key=lambda b: -float(model.body_subtreemass[b]))
    moving = [b for b in top if model.body_jntnum[b] and model.jnt_type[model.body_jntadr[b]] == _FREE]
    return sorted(moving, key=lambda b: -int(np.count_nonzero(model.body_rootid == b))) or top[:1]


def friction(model: mujoco.MjModel, root: int) -> float:
    """Sliding friction of the tree's contacts with what stands in its world: the larger of the two, as in MuJoCo."""
    own = [g for g in range(model.ngeom) if model.body_rootid[model.geom_bodyid[g]] == root]
    ground = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == 0]
    values = [float(model.geom_friction[g, 0]) for g in (*own, *ground) if _collides(model, g)]
    return max(values, default=1.0)


def copied(model: mujoco.MjModel, root: int) -> tuple[mujoco.MjSpec, list[str]]:
    """A tree as a specification of its own, its root floating at the origin, and what had to be changed."""
    spec, notes = mujoco.MjSpec(), list[str]()
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    own = [b for b in range(1, model.nbody) if model.body_rootid[b] == root]
    names = _names([model.body(b).name for b in own], "body", {"world"})
    bodies = {0: spec.worldbody}
    used: set[str] = {model.joint(j).name for b in own for j in _joints(model, b)}
    for b, name in zip(own, names, strict=True):
        body = bodies[b] = bodies[0 if b == root else int(model.body_parentid[b])].add_body(name=name)
        if b != root:
            body.pos, body.quat = model.body_pos[b], model.body_quat[b]
        if model.body_mass[b] > 0.0:
            body.mass, body.inertia = model.body_mass[b], model.body_inertia[b]
            body.ipos, body.iquat = model.body_ipos[b], model.body_iquat[b]
            body.explicitinertial = True
        if b == root:
            notes += _add_root(model, root, body, used)
        else:
            notes += _add_joints(model, b, body, used)
        for g in range(model.body_geomadr[b], model.body_geomadr[b] + model.body_geomnum[b]):
            _add_geom(model, g, spec, body)
    for count, what in (
        (model.neq, "equality constraints"), (model.ntendon, "tendons"), (model.nu, "actuators"),
    ):  # fmt: skip
        if count:
            notes.append(f"left out: {count} {what}")
    return spec, notes


def _names(given: list[str], kind: str, taken: set[str]) -> list[str]:
    """Each name, or a new one for what has none."""
    taken = taken | set(given)
    names = []
    for i, name in enumerate(given):
        fresh = name or next(n for k in range(len(taken) + 1) if (n := f"{kind}_{i}" + "_" * k) not in taken)
        taken.add(fresh)
        names.append(fresh)
    return names


def _joints(model: mujoco.MjModel, body: int) -> range:
    return range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])


def _free_name(wish: str, used: set[str]) -> str:
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
