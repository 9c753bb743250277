"""`surefoot list`: what there is, by name, with what other installed packages add."""

from __future__ import annotations

import json
import sys

from surefoot import plugins, skills
from surefoot.cli.options import Json
from surefoot.cli.terminal import screen


def list_all(as_json: Json = False) -> int:
    """List characters, skills, terrains, tasks, controllers and experiments."""
    from surefoot.lab.reproduce import experiments

    found: dict[str, list[str] | dict[str, str]] = {
        "characters": list(plugins.names(plugins.CHARACTERS)),
        "skills": {name: skills.summary(name) for name in skills.names()},
        "terrains": list(plugins.names(plugins.TERRAINS)),
        "tasks": list(plugins.names(plugins.TASKS)),
        "controllers": list(plugins.names(plugins.CONTROLLERS)),
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
