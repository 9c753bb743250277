"""`surefoot reproduce`: the papers' claims, each beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.options import Device
from surefoot.cli.terminal import Bar, labelled, print_result, screen
from surefoot.errors import CommandError


def reproduce(
    experiments: Annotated[list[str] | None, typer.Argument(help="Names, or a paper's name; none is all.")] = None,
    seed: Annotated[int, typer.Option(help="Of every replica, phase and course.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A first look; shorter than the claims ask for.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results to this file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep figures and raw runs here; finished ones are resumed.")] = None,
    clips: Annotated[
        Path | None, typer.Option(help="Folder of motion-capture clips; default: what SUREFOOT_CLIPS names.")
    ] = None,
    device: Device = "cpu",
) -> int:
    """Reproduce the papers' tables, figures and claims; say which of ours hold."""
    from surefoot.atomic_file import replace_file
    from surefoot.engine.devices import using_device
    from surefoot.lab.experiment import Setting, make_folder, run_experiment
    from surefoot.lab.reproduce import select

    chosen = select(experiments or [])
    if seed < 0:
        raise CommandError(f"a seed is not negative, got {seed}")
    if clips and not clips.is_dir():
        raise CommandError(f"--clips takes a folder of motion-capture clips, got {clips}")
    if out:
        make_folder(out)
    if json_file:
        replace_file(json_file, b"[]")  # an unwritable file is known before the work is done
    results = []
    for number, experiment in enumerate(chosen):
        label = f"[{number + 1}/{len(chosen)}] {experiment.name}"
        with using_device(device), Bar() as tick:
            result = run_experiment(experiment, Setting(seed, quick, out, labelled(tick, label), clips))
        results.append(result)
        print_result(result)
        if json_file:
            replace_file(json_file, json.dumps([r.as_json() for r in results], indent=1).encode())
    missing = [r.experiment for r in results if not r.holds]
    screen.print(
        f"{len(results) - len(missing)} of {len(results)} experiments hold" + ("  (quick look)" if quick else "")
    )
    return 1 if missing else 0
