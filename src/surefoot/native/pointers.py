"""From an address to an array, and from a stretch of an array to named records.

These few lines are the only ones that know they run on a CPU; every kernel above them takes views.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that cannot fail: division by zero gives inf, nothing is raised."""
    return njit(error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def apart(function: F) -> F:
    """Compile as `kernel` does, but as a function of its own: a rare path then costs the usual one nothing."""
    return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def plain(function: F) -> F:
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


@intrinsic
def _as_pointer(typing_context: Any, address: Any) -> Any:
    """Turn an integer into a void pointer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), codegen


@overload(array_at)
def _array_at(address: Any, shape: Any, dtype: Any) -> Any:
    def implementation(address: Any, shape: Any, dtype: Any) -> Any:
        return carray(_as_pointer(address), shape, dtype)

    return implementation


@overload(records)
def _records(array: Any, start: Any, count: Any, dtype: Any) -> Any:
    def implementation(array: Any, start: Any, count: Any, dtype: Any) -> Any:
        return carray(_as_pointer(array.ctypes.data + 8 * start), (count,), dtype)

    return implementation
