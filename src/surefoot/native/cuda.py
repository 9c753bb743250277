"""The same kernels, compiled for a GPU: its compiler is told of our intrinsics, and code comes out as PTX.

Compiling takes no GPU, so that a machine without one can check that every kernel compiles for it. Code is cached on
disk under a key that the caller gives.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib
import importlib.metadata
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from numba import config

from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError, SurefootError
from surefoot.native.kernels import INTRINSICS, VIEWED, attributes_of, kernel, model_of

log = logging.getLogger(__name__)
EXTRA = "pip install 'surefoot[cuda]'"
BLOCK = 32  # threads of a block: laws take up to 255 registers, and small blocks spread over all multiprocessors
_told: set[int] = set()  # places in INTRINSICS and, negative, in VIEWED that the compiler knows
_compiler: Any = None


def missing() -> str:
    """Which package is needed for compiling kernels for a GPU and is not installed; empty if none is."""
    names = "warp-lang", "mujoco-warp", "numba-cuda"
    return ", ".join(name for name in names if not _version(name))


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def numba_cuda() -> Any:
    """Numba's compiler for GPUs. Its version 0.30 asks for a name that NumPy 2.5 took away, so that is put back."""
    import numpy as np

    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack
    return importlib.import_module("numba.cuda")


def tell_compiler() -> None:
    """Make all intrinsics and types of kernels known to the compiler for GPUs, those it does not know yet."""
    numba_cuda()
    from numba.cuda import extending
    from numba.cuda.datamodel.models import StructModel
    from numba.cuda.typing.templates import AttributeTemplate

    for i, viewed in enumerate(VIEWED):
        if -1 - i not in _told:
            extending.register_model(viewed.kind)(model_of(viewed, StructModel))
            extending.infer_getattr(attributes_of(viewed, AttributeTemplate))
            extending.lower_getattr_generic(viewed.kind)(viewed.lowering)
            _told.add(-1 - i)
    for i, intrinsic in enumerate(INTRINSICS):
        if i not in _told:
            extending.type_callable(intrinsic.function)(functools.partial(_typing, intrinsic.result))
            extending.lower_builtin(intrinsic.function, *intrinsic.arguments)(intrinsic.lowering)
            _told.add(i)


def _typing(result: Callable[..., Any], context: Any) -> Callable[..., Any]:
    return result


@contextlib.contextmanager
def _compiling_for(capability: tuple[int, int]) -> Iterator[None]:
    """Let nested functions be compiled for a given GPU: by itself, the compiler asks the present one."""
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def atomic_claim() -> Callable[[Any, int], int]:
    """A kernel that adds 1 to a number of an array, whatever other threads do, and returns what it was before."""
    cuda = numba_cuda()

    @kernel
    def claim(numbers: Any, at: int) -> int:
        return cuda.atomic.add(numbers, at, 1)  # type: ignore[no-any-return]

    return claim  # type: ignore[no-any-return]


def entry(function: Callable[..., None]) -> Callable[[int, int, int], None]:
    """A function of two addresses and a count that calls a kernel for its own thread's number, if that is below."""
    cuda = numba_cuda()

    def start(table: int, sources: int, count: int) -> None:
        at = cuda.grid(1)
        if at < count:
            function(table, sources, at)

    return start


def ptx_of(function: Callable[..., None], capability: tuple[int, int]) -> str:
    """Compile an `entry` for GPUs of a compute capability.

    Args:
        function: what `entry` returned.
        capability: such as (9, 0).
    """
    from numba import types

    cuda = numba_cuda()
    tell_compiler()
    with _compiling_for(capability):
        text, _ = cuda.compile_ptx(function, types.void(types.int64, types.int64, types.int64), cc=capability)
    return str(text)


def cache_folder() -> Path:
    """Where compiled code for GPUs is kept."""
    base = config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "surefoot-cuda"


def cached_ptx(
    name: str, fingerprint: int, capability: tuple[int, int], make: Callable[[], Callable[..., None]]
) -> str:
    """PTX from the cache, or compiled and put there.

    Args:
        name: of the function, for the file's name and the log.
        fingerprint: of all sources it is compiled from.
        capability: of the GPU.
        make: gives the `entry`.
    """
    versions = [f"{package} {_version(package)}" for package in ("numba", "numba-cuda", "nvidia-nvvm")]
    key = hashlib.sha256(repr((fingerprint, capability, versions)).encode()).hexdigest()[:16]
    path = cache_folder() / f"{name}-{capability[0]}{capability[1]}-{key}.ptx"
    with contextlib.suppress(OSError):
        return path.read_text()
    log.info("compiling %s for GPUs; this happens once and takes some seconds", name)
    began = time.perf_counter()
    text = ptx_of(make(), capability)
    log.info("compiled %s in %.0f s", name, time.perf_counter() - began)
    with contextlib.suppress(OSError, OutputError):  # where no folder can be written, it is compiled in every process
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    return text


class LoadedKernel:
    """A compiled entry on the present GPU; it stays loaded as long as this object lives."""

    def __init__(self, text: str) -> None:
        """Load it into the present context.

        Args:
            text: PTX with one entry.

        Raises:
            SurefootError: the driver does not take the code.
        """
        from cuda.bindings import driver

        self._driver = driver
        name = re.search(r"\.visible \.entry (\w+)\(", text)
        if name is None:
            raise SurefootError("compiled code for the GPU has no entry")
        self._module = self._checked(driver.cuModuleLoadData(text.encode() + b"\0"))
        self._function = self._checked(driver.cuModuleGetFunction(self._module, name[1].encode()))

    def launch(self, stream: int, count: int, table: int, sources: int) -> None:
        """Call it with so many threads.

        Args:
            stream: handle of the CUDA stream.
            count: of threads.
            table: address of a table.
            sources: address of the other.
        """
        kinds = (ctypes.c_int64,) * 3
        blocks = (count + BLOCK - 1) // BLOCK
        self._checked(
            self._driver.cuLaunchKernel(
                self._function, blocks, 1, 1, BLOCK, 1, 1, 0, stream, ((table, sources, count), kinds), 0
            )
        )

    def _checked(self, answer: tuple[Any, ...]) -> Any:
        error, *values = answer
        if int(error) == int(self._driver.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION):
            raise SurefootError(
                "the GPU's driver is older than the installed CUDA compiler: update the driver, or install the "
                "compiler of its version, such as pip install 'nvidia-nvvm==13.0.*'"
            )
        if int(error):
            raise SurefootError(f"the GPU's driver refuses compiled code: {error.name}")
        return values[0] if values else None
