"""Where feet go: steps along world x, the speed for their lengths, keeping a lane, and a last step side by side."""

from __future__ import annotations

import math

from surefoot.controllers.genbicon.memory import STEP
from surefoot.controllers.genbicon.steps import LANDS
from surefoot.engine.actor import LEFT, Actor
from surefoot.native.kernels import python_impl
from surefoot.reflexes.pendulum import GRAVITY, carried_on, frequency

ALONG_HEADING_ONLY = 2.0  # of INTENT's `foothold`: it is given along the heading only, balance sets it sideways
_BACK, _FASTEST = 0.2, 0.05  # [1/s], [m/s] at which it returns to its lane


def step_count(distance: float, usual: float, longest: float) -> int:
    """How many steps, at least one, cover a distance with lengths near the usual and none beyond the longest [m]."""
    return max(1, round(distance / usual), math.ceil(distance / longest - 1e-9))


def speed_for(first: float, second: float, period: float, height: float) -> float:
    """Speed to command during a step so that it and the next one get these lengths [m/s].

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
    """Walk along world x, and return to the line at y [m] by small sideways steps."""
    sideways = _BACK * (y - float(actor.com[1]))
    actor.command(heading=0.0, sideways=min(max(sideways, -_FASTEST), _FASTEST))


def set_foothold(actor: Actor, x: float) -> None:
    """Set the place of the next foothold along world x [m]."""
    actor.intent.foothold, actor.intent.fx, actor.intent.fy = ALONG_HEADING_ONLY, x, 0.0


def clear_foothold(actor: Actor) -> None:
    """Leave the next foothold, and the swing foot's path to it, to the inverted pendulum on level ground."""
    intent = actor.intent
    intent.foothold = intent.over = intent.rise = 0.0


_SLOW = 0.42  # [m/s] below which a step may end where a task wants it
_EARLY = 0.3  # phase until which the foothold may be set; later the foot would be torn aside


def is_slow_enough_to_place_foot(actor: Actor) -> bool:
    """Whether it walks so slowly that a task may place its foot."""
    return abs(actor.along_heading(actor.com_velocity)) < _SLOW


def _would_balance(actor: Actor, width: float) -> bool:
    """Whether a foot set abreast would be in time: whether the capture point at landing is between both feet."""
    walker, com, velocity = actor.walker, actor.com, actor.com_velocity
    swing = int(walker.swing)
    bearing, outward = actor.ankle(1 - swing), 1.0 if swing == LEFT else -1.0
    omega = python_impl(frequency)(com[2] - walker.ground)
    rest = LANDS * walker.period - (actor.time - walker.step_start)
    c, s = math.cos(actor.heading), math.sin(actor.heading)
    captured = []
    for along, across in ((c, s), (-outward * s, outward * c)):  # ahead, and outward
        x = along * (com[0] - bearing[0]) + across * (com[1] - bearing[1])
        at, v = python_impl(carried_on)(x, along * velocity[0] + across * velocity[1], omega, max(rest, 0.0))
        captured.append(at + v / omega)
    biped = actor.limbs.biped[0]
    return bool(-biped.behind < captured[0] < biped.ahead and 0.0 < captured[1] < width + biped.half_width)


def place_foot_abreast(actor: Actor, width: float) -> None:
    """Let a slow walker set its foot abreast of the other one, with the ankles `width` [m] apart."""
    walker, intent = actor.walker, actor.intent
    if walker.mode != STEP:
        intent.foothold = 0.0
    elif walker.phase < _EARLY:
        intent.foothold = float(is_slow_enough_to_place_foot(actor) and _would_balance(actor, width))
    if intent.foothold:
        swing = int(walker.swing)
        bearing, outward = actor.ankle(1 - swing), width if swing == LEFT else -width
        intent.fx = bearing[0] - outward * math.sin(actor.heading)
        intent.fy = bearing[1] + outward * math.cos(actor.heading)
