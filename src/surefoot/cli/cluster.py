"""`--ray`: work that is shared by a Ray cluster, in several commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from surefoot.cli.terminal import aside

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray", metavar="[ADDRESS]",
        help="Share the work by Ray: started on this machine, or joined at HOST:PORT (auto: one that runs here).",
    ),
]  # fmt: skip
_LOCAL = "local"
_ADDRESS = re.compile(rf"{_LOCAL}|auto|\w+://\S+|\S+:\d+")


def name_local_cluster(arguments: Sequence[str]) -> list[str]:
    """Arguments of a command in which a `--ray` that no address follows is told to start a cluster."""
    found = list(arguments)
    for i in reversed([i for i, own in enumerate(found) if own == "--ray"]):
        if i + 1 == len(found) or not _ADDRESS.fullmatch(found[i + 1]):
            found.insert(i + 1, _LOCAL)
    return found


@contextmanager
def sharing(ray: str | None) -> Iterator[None]:
    """Share the pieces of what is done inside of a `with` statement, if the option was given."""
    if ray is None:
        yield
        return
    from surefoot.lab.ray_cluster import ray_workers

    with ray_workers(ray) as workers:
        nodes = workers.nodes()
        page = f", http://{workers.dashboard}" if workers.dashboard else ""
        if page and workers.token:
            page += f" (its token is {workers.token})"
        aside.print(
            f"Ray: {sum(nodes)} cores of {len(nodes)} machine{'s' * (len(nodes) != 1)}{page}",
            highlight=False,
            soft_wrap=True,
        )
        yield
