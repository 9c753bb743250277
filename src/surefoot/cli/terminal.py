"""What a person sees in the terminal: tables of results, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

_WIDE = 1000  # columns of what goes to a file or another program: a row of a table is one line there


def _console(stream: TextIO, to_stderr: bool = False) -> Console:
    return Console(stderr=to_stderr, width=None if stream.isatty() else _WIDE)


screen, aside = _console(sys.stdout), _console(sys.stderr, to_stderr=True)


def text(value: Any) -> str:
    """A value of a summary as a person reads it."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return ", ".join(map(text, value)) if isinstance(value, list) else str(value)


def print_result(result: Any, seeded: bool = False) -> None:
    """Print an experiment's rows and what it shows beside them; `seeded` tells its seed too."""
    screen.print(
        f"\n[bold]{result.experiment}[/bold]  [dim]{result.paper}[/dim]"
        + (f"  seed {result.seed}" if seeded else "") + ("  (quick look)" if result.quick else "")
    )  # fmt: skip
    table = Table("case", "paper", "ours", "unit", "holds", box=None)
    for row in result.rows:
        table.add_row(row.case, row.paper, row.ours, row.unit, _mark(row.holds))
    screen.print(table)
    for item in result.notes:
        paper = f" (paper {item['paper']})" if item["paper"] else ""
        screen.print(f"  [dim]{item['case']}: {item['ours']} {item['unit']}{paper}[/dim]", highlight=False)


def print_card(card: Any) -> None:
    """Print a gait report card: values, people's bands, and a mark at what lies outside."""
    from surefoot.lab.gait import card_rows

    table = Table("measure", "value", "unit", "people", "", box=None)
    table.columns[1].justify = "right"
    for row in card_rows(card):
        style = "red" if row.inside is False else "dim" if row.value == "–" else ""
        table.add_row(row.label, row.value, row.unit, row.band, "outside" if row.inside is False else "", style=style)
    screen.print(table, highlight=False)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text in columns."""
    table = Table(*titles, box=None, padding=(0, 2))
    for row in rows:
        table.add_row(*map(escape, row))
    screen.print(table, highlight=False)


def print_pairs(pairs: dict[str, Any]) -> None:
    """Print names and values, a line each."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    for key, value in pairs.items():
        table.add_row(key.replace("_", " "), text(value))
    screen.print(table)


def print_seeds(results: Mapping[int, Any]) -> None:
    """Print which rows of one experiment hold with which of several seeds."""
    first = next(iter(results.values()))
    screen.print(f"\n[bold]{first.experiment}[/bold]  [dim]with all seeds[/dim]")
    table = Table("case", *(f"seed {seed}" for seed in results), "all", box=None)
    for case, holds in rows_by_seed(results).items():
        table.add_row(case, *map(_mark, holds), _mark(all(one is True for one in holds)))
    screen.print(table)


def rows_by_seed(results: Mapping[int, Any]) -> dict[str, list[bool | None]]:
    """Whether each row holds with each seed, by its case; None where a seed's result has no such row."""
    found: dict[str, list[bool | None]] = {}
    for k, result in enumerate(results.values()):
        for row in result.rows:
            marks = found.setdefault(row.case, [None] * len(results))
            marks[k] = row.holds and marks[k] is not False
    return found


def _mark(holds: bool | None) -> str:
    return "–" if holds is None else "[green]yes[/green]" if holds else "[red]NO[/red]"


class Bar:
    """A progress bar on stderr, shown only to a person; entering gives `tick(label, share)`."""

    def __init__(self, hidden: bool = False) -> None:
        """Make it; hidden, it is never shown."""
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=aside, transient=True,
            disable=hidden or not aside.is_terminal,
        )  # fmt: skip

    def __enter__(self) -> Any:
        """Show it; returns `tick`."""
        self._progress.start()
        task = self._progress.add_task("starting", total=1.0)
        return lambda label, share: self._progress.update(task, description=label, completed=share)

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._progress.stop()

    @contextmanager
    def out_of_sight(self) -> Iterator[None]:
        """Take it away while something is printed inside of a `with` statement."""
        self._progress.stop()
        yield
        self._progress.start()
