"""Handing the body from one controller to another, and switching skills within a controller.

A hand-over happens at the next footstrike, or after a while on both feet. The new controller gets nothing but the
state of the body and the last report, and in a family of two skills (`engine.commands`) what it was told meanwhile.
"""

from __future__ import annotations

from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.userdata import COMMAND_GIVEN, Row

NONE, ASKED, TAKEN = 0.0, 1.0, 2.0  # nothing waits; a law of another controller waits; it has the body, and begins


@kernel
def take_over(row: Row, memory: Any, heading: int) -> bool:
    """Whether a controller has just been given the body; if so, it begins with the heading that was reported.

    Unless it was told where to go, it goes on that way.

    Args:
        row: the simulation's memory.
        memory: record of the controller, with a field `heading` [rad].
        heading: place of the heading among the commands.
    """
    if row.header[0].handover != TAKEN:
        return False
    row.header[0].handover = NONE
    memory.heading = row.report[0].heading
    if row.header[0].family == 0.0:
        row.commands[heading] = row.report[0].heading
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
