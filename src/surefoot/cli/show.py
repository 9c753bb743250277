"""`surefoot show`: what is in a skill, in words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import Character, Json, Skill
from surefoot.cli.terminal import print_table, screen
from surefoot.errors import OutputError

if TYPE_CHECKING:
    from surefoot.engine.simulation import Simulation
    from surefoot.skills.schema import Skill as AnySkill

_UNITS = {  # of what was measured, by name; what is not here has none
    "speed": "m/s", "cadence": "steps/s", "score": "°", "walk_ratio": "m/(steps/min)", "double_support": "of the time",
    "flight": "of the time", "stance_knee": "°", "strike_pitch": "°", "toe_off_pitch": "°", "lean": "°",
    "first_peak": "body weights", "slip": "m/step",
}  # fmt: skip
_SECONDS = 6.0  # [s] that are simulated for a picture


def show(
    skill: Skill,
    character: Character = None,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Every number, by the path that --parameter of `tune` takes.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Draw the skill as a strip: a .png.")] = None,
    as_json: Json = False,
) -> int:
    """Show what is in a skill: what it is, what it can be told, where it is from, what was measured; its numbers."""
    from surefoot.cli.simulate import check_place
    from surefoot.engine import commands
    from surefoot.engine.simulation import Simulation

    if save is not None:
        if save.suffix.lower() != ".png":
            raise OutputError(f"a strip cannot be drawn as {save.suffix or save.name!r}; valid: .png")
        check_place(save)
    sim = Simulation(character, skill)
    told = {
        name: {"unit": one.unit}
        | ({} if one.is_direction else dict(zip(("low", "high"), one.written_limits, strict=True)))
        for name, one in commands.known(sim.scene, sim.skill).items()
    }
    numbers = dict(_numbers(sim.skill.model_dump(exclude_none=True)["parameters"])) if parameters else {}
    if save is not None:
        sim.run(_SECONDS).save(save)
    if as_json:
        document = sim.skill.model_dump(by_alias=True, exclude_none=True)
        found = {key: document[key] for key in ("name", "character", "controller", "summary", "provenance", "measured")}
        sys.stdout.write(json.dumps(found | {"commands": told, "parameters": numbers}) + "\n")
        return 0
    _print(sim, told, numbers)
    if save is not None:
        screen.print(f"drawn in {save}", highlight=False)
    return 0


def _print(sim: Simulation, told: dict[str, dict[str, Any]], numbers: dict[str, Any]) -> None:
    skill: AnySkill = sim.skill
    screen.print(f"[bold]{skill.full_name}[/bold]  {skill.summary}", highlight=False)
    screen.print(f"  controller {skill.controller}, body {sim.scene.table.name}", highlight=False)
    screen.print(f"  source: {skill.provenance.source}", highlight=False)
    if credit := getattr(skill, "credit", ""):
        screen.print(f"  credit: {credit}", highlight=False)
    if skill.slow is not None:
        screen.print(f"  below {skill.slow.below:g} m/s it hands over to {skill.slow.skill}", highlight=False)
    screen.print("\n[bold]can be told[/bold]")
    print_table(
        ("command", "from", "to", "unit"),
        [
            (name, *(f"{one[end]:.4g}" if end in one else "any" for end in ("low", "high")), one["unit"])
            for name, one in told.items()
        ],
    )
    measured = skill.measured.model_dump(exclude_none=True)
    if measured:
        screen.print("\n[bold]measured[/bold]")
        print_table(
            ("", "value", "unit"),
            [(name.replace("_", " "), f"{value:.4g}", _UNITS.get(name, "")) for name, value in measured.items()],
        )
    for change in skill.provenance.changed:
        screen.print(f"  {change.parameter}: printed {change.printed:g}, here {change.here:g}", highlight=False)
    if numbers:
        screen.print("\n[bold]parameters[/bold]")
        print_table(("path", "value"), [(path, str(value)) for path, value in numbers.items()])


def _numbers(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text below a node of a skill's document, by its dotted path."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _numbers(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from _numbers(value, f"{path}.{i}")
    else:
        yield path, node
