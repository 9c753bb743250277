"""An experiment reproduces one claim of a paper and says, row by row, whether ours holds.

A row has a bar; a note has none. What could not be measured is a row too: it does not hold, and says why. Results are
kept in the output folder and taken up again for the same code, seed and thoroughness. No motion-capture clips come with
Surefoot: the user names a folder of them.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib
import io
import json
import logging
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError
from surefoot.lab.pieces import (
    Outcome,
    Piece,
    Processes,
    Report,
    do_pieces,
    fingerprint,
    forget,
    no_report,
    present_workers,
    run_pieces,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

CLIPS_VARIABLE = "SUREFOOT_CLIPS"  # the variable that names the folder of clips
NO_CLIPS = f"not run: neither --clips nor {CLIPS_VARIABLE} names a folder with this clip"
NOT_QUICK = "not measured in a quick look"


@dataclass
class Row:
    """One figure with a bar: the paper's, ours, and whether ours holds."""

    case: str
    paper: str
    ours: str
    unit: str
    holds: bool


@dataclass
class Result:
    """What an experiment found.

    Attributes:
        experiment: its name.
        paper: the paper, and where in it the claim is.
        rows: figures with a bar.
        notes: figures without one.
        runs: raw figures, one record a simulated run.
        quick: whether this was a quick look.
        partial: whether clips, skills or packages were missing; such a result is not taken up as finished.
        seed: of every replica, phase and course.
    """

    experiment: str
    paper: str
    rows: list[Row] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    quick: bool = False
    partial: bool = False
    seed: int = 0

    def add_row(self, case: str, paper: str, ours: str, unit: str, holds: bool) -> None:
        """Add a figure that has a bar."""
        self.rows.append(Row(case, paper, ours, unit, bool(holds)))

    def add_missing(self, case: str, paper: str = "", reason: str = NO_CLIPS) -> None:
        """Add a row for what was not measured: it does not hold, and `reason` stands in place of our figure."""
        self.add_row(case, paper, reason, "", False)
        self.partial |= reason != NOT_QUICK

    def add_note(self, case: str, ours: str, unit: str = "", paper: str = "") -> None:
        """Add a figure that has no bar."""
        self.notes.append({"case": case, "paper": paper, "ours": ours, "unit": unit})

    @property
    def holds(self) -> bool:
        """Whether there are rows and every one of them holds."""
        return bool(self.rows) and all(row.holds for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return what `surefoot reproduce --json` writes."""
        return {
            "experiment": self.experiment,
            "paper": self.paper,
            "seed": self.seed,
            "quick": self.quick,
            "holds": self.holds,
            "partial": self.partial,
            "rows": [asdict(row) for row in self.rows],
            "also": self.notes,
        }


@dataclass(frozen=True)
class Setting:
    """How experiments are run.

    Attributes:
        seed: seed of every replica, phase and course.
        quick: whether a first look is enough, shorter than the claims ask for.
        out: folder for figures and raw runs; None keeps nothing.
        progress: is called with what is being done and the share that is done.
        clips: folder of motion-capture clips; by default what the variable SUREFOOT_CLIPS names.
    """

    seed: int = 0
    quick: bool = False
    out: Path | None = None
    progress: Report = no_report
    clips: Path | None = None

    def figure_path(self, experiment: str, name: str) -> Path | None:
        """Return where an experiment's file of this name goes, or None if no files are kept."""
        if self.out is None:
            return None
        folder = self.out / experiment.replace("/", "-")
        make_folder(folder)
        return folder / name

    def each(self, items: Collection[T], begin: float = 0.0, end: float = 1.0, label: str = "{}") -> Iterator[T]:
        """Yield items, telling the progress between two shares before each one.

        Args:
            items: what is done one after another.
            begin: share that is done before the first.
            end: share that is done after the last.
            label: what is told, `{}` for the item's name: a text, a number, or the first of a tuple.
        """
        for i, item in enumerate(items):
            named = item[0] if isinstance(item, tuple) else item
            self.progress(label.format(named), begin + (end - begin) * i / len(items))
            yield item


Run = Callable[[Result, Setting], None]


Gather = Callable[[Result, Setting, list[Any]], None]


class Cut:
    """The function of an experiment that is cut into pieces, which machines can share."""

    def __init__(
        self, pieces: Callable[[Setting], Sequence[Piece[Any]]], gather: Gather, processes: int | None = None
    ) -> None:
        """Bundle what it is made of.

        Args:
            pieces: makes the pieces.
            gather: fills the result with what the pieces found, in their order.
            processes: of this machine that share the pieces where no cluster does; by default this one does them all.
        """
        self._pieces, self._gather, self._processes = pieces, gather, processes
        functools.update_wrapper(self, gather)

    def pieces(self, experiment: str, setting: Setting) -> list[Piece[Any]]:
        """The pieces; where files are kept, their results are kept too until the experiment is finished."""
        keep = self._keep(experiment, setting)
        return [replace(piece, keep=keep) for piece in self._pieces(setting)]

    def _keep(self, experiment: str, setting: Setting) -> Path | None:
        return setting.figure_path(experiment, "pieces")

    def conclude(self, result: Result, setting: Setting, found: list[Any]) -> None:
        """Fill a result with what the pieces found."""
        self._gather(result, setting, found)
        if not result.partial:
            forget(self._keep(result.experiment, setting))

    def __call__(self, result: Result, setting: Setting) -> None:
        """Run the experiment."""
        pieces = self.pieces(result.experiment, setting)
        workers = Processes(self._processes) if self._processes and not present_workers().apart else None
        self.conclude(result, setting, run_pieces(pieces, setting.progress, workers))


def cut_into(
    pieces: Callable[[Setting], Sequence[Piece[Any]]], processes: int | None = None
) -> Callable[[Gather], Cut]:
    """Make an experiment's function of one that is given what the pieces found; see `Cut`."""
    return lambda gather: Cut(pieces, gather, processes)


@dataclass(frozen=True)
class Experiment:
    """A named experiment; `source` is its function, or "module:function", which is imported when it runs."""

    name: str
    paper: str
    source: Run | str

    @property
    def run(self) -> Run:
        """The function, imported if need be."""
        if not isinstance(self.source, str):
            return self.source
        module, _, function = self.source.partition(":")
        run: Run = getattr(importlib.import_module(module), function)
        return run


def run_experiment(experiment: Experiment, setting: Setting) -> Result:
    """Run an experiment, or take up its finished result from the output folder.

    An experiment that cannot run gives one row that does not hold, with the reason.
    """
    return _load(experiment, setting) or _run(experiment, setting, lambda *both: experiment.run(*both))


def _run(experiment: Experiment, setting: Setting, run: Run) -> Result:
    """What a function finds of an experiment, saved."""
    result = Result(experiment.name, experiment.paper, quick=setting.quick, seed=setting.seed)
    try:
        run(result, setting)
    except Exception as error:  # the reason is the result: a table with a gap would hide it
        log.exception("%s could not run", experiment.name)
        result.rows = []
        result.add_missing("could not run", reason=f"{type(error).__name__}: {error}")
    if not result.partial:
        _save(result, setting)
    return result


Case = tuple[Experiment, Setting]


def run_experiments(cases: Sequence[Case], report: Report) -> Iterator[tuple[int, Result]]:
    """Run experiments, or take up finished ones; yield the place and the result of each as soon as there is one.

    Workers on a cluster share the pieces of all experiments. One that is not cut is a piece as a whole: its files are
    written in a folder of the worker's own, and put into the output folder here.

    Args:
        cases: experiments, each with its setting, whose `progress` is not called.
        report: is called with how far all of them are.
    """
    if not present_workers().apart:
        for i, (experiment, setting) in enumerate(cases):
            told = functools.partial(_tell_one_of, report, f"[{i + 1}/{len(cases)}] {experiment.name}")
            yield i, run_experiment(experiment, replace(setting, progress=told))
        return
    open_cases: list[_OpenCase] = []
    for i, (experiment, setting) in enumerate(cases):
        finished = _load(experiment, setting)
        if finished is None:
            open_cases.append(_OpenCase(i, experiment, replace(setting, clips=clips_folder(setting))))
        else:
            yield i, finished
    owners = [(case, k) for case in open_cases for k in range(len(case.pieces))]
    for case in open_cases:
        if not case.pieces:
            yield case.place, case.conclude()
    with contextlib.closing(do_pieces([case.pieces[k] for case, k in owners], report)) as outcomes:
        for outcome in outcomes:
            case, k = owners[outcome.place]
            case.found[k] = outcome
            if len(case.found) == len(case.pieces):
                yield case.place, case.conclude()


def _tell_one_of(report: Report, label: str, text: str, share: float) -> None:
    report(f"{label}: {text}", share)


class _OpenCase:
    """An experiment whose pieces are shared out."""

    def __init__(self, place: int, experiment: Experiment, setting: Setting) -> None:
        """Cut it, or take it as one piece."""
        self.place, self._experiment, self._setting = place, experiment, setting
        self.found: dict[int, Outcome[Any]] = {}
        self._cut = experiment.run if isinstance(experiment.run, Cut) else None
        self.pieces: list[Piece[Any]] = (
            self._cut.pieces(experiment.name, setting)
            if self._cut
            else [Piece(experiment.name, _run_in_own_folder, (experiment, replace(setting, progress=no_report)))]
        )

    def conclude(self) -> Result:
        """The result, when all pieces are done; its files are written."""
        cut = self._cut
        if cut is None:
            return self._taken_over()

        def gather(result: Result, setting: Setting) -> None:
            cut.conclude(result, setting, [self.found[k].result() for k in range(len(self.pieces))])

        return _run(self._experiment, self._setting, gather)

    def _taken_over(self) -> Result:
        """The result of the worker that did all of it."""
        if self.found[0].error is not None:
            return _run(self._experiment, self._setting, lambda *_: self.found[0].result())
        result, files = self.found[0].result()
        for name, content in files.items():
            path = self._setting.figure_path(self._experiment.name, name)
            if path is not None:
                make_folder(path.parent)
                replace_file(path, content)
        done: Result = result
        return done


def _run_in_own_folder(experiment: Experiment, setting: Setting) -> tuple[Result, dict[str, bytes]]:
    """Run an experiment, keeping its files in a folder that goes; returns them too, the result's at last."""
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder:
        own = replace(setting, out=Path(folder) if setting.out else None)
        result = run_experiment(experiment, own)
        top = own.figure_path(experiment.name, "")
        paths = sorted((p for p in top.rglob("*") if p.is_file()), key=lambda p: p.name == "result.json") if top else []
        return result, {path.relative_to(top).as_posix(): path.read_bytes() for path in paths if top}


def make_folder(path: Path) -> None:
    """Make a folder and those above it.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror or error}") from None


def _key(setting: Setting) -> dict[str, Any]:
    from surefoot.engine.devices import CPU, present_device  # here, so that listing experiments loads no engine

    key = {"seed": setting.seed, "quick": setting.quick, "fingerprint": fingerprint()}
    return key if present_device() == CPU else key | {"device": present_device()}


def _load(experiment: Experiment, setting: Setting) -> Result | None:
    path = setting.figure_path(experiment.name, "result.json") if setting.out else None
    if path is None or not path.exists():
        return None
    try:
        saved = json.loads(path.read_text())
        if saved.pop("key") != _key(setting):
            return None
        rows = [Row(**row) for row in saved["rows"]]
        return Result(experiment.name, experiment.paper, rows, saved["also"], quick=setting.quick, seed=setting.seed)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _save(result: Result, setting: Setting) -> None:
    path = setting.figure_path(result.experiment, "result.json") if setting.out else None
    if path is None:
        return
    if result.runs:
        text = io.StringIO()
        columns = list(dict.fromkeys(key for run in result.runs for key in run))
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        writer.writerows(result.runs)
        replace_file(path.with_name("runs.csv"), text.getvalue().encode())
    replace_file(path, json.dumps(result.as_json() | {"key": _key(setting)}, indent=1).encode())


def clips_folder(setting: Setting) -> Path | None:
    """Return the folder of clips, if one is named and there."""
    named = setting.clips or os.environ.get(CLIPS_VARIABLE)
    return Path(named).resolve() if named and Path(named).is_dir() else None


def find_clip(setting: Setting, stem: str) -> Path | None:
    """Return the clip of a file name without its suffix, if there is one."""
    folder = clips_folder(setting)
    return next(iter(sorted(folder.rglob(f"{stem}.bvh"))), None) if folder else None
