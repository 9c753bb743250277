"""Byte layout of MuJoCo's C structs, taken from its own introspection tables.

No offset is typed in. The tables are turned into `ctypes` structures, and `verify` compares them with
the addresses MuJoCo itself reports for a live model, so that a release with another layout is refused
by name instead of being misread.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np
from mujoco.introspect import ast_nodes
from mujoco.introspect.enums import ENUMS
from mujoco.introspect.structs import STRUCTS

from surefoot.errors import LayoutError

_SCALARS: dict[str, Any] = {
    "mjtNum": ctypes.c_double,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "mjtSize": ctypes.c_int64,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "mjtByte": ctypes.c_ubyte,
    "mjtBool": ctypes.c_ubyte,
    "char": ctypes.c_char,
}


def _c_type(declared: Any) -> Any:
    """The ctypes type of one declared field type."""
    if isinstance(declared, ast_nodes.PointerType):
        return ctypes.c_size_t
    if isinstance(declared, ast_nodes.ArrayType):
        inner = _c_type(declared.inner_type)
        for extent in reversed(declared.extents):
            inner = inner * extent
        return inner
    if isinstance(declared, ast_nodes.AnonymousStructDecl):
        return _structure("anonymous", declared.fields)
    name = declared.name.removeprefix("struct ").rstrip("_")
    if name in _SCALARS:
        return _SCALARS[name]
    if name in ENUMS:
        return ctypes.c_int
    if name in STRUCTS:
        return struct(name)
    raise LayoutError(f"MuJoCo {mujoco.__version__} declares a field of unknown type {name!r}")


def _structure(name: str, fields: Iterable[Any]) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": [(f.name, _c_type(f.type)) for f in fields]})


@functools.cache
def struct(name: str) -> type[ctypes.Structure]:
    """The ctypes structure of a MuJoCo struct such as `mjData`."""
    return _structure(name, STRUCTS[name].fields)


def offset(name: str, field: str) -> int:
    """Bytes from the start of a struct to a field; dots reach into nested structs (`opt.timestep`)."""
    first, _, rest = field.partition(".")
    here = int(getattr(struct(name), first).offset)
    if not rest:
        return here
    declared = next(f.type for f in STRUCTS[name].fields if f.name == first)
    return here + offset(declared.name, rest)


def contact_dtype() -> np.dtype[Any]:
    """`mjContact` as a NumPy structured type, padding included."""
    return np.dtype(struct("mjContact"))


_PROBE = """<mujoco><size nuserdata="3"/><option timestep="0.00125"/>
<worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .09"><freejoint/><geom size=".1"/>
<body><joint name="j"/><geom size=".05" pos="1 0 1"/></body></body></worldbody>
<actuator><motor joint="j"/></actuator><custom><numeric name="n" data="1 2 3"/></custom></mujoco>"""


@functools.cache
def verify() -> int:
    """Compare every array and scalar the bindings expose with the layout; return how many agreed.

    Raises:
        LayoutError: naming the first field that differs and the MuJoCo version.
    """
    model = mujoco.MjModel.from_xml_string(_PROBE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    checked = sum(_compare(name, owner) for name, owner in (("mjModel", model), ("mjData", data)))
    contact = ctypes.c_size_t.from_address(data._address + offset("mjData", "contact")).value
    distance = ctypes.c_double.from_address(contact + offset("mjContact", "dist")).value
    if distance != data.contact.dist[0] or not data.ncon:
        raise LayoutError(f"MuJoCo {mujoco.__version__}: mjContact is not laid out as it describes itself")
    return checked + 1


def _compare(name: str, owner: Any) -> int:
    """Check one live struct against its computed layout."""
    checked = 0
    for declared in STRUCTS[name].fields:
        value = getattr(owner, declared.name, None)
        address = owner._address + offset(name, declared.name)
        if isinstance(declared.type, ast_nodes.PointerType):
            if not isinstance(value, np.ndarray) or not value.size or value.flags.owndata:  # not allocated
                continue
            same = ctypes.c_size_t.from_address(address).value == value.__array_interface__["data"][0]
        elif isinstance(value, (int, float)) and _c_type(declared.type) in (ctypes.c_int64, ctypes.c_double):
            same = _c_type(declared.type).from_address(address).value == value
        else:
            continue
        if not same:
            raise LayoutError(
                f"MuJoCo {mujoco.__version__}: field {declared.name!r} of {name} is not where its own "
                "description says; this version cannot be used"
            )
        checked += 1
    return checked
