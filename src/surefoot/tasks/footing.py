"""Where the last step before a stand goes: side by side with the other foot, for bending down needs both."""

from __future__ import annotations

import math

from surefoot.reflexes.walker import STEP
from surefoot.tasks.actor import LEFT, Actor

_SLOW = 0.42  # [m/s] at which a step may end where a task wants it
_EARLY = 0.3  # phase until which a foot may be told where to go; later it would be torn aside


def is_slow(actor: Actor) -> bool:
    """Whether it goes so slowly that it may be told where to set its foot."""
    x, y, _ = actor.com_velocity
    return abs(math.cos(actor.heading) * float(x) + math.sin(actor.heading) * float(y)) < _SLOW


def step_abreast(actor: Actor, width: float) -> None:
    """Let a slow walker set its foot abreast of the other one, their ankles `width` [m] apart."""
    walker, intent = actor.walker, actor.intent
    if walker.mode != STEP:
        intent.foothold = 0.0
    elif walker.phase < _EARLY:
        intent.foothold = float(is_slow(actor))
    if intent.foothold:
        swing = int(walker.swing)
        bearing, outward = actor.ankle(1 - swing), width if swing == LEFT else -width
        intent.fx = bearing[0] - outward * math.sin(actor.heading)
        intent.fy = bearing[1] + outward * math.cos(actor.heading)
