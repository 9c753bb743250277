"""`surefoot bench`: speed, as ratios measured in one run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.table import Table

from surefoot.cli.options import Json
from surefoot.cli.terminal import Bar, screen
from surefoot.errors import UnknownNameError


def bench(
    which: Annotated[str | None, typer.Argument(help="studio: the page in place of the simulations.")] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    as_json: Json = False,
) -> int:
    """Measure speed: ratios within one interleaved run; of the studio what a page costs."""
    measure = _measurements(which)
    with Bar(hidden=as_json) as tick:
        rows = measure(quick, tick)
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}) + "\n")
    else:
        table = Table("measure", "ours", "bar", "holds", box=None)
        for row in rows:
            table.add_row(row["case"], row["ours"], row["bar"], {True: "yes", False: "NO", None: ""}[row["holds"]])
        screen.print(table)
    return 1 if any(row["holds"] is False for row in rows) else 0


def _measurements(which: str | None) -> Callable[[bool, Callable[[str, float], None]], list[dict[str, Any]]]:
    """What measures the benchmark of a name; None is the simulations'."""
    if which is None:
        from surefoot.lab.benchmarks import measure_all

        return measure_all
    if which != "studio":
        raise UnknownNameError("benchmark", which, ["studio"])
    from surefoot.studio.benchmark import measure_studio

    return measure_studio
