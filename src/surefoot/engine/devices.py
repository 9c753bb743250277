"""The device that populations are built on where none is named: a CPU, or inside of `using_device` another.

An experiment, a search or an objective is written once and builds populations. `with using_device("cuda"):` around a
call of it puts them all on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

CPU = "cpu"
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
