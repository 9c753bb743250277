"""Characters: bodies as tables; `names()` lists the registered ones, `load()` makes one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot import plugins
from surefoot.errors import UnknownNameError

if TYPE_CHECKING:
    from surefoot.characters.table import CharacterTable

sys.modules[__name__].__class__ = plugins.ListedModule


def names() -> tuple[str, ...]:
    """The names of all registered characters."""
    return plugins.names(plugins.CHARACTERS)


def load(name: str | Path | CharacterTable) -> CharacterTable:
    """A new table of a character.

    A body from a file that has the name of a registered character is renamed: it has none of that character's skills.

    Args:
        name: a registered name, the path of an MJCF file, or a table, which is returned as it is.

    Raises:
        UnknownNameError: no character is registered under the name; the message lists the valid ones.
        CharacterError: the file holds no body that can walk; the message says what is missing.
    """
    from surefoot.characters.table import CharacterTable

    if isinstance(name, CharacterTable):
        return name
    if str(name).endswith(".xml"):
        found = _imported(Path(name))
        return replace(found, name=f"{found.name}-file") if found.name in names() else found
    if not isinstance(name, str) or name not in names():
        raise UnknownNameError("character", name, names())
    registered = plugins.load(plugins.CHARACTERS, name)
    if isinstance(registered, (str, Path)):  # an MJCF file of another package
        return replace(_imported(Path(registered)), name=name)
    made: CharacterTable = registered()
    return made


def _imported(path: Path) -> CharacterTable:
    from surefoot.characters.mjcf_import import table_from_mjcf  # which takes a while to import

    return table_from_mjcf(path)
