"""The whole page: stage, panels, and the loop that keeps them going.

What `surefoot studio` does between parsing and printing.
"""

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

_SLOW = 0.1  # [s] between refreshments of the panels
_AGAIN = 2.0  # [s] after which the same complaint is worth telling again
_BRAND = (58, 110, 140)


class Studio:
    """A running studio.

    Attributes:
        session: what is simulated; only the loop's thread touches it (`loop.call`).
        folder: where files are written.
    """

    def __init__(
        self, setup: Setup | None = None, *, host: str = "127.0.0.1", port: int = 8080, folder: str | Path = "."
    ) -> None:
        """Build everything, listen, and let time run.

        Args:
            setup: what to begin with.
            host: address to listen on.
            port: the first port to try; the next free one is taken.
            folder: files are written there and nowhere else.
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
        self.loop = SimulationThread(self.session, self._draw, self.complain)
        self._last, self._complaint = 0.0, ("", 0.0)
        self._known: tuple[object, ...] = ()
        self._always, tabbed = panels()
        self._panels: list[Panel] = [*self._always, *tabbed]
        for panel in self._always:
            panel.build(self)
        tabs = self.server.gui.add_tab_group()
        for panel in tabbed:
            with tabs.add_tab(panel.title):
                panel.build(self)
        self._draw(time.perf_counter())  # takes a moment the first time: not while it walks
        self.loop.start()

    @property
    def url(self) -> str:
        """Where it can be seen."""
        return url(self.server.get_host(), self.server.get_port())

    def post(self, action: Callable[[], object]) -> None:
        """Have something done by the thread that owns the session, before the next frame."""
        self.loop.post(action)

    def say(self, title: str, text: str = "", color: str = "blue") -> None:
        """Tell everybody who looks at the page."""
        for client in self.server.get_clients().values():
            with contextlib.suppress(Exception):  # it may have gone meanwhile
                client.add_notification(
                    title, text, loading=False, with_close_button=True, auto_close_seconds=6.0,
                    color=cast(Literal["blue"], color),
                )  # fmt: skip

    def complain(self, text: str) -> None:
        """Tell everybody what could not be done; the same thing not at once again."""
        now = time.monotonic()
        if text != self._complaint[0] or now - self._complaint[1] > _AGAIN:
            self._complaint = (text, now)
            self.say("That cannot be done", text, "red")

    def _draw(self, now: float) -> None:
        """One frame: the stage always, the panels ten times a second, or when there is another skill or body."""
        self.stage.draw(self.session)
        known = (self.session.sim, self.session.sim.skill)
        if any(new is not old for new, old in zip(known, self._known or (None, None), strict=True)):
            self._known = known
            for panel in self._panels:
                panel.renew()
        if now - self._last >= _SLOW:
            self._last = now
            for panel in self._panels:
                panel.refresh()

    def stop(self) -> None:
        """Close the page."""
        self.loop.stop()
        self.server.stop()


def run_studio(
    skill: str = "human/fast-walk",
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
        terrain: description of the ground.
        host: address to listen on.
        port: the first port to try.
        folder: files are written there and nowhere else.
        browser: whether to open one, where there is one.
        say: gets lines for the person who started it.
        until: ends it too, when set.
    """
    try:
        import viser  # noqa: F401
    except ModuleNotFoundError:
        raise SurefootError("the studio needs the extra: pip install 'surefoot[studio]'") from None
    pass

    if not os.access(folder, os.W_OK):
        raise SurefootError(f"cannot write into the folder {folder}; valid: an existing one of yours")
    studio = Studio(Setup(skill, character, terrain), host=host, port=port, folder=folder)
    try:
        address = url(studio.server.get_host(), studio.server.get_port())
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
    """What it means to listen on an address that others can reach."""
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
    """Whether a browser could be seen: a terminal on a machine without a screen would be taken over by a text one."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return not os.environ.get("SSH_CONNECTION")


def _show(address: str) -> None:
    with contextlib.suppress(Exception):
        webbrowser.open(address)


def _wait(end: threading.Event) -> None:
    """Until Ctrl-C, the end of the terminal's session, or the event."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {kind: signal.signal(kind, lambda *_: end.set()) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not end.wait(0.5):  # a wait without end is not interrupted on every system
            pass
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
