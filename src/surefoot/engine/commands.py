"""What a skill can be told, and the family of two that a skill with a slow part is.

A skill whose file names a `slow` part is told as one: below a speed the body is handed over to the other skill, which
stands, walks slowly and backwards, and from a speed on it is handed back. The other skill lies in the row's other slot,
with commands of its own; whatever is told is written for both, so nothing is lost when the body changes hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surefoot.controllers import base
from surefoot.controllers.command import Command
from surefoot.errors import CommandError
from surefoot.native.userdata import Row
from surefoot.reflexes.handover import ASKED, NONE
from surefoot.skills.schema import Skill, SlowPart

if TYPE_CHECKING:
    from surefoot.engine.scene import Scene

SPEED = "speed"


@dataclass(frozen=True)
class Family:
    """A skill and its slow part on one body.

    Attributes:
        skill: what is asked for.
        slow: the skill that has the body at low speeds.
        limits: the speeds at which the body changes hands.
        number: of the slow part's controller.
        known: everything that the two can be told.
        shared: commands that mean the same to both.
    """

    skill: Skill
    slow: Skill
    limits: SlowPart
    number: int
    known: Mapping[str, Command]
    shared: tuple[str, ...]


def family(scene: Scene, skill: Skill) -> Family | None:
    """A skill with its slow part; None if it has none. The same call gives the same object.

    Args:
        scene: where it runs.
        skill: of this body.
    """
    if skill.slow is None:
        return None
    found = scene.families.get(id(skill))
    if found is None:
        slow = scene.find(skill.slow.skill)
        own, theirs = scene.controller(skill).commands, scene.controller(slow).commands
        both = [name for name in skill.commands if name in slow.commands]
        shared = tuple(name for name in both if own[name].unit == theirs[name].unit)
        known = {name: own[name] for name in skill.commands}
        for name in shared:
            low, high = min(own[name].low, theirs[name].low), max(own[name].high, theirs[name].high)
            known[name] = own[name]._replace(low=low, high=high)
        known |= {name: theirs[name] for name in skill.slow.commands}
        number = base.names().index(slow.controller)
        found = scene.families[id(skill)] = Family(skill, slow, skill.slow, number, known, shared)
    return found


def known(scene: Scene, skill: Skill) -> Mapping[str, Command]:
    """Everything a skill can be told, with its unit and limits: those of its slow part too.

    Args:
        scene: where it runs.
        skill: of this body.
    """
    both = family(scene, skill)
    if both is not None:
        return both.known
    own = scene.controller(skill).commands
    return {name: own[name] for name in skill.commands}


def running_part(scene: Scene, row: Row, skill: Skill) -> Skill:
    """Which of a skill and its slow part has the body now.

    Args:
        scene: where it runs.
        row: its memory.
        skill: what was asked for.
    """
    both = family(scene, skill)
    return skill if both is None or row.slots[int(row.header[0].active), 0] != both.number else both.slow


def slot_of(scene: Scene, row: Row, skill: Skill) -> int:
    """In which of a row's two slots the numbers of a skill are that was asked for, also while its slow part runs."""
    active = int(row.header[0].active)
    return active if running_part(scene, row, skill) is skill else 1 - active


def own_commands(scene: Scene, row: Row, skill: Skill) -> np.ndarray:
    """(COMMANDS,) what a row's commands are to a skill that was asked for, also while its slow part runs."""
    commands: np.ndarray = row.commands if running_part(scene, row, skill) is skill else row.other_commands
    return commands


def tell(scene: Scene, row: Row, skill: Skill, values: Mapping[str, float]) -> None:
    """Set commands of a skill; a speed may hand the body over to its slow part, or back.

    Args:
        scene: where it runs.
        row: its memory.
        skill: what was asked for.
        values: by name, angles in radians.

    Raises:
        CommandError: an unknown command, with a list of the known ones, or a value out of its limits.
    """
    limits = known(scene, skill)
    for name, value in values.items():
        if name not in limits:
            raise CommandError(f"unknown command {name!r}; {skill.full_name} knows: {', '.join(limits) or 'none'}")
        low, high = limits[name].low, limits[name].high
        if not low <= value <= high:
            raise CommandError(f"command {name} must be within {low:g} … {high:g}, got {value}")
    both = family(scene, skill)
    if both is None:
        _set(scene, row, skill, values)
        return
    header, running = row.header[0], running_part(scene, row, skill)
    is_waiting = header.pending != 0.0 or header.handover == ASKED
    if header.family == 0.0 and not is_waiting and running is skill:
        _make_family(scene, row, both)
    _set(scene, row, running, _of_part(scene, both, running, values))
    if header.family != 0.0:  # otherwise a skill outside of it waits for the body
        other = both.slow if running is skill else skill
        _set(scene, row._replace(commands=row.other_commands), other, _of_part(scene, both, other, values))
        if SPEED in values:
            _ask(scene, row, both, running, values[SPEED])


def told(scene: Scene, row: Row, skill: Skill, name: str) -> float | None:
    """What a command was set to; None while it is as the skill has it.

    Args:
        scene: where it runs.
        row: its memory.
        skill: what was asked for.
        name: of the command.
    """
    found = _holder(scene, row, skill, name)
    return None if found is None else scene.controller(found[1]).get_command(found[0], found[1], name)


def clear(scene: Scene, row: Row, skill: Skill, name: str) -> None:
    """Leave a command to the skill again; the speed to the skill itself, not to its slow part.

    Args:
        scene: where it runs.
        row: its memory.
        skill: what was asked for.
        name: of the command.
    """
    if name == SPEED and row.header[0].family != 0.0 and skill.slow is not None:
        usual = scene.controller(skill).usual_command(skill, SPEED)
        tell(scene, row, skill, {SPEED: max(usual or 0.0, skill.slow.above)})
    found = _holder(scene, row, skill, name)
    if found is not None:
        scene.controller(found[1]).clear_command(found[0], found[1], name)


def _holder(scene: Scene, row: Row, skill: Skill, name: str) -> tuple[Row, Skill] | None:
    """The part that has a command, with a row whose commands are that part's; None if nobody has it now."""
    both = family(scene, skill)
    part = skill if both is None or name in skill.commands else both.slow
    if running_part(scene, row, skill) is part:
        return row, part
    return (row._replace(commands=row.other_commands), part) if row.header[0].family != 0.0 else None


def _of_part(scene: Scene, both: Family, part: Skill, values: Mapping[str, float]) -> dict[str, float]:
    """What of some commands a part takes, within its own limits."""
    taken = both.skill.commands if part is both.skill else (*both.shared, *both.limits.commands)
    limits = scene.controller(part).commands
    return {n: min(max(value, limits[n].low), limits[n].high) for n, value in values.items() if n in taken}


def _set(scene: Scene, row: Row, skill: Skill, values: Mapping[str, float]) -> None:
    controller = scene.controller(skill)
    for name, value in values.items():
        controller.set_command(row, name, value)


def _make_family(scene: Scene, row: Row, both: Family) -> None:
    """Put the slow part into the other slot, and let it know what the skill was told so far."""
    header, controller = row.header[0], scene.controller(both.skill)
    scene.write_slot(row, 1 - int(header.active), both.slow)
    row.other_commands[:] = 0.0
    header.family = 1.0
    given: dict[str, float] = {}
    for name in both.shared:
        value = controller.get_command(row, both.skill, name)
        if value is None and controller.commands[name].is_direction:
            value = base.default_command(both.skill, name)
        if value is not None:
            given[name] = value
    _set(scene, row._replace(commands=row.other_commands), both.slow, _of_part(scene, both, both.slow, given))


def _ask(scene: Scene, row: Row, both: Family, running: Skill, speed: float) -> None:
    """Ask for the part that walks at a speed, or no longer for the other one."""
    header = row.header[0]
    other = both.slow if running is both.skill else both.skill
    due = other if header.handover == ASKED else running  # which will have the body
    limit = both.limits.below if due is both.skill else both.limits.above
    wanted = both.slow if speed < limit else both.skill
    if wanted is running:
        header.handover = NONE if header.handover == ASKED else header.handover
    elif header.handover != ASKED:
        scene.prepare(wanted)
        header.handover, header.asked = ASKED, row.clock[0].advanced
