"""What the studio costs: share of a core with a page open, delay of a slider, growth of memory over an hour.

`Visitor` stands in for a page: a client that speaks viser's protocol over a real socket.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from surefoot.engine.scene import Setup
from surefoot.studio.app import Studio
from surefoot.studio.session import FASTEST, FIRST_SKILL, FPS, Session

_SKILLS = {"human/fast-walk": None, "biped/zero-walk": "humanoid"}  # and their characters
_MOST_CPU, _MOST_DELAY, _MOST_GROWTH = 25.0, 50.0, 10.0  # [% of a core], [ms], [MB]
_HOUR, _WARM = 3600.0, 600.0  # [s] simulated, and from when on growth counts
_MOVES = 200  # of the slider
_WATCH = "import sys; from surefoot.studio.benchmark import watch; watch(int(sys.argv[1]), float(sys.argv[2]))"
_CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, -4.0, 1.0], "fov": 1.0, "near": 0.1,
    "far": 100.0, "image_height": 800, "image_width": 1280, "look_at": [0.0, 0.0, 1.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


def greeting() -> bytes:
    """The first message of every page: the pose of its camera."""
    return msgspec.msgpack.encode(_CAMERA)


class Visitor:
    """A client of the page without a browser."""

    def __init__(self, port: int, origin: str | None = "", protocol: str = f"viser-v{viser.__version__}") -> None:
        """Connect as a page of an origin ("" is the studio's own, None is none) that speaks a protocol."""
        own = f"http://127.0.0.1:{port}"
        headers = {} if origin is None else {"Origin": origin or own}
        self.wire = connect(
            f"ws://127.0.0.1:{port}", additional_headers=headers, subprotocols=[protocol], compression=None,  # type: ignore[list-item]
            max_size=None, open_timeout=10.0, close_timeout=1.0,
        )  # fmt: skip

    def say(self, **fields: Any) -> None:
        """Send a message; the field `type` is viser's name of it."""
        self.wire.send(msgspec.msgpack.encode(fields))

    def look(self) -> None:
        """Send the first camera message; from then on viser counts it as a client."""
        self.wire.send(greeting())

    def hear(self, timeout: float = 5.0) -> Iterator[dict[str, Any]]:
        """The messages that arrive, until none has come for `timeout` seconds or the connection is closed."""
        while True:
            try:
                raw = self.wire.recv(timeout)
            except (TimeoutError, ConnectionClosed):
                return
            if isinstance(raw, str):
                continue
            size = int.from_bytes(raw[8:16], "little")
            unpacked = zstandard.ZstdDecompressor().decompress(raw[16 : 16 + size])
            yield from msgspec.msgpack.decode(unpacked)["messages"]

    def find(self, label: str) -> str:
        """The id of the control with a label."""
        for message in self.hear():
            if message.get("props", {}).get("label") == label:
                return str(message["uuid"])
        raise LookupError(label)

    def close(self) -> None:
        """Disconnect."""
        self.wire.close()


def watch(port: int, seconds: float) -> None:
    """Connect to a studio for some seconds; print the number of messages per second."""
    visitor = Visitor(port)
    visitor.look()
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        visitor.wire.recv(5.0)
        count += 1
    sys.stdout.write(f"{count / seconds:.0f}\n")
    visitor.close()


def measure_studio(quick: bool, tick: Callable[[str, float], None]) -> list[dict[str, Any]]:
    """All figures of the studio, with their bars.

    Args:
        quick: whether to measure for a shorter time.
        tick: called with what is measured and the share that is done.
    """
    rows: list[dict[str, Any]] = []

    def add(case: str, ours: str, bar: str, holds: bool) -> None:
        rows.append({"case": f"studio: {case}", "ours": ours, "bar": bar, "holds": holds})

    for i, (skill, character) in enumerate(_SKILLS.items()):
        tick(f"studio: a page on {skill}", 0.2 * i)
        share, alone, rate = _cpu(Setup(skill, character), 4.0 if quick else 20.0)
        ours = f"{share:.1f} % of a core ({alone:.1f} % without a page; {rate} messages/s)"
        add(f"server with one page at 60 Hz, {skill}", ours, f"≤ {_MOST_CPU:g} %", share <= _MOST_CPU)
    tick("studio: from slider to simulation", 0.4)
    delays = _delays(Setup(FIRST_SKILL), 20 if quick else _MOVES)
    ours = f"{statistics.median(delays):.1f} ms, at worst {max(delays):.1f} ms"
    add("slider moved to its effect in the simulation", ours, f"≤ {_MOST_DELAY:g} ms", max(delays) <= _MOST_DELAY)
    seconds = _HOUR / 12 if quick else _HOUR
    growth = _growth(Setup(FIRST_SKILL), seconds, lambda done: tick("studio: memory", 0.5 + 0.5 * done))
    add(f"memory gained over {seconds / 60:.0f} min of simulated time", f"{growth:.1f} MB", f"< {_MOST_GROWTH:g} MB",
        growth < _MOST_GROWTH)  # fmt: skip
    return rows


def _cpu(setup: Setup, seconds: float) -> tuple[float, float, str]:
    """Per cent of a core that this process uses with a page open and without, and messages per second."""
    studio = Studio(setup, port=0)
    try:
        time.sleep(2.0)  # until it is compiled and settled
        alone = _share(seconds)
        command = [sys.executable, "-c", _WATCH, str(studio.server.get_port()), str(seconds + 4.0)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
            while not studio.server.get_clients() and page.poll() is None:
                time.sleep(0.05)
            time.sleep(0.5)
            share = _share(seconds)
            rate = page.communicate(timeout=60.0)[0].strip()
    finally:
        studio.stop()
    return share, alone, rate


def _share(seconds: float) -> float:
    begin, spent = time.perf_counter(), time.process_time()
    time.sleep(seconds)
    return 100.0 * (time.process_time() - spent) / (time.perf_counter() - begin)


def _delays(setup: Setup, moves: int) -> list[float]:
    """Milliseconds from a slider's message on the socket to the first frame simulated with its value."""
    studio = Studio(setup, port=0)
    try:
        moved = threading.Event()
        slider = studio.server.gui.add_slider("bench", min=0.5, max=FASTEST, step=0.01, initial_value=1.0)

        def effect() -> None:
            studio.session.set_rate(slider.value)
            moved.set()

        slider.on_update(lambda _: studio.post(effect))
        visitor = Visitor(studio.server.get_port())
        visitor.look()
        uuid = visitor.find("bench")
        reader = threading.Thread(target=lambda: [None for _ in visitor.hear()], daemon=True)  # a page goes on reading
        reader.start()
        delays = []
        for i in range(moves):
            time.sleep(0.05 + 0.011 * (i % 7))  # at all phases of a frame
            moved.clear()
            begin = time.perf_counter()
            visitor.say(type="GuiUpdateMessage", uuid=uuid, updates={"value": 0.8 + 0.01 * (i % 5)})
            if not moved.wait(5.0):
                raise TimeoutError("a slider had no effect")
            clock = studio.session.clock
            while studio.session.clock == clock:  # until a frame was simulated with it
                time.sleep(5e-4)
            delays.append(1e3 * (time.perf_counter() - begin))
        visitor.close()
    finally:
        studio.stop()
    return delays


def _growth(setup: Setup, seconds: float, done: Callable[[float], None]) -> float:
    """Megabytes gained from the time the timeline is full (a sixth of the whole) to the end."""
    session = Session(setup)
    begin = resident()
    warm = False
    while session.clock < seconds:
        session.advance(1.0 / FPS)
        if session.sim.fallen:
            session.restart()
        if not warm and session.clock >= seconds * _WARM / _HOUR:
            warm, begin = True, resident()
        done(session.clock / seconds)
    return resident() - begin


def resident() -> float:
    """Megabytes of memory that this process holds."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    import resource  # other systems only know the most it ever held

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)
