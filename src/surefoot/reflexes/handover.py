"""From one controller to another: at the next footstrike, or from quiet standing, with nothing but the body's state."""

from __future__ import annotations

from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.userdata import COMMAND_GIVEN

NONE, ASKED, TAKEN = 0.0, 1.0, 2.0  # nothing waits; a law of another controller waits; it has the body, and begins
_PATIENCE = 0.5  # [s] after which a body on both feet is handed over without a footstrike


@kernel
def hand_over(world: Any, row: Any, steps_before: float) -> None:
    """Let a waiting controller have the body if a step has just begun; `steps_before` is of before this moment.

    What the old one remembers and has learned, and the commands it was given, mean nothing to the new one.
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
def command_or(row: Any, command: int, default: float) -> float:
    """A command, or what the style says while none was given."""
    return row.commands[command] if row.commands[COMMAND_GIVEN + command] != 0.0 else default  # type: ignore[no-any-return]


@kernel
def switch_skill(row: Any) -> None:
    """Take up a requested skill."""
    if row.header[0].pending != 0.0:
        row.header[0].active = 1.0 - row.header[0].active
        row.header[0].pending = 0.0
