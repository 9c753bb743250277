"""`surefoot find-gait` and `surefoot join-speeds`: walks and runs that move as people do, found by search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.terminal import Bar, screen
from surefoot.errors import CommandError


def find_gait(
    kind: Annotated[str, typer.Argument(help="walk, run; or of a gait of all speeds: recovery, uphill, downhill")],
    speed: Annotated[float, typer.Argument(min=0.1, max=8.0, help="in m/s")],
    start: Annotated[str, typer.Option(help="A gait of four states a step, or of two, to begin with.")] = "human/walk",
    save: Annotated[Path, typer.Option(help="Where to write the skill.")] = Path("found.yaml"),
    generations: Annotated[int, typer.Option(min=1, max=10_000)] = 150,
    sigma: Annotated[float, typer.Option(min=1e-4, max=1.0, help="First step, as a share of each range.")] = 0.02,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="Resume from here; default beside --save.")] = None,
) -> int:
    """Search for a gait at a speed that moves as people do; resumes after being stopped."""
    from surefoot.cli.simulate import check_place
    from surefoot.lab import walk_search
    from surefoot.lab.parameter_tuning import tuned_name
    from surefoot.skills import load

    if kind not in ("walk", "run", "recovery", "uphill", "downhill"):
        raise CommandError(f"a search is for a walk, a run, recovery, uphill or downhill, got {kind!r}")
    begin = load(start)
    if len(getattr(begin.parameters, "states", ())) == 2:
        begin = walk_search.four_states(begin)
    saved = checkpoint or save.with_suffix(".search.json")
    tuned_name(save)
    for path in (save, saved):
        check_place(path)
    search = walk_search.find_gait if kind in ("walk", "run") else walk_search.find_ability
    with Bar() as tick:
        found = search(
            kind, speed, begin, generations=generations, seed=seed, sigma=sigma,  # type: ignore[arg-type]
            checkpoint=saved, report=lambda g, best: tick(f"generation {g}, best cost {best:.2f}", g / generations),
        )  # fmt: skip
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
