"""The thread that owns the session: it lets time pass, sixty times a second, and does what others ask of it."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from surefoot.errors import SurefootError
from surefoot.studio.session import FPS, Session

T = TypeVar("T")
_log = logging.getLogger(__name__)
_QUIET = 5.0  # [s] after a failure that is none of a person's doing, in which others are not told
_WAITING = 1000  # requests that may wait; more are dropped: the page floods us


class Loop:
    """Runs a session in real time. `post` and `call` may come from any thread, everything else from its own."""

    def __init__(self, session: Session, draw: Callable[[float], None], complain: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            session: what runs.
            draw: called after every advance with the real time [s].
            complain: told in one line what could not be done.
        """
        self.session = session
        self._draw, self._complain = draw, complain
        self.before: list[Callable[[float], object]] = []  # called before every advance with the real time passed [s]
        self._asked: queue.Queue[Callable[[], None]] = queue.Queue(_WAITING)
        self._logged = -_QUIET
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="surefoot-studio", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End and wait for it."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    @property
    def is_running(self) -> bool:
        """Whether time can pass."""
        return self._thread.is_alive()

    def post(self, action: Callable[[], object]) -> None:
        """Have something done before the next frame; a flood of requests is cut."""
        try:
            self._asked.put_nowait(lambda: self._do(action))
        except queue.Full:
            _log.warning("too many requests at once: one was dropped")

    def call(self, action: Callable[[], T], timeout: float = 30.0) -> T:
        """Have something done and wait for what it gives; its errors are raised here."""
        answer: Future[T] = Future()

        def act() -> None:
            try:
                answer.set_result(action())
            except BaseException as error:
                answer.set_exception(error)

        self._asked.put(act, timeout=timeout)
        return answer.result(timeout)

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except SurefootError as error:
            self._complain(str(error))
        except Exception:
            if time.monotonic() - self._logged >= _QUIET:  # a page that sends rubbish does not fill the log
                self._logged = time.monotonic()
                _log.exception("a request failed")
                self._complain("that did not work; the log has the details")

    def _run(self) -> None:
        last = due = time.perf_counter()
        while not self._stop.is_set():
            while not self._asked.empty():
                self._asked.get()()
            now = time.perf_counter()
            passed, last = now - last, now
            for act in (*self.before, self.session.advance):
                self._do(lambda: act(passed))  # noqa: B023
            self._do(lambda: self._draw(now))  # noqa: B023
            due = max(due + 1.0 / FPS, now)
            self._wait(due)

    def _wait(self, until: float) -> None:
        """Sleep until the next frame is due, or somebody asks for something."""
        while (left := until - time.perf_counter()) > 0.0 and not self._stop.is_set():
            try:
                self._asked.get(timeout=left)()
            except queue.Empty:
                return
