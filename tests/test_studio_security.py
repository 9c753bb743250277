"""Who may reach the studio, what is listened to, and where files can lie."""

from __future__ import annotations

import contextlib
import gc
import http.client
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
import viser
import websockets.asyncio.server as ws
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

from surefoot.errors import SurefootError
from surefoot.studio import server as guarded
from surefoot.studio.app import Studio
from surefoot.studio.benchmark import Visitor, greeting, resident
from surefoot.studio.panels.panel import MAX_NAME_BYTES, list_files, safe_path
from surefoot.studio.server import open_server

CROWD = Path(__file__).with_name("studio_crowd.py")
HANGS = 1800.0  # [s] after which something counts as never happening
RUBBISH = [
    b"", b"\x00", b"\xc1" * 100, os.urandom(1000), b"\x91" * 50_000, b"\xdf\xff\xff\xff\xff",
    *map(msgspec.msgpack.encode, (
        7, "words", [], {}, {"type": 3}, {"type": "NoSuchMessage"}, {"type": "GuiUpdateMessage"},
        {"type": "GuiUpdateMessage", "uuid": 5, "updates": {"value": 1}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": []},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"update_cb": []}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": float("nan")}},
        {"type": "CommandTriggerMessage", "uuid": ["a"]},
        {"type": "CommandTriggerMessage", "uuid": "a", "more": 1},
        {"type": "ViewerCameraMessage", "wxyz": [1.0]},
        {"type": "SceneNodeDragMessage", "phase": "never"},
        {"type": "FileTransferPart", "source_component_uuid": None, "transfer_uuid": "a", "part_index": "b"},
        {"type": "GuiUpdateMessage", "uuid": "a" * 100_000, "updates": {"value": 1}},
    )),
    b"x" * (2 * guarded.MAX_MESSAGE),
]  # fmt: skip


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    running = Studio(port=0, folder=tmp_path_factory.mktemp("studio"))
    yield running
    running.stop()


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    running = open_server(port=0)
    yield running
    running.stop()


class Terminal:
    """What a person would see where the studio was started."""

    def __init__(self, written: pytest.CaptureFixture[str], logged: pytest.LogCaptureFixture) -> None:
        self._written, self._logged = written, logged

    def is_silent(self) -> bool:
        """Whether nothing was written or logged, also by what is collected late."""
        gc.collect()
        time.sleep(0.1)
        loud = [record for record in self._logged.records if record.levelno >= logging.WARNING]
        return not loud and self._written.readouterr() == ("", "")


@pytest.fixture
def terminal(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Terminal:
    return Terminal(capfd, caplog)


def ask(port: int, path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Fetch over HTTP, the path sent as it is."""
    wire = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS)
    wire.putrequest("GET", path, skip_host="Host" in headers)
    for key, value in headers.items():
        wire.putheader(key, value)
    wire.endheaders()
    answer = wire.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    wire.close()
    return found


def until(condition: Any) -> bool:
    end = time.monotonic() + HANGS
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def advances(studio: Studio, by: float = 0.1) -> bool:
    """Whether time passes in the simulation."""
    clock = studio.loop.call(lambda: studio.session.clock)
    return until(lambda: studio.session.clock > clock + by)


def status_of(port: int, **claims: Any) -> int:
    """What the handshake of a page is answered with; 0 if it is cut."""
    try:
        Visitor(port, **claims).close()
    except InvalidStatus as refusal:
        return refusal.response.status_code
    except (ConnectionClosed, InvalidMessage, OSError):
        return 0
    return 101


def is_closed(visitor: Visitor) -> bool:
    end = time.monotonic() + HANGS
    with contextlib.suppress(TimeoutError):
        while time.monotonic() < end:
            try:
                visitor.wire.recv(10.0)
            except ConnectionClosed:
                return True
    return False


# ------------------------------------------------------------------------------------------------ who may reach it


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the kernel's list of sockets is Linux's")
def test_it_listens_on_loopback_only(server: viser.ViserServer) -> None:
    port = server.get_port()
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")}
    assert listening == {f"0100007F:{port:04X}"}


def test_own_page_is_let_in_by_all_its_names(server: viser.ViserServer) -> None:
    port = server.get_port()
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert status_of(port, origin=f"http://{name}:{port}") == 101


def test_foreign_origins_are_refused(server: viser.ViserServer) -> None:
    port = server.get_port()
    foreign = [
        "http://example.com", f"http://example.com:{port}", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1",
        f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port}.example.com", f"http://localhost.example.com:{port}",
        f"http://127.0.0.1:{port}/", f"http://a@127.0.0.1:{port}", "file://", None,
    ]  # fmt: skip
    assert {origin: status_of(port, origin=origin) for origin in foreign} == dict.fromkeys(foreign, 403)


def test_foreign_hosts_are_refused(server: viser.ViserServer) -> None:
    port = server.get_port()
    assert ask(port)[0] == 200
    assert ask(port, Host=f"LOCALHOST:{port}")[0] == 200
    for host in (
        "example.com",
        f"example.com:{port}",
        "192.168.1.5",
        "",
        "127.0.0.1.example.com",
        "[::1",
        "a b",
        "localhost.",
    ):
        assert ask(port, Host=host)[0] == 421, host


def test_open_to_others_it_takes_addresses_but_not_strangers_names() -> None:
    guard = guarded.ConnectionGuard("0.0.0.0")
    own = socket.gethostname().lower()
    for host in ("192.168.1.5:8080", "10.0.0.1", "[fe80::1]:8080", f"{own}:8080", f"{own}.local", "localhost:8080"):
        assert guard.is_own_host(host), host
        assert guard.is_own_origin(f"http://{host}", host, 8080)
        assert not guard.is_own_origin("http://localhost:8080", "192.168.1.5:8080", 8080)
    for host in ("example.com", "192.168.1.5.example.com:8080", "1.2.3", ""):
        assert not guard.is_own_host(host), host


def test_open_to_others_it_answers_and_refuses_foreign_pages() -> None:
    server = open_server("0.0.0.0", 0)
    try:
        assert status_of(server.get_port()) == 101
        assert status_of(server.get_port(), origin="http://example.com") == 403
    finally:
        server.stop()


def test_another_protocol_is_refused_without_a_word(
    server: viser.ViserServer, capfd: pytest.CaptureFixture[str]
) -> None:
    assert status_of(server.get_port(), protocol="viser-v0.1.0") == 400
    assert capfd.readouterr() == ("", "")


def test_pages_beyond_the_cap_are_refused(server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "MAX_CLIENTS", 3)
    inside_now = [Visitor(server.get_port()) for _ in range(3)]
    assert status_of(server.get_port()) == 503
    inside_now.pop().close()
    assert until(lambda: status_of(server.get_port()) == 101)
    for visitor in inside_now:
        visitor.close()


def test_paths_beyond_the_page_are_not_served(server: viser.ViserServer) -> None:
    port = server.get_port()
    for path in ("/../../__init__.py", "/%2e%2e/%2e%2e/__init__.py", "/..%5c..%5c__init__.py", "//etc/passwd", "/C:/x",
                 "/etc/passwd", "/index.html%00", "/./../index.html", "/\\..\\x"):  # fmt: skip
        status, _, body = ask(port, path)
        assert status == 404, path
        assert b"import" not in body
        assert b"root:" not in body


def test_nobody_may_show_the_page_in_a_frame(server: viser.ViserServer) -> None:
    assert ask(server.get_port())[1]["X-Frame-Options"] == "DENY"


# ---------------------------------------------------------------------------------------------- it holds, or it ends


def test_a_viser_that_cannot_be_guarded_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded.ConnectionGuard, "serve", lambda self, *a, **k: self._serve(*a, **k))
    with pytest.raises(SurefootError, match="cannot be protected"):
        open_server(port=0)


def test_a_guard_that_lets_everybody_in_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded.ConnectionGuard, "is_own_origin", lambda *_: True)
    with pytest.raises(SurefootError, match="cannot be protected"):
        open_server(port=0)


def test_others_find_websockets_as_it_was(server: viser.ViserServer) -> None:
    assert isinstance(ws.serve, type)
    assert ws.serve.__module__ == "websockets.asyncio.server"


def test_a_port_that_is_taken_gives_the_next(server: viser.ViserServer) -> None:
    second = open_server(port=server.get_port())
    assert second.get_port() > server.get_port()
    second.stop()


@pytest.mark.parametrize(
    ("host", "port"), [("203.0.113.7", 8080), ("no such name", 8080), ("", 8080), ("127.0.0.1", 70000), ("::1", -1)]
)
def test_an_address_that_cannot_be_had_is_an_error_and_no_wait(host: str, port: int) -> None:
    with pytest.raises(SurefootError, match="port"):
        open_server(host, port)


def test_it_starts_and_stops_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    open_server(port=0).stop()
    assert capfd.readouterr() == ("", "")


def test_nobody_can_open_a_public_tunnel(studio: Studio) -> None:
    with mock.patch("viser._viser.ViserTunnel") as tunnel:
        tunnel.return_value.get_status.return_value = "failed"
        visitor = Visitor(studio.server.get_port())
        visitor.look()
        visitor.say(type="ShareUrlRequest")
        visitor.say(type="ShareUrlDisconnect")
        assert all(message["type"] != "ShareUrlUpdated" for message in take(visitor, 30))
        visitor.close()
        assert studio.server.request_share_url() is None
        studio.server.disconnect_share_url()
        assert not tunnel.called
    assert advances(studio)


def take(visitor: Visitor, count: int) -> list[dict[str, Any]]:
    """The next messages it hears."""
    return [message for message, _ in zip(visitor.hear(), range(count), strict=False)]


# ------------------------------------------------------------------------------------------------ what is listened to


def test_rubbish_closes_its_own_connection_only(studio: Studio, terminal: Terminal) -> None:
    witness = Visitor(studio.server.get_port())
    for rubbish in RUBBISH:
        visitor = Visitor(studio.server.get_port())
        visitor.wire.send(rubbish)
        assert is_closed(visitor), rubbish[:80]
    visitor = Visitor(studio.server.get_port())
    visitor.wire.send("text")
    assert is_closed(visitor)
    assert take(witness, 10)
    witness.close()
    assert advances(studio)
    assert terminal.is_silent()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=300) | st.dictionaries(st.text(), st.none() | st.floats()).map(msgspec.msgpack.encode))
def test_no_bytes_stop_the_simulation(studio: Studio, raw: bytes) -> None:
    visitor = Visitor(studio.server.get_port())
    visitor.wire.send(raw)
    assert is_closed(visitor)
    assert studio.loop.is_running


def test_half_a_handshake_and_bytes_that_are_none_do_no_harm(studio: Studio, terminal: Terminal) -> None:
    port = studio.server.get_port()
    wires = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for i, wire in enumerate(wires):
        wire.sendall((b"GET / HTTP/1.1\r\n", b"", os.urandom(500), b"POST / HTTP/1.1\r\n\r\n")[i % 4])
    assert status_of(port) == 101
    assert advances(studio)
    for wire in wires:
        wire.close()
    assert terminal.is_silent()


def test_more_connections_than_can_be_borne_are_cut(server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "MAX_SOCKETS", 10)
    wires = [socket.create_connection(("127.0.0.1", server.get_port()), 3.0) for _ in range(12)]  # idle ones live 5 s
    with contextlib.suppress(ConnectionResetError):
        assert wires[-1].recv(1) == b""
    for wire in wires:
        wire.close()
    assert until(lambda: status_of(server.get_port()) == 101)


def test_values_that_do_not_fit_a_control_say_nothing_on_the_terminal(studio: Studio, terminal: Terminal) -> None:
    slider = studio.server.gui.add_slider("misfit", min=0.0, max=1.0, step=0.1, initial_value=0.5)
    visitor = Visitor(studio.server.get_port())
    uuid = visitor.find("misfit")
    for value in ("words", [1], {"a": 2}, None):
        visitor.say(type="GuiUpdateMessage", uuid=uuid, updates={"value": value})
    visitor.say(type="GuiUpdateMessage", uuid=uuid, updates={"value": 0.25})
    assert until(lambda: slider.value == 0.25)
    visitor.close()
    slider.remove()
    assert terminal.is_silent()


def test_a_hundred_pages_do_not_stop_the_simulation(studio: Studio) -> None:
    command = [sys.executable, str(CROWD), str(studio.server.get_port()), "100", "5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crowd:
        assert until(lambda: len(studio.server.get_clients()) > 90)
        assert advances(studio, 1.0)
        let_in, fewest = map(int, crowd.communicate(timeout=HANGS)[0].split())
    assert let_in == 100
    assert fewest > 0
    assert until(lambda: not studio.server.get_clients())


def test_a_page_that_takes_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "STALL_TIMEOUT", 0.3)
    server = open_server(port=0)
    try:
        wire = stalled(server.get_port())
        assert until(lambda: len(server.get_clients()) == 1)
        label = server.gui.add_markdown("")
        for i in range(400):  # more than what the kernel keeps for it
            label.content = f"{i} " + os.urandom(20_000).hex()
            time.sleep(0.02)
            if not server.get_clients():
                break
        assert not server.get_clients()
        wire.close()
    finally:
        server.stop()


def stalled(port: int) -> socket.socket:
    """A page that greets and never reads again."""
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.connect(("127.0.0.1", port))
    lines = [
        "GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}", "", "",
    ]  # fmt: skip
    wire.sendall("\r\n".join(lines).encode())
    assert wire.recv(12) == b"HTTP/1.1 101"
    said = greeting()
    wire.sendall(b"\x82" + bytes([128 | 126]) + len(said).to_bytes(2, "big") + bytes(4) + said)  # masked by zeros
    return wire


# ------------------------------------------------------------------------------------------------------------ uploads


class Desk:
    """A server with one button for uploads, and somebody at it."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.taken: list[bytes] = []
        button = server.gui.add_upload_button("Upload")
        button.on_upload(lambda event: self.taken.append(event.target.value.content))
        self.visitor = Visitor(server.get_port())
        self.uuid = self.visitor.find("Upload")
        self.visitor.look()
        assert until(lambda: len(server.get_clients()) == 1)

    def send(self, content: bytes, transfer: str, part: int = 512 * 1024, promised: int | None = None) -> None:
        """As a page sends a file."""
        parts = [content[i : i + part] for i in range(0, len(content), part)]
        size = len(content) if promised is None else promised
        self.visitor.say(
            type="FileTransferStartUpload", source_component_uuid=self.uuid, transfer_uuid=transfer, filename="a.yaml",
            mime_type="", part_count=len(parts), size_bytes=size,
        )  # fmt: skip
        for i, one in enumerate(parts):
            self.visitor.say(
                type="FileTransferPart", source_component_uuid=self.uuid, transfer_uuid=transfer, part_index=i,
                content=one,
            )  # fmt: skip


def test_a_file_that_fits_is_taken_and_one_that_does_not_is_refused_in_words(server: viser.ViserServer) -> None:
    desk = Desk(server)
    desk.send(b"a" * guarded.MAX_UPLOAD, "1")
    assert until(lambda: desk.taken == [b"a" * guarded.MAX_UPLOAD])
    desk.send(b"b" * (guarded.MAX_UPLOAD + 1), "2")
    notes = (m for m in desk.visitor.hear() if "Notification" in m["type"])
    told, forgotten = next(notes), next(notes)
    assert "a.yaml was not taken" in str(told)
    assert "256" in str(told)
    assert (forgotten["type"], forgotten["uuid"]) == ("RemoveNotificationMessage", "upload-2"), "no note of success"
    desk.send(b"c", "3")
    assert until(lambda: desk.taken[-1] == b"c")
    assert len(desk.taken) == 2


def test_uploads_that_lie_about_their_size_are_not_taken(server: viser.ViserServer) -> None:
    desk = Desk(server)
    desk.send(b"a" * 400_000, "1", promised=1000)
    desk.send(b"a" * 3000, "2", part=1000)
    desk.send(b"abc", "3", promised=-1)
    desk.send(b"d", "4")
    assert until(lambda: bool(desk.taken))
    assert desk.taken == [b"d"]


def test_a_flood_of_large_files_takes_no_memory(server: viser.ViserServer) -> None:
    desk = Desk(server)
    before = resident()
    for i in range(8):
        desk.send(bytes(10 * 2**20), str(i))
    desk.send(b"end", "end")
    assert until(lambda: desk.taken == [b"end"])
    assert resident() - before < 40.0  # MB; 80 were sent


# -------------------------------------------------------------------------------------------------------------- paths

YAML = (".yaml",)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(max_size=100)
    | st.lists(st.sampled_from(["..", ".", "/", "\\", "a", "C:", "~", "\0", "%2e", ".yaml", " ", "\n"])).map("".join)
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    for text in (name, f"{name}.yaml"):
        with contextlib.suppress(SurefootError):
            path = safe_path(tmp_path, text, YAML)
            assert path.resolve().parent == tmp_path.resolve()
            assert path.name == text
            path.touch()


def test_plain_names_are_taken(tmp_path: Path) -> None:
    for name in ("walk.yaml", "my walk-2_b.yaml", "Gang über.yaml", "a.b.YAML", "a..yaml"):
        assert safe_path(tmp_path, name, YAML) == tmp_path / name
    assert safe_path(tmp_path, "x.bvh", (".bvh", ".glb")) == tmp_path / "x.bvh"


@pytest.mark.parametrize("name", [
    "", ".yaml", "walk", "walk.txt", ".hidden.yaml", "../walk.yaml", "a/b.yaml", "a\\b.yaml", "/etc/x.yaml", "C:x.yaml",
    "walk.yaml\n", "walk\0.yaml", " walk.yaml", "nul.yaml", "a" * MAX_NAME_BYTES + ".yaml", "..", "walk.yaml/",
])  # fmt: skip
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SurefootError, match="valid"):
        safe_path(tmp_path, name, YAML)


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    folder, secret = tmp_path / "folder", tmp_path / "secret.yaml"
    folder.mkdir()
    secret.write_text("secret")
    (folder / "out.yaml").symlink_to(secret)
    (folder / "round.yaml").symlink_to(folder / "round.yaml")
    (folder / "in.yaml").touch()
    (folder / "also.yaml").symlink_to(folder / "in.yaml")
    (folder / "sub.yaml").mkdir()
    for name in ("out.yaml", "round.yaml"):
        with pytest.raises(SurefootError, match="leads out"):
            safe_path(folder, name, YAML)
    assert list_files(folder, YAML) == ["also.yaml", "in.yaml"]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert safe_path(tmp_path / "link", "walk.yaml", YAML).parent == tmp_path / "link"
