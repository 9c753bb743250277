"""The command line. Exit status: 0 did it, 1 fell or a figure does not hold, 2 bad input (one clear line)."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli.bench import bench
from surefoot.cli.clip_commands import follow_clip, imitate_clip
from surefoot.cli.list import list_all
from surefoot.cli.options import Character, Json, Skill, Terrain
from surefoot.cli.reproduce import reproduce
from surefoot.cli.studio import studio
from surefoot.cli.terminal import Bar, print_pairs
from surefoot.cli.tune import tune
from surefoot.errors import SurefootError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

_COMMANDS = (
    "NAME=VALUE: speed in m/s; heading, lean, sideways, width, slope, lift in degrees; of a biped skill sideways in "
    "m/s, step_time in s, step_height and step_width in m, stop 0 or 1; of a stepping skill crouch, and pull in N; "
    "repeatable."
)
_TASKS = "NAME:ARGUMENTS, e.g. follow-path:2,0,4,2,speed=0.6 (metres); for skills that any biped can do; repeatable."


def main() -> None:
    """Run the command line; no input makes it print a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger("surefoot.native.compiling").setLevel(logging.INFO)  # what takes seconds is announced
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
    character: Character = None,
    terrain: Terrain = "flat",
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
    as_json: Json = False,
) -> int:
    """Simulate a skill, print what it did, save what was asked for."""
    from surefoot.cli import simulate as running

    options = running.Options(
        skill=skill, character=character, terrain=terrain, seconds=seconds,
        commands=running.commands_of(command or [], speed), pushes=push or [], switches=switch or [],
        proportions=running.factors_of(proportion or []), backpack=backpack, self_collision=self_collision,
        seed=seed, fps=fps, save=save or [], in_place=in_place, loop=loop, tasks=task or [],
        skinned=skinned,
    )  # fmt: skip
    if view:
        running.watch(options)
        return 0
    with Bar(hidden=as_json) as tick:
        summary = running.simulate(options, tick)
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_pairs(summary)
    undone = any(one["status"] != "done" for one in summary.get("tasks", ()))
    return 1 if summary["fallen_at"] is not None or undone else 0


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Simulated people who walk, run, stumble and recover by control alone."""


for _name, _command in (
    ("list", list_all), ("reproduce", reproduce), ("tune", tune), ("imitate", imitate_clip), ("follow", follow_clip),
    ("studio", studio), ("bench", bench),
):  # fmt: skip
    app.command(_name)(_command)
