"""Bodies as tables; `names()` lists them, `load()` finds one."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.characters import human, humanoid, planar
from surefoot.characters.table import CharacterTable
from surefoot.errors import UnknownNameError

_TABLES: dict[str, Callable[[], CharacterTable]] = {
    "human": human.table,
    "humanoid": humanoid.table,
    "planar": planar.table,
}


def names() -> tuple[str, ...]:
    """All characters there are."""
    return tuple(_TABLES)


def load(name: str) -> CharacterTable:
    """A fresh table of a character."""
    if name not in _TABLES:
        raise UnknownNameError("character", name, names())
    return _TABLES[name]()
