"""What a task is: an intention that writes named fields of a walker's memory, and ends with a reason."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from surefoot.errors import CommandError

if TYPE_CHECKING:
    from surefoot.tasks.actor import Actor
    from surefoot.terrains.props import Prop

Status = Literal["waiting", "running", "done", "failed"]
LONGEST = 100_000.0  # [s]


class Task:
    """An intention in plain Python, ticked between short native runs.

    A task tells the character what to do through an `Actor`; it never touches torques. What it remembers it keeps as
    attributes of its own (numbers, arrays, strings: they are copied into snapshots) and it keeps no actor: a tick
    gets the one it is for. Whatever it wrote into the character's intent or hands it takes back in `end`.

    Attributes:
        status: "waiting" until time moves on for the first time, then "running", at last "done" or "failed".
        reason: why it failed, or what was done, in one line; empty before.
        timeout: how long it may run until it fails [s].
        period: between two ticks [s], rounded to whole physics steps.
        began: when it began [s]; NaN before.
    """

    controllers: ClassVar[tuple[str, ...]] = ("genbicon",)  # whose skills can be told what it tells

    def __init__(self, timeout: float = 60.0, period: float = 0.01) -> None:
        """Set what every task has.

        Args:
            timeout: how long it may run until it fails [s].
            period: between two ticks [s].
        """
        for name, value in (("timeout", timeout), ("period", period)):
            if not 0.0 < value <= LONGEST:
                raise CommandError(f"a task's {name} must be within 0 … {LONGEST:g} s, got {value}")
        self.timeout, self.period = float(timeout), float(period)
        self.status: Status = "waiting"
        self.reason = ""
        self.began = math.nan

    def props(self) -> tuple[Prop, ...]:
        """What it needs in the world; the command line puts it there, in Python `terrains.with_props` does."""
        return ()

    def begin(self, actor: Actor) -> None:
        """Called once, before the first tick and at the same moment."""

    def tick(self, actor: Actor) -> None:
        """Called every `period`; ends the task by `finish` or `fail`."""
        raise NotImplementedError

    def end(self, actor: Actor) -> None:
        """Called once when it is done or has failed, by itself, by a fall or by its timeout."""

    def doing(self) -> str:
        """What it is at, for the reason of a timeout: "walking to point 2 of 5"."""
        return ""

    def finish(self, reason: str) -> None:
        """End it as done."""
        self.status, self.reason = "done", reason

    def fail(self, reason: str) -> None:
        """End it as failed."""
        self.status, self.reason = "failed", reason

    @property
    def is_over(self) -> bool:
        """Whether it is done or failed."""
        return self.status in ("done", "failed")
