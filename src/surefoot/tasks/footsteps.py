"""Footsteps along world x: how many to a place, the speed that goes with their lengths, and keeping to the lane."""

from __future__ import annotations

import math

from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks.actor import Actor

AHEAD = 2.0  # of INTENT's `foothold`: only its place along the heading is given, balance sets it sideways
_BACK, _FASTEST = 0.2, 0.05  # [1/s], [m/s] at which it comes back to its lane


def even_steps(distance: float, usual: float, longest: float) -> int:
    """How many steps, at least one, make up a distance with lengths near the usual and none beyond the longest."""
    return max(1, round(distance / usual), math.ceil(distance / longest - 1e-9))


def speed_for(first: float, second: float, period: float, height: float) -> float:
    """Speed to command during a step so that it and the one after it become so long [m/s].

    A pendulum that leaves its foot for a step of length a, to be followed by one of length b, has its capture point
    a + b r ahead of it at footstrike, r = 1/(e^ωT − 1); a periodic one of speed V has it V T (1 + r) ahead.

    Args:
        first: length of the step that is being taken, from the stance ankle [m].
        second: length of the one after it [m].
        period: of a step [s].
        height: of the COM above the ground [m].
    """
    r = 1.0 / math.expm1(period * math.sqrt(GRAVITY / height))
    return (first + r * second) / (period * (1.0 + r))


def keep_lane(actor: Actor, y: float) -> None:
    """Walk along world x and come back to a line at y [m] by small steps to the side."""
    sideways = _BACK * (y - float(actor.com[1]))
    actor.command(heading=0.0, sideways=min(max(sideways, -_FASTEST), _FASTEST))


def give(actor: Actor, x: float) -> None:
    """Give the place of the next foothold along world x [m]."""
    actor.intent.foothold, actor.intent.fx, actor.intent.fy = AHEAD, x, 0.0


def take_back(actor: Actor) -> None:
    """Leave the next foothold and the way to it to the inverted pendulum, on level ground."""
    intent = actor.intent
    intent.foothold = intent.over = intent.rise = 0.0
