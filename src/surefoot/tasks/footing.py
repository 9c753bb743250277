"""Where the last step before a stand goes: side by side with the other foot, for bending down needs both."""

from __future__ import annotations

import math

from surefoot.native.pointers import plain
from surefoot.reflexes.pendulum import carried_on, frequency
from surefoot.reflexes.steps import LANDS
from surefoot.reflexes.walker import STEP
from surefoot.tasks.actor import LEFT, Actor

_SLOW = 0.42  # [m/s] at which a step may end where a task wants it
_EARLY = 0.3  # phase until which a foot may be told where to go; later it would be torn aside


def is_slow(actor: Actor) -> bool:
    """Whether it goes so slowly that it may be told where to set its foot."""
    x, y, _ = actor.com_velocity
    return abs(math.cos(actor.heading) * float(x) + math.sin(actor.heading) * float(y)) < _SLOW


def _would_balance(actor: Actor, width: float) -> bool:
    """Whether a foot set abreast would be in time: the capture point when it lands is then between both feet."""
    walker, com, velocity = actor.walker, actor.com, actor.com_velocity
    swing = int(walker.swing)
    bearing, outward = actor.ankle(1 - swing), 1.0 if swing == LEFT else -1.0
    omega, rest = plain(frequency)(com[2] - walker.ground), LANDS * walker.period - (actor.time - walker.step_start)
    c, s = math.cos(actor.heading), math.sin(actor.heading)
    captured = []
    for along, across in ((c, s), (-outward * s, outward * c)):  # ahead, and outward
        x = along * (com[0] - bearing[0]) + across * (com[1] - bearing[1])
        at, v = plain(carried_on)(x, along * velocity[0] + across * velocity[1], omega, max(rest, 0.0))
        captured.append(at + v / omega)
    biped = actor.limbs.biped[0]
    return bool(-biped.behind < captured[0] < biped.ahead and 0.0 < captured[1] < width + biped.half_width)


def step_abreast(actor: Actor, width: float) -> None:
    """Let a slow walker set its foot abreast of the other one, their ankles `width` [m] apart."""
    walker, intent = actor.walker, actor.intent
    if walker.mode != STEP:
        intent.foothold = 0.0
    elif walker.phase < _EARLY:
        intent.foothold = float(is_slow(actor) and _would_balance(actor, width))
    if intent.foothold:
        swing = int(walker.swing)
        bearing, outward = actor.ankle(1 - swing), width if swing == LEFT else -width
        intent.fx = bearing[0] - outward * math.sin(actor.heading)
        intent.fy = bearing[1] + outward * math.cos(actor.heading)
