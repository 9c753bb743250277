"""From an address to an array, and from a stretch of an array to named records.

These few lines are the only ones that know they run on a CPU; every kernel above them takes views.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.datamodel import StructModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, register_model, type_callable

from surefoot.native.compiling import pipeline_options

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **pipeline_options()}


def kernel(function: F) -> F:
    """Compile a function that cannot fail: division by zero gives inf, nothing is raised.

    It counts no references, as nothing is allocated: half of all code would be that. The compiler then lets it
    return numbers, records and tuples of arrays, but no array.
    """
    return njit(forceinline=True, _nrt=False, **_OPTIONS)(function)  # type: ignore[no-any-return]


def array_kernel(function: F) -> F:
    """Compile as `kernel` does, for a function that returns one array.

    No function of a GPU may: there, it is written into its callers.
    """
    return njit(forceinline=True, inline="always", _nrt=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def noinline(function: F) -> F:
    """Compile as `kernel` does, but as a function of its own: a rare path then costs the usual one nothing."""
    return njit(_nrt=False, **_OPTIONS)(function)  # type: ignore[no-any-return]


def python_impl(function: F) -> F:
    """The Python function underneath a kernel: kernels themselves can only be called by kernels."""
    return getattr(function, "py_func", function)  # type: ignore[no-any-return]


def array_at(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """The memory at an address as an array of the given shape (no copy)."""
    count = int(np.prod(shape))
    if count == 0 or address == 0:
        return np.zeros(shape, dtype).view(np.recarray if np.dtype(dtype).names else np.ndarray)
    nbytes = count * np.dtype(dtype).itemsize
    array: Any = np.frombuffer((ctypes.c_ubyte * nbytes).from_address(int(address)), dtype).reshape(shape)
    return array.view(np.recarray) if np.dtype(dtype).names else array


def records(array: Any, start: int, count: int, dtype: Any) -> Any:
    """`count` named records lying in a flat float array from index `start` on (no copy)."""
    return array[start : start + count * (dtype.itemsize // 8)].view(dtype).view(np.recarray)


def block(array: Any, start: int, shape: tuple[int, ...]) -> Any:
    """A stretch of a flat array from index `start` on, as an array of several dimensions (no copy).

    The compiler calls a function to find out whether it can `reshape`; here it knows, and leaves unused ones out.
    """
    return array[start : start + int(np.prod(shape))].reshape(shape)


class Intrinsic(NamedTuple):
    """A function that kernels call, and what a compiler has to be told of it."""

    function: Callable[..., Any]
    result: Callable[..., Any]  # from the types of its arguments to the type of what it returns
    lowering: Callable[..., Any]  # emits its code
    arguments: tuple[Any, ...]  # classes of types


INTRINSICS: list[Intrinsic] = []  # all of them: every other target has to be told too (`native.cuda`)


def let_kernels_call(
    function: Callable[..., Any], result: Callable[..., Any], lowering: Callable[..., Any], *arguments: Any
) -> None:
    """Make a Python function known to the compiler of kernels.

    Args:
        function: what kernels and Python call by the same name.
        result: from the types of its arguments, by their names, to the type of what it returns.
        lowering: emits its code, given context, builder, signature and values.
        arguments: classes of the types of its arguments.
    """
    type_callable(function)(lambda context: result)
    lower_builtin(function, *arguments)(lowering)
    INTRINSICS.append(Intrinsic(function, result, lowering, arguments))


class Viewed(NamedTuple):
    """A type of a few numbers that kernels get, and whose attributes are views made where they are read."""

    kind: type[types.Type]
    members: Callable[..., Any]  # of a type: names and types of the numbers
    resolve: Callable[..., Any]  # of a type and a name: the attribute's type, None if there is no such attribute
    lowering: Callable[..., Any]  # emits the reading of an attribute, given context, builder, type, value and name


VIEWED: list[Viewed] = []  # all of them, for other targets


def let_kernels_read(
    kind: type[types.Type], members: Callable[..., Any], resolve: Callable[..., Any], lowering: Callable[..., Any]
) -> None:
    """Make a type and its attributes known to the compiler of kernels; the arguments are those of `Viewed`."""
    viewed = Viewed(kind, members, resolve, lowering)
    register_model(kind)(model_of(viewed, StructModel))
    infer_getattr(attributes_of(viewed, AttributeTemplate))
    lower_getattr_generic(kind)(lowering)
    VIEWED.append(viewed)


def model_of(viewed: Viewed, base: type) -> type:
    """How values of a type lie in memory, as a subclass of a target's `StructModel`."""

    def start(self: Any, manager: Any, kind: Any) -> None:
        base.__init__(self, manager, kind, viewed.members(kind))  # type: ignore[misc]

    return type(f"{viewed.kind.__name__}Model", (base,), {"__init__": start})


def attributes_of(viewed: Viewed, base: type) -> type:
    """The types of its attributes, as a subclass of a target's `AttributeTemplate`."""
    found = {"key": viewed.kind, "generic_resolve": lambda self, kind, name: viewed.resolve(kind, name)}
    return type(f"{viewed.kind.__name__}Attributes", (base,), found)


def _array_at_result(address: Any, shape: Any, dtype: Any) -> Any:
    return types.Array(dtype.dtype, len(shape), "C")


def _array_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    given = zip(cgutils.unpack_tuple(builder, args[1]), signature.args[1], strict=True)
    shape = [context.cast(builder, extent, kind, types.intp) for extent, kind in given]
    return view_at(context, builder, signature.return_type, args[0], shape)


def _records_result(array: Any, start: Any, count: Any, dtype: Any) -> Any:
    return types.Array(dtype.dtype, 1, "C")


def _records(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start, count = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (1, 2))
    return view_at(context, builder, signature.return_type, builder.gep(data, [start]), [count])


def _block_result(array: Any, start: Any, shape: Any) -> Any:
    return types.Array(array.dtype, len(shape), "C")


def _block(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start = context.cast(builder, args[1], signature.args[1], types.intp)
    given = zip(cgutils.unpack_tuple(builder, args[2]), signature.args[2], strict=True)
    shape = [context.cast(builder, extent, kind, types.intp) for extent, kind in given]
    return view_at(context, builder, signature.return_type, builder.gep(data, [start]), shape)


let_kernels_call(array_at, _array_at_result, _array_at, types.Integer, types.BaseTuple, types.DTypeSpec)
let_kernels_call(records, _records_result, _records, types.Array, types.Integer, types.Integer, types.DTypeSpec)
let_kernels_call(block, _block_result, _block, types.Array, types.Integer, types.BaseTuple)


def view_at(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Emit an array of the given kind that owns nothing; the address may be a pointer or an integer."""
    word, item = ir.IntType(64), context.get_data_type(kind.dtype)
    size = word(kind.dtype.size if isinstance(kind.dtype, types.Record) else kind.dtype.bitwidth // 8)
    strides, count = [size], shape[-1]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    for extent in shape[:-1]:
        count = builder.mul(count, extent)
    is_pointer = isinstance(address.type, ir.PointerType)
    parts = {
        "meminfo": None,
        "parent": None,
        "nitems": count,
        "itemsize": size,
        "data": (builder.bitcast if is_pointer else builder.inttoptr)(address, item.as_pointer()),
        "shape": cgutils.pack_array(builder, shape, word),
        "strides": cgutils.pack_array(builder, strides, word),
    }
    array = ir.Constant(context.get_value_type(kind), None)
    for place, name in enumerate(context.data_model_manager[kind]._fields):
        if parts[name] is not None:
            array = builder.insert_value(array, parts[name], place)
    return array
