"""From one controller to another: at the next footstrike, or from quiet standing, with nothing but the body's state."""

from __future__ import annotations

from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.userdata import COMMAND_GIVEN

NONE, ASKED, TAKEN = 0.0, 1.0, 2.0  # nothing waits; a law of another controller waits; it has the body, and begins


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
