"""The views of `native.physics` for one of many worlds, whose arrays lie one behind the other.

On a GPU there is no `mjModel` and no `mjData` for each world: there is one array of all worlds' positions, one of all
velocities, and so on. A table of integers says where each array begins and how far apart two worlds' parts of it are.
Kernels get the address of the table and the number of a world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils

from surefoot.native.kernels import array_at, let_kernels_call, let_kernels_read, records, view_at
from surefoot.native.physics import ANATOMY, ARRAYS, BODY, SIZES, World
from surefoot.native.sections import Laid, lay_out, lower_section

_OURS = ("numeric", "mass")  # always float64: they are read by laws only
_WORD = ir.IntType(64)


def contact_dtype(real: Any) -> np.dtype[Any]:
    """A contact with the fields of `mjContact` that kernels name; with elliptic cones `friction` is not read.

    Args:
        real: numpy.float32 or numpy.float64.
    """
    fields = [(name, "i4") for name in ("geom1", "geom2", "dim", "efc_address", "exclude")]
    return np.dtype([*fields, ("pos", real, 3), ("frame", real, 9), ("friction", real, 5)])


class _Entry(NamedTuple):
    """An array of all worlds: its shape in one world and its items; None is the physics' own kind of number."""

    shape: tuple[int | str, ...]
    item: Any = None


ENTRIES = {
    name: _Entry(field.shape, field.item if name in _OURS or np.dtype(field.item) != np.float64 else None)
    for name, field in ARRAYS.items()
} | {
    "userdata": _Entry(("nuserdata",), np.float64),
    "time": _Entry((1,), np.float64),
    "dt": _Entry((1,), np.float64),
    "ncon": _Entry((1,), np.int32),
}
"""The arrays, in the order of the table, two integers each: the address of world 0, and the bytes between worlds."""

COUNTS = tuple(size for size in SIZES if size != "ncon")  # they follow in the table, one integer each
_AT = {name: 2 * i for i, name in enumerate(ENTRIES)} | {name: 2 * len(ENTRIES) + i for i, name in enumerate(COUNTS)}


class Placed(NamedTuple):
    """Where an array of all worlds lies."""

    address: int
    stride: int  # [bytes] from one world to the next; 0 if they share it


def table_of(arrays: Mapping[str, Placed], counts: Mapping[str, int]) -> np.ndarray:
    """The integers that kernels get.

    Args:
        arrays: by the names of `ENTRIES`.
        counts: by the names of `COUNTS`.
    """
    return np.array([n for name in ENTRIES for n in arrays[name]] + [counts[name] for name in COUNTS], dtype=np.int64)


def item_of(name: str, real: Any) -> np.dtype[Any]:
    """The items of an array, for worlds of float32 or of float64."""
    item = ENTRIES[name].item
    if name == "contact":
        return contact_dtype(real)
    kind: np.dtype[Any] = np.dtype(real if item is None else item)
    return kind


def _entry(table: int, index: int, name: str, real: Any) -> Any:
    """One world's part of an array, for Python."""
    numbers = array_at(table, (len(_AT) + len(ENTRIES),), np.int64)
    address, stride = numbers[_AT[name]], numbers[_AT[name] + 1]
    shape = [extent if isinstance(extent, int) else _count(table, index, extent) for extent in ENTRIES[name].shape]
    return array_at(int(address + stride * index), tuple(shape), item_of(name, real))


def _count(table: int, index: int, name: str) -> int:
    if name == "ncon":
        return int(_entry(table, index, name, np.float32)[0])
    return int(array_at(table, (len(_AT) + len(ENTRIES),), np.int64)[_AT[name]])


def userdata_at(table: int, index: int) -> Any:
    """(nuserdata,) the row of a world.

    Args:
        table: address of the table.
        index: number of the world.
    """
    return _entry(table, index, "userdata", np.float64)


def world_at(table: int, index: int, anatomy: int, real: Any) -> World:
    """The views of one world.

    Args:
        table: address of the table.
        index: number of the world.
        anatomy: index in the model's numeric data where the character's table begins.
        real: numpy.float32 or numpy.float64, what the physics computes with.
    """
    numeric = _entry(table, index, "numeric", real)
    head = records(numeric, anatomy, 1, ANATOMY)[0]
    sizes = _count(table, index, "nbody"), int(head.actuators), int(head.roles)
    return World(
        time=_entry(table, index, "time", real)[0], dt=_entry(table, index, "dt", real)[0], pyramidal=False,
        **{name: _entry(table, index, name, real) for name in ARRAYS},
        **BODY.lay(numeric, anatomy, sizes)._asdict(),
    )  # fmt: skip


class _Placed(types.Type):  # type: ignore[misc]
    """The compiler's type of one world of many."""

    def __init__(self, real: Any) -> None:
        self.real, self.body = real, Laid(BODY)
        super().__init__(name=f"World({np.dtype(real).name})")

    def attribute(self, name: str) -> Any:
        """The type of an attribute; None for a name that is none."""
        if name in ("time", "dt"):
            return types.float64
        if name == "pyramidal":
            return types.boolean
        return array_type(name, self.real) if name in ARRAYS else self.body.section(name)


_KINDS = {np.dtype(real): _Placed(real) for real in (np.float32, np.float64)}


def array_type(name: str, real: Any) -> Any:
    """The compiler's type of one world's part of an array."""
    return types.Array(from_dtype(item_of(name, real)), len(ENTRIES[name].shape), "C")


def _integer(builder: Any, table: Any, at: int) -> Any:
    found = builder.load(builder.gep(table, [_WORD(at)]))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def _emit_array(context: Any, builder: Any, table: Any, index: Any, name: str, real: Any) -> Any:
    address = builder.add(
        _integer(builder, table, _AT[name]), builder.mul(_integer(builder, table, _AT[name] + 1), index)
    )
    shape = [
        _WORD(extent) if isinstance(extent, int) else _emit_count(context, builder, table, index, extent)
        for extent in ENTRIES[name].shape
    ]
    return view_at(context, builder, array_type(name, real), address, shape)


def _emit_number(context: Any, builder: Any, table: Any, index: Any, name: str) -> Any:
    """The first number of an array."""
    kind = array_type(name, np.float64)
    view = _emit_array(context, builder, table, index, name, np.float64)
    return builder.load(context.make_array(kind)(context, builder, view).data)


def _emit_count(context: Any, builder: Any, table: Any, index: Any, name: str) -> Any:
    if name == "ncon":
        return builder.sext(_emit_number(context, builder, table, index, name), _WORD)
    return _integer(builder, table, _AT[name])


def _look(context: Any, builder: Any, kind: _Placed, value: Any, name: str) -> Any:
    table, index = builder.extract_value(value, 0), builder.extract_value(value, 1)
    if name in ARRAYS:
        return _emit_array(context, builder, table, index, name, kind.real)
    if name in ("time", "dt"):
        return _emit_number(context, builder, table, index, name)
    if name == "pyramidal":
        return ir.Constant(ir.IntType(1), 0)
    return lower_section(context, builder, kind.body, builder.extract_value(value, 2), name)


let_kernels_read(
    _Placed,
    lambda kind: [("table", types.CPointer(types.int64)), ("index", types.intp), ("body", kind.body)],
    _Placed.attribute,
    _look,
)


def _table_and_index(context: Any, builder: Any, signature: Any, args: Any) -> tuple[Any, Any]:
    table = builder.inttoptr(args[0], _WORD.as_pointer())
    return table, context.cast(builder, args[1], signature.args[1], types.intp)


def _world_at_result(table: Any, index: Any, anatomy: Any, real: Any) -> Any:
    return _KINDS[np.dtype(str(real.dtype))]


def _world_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, index = _table_and_index(context, builder, signature, args)
    kind = signature.return_type
    numeric = _emit_array(context, builder, table, index, "numeric", kind.real)
    data = context.make_array(array_type("numeric", kind.real))(context, builder, numeric).data
    head = builder.gep(data, [context.cast(builder, args[2], signature.args[2], types.intp)])
    sizes = [_emit_count(context, builder, table, index, "nbody")]
    for name in BODY.sizes[1:]:
        at = _WORD((ANATOMY.names or ()).index(name))
        sizes.append(builder.fptosi(builder.load(builder.gep(head, [at])), _WORD))
    world = cgutils.create_struct_proxy(kind)(context, builder)
    world.table, world.index = table, index
    world.body = lay_out(context, builder, kind.body, head, sizes)
    return world._getvalue()


def _userdata_at_result(table: Any, index: Any) -> Any:
    return array_type("userdata", np.float64)


def _userdata_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, index = _table_and_index(context, builder, signature, args)
    return _emit_array(context, builder, table, index, "userdata", np.float64)


let_kernels_call(world_at, _world_at_result, _world_at, types.Integer, types.Integer, types.Integer, types.DTypeSpec)
let_kernels_call(userdata_at, _userdata_at_result, _userdata_at, types.Integer, types.Integer)
