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
    print_findings,
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
    from surefoot.lab import clip_skills, tracking_skill

    path, name = output_path(clip, save)
    source = clip_skills.ClipSource(clip, asf, "human", False, scale, up, fps, knee_bias)
    read = clip_skills.read_clip_to_follow(source, once)
    loops = read.loops and tracking_skill.repeats(read.found, source.character)
    print_findings(read.said[:-1], read.unsure)
    how = "a cycle of it is looped" if loops else "it is followed once, from beginning to end"
    screen.print(f"  {how}", highlight=False)
    if only_read:
        return 0
    on_body = tracking_skill.ClipOnBody(read.found, source.character, loops)
    search = path.with_suffix(".search")
    with Bar() as tick:
        done = tracking_skill.make_tracking_skill(on_body, path, name, clip.stem, credit, seed, tick, search, rounds)
    for line in done.notes:
        screen.print(f"  [yellow]unsure:[/yellow] {line}", highlight=False)
    screen.print(f"  {done.measure}", highlight=False)
    tracking_skill.remove_search(search)
    screen.print(f"written to {path} and {path.with_suffix('.npz').name} beside it")
    return 0 if done.measure.stays_up and not done.notes else 1
