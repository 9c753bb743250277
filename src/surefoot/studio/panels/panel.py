"""What every panel is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol

import viser

from surefoot.errors import CommandError
from surefoot.studio.editing import Editing
from surefoot.studio.loop import Loop
from surefoot.studio.session import Session
from surefoot.studio.stage import Stage


class Desk(Protocol):
    """What a panel can use. Callbacks of the page come from other threads: they `post` what they want done."""

    server: viser.ViserServer
    session: Session
    stage: Stage
    loop: Loop
    editing: Editing  # the skill under one's hands, shared by all editors
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

    def build(self, desk: Desk) -> None:
        """Add its controls; called once, inside its tab."""

    def renew(self) -> None:
        """There is another skill, body or ground: show that one. Also called once after `build`."""

    def refresh(self) -> None:
        """Show the present moment; called at most ten times a second."""


def one_of(options: Collection[str], value: str) -> str:
    """A value that is among the options: what a page sends need not be what it was offered."""
    if value not in options:
        raise CommandError(f"{value[:40]!r} cannot be chosen; valid: {', '.join(options)}")
    return value


def put(handle: Any, value: object, name: str = "value") -> None:
    """Set what a control shows, its value or another property; nothing is sent if it shows that already."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
