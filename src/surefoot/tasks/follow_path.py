"""A broken line on the ground, measured by the distance along it.

Walking towards a place: a heading and a speed, told once per step (GENBICON §4.4).

Walk along a path: through points, slower in sharp turns, to a stand at the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.parse_args import parse_args


class Polyline:
    """Straight stretches from point to point.

    Attributes:
        points: (n, 2) corners, at least two, no two in a row the same [m].
        places: (n,) distance of each from the first, along the path [m].
    """

    def __init__(self, points: np.ndarray) -> None:
        """Measure it."""
        self.points = points
        self.places = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])

    def at(self, place: float) -> np.ndarray:
        """(2,) the point at a distance along it; beyond its end it goes straight on [m]."""
        beyond = max(0.0, place - float(self.places[-1]))
        last = (self.points[-1] - self.points[-2]) / (self.places[-1] - self.places[-2])
        return np.asarray([np.interp(place, self.places, column) for column in self.points.T] + beyond * last)

    def nearest(self, point: np.ndarray, low: float, high: float) -> float:
        """Distance along it, between two others, at which it comes nearest to a point [m]."""
        best, found = np.inf, low
        for i in range(len(self.points) - 1):
            first, last = max(self.places[i], low), min(self.places[i + 1], high)
            if first > last:
                continue
            start, end = self.at(first), self.at(last)
            way, length = end - start, max(last - first, 1e-12)
            along = float(np.clip((point - start) @ way / length, 0.0, length)) if last > first else 0.0
            off = float(np.hypot(*(self.at(first + along) - point)))
            if off < best:
                best, found = off, first + along
        return found

    def turns(self) -> np.ndarray:
        """(n,) how far it turns at each corner, 0 … π, 0 at its ends [rad]."""
        ways = np.diff(self.points, axis=0)
        yaw = np.arctan2(ways[:, 1], ways[:, 0])
        return np.concatenate([[0.0], np.abs((np.diff(yaw) + np.pi) % (2.0 * np.pi) - np.pi), [0.0]])


class Steering:
    """Remembers at which step it last spoke, so that a step is not told twice where to go."""

    def __init__(self) -> None:
        """Speak at the first occasion."""
        self._told = -1

    def toward(self, actor: Actor, point: Any, speed: float) -> None:
        """Head for a place, once per step, at a speed [m/s]."""
        if actor.steps != self._told:
            self._told = actor.steps
            actor.command(heading=actor.yaw_to(point), speed=speed, **({"stop": 0.0} if self.can_stop(actor) else {}))

    def stop(self, actor: Actor) -> None:
        """Come to stand on two feet; what cannot stand goes on the spot."""
        self._told = -1
        actor.command(**({"stop": 1.0} if self.can_stop(actor) else {"speed": 0.0}))

    def can_stop(self, actor: Actor) -> bool:
        """Whether its skill can be told to stand."""
        return "stop" in actor.skill.commands


USAGE = "follow-path:X,Y,X,Y,… with speed=, tolerance=, timeout= if need be"
FARTHEST = 1000.0  # [m] from the origin
_SPEEDS, _TOLERANCES = (0.1, 2.0), (0.05, 5.0)  # [m/s], [m]
_AHEAD = 0.6  # [m] along the path to where it looks
_CLOSER = 0.01  # [m] points nearer than this to the one before are the same
_SLOWEST = 0.25  # [m/s] at which it comes to its end
_GAIN = 0.5  # [1/s] speed by remaining distance, before turns and the end
_IN_TURNS = 0.4  # share of the speed that is left in a turn by 90° or more
_STOP_WITHIN = 0.12  # [m] of the last point
_REST = 0.4  # [s] it stands before that counts


class FollowPath(Task):
    """Walk through points; done when it stands at the last one, or, if its skill cannot stand, is there.

    The heading is told once per step: the line of sight to a place a little further along the path, but never
    beyond a point between until that is reached within the tolerance. The path begins where the character is.

    Attributes:
        points: (n, 2) to go through [m].
        reached: how many of them were.
        missed: how far from each its centre of mass passed, at least [m]; inf for those that are still to come.
    """

    controllers = ("genbicon", "limit_cycle", "stepping")

    def __init__(
        self,
        points: Sequence[Sequence[float]] | np.ndarray,
        speed: float = 0.8,
        tolerance: float = 0.3,
        timeout: float | None = None,
    ) -> None:
        """Check the path.

        Args:
            points: places (x, y) of the world [m].
            speed: on straight stretches [m/s].
            tolerance: how near the centre of mass comes to each point [m].
            timeout: how long it may take [s]; by default what a third of the speed needs, and 20 s.
        """
        try:
            self.points = np.array(points, float)
        except (TypeError, ValueError):
            raise CommandError("a path is a list of points (x, y)") from None
        if self.points.ndim != 2 or self.points.shape[1] != 2 or not len(self.points):
            raise CommandError(f"a path is a list of points (x, y), got an array of shape {self.points.shape}")
        if not (np.isfinite(self.points).all() and np.abs(self.points).max() <= FARTHEST):
            raise CommandError(f"a path's points are finite and within ± {FARTHEST:g} m")
        for name, value, (low, high) in (("speed", speed, _SPEEDS), ("tolerance", tolerance, _TOLERANCES)):
            if not low <= value <= high:
                raise CommandError(f"a path's {name} must be within {low:g} … {high:g}, got {value}")
        self.speed, self.tolerance = float(speed), float(tolerance)
        length = math.hypot(*self.points[0]) + float(np.hypot(*np.diff(self.points, axis=0).T).sum())
        super().__init__(20.0 + 3.0 * length / speed if timeout is None else timeout)
        self.reached = 0
        self.missed = np.full(len(self.points), np.inf)
        self._steering = Steering()
        self._place = 0.0  # [m] along the path
        self._stood_at = math.nan  # [s] since when it has been to stand

    def begin(self, actor: Actor) -> None:
        """Lay the path from where the character is."""
        self._lay(actor.com[:2], self.points)

    def _lay(self, start: np.ndarray, points: np.ndarray) -> None:
        """Make the path from a place through points."""
        corners, self._corner = [start], []
        for point in points:
            if math.hypot(*(point - corners[-1])) > _CLOSER:
                corners.append(point)
            self._corner.append(len(corners) - 1)  # of each point among the corners
        if len(corners) == 1:  # it is there already
            corners.append(start + np.array([_CLOSER, 0.0]))
        self._path, self._place = Polyline(np.array(corners)), 0.0
        self._turns = self._path.turns()

    def tick(self, actor: Actor) -> None:
        """Look where it is; go on, or stand."""
        at = actor.com[:2]
        self._arrive(at)
        if not math.isnan(self._stood_at):
            self._stand(actor)
        elif self.reached >= len(self.points) - 1 and self._remaining(at) < _STOP_WITHIN:
            self._steering.stop(actor)
            if self._steering.can_stop(actor):
                self._stood_at = actor.time
            else:
                self._judge(actor, "is on the spot")
        else:
            self._walk(actor, at)

    def end(self, actor: Actor) -> None:
        """Stand, whatever came of it."""
        if {"stop", "speed"} & set(actor.skill.commands):
            self._steering.stop(actor)

    def doing(self) -> str:
        """What it is at."""
        return f"on the way to point {min(self.reached + 1, len(self.points))} of {len(self.points)}"

    def _arrive(self, at: np.ndarray) -> None:
        """Note how near it comes to the next point and to those before, and what it has reached."""
        self.missed[: self.reached] = np.minimum(self.missed, np.hypot(*(self.points - at).T))[: self.reached]
        while self.reached < len(self.points):
            off = math.hypot(*(self.points[self.reached] - at))
            self.missed[self.reached] = min(self.missed[self.reached], off)
            if off > self.tolerance or self.reached == len(self.points) - 1:  # the last one is reached by standing
                return
            self.reached += 1

    def _remaining(self, at: np.ndarray) -> float:
        """Way to the last point, as seen along the last stretch [m]; negative beyond it."""
        way = self._path.points[-1] - self._path.points[-2]
        return float((self._path.points[-1] - at) @ way / max(math.hypot(*way), _CLOSER))

    def _walk(self, actor: Actor, at: np.ndarray) -> None:
        limit = float(self._path.places[self._corner[self.reached]])  # of the next point
        self._place = self._path.nearest(at, self._place, max(min(self._place + 1.0, limit), self._place))
        last = self.reached == len(self.points) - 1  # it is passed straight on, not looked at from near by
        ahead = self._path.at(self._place + _AHEAD if last else min(self._place + _AHEAD, limit))
        self._steering.toward(actor, ahead, self._allowed())

    def _allowed(self) -> float:
        """Speed here: less before a sharp turn and before the end [m/s]."""
        speed = self.speed
        for place, turn in zip(self._path.places, self._turns, strict=True):
            if place >= self._place:
                least = self.speed * (1.0 - (1.0 - _IN_TURNS) * min(1.0, turn / (0.5 * math.pi)))
                speed = min(speed, least + _GAIN * max(0.0, place - self._place))
        return min(speed, max(_SLOWEST, _GAIN * float(self._path.places[-1] - self._place)))

    def _stand(self, actor: Actor) -> None:
        """Wait until it stands; then it is there, or has to go again."""
        if not actor.standing:
            self._stood_at = actor.time
        elif actor.time - self._stood_at > _REST:
            self._judge(actor, "stands")

    def _judge(self, actor: Actor, does: str) -> None:
        """Be done if it is near enough to the last point, or go there again."""
        off = actor.distance_to(self.points[-1])
        if off <= self.tolerance:
            self.reached = len(self.points)
            self.finish(f"{does} {off:.2f} m from the last point after {actor.time - self.began:.1f} s")
        else:
            self._stood_at = math.nan
            self._lay(actor.com[:2], np.repeat(self.points[-1:], len(self.points), axis=0))


def from_text(text: str) -> FollowPath:
    """The task of what stands behind `follow-path:` on the command line."""
    numbers, options = parse_args("follow-path", text, ("speed", "tolerance", "timeout"), USAGE)
    if not numbers or len(numbers) % 2:
        raise CommandError(f"task follow-path is {USAGE}, got {len(numbers)} numbers")
    return FollowPath(np.reshape(numbers, (-1, 2)), **options)
