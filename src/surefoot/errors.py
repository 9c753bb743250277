"""One root for everything that can go wrong by the user's hand."""

from __future__ import annotations

from collections.abc import Iterable


class SurefootError(Exception):
    """Root of all errors raised by this package; the message is one clear line."""

    def __init__(self, message: str) -> None:
        """Keep to one line whatever a file or a name has brought into the message."""
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))


class UnknownNameError(SurefootError):
    """A name that is not in a registry; the message lists the valid ones."""

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        """Compose the message from what was asked and what there is."""
        self.valid = tuple(valid)
        super().__init__(f"unknown {kind} {_short(name)}; valid: {', '.join(self.valid) or 'none'}")


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


def _short(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 60 else text[:57] + "..."
