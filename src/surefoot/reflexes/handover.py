"""Handing the body from one controller to another, and switching skills within a controller.

A hand-over happens at the next footstrike, or after a while on both feet. The new controller gets nothing but the
state of the body and the last report.
"""

from __future__ import annotations

from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.physics import World
from surefoot.native.userdata import COMMAND_GIVEN, Row

NONE, ASKED, TAKEN = 0.0, 1.0, 2.0  # nothing waits; a law of another controller waits; it has the body, and begins
_PATIENCE = 0.5  # [s] after which a body on both feet is handed over without a footstrike


@kernel
def hand_over(world: World, row: Row, steps_before: float) -> None:
    """Give the body to a waiting controller if a step has just begun; `steps_before` counts the steps until now.

    The old controller's memory, its learned table and its commands mean nothing to the new one: all are cleared.
    """
    header = row.header[0]
    if header.handover != ASKED:
        return
    on_both = row.touch[0] != 0.0 and row.touch[1] != 0.0
    if row.report[0].steps == steps_before and not (on_both and world.time - header.asked >= _PATIENCE):
        return
    header.active = 1.0 - header.active
    header.handover = TAKEN
    for i in range(len(row.memory)):
        row.memory[i] = 0.0
    for i in range(len(row.commands)):
        row.commands[i] = 0.0
    for i in range(len(row.table)):
        row.table[i] = 0.0


@kernel
def take_over(row: Row, memory: Any, heading: int) -> bool:
    """Whether a controller has just been given the body; if so, go on with the heading that was reported.

    Args:
        row: the simulation's memory.
        memory: record of the controller, with a field `heading` [rad].
        heading: place of the heading among the commands.
    """
    if row.header[0].handover != TAKEN:
        return False
    row.header[0].handover = NONE
    memory.heading = row.commands[heading] = row.report[0].heading
    return True


@kernel
def command_or(row: Row, command: int, default: float) -> float:
    """The value of a command, or `default` while none was given."""
    return row.commands[command] if row.commands[COMMAND_GIVEN + command] != 0.0 else default  # type: ignore[no-any-return]


@kernel
def switch_skill(row: Row) -> None:
    """Activate a requested skill, if there is one."""
    if row.header[0].pending != 0.0:
        row.header[0].active = 1.0 - row.header[0].active
        row.header[0].pending = 0.0
