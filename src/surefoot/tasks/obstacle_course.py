"""Over and under: a course of obstacles and bars, none of which may be touched (GENBICON §4.4, figure 17)."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.duck_under import DuckUnder
from surefoot.tasks.step_over import StepOver
from surefoot.tasks.task_text import TaskText
from surefoot.terrains.props import Bar, Obstacle, Prop


class Course(Task):
    """Step over all obstacles and duck under all bars along x; touching one of them is a failure.

    The two behaviours know nothing of each other: one commands legs and speed, the other bends the body.

    Attributes:
        things: obstacles and bars, as given.
        parts: the behaviours.
        touched: name of the object that was touched; empty if none was.
    """

    def __init__(self, things: Sequence[Obstacle | Bar], timeout: float | None = None) -> None:
        """Set the course.

        Args:
            things: obstacles and bars, at least one.
            timeout: how long it may take [s]; by default 20 s and 5 s for each metre.

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        obstacles = [it for it in things if isinstance(it, Obstacle)]
        bars = [it for it in things if isinstance(it, Bar)]
        if not things or len(obstacles) + len(bars) < len(things):
            raise CommandError("a course takes one or more of surefoot.props.Obstacle and surefoot.props.Bar")
        far = max(it.x for it in things)
        super().__init__(20.0 + 5.0 * max(far, 0.0) if timeout is None else timeout)
        self.things = tuple(things)
        self.parts: list[StepOver | DuckUnder] = []
        if obstacles:
            self.parts.append(StepOver(obstacles))
        if bars:
            self.parts.append(DuckUnder(bars))
        self.touched = ""

    def props(self) -> tuple[Prop, ...]:
        """The obstacles and bars."""
        return self.things

    def begin(self, actor: Actor) -> None:
        """Start both behaviours."""
        for part in self.parts:
            part.status, part.began = "running", actor.time
            part.begin(actor)

    def tick(self, actor: Actor) -> None:
        """Fail if anything was touched at any physics step; else tick both behaviours."""
        walker = actor.walker
        if walker.met > 0.0 and walker.met_at >= self.began:
            limb, thing = (actor.model.body(int(body)).name for body in (walker.met_by, walker.met))
            self.touched = thing
            self.fail(f"its {limb} touched {thing} at {walker.met_at:.3f} s")
            return
        for part in self.parts:
            if not part.is_over:
                part.tick(actor)
                if part.is_over:
                    part.end(actor)
        if all(part.is_over for part in self.parts):
            self.finish(" and ".join(part.reason for part in self.parts))

    def end(self, actor: Actor) -> None:
        """End both behaviours and stand."""
        for part in self.parts:
            part.end(actor)
        actor.command(stop=1.0)

    def progress(self) -> str:
        """What the behaviours are doing."""
        return " and ".join(part.progress() for part in self.parts if not part.is_over)


def _from_numbers(numbers: list[float], **options: float) -> Course:
    things: list[Obstacle | Bar] = []
    for i in range(0, len(numbers), 5):
        things += [Obstacle(*numbers[i : i + 3]), Bar(*numbers[i + 3 : i + 5])]
    return Course(things, **options)


from_text = TaskText(
    "course:X,HEIGHT,DEPTH,BAR_X,BAR_HEIGHT,… for each pair, with timeout= if need be", ("timeout",), _from_numbers,
    multiple_of=5,
)  # fmt: skip
