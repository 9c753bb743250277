"""Laws by number, each compiled on its own when it is first needed, and cached on its own.

The compiled callback knows them by a table of addresses. A law that nobody prepared prepares itself when called.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import importlib
import importlib.util
import threading
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import binding, ir
from numba import cfunc, config, types
from numba.extending import lower_builtin, type_callable

from surefoot.controllers import base as controllers
from surefoot.native.physics import userdata_of, world_of
from surefoot.native.userdata import row_of

_LAW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_TABLE = "surefoot_laws"
_lock = threading.Lock()


def fingerprint(*modules: str) -> int:
    """A number of the sources of some modules and of all of ours that they import.

    It is a key of the compiler's cache, which does not see edits in imported modules.
    """
    sources: dict[str, bytes] = {}
    for module in modules:
        gather_sources(module, sources, {"surefoot", module.partition(".")[0]})
    digest = hashlib.sha256(repr((mujoco.__version__, controllers.names())).encode())
    for module in sorted(sources):
        digest.update(sources[module])
    return int.from_bytes(digest.digest()[:6], "big") + 1


def gather_sources(module: str, sources: dict[str, bytes], packages: set[str]) -> None:
    """Add a module and all that it imports of some packages to the sources gathered so far, by their full names."""
    if module in sources or module.partition(".")[0] not in packages:
        return
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name of a module, not a module
        return
    if found is None or found.origin is None:
        return
    sources[module] = Path(found.origin).read_bytes()
    for node in ast.walk(ast.parse(sources[module])):
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = getattr(node, "module", None)
            for name in (base, *(f"{base}.{alias.name}" if base else alias.name for alias in node.names)):
                gather_sources(name or "", sources, packages)


@functools.cache  # which also keeps the machine code alive
def _compile(name: str) -> Any:
    """A controller's law as a C function of the addresses of `mjModel` and `mjData`."""
    controller = importlib.import_module(controllers.load(name).law_module)
    key = fingerprint(__name__, controller.__name__)

    @cfunc(types.void(types.int64, types.int64, types.int64), cache=True, error_model="numpy", _nrt=False)  # type: ignore[misc]
    def law(model: int, data: int, is_new: int) -> None:
        if key > 0:
            row = row_of(userdata_of(model, data))
            controller.law(world_of(model, data, int(row.header[0].anatomy)), row, is_new != 0)

    return law


def prepare(name: str) -> None:
    """Compile a controller's law, or load it from the compiler's cache, unless that is done."""
    if not config.DISABLE_JIT:
        with _lock:
            _table[controllers.names().index(name)] = _compile(name).address


def _unprepared(name: str) -> Any:
    """What stands in the table for a law until it is prepared."""

    def law(model: int, data: int, is_new: int) -> None:
        prepare(name)
        _LAW(_compile(name).address)(model, data, is_new)

    return _LAW(law)


_waiting = [_unprepared(name) for name in controllers.names()]
_table = (ctypes.c_void_p * len(_waiting))(*(ctypes.cast(law, ctypes.c_void_p).value for law in _waiting))
binding.add_symbol(_TABLE, ctypes.addressof(_table))


def call_law(number: int, model: int, data: int, is_new: bool) -> None:
    """Call the law of a number; a controller's number is its place in `controllers.names()`."""
    row = row_of(userdata_of(model, data))
    law = importlib.import_module(controllers.load(controllers.names()[number]).law_module).law
    law(world_of(model, data, int(row.header[0].anatomy)), row, is_new)


@type_callable(call_law)
def _type_obey(context: Any) -> Any:
    def result(number: Any, model: Any, data: Any, is_new: Any) -> Any:
        return types.none

    return result


@lower_builtin(call_law, types.Integer, types.Integer, types.Integer, types.Boolean)
def _obey(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    word = ir.IntType(64)
    law = ir.FunctionType(ir.VoidType(), [word, word, word]).as_pointer()
    table = builder.module.globals.get(_TABLE) or ir.GlobalVariable(builder.module, law, _TABLE)
    number, model, data, is_new = args
    builder.call(builder.load(builder.gep(table, [number])), [model, data, builder.zext(is_new, word)])
    return context.get_dummy_value()
