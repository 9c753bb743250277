"""The page's server: viser's, made safe.

viser opens its socket with `websockets.asyncio.server.serve`, which can check origins, sizes and connections, but viser
does not let us ask for that. So `serve` is wrapped while viser's constructor runs (`guard.py`); afterwards two requests
that must be refused are made, and a server that answers them is closed again: it is protected, or it does not run.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import rich
import viser
import viser.infra

from surefoot.errors import SurefootError
from surefoot.studio.guard import PROTOCOL, Guard

_opening = threading.Lock()


class Server(viser.ViserServer):
    """viser's server without its public tunnel and without its words on the terminal."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """There is no public tunnel, whoever asks for one."""
        return None

    def disconnect_share_url(self) -> None:
        """There is nothing to disconnect."""

    def stop(self) -> None:
        """Close it."""
        with _silence():
            super().stop()

    def refuse(self, text: str, transfer: str) -> None:
        """Tell everybody who looks at the page that a file was not taken.

        Args:
            text: why.
            transfer: what the page that sent it calls the upload. The note it shows of it by itself would tell of
                success, and is taken away.
        """
        kinds: dict[str, Any] = {kind.__name__: kind for kind in viser.infra.Message.get_subclasses()}
        forget = kinds["RemoveNotificationMessage"](f"upload-{transfer}")
        for client in self.get_clients().values():
            with contextlib.suppress(Exception):  # it may have gone meanwhile
                client.add_notification("That cannot be done", text, color="red", auto_close_seconds=6.0)
                client._websock_connection.queue_message(forget)  # viser has no public way


def open_server(host: str = "127.0.0.1", port: int = 8080) -> viser.ViserServer:
    """Listen on an address; only pages that this server has sent itself are answered.

    Args:
        host: loopback by default; 0.0.0.0 is everything this machine has.
        port: the first to try; 0 takes any.

    Raises:
        SurefootError: if one cannot listen there, or viser no longer lets itself be guarded.
    """
    host = "127.0.0.1" if host == "localhost" else host
    warnings.filterwarnings("ignore", r"\[viser\] Dropping upload ''")  # that is how large files are refused
    guard = Guard(host)
    with _opening, _silence(), guard.in_place():
        server = Server(host=host, port=_free_port(host, port), label="Surefoot", verbose=False)
    guard.refuse = server.refuse
    if not guard.is_asked or not all(_is_refused(server, *foreign) for foreign in _FOREIGN):
        server.stop()
        raise SurefootError(f"the studio cannot be protected with viser {viser.__version__}; it needs viser 1.1.1")
    return server


def _free_port(host: str, port: int) -> int:
    """The port, or the next that is free; viser looks for one too, but never ends if there is none."""
    if not 0 <= port <= 65535:
        raise SurefootError(f"a port is a number 0 … 65535, got {port}")
    reason = "no such address"
    for candidate in range(port, min(port + 1000, 65536)):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host or "?", candidate, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind(address)
            return candidate
        except (socket.gaierror, UnicodeError):
            break
        except OSError as error:
            reason = error.strerror or str(error)
    raise SurefootError(f"cannot listen on {host}, port {port}: {reason}; valid: 127.0.0.1, 0.0.0.0, own addresses")


_FOREIGN = (("421", "surefoot.invalid", ""), ("403", None, "http://surefoot.invalid"))


def _is_refused(server: viser.ViserServer, status: str, host: str | None, origin: str) -> bool:
    """Whether the server refuses a request that it must refuse; `host` None is its own."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.get_host(), server.get_host())
    lines = [
        "GET / HTTP/1.1", f"Host: {host or (f'[{name}]' if ':' in name else name)}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        f"Sec-WebSocket-Protocol: {PROTOCOL}", f"Origin: {origin}", "", "",
    ]  # fmt: skip
    try:
        with socket.create_connection((name, server.get_port()), 5.0) as wire:
            wire.sendall("\r\n".join(lines).encode())
            return wire.recv(64).startswith(f"HTTP/1.1 {status} ".encode())
    except OSError:
        return False


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep viser's panels and notes off the terminal: who starts the studio prints its address."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
