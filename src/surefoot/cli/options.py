"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Skill = Annotated[str, typer.Argument(help="Name, character/name, or a file of your own.")]
Character = Annotated[str | None, typer.Option(help="Body: a name or an .xml file; by default the skill's own.")]
Terrain = Annotated[
    str,
    typer.Option(
        help="flat, incline:DEG, slope:DEG, steps:X,H,…, stairs:RISE,RUN,COUNT, rough:SEED,AMPLITUDE, "
        "bumps:SEED,AMPLITUDE, gaps:WIDTH, platform:DEG, seesaw, image:PATH,SIZE,HEIGHT, or an installed one."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[str, typer.Option(help="cpu, or a GPU: cuda, cuda:1, …")]
