"""Bodies as tables; `names()` lists them, `load()` finds one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from surefoot.characters import (
    ape,
    bird,
    human,
    human19,
    human_toes,
    humanoid,
    planar,
    planar_arms,
    robot,
    stepper,
    strider,
)
from surefoot.characters.foreign import table_of
from surefoot.characters.table import CharacterTable
from surefoot.errors import UnknownNameError

_TABLES: dict[str, Callable[[], CharacterTable]] = {
    "ape": ape.table,
    "bird": bird.table,
    "human": human.table,
    "human19": human19.table,
    "human_toes": human_toes.table,
    "humanoid": humanoid.table,
    "planar": planar.table,
    "planar_arms": planar_arms.table,
    "robot": robot.table,
    "stepper": stepper.table,
    "strider": strider.table,
}


def names() -> tuple[str, ...]:
    """All characters there are."""
    return tuple(_TABLES)


def load(name: str | Path) -> CharacterTable:
    """A fresh table of a character, by its name or by the path of an MJCF file.

    A stranger whose file is named like one of ours is called otherwise: it has none of ours' skills.
    """
    if str(name).endswith(".xml"):
        found = table_of(Path(name))
        return replace(found, name=f"{found.name}-file") if found.name in _TABLES else found
    if name not in _TABLES:
        raise UnknownNameError("character", name, names())
    return _TABLES[name]()
