"""What a skill can be told, and the family of two that a skill with a slow part is.

A skill whose file names a `slow` part is told as one: below a speed the body is handed over to the other skill, which
stands, walks slowly and backwards, and from a speed on it is handed back. The other skill lies in the row's other slot,
with commands of its own; whatever is told is written for both, so nothing is lost when the body changes hands.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def known(scene: Scene, skill: Skill) -> dict[str, Command]:
    """Everything a skill can be told, with its unit and limits: those of its slow part too.

    Args:
        scene: where it runs.
        skill: of this body.
    """
    own = scene.controller(skill).commands
    found = {name: own[name] for name in skill.commands}
    if skill.slow is not None:
        slow = scene.find(skill.slow.skill)
        theirs = scene.controller(slow).commands
        for name in _shared(scene, skill, slow):
            low, high = min(found[name].low, theirs[name].low), max(found[name].high, theirs[name].high)
            found[name] = found[name]._replace(low=low, high=high)
        found |= {name: theirs[name] for name in skill.slow.commands}
    return found


def running_part(scene: Scene, row: Row, skill: Skill) -> Skill:
    """Which of a skill and its slow part has the body now.

    Args:
        scene: where it runs.
        row: its memory.
        skill: what was asked for.
    """
    if skill.slow is not None:
        slow = scene.find(skill.slow.skill)
        if row.slots[int(row.header[0].active), 0] == base.names().index(slow.controller):
            return slow
    return skill


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
    if skill.slow is None:
        _set(scene, row, skill, values)
        return
    slow, header = scene.find(skill.slow.skill), row.header[0]
    running, busy = running_part(scene, row, skill), header.pending != 0.0 or header.handover == ASKED
    if header.family == 0.0 and not busy and running is skill:
        _make_family(scene, row, skill, slow)
    if header.family == 0.0:  # another skill waits for the body
        _set(scene, row, running, _of_part(scene, skill, slow, running, values))
        return
    for part in (skill, slow):
        own = row if part is running else row._replace(commands=row.other_commands)
        _set(scene, own, part, _of_part(scene, skill, slow, part, values))
    if SPEED in values:
        _hand_over(scene, row, skill.slow, skill, slow, running, values[SPEED])


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
    part = skill if name in skill.commands or skill.slow is None else scene.find(skill.slow.skill)
    if running_part(scene, row, skill).full_name == part.full_name:
        return row, part
    return (row._replace(commands=row.other_commands), part) if row.header[0].family != 0.0 else None


def _shared(scene: Scene, skill: Skill, slow: Skill) -> tuple[str, ...]:
    """Commands that mean the same to a skill and to its slow part."""
    one, other = scene.controller(skill).commands, scene.controller(slow).commands
    return tuple(name for name in skill.commands if name in slow.commands and one[name].unit == other[name].unit)


def _of_part(scene: Scene, skill: Skill, slow: Skill, part: Skill, values: Mapping[str, float]) -> dict[str, float]:
    """What of some commands a part takes, within its own limits."""
    taken = skill.commands if part is skill else (*_shared(scene, skill, slow), *(skill.slow or _NOBODY).commands)
    limits = scene.controller(part).commands
    return {n: min(max(value, limits[n].low), limits[n].high) for n, value in values.items() if n in taken}


_NOBODY = SlowPart(skill="none", below=0.0, above=0.0)


def _set(scene: Scene, row: Row, skill: Skill, values: Mapping[str, float]) -> None:
    controller = scene.controller(skill)
    for name, value in values.items():
        controller.set_command(row, name, value)


def _make_family(scene: Scene, row: Row, skill: Skill, slow: Skill) -> None:
    """Put the slow part into the other slot, and let it know what the skill was told so far."""
    header, controller = row.header[0], scene.controller(skill)
    scene.write_slot(row, 1 - int(header.active), slow)
    row.other_commands[:] = 0.0
    header.family = 1.0
    given: dict[str, float] = {}
    for name in _shared(scene, skill, slow):
        value = controller.get_command(row, skill, name)
        if value is None and controller.commands[name].is_direction:
            value = base.default_command(skill, name)
        if value is not None:
            given[name] = value
    _set(scene, row._replace(commands=row.other_commands), slow, _of_part(scene, skill, slow, slow, given))


def _hand_over(
    scene: Scene, row: Row, limits: SlowPart, skill: Skill, slow: Skill, running: Skill, speed: float
) -> None:  # fmt: skip
    """Ask for the part that walks at a speed, or no longer for the other one."""
    header = row.header[0]
    other = slow if running is skill else skill
    due = other if header.handover == ASKED else running  # which will have the body
    wanted = slow if speed < (limits.below if due is skill else limits.above) else skill
    if wanted is running:
        header.handover = NONE if header.handover == ASKED else header.handover
    elif header.handover != ASKED:
        scene.prepare(wanted)
        header.handover, header.asked = ASKED, row.clock[0].advanced
