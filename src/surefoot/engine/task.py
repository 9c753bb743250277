"""Tasks: what a character is to do, in plain Python, and the schedule by which they are ticked.

A task writes named fields of a walker's memory, and ends with a reason. Ticks are due at whole physics steps, so that
results do not depend on how many steps a caller asks for at a time.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from surefoot.controllers import base as controllers
from surefoot.errors import CommandError, SurefootError
from surefoot.native.userdata import FALL_CAUSES
from surefoot.skills import load, names
from surefoot.skills.schema import Skill

if TYPE_CHECKING:
    from surefoot.engine.actor import Actor
    from surefoot.terrains.props import Prop

Status = Literal["waiting", "running", "done", "failed"]
MAX_SECONDS = 100_000.0  # [s]


class Task:
    """What a character is to do, ticked between short native runs.

    A task commands the character through an `Actor`; it never sets torques. It keeps its memory in its own attributes
    (numbers, arrays, strings: they are copied into snapshots) and keeps no actor: each tick gets the actor it is for.
    In `end` it clears whatever it wrote into the character's intent or hands.

    Attributes:
        status: "waiting" until time moves on for the first time, then "running", at last "done" or "failed".
        reason: why it failed, or what it did, in one line; empty before.
        timeout: time after which it fails [s].
        period: between two ticks [s], rounded to whole physics steps.
        began: when it began [s]; NaN before.
    """

    controllers: ClassVar[tuple[str, ...]] = ("genbicon",)  # whose skills understand its commands

    def __init__(self, timeout: float = 60.0, period: float = 0.01) -> None:
        """Set when it is ticked and for how long.

        Args:
            timeout: time after which it fails [s].
            period: between two ticks [s].

        Raises:
            CommandError: one of them is not within 0 … 100000 s.
        """
        for name, value in (("timeout", timeout), ("period", period)):
            if not 0.0 < value <= MAX_SECONDS:
                raise CommandError(f"a task's {name} must be within 0 … {MAX_SECONDS:g} s, got {value}")
        self.timeout, self.period = float(timeout), float(period)
        self.status: Status = "waiting"
        self.reason = ""
        self.began = math.nan

    def props(self) -> tuple[Prop, ...]:
        """Props that it needs; the command line adds them to the terrain, in Python `terrains.with_props` does."""
        return ()

    def begin(self, actor: Actor) -> None:
        """Start; called once, right before the first tick."""

    def tick(self, actor: Actor) -> None:
        """Go on; called every `period`. It ends the task by `finish` or `fail`."""
        raise NotImplementedError

    def end(self, actor: Actor) -> None:
        """Clean up; called once when it is done or has failed, by itself, by a fall or by its timeout."""

    def progress(self) -> str:
        """What it is doing, for the message of a timeout: "walking to point 2 of 5"."""
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


NEVER = 1 << 60  # [physics steps]


class TaskSnapshot(NamedTuple):
    """A task at a moment: the task, its attributes, and the physics step at which its next tick is due."""

    task: Task
    attributes: dict[str, Any]
    due: int


@dataclass
class _Scheduled:
    task: Task
    due: int


def check_accepts_tasks(skill: Skill, task: Task | None = None) -> None:
    """Check that a skill understands the commands of tasks, or of one task.

    Raises:
        CommandError: it does not; the message lists the skills that do.
    """
    able_controllers = [name for name in controllers.names() if controllers.load(name).takes_tasks]
    if task is not None:
        able_controllers = list(task.controllers)
    if skill.controller not in able_controllers:
        able = [name for name in names() if load(name).controller in able_controllers]
        what = f"task {type(task).__name__}" if task else "tasks"
        raise CommandError(
            f"{skill.full_name} is of {skill.controller} and takes no {what}; valid: {', '.join(able) or 'none'}"
        )


class TaskSchedule:
    """The tasks of one character, in the order they were added; all that are not over run side by side.

    A task is due when it is added, and every `period` from then on. Due tasks are ticked in order, before time moves on
    and when it has come to them: after `step` returns, every tick up to now has been made.
    """

    def __init__(self, actor: Actor) -> None:
        """Schedule tasks of this character."""
        self.actor = actor
        self._scheduled: list[_Scheduled] = []
        self._known: list[Task] = []  # all that were ever added, for restores

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, also those that are over."""
        return tuple(one.task for one in self._scheduled)

    @property
    def is_idle(self) -> bool:
        """Whether all of them are over."""
        return all(one.task.is_over for one in self._scheduled)

    def add(self, task: Task) -> None:
        """Add a task that has not begun.

        Raises:
            CommandError: it is no task, was added before, or the running skill does not understand its commands.
        """
        if not isinstance(task, Task):
            raise CommandError(f"a task is a surefoot.tasks.Task, got {type(task).__name__}")
        check_accepts_tasks(self.actor.skill, task)
        if task.status != "waiting" or any(task is known for known in self._known):
            raise CommandError("this task was added before; make a new one")
        self._scheduled.append(_Scheduled(task, self._now()))
        self._known.append(task)

    def steps_to_next(self) -> int:
        """Physics steps until the next tick is due; 0 if one is due now."""
        now = self._now()
        return max(0, min((e.due - now for e in self._scheduled if not e.task.is_over), default=NEVER))

    def tick(self) -> None:
        """Tick the tasks that are due."""
        now, dt = self._now(), self.actor.model.opt.timestep
        due = [e for e in self._scheduled if e.due <= now and not e.task.is_over]
        if due:
            self.actor.refresh()
        for one in due:
            one.due = now + max(1, round(one.task.period / dt))
            _tick(one.task, self.actor)

    def _now(self) -> int:
        return round(self.actor.time / float(self.actor.model.opt.timestep))

    def snapshot(self) -> tuple[TaskSnapshot, ...]:
        """A copy of all tasks."""
        return tuple(TaskSnapshot(e.task, copy.deepcopy(vars(e.task)), e.due) for e in self._scheduled)

    def restore(self, kept: tuple[TaskSnapshot, ...]) -> None:
        """Go back to a copy; tasks that were added here stay the same objects, others are copied."""
        self._scheduled = []
        for task, attributes, due in kept:
            if not any(task is known for known in self._known):
                task = copy.copy(task)
                self._known.append(task)
            vars(task).clear()
            vars(task).update(copy.deepcopy(attributes))
            self._scheduled.append(_Scheduled(task, due))


def _tick(task: Task, actor: Actor) -> None:
    try:
        if task.status == "waiting":
            task.status, task.began = "running", actor.time
            task.begin(actor)
        if task.status == "running":
            _tick_running(task, actor)
    except SurefootError as error:  # its command was refused
        task.fail(str(error))
    if task.is_over:
        task.end(actor)


def _tick_running(task: Task, actor: Actor) -> None:
    if actor.fallen:
        clock = actor.row.clock[0]
        task.fail(f"it fell at {clock.fallen_at:.2f} s: {FALL_CAUSES[int(clock.fall_cause)]}")
    elif actor.time - task.began > task.timeout + 0.5 * actor.model.opt.timestep:  # rounding is no delay
        progress = task.progress()
        task.fail(f"not done within {task.timeout:g} s" + (f", {progress}" if progress else ""))
    else:
        task.tick(actor)
