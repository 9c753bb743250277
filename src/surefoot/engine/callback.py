"""The two C functions MuJoCo calls within every step, and their installation.

`control` runs when positions, velocities and contacts of the step are known and before its forces are;
`sense` runs when the contact solve is done. Both ignore data that is not ours, keep no state of their
own, and give the same answer when the same moment is evaluated twice.
"""

from __future__ import annotations

import ctypes
import functools
import logging
from typing import Any

import mujoco
from numba import cfunc, config, types

from surefoot.controllers import base as controllers
from surefoot.engine.bookkeeping import apply_pushes, detect_fall, freeze_if_blown_up, report_loads
from surefoot.engine.compiled_laws import call_law, fingerprint
from surefoot.native import layout
from surefoot.native.kernels import kernel
from surefoot.native.physics import userdata_of, world_of
from surefoot.native.userdata import MAGIC, row_of
from surefoot.reflexes.contacts import detect_foot_contacts
from surefoot.reflexes.handover import hand_over
from surefoot.terrains.ground_kernels import move_platform

log = logging.getLogger(__name__)

_CONTROL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_SENSOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_LAWS = len(controllers.names())


@kernel
def _control(model: int, data: int) -> None:
    userdata = userdata_of(model, data)
    if len(userdata) < 64 or userdata[0] != MAGIC:
        return
    row = row_of(userdata)
    world = world_of(model, data, int(row.header[0].anatomy))
    body_on_ground = detect_foot_contacts(world, row.touch)
    apply_pushes(world, row)
    move_platform(world, row)
    is_new = world.time > row.clock[0].advanced
    if is_new:
        detect_fall(world, row, body_on_ground)
    if freeze_if_blown_up(world, row):
        row.clock[0].advanced = world.time
        return
    number, steps = int(row.slots[int(row.header[0].active), 0]), row.report[0].steps
    if 0 <= number < _LAWS:
        call_law(number, model, data, is_new)
    if is_new:
        hand_over(world, row, steps)
    row.clock[0].advanced = world.time


@kernel
def _sense(model: int, data: int) -> None:
    userdata = userdata_of(model, data)
    if len(userdata) < 64 or userdata[0] != MAGIC:
        return
    row = row_of(userdata)
    report_loads(world_of(model, data, int(row.header[0].anatomy)), row)


@functools.cache  # which also keeps the machine code alive
def _compile(key: int) -> tuple[Any, Any]:
    """The two callbacks; `key` takes part in them only as a key of the compiler's cache."""
    stage_after_solve = int(mujoco.mjtStage.mjSTAGE_ACC)

    @cfunc(types.void(types.int64, types.int64), cache=True, error_model="numpy", _nrt=False)  # type: ignore[misc]
    def control(model: int, data: int) -> None:
        if key > 0:
            _control(model, data)

    @cfunc(types.void(types.int64, types.int64, types.int32), cache=True, error_model="numpy", _nrt=False)  # type: ignore[misc]
    def sense(model: int, data: int, stage: int) -> None:
        if key > 0 and stage == stage_after_solve:
            _sense(model, data)

    return control, sense


@functools.cache
def _callbacks() -> tuple[Any, Any]:
    layout.verify()
    if config.DISABLE_JIT:  # the plain-Python oracle
        return _interpreted()
    control, sense = _compile(fingerprint(__name__))
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
