"""Walk up to a target and come to stand before it, feet side by side (GENBICON §4.4).

Walking up to something and standing before it: slower when near, a few small steps until it stands well.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.actor import LEFT, Actor
from surefoot.native.kernels import python_impl
from surefoot.reflexes.servo import nearest_turn
from surefoot.tasks.footstep_planning import is_slow_enough_to_place_foot, place_foot_abreast

_GAIN, _SLOWEST, _BACKWARD = 0.6, 0.1, -0.3  # [1/s] speed by the way that is left; [m/s] slowest; fastest back
_WITHIN, _STAYS = (-0.12, 0.08), (-0.16, 0.10)  # [m] before its place: there it stops; standing there it stays
_FACING, _AWAY = 0.25, 0.8  # [rad] beside the target: it may stop; it does not walk ahead
_TURN = 0.4  # [rad] at most in a step
_COM_AHEAD = 0.035  # [m] of the ankles while it stands
_WIDTH = 0.24  # [m] between the ankles when it stands
_REST = 0.3  # [s] it stands before it is there
_BESIDE = 0.12  # [m] from the line of sight to the target: before the shoulder rather than the nose


class ApproachTarget:
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
        place_foot_abreast(actor, _WIDTH)
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
        if _WITHIN[0] < after < _WITHIN[1] and abs(turn) < _FACING and is_slow_enough_to_place_foot(actor):
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


_POSE_GAIN = 0.5  # [1/s] speed by what is left of the way
_POSE_SLOWEST, _CREEPING = 0.2, 0.12  # [m/s] towards the place; most of it in the small steps before it
_LINE_UP = 0.7  # [m] before the place from where it comes straight
_ASIDE, _SIDEWAYS = 2.5, 0.25  # [1/s], [m/s] the same across: of a small command little becomes a sideways step
_MEAN = 0.5  # [s] over which the sway of its steps is averaged out
_TURNED = 0.1  # [rad] that it may stand off
_POSE_REST = 0.5  # [s] it stands before that counts


class ApproachPose:
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
        speed = min(self.speed, max(_POSE_SLOWEST, _POSE_GAIN * ahead))
        actor.command(heading=yaw + aim, speed=speed, sideways=0.0, stop=0.0)

    def _standing(self, actor: Actor, ahead: float, left: float, yaw: float) -> bool:
        """Wait until it stands; then it is there, or makes small steps."""
        if not actor.standing:
            self._stood_at = actor.time
        elif actor.time - self._stood_at > _POSE_REST:
            turned = abs(python_impl(nearest_turn)(yaw - actor.heading))
            if abs(ahead) <= self.tolerance[0] and abs(left) <= self.tolerance[1] and turned < _TURNED:
                return True
            self._stood_at, self._near, self._told = math.nan, True, -1
            self._off = ahead, left
        return False
