"""Record: the last seconds as a file, written by a thread of its own while the simulation continues."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import viser

from surefoot.errors import CommandError, SurefootError
from surefoot.motions.formats import suffixes
from surefoot.studio.panels.panel import Panel, PanelContext, checked_choice, safe_path, set_if_changed
from surefoot.studio.session import Moment, motion_from_moments

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExportJob:
    """What to write, and where."""

    moments: Sequence[Moment]
    path: Path
    fps: float
    root_motion: bool = True
    loop: bool = False
    skinned: bool = False


class Exporter:
    """Writes one file at a time in its own thread, which also calls `done` and `failed`."""

    def __init__(self, done: Callable[[ExportJob], None], failed: Callable[[str], None]) -> None:
        """Call `done` with what has been written, or `failed` with one line that says why not."""
        self._done, self._failed = done, failed
        self._order: ExportJob | None = None
        self._since = 0.0
        self._thread: threading.Thread | None = None

    @property
    def progress(self) -> str:
        """What is being written and for how long; empty when nothing is."""
        order = self._order
        return f"Writing {order.path.name} … {time.monotonic() - self._since:.0f} s" if order else ""

    def start(self, order: ExportJob) -> None:
        """Begin to write; refused while another file is being written."""
        if self._order is not None:
            raise CommandError(f"{self._order.path.name} is still being written; wait until it is done")
        self._order, self._since = order, time.monotonic()
        self._thread = threading.Thread(target=self._write, args=(order,), name="surefoot-save", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until nothing is being written, at most so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _write(self, order: ExportJob) -> None:
        try:
            options = {"root_motion": order.root_motion, "loop": order.loop, "skinned": order.skinned}
            motion_from_moments(order.moments).save(order.path, fps=order.fps, **options)
            self._done(order)
        except SurefootError as error:
            self._failed(str(error))
        except Exception:
            _log.exception("a motion could not be written")
            self._failed(f"{order.path.name} could not be written; the log has the details")
        finally:
            self._order = None


SKINNED = "Rigged character (.glb)"
FORMATS = {
    "Film (.mp4)": ".mp4",
    "Moving picture (.gif)": ".gif",
    "Strip of poses (.png)": ".png",
    "Web page that plays (.html)": ".html",
    "Skeleton for Blender … (.bvh)": ".bvh",
    "Body with its shapes (.glb)": ".glb",
    SKINNED: ".glb",
    "Rigged character (.usda)": ".usda",
    "Table of numbers (.csv)": ".csv",
    "Everything, for NumPy (.npz)": ".npz",
}
_RATES = {"24": 24.0, "25": 25.0, "30": 30.0, "50": 50.0, "60": 60.0, "120": 120.0}
_NAME = 60  # characters of a file name, at most


class RecordTab(Panel):
    """Saves the last seconds."""

    title = "Record"

    def build(self, desk: PanelContext) -> None:
        """Add the choices and the buttons."""
        self._desk, gui = desk, desk.server.gui
        self._named = ""
        self._waiting: viser.ClientHandle | None = None
        self._saver = Exporter(self._done, lambda text: desk.post(lambda: desk.show_error(text)))
        self._seconds = gui.add_slider(
            "Last seconds", min=1.0, max=desk.session.timeline.seconds, step=1.0, initial_value=10.0,
            hint="Up to the moment that is shown; not beyond the last restart or change of body.",
        )  # fmt: skip
        self._format = gui.add_dropdown("Save as", tuple(FORMATS), initial_value=next(iter(FORMATS)))
        self._name = gui.add_text("File name", "", hint="Its ending is added for you.")
        self._rate = gui.add_dropdown(
            "Frames / s", tuple(_RATES), initial_value="30",
            hint="At most 60 of a film, 50 of a moving picture, 30 of a web page.",
        )  # fmt: skip
        self._travel = gui.add_checkbox("It moves on", True, hint="Root motion; without it, it walks in place.")
        self._loop = gui.add_checkbox("One clean loop", False, hint="One whole cycle that ends as it began.")
        self._save = gui.add_button("Save", icon=viser.Icon.DEVICE_FLOPPY, hint="Into the studio's folder.")
        self._fetch = gui.add_button("Save and download", icon=viser.Icon.DOWNLOAD, color="gray")
        self._note = gui.add_markdown("")
        self._save.on_click(lambda _: desk.post(self.save))
        self._fetch.on_click(lambda event: desk.post(lambda: self.save(event.client)))

    def save(self, client: viser.ClientHandle | None = None) -> None:
        """Write the last seconds, and send the file to a client."""
        suffix = FORMATS[checked_choice(FORMATS, self._format.value)]
        path = safe_path(self._desk.folder, self._name.value.strip()[:_NAME].removesuffix(suffix) + suffix, suffixes())
        moments, fps = self._desk.session.moments(self._seconds.value), _RATES[checked_choice(_RATES, self._rate.value)]
        self._saver.start(ExportJob(
            moments, _free(path), fps, self._travel.value, self._loop.value, self._format.value == SKINNED
        ))  # fmt: skip
        self._waiting = client

    def _done(self, order: ExportJob) -> None:
        """The thread that wrote it calls this."""
        client, self._waiting = self._waiting, None
        size = order.path.stat().st_size
        if client is not None:
            client.send_file_download(order.path.name, order.path.read_bytes(), save_immediately=True)
        text = f"{order.path.name}, {size / 1e6:.1f} MB" if size >= 1e5 else f"{order.path.name}, {size / 1e3:.0f} kB"
        self._desk.post(lambda: self._desk.notify("Saved", text, "green"))

    def reload(self) -> None:
        """Suggest the skill's name, unless a person has typed one."""
        name = self._desk.session.sim.skill.name
        if self._name.value in ("", self._named):
            set_if_changed(self._name, name)
        self._named = name

    def refresh(self) -> None:
        """Show the folder, or what is being written."""
        folder = f"Files go to the folder `{self._desk.folder.name or '/'}`."
        set_if_changed(self._note, self._saver.progress or folder, "content")


def _free(path: Path) -> Path:
    """The path, or one with a number if there is such a file already: nothing is overwritten."""
    found, numbers = path, itertools.count(2)
    while found.exists():
        found = path.with_stem(f"{path.stem}-{next(numbers)}")
    return found
