"""What `surefoot studio` does between parsing and printing."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from surefoot.errors import SurefootError


def serve(
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
    from surefoot.studio.page import Studio
    from surefoot.studio.session import Setup

    if not os.access(folder, os.W_OK):
        raise SurefootError(f"cannot write into the folder {folder}; valid: an existing one of yours")
    studio = Studio(Setup(skill, character, terrain), host=host, port=port, folder=folder)
    try:
        address = url(studio.server.get_host(), studio.server.get_port())
        say(f"the studio is at {address} (Ctrl-C ends it)")
        if not is_loopback(studio.server.get_host()):
            say(warning(studio.server.get_host(), studio.server.get_port(), studio.folder))
        if browser and has_screen():
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


def has_screen() -> bool:
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
