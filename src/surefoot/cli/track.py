"""The command that makes a tracking skill of a motion-capture clip: `surefoot track`."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.clip_commands import (
    Asf,
    Clip,
    Credit,
    Fps,
    KneeBias,
    OnlyRead,
    Save,
    Scale,
    Up,
    output_path,
    printed_findings,
)
from surefoot.cli.terminal import Bar, screen


def track_clip(
    clip: Clip,
    asf: Asf = None,
    save: Save = None,
    once: Annotated[bool, typer.Option("--once", help="From beginning to end; a clip that repeats is looped.")] = False,
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    credit: Credit = "",
    seed: Annotated[int, typer.Option(min=0, help="Of samples and disturbances.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Of learned feedback at most.")] = 6,
    only_read: OnlyRead = False,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Make a skill that does what a clip shows: reconstruct it by sampling, then learn feedback that keeps it up."""
    from surefoot.characters import load as load_character
    from surefoot.lab import tracking_skill
    from surefoot.motions.clip_reading import ClipSource, read_clip_for

    path, name = output_path(clip, save)
    source = ClipSource(clip, asf, "human", False, scale, up, fps, knee_bias)
    with printed_findings() as findings:
        read = read_clip_for(load_character(source.character), source, findings)
        on_body = tracking_skill.clip_on_body(read, once)
        findings.add("a cycle of it is looped" if on_body.loops else "it is followed once, from beginning to end")
    if only_read:
        return 0
    search = path.with_suffix(".search")
    with Bar() as tick:
        done = tracking_skill.make_tracking_skill(on_body, path, name, clip.stem, credit, seed, tick, search, rounds)
    for line in done.notes:
        screen.print(f"  [yellow]unsure:[/yellow] {line}", highlight=False)
    screen.print(f"  {done.measure}", highlight=False)
    tracking_skill.remove_search(search)
    screen.print(f"written to {path} and {path.with_suffix('.npz').name} beside it")
    return 0 if done.measure.stays_up and not done.notes else 1
