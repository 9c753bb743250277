"""`surefoot tune`: a search for better parameters of a skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.cluster import Ray, sharing
from surefoot.cli.options import Device, Skill
from surefoot.cli.terminal import Bar, screen
from surefoot.errors import CommandError


def tune(
    skill: Skill,
    parameter: Annotated[
        list[str] | None, typer.Option(help="PATH=LOW:HIGH, e.g. states.1.cd=0:4; repeatable.")
    ] = None,
    save: Annotated[Path, typer.Option(help="Where to write the tuned skill.")] = Path("tuned.yaml"),
    generations: Annotated[int, typer.Option(min=1, max=10_000)] = 30,
    seconds: Annotated[float, typer.Option(min=1.0, max=600.0, help="How long it must stay up.")] = 15.0,
    replicas: Annotated[int, typer.Option(min=1, max=100)] = 3,
    speed: Annotated[float | None, typer.Option(help="Wanted speed in m/s.")] = None,
    push: Annotated[list[float] | None, typer.Option(help="Push along x to bear in N; repeatable.")] = None,
    flight: Annotated[float | None, typer.Option(help="Least share of the time in the air, in 3D.")] = None,
    terrain: Annotated[str, typer.Option()] = "flat",
    near: Annotated[float, typer.Option(help="Cost of leaving the present values.")] = 0.05,
    seed: Annotated[int, typer.Option()] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="Resume from here; default beside --save.")] = None,
    ray: Ray = None,
    candidates: Annotated[
        int | None, typer.Option(min=4, max=1_000_000, help="Of each generation; by default CMA-ES chooses.")
    ] = None,
    device: Device = "cpu",
    timestep: Annotated[
        float | None,
        typer.Option(min=1e-5, max=0.01, help="Physics step to search with in seconds; default: the body's own."),
    ] = None,
) -> int:
    """Search for better parameters by CMA-ES; resumes after being stopped."""
    from surefoot.cli.simulate import check_place
    from surefoot.engine.devices import using_device
    from surefoot.lab.parameter_tuning import Objective, bounds_of, check_bounds, tuned_name, write_tuned
    from surefoot.lab.parameter_tuning import tune as search
    from surefoot.skills import load
    from surefoot.terrains import load as load_terrain

    begin = load(skill)
    objective = Objective(seconds, replicas, speed, None, tuple(push or (0.0,)), terrain, flight, timestep)
    saved = checkpoint or save.with_suffix(".search.json")
    bounds = bounds_of(parameter or [])
    if seed < 0 or not 0.0 <= near < 1e6:
        raise CommandError("--seed and --near are numbers that are not negative")
    tuned_name(save)
    for path in (save, saved):
        check_place(path)
    check_bounds(begin, bounds)
    load_terrain(terrain)
    with using_device(device), sharing(ray), Bar() as tick:
        tuned = search(
            begin, bounds, [objective], generations=generations, seed=seed, near=near, popsize=candidates,
            checkpoint=saved, report=lambda g, best: tick(f"generation {g}, best cost {best:.4f}", g / generations),
        )  # fmt: skip
    write_tuned(skill, tuned.values, save)
    for name, value in tuned.values.items():
        screen.print(f"{name} = {value:.4f}")
    screen.print(f"cost {tuned.cost:.4f} after {tuned.generations} generations; written to {save}")
    return 0
