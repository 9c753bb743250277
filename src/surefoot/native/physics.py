"""What a law may read of the physics: views of `mjModel` and `mjData`, gathered in one tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils

from surefoot.native import layout
from surefoot.native.kernels import array_at, kernel, let_kernels_call, let_kernels_read, records, view_at
from surefoot.native.sections import Laid, Layout, Section, lay_out, lower_section

ANATOMY = np.dtype([(n, "f8") for n in (
    "actuators", "feet", "roles", "side_roles", "hip_hinges", "knee", "ankle", "shoulder", "neck", "planar", "channels",
    "pelvis", "torso", "standing_height", "sole_depth", "mass", "up_x", "up_y", "up_z")])  # fmt: skip
"""Counts; where a side's knee, ankle and shoulder stand among its roles, and the neck among all (−1: it has none);
bodies; [m]; [kg];
where up is in the frame of the pelvis when it stands."""
GROUND, OTHER = -1.0, -2.0  # what a body is to the feet's owner; 0, 1, … are its feet
ELSEWHERE = -3.0  # a body that is not the character's: an obstacle, a ball

CONTACT = layout.contact_dtype()


class World(NamedTuple):
    """Current step's physics, in SI units and world axes unless said otherwise."""

    time: float
    dt: float
    qpos: Any  # (nq,)
    qvel: Any  # (nv,)
    xpos: Any  # (nbody, 3) body origins
    xmat: Any  # (nbody, 9) body axes
    xquat: Any  # (nbody, 4) the same as quaternions, w first
    xaxis: Any  # (njnt, 3) joint axes
    xipos: Any  # (nbody, 3) centres of mass
    cvel: Any  # (nbody, 6) angular, then linear velocity of the body's frame at its tree's COM
    subtree_com: Any  # (nbody, 3)
    rootid: Any  # (nbody,) top body of each body's tree
    mass: Any  # (nbody,) [kg]
    ctrl: Any  # (nu,) written by the law
    xfrc: Any  # (nbody, 6) force and torque at each body's COM, written by pushes
    actuator_force: Any  # (nu,) of the last solved step
    contact: Any  # (ncon,) mjContact
    efc_force: Any  # (nefc,)
    geom_body: Any  # (ngeom,)
    pyramidal: bool
    anatomy: Any  # (1,) ANATOMY
    part: Any  # (nbody,) foot index, GROUND, OTHER or ELSEWHERE
    leg: Any  # (2, 3) bodies of thigh, shin and foot of the left and the right leg
    dof: Any  # (actuators,) velocity address of each actuated joint
    qadr: Any  # (actuators,) position address of each actuated joint
    joint: Any  # (actuators,) number of each actuated joint
    damping: Any  # (actuators,) [N·m·s/rad] what the actuator damps by itself, implicitly
    role: Any  # (2, roles) actuator of each role, by which leg swings: 0 left, 1 right
    plane: Any  # (roles,) 0 sagittal, 1 coronal, 2 transverse
    outward: Any  # (2, roles) +1 where a positive roll or yaw of the role turns to the left, −1 where to the right
    channel: Any  # (roles,) what learns the role's torque, −1 if nothing does
    xanchor: Any  # (njnt, 3) where the joints are
    numeric: Any  # (nnumericdata,) the model's own numbers, among them the body's links


class _Body(NamedTuple):
    """The part of it that lies in the model's numeric data."""

    anatomy: Any
    part: Any
    leg: Any
    dof: Any
    qadr: Any
    joint: Any
    damping: Any
    role: Any
    plane: Any
    outward: Any
    channel: Any


BODY = Layout(
    _Body,
    ("nbody", "actuators", "roles"),
    {
        "anatomy": Section((1,), ANATOMY),
        "part": Section(("nbody",)),
        "leg": Section((2, 3)),
        "dof": Section(("actuators",)),
        "qadr": Section(("actuators",)),
        "joint": Section(("actuators",)),
        "damping": Section(("actuators",)),
        "role": Section((2, "roles")),
        "plane": Section(("roles",)),
        "outward": Section((2, "roles")),
        "channel": Section(("roles",)),
    },
)


_HEAD = ANATOMY.itemsize // 8


@kernel
def has_room(numeric: Any, anatomy: float, bodies: int, actuators: float, feet: float) -> bool:
    """Whether a character's table can lie at an index of the numeric data, and is of a body of these sizes.

    Args:
        numeric: (nnumericdata,) the model's own numbers.
        anatomy: where the table is said to begin; any number, even NaN.
        bodies: how many bodies the model has.
        actuators: how many actuators a row is made for.
        feet: how many feet.
    """
    room = len(numeric) - _HEAD
    if not 0.0 <= anatomy <= room:
        return False
    table = records(numeric, int(anatomy), 1, ANATOMY)[0]
    if table.actuators != actuators or table.feet != feet or not 0.0 <= table.roles <= room:
        return False
    return anatomy + bodies + 6.0 + 4.0 * actuators + 6.0 * table.roles <= room  # type: ignore[no-any-return]


class Field(NamedTuple):
    """Where an array of MuJoCo's is: the struct and its field; how many items in each direction; what they are."""

    struct: str
    field: str
    shape: tuple[int | str, ...]
    item: Any = np.float64


ARRAYS = {
    "qpos": Field("mjData", "qpos", ("nq",)),
    "qvel": Field("mjData", "qvel", ("nv",)),
    "xpos": Field("mjData", "xpos", ("nbody", 3)),
    "xmat": Field("mjData", "xmat", ("nbody", 9)),
    "xquat": Field("mjData", "xquat", ("nbody", 4)),
    "xaxis": Field("mjData", "xaxis", ("njnt", 3)),
    "xanchor": Field("mjData", "xanchor", ("njnt", 3)),
    "xipos": Field("mjData", "xipos", ("nbody", 3)),
    "cvel": Field("mjData", "cvel", ("nbody", 6)),
    "subtree_com": Field("mjData", "subtree_com", ("nbody", 3)),
    "rootid": Field("mjModel", "body_rootid", ("nbody",), np.int32),
    "mass": Field("mjModel", "body_mass", ("nbody",)),
    "ctrl": Field("mjData", "ctrl", ("nu",)),
    "xfrc": Field("mjData", "xfrc_applied", ("nbody", 6)),
    "actuator_force": Field("mjData", "actuator_force", ("nu",)),
    "contact": Field("mjData", "contact", ("ncon",), CONTACT),
    "efc_force": Field("mjData", "efc_force", ("nefc",)),
    "geom_body": Field("mjModel", "geom_bodyid", ("ngeom",), np.int32),
    "numeric": Field("mjModel", "numeric_data", ("nnumericdata",)),
}
_USERDATA = Field("mjData", "userdata", ("nuserdata",))
SIZES = {size: Field("mjModel", size, (), np.int64) for size in (
    "nq", "nv", "nu", "nbody", "njnt", "ngeom", "nuserdata", "nnumericdata")}  # fmt: skip
SIZES |= {size: Field("mjData", size, (), np.int32) for size in ("ncon", "nefc")}
_TIME, _TIMESTEP = Field("mjData", "time", ()), Field("mjModel", "opt.timestep", ())
_CONE = Field("mjModel", "opt.cone", (), np.int32)


def _scalar(field: Field, model: int, data: int) -> Any:
    """A number of one of the structs, for Python."""
    address = (model if field.struct == "mjModel" else data) + layout.offset(field.struct, field.field)
    return array_at(address, (1,), field.item)[0]


def _array(field: Field, model: int, data: int) -> Any:
    """An array that one of the structs points to, for Python."""
    shape = [e if isinstance(e, int) else int(_scalar(SIZES[e], model, data)) for e in field.shape]
    return array_at(_scalar(field._replace(item=np.int64), model, data), tuple(shape), field.item)


def userdata_of(model: int, data: int) -> Any:
    """(nuserdata,) the whole `userdata` of a simulation, from the addresses of its `mjModel` and `mjData`."""
    return _array(_USERDATA, model, data)


def numeric_of(model: int, data: int) -> Any:
    """(nnumericdata,) the model's own numbers, from the same addresses."""
    return _array(ARRAYS["numeric"], model, data)


def masses_of(model: int, data: int) -> Any:
    """(nbody,) masses of the bodies [kg], from the same addresses."""
    return _array(ARRAYS["mass"], model, data)


def world_of(model: int, data: int, anatomy: int) -> World:
    """The views of one simulation.

    Args:
        model: address of its `mjModel`.
        data: address of its `mjData`.
        anatomy: index in the model's numeric data where the character's table begins.
    """
    numeric = _array(ARRAYS["numeric"], model, data)
    table = records(numeric, anatomy, 1, ANATOMY)[0]
    nbody = int(_scalar(SIZES["nbody"], model, data))
    return World(
        time=_scalar(_TIME, model, data),
        dt=_scalar(_TIMESTEP, model, data),
        pyramidal=_scalar(_CONE, model, data) == 0,
        **{name: _array(field, model, data) for name, field in ARRAYS.items()},
        **BODY.lay(numeric, anatomy, (nbody, int(table.actuators), int(table.roles)))._asdict(),
    )


# What kernels get under the same names: the two addresses and the body's sizes; an array is looked up where it is read.


class _Seen(types.Type):  # type: ignore[misc]
    """The compiler's type of a World."""

    def __init__(self) -> None:
        self.body = Laid(BODY)
        super().__init__(name="World")


_SEEN = _Seen()


def _array_type(field: Field) -> Any:
    return types.Array(from_dtype(np.dtype(field.item)), len(field.shape), "C")


def _attribute(kind: _Seen, name: str) -> Any:
    """The compiler's type of an attribute of a World."""
    if name in ("time", "dt"):
        return types.float64
    if name == "pyramidal":
        return types.boolean
    return _array_type(ARRAYS[name]) if name in ARRAYS else kind.body.section(name)


def _load(builder: Any, field: Field, model: Any, data: Any, item: Any) -> Any:
    """Emit the reading of a number or an address in one of the structs; within a step, none of them changes."""
    owner = model if field.struct == "mjModel" else data
    at = builder.gep(owner, [ir.Constant(ir.IntType(64), layout.offset(field.struct, field.field))])
    found = builder.load(builder.bitcast(at, item.as_pointer()))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def _load_size(builder: Any, name: str, model: Any, data: Any) -> Any:
    bits = 8 * np.dtype(SIZES[name].item).itemsize
    found = _load(builder, SIZES[name], model, data, ir.IntType(bits))
    return found if bits == 64 else builder.sext(found, ir.IntType(64))


def _load_array(context: Any, builder: Any, field: Field, model: Any, data: Any) -> Any:
    kind = _array_type(field)
    shape = [
        ir.Constant(ir.IntType(64), extent) if isinstance(extent, int) else _load_size(builder, extent, model, data)
        for extent in field.shape
    ]
    address = _load(builder, field, model, data, context.get_data_type(kind.dtype).as_pointer())
    return view_at(context, builder, kind, address, shape)


def _look(context: Any, builder: Any, kind: _Seen, value: Any, name: str) -> Any:
    model, data = builder.extract_value(value, 0), builder.extract_value(value, 1)
    if name in ARRAYS:
        return _load_array(context, builder, ARRAYS[name], model, data)
    if name in ("time", "dt"):
        return _load(builder, _TIME if name == "time" else _TIMESTEP, model, data, ir.DoubleType())
    if name == "pyramidal":
        cone = _load(builder, _CONE, model, data, ir.IntType(32))
        return builder.icmp_signed("==", cone, ir.Constant(ir.IntType(32), 0))
    return lower_section(context, builder, kind.body, builder.extract_value(value, 2), name)


let_kernels_read(
    _Seen, lambda kind: [("model", types.voidptr), ("data", types.voidptr), ("body", kind.body)], _attribute, _look
)


def _let_kernels_call(function: Callable[[int, int], Any], field: Field) -> None:
    """Make a function of the two addresses that returns a field's array known to the compiler."""

    def result(model: Any, data: Any) -> Any:
        return _array_type(field)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        model, data = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in args)
        return _load_array(context, builder, field, model, data)

    let_kernels_call(function, result, lower, types.Integer, types.Integer)


_let_kernels_call(userdata_of, _USERDATA)
_let_kernels_call(numeric_of, ARRAYS["numeric"])
_let_kernels_call(masses_of, ARRAYS["mass"])


def _world_of_result(model: Any, data: Any, anatomy: Any) -> Any:
    return _SEEN


def _world_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    model, data = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in args[:2])
    number = ir.DoubleType()
    numeric = _load(builder, ARRAYS["numeric"], model, data, number.as_pointer())
    table = builder.gep(numeric, [context.cast(builder, args[2], signature.args[2], types.intp)])
    sizes = [_load_size(builder, "nbody", model, data)]
    for name in BODY.sizes[1:]:
        at = ir.Constant(ir.IntType(64), (ANATOMY.names or ()).index(name))
        sizes.append(builder.fptosi(builder.load(builder.gep(table, [at])), ir.IntType(64)))
    seen = cgutils.create_struct_proxy(_SEEN)(context, builder)
    seen.model, seen.data = model, data
    seen.body = lay_out(context, builder, _SEEN.body, table, sizes)
    return seen._getvalue()


let_kernels_call(world_of, _world_of_result, _world_of, types.Integer, types.Integer, types.Integer)
