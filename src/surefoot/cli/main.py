"""The command line. Exit status: 0 did it, 1 fell or a figure does not hold, 2 bad input, in one line, 130 Ctrl-C."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli.bench import bench
from surefoot.cli.clip_commands import follow_clip, imitate_clip
from surefoot.cli.cluster import name_local_cluster
from surefoot.cli.doctor import doctor
from surefoot.cli.find_gait import find_gait, join_speeds
from surefoot.cli.gait import gait
from surefoot.cli.graph import graph
from surefoot.cli.learn import learn
from surefoot.cli.list import list_all
from surefoot.cli.reproduce import reproduce
from surefoot.cli.show import show
from surefoot.cli.simulate import simulate
from surefoot.cli.studio import studio
from surefoot.cli.track import track_clip
from surefoot.cli.tune import tune
from surefoot.errors import SurefootError

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


def main() -> None:
    """Run the command line; no input makes it print a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger("surefoot.native.compiling").setLevel(logging.INFO)  # what takes seconds is announced
    try:
        status = app(name_local_cluster(sys.argv[1:]), standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("surefoot: stopped\n")
        sys.exit(130)
    except Exception as error:
        explain = getattr(error, "format_message", None)  # typer's own usage errors have it
        if explain is None and not isinstance(error, SurefootError):
            raise
        message = explain() if explain else str(error)
        if message:  # without arguments typer has shown its help already
            sys.stderr.write(f"surefoot: {' '.join(message.split())}\n")
        sys.exit(2)


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
    ("simulate", simulate), ("list", list_all), ("show", show), ("gait", gait), ("reproduce", reproduce),
    ("tune", tune), ("find-gait", find_gait), ("join-speeds", join_speeds), ("learn", learn),
    ("imitate", imitate_clip), ("follow", follow_clip), ("track", track_clip), ("graph", graph), ("studio", studio),
    ("bench", bench), ("doctor", doctor),
):  # fmt: skip
    app.command(_name)(_command)
