"""Walk up to a target and come to stand before it, feet side by side (GENBICON §4.4)."""

from __future__ import annotations

import math

import numpy as np

from surefoot.tasks.actor import LEFT, Actor
from surefoot.tasks.footing import is_slow, step_abreast

_GAIN, _SLOWEST, _BACKWARD = 0.6, 0.1, -0.3  # [1/s] speed by the way that is left; [m/s] slowest; fastest back
_WITHIN, _STAYS = (-0.12, 0.08), (-0.16, 0.10)  # [m] before its place: there it stops; standing there it stays
_FACING, _AWAY = 0.25, 0.8  # [rad] beside the target: it may stop; it does not walk ahead
_TURN = 0.4  # [rad] at most in a step
_COM_AHEAD = 0.035  # [m] of the ankles while it stands
_WIDTH = 0.24  # [m] between the ankles when it stands
_REST = 0.3  # [s] it stands before it is there
_BESIDE = 0.12  # [m] from the line of sight to the target: before the shoulder rather than the nose


class Approach:
    """The way to a stand from which one hand gets at a target.

    Heading and speed are told once per step, the speed as a linear function of the way that is left.

    Attributes:
        place: from the COM to the target, horizontally, where it is to stand [m].
        is_stopping: whether it takes its last step, or stands.
    """

    def __init__(self, target: np.ndarray, side: int, place: float, speed: float) -> None:
        """Say where to: the (x, y) of a target, which hand will reach it, how near [m] and how fast [m/s]."""
        self._target, self._side, self.place, self._speed = np.array(target, float), side, place, speed
        self.again()

    def again(self) -> None:
        """Look anew where to stand."""
        self.is_stopping, self._told, self._stood = False, -1, 0.0

    def go(self, actor: Actor, dt: float) -> bool:
        """Go on for a tick of `dt` [s]; whether it stands in its place."""
        if not self.is_stopping:
            self._walk(actor)
            return False
        step_abreast(actor, _WIDTH)
        self._stood = self._stood + dt if actor.standing else 0.0
        if self._stood <= _REST:
            return False
        left, turn = self._way(actor)
        is_there = _STAYS[0] < left < _STAYS[1] and abs(turn) < 2.0 * _FACING
        self.again()
        return is_there

    def release(self, actor: Actor) -> None:
        """Take back everything that was told, and stand."""
        actor.intent.foothold = 0.0
        actor.command(stop=1.0)

    def _walk(self, actor: Actor) -> None:
        if actor.steps == self._told:
            return
        self._told = actor.steps
        left, turn = self._way(actor)
        after = left if actor.standing else left - _lead_of_stance(actor)  # if it stopped by this step
        if _WITHIN[0] < after < _WITHIN[1] and abs(turn) < _FACING and is_slow(actor):
            actor.command(heading=actor.heading, stop=1.0)  # feet that stand do not turn
            self.is_stopping = True
            return
        speed = min(max(_GAIN * left + math.copysign(_SLOWEST, left), _BACKWARD), self._speed)
        heading = actor.heading + min(max(turn, -_TURN), _TURN)
        actor.command(heading=heading, speed=speed if abs(turn) < _AWAY else 0.0, stop=0.0)

    def _way(self, actor: Actor) -> tuple[float, float]:
        """Way ahead to its place [m], and by how much it would still have to turn [rad]."""
        x, y = self._target - actor.com[:2]
        size = max(math.hypot(x, y), 1e-3)
        beside = (-_BESIDE if self._side == LEFT else _BESIDE) * min(1.0, size / (2.0 * _BESIDE)) / size
        aim = self._target + beside * np.array([-y, x])  # so that the target comes to lie before the shoulder
        turn = math.remainder(actor.yaw_to(aim) - actor.heading, 2.0 * math.pi)
        return actor.distance_to(aim) * math.cos(turn) - self.place, turn


def _lead_of_stance(actor: Actor) -> float:
    """How far ahead of now the COM will be if the foot that swings is set abreast of the other one [m]."""
    x, y, _ = actor.ankle(1 - int(actor.walker.swing)) - actor.com
    return math.cos(actor.heading) * float(x) + math.sin(actor.heading) * float(y) + _COM_AHEAD
