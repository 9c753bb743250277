"""An experiment reproduces one claim of a paper and says, row by row, whether ours holds.

Where motion-capture clips are: none comes with Surefoot.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import logging
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import mujoco

import surefoot
from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError

log = logging.getLogger(__name__)


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
    """What an experiment found."""

    experiment: str
    paper: str
    rows: list[Row] = field(default_factory=list)
    also: list[dict[str, str]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)  # raw, one a simulated run
    quick: bool = False
    partial: bool = False  # something it needs was not there: shown, but not taken up as finished

    def row(self, case: str, paper: str, ours: str, unit: str, holds: bool) -> None:
        """Add a figure that has a bar."""
        self.rows.append(Row(case, paper, ours, unit, bool(holds)))

    def show(self, case: str, ours: str, unit: str = "", paper: str = "") -> None:
        """Add a figure that is only shown."""
        self.also.append({"case": case, "paper": paper, "ours": ours, "unit": unit})

    @property
    def holds(self) -> bool:
        """Whether every row holds."""
        return bool(self.rows) and all(row.holds for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """What `--json` writes."""
        return {
            "experiment": self.experiment,
            "paper": self.paper,
            "quick": self.quick,
            "rows": [asdict(row) for row in self.rows],
            "also": self.also,
        }


@dataclass(frozen=True)
class Setting:
    """How experiments are to be run."""

    seed: int = 0
    quick: bool = False
    out: Path | None = None
    progress: Callable[[str, float], None] = lambda label, share: None
    clips: Path | None = None  # folder of motion-capture clips; by default what the variable SUREFOOT_CLIPS names

    def figure_path(self, experiment: str, name: str) -> Path | None:
        """Where a figure goes, if figures are kept."""
        if self.out is None:
            return None
        folder = self.out / experiment.replace("/", "-")
        make_folder(folder)
        return folder / name


@dataclass(frozen=True)
class Experiment:
    """A named experiment."""

    name: str
    paper: str
    run: Callable[[Result, Setting], None]


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
        result.row("could not run", "", f"{type(error).__name__}: {error}", "", False)
        return result
    if not result.partial:
        _save(result, setting)
    return result


@functools.cache
def fingerprint() -> str:
    """Of all sources and skill files: a result of other code is not taken up."""
    digest = hashlib.sha256(mujoco.__version__.encode())
    root = Path(surefoot.__file__).parent
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.yaml"))):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make_folder(path: Path) -> None:
    """Make a folder, or say why not in one line."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror or error}") from None


def _key(setting: Setting) -> dict[str, Any]:
    return {"seed": setting.seed, "quick": setting.quick, "fingerprint": fingerprint()}


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


CLIPS_VARIABLE = "SUREFOOT_CLIPS"  # the variable that names the folder of clips
NO_CLIPS = f"not run: neither --clips nor {CLIPS_VARIABLE} names a folder of clips"


def clips_folder(setting: Setting) -> Path | None:
    """The folder of clips, if one is named and there."""
    named = setting.clips or Path(os.environ.get(CLIPS_VARIABLE) or "")
    return named if (setting.clips or os.environ.get(CLIPS_VARIABLE)) and named.is_dir() else None


def find_clip(setting: Setting, stem: str) -> Path | None:
    """The clip of a file name without its suffix."""
    folder = clips_folder(setting)
    return next(iter(sorted(folder.rglob(f"{stem}.bvh"))), None) if folder else None
