"""Named arrays that follow each other in a flat array, each laid out only where a kernel reads it.

An array view is a dozen numbers to the compiler. A tuple of thirty views, handed from kernel to kernel, is what it
would spend most of its time on. So a compiled kernel gets one address and the few sizes that are not fixed; the view
of a section is made on the spot when a kernel names it. Python gets a tuple of all views under the same names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils

from surefoot.native.kernels import block, let_kernels_call, let_kernels_read, records, view_at

Extent = int | str
_WORD = ir.IntType(64)


class Section(NamedTuple):
    """One named array.

    Args:
        shape: how many items in each direction: numbers, or names of sizes that are known when it is laid out.
        item: a record of float64s; plain float64 if none is given.
    """

    shape: tuple[Extent, ...]
    item: np.dtype[Any] | None = None


class Layout:
    """Where each section begins, as a sum of products of sizes [float64s].

    Args:
        group: the named tuple that Python gets; its fields are the sections' names, in their order.
        sizes: names of the sizes that are not fixed, in the order in which they are given.
        sections: by name, in the order in which they lie.
    """

    def __init__(self, group: Callable[..., Any], sizes: tuple[str, ...], sections: Mapping[str, Section]) -> None:
        self.group, self.sizes, self.sections = group, sizes, dict(sections)
        self.begins: dict[str, Counter[tuple[str, ...]]] = {}
        at: Counter[tuple[str, ...]] = Counter()
        for name, section in self.sections.items():
            self.begins[name] = at.copy()
            factor = section.item.itemsize // 8 if section.item else 1
            for extent in section.shape:
                factor *= extent if isinstance(extent, int) else 1
            at[tuple(extent for extent in section.shape if isinstance(extent, str))] += factor

    def lay(self, array: Any, start: int, sizes: tuple[int, ...]) -> Any:
        """The group of all views, for Python.

        Args:
            array: flat float64s.
            start: index of the first section.
            sizes: in the order of `self.sizes`.
        """
        known, views, at = dict(zip(self.sizes, sizes, strict=True)), [], start
        for section in self.sections.values():
            shape = tuple(extent if isinstance(extent, int) else known[extent] for extent in section.shape)
            count = int(np.prod(shape))
            if section.item is not None:
                views.append(records(array, at, count, section.item))
                count *= section.item.itemsize // 8
            else:
                views.append(block(array, at, shape) if len(shape) > 1 else array[at : at + count])
            at += count
        return self.group(*views)


class Laid(types.Type):  # type: ignore[misc]
    """The compiler's type of a laid out group: an address and its sizes."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"Laid({getattr(layout.group, '__name__', layout.group)}, {id(layout)})")

    def section(self, name: str) -> Any:
        """The type of a section's view, None for a name that is no section's."""
        section = self.layout.sections.get(name)
        if section is None:
            return None
        return types.Array(from_dtype(section.item) if section.item else types.float64, len(section.shape), "C")


def lower_section(context: Any, builder: Any, kind: Laid, value: Any, name: str) -> Any:
    """Emit the view of a section."""
    layout = kind.layout
    sizes = {size: builder.extract_value(value, 1 + i) for i, size in enumerate(layout.sizes)}
    at: Any = _WORD(0)
    for names, factor in layout.begins[name].items():
        product: Any = _WORD(factor)
        for size in names:
            product = builder.mul(product, sizes[size])
        at = builder.add(at, product)
    shape = [_WORD(extent) if isinstance(extent, int) else sizes[extent] for extent in layout.sections[name].shape]
    return view_at(context, builder, kind.section(name), builder.gep(builder.extract_value(value, 0), [at]), shape)


let_kernels_read(
    Laid,
    lambda kind: [("address", types.CPointer(types.float64)), *((name, types.intp) for name in kind.layout.sizes)],
    Laid.section,
    lower_section,
)


def lay_out(context: Any, builder: Any, kind: Laid, address: Any, sizes: list[Any]) -> Any:
    """Emit a laid out group from a pointer to its first number and its sizes (int64)."""
    value = cgutils.create_struct_proxy(kind)(context, builder)
    value.address = address
    for name, size in zip(kind.layout.sizes, sizes, strict=True):
        setattr(value, name, size)
    return value._getvalue()


def layer(layout: Layout) -> Callable[[Any, int, tuple[int, ...]], Any]:
    """A function `lay(array, start, sizes)` that lays the sections over an array, for kernels and for Python."""

    def lay(array: Any, start: int, sizes: tuple[int, ...]) -> Any:
        return layout.lay(array, start, sizes)

    kind = Laid(layout)

    def result(array: Any, start: Any, sizes: Any) -> Any:
        return kind

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        start = context.cast(builder, args[1], signature.args[1], types.intp)
        given = zip(cgutils.unpack_tuple(builder, args[2]), signature.args[2], strict=True)
        sizes = [context.cast(builder, size, kind, types.intp) for size, kind in given]
        return lay_out(context, builder, kind, builder.gep(data, [start]), sizes)

    let_kernels_call(lay, result, lower, types.Array, types.Integer, types.BaseTuple)
    return lay
