"""Work cut into pieces that can be done anywhere: here, in processes of this machine, or on a cluster.

A piece is a function and its arguments, from which alone its result follows: whatever is random in it comes from seeds
among the arguments. So a piece that was lost is done again, and the results are the same wherever and in whatever order
they were found. Kept results are files, written whole, named after everything they depend on: a run that was stopped
takes them up again.

`with using_workers(…):` around a search, a sweep or an experiment says who does its pieces; without, they are done here
one after another, on all cores each.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import multiprocessing
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Generic, Protocol, TypeVar

import surefoot
from surefoot.atomic_file import replace_file
from surefoot.errors import CommandError, OutputError, SurefootError

T = TypeVar("T")
Report = Callable[[str, float], None]  # is called with what is being done and the share that is done


def no_report(text: str, share: float) -> None:
    """Tell nobody."""


@functools.cache
def fingerprint() -> str:
    """Return a digest of all sources and skill files: a result of other code is not taken up."""
    import mujoco  # here, so that listing experiments does not load it

    digest = hashlib.sha256(mujoco.__version__.encode())
    root = Path(surefoot.__file__).parent
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.yaml"))):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Piece(Generic[T]):
    """A piece of work.

    Attributes:
        label: what it is called in the progress, and how its name begins.
        function: a function of a module.
        arguments: what its result follows from; they travel to whoever does the piece.
        keep: folder in which its result is kept; it is then numbers, texts, lists and dictionaries with texts as keys.
        beside: further arguments, by keyword, that its result does not depend on, such as the file of a checkpoint.
    """

    label: str
    function: Callable[..., T]
    arguments: tuple[object, ...] = ()
    keep: Path | None = None
    beside: Mapping[str, object] = field(default_factory=dict)

    @functools.cached_property
    def name(self) -> str:
        """The label and a digest of the code, the function and its arguments.

        Raises:
            SurefootError: an argument is of a kind that has no digest, such as a function within a function.
        """
        told = f"{fingerprint()} {in_full(self.function)} {in_full(self.arguments)}"
        label = re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")[:40]
        return f"{label}-{hashlib.sha256(told.encode()).hexdigest()[:24]}"

    @property
    def file(self) -> Path | None:
        """Where its result is kept."""
        return self.keep and self.keep / f"{self.name}.json"

    def do(self) -> T:
        """Do it here."""
        return self.function(*self.arguments, **self.beside)


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of the piece at a place of a list: its value, or the error that it ended with."""

    place: int
    value: T | None = None
    error: Exception | None = None

    def result(self) -> T:
        """The value.

        Raises:
            Exception: the error.
        """
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # there is one, which may be None


def attempt(place: int, work: Callable[[], T]) -> Outcome[T]:
    """Try to do what is at a place of a list."""
    try:
        return Outcome(place, work())
    except Exception as error:  # it is told by who asked for the result
        return Outcome(place, error=error)


class Workers(Protocol):
    """Who does pieces."""

    @property
    def apart(self) -> bool:
        """Whether they are other processes, several of them, so that work should be cut finely."""

    def work(self, pieces: Sequence[Piece[T]], report: Report) -> Generator[Outcome[T], None, None]:
        """Do all pieces; yield what became of each as soon as it is known, in any order."""


class Here:
    """This process, which does one piece after another."""

    apart = False

    def work(self, pieces: Sequence[Piece[T]], report: Report) -> Generator[Outcome[T], None, None]:
        """Do all pieces in order."""
        for i, piece in enumerate(pieces):
            report(piece.label, i / len(pieces))
            token = _listener.set(_share_of(report, piece.label, i, len(pieces)))
            try:
                outcome = attempt(i, piece.do)
            finally:
                _listener.reset(token)
            yield outcome


def _share_of(report: Report, label: str, number: int, count: int) -> Report:
    """A report of one of several pieces as a report of all."""
    return lambda text, share: report(f"{label}: {text}", (number + share) / count)


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, for pieces that are mostly Python, which one process does on one core.

    Attributes:
        count: how many.
    """

    count: int
    apart = True

    def work(self, pieces: Sequence[Piece[T]], report: Report) -> Generator[Outcome[T], None, None]:
        """Do several pieces at a time."""
        context = multiprocessing.get_context("spawn")  # others' threads do not survive a fork
        with ProcessPoolExecutor(min(self.count, len(pieces)), context) as pool:
            places = {pool.submit(piece.do): i for i, piece in enumerate(pieces)}
            try:
                for done, future in enumerate(as_completed(places)):
                    report(f"{done} of {len(pieces)} pieces done", done / len(pieces))
                    yield attempt(places[future], future.result)
            except BaseException:  # Ctrl-C, or nobody wants the others
                pool.shutdown(wait=False, cancel_futures=True)
                raise


_HERE: Workers = Here()
_present: ContextVar[Workers] = ContextVar("workers", default=_HERE)
_listener: ContextVar[Report] = ContextVar("listener", default=no_report)


def present_workers() -> Workers:
    """Who does pieces: this process, or inside of `using_workers` others.

    Raises:
        CommandError: others are to do what is done on a GPU of this process.
    """
    from surefoot.engine.devices import CPU, present_device  # here, so that listing experiments loads no simulator

    workers = _present.get()
    if workers.apart and present_device() != CPU:
        raise CommandError(f"the workers of a cluster have CPUs, not {present_device()}: leave out --ray or --device")
    return workers


@contextmanager
def using_workers(workers: Workers) -> Iterator[None]:
    """Let others do the pieces, inside a `with` statement, in this thread."""
    token = _present.set(workers)
    try:
        yield
    finally:
        _present.reset(token)


def tell(text: str, share: float) -> None:
    """Tell how far a piece is, from within it; where it is not done here, nobody listens."""
    _listener.get()(text, share)


def do_pieces(
    pieces: Sequence[Piece[T]], report: Report = no_report, workers: Workers | None = None
) -> Generator[Outcome[T], None, None]:
    """Do pieces and yield what became of each as soon as it is known; kept results are not found again.

    Args:
        pieces: what is to be done.
        report: is called with how far the work is.
        workers: who does it; by default `present_workers()`.
    """
    missing = []
    for i, piece in enumerate(pieces):
        kept = _load(piece)
        if kept is None:
            missing.append(i)
        else:
            yield Outcome(i, kept.value)
    if not missing:
        return
    found = len(pieces) - len(missing)

    def of_all(text: str, share: float) -> None:
        report(text, (found + share * len(missing)) / len(pieces))

    work = (workers or present_workers()).work([pieces[i] for i in missing], of_all)
    with contextlib.closing(work) as outcomes:
        for outcome in outcomes:
            place = missing[outcome.place]
            yield attempt(place, functools.partial(_kept, pieces[place], outcome))


def run_pieces(pieces: Sequence[Piece[T]], report: Report = no_report, workers: Workers | None = None) -> list[T]:
    """Do pieces; return their results in order.

    Args:
        pieces: what is to be done.
        report: is called with how far the work is.
        workers: who does it; by default `present_workers()`.

    Raises:
        Exception: the error of a piece; the others are given up.
    """
    found = {}
    with contextlib.closing(do_pieces(pieces, report, workers)) as outcomes:
        for outcome in outcomes:
            found[outcome.place] = outcome.result()
    return [found[i] for i in range(len(pieces))]


def forget(keep: Path | None) -> None:
    """Remove a folder of kept results that are needed no more, if there is one and nothing else is in it."""
    if keep is not None and keep.is_dir():
        for path in keep.glob("*.json"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            keep.rmdir()


def _load(piece: Piece[T]) -> Outcome[T] | None:
    """What is kept of a piece; a damaged file is nothing."""
    path = piece.file
    if path is None:
        return None
    try:
        return Outcome(0, json.loads(path.read_text())["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _kept(piece: Piece[T], outcome: Outcome[T]) -> T:
    """Keep a result; returns it as it is read again, so that it never matters which of the two was done."""
    value, path = outcome.result(), piece.file
    if path is None:
        return value
    try:
        text = json.dumps({"result": value})
    except TypeError as error:
        raise SurefootError(f"the result of {piece.label} cannot be kept: {error}") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {path.parent}: {error.strerror or error}") from None
    replace_file(path, text.encode())
    kept: T = json.loads(text)["result"]
    return kept


def in_full(value: object) -> str:
    """A value as text from which nothing is left out: equal texts mean equal values, in every process.

    A path stands for what is in its file.

    Raises:
        SurefootError: there is no such text for values of its kind.
    """
    import numpy as np  # here, so that listing experiments does not load it
    from pydantic import BaseModel

    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(in_full, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{in_full(key)}: {in_full(own)}' for key, own in value.items())}}}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, Path):
        return f"{value.name} {_digest(value.read_bytes()) if value.is_file() else ''}"
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, BaseModel):
        return f"{kind} {_digest(value.model_dump_json().encode())}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return f"{kind} {in_full(own)}"
    if isinstance(value, functools.partial):
        return f"{in_full(value.func)} {in_full(value.args)} {in_full(value.keywords)}"
    if isinstance(value, (type, FunctionType)) and "<" not in value.__qualname__:
        return f"{value.__module__}.{value.__qualname__}"
    raise SurefootError(f"a piece of work cannot be named after a {kind}: {value!r}"[:200])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
