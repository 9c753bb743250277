"""The studio as a whole: `Studio` joins page, stage, panels and simulation thread; `run_studio` runs one."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

from surefoot.engine.scene import Setup
from surefoot.errors import SurefootError
from surefoot.studio.panels import panels
from surefoot.studio.panels.panel import Panel
from surefoot.studio.server import open_server
from surefoot.studio.session import FIRST_SKILL, Session, SimulationThread
from surefoot.studio.skill_document import ActiveDocument
from surefoot.studio.stage import Stage

_SLOW = 0.1  # [s] between refreshes of the panels
_AGAIN = 2.0  # [s] after which the same error is shown again
_BRAND = (58, 110, 140)


class Studio:
    """A running studio.

    Attributes:
        session: what is simulated; only the thread of `loop` touches it (`loop.call`).
        loop: the thread that runs the session.
        server: the page's server.
        stage: the 3D view.
        editing: the skill that is being edited.
        folder: where files are written.
    """

    def __init__(
        self, setup: Setup | None = None, *, host: str = "127.0.0.1", port: int = 8080, folder: str | Path = "."
    ) -> None:
        """Build everything, listen, and run.

        Args:
            setup: what to begin with; None is a walking human.
            host: address to listen on.
            port: the first port to try; the next free one is taken.
            folder: the only folder in which files are written.

        Raises:
            SurefootError: there is no such folder, the setup cannot be built, or the address cannot be used.
        """
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise SurefootError(f"there is no folder {folder}")
        self.session = Session(setup or Setup(FIRST_SKILL))
        self.editing = ActiveDocument(self.session)
        self.server = open_server(host, port)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=_BRAND)
        self.server.gui.main_panel.dock_right()
        self.server.gui.main_panel.set_width(430)
        self.stage = Stage(self.server)
        self.loop = SimulationThread(self.session, self._draw, self.show_error)
        self._last, self._error = 0.0, ("", 0.0)
        self._known: tuple[object, ...] = ()
        self._always, tabbed = panels()
        self._panels: list[Panel] = [*self._always, *tabbed]
        for panel in self._always:
            panel.build(self)
        tabs = self.server.gui.add_tab_group()
        for panel in tabbed:
            with tabs.add_tab(panel.title):
                panel.build(self)
        self._draw(time.perf_counter())  # slow the first time: not while it walks
        self.loop.start()

    @property
    def url(self) -> str:
        """Its address in a browser."""
        return url(self.server.get_host(), self.server.get_port())

    def post(self, action: Callable[[], object]) -> None:
        """Have the session's thread do something before the next frame."""
        self.loop.post(action)

    def notify(self, title: str, text: str = "", color: str = "blue") -> None:
        """Show a message to everybody who has the page open."""
        for client in self.server.get_clients().values():
            with contextlib.suppress(Exception):  # it may have gone meanwhile
                client.add_notification(
                    title, text, loading=False, with_close_button=True, auto_close_seconds=6.0,
                    color=cast(Literal["blue"], color),
                )  # fmt: skip

    def show_error(self, text: str) -> None:
        """Show everybody what could not be done; the same text is not repeated at once."""
        now = time.monotonic()
        if text != self._error[0] or now - self._error[1] > _AGAIN:
            self._error = (text, now)
            self.notify("That cannot be done", text, "red")

    def _draw(self, now: float) -> None:
        """One frame: the stage always, the panels ten times a second, or when the skill or the body changes."""
        self.stage.draw(self.session)
        known = (self.session.sim, self.session.sim.skill)
        if any(new is not old for new, old in zip(known, self._known or (None, None), strict=True)):
            self._known = known
            for panel in self._panels:
                panel.reload()
        if now - self._last >= _SLOW:
            self._last = now
            for panel in self._panels:
                panel.refresh()

    def stop(self) -> None:
        """Stop the simulation and close the page."""
        self.loop.stop()
        self.server.stop()


def run_studio(
    skill: str = FIRST_SKILL,
    character: str | None = None,
    terrain: str = "flat",
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    folder: Path = Path(),
    browser: bool = True,
    say: Callable[[str], None],
    until: threading.Event | None = None,
) -> None:
    """Open the studio and keep it open until it is interrupted.

    Args:
        skill: name, character/name, or a file.
        character: body; by default the skill's own.
        terrain: description of the terrain.
        host: address to listen on.
        port: the first port to try.
        folder: the only folder in which files are written.
        browser: whether to open a browser, where there is one.
        say: called with lines for the person who started it.
        until: ends the studio when set.

    Raises:
        SurefootError: the folder cannot be written, the setup cannot be built, or the address cannot be used.
    """
    if not os.access(folder, os.W_OK):
        raise SurefootError(f"cannot write into the folder {folder}; valid: an existing one of yours")
    studio = Studio(Setup(skill, character, terrain), host=host, port=port, folder=folder)
    try:
        address = studio.url
        say(f"the studio is at {address} (Ctrl-C ends it)")
        if not is_loopback(studio.server.get_host()):
            say(warning(studio.server.get_host(), studio.server.get_port(), studio.folder))
        if browser and has_display():
            threading.Thread(target=_show, args=(address,), daemon=True).start()
        _wait(until or threading.Event())
    finally:
        studio.stop()


def url(host: str, port: int) -> str:
    """The address for a browser on this machine."""
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def warning(host: str, port: int, folder: Path) -> str:
    """The warning for an address that other machines can reach."""
    everywhere = host in ("0.0.0.0", "::")
    reached = f"http://{socket.gethostname()}:{port}" if everywhere else url(host, port)
    return (
        f"open to others: anyone who can reach {reached} can drive the simulation and write files into "
        f"{folder}; there is no password and no encryption"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def has_display() -> bool:
    """Whether a browser can open a window; on a machine without a screen a text browser would take the terminal."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return not os.environ.get("SSH_CONNECTION")


def _show(address: str) -> None:
    with contextlib.suppress(Exception):
        webbrowser.open(address)


def _wait(end: threading.Event) -> None:
    """Wait for Ctrl-C, a termination signal, or the event."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {kind: signal.signal(kind, lambda *_: end.set()) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not end.wait(0.5):  # a wait without end is not interrupted on every system
            pass
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
