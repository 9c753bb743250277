"""From a body's table and a terrain to a compiled MuJoCo model: the one builder for every character."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from surefoot.characters.link_geometry import packed_limbs
from surefoot.characters.links import LEFT, RIGHT, Limbs, limbs_of_table
from surefoot.characters.table import (
    CORONAL,
    SAGITTAL,
    TRANSVERSE,
    CharacterTable,
    Hinge,
    Segment,
    Shape,
    standing_height,
)
from surefoot.errors import CharacterError, UnknownNameError
from surefoot.native import limb_records as limb_layout
from surefoot.native.physics import ANATOMY, ELSEWHERE, GROUND, OTHER
from surefoot.native.userdata import Sizes
from surefoot.terrains.ground_shapes import is_moving_ground
from surefoot.terrains.props import Crate, body_names, set_explicit_inertia
from surefoot.terrains.terrain import Terrain, reserve_heights, write_heights

_BLOCK, _LIMBS = "surefoot", "surefoot_limbs"  # names of the numeric blocks that hold the anatomy and the links
_CONSTANTS = "surefoot_constants"  # and a number: tables of controllers
_MULTIPLIER = (0.2, 5.0)
HEAVIEST = 60.0  # [kg] of a backpack
_ON_GROUND, _OWN = 1, 2  # collision bits: with the ground, with other parts of the body
_ROOM = 1.0 + 1e-9  # the servo itself keeps the limit; an actuator at its own limit would lose its damping
_PACK = (0.45, 0.36, 0.24)
_GRIP_TIME = 0.02  # [s] of a grip's spring and damper, which is critically damped
_SITE = 0.015  # [m] size of a hand's site


@dataclass(frozen=True)
class CompiledCharacter:
    """A compiled model, and what is needed to lay out its rows.

    Attributes:
        model: MuJoCo's.
        table: the body.
        sizes: how the rows of memory are divided.
        anatomy_at: where the anatomy begins in `model.numeric_data`.
        limbs: the links; None for a planar body.
        limbs_at: where they begin there; −1 for a planar body.
        ground_at: where the heights of the ground begin there.
        constants_at: where the tables of controllers begin there.
    """

    model: mujoco.MjModel
    table: CharacterTable
    sizes: Sizes
    anatomy_at: int
    limbs: Limbs | None
    limbs_at: int
    ground_at: int
    constants_at: tuple[int, ...] = ()


def with_proportions(table: CharacterTable, proportions: Mapping[str, float]) -> CharacterTable:
    """The body with other lengths and masses.

    Gains and torque limits grow with weight times leg length, as the torques that bear the body do.

    Args:
        table: the body.
        proportions: multipliers by name: a part's name and `_length` or `_mass` (`thigh_length`,
            `left_shin_mass`), or `mass` for the whole body; each within 0.2 … 5.

    Raises:
        UnknownNameError: the body has no such proportion; the message lists the valid ones.
        CharacterError: a multiplier is out of range, or the body was imported from a file.
    """
    if table.imported and proportions:
        raise CharacterError(f"{table.name} is imported from a file: change its proportions there")
    valid = ["mass"] + [f"{part}_{what}" for part in table.multipliers for what in ("length", "mass")]
    lengths = {segment.name: 1.0 for segment in table.segments}
    masses = dict(lengths)
    for name, value in proportions.items():
        if name not in valid:
            raise UnknownNameError("proportion", name, valid)
        if not (isinstance(value, numbers.Real) and _MULTIPLIER[0] <= value <= _MULTIPLIER[1]):
            raise CharacterError(f"proportion {name} must be within {_MULTIPLIER[0]} … {_MULTIPLIER[1]}, got {value}")
        part, _, what = name.rpartition("_")
        changed = lengths if what == "length" else masses
        for segment in table.multipliers[part] if part else masses:
            changed[segment] *= float(value)
    segments = []
    for s in table.segments:
        (x, y, z), k = s.offset, lengths.get(s.parent, 1.0)  # a joint moves with the end of the part it hangs on
        segments.append(replace(s.scaled(lengths[s.name], masses[s.name]), offset=(x * k, y * k, z * k)))
    grown = replace(table, segments=tuple(segments))
    weight, length = grown.mass / table.mass, standing_height(grown) / standing_height(table)
    k = weight * length
    up = lengths[table.anatomy.torso]
    return replace(
        grown,
        gains={joint: gain.scaled(k) for joint, gain in table.gains.items()},
        torso_gain=table.torso_gain.scaled(k),
        strength=table.strength * k,
        armature=table.armature * weight * length**2,
        back=None if table.back is None else (table.back[0], table.back[1], table.back[2] * up),
    )


def with_backpack(table: CharacterTable, mass: float) -> CharacterTable:
    """The body with a load on its back, and the torso pitched forward so that it balances over the hips.

    Args:
        table: the body.
        mass: of the load, 0 … 60 kg; 0 leaves the body as it is.

    Raises:
        CharacterError: the load is out of range, or the body cannot carry a backpack.
    """
    if not (isinstance(mass, numbers.Real) and 0.0 <= mass <= HEAVIEST):
        raise CharacterError(f"a backpack weighs 0 … {HEAVIEST:g} kg, got {mass}")
    if mass == 0.0:
        return table
    if table.back is None:
        raise CharacterError(f"{table.name} has no back for a backpack; human has")
    anatomy, back = table.anatomy, table.back
    trunk = next(s for s in table.segments if s.name == anatomy.torso)
    low, high, thick = back[2] - 0.11, back[2] + 0.11, 0.09
    inertia = mass * (0.3**2 + 0.2**2) / 12.0
    pack = Segment(
        "backpack", trunk.name, (0.0, 0.0, 0.0), (), float(mass), back, (inertia, inertia, inertia),
        tuple(Shape((back[0], y, low), (back[0], y, high), thick) for y in (-0.05, 0.05)), _PACK,
    )  # fmt: skip
    below = {
        anatomy.pelvis,
        *(part for leg in (anatomy.left, anatomy.right) for part in (leg.thigh, leg.shin, leg.foot)),
    }
    above = [s for s in table.segments if s.name not in below]
    waist = math.hypot(*trunk.offset)
    lever = sum(s.mass for s in above) * (trunk.com[2] + waist) + mass * (back[2] + waist)
    lean = math.asin(max(-0.5, mass * back[0] / lever))
    return replace(table, segments=(*table.segments, pack), load_lean=lean)


def build(
    table: CharacterTable, terrain: Terrain, sizes: Sizes, timestep: float | None = None, self_collision: bool = False,
    constants: Sequence[np.ndarray] = (),
) -> CompiledCharacter:  # fmt: skip
    """Compile a character on a terrain.

    Args:
        table: the body, proportions applied.
        terrain: ground and props.
        sizes: how the rows of memory are divided.
        timestep: physics step [s]; by default the body's own.
        self_collision: whether its parts collide with each other too.
        constants: (n,) tables that controllers read and that all rows share.
    """
    spec = table.imported.spec.copy() if table.imported else mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep = timestep or table.timestep
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = table.impratio or option.impratio
    option.gravity = [0.0, 0.0, -9.81]
    option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    spec.nuserdata = sizes.total
    terrain.build(spec.worldbody, table.friction)
    spec.worldbody.add_light(pos=[0, -3, 6], dir=[0, 0.4, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    if not table.imported:
        _add_segments(spec, table, self_collision)
    _add_actuators(spec, table)
    limbs = None if table.root == "planar" else limbs_of_table(table)
    _add_props(spec, table, terrain, limbs)
    spec.add_sensor(
        name="surefoot_loads", type=mujoco.mjtSensor.mjSENS_USER, needstage=mujoco.mjtStage.mjSTAGE_ACC,
        datatype=mujoco.mjtDataType.mjDATATYPE_REAL, dim=1,
    )  # fmt: skip
    spec.add_numeric(name=_BLOCK, size=_block_size(table, len(spec.bodies))).data = [0.0]
    if limbs:
        spec.add_numeric(name=_LIMBS, size=limb_layout.size(len(limbs.links))).data = [0.0]
    heights = reserve_heights(spec, terrain)
    for i, numbers_of_table in enumerate(constants):
        spec.add_numeric(name=f"{_CONSTANTS}_{i}", size=len(numbers_of_table)).data = [0.0]
    model = spec.compile()
    anatomy_at = _write(model, _BLOCK, _block(model, table, limbs))
    ground_at = write_heights(model, heights)
    limbs_at = _write(model, _LIMBS, packed_limbs(model, limbs)) if limbs else -1
    constants_at = tuple(_write(model, f"{_CONSTANTS}_{i}", one) for i, one in enumerate(constants))
    return CompiledCharacter(model, table, sizes, anatomy_at, limbs, limbs_at, ground_at, constants_at)


def _write(model: mujoco.MjModel, name: str, numbers: np.ndarray) -> int:
    """Write a numeric block into the compiled model; returns where it begins."""
    at = int(model.numeric_adr[model.numeric(name).id])
    model.numeric_data[at : at + len(numbers)] = numbers
    return at


def _add_segments(spec: mujoco.MjSpec, table: CharacterTable, self_collision: bool) -> None:
    own = _OWN if self_collision else 0
    bodies = {"world": spec.worldbody}
    for segment in table.segments:
        body = bodies[segment.name] = bodies[segment.parent].add_body(name=segment.name, pos=segment.offset)
        body.mass, body.ipos, body.inertia = segment.mass, segment.com, segment.inertia
        body.explicitinertial = True
        if segment.parent == "world":
            _add_root(body, table.root)
        for hinge in segment.hinges:
            body.add_joint(
                name=hinge.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=hinge.axis,
                range=[hinge.low, hinge.high], limited=mujoco.mjtLimited.mjLIMITED_TRUE, armature=table.armature,
            )  # fmt: skip
        for i, shape in enumerate(segment.shapes):
            body.add_geom(
                name=f"{segment.name}_{i}", type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=[*shape.start, *shape.end], size=[shape.radius, 0, 0],
                contype=(_ON_GROUND | own) * shape.solid, conaffinity=own * shape.solid,
                condim=3, friction=[table.friction, 0.005, 0.0001],
                solref=[0.01, 1.0], rgba=[*segment.color, 1.0],
            )  # fmt: skip


def _add_props(spec: mujoco.MjSpec, table: CharacterTable, terrain: Terrain, limbs: Limbs | None) -> None:
    """Add moving ground and props after the character's bodies, which so keep their numbers."""
    terrain.build_moving(spec.worldbody, table.friction)
    props = body_names(terrain.props)
    for name, prop in props:
        prop.build(spec.worldbody, name, table.friction, terrain)
        if table.imported:
            set_explicit_inertia(spec.body(name), prop, terrain)
    if limbs:
        _add_grips(spec, limbs, [name for name, prop in props if isinstance(prop, Crate) and prop.handles])


def _add_grips(spec: mujoco.MjSpec, limbs: Limbs, crates: list[str]) -> None:
    """Add an open grip between each hand and the handle of its side of each crate (GENBICON §4.4).

    A grip is a spring and damper that a task switches on and off. The hand's site is `hand_left` or `hand_right`, a
    handle's `crate_left` or `crate_right`, the grip's name `grip_left` or `grip_right`; those of a further crate
    `crate_1` end in `_1` too.
    """
    for side, name in ((LEFT, "left"), (RIGHT, "right")):
        point, last = limbs.hands[side], limbs.find("wrist", side) or limbs.find("elbow", side)
        if point is None or last is None or not crates:
            continue
        spec.body(last.body).add_site(name=f"hand_{name}", pos=point, size=[_SITE, _SITE, _SITE], rgba=[0, 0, 0, 0])
        for crate in crates:
            spec.add_equality(
                name=f"grip_{name}{crate.removeprefix('crate')}", type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_SITE, name1=f"hand_{name}", name2=f"{crate}_{name}",
                active=False, solref=[_GRIP_TIME, 1.0],
            )  # fmt: skip


def _add_root(body: mujoco.MjsBody, kind: str) -> None:
    if kind == "free":
        body.add_freejoint(name="root")
        return
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    for name, joint, axis in (("x", slide, (1, 0, 0)), ("z", slide, (0, 0, 1)), ("pitch", hinge, (0, -1, 0))):
        body.add_joint(name=f"root_{name}", type=joint, axis=axis)


def _add_actuators(spec: mujoco.MjSpec, table: CharacterTable) -> None:
    """Add torque motors that damp their joint by kd implicitly; the servo adds the rest."""
    for name, gain in table.gains.items():
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0] = 1.0
        motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        motor.biasprm[2] = -gain.kd
        motor.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        limit = gain.limit * _ROOM
        motor.forcerange = [-limit, limit]


def _outward(hinge: Hinge) -> float:
    """+1 where a positive roll or yaw turns to the left, −1 where to the right; flexion has no side."""
    return {SAGITTAL: 1.0, CORONAL: hinge.axis[0], TRANSVERSE: hinge.axis[2]}[hinge.plane]


def _block_size(table: CharacterTable, nbody: int) -> int:
    return ANATOMY.itemsize // 8 + nbody + 6 + 4 * len(table.gains) + 6 * len(table.anatomy.roles)


def _block(model: mujoco.MjModel, table: CharacterTable, limbs: Limbs | None) -> np.ndarray:
    """The anatomy as numbers, in the order `native.physics.world_of` reads them."""
    anatomy, joints = table.anatomy, list(table.gains)
    own = {s.name for s in table.segments}
    part = np.full(model.nbody, ELSEWHERE)
    for body in range(model.nbody):
        name = model.body(body).name
        part[body] = GROUND if body == 0 or is_moving_ground(name) else OTHER if name in own else ELSEWHERE
    legs = np.array(
        [[model.body(n).id for n in (leg.thigh, leg.shin, leg.foot)] for leg in (anatomy.left, anatomy.right)]
    )
    soles = limbs.soles if limbs else ((anatomy.left.foot,), (anatomy.right.foot,))
    for side, names in enumerate(soles):
        part[[model.body(name).id for name in names]] = side
    root = model.body_rootid[model.body(anatomy.pelvis).id]
    w, x, y, z = limbs.rest.get(anatomy.pelvis, (1.0, 0.0, 0.0, 0.0)) if limbs else (1.0, 0.0, 0.0, 0.0)
    up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))  # in the pelvis's own frame
    sides = anatomy.side_roles
    head = (
        len(joints), 2, len(anatomy.roles), len(sides), anatomy.hip_hinges,
        *(sides.index(role) if role in sides else -1 for role in ("knee", "ankle", "shoulder")),
        anatomy.roles.index("neck") if "neck" in anatomy.roles else -1,
        table.root == "planar", len(anatomy.channels), model.body(anatomy.pelvis).id, model.body(anatomy.torso).id,
        standing_height(table), table.sole_depth, float(model.body_subtreemass[root]), *up,
    )  # fmt: skip
    roles = [[joints.index(j) for j in anatomy.joints(swing)] for swing in (0, 1)]
    hinges, channels = table.hinges, anatomy.channels
    return np.concatenate([
        np.asarray(head, float), part, legs.ravel(),
        [model.joint(j).dofadr[0] for j in joints], [model.joint(j).qposadr[0] for j in joints],
        [model.joint(j).id for j in joints], [table.gains[j].kd for j in joints], np.ravel(roles),
        [hinges[j].plane for j in anatomy.joints(0)],
        [_outward(hinges[j]) for swing in (0, 1) for j in anatomy.joints(swing)],
        [channels.index(role) if role in channels else -1.0 for role in anatomy.roles],
    ])  # fmt: skip
