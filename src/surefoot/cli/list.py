"""`surefoot list`: what there is, by name, with what other installed packages add."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from surefoot import plugins, skills
from surefoot.cli.options import Json
from surefoot.cli.terminal import screen
from surefoot.errors import CommandError, UnknownNameError


def list_all(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only what has all of these words in its name or summary.")
    ] = None,
    character: Annotated[str | None, typer.Option(help="Only skills that this body can do.")] = None,
    controller: Annotated[str | None, typer.Option(help="Only skills of this controller.")] = None,
    as_json: Json = False,
) -> int:
    """List characters, skills, terrains, tasks, controllers and experiments; words and options choose among them."""
    found: dict[str, list[str] | dict[str, str]] = {"skills": _skills(character, controller)}
    if character is None and controller is None:
        from surefoot.lab.reproduce import experiments

        found = {
            "characters": list(plugins.names(plugins.CHARACTERS)),
            **found,
            "terrains": list(plugins.names(plugins.TERRAINS)),
            "tasks": list(plugins.names(plugins.TASKS)),
            "controllers": list(plugins.names(plugins.CONTROLLERS)),
            "experiments": list(experiments()),
        }
    if words:
        chosen = {kind: _chosen(names, words) for kind, names in found.items()}
        found = {kind: names for kind, names in chosen.items() if names}
    if not any(found.values()):
        raise CommandError("nothing of this kind; `surefoot list` without words and options names everything there is")
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    for kind, names in found.items():
        screen.print(f"[bold]{kind}[/bold]")
        width = max(map(len, names))
        for name in names:
            line = f"  {name}"
            if isinstance(names, dict):
                line = f"  {name:{width}}  {skills.controller_of(name):11}  [dim]{names[name]}[/dim]"
            screen.print(line, highlight=False)
    return 0


def _skills(character: str | None, controller: str | None) -> dict[str, str]:
    """Summaries of the skills of a body and a controller, by name."""
    if character is not None and character not in plugins.names(plugins.CHARACTERS):
        raise UnknownNameError("character", character, plugins.names(plugins.CHARACTERS))
    if controller is not None and controller not in plugins.names(plugins.CONTROLLERS):
        raise UnknownNameError("controller", controller, plugins.names(plugins.CONTROLLERS))
    of_body = skills.names(character)
    return {
        name: skills.summary(name) for name in of_body if controller is None or skills.controller_of(name) == controller
    }


def _chosen(names: list[str] | dict[str, str], words: list[str]) -> list[str] | dict[str, str]:
    """Those of some names that have all words in them or in their summaries."""

    def has_all(text: str) -> bool:
        return all(word.lower() in text.lower() for word in words)

    if isinstance(names, dict):
        return {name: text for name, text in names.items() if has_all(f"{name} {text}")}
    return [name for name in names if has_all(name)]
