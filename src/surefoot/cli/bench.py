"""`surefoot bench`: speed, as ratios measured in one run."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from surefoot.cli.options import Json
from surefoot.cli.terminal import Bar, screen
from surefoot.errors import CommandError, UnknownNameError


def bench(
    which: Annotated[
        str | None, typer.Argument(help="studio: the page; gpu: populations on a GPU; default: the simulations.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    as_json: Json = False,
    device: Annotated[str, typer.Option(help="GPU that `bench gpu` measures: cuda, cuda:1, …")] = "cuda",
    save_plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw steps a second by the number of worlds; with `gpu`.")
    ] = None,
) -> int:
    """Measure speed: ratios within one interleaved run; of the studio what a page costs; of a GPU what it does."""
    measure = _measurements(which, device)
    if save_plot and which != "gpu":
        raise CommandError("--plot goes with `surefoot bench gpu`")
    with Bar(hidden=as_json) as tick:
        rows = measure(quick, tick)
    if save_plot:
        from surefoot.lab.figures import steps_by_worlds

        steps_by_worlds(save_plot, [row for row in rows if "worlds" in row])
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}) + "\n")
    else:
        table = Table("measure", "ours", "bar", "holds", box=None)
        for row in rows:
            table.add_row(row["case"], row["ours"], row["bar"], {True: "yes", False: "NO", None: ""}[row["holds"]])
        screen.print(table)
    return 1 if any(row["holds"] is False for row in rows) else 0


def _measurements(
    which: str | None, device: str
) -> Callable[[bool, Callable[[str, float], None]], list[dict[str, Any]]]:
    """What measures the benchmark of a name; None is the simulations'."""
    if which is None:
        from surefoot.lab.benchmarks import measure_all

        return measure_all
    if which == "gpu":
        from surefoot.engine.gpu.physics import check_available
        from surefoot.lab import gpu_benchmarks

        check_available(device)
        return functools.partial(gpu_benchmarks.measure_all, device)
    if which != "studio":
        raise UnknownNameError("benchmark", which, ["gpu", "studio"])
    from surefoot.studio.benchmark import measure_studio

    return measure_studio
