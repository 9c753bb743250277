"""`surefoot learn`: a skill of a motion-capture clip, by whatever way does it best."""

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


def learn(
    clip: Clip,
    asf: Asf = None,
    character: Annotated[str, typer.Option(help="Body that should move like it.")] = "human",
    save: Save = None,
    once: Annotated[bool, typer.Option("--once", help="From beginning to end; by default a gait is looped.")] = False,
    way: Annotated[
        list[str] | None, typer.Option(help="Try only this way, called as its command is; repeatable.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Step on the spot, without the clip's travel.")] = False,
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    credit: Credit = "",
    seconds: Annotated[float, typer.Option(min=5.0, max=3600.0, help="How long a gait must last in the end.")] = 60.0,
    only_read: OnlyRead = False,
    seed: Annotated[int, typer.Option(min=0, help="Of searches and disturbances.")] = 0,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Make a skill of a clip by every way that fits it, judge each by the same disturbed runs, and keep the best."""
    from surefoot.characters import load as load_character
    from surefoot.lab.clip_learning import Wish, choose_ways, learn_clip
    from surefoot.lab.clip_skills import remove_checkpoint
    from surefoot.motions.clip_reading import ClipSource, read_clip_for

    path, _ = output_path(clip, save)
    ways, search = choose_ways(way or ()), path.with_suffix(".search")
    source = ClipSource(clip, asf, character, in_place, scale, up, fps, knee_bias)
    with printed_findings() as findings:
        found = read_clip_for(load_character(character), source, findings)
        if found.not_cyclic is not None:
            findings.add(str(found.not_cyclic))
    wish = Wish(path, credit, once, seconds, seed, search)
    if only_read:
        for one in ways:
            reason = one.misfit(found, wish)
            screen.print(f"  {one.name}: {f'does not fit, {reason}' if reason else 'fits'}", highlight=False)
        return 0
    with Bar() as tick:
        done = learn_clip(found, wish, ways, tick)
    for attempt in done.attempts:
        screen.print(f"  {attempt}", highlight=False)
    screen.print(f"  {done.why}", highlight=False)
    remove_checkpoint(search)
    screen.print(f"written to {path}")
    return 0 if done.verdict.stays_up else 1
