"""The commands that make skills of motion-capture clips: `surefoot imitate` and `surefoot follow`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.terminal import Bar, print_pairs, screen

Clip = Annotated[Path, typer.Argument(help="A .bvh file, or an .amc with its --asf.")]
Asf = Annotated[Path | None, typer.Option("--asf", "--amc", help="Skeleton of an .amc clip.")]
Save = Annotated[Path | None, typer.Option(help="Where to write the skill; default: the clip's name.")]
Scale = Annotated[float | None, typer.Option(help="Metres per unit, where the guess is wrong.")]
Up = Annotated[str | None, typer.Option(help="The file's axis that points up: x, y, z, -x, -y, -z.")]
Fps = Annotated[float | None, typer.Option(help="True frames per second.")]
Credit = Annotated[str, typer.Option(help="Line that the clip's licence asks for; kept in the skill.")]
KneeBias = Annotated[
    float, typer.Option(min=0.0, max=30.0, help="Degrees by which the clip's skeleton bends all knees too much.")
]
OnlyRead = Annotated[bool, typer.Option("--only-read", help="Say what was understood, and stop there.")]


def imitate_clip(
    clip: Clip,
    asf: Asf = None,
    character: Annotated[str, typer.Option(help="Body that shall walk like it.")] = "human",
    save: Save = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Step on the spot, without the clip's travel.")] = False,
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    credit: Credit = "",
    seconds: Annotated[float, typer.Option(min=5.0, max=3600.0, help="How long it must walk in the end.")] = 60.0,
    only_read: OnlyRead = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    walk_speed: Annotated[
        float | None,
        typer.Option(min=0.5, max=2.0, help="Walk as people do at this speed [m/s], with push-off: a longer search."),
    ] = None,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Make a skill of a motion-capture clip: read, clean, retarget, find the cycle, tune until it walks."""
    from surefoot.lab import clip_skills
    from surefoot.skills import files

    path, name = output_path(clip, save)
    source = clip_skills.ClipSource(clip, asf, character, in_place, scale, up, fps, knee_bias)
    found = clip_skills.read_gait_clip(source)
    print_findings(found.said, found.unsure)
    if only_read:
        return 0
    documents, cycle = clip_skills.untuned_skills(found, name, credit)
    search = path.with_suffix(".search")
    with Bar() as tick:
        if walk_speed is None:
            done = clip_skills.make_imitation_skill(
                documents, cycle, seconds, seed=seed, checkpoint=search, report=tick
            )
        else:
            done = clip_skills.make_walking_skill(
                found, name, credit, cycle, walk_speed, seconds, seed=seed, checkpoint=search, report=tick
            )
    print_pairs(clip_skills.walk_summary(done.walk))
    files.write(done.document, path)
    clip_skills.remove_checkpoint(search)
    screen.print(f"written to {path}")
    return 0 if done.walk.stays_up else 1


def follow_clip(
    clip: Clip,
    asf: Asf = None,
    character: Annotated[str, typer.Option(help="Body: human_toes, human or planar_arms.")] = "human_toes",
    save: Save = None,
    once: Annotated[bool, typer.Option("--once", help="From beginning to end; by default a cycle is looped.")] = False,
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    credit: Credit = "",
    seconds: Annotated[float, typer.Option(min=1.0, max=3600.0, help="How long a cycle is tried.")] = 20.0,
    only_read: OnlyRead = False,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Make a skill that follows a clip frame by frame with a quadratic program; nothing is searched for."""
    from surefoot.lab import clip_skills
    from surefoot.skills import files

    path, _ = output_path(clip, save)
    source = clip_skills.ClipSource(clip, asf, character, False, scale, up, fps, knee_bias)
    found = clip_skills.read_clip_to_follow(source, once)
    print_findings(found.said, found.unsure)
    if only_read:
        return 0
    with Bar() as tick:
        document, followed = clip_skills.make_following_skill(found, path, credit, seconds, tick)
    screen.print(f"  {followed}", highlight=False)
    files.write(document, path)
    screen.print(f"written to {path} and {path.with_suffix('.npz').name} beside it")
    return 0 if followed.stays_up else 1


def output_path(clip: Path, save: Path | None) -> tuple[Path, str]:
    """Where a skill is written, and its name."""
    from surefoot.cli.simulate import check_place
    from surefoot.lab.parameter_tuning import skill_name, tuned_name

    path = save or Path(f"{skill_name(clip, 'captured')}.yaml")
    name = tuned_name(path)
    check_place(path)
    return path, name


def print_findings(said: Sequence[str], unsure: Sequence[str]) -> None:
    """Print what was understood of a clip."""
    for line in said:
        screen.print(f"  {line}", highlight=False)
    for line in unsure:
        screen.print(f"  [yellow]unsure:[/yellow] {line}", highlight=False)
