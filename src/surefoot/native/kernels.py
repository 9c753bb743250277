"""From an address to an array, and from a stretch of an array to named records.

These few lines are the only ones that know they run on a CPU; every kernel above them takes views.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

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
    """Compile as `kernel` does, for a function that returns one array."""
    return njit(forceinline=True, _nrt=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


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


@type_callable(array_at)
def _type_array_at(context: Any) -> Any:
    def result(address: Any, shape: Any, dtype: Any) -> Any:
        return types.Array(dtype.dtype, len(shape), "C")

    return result


@lower_builtin(array_at, types.Integer, types.BaseTuple, types.DTypeSpec)
def _array_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    given = zip(cgutils.unpack_tuple(builder, args[1]), signature.args[1], strict=True)
    shape = [context.cast(builder, extent, kind, types.intp) for extent, kind in given]
    return view_at(context, builder, signature.return_type, args[0], shape)


@type_callable(records)
def _type_records(context: Any) -> Any:
    def result(array: Any, start: Any, count: Any, dtype: Any) -> Any:
        return types.Array(dtype.dtype, 1, "C")

    return result


@lower_builtin(records, types.Array, types.Integer, types.Integer, types.DTypeSpec)
def _records(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start, count = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (1, 2))
    return view_at(context, builder, signature.return_type, builder.gep(data, [start]), [count])


@type_callable(block)
def _type_block(context: Any) -> Any:
    def result(array: Any, start: Any, shape: Any) -> Any:
        return types.Array(array.dtype, len(shape), "C")

    return result


@lower_builtin(block, types.Array, types.Integer, types.BaseTuple)
def _block(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start = context.cast(builder, args[1], signature.args[1], types.intp)
    given = zip(cgutils.unpack_tuple(builder, args[2]), signature.args[2], strict=True)
    shape = [context.cast(builder, extent, kind, types.intp) for extent, kind in given]
    return view_at(context, builder, signature.return_type, builder.gep(data, [start]), shape)


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
