"""Names of files that the page may ask for: plain names, in one folder, never beyond it.

What every panel is, and what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol

import viser

from surefoot.errors import CommandError, SurefootError
from surefoot.studio.session import Session, SimulationThread
from surefoot.studio.skill_document import ActiveDocument
from surefoot.studio.stage import Stage

MAX_NAME_BYTES = 80  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # devices, on Windows
_FORBIDDEN = '/\\:*?"<>|'


def safe_path(folder: Path, name: str, suffixes: tuple[str, ...]) -> Path:
    """The file of that name in a folder: the only way the studio makes a path from what somebody typed.

    Args:
        folder: an existing folder.
        name: as typed.
        suffixes: allowed endings, lower case, with their dot.

    Raises:
        SurefootError: for anything but a plain name, or one that leads out of the folder by a link.
    """
    endings = " or ".join(suffixes)
    if (
        not name.isprintable() or any(c in _FORBIDDEN for c in name) or name.startswith(".") or name != name.strip()
        or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES or _RESERVED.match(name)
    ):  # fmt: skip
        raise SurefootError(
            f"{name[:MAX_NAME_BYTES]!r} is not a plain file name; valid: letters, digits, - _, then {endings}"
        )
    if not any(name.lower().endswith(suffix) and len(name) > len(suffix) for suffix in suffixes):
        raise SurefootError(f"{name!r} does not end as it should; valid: NAME{endings}")
    path = folder / name
    try:
        leads_out = path.resolve().parent != folder.resolve()
    except (OSError, RuntimeError):  # a link to itself
        leads_out = True
    if leads_out:
        raise SurefootError(f"{name!r} leads out of the folder {folder}; valid: files in it")
    return path


def list_files(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Names of the files in a folder that can be loaded, in their order."""
    return sorted(path.name for path in folder.iterdir() if _is_loadable(folder, path, suffixes))


def _is_loadable(folder: Path, path: Path, suffixes: tuple[str, ...]) -> bool:
    try:
        return safe_path(folder, path.name, suffixes).is_file()
    except (SurefootError, OSError):
        return False


class PanelContext(Protocol):
    """What a panel can use. Callbacks of the page come from other threads: they `post` what they want done."""

    server: viser.ViserServer
    session: Session
    stage: Stage
    loop: SimulationThread
    editing: ActiveDocument  # the skill under one's hands, shared by all editors
    folder: Path  # files are written here and nowhere else

    def post(self, action: Callable[[], object]) -> None:
        """Have something done by the thread that owns the session, before the next frame."""

    def say(self, title: str, text: str = "", color: str = "blue") -> None:
        """Tell everybody who looks at the page."""

    def complain(self, text: str) -> None:
        """Tell everybody what could not be done."""


class Panel(Protocol):
    """One tab. All three are called by the thread that owns the session, but for `build`, which comes first."""

    title: str

    def build(self, desk: PanelContext) -> None:
        """Add its controls; called once, inside its tab."""

    def renew(self) -> None:
        """There is another skill, body or ground: show that one. Also called once after `build`."""

    def refresh(self) -> None:
        """Show the present moment; called at most ten times a second."""


def checked_choice(options: Collection[str], value: str) -> str:
    """A value that is among the options: what a page sends need not be what it was offered."""
    if value not in options:
        raise CommandError(f"{value[:40]!r} cannot be chosen; valid: {', '.join(options)}")
    return value


def set_if_changed(handle: Any, value: object, name: str = "value") -> None:
    """Set what a control shows, its value or another property; nothing is sent if it shows that already."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
