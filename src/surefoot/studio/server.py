"""The page's server: viser's, with checks of who connects, what a page may send, and how much.

viser opens its socket with `websockets.asyncio.server.serve`, which can check origins, sizes and connections, but viser
has no option for that. So `ConnectionGuard` replaces `serve` while viser's constructor runs. Afterwards `open_server`
makes two requests that must be refused; a server that answers them is closed: it is protected, or it does not run.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import ipaddress
import logging
import math
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec
import rich
import viser
import viser.infra
import websockets.asyncio.server as ws
from websockets.http11 import Request, Response

from surefoot.errors import SurefootError

MAX_CLIENTS = 128  # pages at once
MAX_SOCKETS = 256  # connections at once, with those that have not sent a request yet
MAX_MESSAGE = 640 * 1024  # bytes of a message; a page sends files in parts of 512 kB
MAX_PLAIN_MESSAGE = 64 * 1024  # bytes of a message that is no part of a file
MAX_UPLOAD = 256 * 1024  # bytes of a file
STALL_TIMEOUT = 15.0  # [s] after which a page that reads nothing is disconnected: its messages wait in memory
_RECEIVED, _SENT, _UPLOADED = 2000.0, 1000.0, 4.0  # messages a second, of all pages together
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROTOCOL = f"viser-v{viser.__version__}"
_LISTENED = (  # what a page may send; viser's other messages are dropped, among them those of the public tunnel
    "ViewerCameraMessage", "ScenePointerMessage", "SceneNodeClickMessage", "SceneNodeDragMessage",
    "TransformControlsUpdateMessage", "TransformControlsDragStartMessage", "TransformControlsDragEndMessage",
    "GuiUpdateMessage", "GuiButtonHoldMessage", "GuiFormSubmitMessage", "CommandTriggerMessage",
    "LocalStorageGetItemResponseMessage", "FileTransferStartUpload", "FileTransferPart",
)  # fmt: skip
_log = logging.getLogger(__name__)


class ConnectionGuard:
    """Decides who may connect and which messages are accepted; one for each server."""

    def __init__(self, host: str) -> None:
        self._names = {*_LOOPBACK, host.lower()}
        self._is_open = host not in _LOOPBACK
        if self._is_open:
            self._names |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
        self._serve = ws.serve
        self.is_asked = False
        self.received, self.sent = _Pace(_RECEIVED), _Pace(_SENT)
        self.uploaded = _Pace(_UPLOADED)
        self.refuse: Callable[[str, str], None] = lambda text, transfer: _log.warning(text)
        self.kinds = {kind.__name__: kind for kind in viser.infra.Message.get_subclasses()}

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Replace `serve` while a server is built."""
        ws.serve = self.serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            ws.serve = self._serve  # type: ignore[misc]

    def serve(self, handler: Any, host: str, port: int, **options: Any) -> ws.serve:
        """Stand in for `websockets.asyncio.server.serve`."""
        self.is_asked = True
        answer = options.pop("process_request")

        def process(connection: ws.ServerConnection, request: Request) -> Response | None:
            return self.answer(connection, request, answer)

        def connect(*arguments: Any, **others: Any) -> _Connection:
            return _Connection(self, *arguments, **others)

        options["create_connection"] = connect
        options |= {"max_size": MAX_MESSAGE, "max_queue": 2, "open_timeout": 5.0, "close_timeout": 2.0}
        asyncio.get_running_loop().set_exception_handler(_one_line)
        return self._serve(handler, host, port, process_request=process, logger=_quiet_logger(), **options)

    def answer(
        self, connection: ws.ServerConnection, request: Request, answer: Callable[..., Response | None]
    ) -> Response | None:
        """Refuse a request, or have viser answer it; None lets a page connect."""
        host = ",".join(request.headers.get_all("Host")).lower()
        if not self.is_own_host(host):
            return connection.respond(http.HTTPStatus.MISDIRECTED_REQUEST, "this is another host\n")
        if not re.fullmatch(r"/[\w./-]*", request.path.partition("?")[0], re.ASCII):
            return connection.respond(http.HTTPStatus.NOT_FOUND, "not found\n")
        response = answer(connection, request)
        if response is not None:  # the page itself, which no other page may show in a frame
            response.headers["X-Frame-Options"] = "DENY"
            response.headers["X-Content-Type-Options"] = "nosniff"
            return response
        origin = ",".join(request.headers.get_all("Origin")).lower()
        if not self.is_own_origin(origin, host, connection.local_address[1]):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "this origin may not connect\n")
        if PROTOCOL not in re.split(r"[\s,]+", ",".join(request.headers.get_all("Sec-WebSocket-Protocol"))):
            return connection.respond(http.HTTPStatus.BAD_REQUEST, f"{PROTOCOL} is spoken here\n")
        if len(connection.server.connections) >= MAX_CLIENTS:
            return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_CLIENTS} pages are open already\n")
        return None

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header holds a name of this server that others cannot choose (DNS rebinding)."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._names:
                return True
            return self._is_open and bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def is_own_origin(self, origin: str, host: str, port: int) -> bool:
        """Whether an Origin header names the page that this server has sent."""
        if origin == f"http://{host}":
            return True
        return not self._is_open and origin in (f"http://{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]"))


class _Connection(ws.ServerConnection):
    """The connection of one page. Messages are checked before viser gets them; an invalid one closes only this page."""

    def __init__(self, guard: ConnectionGuard, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = guard
        self._is_known = False  # viser knows the page, and cleans up after it, from its first camera message on
        self._transfer = ""  # the present upload

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self.server.handlers) > MAX_SOCKETS:
            self.transport.abort()

    async def send(self, message: Any, text: bool | None = None) -> None:
        """Send at a rate that leaves time for the simulation with a hundred pages; a stalled page is disconnected."""
        await self._guard.sent.turn()
        try:
            async with asyncio.timeout(STALL_TIMEOUT):
                await super().send(message, text)
        except TimeoutError:
            self.transport.abort()
            await self.wait_closed()
            await super().send(b"")  # raises what a closed connection raises

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message that viser may get."""
        while True:
            raw = await super().recv(decode)
            await self._guard.received.turn()
            try:
                accepted = await self._checked(raw)
            except Exception as reason:  # whatever it was, no page sends it
                await self.close(1008, str(reason)[:100].encode("ascii", "replace").decode())
                while True:  # until it raises that the connection is closed
                    await super().recv()
            if accepted is not None:
                return accepted

    async def _checked(self, raw: bytes | str) -> bytes | None:
        """The message for viser, or None to drop it; raises if no page would send it."""
        if isinstance(raw, str):
            raise ValueError("a page sends bytes")
        fields = msgspec.msgpack.decode(raw)
        name = fields.pop("type")
        kind = self._guard.kinds[name]
        if len(raw) > MAX_PLAIN_MESSAGE and name != "FileTransferPart":
            raise ValueError(f"a message has at most {MAX_PLAIN_MESSAGE // 1024} kB")
        if name not in _LISTENED:
            return None
        if not _is_finite(fields) or set(fields) - set(kind.__annotations__):
            raise ValueError(f"this is no {name}")
        msgspec.convert({key: int(v) if isinstance(v, float) else v for key, v in fields.items()}, kind)  # types fit
        if name == "ViewerCameraMessage":
            self._is_known = True
        elif name == "GuiUpdateMessage" and set(fields["updates"]) != {"value"}:
            raise ValueError("only values can be set")
        elif name == "FileTransferPart":
            fits = fields["transfer_uuid"] == self._transfer and len(fields["content"]) <= MAX_UPLOAD
            return raw if fits else None
        elif name == "FileTransferStartUpload":
            return await self._begun(raw, fields)
        return raw

    async def _begun(self, raw: bytes, fields: dict[str, Any]) -> bytes | None:
        """Accept an upload of one part of bounded size; refuse any other with a message to the page."""
        if not self._is_known:
            return None
        await self._guard.uploaded.turn()
        size, self._transfer = fields["size_bytes"], ""
        if 0 <= size <= MAX_UPLOAD and fields["part_count"] == (size > 0) and len(fields["filename"]) <= 255:
            self._transfer = fields["transfer_uuid"]
            return raw
        name = "".join(c for c in fields["filename"][:60] if c.isprintable())
        reason = f"{name} was not taken: it has {size / 1024:.0f} kB, valid: at most {MAX_UPLOAD // 1024} kB"
        self._guard.refuse(reason, fields["transfer_uuid"][:64])
        # An upload without parts ends the page's progress bar, and viser hands no file to anybody.
        fields |= {"type": "FileTransferStartUpload", "transfer_uuid": "refused", "filename": ""}
        return msgspec.msgpack.encode(fields | {"part_count": 0, "size_bytes": 1})


class _Pace:
    """Allows a number of turns per second in the order they are asked for, so that all who wait get an equal share."""

    def __init__(self, rate: float, burst: float = 0.25) -> None:
        self._step, self._burst, self._due = 1.0 / rate, max(burst, 4.0 / rate), 0.0

    async def turn(self) -> None:
        now = time.monotonic()
        self._due = max(self._due, now - self._burst) + self._step
        if self._due > now:
            await asyncio.sleep(self._due - now)


def _is_finite(value: Any) -> bool:
    """Whether all numbers in a message are finite."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _one_line(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a failure of a message's handler in one line at level INFO: strangers must not fill the terminal."""
    _log.info("%s: %r", context.get("message"), context.get("exception"))


def _quiet_logger() -> logging.Logger:
    """The logger of connections: their errors are mostly the other side's, so each is one line at level INFO."""
    logger = logging.getLogger(f"{__name__}.connections")
    if _without_traceback not in logger.filters:
        logger.addFilter(_without_traceback)
    return logger


def _without_traceback(record: logging.LogRecord) -> bool:
    if record.exc_info:
        is_ours = record.msg == "connection handler failed"  # the request was valid, so our answer failed
        record.msg, record.args = f"{record.getMessage()}: {record.exc_info[1]!r}", ()
        record.exc_info = None
        if not is_ours:
            record.levelno, record.levelname = logging.INFO, "INFO"
    return record.levelno > logging.INFO or _log.isEnabledFor(logging.INFO)


_opening = threading.Lock()


class Server(viser.ViserServer):
    """viser's server without its public tunnel and without its output on the terminal."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """There is no public tunnel."""
        return None

    def disconnect_share_url(self) -> None:
        """There is nothing to disconnect."""

    def stop(self) -> None:
        """Close the server."""
        with _silence():
            super().stop()

    def refuse(self, text: str, transfer: str) -> None:
        """Show everybody why a file was not accepted, and remove the sending page's notification of success."""
        kinds: dict[str, Any] = {kind.__name__: kind for kind in viser.infra.Message.get_subclasses()}
        forget = kinds["RemoveNotificationMessage"](f"upload-{transfer}")
        for client in self.get_clients().values():
            with contextlib.suppress(Exception):  # it may have gone meanwhile
                client.add_notification("That cannot be done", text, color="red", auto_close_seconds=6.0)
                client._websock_connection.queue_message(forget)  # viser has no public way


def open_server(host: str = "127.0.0.1", port: int = 8080) -> viser.ViserServer:
    """Listen on an address; only pages that this server has sent are answered.

    Args:
        host: loopback by default; 0.0.0.0 is all addresses of this machine.
        port: the first to try; 0 takes any.

    Raises:
        SurefootError: the address cannot be used, or this viser cannot be guarded.
    """
    host = "127.0.0.1" if host == "localhost" else host
    warnings.filterwarnings("ignore", r"\[viser\] Dropping upload ''")  # caused by refusing large files
    guard = ConnectionGuard(host)
    with _opening, _silence(), guard.installed():
        server = Server(host=host, port=_free_port(host, port), label="Surefoot", verbose=False)
    guard.refuse = server.refuse
    if not guard.is_asked or not all(_is_refused(server, *foreign) for foreign in _FOREIGN):
        server.stop()
        raise SurefootError(f"the studio cannot be protected with viser {viser.__version__}; it needs viser 1.1.1")
    return server


def _free_port(host: str, port: int) -> int:
    """The port, or the next free one; viser searches too, but never ends if there is none."""
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
    """Whether the server answers a foreign request with a status; `host` None is the server's own."""
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
    """Keep viser's output off the terminal: the command line prints the address."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
