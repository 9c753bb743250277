"""The two C functions MuJoCo calls within every step, the laws they call, and their installation.

`control` runs when positions, velocities and contacts of the step are known and before its forces are; `sense` runs
when the contact solve is done. Both ignore data that is not ours, keep no state of their own, and give the same answer
when the same moment is evaluated twice. Each controller's law is compiled on its own, when it is first needed, and
`control` knows it by its place in a table of addresses; a law that nobody prepared prepares itself when called.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import importlib.util
import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import binding, ir
from numba import cfunc, config, types
from numba.extending import lower_builtin, type_callable

from surefoot.controllers import base as controllers
from surefoot.engine.bookkeeping import begin_moment, hand_over, report_loads
from surefoot.native import layout
from surefoot.native.compiling import can_cache, compiling
from surefoot.native.kernels import kernel, records
from surefoot.native.physics import has_room, masses_of, numeric_of, userdata_of, world_of
from surefoot.native.userdata import HEADER, is_row, row_of

log = logging.getLogger(__name__)
CAPACITY = 64  # controllers that the table has room for
_LAW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_TABLE = "surefoot_laws"
_table_lock = threading.Lock()
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)


def fingerprint(*modules: str) -> int:
    """A number of the sources of some modules and of all that they import of their package and of Surefoot.

    It is a key of the compiler's cache, which does not see edits in imported modules.

    Args:
        modules: full names.
    """
    sources: dict[str, bytes] = {}
    for module in modules:
        gather_sources(module, sources, ("surefoot", module.partition(".")[0]))
    digest = hashlib.sha256(mujoco.__version__.encode())
    for module in sorted(sources):
        digest.update(sources[module])
    return int.from_bytes(digest.digest()[:6], "big") + 1


@functools.cache
def _read(module: str) -> tuple[bytes, tuple[str, ...]] | None:
    """A module's source, and the names that may be modules it imports; None if there is no such module."""
    package, _, _ = module.partition(".")
    top = importlib.util.find_spec(package)
    if top is None or top.origin is None:
        return None
    path = Path(top.origin).parent.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file():
        return None
    source, names = path.read_bytes(), []
    for base, imported in _IMPORT.findall(source):
        words = [word.decode() for word in re.findall(rb"[\w.]+", imported)]
        names += [base.decode(), *(f"{base.decode()}.{word}" for word in words)] if base else words
    return source, tuple(dict.fromkeys(names))


def gather_sources(module: str, sources: dict[str, bytes], packages: tuple[str, ...]) -> None:
    """Add a module and all that it imports of some packages to the sources gathered so far.

    Args:
        module: full name.
        sources: by full name, added to.
        packages: top-level packages whose modules count.
    """
    if module in sources or module.partition(".")[0] not in packages or module == "surefoot":
        return
    found = _read(module)
    if found is not None:
        sources[module] = found[0]
        for name in found[1]:
            gather_sources(name, sources, packages)


@functools.cache  # which also keeps the machine code alive
def _compile_law(name: str) -> Any:
    """A controller's law as a C function of the addresses of `mjModel` and `mjData`."""
    controller = importlib.import_module(controllers.load(name).law_module)
    key = fingerprint(__name__, controller.__name__)

    def law(model: int, data: int, is_new: int) -> None:
        if key > 0:
            row = row_of(userdata_of(model, data))
            controller.law(world_of(model, data, int(row.header[0].anatomy)), row, is_new != 0)

    signature = types.void(types.int64, types.int64, types.int64)
    with compiling(f"the {name} controller"):
        return cfunc(signature, cache=can_cache(law), error_model="numpy", _nrt=False)(law)


def prepare(name: str) -> None:
    """Compile a controller's law, or load it from the compiler's cache, unless that is done.

    Args:
        name: of the controller.
    """
    if not config.DISABLE_JIT:
        with _table_lock:
            _table[controllers.names().index(name)] = _compile_law(name).address


def _stand_in(number: int) -> Any:
    """What stands in the table for a law until it is prepared; a number of no controller does nothing."""

    def law(model: int, data: int, is_new: int) -> None:
        if number < len(controllers.names()):
            name = controllers.names()[number]
            prepare(name)
            _LAW(_compile_law(name).address)(model, data, is_new)

    return _LAW(law)


def _report(number: int, *_: int) -> None:
    """Log that a row runs on without the decisions that its skill or its tasks need."""
    name = controllers.names()[number] if 0 <= number < len(controllers.names()) else "its"
    log.warning(
        "a %s simulation is stepped without what it decides in Python between physics steps: use Simulation.step or "
        "Population.step in place of mujoco.mj_step (this is said once for each simulation)", name,
    )  # fmt: skip


_waiting = [*map(_stand_in, range(CAPACITY)), _LAW(_report)]
_table = (ctypes.c_void_p * len(_waiting))(*(ctypes.cast(law, ctypes.c_void_p).value for law in _waiting))
binding.add_symbol(_TABLE, ctypes.addressof(_table))


def call_law(number: int, model: int, data: int, is_new: bool) -> None:
    """Call the law of a number, from a kernel.

    Args:
        number: a controller's place in `controllers.base.names()`.
        model: address of `mjModel`.
        data: address of `mjData`.
        is_new: whether this moment is evaluated for the first time.
    """
    if number >= len(controllers.names()):
        return
    row = row_of(userdata_of(model, data))
    law = importlib.import_module(controllers.load(controllers.names()[number]).law_module).law
    law(world_of(model, data, int(row.header[0].anatomy)), row, is_new)


def report_overdue(number: int) -> None:
    """Log, from a kernel, that a row of a controller was stepped beyond its next decision.

    Args:
        number: a controller's place in `controllers.base.names()`.
    """
    _report(number)


def _call_entry(context: Any, builder: Any, entry: Any, args: list[Any]) -> Any:
    """Emit the call of an entry of the table with three integers."""
    word = ir.IntType(64)
    law = ir.FunctionType(ir.VoidType(), [word, word, word]).as_pointer()
    table = builder.module.globals.get(_TABLE) or ir.GlobalVariable(builder.module, law, _TABLE)
    builder.call(builder.load(builder.gep(table, [entry])), args)
    return context.get_dummy_value()


@type_callable(call_law)
def _type_call_law(context: Any) -> Any:
    def result(number: Any, model: Any, data: Any, is_new: Any) -> Any:
        return types.none

    return result


@lower_builtin(call_law, types.Integer, types.Integer, types.Integer, types.Boolean)
def _lower_call_law(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    number, model, data, is_new = args
    return _call_entry(context, builder, number, [model, data, builder.zext(is_new, ir.IntType(64))])


@type_callable(report_overdue)
def _type_report_overdue(context: Any) -> Any:
    def result(number: Any) -> Any:
        return types.none

    return result


@lower_builtin(report_overdue, types.Integer)
def _lower_report_overdue(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    zero = ir.Constant(ir.IntType(64), 0)
    return _call_entry(context, builder, ir.Constant(ir.IntType(64), CAPACITY), [args[0], zero, zero])


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
    is_new = world.time > row.clock[0].advanced
    if not begin_moment(world, row, is_new):
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


def _compile_callbacks(key: int) -> tuple[Any, Any]:
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
    control, sense = _compile_callbacks(fingerprint(__name__))
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
