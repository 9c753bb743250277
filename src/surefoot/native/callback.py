"""The two C functions MuJoCo calls within every step, and their installation.

`control` runs when positions, velocities and contacts of the step are known and before its forces are;
`sense` runs when the contact solve is done. Both ignore data that is not ours, keep no state of their
own, and give the same answer when the same moment is evaluated twice.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import logging
import pkgutil
from pathlib import Path
from typing import Any

import mujoco
from numba import cfunc, config, types

import surefoot
from surefoot import controllers
from surefoot.native import layout
from surefoot.native.memory import MAGIC, row_of
from surefoot.native.pointers import kernel
from surefoot.native.world import userdata_of, world_of
from surefoot.reflexes.falls import freeze_if_blown_up, watch_fall
from surefoot.reflexes.loads import report_loads
from surefoot.reflexes.pushes import apply_pushes
from surefoot.reflexes.touch import feel_ground

log = logging.getLogger(__name__)

_CONTROL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_SENSOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


def _chain() -> Any:
    """One compiled function that calls the law whose number it is given.

    A controller's number is its place in the alphabetical list of `surefoot.controllers`.
    """

    @kernel
    def nothing(number: int, world: Any, row: Any, is_new: bool) -> None:
        return

    def link(own: int, law: Any, rest: Any) -> Any:
        @kernel
        def dispatch(number: int, world: Any, row: Any, is_new: bool) -> None:
            if number == own:
                law(world, row, is_new)
            else:
                rest(number, world, row, is_new)

        return dispatch

    chain = nothing
    for number, name in enumerate(controllers.names()):
        chain = link(number, importlib.import_module(f"surefoot.controllers.{name}").law, chain)
    return chain


_dispatch = _chain()


@kernel
def _control(model: int, data: int) -> None:
    userdata = userdata_of(model, data)
    if len(userdata) < 64 or userdata[0] != MAGIC:
        return
    row = row_of(userdata)
    world = world_of(model, data, int(row.header[0].anatomy))
    body_on_ground = feel_ground(world, row.touch)
    apply_pushes(world, row)
    is_new = world.time > row.clock[0].advanced
    if is_new:
        watch_fall(world, row, body_on_ground)
    if freeze_if_blown_up(world, row):
        row.clock[0].advanced = world.time
        return
    _dispatch(int(row.slots[int(row.header[0].active), 0]), world, row, is_new)
    row.clock[0].advanced = world.time


@kernel
def _sense(model: int, data: int) -> None:
    userdata = userdata_of(model, data)
    if len(userdata) < 64 or userdata[0] != MAGIC:
        return
    row = row_of(userdata)
    report_loads(world_of(model, data, int(row.header[0].anatomy)), row)


def _kernel_fingerprint() -> int:
    """A number of all kernel sources: the compiler's cache does not see edits in imported modules."""
    root = Path(surefoot.__file__).parent
    digest = hashlib.sha256()
    for room in ("native", "reflexes", "controllers"):
        for module in sorted(m.name for m in pkgutil.iter_modules([str(root / room)])):
            digest.update((root / room / f"{module}.py").read_bytes())
    digest.update(mujoco.__version__.encode())
    return int.from_bytes(digest.digest()[:6], "big") + 1


@functools.cache  # which also keeps the machine code alive
def _compile(fingerprint: int) -> tuple[Any, Any]:
    """The two callbacks; `fingerprint` takes part in them only as a key of the compiler's cache."""
    stage_after_solve = int(mujoco.mjtStage.mjSTAGE_ACC)

    @cfunc(types.void(types.int64, types.int64), cache=True, error_model="numpy")  # type: ignore[misc]
    def control(model: int, data: int) -> None:
        if fingerprint > 0:
            _control(model, data)

    @cfunc(types.void(types.int64, types.int64, types.int32), cache=True, error_model="numpy")  # type: ignore[misc]
    def sense(model: int, data: int, stage: int) -> None:
        if fingerprint > 0 and stage == stage_after_solve:
            _sense(model, data)

    return control, sense


@functools.cache
def _callbacks() -> tuple[Any, Any]:
    layout.verify()
    if config.DISABLE_JIT:  # the plain-Python oracle
        return _interpreted()
    control, sense = _compile(_kernel_fingerprint())
    return _CONTROL(control.address), _SENSOR(sense.address)


def _interpreted() -> tuple[Any, Any]:
    """The same functions, uncompiled: slow, readable, and what tests compare with."""

    def sense(model: int, data: int, stage: int) -> None:
        if stage == int(mujoco.mjtStage.mjSTAGE_ACC):
            _sense(model, data)

    return _CONTROL(_control), _SENSOR(sense)


def install() -> None:
    """Make MuJoCo call our controllers in every step of models that are ours (once is enough)."""
    control, sense = _callbacks()
    present = mujoco.get_mjcb_control()
    if present is not control:
        if present is not None:
            log.warning("replacing another control callback; MuJoCo has room for one only")
        mujoco.set_mjcb_control(control)
        mujoco.set_mjcb_sensor(sense)


def uninstall() -> None:
    """Take our callbacks out again, for measuring the bare physics step."""
    mujoco.set_mjcb_control(None)
    mujoco.set_mjcb_sensor(None)
