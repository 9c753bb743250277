"""The command line. Exit status: 0 did it, 1 fell or a figure does not hold, 2 bad input (one clear line)."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli.clip_commands import follow_clip, imitate_clip
from surefoot.cli.terminal import Bar, labelled, print_pairs, print_result, screen
from surefoot.errors import CommandError, SurefootError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

Skill = Annotated[str, typer.Argument(help="Name, character/name, or a file of your own.")]
_TERRAINS = (
    "flat, incline:DEG, slope:DEG, steps:X,H,…, stairs:RISE,RUN,COUNT, rough:SEED,AMPLITUDE, "
    "bumps:SEED,AMPLITUDE, gaps:WIDTH, platform:DEG, seesaw, image:PATH,SIZE,HEIGHT"
)
_COMMANDS = (
    "NAME=VALUE: speed in m/s; heading, lean, sideways, width, slope, lift in degrees; of a biped skill sideways in "
    "m/s, step_time in s, step_height and step_width in m, stop 0 or 1; of a stepping skill crouch, and pull in N; "
    "repeatable."
)
_TASKS = "NAME:ARGUMENTS, e.g. follow-path:2,0,4,2,speed=0.6 (metres); for skills that any biped can do; repeatable."


def main() -> None:
    """Run the command line; no input makes it print a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    try:
        status = app(standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:
        explain = getattr(error, "format_message", None)  # typer's own usage errors have it
        if explain is None and not isinstance(error, SurefootError):
            raise
        message = explain() if explain else str(error)
        if message:  # without arguments typer has shown its help already
            sys.stderr.write(f"surefoot: {' '.join(message.split())}\n")
        sys.exit(2)


@app.command()
def simulate(
    skill: Skill = "walk",
    character: Annotated[str | None, typer.Option(help="Body; by default the skill's own, planar for a name.")] = None,
    terrain: Annotated[str, typer.Option(help=_TERRAINS)] = "flat",
    seconds: Annotated[float, typer.Option(help="How long.")] = 10.0,
    speed: Annotated[float | None, typer.Option(help="Commanded speed in m/s.")] = None,
    command: Annotated[list[str] | None, typer.Option(help=_COMMANDS)] = None,
    push: Annotated[list[str] | None, typer.Option(help="T,FX,FY,FZ,DURATION in s and N; repeatable.")] = None,
    switch: Annotated[list[str] | None, typer.Option(help="T:SKILL; repeatable.")] = None,
    task: Annotated[list[str] | None, typer.Option(help=_TASKS)] = None,
    proportion: Annotated[
        list[str] | None, typer.Option(help="NAME=FACTOR, e.g. thigh_length=1.1; repeatable.")
    ] = None,
    backpack: Annotated[float, typer.Option(help="Mass on its back in kg.")] = 0.0,
    self_collision: Annotated[
        bool, typer.Option("--self-collision", help="Its parts collide with each other.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    fps: Annotated[float, typer.Option(help="Recorded frames per second.")] = 100.0,
    save: Annotated[
        list[Path] | None, typer.Option(help=".npz .csv .png .gif .mp4 .bvh .glb .usda .html; repeatable.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Save it without its travel and turn.")] = False,
    loop: Annotated[bool, typer.Option("--loop", help="Save one whole cycle that ends as it began.")] = False,
    skinned: Annotated[bool, typer.Option("--skinned", help="Save a .glb as one skin over a skeleton.")] = False,
    view: Annotated[bool, typer.Option("--view", help="Watch it in MuJoCo's viewer.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> int:
    """Simulate a skill, print what it did, save what was asked for."""
    from surefoot.cli import simulate

    options = simulate.Options(
        skill=skill, character=character, terrain=terrain, seconds=seconds,
        commands=simulate.commands_of(command or [], speed), pushes=push or [], switches=switch or [],
        proportions=simulate.factors_of(proportion or []), backpack=backpack, self_collision=self_collision,
        seed=seed, fps=fps, save=save or [], in_place=in_place, loop=loop, tasks=task or [],
        skinned=skinned,
    )  # fmt: skip
    if view:
        simulate.watch(options)
        return 0
    with Bar(hidden=as_json) as tick:
        summary = simulate.simulate(options, tick)
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_pairs(summary)
    undone = any(one["status"] != "done" for one in summary.get("tasks", ()))
    return 1 if summary["fallen_at"] is not None or undone else 0


@app.command("list")
def list_all(as_json: Annotated[bool, typer.Option("--json")] = False) -> int:
    """List characters, skills, terrains and experiments."""
    from surefoot import characters, skills, tasks, terrains
    from surefoot.lab.reproduce import experiments
    from surefoot.skills import load

    found = {
        "characters": list(characters.names()),
        "skills": {name: load(name).summary for name in skills.names()},
        "terrains": list(terrains.names()),
        "tasks": list(tasks.names()),
        "experiments": list(experiments()),
    }
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    for kind, names in found.items():
        screen.print(f"[bold]{kind}[/bold]")
        for name in names:
            screen.print(f"  {name}" + (f"  [dim]{names[name]}[/dim]" if isinstance(names, dict) else ""))
    return 0


@app.command()
def reproduce(
    experiments: Annotated[list[str] | None, typer.Argument(help="Names, or a paper's name; none is all.")] = None,
    seed: Annotated[int, typer.Option(help="Of every replica, phase and course.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A first look; shorter than the claims ask for.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results to this file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep figures and raw runs here; finished ones are resumed.")] = None,
    clips: Annotated[
        Path | None, typer.Option(help="Folder of motion-capture clips; default: what SUREFOOT_CLIPS names.")
    ] = None,
) -> int:
    """Reproduce the papers' tables, figures and claims; say which of ours hold."""
    from surefoot.atomic_file import replace_file
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
        with Bar() as tick:
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


@app.command()
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
) -> int:
    """Search for better parameters by CMA-ES; resumes after being stopped."""
    from surefoot.cli.simulate import check_place
    from surefoot.lab.parameter_tuning import Objective, bounds_of, check_bounds, tuned_name, write_tuned
    from surefoot.lab.parameter_tuning import tune as search
    from surefoot.skills import load

    begin = load(skill)
    objective = Objective(seconds, replicas, speed, None, tuple(push or (0.0,)), terrain, flight)
    saved = checkpoint or save.with_suffix(".search.json")
    bounds = bounds_of(parameter or [])
    if seed < 0 or not 0.0 <= near < 1e6:
        raise CommandError("--seed and --near are numbers that are not negative")
    tuned_name(save)
    for path in (save, saved):
        check_place(path)
    check_bounds(begin, bounds)
    with Bar() as tick:
        tuned = search(
            begin, bounds, [objective], generations=generations, seed=seed, near=near,
            checkpoint=saved, report=lambda g, best: tick(f"generation {g}, best cost {best:.4f}", g / generations),
        )  # fmt: skip
    write_tuned(skill, tuned.values, save)
    for name, value in tuned.values.items():
        screen.print(f"{name} = {value:.4f}")
    screen.print(f"cost {tuned.cost:.4f} after {tuned.generations} generations; written to {save}")
    return 0


app.command("imitate")(imitate_clip)
app.command("follow")(follow_clip)


@app.command()
def studio(
    skill: Skill = "human/fast-walk",
    character: Annotated[str | None, typer.Option(help="Body; by default the skill's own.")] = None,
    terrain: Annotated[str, typer.Option(help=_TERRAINS)] = "flat",
    port: Annotated[int, typer.Option(help="The first to try; the next free one is taken.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on; others than 127.0.0.1 let others in.")] = "127.0.0.1",
    folder: Annotated[Path, typer.Option(help="Files are written there and nowhere else.")] = Path(),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> int:
    """See it walk, push it, edit it, save it: a page in the browser. Ctrl-C ends it."""
    from surefoot.studio.app import run_studio

    run_studio(
        skill, character, terrain, host=host, port=port, folder=folder, browser=not no_browser, say=typer.echo
    )  # fmt: skip
    return 0


@app.command()
def bench(
    which: Annotated[str | None, typer.Argument(help="studio: the page in place of the simulations.")] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> int:
    """Measure speed: ratios within one interleaved run; of the studio what a page costs."""
    from surefoot.lab import bench as benches

    measure = benches.choose(which)
    with Bar(hidden=as_json) as tick:
        rows = measure(quick, tick)
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}) + "\n")
    else:
        table = Table("measure", "ours", "bar", "holds", box=None)
        for row in rows:
            table.add_row(row["case"], row["ours"], row["bar"], {True: "yes", False: "NO", None: ""}[row["holds"]])
        screen.print(table)
    return 1 if any(row["holds"] is False for row in rows) else 0
