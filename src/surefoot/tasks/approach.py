"""Walking up to something and standing before it (GENBICON §4.4).

`ApproachTarget` comes before a point so that one hand reaches it, and sets the feet side by side. `ApproachPose` comes
to a place and a heading. Both walk slower when near, and take a few small steps until they stand well.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.actor import LEFT, Actor
from surefoot.native.kernels import python_impl
from surefoot.reflexes.servo import nearest_turn
from surefoot.tasks.footstep_planning import is_slow_enough_to_place_foot, place_foot_abreast
from surefoot.tasks.pacing import OncePerStep, Stopwatch

_GAIN, _SLOWEST, _BACKWARD = 0.6, 0.1, -0.3  # [1/s] speed by the way that is left; [m/s] slowest; fastest back
_WITHIN, _STAYS = (-0.12, 0.08), (-0.16, 0.10)  # [m] before its place: there it stops; standing there it stays
_FACING, _AWAY = 0.25, 0.8  # [rad] beside the target: it may stop; it does not walk ahead
_TURN = 0.4  # [rad] at most in a step
_COM_AHEAD = 0.035  # [m] of the ankles while it stands
_WIDTH = 0.24  # [m] between the ankles when it stands
_REST = 0.3  # [s] it stands before it is there
_BESIDE = 0.12  # [m] from the line of sight to the target: before the shoulder rather than the nose


class ApproachTarget:
    """Walks to a place from which one hand reaches a target.

    Heading and speed are commanded once per step, the speed as a linear function of the remaining distance.

    Attributes:
        place: horizontal distance from the COM to the target at which to stand [m].
        is_stopping: whether the character takes its last step, or stands.
    """

    def __init__(self, target: np.ndarray, side: int, place: float, speed: float) -> None:
        """Set the goal.

        Args:
            target: (2,) world x and y [m].
            side: of the hand that will reach it.
            place: how near to stand [m].
            speed: from far [m/s].
        """
        self._target, self._side, self.place, self._speed = np.array(target, float), side, place, speed
        self.restart()

    def restart(self) -> None:
        """Look for a place to stand again."""
        self.is_stopping, self._step, self._stood = False, OncePerStep(), 0.0

    def tick(self, actor: Actor, dt: float) -> bool:
        """Walk on for a tick of `dt` [s]; True once the character stands in its place."""
        if not self.is_stopping:
            self._walk(actor)
            return False
        place_foot_abreast(actor, _WIDTH)
        self._stood = self._stood + dt if actor.standing else 0.0
        if self._stood <= _REST:
            return False
        left, turn = self._way(actor)
        is_there = _STAYS[0] < left < _STAYS[1] and abs(turn) < 2.0 * _FACING
        self.restart()
        return is_there

    def clear_commands(self, actor: Actor) -> None:
        """Clear the foothold, and stand."""
        actor.intent.foothold = 0.0
        actor.command(stop=1.0)

    def _walk(self, actor: Actor) -> None:
        if not self._step.is_new(actor):
            return
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
        """Remaining distance to its place [m], and how far it still has to turn [rad]."""
        x, y = self._target - actor.com[:2]
        size = max(math.hypot(x, y), 1e-3)
        beside = (-_BESIDE if self._side == LEFT else _BESIDE) * min(1.0, size / (2.0 * _BESIDE)) / size
        aim = self._target + beside * np.array([-y, x])  # so that the target comes to lie before the shoulder
        turn = math.remainder(actor.yaw_to(aim) - actor.heading, 2.0 * math.pi)
        return actor.distance_to(aim) * math.cos(turn) - self.place, turn


def _lead_of_stance(actor: Actor) -> float:
    """How far ahead the COM will come if the swing foot is set abreast of the stance foot [m]."""
    return actor.along_heading(actor.ankle(1 - int(actor.walker.swing)) - actor.com) + _COM_AHEAD


_POSE_GAIN = 0.5  # [1/s] speed by what is left of the way
_POSE_SLOWEST, _CREEPING = 0.2, 0.12  # [m/s] towards the place; most of it in the small steps before it
_LINE_UP = 0.7  # [m] before the place from where it comes straight
_ASIDE, _SIDEWAYS = 1.0, 0.08  # [1/s], [m/s] the same across
_MEAN = 0.5  # [s] over which the sway of its steps is averaged out
_TURNED = 0.1  # [rad] that it may stand off
_POSE_REST = 0.5  # [s] it stands before that counts


class ApproachPose:
    """Walks to a place and stands there with a given heading.

    Attributes:
        speed: from far [m/s].
        tolerance: how far from the place it may stand, along and across its heading [m].
        stopping: for how long it goes on at its speed after the command to stop [s].
    """

    def __init__(
        self, period: float, speed: float = 0.6, tolerance: tuple[float, float] = (0.05, 0.05), stopping: float = 0.3
    ) -> None:
        """Start anywhere; `period` is the time between two calls of `tick` [s]."""
        self.period, self.speed, self.tolerance, self.stopping = period, speed, tolerance, stopping
        self._step, self._standing = OncePerStep(), Stopwatch()
        self._near = False  # only small steps from now on
        self._off = (math.nan, math.nan)  # [m] ahead and to the left, averaged

    def tick(self, actor: Actor, at: np.ndarray, place: np.ndarray, yaw: float) -> bool:
        """Walk on; True once the character stands there.

        Args:
            actor: who walks.
            at: world x and y of its centre of mass, with what it carries [m].
            place: where that should be [m].
            yaw: world yaw it should face there [rad].
        """
        c, s = math.cos(yaw), math.sin(yaw)
        dx, dy = place[0] - at[0], place[1] - at[1]
        ahead, left = c * dx + s * dy, c * dy - s * dx
        if self._standing.is_running:
            return self._stand(actor, ahead, left, yaw)
        if math.isnan(self._off[0]):
            self._off = ahead, left
        share = self.period / _MEAN
        self._off = self._off[0] + share * (ahead - self._off[0]), self._off[1] + share * (left - self._off[1])
        if self._is_there(ahead, c * actor.com_velocity[0] + s * actor.com_velocity[1]):
            self._standing.restart(actor)
            actor.command(stop=1.0, sideways=0.0)
        elif self._step.is_new(actor):
            self._walk(actor, ahead, yaw)
        return False

    def _is_there(self, ahead: float, speed: float) -> bool:
        if not self._near:
            return ahead < max(self.stopping * speed, 0.0)
        return abs(self._off[0]) < 0.5 * self.tolerance[0] and abs(self._off[1]) < 0.5 * self.tolerance[1]

    def _walk(self, actor: Actor, ahead: float, yaw: float) -> None:
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

    def _stand(self, actor: Actor, ahead: float, left: float, yaw: float) -> bool:
        """Wait until it stands; then it is there, or has to make small steps."""
        if not self._standing.has_stood(actor, _POSE_REST):
            return False
        turned = abs(python_impl(nearest_turn)(yaw - actor.heading))
        if abs(ahead) <= self.tolerance[0] and abs(left) <= self.tolerance[1] and turned < _TURNED:
            return True
        self._standing.stop()
        self._step.reset()
        self._near, self._off = True, (ahead, left)
        return False
