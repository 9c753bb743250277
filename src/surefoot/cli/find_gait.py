"""`surefoot find-gait` and `surefoot join-speeds`: walks and runs that move as people do, found by search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.cluster import Ray, sharing
from surefoot.cli.options import Device
from surefoot.cli.terminal import Bar, screen
from surefoot.errors import CommandError


def find_gait(
    kind: Annotated[str, typer.Argument(help="walk, run, style; of a gait of all speeds recovery, uphill, downhill")],
    speed: Annotated[float, typer.Argument(min=0.1, max=8.0, help="in m/s")],
    start: Annotated[str, typer.Option(help="A gait of two or four states a step, or a style.")] = "human/walk",
    save: Annotated[Path, typer.Option(help="Where to write the skill.")] = Path("found.yaml"),
    generations: Annotated[int, typer.Option(min=1, max=10_000)] = 150,
    sigma: Annotated[float, typer.Option(min=1e-4, max=1.0, help="First step, as a share of each range.")] = 0.02,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="Resume from here; default beside --save.")] = None,
    ray: Ray = None,
    device: Device = "cpu",
) -> int:
    """Search for a gait at a speed that moves as people do; resumes after being stopped."""
    from surefoot.cli.simulate import check_place
    from surefoot.engine.devices import using_device
    from surefoot.lab import genbicon_gait_search, walk_search
    from surefoot.lab.parameter_tuning import tuned_name
    from surefoot.skills import load

    if kind not in ("walk", "run", "recovery", "uphill", "downhill", "style"):
        raise CommandError(f"a search is for a walk, a run, recovery, uphill, downhill or style, got {kind!r}")
    begin = load(start)
    by = {"style": ("genbicon",), "walk": ("simbicon", "genbicon")}.get(kind, ("simbicon",))
    if begin.controller not in by:
        raise CommandError(f"a search for {kind} begins with a skill of {' or '.join(by)}, not of {begin.controller}")
    if len(getattr(begin.parameters, "states", ())) == 2:
        begin = walk_search.four_states(begin)
    saved = checkpoint or save.with_suffix(".search.json")
    tuned_name(save)
    for path in (save, saved):
        check_place(path)
    with using_device(device), sharing(ray), Bar() as tick:

        def report(generation: int, best: float) -> None:
            tick(f"generation {generation}, best cost {best:.2f}", generation / generations)

        shared = {"generations": generations, "seed": seed, "sigma": sigma, "checkpoint": saved, "report": report}
        if kind == "style":
            found = genbicon_gait_search.search_style(begin, speed, **shared)  # type: ignore[arg-type]
        elif begin.controller == "genbicon":
            found = genbicon_gait_search.search_walk(begin, speed, **shared)  # type: ignore[arg-type]
        elif kind in ("walk", "run"):
            found = walk_search.find_gait(kind, speed, begin, **shared)  # type: ignore[arg-type]
        else:
            found = walk_search.find_ability(kind, speed, begin, **shared)  # type: ignore[arg-type]
    walk_search.write_found(found.skill, save)
    screen.print(f"best cost {found.cost:.2f} after {found.generations} generations; its mean is written to {save}")
    return 0


def join_speeds(
    gaits: Annotated[list[Path], typer.Argument(help="Skills that `find-gait` wrote, at least two.")],
    usual: Annotated[float, typer.Option(help="Speed in m/s unless another is commanded.")] = 1.3,
    save: Annotated[Path, typer.Option(help="Where to write the skill.")] = Path("joined.yaml"),
) -> int:
    """Make one gait of several that were found at different speeds."""
    from surefoot.cli.simulate import check_place
    from surefoot.lab import walk_search
    from surefoot.lab.parameter_tuning import tuned_name
    from surefoot.skills import load

    tuned_name(save)
    check_place(save)
    skills = {float(skill.parameters.feedback_speed): skill for skill in (load(path) for path in gaits)}
    if len(skills) < 2 or len(skills) < len(gaits):
        raise CommandError("join at least two gaits, each found at another speed")
    walk_search.write_found(walk_search.joined(skills, usual), save)
    screen.print(f"{len(skills)} speeds, {min(skills):g} … {max(skills):g} m/s, written to {save}")
    return 0
