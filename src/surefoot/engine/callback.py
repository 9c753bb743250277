"""The two C functions MuJoCo calls within every step, and their installation.

`control` runs when positions, velocities and contacts of the step are known and before its forces are;
`sense` runs when the contact solve is done. Both ignore data that is not ours, keep no state of their
own, and give the same answer when the same moment is evaluated twice.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import threading
from collections.abc import Callable
from typing import Any

import mujoco
from numba import cfunc, config, types

from surefoot.engine.bookkeeping import apply_pushes, detect_fall, freeze_if_blown_up, report_loads
from surefoot.engine.compiled_laws import CAPACITY, call_law, fingerprint, report_overdue
from surefoot.native import layout
from surefoot.native.compiling import can_cache, compiling
from surefoot.native.kernels import kernel, records
from surefoot.native.physics import has_room, masses_of, numeric_of, userdata_of, world_of
from surefoot.native.userdata import HEADER, is_row, row_of
from surefoot.reflexes.contacts import detect_foot_contacts
from surefoot.reflexes.handover import hand_over
from surefoot.terrains.ground_kernels import move_platform

log = logging.getLogger(__name__)

_CONTROL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_SENSOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


@kernel
def _is_ours(model: int, data: int) -> bool:
    """Whether there is a row of ours whose views can be laid out; a damaged one is left alone."""
    userdata, numeric = userdata_of(model, data), numeric_of(model, data)
    if not is_row(userdata, len(numeric)):
        return False
    header = records(userdata, 0, 1, HEADER)[0]
    return has_room(numeric, header.anatomy, len(masses_of(model, data)), header.actuators, header.feet)  # type: ignore[no-any-return]


@kernel
def _control(model: int, data: int) -> None:
    if not _is_ours(model, data):
        return
    row = row_of(userdata_of(model, data))
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
    if is_new and world.time > row.header[0].planned_until + 0.5 * world.dt and row.header[0].overdue == 0.0:
        row.header[0].overdue = 1.0
        report_overdue(number)
    if 0 <= number < CAPACITY:
        call_law(number, model, data, is_new)
    if is_new:
        hand_over(world, row, steps)
    row.clock[0].advanced = world.time


@kernel
def _sense(model: int, data: int) -> None:
    if not _is_ours(model, data):
        return
    row = row_of(userdata_of(model, data))
    report_loads(world_of(model, data, int(row.header[0].anatomy)), row)


def _compile(key: int) -> tuple[Any, Any]:
    """The two callbacks; `key` takes part in them only as a key of the compiler's cache."""
    stage_after_solve = int(mujoco.mjtStage.mjSTAGE_ACC)

    def control(model: int, data: int) -> None:
        if key > 0:
            _control(model, data)

    def sense(model: int, data: int, stage: int) -> None:
        if key > 0 and stage == stage_after_solve:
            _sense(model, data)

    addresses = types.int64, types.int64
    with compiling("what all controllers share"):
        return tuple(
            cfunc(signature, cache=can_cache(function), error_model="numpy", _nrt=False)(function)
            for signature, function in ((types.void(*addresses), control), (types.void(*addresses, types.int32), sense))
        )


@functools.cache
def _callbacks() -> tuple[Any, Any, Any]:
    """What MuJoCo is to call for control and after the solve, and what keeps their machine code alive."""
    layout.verify()
    if config.DISABLE_JIT:  # the python_impl-Python oracle
        return *_interpreted(), None
    control, sense = _compile(fingerprint(__name__))
    return _CONTROL(control.address), _SENSOR(sense.address), (control, sense)


def _interpreted() -> tuple[Any, Any]:
    """The same functions, uncompiled: slow, readable, and what tests compare with."""

    def sense(model: int, data: int, stage: int) -> None:
        if stage == int(mujoco.mjtStage.mjSTAGE_ACC):
            _sense(model, data)

    return _CONTROL(_control), _SENSOR(sense)


_lock = threading.Lock()
_set_aside: dict[str, Any] = {}  # callbacks of others that ours took the place of, by name


def _is_installed() -> bool:
    """Whether MuJoCo calls both of ours."""
    control, sense, _ = _callbacks()
    return mujoco.get_mjcb_control() is control and mujoco.get_mjcb_sensor() is sense


def install() -> None:
    """Make MuJoCo call our controllers in every step of models that are ours (once is enough).

    A callback of another library is set aside, with a warning, and comes back by `uninstall`.
    """
    if _callbacks.cache_info().currsize and _is_installed():
        return
    with _lock:
        control, sense, _ = _callbacks()
        _replace("control", mujoco.get_mjcb_control(), control, mujoco.set_mjcb_control)
        _replace("sensor", mujoco.get_mjcb_sensor(), sense, mujoco.set_mjcb_sensor)


def _replace(name: str, present: Any, ours: Any, put: Callable[[Any], None]) -> None:
    """Put one of our callbacks in its place, and remember whose was there."""
    if present is ours:
        return
    if present is not None:
        log.warning("another library's %s callback is set aside: MuJoCo has room for one only", name)
    _set_aside[name] = present
    put(ours)


def uninstall() -> None:
    """Take our callbacks out again, for measuring the bare physics step; those that were there before come back."""
    if not _callbacks.cache_info().currsize:
        return
    with _lock:
        control, sense, _ = _callbacks()
        if mujoco.get_mjcb_control() is control:
            mujoco.set_mjcb_control(_set_aside.pop("control", None))
        if mujoco.get_mjcb_sensor() is sense:
            mujoco.set_mjcb_sensor(_set_aside.pop("sensor", None))
