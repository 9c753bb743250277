"""How kernels are compiled: announced, cached where a folder can be written, by a shorter pipeline where that works."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core.caching import FunctionCache

log = logging.getLogger(__name__)
_announced: list[str] = []  # what to say when the first kernel is really compiled


@contextlib.contextmanager
def compiling(what: str) -> Iterator[None]:
    """Say so once if something within has to be compiled, not merely loaded, and put off garbage collection.

    The collector would take a tenth of a compilation.

    Args:
        what: for the line that is logged, such as "the simbicon controller".
    """
    collects = gc.isenabled()
    gc.disable()
    _announced[:] = [what]
    try:
        yield
    finally:
        _announced.clear()
        if collects:
            gc.enable()


@functools.cache
def _warn_uncached() -> None:
    log.warning(
        "no folder for compiled code can be written, so controllers are compiled anew in every process; "
        "NUMBA_CACHE_DIR can name one"
    )


def can_cache(function: Callable[..., Any]) -> bool:
    """Whether a function's machine code can be kept on disk; where it cannot, that is logged once as a warning."""
    try:
        FunctionCache(function)
    except RuntimeError:  # no folder that Numba knows of can be written
        _warn_uncached()
        return False
    return True


_TESTED = ("0.68.",)  # versions of Numba whose internals the shorter pipeline was tested with


def announce() -> None:
    """Log, once for each `compiling` block, that something is really compiled."""
    if _announced:
        log.info("compiling %s; this happens once and takes a few seconds", _announced.pop())


def pipeline_options() -> dict[str, Any]:
    """Options of `numba.njit` that choose the shorter pipeline; none with a version of Numba it was not tested with."""
    if not numba.__version__.startswith(_TESTED):
        return {}
    from surefoot.native.pipeline import PartCompiler

    return {"pipeline_class": PartCompiler}
