"""`surefoot reproduce`: the papers' claims, each beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.cluster import Ray, sharing
from surefoot.cli.options import Device
from surefoot.cli.terminal import Bar, print_result, print_seeds, screen
from surefoot.errors import CommandError


def reproduce(
    experiments: Annotated[list[str] | None, typer.Argument(help="Names, or a paper's name; none is all.")] = None,
    seed: Annotated[int, typer.Option(help="Of every replica, phase and course.")] = 0,
    seeds: Annotated[
        str | None, typer.Option(help="Several in its place, as 0,77,1; --out gets a folder for each.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look; shorter than the claims ask for.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results to this file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep figures and raw runs here; finished ones are resumed.")] = None,
    clips: Annotated[
        Path | None, typer.Option(help="Folder of motion-capture clips; default: what SUREFOOT_CLIPS names.")
    ] = None,
    ray: Ray = None,
    device: Device = "cpu",
) -> int:
    """Reproduce the papers' tables, figures and claims; say which of ours hold."""
    from surefoot.atomic_file import replace_file
    from surefoot.engine.devices import using_device
    from surefoot.lab.experiment import Result, Setting, make_folder, run_experiments
    from surefoot.lab.reproduce import select

    chosen = select(experiments or [])
    each = [seed] if seeds is None else _seeds(seeds)
    if min(each) < 0:
        raise CommandError(f"a seed is not negative, got {min(each)}")
    if clips and not clips.is_dir():
        raise CommandError(f"--clips takes a folder of motion-capture clips, got {clips}")
    folders = {own: out and (out if seeds is None else out / f"seed-{own}") for own in each}
    for folder in filter(None, folders.values()):
        make_folder(folder)
    if json_file:
        replace_file(json_file, b"[]")  # an unwritable file is known before the work is done
    cases = [(one, Setting(own, quick, folders[own], clips=clips)) for one in chosen for own in each]
    found: dict[int, Result] = {}
    bar = Bar()
    with using_device(device), sharing(ray), bar as tick:
        for place, result in run_experiments(cases, tick):
            found[place] = result
            if json_file:
                finished = [found[i].as_json() for i in sorted(found)]
                replace_file(json_file, json.dumps(finished, indent=1).encode())
            first = place - place % len(each)
            own = {seed: found[first + k] for k, seed in enumerate(each) if first + k in found}
            with bar.out_of_sight():
                print_result(result, seeds is not None)
                if len(each) > 1 and len(own) == len(each):
                    print_seeds(own)
    held = sum(all(found[i + k].holds for k in range(len(each))) for i in range(0, len(cases), len(each)))
    told = f" with all of {len(each)} seeds" if len(each) > 1 else ""
    screen.print(f"{held} of {len(chosen)} experiments hold{told}" + ("  (quick look)" if quick else ""))
    return 0 if held == len(chosen) else 1


def _seeds(text: str) -> list[int]:
    """Seeds written as 0,77,1."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or len(set(found)) < len(found):
        raise CommandError(f"--seeds takes different whole numbers, as 0,77,1, got {text!r}")
    return found
