"""What installed packages add to Surefoot, found by their entry points; Surefoot's own parts use the same door.

A package registers a controller, a body, a terrain, a task or a folder of skills in its `pyproject.toml`
(`docs/extending.md`). Nothing of a package is imported before it is asked for.
"""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from types import ModuleType
from typing import Any

from surefoot.errors import SurefootError, UnknownNameError

CONTROLLERS = "surefoot.controllers"
CHARACTERS = "surefoot.characters"
SKILLS = "surefoot.skills"
TERRAINS = "surefoot.terrains"
TASKS = "surefoot.tasks"
FORMATS = "surefoot.formats"  # of files of motions, by suffix without its dot
_KINDS = {
    CONTROLLERS: "controller", CHARACTERS: "character", SKILLS: "skill folder", TERRAINS: "terrain", TASKS: "task",
    FORMATS: "file format",
}  # fmt: skip


@functools.cache
def _installed() -> EntryPoints:
    """All entry points of all installed packages, read once."""
    return entry_points()  # type: ignore[return-value]


@functools.cache
def _registered(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in sorted(_installed().select(group=group), key=lambda entry: entry.name):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise SurefootError(
                f"two installed packages register the {_KINDS[group]} {entry.name!r}: {other.value} and {entry.value}; "
                "uninstall one of them"
            )
    if not found:
        raise SurefootError(f"no {_KINDS[group]} is registered: install Surefoot with pip (`pip install -e .`)")
    return found


def names(group: str) -> tuple[str, ...]:
    """All names that are registered in a group, sorted.

    Args:
        group: one of this module's constants, such as `CONTROLLERS`.

    Raises:
        SurefootError: two packages register different objects under one name.
    """
    return tuple(_registered(group))


@functools.cache
def load(group: str, name: str) -> Any:
    """The object that is registered under a name.

    Args:
        group: one of this module's constants.
        name: as registered.

    Raises:
        UnknownNameError: nothing is registered under this name; the message lists the valid ones.
        SurefootError: the package that registers it cannot be imported.
    """
    registered = _registered(group)
    if name not in registered:
        raise UnknownNameError(_KINDS[group], name, registered)
    entry = registered[name]
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        if entry.value.startswith("surefoot."):
            raise
        raise SurefootError(f"the {_KINDS[group]} {name!r} ({entry.value}) cannot be imported: {error}") from error


def owner(group: str, name: str) -> str:
    """The module that registers a name, as its entry point writes it.

    Args:
        group: one of this module's constants.
        name: as registered.
    """
    return _registered(group)[name].module


class ListedModule(ModuleType):
    """A module that can be called for the names of what it holds: `surefoot.terrains()`."""

    def __call__(self, *of: str) -> tuple[str, ...]:
        """All names there are, or those of some owner: `surefoot.skills("human")`."""
        found: tuple[str, ...] = self.names(*of)
        return found
