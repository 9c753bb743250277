"""Soft while nothing happens, stiff some time after a surprise (SIMBICON §6)."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel


@kernel
def stiffness(machine: Any, head: Any, error: float, time: float) -> float:
    """Factor of the learned servos' gains: `softness`, and 1 for a while after an unexpected torso error.

    The gains rise `reaction_delay` seconds after the torso was `alarm` [rad] off its target, for
    `reaction_time` seconds; a further alarm prolongs them.
    """
    if head.alarm > 0.0 and error > head.alarm:
        if machine.alarmed == 0.0 or time > machine.alarmed + head.reaction_delay + head.reaction_time:
            machine.alarmed = time
        elif time > machine.alarmed + head.reaction_delay:  # already stiff, and still surprised
            machine.alarmed = time - head.reaction_delay
    since = time - machine.alarmed
    if machine.alarmed > 0.0 and head.reaction_delay - 1e-9 <= since <= head.reaction_delay + head.reaction_time:
        return 1.0
    return head.softness  # type: ignore[no-any-return]
