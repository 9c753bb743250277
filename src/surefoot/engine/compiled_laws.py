"""Laws by number, each compiled on its own when it is first needed, and cached on its own.

The compiled callback knows them by a table of addresses. A law that nobody prepared prepares itself when called.
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
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import binding, ir
from numba import cfunc, config, types
from numba.extending import lower_builtin, type_callable

from surefoot.controllers import base as controllers
from surefoot.native.compiling import can_cache, compiling
from surefoot.native.physics import userdata_of, world_of
from surefoot.native.userdata import row_of

log = logging.getLogger(__name__)

CAPACITY = 64  # controllers that the table has room for
_LAW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_TABLE = "surefoot_laws"
_lock = threading.Lock()
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
def _compile(name: str) -> Any:
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
        with _lock:
            _table[controllers.names().index(name)] = _compile(name).address


def _stand_in(number: int) -> Any:
    """What stands in the table for a law until it is prepared; a number of no controller does nothing."""

    def law(model: int, data: int, is_new: int) -> None:
        if number < len(controllers.names()):
            name = controllers.names()[number]
            prepare(name)
            _LAW(_compile(name).address)(model, data, is_new)

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
