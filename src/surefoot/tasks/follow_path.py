"""Walk along a path: through points, slower in sharp turns, to a stand at the last one (GENBICON §4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.pacing import OncePerStep, Stopwatch
from surefoot.tasks.task_text import TaskText, check_range


class Polyline:
    """Straight stretches on the ground from point to point.

    Attributes:
        points: (n, 2) corners, at least two, no two in a row the same [m].
        arc_lengths: (n,) distance of each from the first, along the path [m].
    """

    def __init__(self, points: np.ndarray) -> None:
        """Measure the distances along it."""
        self.points = points
        self.arc_lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])

    def point_at(self, place: float) -> np.ndarray:
        """(2,) the point at a distance along it [m]; it continues straight beyond its end."""
        beyond = max(0.0, place - float(self.arc_lengths[-1]))
        last = (self.points[-1] - self.points[-2]) / (self.arc_lengths[-1] - self.arc_lengths[-2])
        return np.asarray([np.interp(place, self.arc_lengths, column) for column in self.points.T] + beyond * last)

    def nearest(self, point: np.ndarray, low: float, high: float) -> float:
        """Distance along it, between two others, at which it comes nearest to a point [m]."""
        best, found = np.inf, low
        for i in range(len(self.points) - 1):
            first, last = max(self.arc_lengths[i], low), min(self.arc_lengths[i + 1], high)
            if first > last:
                continue
            start, end = self.point_at(first), self.point_at(last)
            way, length = end - start, max(last - first, 1e-12)
            along = float(np.clip((point - start) @ way / length, 0.0, length)) if last > first else 0.0
            off = float(np.hypot(*(self.point_at(first + along) - point)))
            if off < best:
                best, found = off, first + along
        return found

    def turns(self) -> np.ndarray:
        """(n,) angle of the turn at each corner, 0 … π; 0 at its ends [rad]."""
        ways = np.diff(self.points, axis=0)
        yaw = np.arctan2(ways[:, 1], ways[:, 0])
        return np.concatenate([[0.0], np.abs((np.diff(yaw) + np.pi) % (2.0 * np.pi) - np.pi), [0.0]])


class Steering:
    """Heads for places; a heading is commanded once per step."""

    def __init__(self) -> None:
        """Command at the first occasion."""
        self._step = OncePerStep()

    def head_for(self, actor: Actor, point: Any, speed: float) -> None:
        """Head for a place, once per step, at a speed [m/s]."""
        if self._step.is_new(actor):
            actor.command(heading=actor.yaw_to(point), speed=speed, **({"stop": 0.0} if self.can_stop(actor) else {}))

    def stop(self, actor: Actor) -> None:
        """Come to stand on two feet; a skill that cannot stand walks on the spot."""
        self._step.reset()
        actor.command(**({"stop": 1.0} if self.can_stop(actor) else {"speed": 0.0}))

    def can_stop(self, actor: Actor) -> bool:
        """Whether its skill has a command to stand."""
        return "stop" in actor.skill.commands


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
    """Walk through points; done when the character stands at the last one, or is there if its skill cannot stand.

    The heading is commanded once per step: towards a place a little farther along the path, but not beyond a point
    that is not yet reached within the tolerance. The path begins where the character is.

    Attributes:
        points: (n, 2) to go through [m].
        reached: how many of them it has reached.
        missed: (n,) least distance of its centre of mass from each point so far [m]; inf for those still to come.
    """

    controllers = ("genbicon", "limit_cycle", "stepping")

    def __init__(
        self,
        points: Sequence[Sequence[float]] | np.ndarray,
        speed: float = 0.8,
        tolerance: float = 0.3,
        timeout: float | None = None,
    ) -> None:
        """Set the path.

        Args:
            points: places (x, y) of the world, within ± 1000 m.
            speed: on straight stretches, 0.1 … 2 m/s.
            tolerance: how near the centre of mass has to come to each point, 0.05 … 5 m.
            timeout: how long it may take [s]; by default 20 s and three times what the path needs at this speed.

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        try:
            self.points = np.array(points, float)
        except (TypeError, ValueError):
            raise CommandError("a path is a list of points (x, y)") from None
        if self.points.ndim != 2 or self.points.shape[1] != 2 or not len(self.points):
            raise CommandError(f"a path is a list of points (x, y), got an array of shape {self.points.shape}")
        if not (np.isfinite(self.points).all() and np.abs(self.points).max() <= FARTHEST):
            raise CommandError(f"a path's points are finite and within ± {FARTHEST:g} m")
        self.speed = check_range("a path's speed", speed, _SPEEDS, "m/s")
        self.tolerance = check_range("a path's tolerance", tolerance, _TOLERANCES, "m")
        length = math.hypot(*self.points[0]) + float(np.hypot(*np.diff(self.points, axis=0).T).sum())
        super().__init__(20.0 + 3.0 * length / speed if timeout is None else timeout)
        self.reached = 0
        self.missed = np.full(len(self.points), np.inf)
        self._steering, self._standing = Steering(), Stopwatch()
        self._place = 0.0  # [m] along the path

    def begin(self, actor: Actor) -> None:
        """Lay the path from where the character is."""
        self._lay(actor.com[:2], self.points)

    def _lay(self, start: np.ndarray, points: np.ndarray) -> None:
        """Make the polyline from a place through points."""
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
        """Walk on, or stand."""
        at = actor.com[:2]
        self._arrive(at)
        if self._standing.is_running:
            if self._standing.has_stood(actor, _REST):
                self._judge(actor, "stands")
        elif self.reached >= len(self.points) - 1 and self._remaining(at) < _STOP_WITHIN:
            self._steering.stop(actor)
            if self._steering.can_stop(actor):
                self._standing.restart(actor)
            else:
                self._judge(actor, "is on the spot")
        else:
            self._walk(actor, at)

    def end(self, actor: Actor) -> None:
        """Stand."""
        if {"stop", "speed"} & set(actor.skill.commands):
            self._steering.stop(actor)

    def progress(self) -> str:
        """Which point it is walking to."""
        return f"on the way to point {min(self.reached + 1, len(self.points))} of {len(self.points)}"

    def _arrive(self, at: np.ndarray) -> None:
        """Note how near it comes to the next point and to those before, and which it has reached."""
        self.missed[: self.reached] = np.minimum(self.missed, np.hypot(*(self.points - at).T))[: self.reached]
        while self.reached < len(self.points):
            off = math.hypot(*(self.points[self.reached] - at))
            self.missed[self.reached] = min(self.missed[self.reached], off)
            if off > self.tolerance or self.reached == len(self.points) - 1:  # the last one is reached by standing
                return
            self.reached += 1

    def _remaining(self, at: np.ndarray) -> float:
        """Distance to the last point along the last stretch [m]; negative beyond it."""
        way = self._path.points[-1] - self._path.points[-2]
        return float((self._path.points[-1] - at) @ way / max(math.hypot(*way), _CLOSER))

    def _walk(self, actor: Actor, at: np.ndarray) -> None:
        limit = float(self._path.arc_lengths[self._corner[self.reached]])  # of the next point
        self._place = self._path.nearest(at, self._place, max(min(self._place + 1.0, limit), self._place))
        last = self.reached == len(self.points) - 1  # the aim goes straight on beyond the last point
        ahead = self._path.point_at(self._place + _AHEAD if last else min(self._place + _AHEAD, limit))
        self._steering.head_for(actor, ahead, self._allowed())

    def _allowed(self) -> float:
        """Speed here [m/s]: less before a sharp turn and before the end."""
        speed = self.speed
        for place, turn in zip(self._path.arc_lengths, self._turns, strict=True):
            if place >= self._place:
                least = self.speed * (1.0 - (1.0 - _IN_TURNS) * min(1.0, turn / (0.5 * math.pi)))
                speed = min(speed, least + _GAIN * max(0.0, place - self._place))
        return min(speed, max(_SLOWEST, _GAIN * float(self._path.arc_lengths[-1] - self._place)))

    def _judge(self, actor: Actor, does: str) -> None:
        """Finish if it is near enough to the last point, else walk there again."""
        off = actor.distance_to(self.points[-1])
        if off <= self.tolerance:
            self.reached = len(self.points)
            self.finish(f"{does} {off:.2f} m from the last point after {actor.time - self.began:.1f} s")
        else:
            self._standing.stop()
            self._lay(actor.com[:2], np.repeat(self.points[-1:], len(self.points), axis=0))


def _from_numbers(numbers: list[float], **options: float) -> FollowPath:
    return FollowPath(np.reshape(numbers, (-1, 2)), **options)


from_text = TaskText(
    "follow-path:X,Y,X,Y,… with speed=, tolerance=, timeout= if need be", ("speed", "tolerance", "timeout"),
    _from_numbers, multiple_of=2,
)  # fmt: skip
