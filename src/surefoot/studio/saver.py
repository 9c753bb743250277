"""Writes what happened to a file while time goes on: one file at a time, in a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import CommandError, SurefootError
from surefoot.studio.session import motion_of
from surefoot.studio.timeline import Moment

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Order:
    """What to write where."""

    moments: Sequence[Moment]
    path: Path
    fps: float
    root_motion: bool = True
    loop: bool = False
    skinned: bool = False


class Saver:
    """Takes orders. `done` and `failed` are called from its own thread."""

    def __init__(self, done: Callable[[Order], None], failed: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            done: told what has been written.
            failed: told in one line why not.
        """
        self._done, self._failed = done, failed
        self._order: Order | None = None
        self._since = 0.0
        self._thread: threading.Thread | None = None

    @property
    def progress(self) -> str:
        """What is being written and since when; empty when there is nothing to do."""
        order = self._order
        return f"Writing {order.path.name} … {time.monotonic() - self._since:.0f} s" if order else ""

    def start(self, order: Order) -> None:
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

    def _write(self, order: Order) -> None:
        try:
            motion = motion_of(order.moments)
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
