"""Walking up to something and standing before it: slower when near, a few small steps until it stands well."""

from __future__ import annotations

import math

import numpy as np

from surefoot.native.pointers import plain
from surefoot.reflexes.servo import nearest_turn
from surefoot.tasks.actor import Actor

_GAIN = 0.5  # [1/s] speed by what is left of the way
_SLOWEST, _CREEPING = 0.2, 0.12  # [m/s] towards the place; most of it in the small steps before it
_LINE_UP = 0.7  # [m] before the place from where it comes straight
_ASIDE, _SIDEWAYS = 2.5, 0.25  # [1/s], [m/s] the same across: of a small command little becomes a sideways step
_MEAN = 0.5  # [s] over which the sway of its steps is averaged out
_TURNED = 0.1  # [rad] that it may stand off
_REST = 0.5  # [s] it stands before that counts


class Approach:
    """Goes to a place and stands there, facing a way.

    Attributes:
        speed: from far [m/s].
        tolerance: how far from the place it may stand, along and across its heading [m].
        stopping: how long it would go on at its speed after it was told to stop [s].
    """

    def __init__(
        self, period: float, speed: float = 0.6, tolerance: tuple[float, float] = (0.05, 0.05), stopping: float = 0.3
    ) -> None:
        """Begin anywhere; `period` is the time between two calls of `toward` [s]."""
        self.period, self.speed, self.tolerance, self.stopping = period, speed, tolerance, stopping
        self._told = -1  # step at which it last spoke
        self._stood_at = math.nan  # [s] since when it is to stand
        self._near = False  # it makes small steps only
        self._off = (math.nan, math.nan)  # [m] ahead and to the left, averaged

    def toward(self, actor: Actor, at: np.ndarray, place: np.ndarray, yaw: float) -> bool:
        """Go on towards a place; True once it stands there.

        Args:
            actor: who goes.
            at: world x and y of its centre of mass, with what it carries [m].
            place: where that should be [m].
            yaw: which way it should face there [rad].
        """
        c, s = math.cos(yaw), math.sin(yaw)
        dx, dy = place[0] - at[0], place[1] - at[1]
        ahead, left = c * dx + s * dy, c * dy - s * dx
        if not math.isnan(self._stood_at):
            return self._standing(actor, ahead, left, yaw)
        if math.isnan(self._off[0]):
            self._off = ahead, left
        share = self.period / _MEAN
        self._off = self._off[0] + share * (ahead - self._off[0]), self._off[1] + share * (left - self._off[1])
        if self._is_there(ahead, c * actor.com_velocity[0] + s * actor.com_velocity[1]):
            self._stood_at = actor.time
            actor.command(stop=1.0, sideways=0.0)
        elif actor.steps != self._told:
            self._told = actor.steps
            self._go(actor, ahead, yaw)
        return False

    def _is_there(self, ahead: float, speed: float) -> bool:
        if not self._near:
            return ahead < max(self.stopping * speed, 0.0)
        return abs(self._off[0]) < 0.5 * self.tolerance[0] and abs(self._off[1]) < 0.5 * self.tolerance[1]

    def _go(self, actor: Actor, ahead: float, yaw: float) -> None:
        left = self._off[1]
        if self._near:
            along = min(max(self._off[0], -_CREEPING), _CREEPING)
            across = min(max(_ASIDE * left, -_SIDEWAYS), _SIDEWAYS)
            actor.command(heading=yaw, speed=along, sideways=across, stop=0.0)
            return
        line_up = ahead - _LINE_UP
        aim = math.atan2(left, line_up) if line_up > 0.5 else min(max(1.5 * left, -0.4), 0.4)
        speed = min(self.speed, max(_SLOWEST, _GAIN * ahead))
        actor.command(heading=yaw + aim, speed=speed, sideways=0.0, stop=0.0)

    def _standing(self, actor: Actor, ahead: float, left: float, yaw: float) -> bool:
        """Wait until it stands; then it is there, or makes small steps."""
        if not actor.standing:
            self._stood_at = actor.time
        elif actor.time - self._stood_at > _REST:
            turned = abs(plain(nearest_turn)(yaw - actor.heading))
            if abs(ahead) <= self.tolerance[0] and abs(left) <= self.tolerance[1] and turned < _TURNED:
                return True
            self._stood_at, self._near, self._told = math.nan, True, -1
            self._off = ahead, left
        return False
