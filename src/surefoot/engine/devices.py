"""The device that populations are built on where none is named, and the threads they take.

The device is a CPU, or inside of `using_device` another: an experiment, a search or an objective is written once and
builds populations, and `with using_device("cuda"):` around a call of it puts them all on a GPU. The threads are as many
as there are cores, or as many as the variable SUREFOOT_THREADS says, where several processes share a machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from surefoot.errors import SurefootError

CPU = "cpu"
THREADS_VARIABLE = "SUREFOOT_THREADS"  # the variable that limits the threads of this process
_present: ContextVar[str] = ContextVar("device", default=CPU)


def present_device() -> str:
    """The device of populations that name none."""
    return _present.get()


@contextmanager
def using_device(device: str) -> Iterator[None]:
    """Build populations that name no device on this one, inside a `with` statement, in this thread.

    Args:
        device: `cpu`, or a GPU: `cuda`, `cuda:1`, …

    Raises:
        SurefootError: it cannot be used here; the message says what is missing.
    """
    from surefoot.engine.gpu.worlds import check_device  # here, so that naming a device loads no simulation

    check_device(device)
    token = _present.set(device)
    try:
        yield
    finally:
        _present.reset(token)


def thread_count(asked: int = 0) -> int:
    """How many threads to take: those asked for, or what `THREADS_VARIABLE` says; 0 is all cores.

    Raises:
        SurefootError: the variable is not a number of threads.
    """
    said = os.environ.get(THREADS_VARIABLE, "").strip() or "0"
    if not said.isdecimal():
        raise SurefootError(f"{THREADS_VARIABLE} is a number of threads, 0 for all cores, got {said!r}")
    return asked or int(said)
