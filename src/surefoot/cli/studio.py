"""`surefoot studio`: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.options import Character, Skill, Terrain


def studio(
    skill: Skill = "human/fast-walk",
    character: Character = None,
    terrain: Terrain = "flat",
    port: Annotated[int, typer.Option(help="The first to try; the next free one is taken.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on; others than 127.0.0.1 let others in.")] = "127.0.0.1",
    folder: Annotated[Path, typer.Option(help="Files are written there and nowhere else.")] = Path(),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> int:
    """See it walk, push it, edit it, save it: a page in the browser. Ctrl-C ends it."""
    from surefoot.studio.app import run_studio

    run_studio(
        skill, character, terrain, host=host, port=port, folder=folder, browser=not no_browser, say=typer.echo
    )  # fmt: skip
    return 0
