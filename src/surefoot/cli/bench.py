"""`surefoot bench`: speed, as ratios measured in one run."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli.options import Json
from surefoot.cli.terminal import Bar, screen


def bench(
    which: Annotated[str | None, typer.Argument(help="studio: the page in place of the simulations.")] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    as_json: Json = False,
) -> int:
    """Measure speed: ratios within one interleaved run; of the studio what a page costs."""
    from surefoot.lab import bench as benches

    measure = benches.choose(which)
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
