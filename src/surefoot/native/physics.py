"""What a law may read of the physics: views of `mjModel` and `mjData`, gathered in one tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.datamodel import StructModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, register_model, type_callable

from surefoot.native import layout
from surefoot.native.kernels import array_at, kernel, records, view_at
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


_BODY = Layout(
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


class _Field(NamedTuple):
    """Where an array of MuJoCo's is: the struct and its field; how many items in each direction; what they are."""

    struct: str
    field: str
    shape: tuple[int | str, ...]
    item: Any = np.float64


_ARRAYS = {
    "qpos": _Field("mjData", "qpos", ("nq",)),
    "qvel": _Field("mjData", "qvel", ("nv",)),
    "xpos": _Field("mjData", "xpos", ("nbody", 3)),
    "xmat": _Field("mjData", "xmat", ("nbody", 9)),
    "xquat": _Field("mjData", "xquat", ("nbody", 4)),
    "xaxis": _Field("mjData", "xaxis", ("njnt", 3)),
    "xanchor": _Field("mjData", "xanchor", ("njnt", 3)),
    "xipos": _Field("mjData", "xipos", ("nbody", 3)),
    "cvel": _Field("mjData", "cvel", ("nbody", 6)),
    "subtree_com": _Field("mjData", "subtree_com", ("nbody", 3)),
    "rootid": _Field("mjModel", "body_rootid", ("nbody",), np.int32),
    "mass": _Field("mjModel", "body_mass", ("nbody",)),
    "ctrl": _Field("mjData", "ctrl", ("nu",)),
    "xfrc": _Field("mjData", "xfrc_applied", ("nbody", 6)),
    "actuator_force": _Field("mjData", "actuator_force", ("nu",)),
    "contact": _Field("mjData", "contact", ("ncon",), CONTACT),
    "efc_force": _Field("mjData", "efc_force", ("nefc",)),
    "geom_body": _Field("mjModel", "geom_bodyid", ("ngeom",), np.int32),
    "numeric": _Field("mjModel", "numeric_data", ("nnumericdata",)),
}
_USERDATA = _Field("mjData", "userdata", ("nuserdata",))
_SIZES = {size: _Field("mjModel", size, (), np.int64) for size in (
    "nq", "nv", "nu", "nbody", "njnt", "ngeom", "nuserdata", "nnumericdata")}  # fmt: skip
_SIZES |= {size: _Field("mjData", size, (), np.int32) for size in ("ncon", "nefc")}
_TIME, _TIMESTEP = _Field("mjData", "time", ()), _Field("mjModel", "opt.timestep", ())
_CONE = _Field("mjModel", "opt.cone", (), np.int32)


def _scalar(field: _Field, model: int, data: int) -> Any:
    """A number of one of the structs, for Python."""
    address = (model if field.struct == "mjModel" else data) + layout.offset(field.struct, field.field)
    return array_at(address, (1,), field.item)[0]


def _array(field: _Field, model: int, data: int) -> Any:
    """An array that one of the structs points to, for Python."""
    shape = [e if isinstance(e, int) else int(_scalar(_SIZES[e], model, data)) for e in field.shape]
    return array_at(_scalar(field._replace(item=np.int64), model, data), tuple(shape), field.item)


def userdata_of(model: int, data: int) -> Any:
    """(nuserdata,) the whole `userdata` of a simulation, from the addresses of its `mjModel` and `mjData`."""
    return _array(_USERDATA, model, data)


def numeric_of(model: int, data: int) -> Any:
    """(nnumericdata,) the model's own numbers, from the same addresses."""
    return _array(_ARRAYS["numeric"], model, data)


def masses_of(model: int, data: int) -> Any:
    """(nbody,) masses of the bodies [kg], from the same addresses."""
    return _array(_ARRAYS["mass"], model, data)


def world_of(model: int, data: int, anatomy: int) -> World:
    """The views of one simulation.

    Args:
        model: address of its `mjModel`.
        data: address of its `mjData`.
        anatomy: index in the model's numeric data where the character's table begins.
    """
    numeric = _array(_ARRAYS["numeric"], model, data)
    table = records(numeric, anatomy, 1, ANATOMY)[0]
    nbody = int(_scalar(_SIZES["nbody"], model, data))
    return World(
        time=_scalar(_TIME, model, data),
        dt=_scalar(_TIMESTEP, model, data),
        pyramidal=_scalar(_CONE, model, data) == 0,
        **{name: _array(field, model, data) for name, field in _ARRAYS.items()},
        **_BODY.lay(numeric, anatomy, (nbody, int(table.actuators), int(table.roles)))._asdict(),
    )


# What kernels get under the same names: the two addresses and the body's sizes; an array is looked up where it is read.


class _Seen(types.Type):  # type: ignore[misc]
    """The compiler's type of a World."""

    def __init__(self) -> None:
        self.body = Laid(_BODY)
        super().__init__(name="World")


_SEEN = _Seen()


@register_model(_Seen)
class _SeenModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: _Seen) -> None:
        super().__init__(manager, kind, [("model", types.voidptr), ("data", types.voidptr), ("body", kind.body)])


def _array_type(field: _Field) -> Any:
    return types.Array(from_dtype(np.dtype(field.item)), len(field.shape), "C")


@infer_getattr
class _SeenAttributes(AttributeTemplate):  # type: ignore[misc]
    key = _Seen

    def generic_resolve(self, kind: _Seen, name: str) -> Any:
        if name in ("time", "dt"):
            return types.float64
        if name == "pyramidal":
            return types.boolean
        return _array_type(_ARRAYS[name]) if name in _ARRAYS else kind.body.section(name)


def _load(builder: Any, field: _Field, model: Any, data: Any, item: Any) -> Any:
    """Emit the reading of a number or an address in one of the structs; within a step, none of them changes."""
    owner = model if field.struct == "mjModel" else data
    at = builder.gep(owner, [ir.Constant(ir.IntType(64), layout.offset(field.struct, field.field))])
    found = builder.load(builder.bitcast(at, item.as_pointer()))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def _load_size(builder: Any, name: str, model: Any, data: Any) -> Any:
    bits = 8 * np.dtype(_SIZES[name].item).itemsize
    found = _load(builder, _SIZES[name], model, data, ir.IntType(bits))
    return found if bits == 64 else builder.sext(found, ir.IntType(64))


def _load_array(context: Any, builder: Any, field: _Field, model: Any, data: Any) -> Any:
    kind = _array_type(field)
    shape = [
        ir.Constant(ir.IntType(64), extent) if isinstance(extent, int) else _load_size(builder, extent, model, data)
        for extent in field.shape
    ]
    address = _load(builder, field, model, data, context.get_data_type(kind.dtype).as_pointer())
    return view_at(context, builder, kind, address, shape)


@lower_getattr_generic(_Seen)
def _look(context: Any, builder: Any, kind: _Seen, value: Any, name: str) -> Any:
    model, data = builder.extract_value(value, 0), builder.extract_value(value, 1)
    if name in _ARRAYS:
        return _load_array(context, builder, _ARRAYS[name], model, data)
    if name in ("time", "dt"):
        return _load(builder, _TIME if name == "time" else _TIMESTEP, model, data, ir.DoubleType())
    if name == "pyramidal":
        cone = _load(builder, _CONE, model, data, ir.IntType(32))
        return builder.icmp_signed("==", cone, ir.Constant(ir.IntType(32), 0))
    return lower_section(context, builder, kind.body, builder.extract_value(value, 2), name)


def _let_kernels_call(function: Callable[[int, int], Any], field: _Field) -> None:
    """Make a function of the two addresses that returns a field's array known to the compiler."""

    @type_callable(function)
    def _type(context: Any) -> Any:
        def result(model: Any, data: Any) -> Any:
            return _array_type(field)

        return result

    @lower_builtin(function, types.Integer, types.Integer)
    def _lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        model, data = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in args)
        return _load_array(context, builder, field, model, data)


_let_kernels_call(userdata_of, _USERDATA)
_let_kernels_call(numeric_of, _ARRAYS["numeric"])
_let_kernels_call(masses_of, _ARRAYS["mass"])


@type_callable(world_of)
def _type_world_of(context: Any) -> Any:
    def result(model: Any, data: Any, anatomy: Any) -> Any:
        return _SEEN

    return result


@lower_builtin(world_of, types.Integer, types.Integer, types.Integer)
def _world_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    model, data = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in args[:2])
    number = ir.DoubleType()
    numeric = _load(builder, _ARRAYS["numeric"], model, data, number.as_pointer())
    table = builder.gep(numeric, [context.cast(builder, args[2], signature.args[2], types.intp)])
    sizes = [_load_size(builder, "nbody", model, data)]
    for name in _BODY.sizes[1:]:
        at = ir.Constant(ir.IntType(64), (ANATOMY.names or ()).index(name))
        sizes.append(builder.fptosi(builder.load(builder.gep(table, [at])), ir.IntType(64)))
    seen = cgutils.create_struct_proxy(_SEEN)(context, builder)
    seen.model, seen.data = model, data
    seen.body = lay_out(context, builder, _SEEN.body, table, sizes)
    return seen._getvalue()
