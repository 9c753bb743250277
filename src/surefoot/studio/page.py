"""The whole page: stage, panels, and the loop that keeps them going."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

from surefoot.errors import SurefootError
from surefoot.studio.command import url
from surefoot.studio.editing import Editing
from surefoot.studio.loop import Loop
from surefoot.studio.panels import panels
from surefoot.studio.panels.panel import Panel
from surefoot.studio.server import open_server
from surefoot.studio.session import Session, Setup
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
        self.session = Session(setup or Setup())
        self.editing = Editing(self.session)
        self.server = open_server(host, port)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=_BRAND)
        self.server.gui.main_panel.dock_right()
        self.server.gui.main_panel.set_width(430)
        self.stage = Stage(self.server)
        self.loop = Loop(self.session, self._draw, self.complain)
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
