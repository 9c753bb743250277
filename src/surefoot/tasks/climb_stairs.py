"""Climb stairs up and down: a foothold on every tread, and a stance knee that lifts or lowers the body (GENBICON §4.4).

A walker sees stairs as vertical faces across its way, with footholds between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.controllers.genbicon.memory import STEP
from surefoot.controllers.genbicon.steps import LANDS
from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.footstep_planning import clear_foothold, keep_lane, set_foothold, speed_for, step_count
from surefoot.tasks.pacing import OncePerStep, Stopwatch, smoothstep
from surefoot.tasks.task_text import TaskText

_GRID, _LEAST = 0.005, 0.03  # [m] spacing at which the ground is sampled, and least height of a face
_BEHIND, _BEFORE = 0.023, 0.047  # [m] of a heel behind an edge, of toes before one
_SHORT = 0.15  # [m] two footholds of a tread that are nearer than this are one
_CLEAR = 0.055  # [m] of a sole over an edge
_HEEL, _TOES = 0.02, 0.032  # [m] by which heel and toes pass an edge


class StairEdge(NamedTuple):
    """A vertical face: where it is, and the ground's height before and behind it [m]."""

    x: float
    below: float
    above: float


class Stairs(NamedTuple):
    """Faces, and places of the ankles before and behind them [m]."""

    edges: tuple[StairEdge, ...]
    holds: tuple[float, ...]


def stair_edges(actor: Actor, start: float, end: float, y: float) -> tuple[StairEdge, ...]:
    """All faces on a line along world x."""
    xs = np.arange(start, end + _GRID, _GRID)
    z = np.array([actor.ground(float(x), y) for x in xs])
    return tuple(
        StairEdge(float(xs[i]) + 0.5 * _GRID, float(z[i]), float(z[i + 1]))
        for i in np.flatnonzero(np.abs(np.diff(z)) > _LEAST)
    )


def footholds(edges: Sequence[StairEdge], biped: Any) -> tuple[float, ...]:
    """Where the ankles go: before and behind every face; on a short tread once, in the middle."""
    holds: list[float] = []
    for edge in edges:
        before, behind = edge.x - float(biped.ahead) - _BEFORE, edge.x + float(biped.behind) + _BEHIND
        if holds and before - holds[-1] < _SHORT:
            holds[-1] = 0.5 * (holds[-1] + before)
        else:
            holds.append(before)
        holds.append(behind)
    return tuple(holds)


def set_swing_clearance(actor: Actor, between: Sequence[StairEdge], ground: float) -> None:
    """Lead the swing foot over the faces in its way; `ground` is the height under the stance foot [m]."""
    intent, biped, first, last = actor.intent, actor.limbs.biped[0], between[0], between[-1]
    toes, heel = float(biped.ahead) + _TOES, float(biped.behind) + _HEEL
    intent.over = 1.0
    if first.above > first.below:  # up: high when the toes come to a face
        intent.from_x, intent.clear = first.x - toes, first.above - ground + _CLEAR
        intent.to_x = last.x - toes if len(between) > 1 else first.x + _CLEAR
        intent.clear_to = last.above - ground + _CLEAR
    else:  # down: high until the heel has left it
        intent.from_x = first.x + heel if len(between) > 1 else first.x - _CLEAR
        intent.clear = first.below - ground + _CLEAR
        intent.to_x, intent.clear_to = last.x + heel, last.below - ground + _CLEAR


_FARTHEST = 1000.0  # [m]
_USUAL, _LONGEST = 0.34, 0.42  # [m] steps where it is level
_LEVEL, _UP, _DOWN = 0.65, 0.75, 0.65  # [s] a step
_LANDS = 0.86  # of a period has passed at footstrike
_CLOSER = 0.12  # [m] a foothold so near to the stance foot has been taken
_BEYOND = 0.02  # [m] of its aim is where a foot comes down
_ALPHA = 0.05  # [s] of equation 7: with bent knees it would else land too far ahead to go on
_GIVEN = 2  # last steps before a foothold whose places are given, not left to the pendulum
_FASTER_UP, _FASTER_DOWN = 1.5, 0.4  # [1/m] by the height of a stair: what lifting and lowering cost
_BENT, _BENT_DOWN = 0.3, 0.05  # [rad] of the stance knee at rest, on the way up and down
_LIFTS, _LOWERS = (0.2, 0.9), (0.1, 0.95)  # phases between which the stance knee does it
_DEEPER = 1.25  # than the stair is the knee told to lower: its servo lags
_REST = 0.3  # [s] it stands before that counts


class Climb(Task):
    """Walk along x over all stairs up to a place; done when the character stands there.

    The task looks at the ground once, for vertical faces, and plans a foothold before and behind each of them. The law
    knows no stairs: it gets the height of the next foothold, the path to it and the bend of the stance knee.

    Attributes:
        x: where to stand, on level ground behind the stairs [m].
        stairs: places and heights of the faces, and the footholds.
        climbed: how many of the faces are behind both feet.
    """

    def __init__(self, x: float, timeout: float = 60.0) -> None:
        """Set the place.

        Args:
            x: world x to walk to, within ± 1000 m and ahead of the character.
            timeout: how long it may take [s].

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        if not abs(x) <= _FARTHEST:
            raise CommandError(f"a climb ends at an x within ± {_FARTHEST:g} m, got {x}")
        super().__init__(timeout)
        self.x = float(x)
        self.stairs = Stairs((), ())
        self.climbed = 0
        self._step, self._standing = OncePerStep(), Stopwatch()
        self._lane, self._rise = 0.0, 0.0

    def begin(self, actor: Actor) -> None:
        """Look at the ground and start to walk."""
        self._lane, start = float(actor.com[1]), float(actor.com[0])
        if self.x <= start:
            raise CommandError(f"a climb goes along x: it ends at more than {start:.2f} m, got {self.x:g} m")
        edges = stair_edges(actor, start, self.x, self._lane)
        self.stairs = Stairs(edges, footholds(edges, actor.limbs.biped[0]))
        actor.command(step_time=LANDS * _LEVEL, speed=_USUAL / _LEVEL, stop=0.0)

    def tick(self, actor: Actor) -> None:
        """Plan every step when it begins; bend the stance knee all the time; stand at the end."""
        if self._standing.is_running:
            if self._standing.has_stood(actor, _REST):
                self.finish(f"stands behind {self.climbed} stairs")
        elif self.climbed == len(self.stairs.edges) and float(actor.com[0]) >= self.x:
            self._standing.restart(actor)
            self.end(actor)
        elif actor.walker.mode == STEP:
            keep_lane(actor, self._lane)
            if self._step.is_new(actor):
                self._plan(actor)
            self._bend(actor)

    def _plan(self, actor: Actor) -> None:
        clear_foothold(actor)
        actor.intent.alpha = _ALPHA
        at, lifted = float(actor.ankle(1 - int(actor.walker.swing))[0]), float(actor.walker.x0)
        self.climbed = sum(edge.x < min(at, lifted) for edge in self.stairs.edges)
        first = second = _USUAL
        later = [x for x in self.stairs.holds if x > at + _CLOSER]
        if later:
            count = step_count(later[0] - at, _USUAL, _LONGEST)
            first = second = (later[0] - at) / count
            if count <= _GIVEN:
                set_foothold(actor, at + first - _BEYOND)
            if count == 1 and len(later) > 1:
                second = later[1] - later[0]
        here = float(actor.ground(at, self._lane))
        between = [edge for edge in self.stairs.edges if lifted < edge.x < at + first]
        self._rise, faster, period = 0.0, 1.0, _LEVEL
        if between:
            up = between[0].above > between[0].below
            actor.intent.rise = self._rise = float(actor.ground(at + first, self._lane)) - here
            set_swing_clearance(actor, between, here)
            faster += (_FASTER_UP if up else _FASTER_DOWN) * abs(self._rise)
            period = _UP if up else _DOWN
        speed = speed_for(first, second, _LANDS * period, max(float(actor.com[2]) - here, 0.5))
        actor.command(speed=faster * speed, step_time=LANDS * period)

    def _bend(self, actor: Actor) -> None:
        """Straighten the stance knee on the way up, bend it on the way down."""
        walker, intent, leg = actor.walker, actor.intent, float(actor.limbs.legs[0].reach)
        if self._rise < 0.0:
            lowered = _DEEPER * self._rise * _eased(float(walker.phase), *_LOWERS)
            hip = leg * math.cos(0.5 * _BENT_DOWN) + lowered
            intent.crouch = 2.0 * math.acos(min(max(hip / leg, 0.1), 1.0))
        else:
            bent = _BENT if self._goes_up else _BENT_DOWN
            more = max(float(walker.knee) - bent, 0.0)
            intent.crouch = bent + more * (1.0 - _eased(float(walker.phase), *_LIFTS))

    @property
    def _goes_up(self) -> bool:
        edges = self.stairs.edges
        return not edges or edges[0].above > edges[0].below

    def end(self, actor: Actor) -> None:
        """Stand."""
        clear_foothold(actor)
        actor.intent.crouch = actor.intent.alpha = 0.0
        actor.command(stop=1.0)

    def progress(self) -> str:
        """Which stair it is on."""
        return f"on stair {min(self.climbed + 1, len(self.stairs.edges))} of {len(self.stairs.edges)}"


def _eased(phase: float, start: float, end: float) -> float:
    """How much of a change between two phases is done, 0 … 1."""
    return smoothstep(min(max((phase - start) / (end - start), 0.0), 1.0))


from_text = TaskText(
    "climb:X with timeout= if need be", ("timeout",), lambda numbers, **options: Climb(*numbers, **options), counts=(1,)
)
