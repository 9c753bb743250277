"""The commands that make skills of motion-capture clips in one way: `surefoot imitate` and `surefoot follow`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.cluster import Ray, sharing
from surefoot.cli.options import Device
from surefoot.cli.terminal import Bar, print_pairs, screen
from surefoot.errors import CommandError, SurefootError
from surefoot.motions.findings import Findings

if TYPE_CHECKING:
    from surefoot.motions.clip_reading import ClipSource

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
    clip: Annotated[
        list[Path], typer.Argument(help="A .bvh file, or an .amc with its --asf; several are searched too.")
    ],
    asf: Asf = None,
    character: Annotated[str, typer.Option(help="Body that should walk like it.")] = "human",
    save: Annotated[
        Path | None, typer.Option(help="Where to write the skill, of several a folder; default: the clip's name.")
    ] = None,
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
    ray: Ray = None,
    device: Device = "cpu",
) -> int:
    """Make a skill of a motion-capture clip: read, clean, retarget, find the cycle, tune until it walks."""
    from surefoot.engine.devices import using_device
    from surefoot.lab import clip_skills
    from surefoot.motions.clip_reading import ClipSource
    from surefoot.skills import files

    sources = [ClipSource(one, asf, character, in_place, scale, up, fps, knee_bias) for one in clip]
    if len(sources) > 1:
        if only_read:
            raise CommandError("--only-read takes one clip")
        with using_device(device):
            return _imitate_several(sources, save, (credit, seconds, seed, walk_speed), ray)
    (source,) = sources
    path, name = output_path(source.clip, save)
    with printed_findings() as findings:
        found = clip_skills.read_gait_clip(source, findings)
    if only_read:
        return 0
    search = path.with_suffix(".search")
    with using_device(device), sharing(ray), Bar() as tick:
        done = clip_skills.make_skill(
            found, name, credit, seconds, seed=seed, walk_speed=walk_speed, checkpoint=search, report=tick
        )
    print_pairs(clip_skills.walk_summary(done.walk))
    screen.print(f"  {done.walk.verdict}", highlight=False)
    files.write(done.document, path)
    clip_skills.remove_checkpoint(search)
    screen.print(f"written to {path}")
    return 0 if done.walk.stays_up else 1


def _imitate_several(
    sources: Sequence[ClipSource], save: Path | None, about: tuple[str, float, int, float | None], ray: str | None
) -> int:
    """Search for a skill of each clip; one that cannot be imitated does not stop the others."""
    from surefoot.atomic_file import replace_file
    from surefoot.lab import clip_skills
    from surefoot.lab.pieces import Piece, do_pieces, forget

    folder = save or Path()
    if not folder.is_dir():
        raise CommandError(f"of several clips, --save is a folder, got {folder}")
    outputs = [output_path(source.clip, None) for source in sources]
    paths = [(folder / path).resolve() for path, _ in outputs]
    twice = next((path for i, path in enumerate(paths) if path in paths[:i]), None)
    if twice is not None:
        raise CommandError(f"two of the clips would be written to {twice}: name them differently")
    credit, seconds, seed, walk_speed = about
    keep, status = folder.resolve() / "imitate.pieces", 0
    pieces = [
        Piece(
            source.clip.stem, clip_skills.imitated_clip,
            (replace(source, clip=source.clip.resolve()), name, credit, seconds, seed, walk_speed), keep,
            {"checkpoint": path.with_suffix(".search")},
        )
        for source, path, (_, name) in zip(sources, paths, outputs, strict=True)
    ]  # fmt: skip
    bar = Bar()
    with sharing(ray), bar as tick:
        for outcome in do_pieces(pieces, tick):
            with bar.out_of_sight():
                screen.print(f"[bold]{sources[outcome.place].clip}[/bold]")
                if isinstance(outcome.error, SurefootError):
                    screen.print(f"  [red]{outcome.error}[/red]", highlight=False)
                    status = 1
                    continue
                done, path = outcome.result(), paths[outcome.place]
                _print_findings(Findings(done["said"], done["unsure"]))
                if "refused" in done:
                    screen.print(f"  [red]{done['refused']}[/red]", highlight=False)
                    status = 1
                    continue
                print_pairs(done["summary"])
                replace_file(path, done["text"].encode())
                screen.print(f"written to {path}")
                status = status if done["stays_up"] else 1
    forget(keep)
    return status


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
    seconds: Annotated[float, typer.Option(min=1.0, max=3600.0, help="How long a cycle must be followed.")] = 60.0,
    only_read: OnlyRead = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the disturbances.")] = 0,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Make a skill that follows a clip frame by frame with a quadratic program; nothing is searched for."""
    from surefoot.lab.clip_following import make_following_skill, read_clip_to_follow
    from surefoot.motions.clip_reading import ClipSource
    from surefoot.skills import files

    path, _ = output_path(clip, save)
    source = ClipSource(clip, asf, character, False, scale, up, fps, knee_bias)
    with printed_findings() as findings:
        found = read_clip_to_follow(source, once, findings)
    if only_read:
        return 0
    with Bar() as tick:
        done = make_following_skill(found, path, credit, seconds, seed=seed, report=tick)
    screen.print(f"  {done.verdict}", highlight=False)
    files.write(done.document, path)
    screen.print(f"written to {path} and {path.with_suffix('.npz').name} beside it")
    return 0 if done.verdict.stays_up else 1


def output_path(clip: Path, save: Path | None) -> tuple[Path, str]:
    """Where a skill is written, and its name."""
    from surefoot.cli.simulate import check_place
    from surefoot.lab.parameter_tuning import skill_name, tuned_name

    path = save or Path(f"{skill_name(clip, 'captured')}.yaml")
    name = tuned_name(path)
    check_place(path)
    return path, name


@contextmanager
def printed_findings() -> Iterator[Findings]:
    """Findings that are printed in the end, also if the clip is refused: then as far as it was understood."""
    findings = Findings()
    try:
        yield findings
    finally:
        _print_findings(findings)


def _print_findings(findings: Findings) -> None:
    """Print what was understood of a clip."""
    for line in findings.understood:
        screen.print(f"  {line}", highlight=False)
    for line in findings.unsure:
        screen.print(f"  [yellow]unsure:[/yellow] {line}", highlight=False)
