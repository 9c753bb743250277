"""What a person sees in the terminal: tables of results, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

_WIDE = 1000  # columns of what goes to a file or another program: a row of a table is one line there


def _console(stream: TextIO, to_stderr: bool = False) -> Console:
    return Console(stderr=to_stderr, width=None if stream.isatty() else _WIDE)


screen, aside = _console(sys.stdout), _console(sys.stderr, to_stderr=True)


def labelled(tick: Callable[[str, float], None], label: str) -> Callable[[str, float], None]:
    """The same tick with a label before every text."""
    return lambda text, share: tick(f"{label}: {text}", share)


def text(value: Any) -> str:
    """A value of a summary as a person reads it."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return ", ".join(map(text, value)) if isinstance(value, list) else str(value)


def print_result(result: Any) -> None:
    """Print an experiment's rows and what it shows beside them."""
    screen.print(
        f"\n[bold]{result.experiment}[/bold]  [dim]{result.paper}[/dim]" + ("  (quick look)" if result.quick else "")
    )
    table = Table("case", "paper", "ours", "unit", "holds", box=None)
    for row in result.rows:
        table.add_row(row.case, row.paper, row.ours, row.unit, "[green]yes[/green]" if row.holds else "[red]NO[/red]")
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
