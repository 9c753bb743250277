"""Step over obstacles: a foot is planted before each of them, and both then go over it (GENBICON §4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.controllers.genbicon.memory import STEP
from surefoot.controllers.genbicon.steps import LANDS
from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.footstep_planning import clear_foothold, keep_lane, set_foothold, speed_for, step_count
from surefoot.tasks.pacing import OncePerStep
from surefoot.tasks.task_text import TaskText
from surefoot.terrains.props import Obstacle, Prop

HIGHEST, DEEPEST = 0.25, 0.15  # [m] it steps over
_USUAL, _LONGEST, _LEAST = 0.38, 0.48, 0.35  # [m] steps on the way, and the least behind an obstacle
_PERIOD, _SLOWER = 0.65, 0.6  # [s] a step, and [s/m] longer by the height of what it goes over
_LANDS = 0.93  # of a period has passed at footstrike
_BEFORE, _AFTER = 0.08, 0.14  # [m] between toes and obstacle, and between it and the heel
_NEAR = 0.07  # [m] by which the foot before it may have missed its place
_GIVEN = 2  # last steps before it whose places are given, not left to the pendulum
_EDGE = 0.04  # [m] more than foot and obstacle are long, along which a foot is high
_LEAD, _TRAIL = 0.06, 0.14  # [m] of the soles above it; the foot that follows hangs from a bent ankle


class StepOver(Task):
    """Walk along x over obstacles; done when both feet are behind the last one.

    Far from an obstacle the speed alone adapts the step length. The last footholds before it are set. Over it the foot
    follows a planned path, at whose end the inverted pendulum decides where it comes down.

    Attributes:
        obstacles: in their order along x.
        passed: how many of them are behind both feet.
    """

    def __init__(self, obstacles: Sequence[Obstacle], timeout: float = 120.0) -> None:
        """Set the obstacles.

        Args:
            obstacles: across the way along x, up to 0.25 m high and 0.15 m deep.
            timeout: how long it may take [s].

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        if not obstacles or not all(isinstance(it, Obstacle) for it in obstacles):
            raise CommandError("stepping over takes one or more obstacles, as of surefoot.props.Obstacle")
        for it in obstacles:
            if not (it.height <= HIGHEST + 1e-9 and it.depth <= DEEPEST + 1e-9):
                raise CommandError(
                    f"obstacles to step over are up to {HIGHEST:g} m high and {DEEPEST:g} m deep, "
                    f"got {it.height:g} m and {it.depth:g} m"
                )
        super().__init__(timeout)
        self.obstacles = tuple(sorted(obstacles, key=lambda it: it.x))
        self.passed = 0
        self._step, self._lane = OncePerStep(), 0.0

    def props(self) -> tuple[Prop, ...]:
        """The obstacles."""
        return self.obstacles

    def begin(self, actor: Actor) -> None:
        """Start to walk along x."""
        self._lane = float(actor.com[1])
        actor.command(step_time=LANDS * _PERIOD, speed=_USUAL / _PERIOD, stop=0.0)

    def tick(self, actor: Actor) -> None:
        """Plan every step when it begins."""
        keep_lane(actor, self._lane)
        if actor.walker.mode == STEP and self._step.is_new(actor):
            self._plan(actor)

    def _plan(self, actor: Actor) -> None:
        clear_foothold(actor)
        at = float(actor.ankle(1 - int(actor.walker.swing))[0])
        while self.passed < len(self.obstacles) and min(at, float(actor.walker.x0)) > _back(self._next):
            self.passed += 1
        if self.passed == len(self.obstacles):
            self.finish(f"stepped over {self.passed} obstacles")
            return
        biped = actor.limbs.biped[0]
        before = _front(self._next) - biped.ahead - _BEFORE - at  # to the places of the ankle
        behind = _back(self._next) + biped.behind + _AFTER - at
        if at > _back(self._next):  # the other foot follows
            first = second = max(self._to_next(actor, at), _LEAST)
            self._lift(actor, _TRAIL)
        elif before < _NEAR:  # it stands before it
            first, second = behind, _USUAL
            self._lift(actor, _LEAD)
            set_foothold(actor, at + first)
        else:
            count = step_count(before, _USUAL, _LONGEST)
            first = second = before / count
            if count <= _GIVEN:
                second = behind - before if count == 1 else first
                set_foothold(actor, at + first)
        self._command(actor, first, second)

    @property
    def _next(self) -> Obstacle:
        return self.obstacles[self.passed]

    def _to_next(self, actor: Actor, at: float) -> float:
        """Length of the steps to the obstacle after the next one, from an ankle's place [m]."""
        if self.passed + 1 == len(self.obstacles):
            return _USUAL
        way = _front(self.obstacles[self.passed + 1]) - float(actor.limbs.biped[0].ahead) - _BEFORE - at
        return way / step_count(way, _USUAL, _LONGEST)

    def _lift(self, actor: Actor, clear: float) -> None:
        """Lead the foot over the next obstacle."""
        intent, biped = actor.intent, actor.limbs.biped[0]
        intent.over = 1.0
        intent.from_x = _front(self._next) - biped.ahead - _EDGE
        intent.to_x = _back(self._next) + biped.behind + _EDGE
        intent.clear = intent.clear_to = self._next.height + clear

    def _command(self, actor: Actor, first: float, second: float) -> None:
        """Command the duration of a step and the speed for its length and the next one's [m]."""
        over = actor.intent.over != 0.0
        period = _PERIOD + (_SLOWER * self._next.height if over else 0.0)
        height = float(actor.com[2] - actor.walker.ground)
        speed = speed_for(first, second, period if over else _LANDS * period, height)
        actor.command(speed=speed, step_time=LANDS * period)

    def end(self, actor: Actor) -> None:
        """Walk on as usual."""
        clear_foothold(actor)
        actor.command(speed=_USUAL / _PERIOD, sideways=0.0)

    def progress(self) -> str:
        """Which obstacle it is walking to."""
        return f"on the way to obstacle {self.passed + 1} of {len(self.obstacles)}"


def _front(it: Obstacle) -> float:
    return it.x - 0.5 * it.depth


def _back(it: Obstacle) -> float:
    return it.x + 0.5 * it.depth


def _from_numbers(numbers: list[float], **options: float) -> StepOver:
    each = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    return StepOver([Obstacle(x, height, depth) for x, height, depth in each], **options)


from_text = TaskText(
    "step-over:X,HEIGHT,DEPTH,X,HEIGHT,DEPTH,… with timeout= if need be", ("timeout",), _from_numbers, multiple_of=3
)
