"""Writes what happened to a file while time goes on: one file at a time, in a thread of its own.

Record: the last seconds as a file, for other programs, as a film or as a page.
"""

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
from surefoot.studio.panels.panel import PanelContext, checked_choice, safe_path, set_if_changed
from surefoot.studio.session import Moment, motion_from_moments

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExportJob:
    """What to write where."""

    moments: Sequence[Moment]
    path: Path
    fps: float
    root_motion: bool = True
    loop: bool = False
    skinned: bool = False


class Exporter:
    """Takes orders. `done` and `failed` are called from its own thread."""

    def __init__(self, done: Callable[[ExportJob], None], failed: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            done: told what has been written.
            failed: told in one line why not.
        """
        self._done, self._failed = done, failed
        self._order: ExportJob | None = None
        self._since = 0.0
        self._thread: threading.Thread | None = None

    @property
    def progress(self) -> str:
        """What is being written and since when; empty when there is nothing to do."""
        order = self._order
        return f"Writing {order.path.name} … {time.monotonic() - self._since:.0f} s" if order else ""

    def start(self, order: ExportJob) -> None:
        """Begin to write; while another file is being written this is refused."""
        if self._order is not None:
            raise CommandError(f"{self._order.path.name} is still being written; wait until it is done")
        self._order, self._since = order, time.monotonic()
        self._thread = threading.Thread(target=self._write, args=(order,), name="surefoot-save", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until nothing is being written, or so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _write(self, order: ExportJob) -> None:
        try:
            motion = motion_from_moments(order.moments)
            motion.save(
                order.path, fps=order.fps, root_motion=order.root_motion, loop=order.loop, skinned=order.skinned
            )
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
_NAME = 60  # letters of a file's name, at most


class RecordTab:
    """Saves what was seen last."""

    title = "Record"

    def build(self, desk: PanelContext) -> None:
        """Add the choices and the buttons."""
        self._desk, gui = desk, desk.server.gui
        self._named = ""
        self._waiting: viser.ClientHandle | None = None
        self._saver = Exporter(self._done, lambda text: desk.post(lambda: desk.complain(text)))
        self._seconds = gui.add_slider(
            "Last seconds", min=1.0, max=desk.session.timeline.seconds, step=1.0, initial_value=10.0,
            hint="Up to the moment that is shown; not beyond the last restart or change of body.",
        )  # fmt: skip
        self._format = gui.add_dropdown("Save as", tuple(FORMATS), initial_value=next(iter(FORMATS)))
        self._name = gui.add_text("File name", "", hint="Its ending is added by itself.")
        self._rate = gui.add_dropdown(
            "Frames / s", tuple(_RATES), initial_value="30",
            hint="At most 60 of a film, 50 of a moving picture, 30 of a web page.",
        )  # fmt: skip
        self._travel = gui.add_checkbox("It moves on", True, hint="Root motion; without it goes on in place.")
        self._loop = gui.add_checkbox("One clean loop", False, hint="One whole cycle that ends as it began.")
        self._save = gui.add_button("Save", icon=viser.Icon.DEVICE_FLOPPY, hint="Into the studio's folder.")
        self._fetch = gui.add_button("Save and download", icon=viser.Icon.DOWNLOAD, color="gray")
        self._note = gui.add_markdown("")
        self._save.on_click(lambda _: desk.post(self.save))
        self._fetch.on_click(lambda event: desk.post(lambda: self.save(event.client)))

    def save(self, client: viser.ClientHandle | None = None) -> None:
        """Have the last seconds written, and sent to a client."""
        suffix = FORMATS[checked_choice(FORMATS, self._format.value)]
        path = safe_path(self._desk.folder, self._name.value.strip()[:_NAME].removesuffix(suffix) + suffix, suffixes())
        order = ExportJob(
            self._desk.session.moments(self._seconds.value), _free(path), _RATES[checked_choice(_RATES, self._rate.value)],
            self._travel.value, self._loop.value, self._format.value == SKINNED,
        )  # fmt: skip
        self._saver.start(order)
        self._waiting = client

    def _done(self, order: ExportJob) -> None:
        """Called by the thread that wrote it."""
        client, self._waiting = self._waiting, None
        size = order.path.stat().st_size
        if client is not None:
            client.send_file_download(order.path.name, order.path.read_bytes(), save_immediately=True)
        text = f"{order.path.name}, {size / 1e6:.1f} MB" if size >= 1e5 else f"{order.path.name}, {size / 1e3:.0f} kB"
        self._desk.post(lambda: self._desk.say("Saved", text, "green"))

    def renew(self) -> None:
        """Suggest the skill's name, unless another has been written."""
        name = self._desk.session.sim.skill.name
        if self._name.value in ("", self._named):
            set_if_changed(self._name, name)
        self._named = name

    def refresh(self) -> None:
        """Tell how long there is to save, and what is being written."""
        set_if_changed(
            self._note, self._saver.progress or f"Files go to the folder `{self._desk.folder.name or '/'}`.", "content"
        )


def _free(path: Path) -> Path:
    """The path, or if there is such a file already, one with a number: nothing is overwritten."""
    found, numbers = path, itertools.count(2)
    while found.exists():
        found = path.with_stem(f"{path.stem}-{next(numbers)}")
    return found
