"""The words of USD's text format: blocks within blocks, lists, tuples and matrices."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

_DIGITS = 7  # of single precision, which is what most numbers are kept in


class Block:
    """A prim: its type, its name, what is said of it, and the prims within it."""

    def __init__(self, kind: str, name: str, apis: tuple[str, ...] = ()) -> None:
        """Nothing is said of it yet; `apis` are the schemas that are applied to it."""
        self._kind, self._name, self._apis = kind, name, apis
        self._lines = list[str]()
        self.blocks = list[Block]()

    def say(self, what: str, value: str = "", *about: str) -> None:
        """A property with its type, its value and what is said about it in turn."""
        notes = " (\n" + "".join(f"    {line}\n" for line in about) + ")" if about else ""
        self._lines.append(f"{what} = {value}{notes}" if value else what)

    def samples(self, what: str, codes: np.ndarray, values: Sequence[str]) -> None:
        """A property that changes with time codes (n,)."""
        rows = "".join(f"    {code:.9g}: {value},\n" for code, value in zip(codes, values, strict=True))
        self._lines.append(f"{what}.timeSamples = {{\n{rows}}}")

    def add(self, *blocks: Block) -> None:
        """Put prims into it."""
        self.blocks += blocks

    def text(self) -> str:
        """All of it."""
        notes = f" (\n    prepend apiSchemas = {quoted(self._apis)}\n)" if self._apis else ""
        inner = "\n".join([*self._lines, *(block.text() for block in self.blocks)])
        return f'def {self._kind} "{self._name}"{notes}\n{{\n{textwrap.indent(inner, "    ")}\n}}'


def document(head: list[str], block: Block) -> str:
    """A whole file."""
    return "#usda 1.0\n(\n" + "".join(f"    {line}\n" for line in head) + f")\n\n{block.text()}\n"


def listed(items: Sequence[str]) -> str:
    """A list."""
    return f"[{', '.join(items)}]"


def quoted(words: Sequence[str]) -> str:
    """A list of words."""
    return listed([f'"{word}"' for word in words])


def numbers(values: np.ndarray) -> str:
    """A list of numbers (n,)."""
    return listed([f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value) for value in values.tolist()])


def tuples(rows: np.ndarray) -> str:
    """A list of tuples, from a table (n, m)."""
    return listed([f"({', '.join([f'{value:.{_DIGITS}g}' for value in row])})" for row in rows.tolist()])


def matrices(axes: np.ndarray, places: np.ndarray) -> str:
    """A list of transforms from axes (n, 3, 3), in columns, and places (n, 3): USD's matrices stand the other way."""
    found = []
    for turn, place in zip(axes.tolist(), places.tolist(), strict=True):
        rows = [*([turn[i][j] for i in range(3)] + [0.0] for j in range(3)), [*place, 1.0]]
        found.append("(" + ", ".join(f"({', '.join(f'{value:.12g}' for value in row)})" for row in rows) + ")")
    return listed(found)
