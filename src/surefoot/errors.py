"""One root for everything that can go wrong by the user's hand."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SurefootError(Exception):
    """Root of all errors raised by this package; the message is one clear line."""

    def __init__(self, message: str) -> None:
        """Keep to one line whatever a file or a name has brought into the message."""
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))


class UnknownNameError(SurefootError):
    """A name that is not in a registry; the message says which one is alike, and lists the valid ones."""

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        """Compose the message from what was asked and what there is."""
        self.valid = tuple(valid)
        meant = _alike(str(name), self.valid)
        hint = f" (did you mean {meant}?)" if meant else ""
        super().__init__(f"unknown {kind} {_short(name)}{hint}; valid: {', '.join(self.valid) or 'none'}")


class SkillError(SurefootError):
    """A skill file that cannot be read or does not fit its schema."""


class TerrainError(SurefootError):
    """A terrain that cannot be built."""


class CharacterError(SurefootError):
    """A body that cannot be built."""


class CommandError(SurefootError):
    """A command, push or switch that this simulation cannot carry out."""


class OutputError(SurefootError):
    """A file that cannot be written, or a format that is not known."""


class LayoutError(SurefootError):
    """The installed MuJoCo does not have the memory layout it describes."""


def _alike(name: str, valid: tuple[str, ...]) -> str:
    """The valid name that is most like a name, as a whole or without its folder; empty if none is."""
    by_end = {one.rpartition("/")[2]: one for one in reversed(valid)}
    for wanted, names in ((name, {one: one for one in valid}), (name.rpartition("/")[2], by_end)):
        found = difflib.get_close_matches(wanted[:60], names, n=1, cutoff=0.75)
        if found:
            return names[found[0]]
    return ""


def _short(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 60 else text[:57] + "..."
