"""What all panels share: the interface of a panel, what it is given, callbacks of controls, and safe file names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Literal, Protocol

import viser

from surefoot.errors import CommandError, SurefootError
from surefoot.studio.session import Session, SimulationThread
from surefoot.studio.skill_document import ActiveDocument
from surefoot.studio.stage import Stage

MAX_NAME_BYTES = 80
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # devices on Windows
_FORBIDDEN = '/\\:*?"<>|'


def safe_path(folder: Path, name: str, suffixes: tuple[str, ...]) -> Path:
    """The path of a file in a folder; the studio makes paths from typed names in no other way.

    Args:
        folder: an existing folder.
        name: as typed.
        suffixes: allowed endings, lower case, with their dot.

    Raises:
        SurefootError: it is not a plain name, or it leads out of the folder by a link.
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
        raise SurefootError(f"{name!r} has no valid ending; valid: NAME{endings}")
    path = folder / name
    try:
        leads_out = path.resolve().parent != folder.resolve()
    except (OSError, RuntimeError):  # a link to itself
        leads_out = True
    if leads_out:
        raise SurefootError(f"{name!r} leads out of the folder {folder}; valid: files in it")
    return path


def list_files(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Names of the files in a folder that can be loaded, sorted."""
    return sorted(path.name for path in folder.iterdir() if _is_loadable(folder, path, suffixes))


def _is_loadable(folder: Path, path: Path, suffixes: tuple[str, ...]) -> bool:
    try:
        return safe_path(folder, path.name, suffixes).is_file()
    except (SurefootError, OSError):
        return False


class PanelContext(Protocol):
    """What a panel can use. The page calls callbacks from other threads: they `post` what is to be done."""

    server: viser.ViserServer
    session: Session
    stage: Stage
    loop: SimulationThread
    editing: ActiveDocument  # the skill that is being edited, shared by all editors
    folder: Path  # files are written only here

    def post(self, action: Callable[[], object]) -> None:
        """Have the session's thread do something before the next frame."""

    def notify(self, title: str, text: str = "", color: str = "blue") -> None:
        """Show a message to everybody who has the page open."""

    def show_error(self, text: str) -> None:
        """Tell everybody who has the page open what could not be done."""


class Panel:
    """One tab, or a part of one. The session's thread calls all methods; `build` comes first."""

    title = ""

    def build(self, desk: PanelContext) -> None:
        """Add the controls; called once, inside the panel's tab."""
        raise NotImplementedError

    def reload(self) -> None:
        """Show another skill, body or terrain; called once after `build` and whenever one of them changes."""

    def refresh(self) -> None:
        """Show the present moment; called at most ten times a second."""


def on_user_change(
    desk: PanelContext, handle: Any, act: Callable[[Any], object], at_once: Callable[[], object] | None = None
) -> None:
    """Have the session's thread call `act` with the new value when a person, not the program, changes a control.

    The page's thread calls `at_once` before that.
    """

    def changed(event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            if at_once is not None:
                at_once()
            value = event.target.value
            desk.post(lambda: act(value))

    handle.on_update(changed)


def on_click(desk: PanelContext, handle: Any, act: Callable[[Any], object]) -> None:
    """Act when a button of a group is pressed: the session's thread calls `act` with its label."""

    def clicked(event: viser.GuiEvent[Any]) -> None:
        value = event.target.value
        desk.post(lambda: act(value))

    handle.on_click(clicked)


def hotkey(
    desk: PanelContext, label: str, key: str, act: Callable[[], object],
    modifier: Literal["cmd/ctrl", "cmd/ctrl+shift"] | None = None,
) -> viser.CommandHandle:  # fmt: skip
    """Have the session's thread act when a key is pressed; `label` is what the page's list of commands calls it."""
    command = desk.server.gui.add_command(label, hotkey=key, modifier=modifier)  # type: ignore[arg-type]
    command.on_trigger(lambda _: desk.post(act))
    return command


def checked_choice(options: Collection[str], value: str) -> str:
    """A value that is among the options; a page can send others than it was offered."""
    if value not in options:
        raise CommandError(f"{value[:40]!r} cannot be chosen; valid: {', '.join(options)}")
    return value


def set_if_changed(handle: Any, value: object, name: str = "value") -> None:
    """Set a property of a control; nothing is sent to the page if it has this value already."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
