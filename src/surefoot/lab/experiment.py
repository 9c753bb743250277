"""An experiment reproduces one claim of a paper and says, row by row, whether ours holds.

A row has a bar; a note has none. What could not be measured is a row too: it does not hold, and says why. Results are
kept in the output folder and taken up again for the same code, seed and thoroughness. No motion-capture clips come with
Surefoot: the user names a folder of them.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import importlib
import io
import json
import logging
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import surefoot
from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError

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
    """

    experiment: str
    paper: str
    rows: list[Row] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    quick: bool = False
    partial: bool = False

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
    progress: Callable[[str, float], None] = lambda label, share: None
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
    finished = _load(experiment, setting)
    if finished is not None:
        return finished
    result = Result(experiment.name, experiment.paper, quick=setting.quick)
    try:
        experiment.run(result, setting)
    except Exception as error:  # the reason is the result: a table with a gap would hide it
        log.exception("%s could not run", experiment.name)
        result.rows = []
        result.add_missing("could not run", reason=f"{type(error).__name__}: {error}")
    if not result.partial:
        _save(result, setting)
    return result


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
        return Result(experiment.name, experiment.paper, rows, saved["also"], quick=setting.quick)
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
    return Path(named) if named and Path(named).is_dir() else None


def find_clip(setting: Setting, stem: str) -> Path | None:
    """Return the clip of a file name without its suffix, if there is one."""
    folder = clips_folder(setting)
    return next(iter(sorted(folder.rglob(f"{stem}.bvh"))), None) if folder else None
