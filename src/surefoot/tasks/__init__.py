"""Intentions in plain Python: what a walking character is to do, told through named fields, never by torques."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.errors import UnknownNameError
from surefoot.tasks import carry, climb, course, duck_under, follow_path, haul, reach, step_over
from surefoot.tasks.actor import LEFT, RIGHT, Actor
from surefoot.tasks.carry import Carry
from surefoot.tasks.climb import Climb
from surefoot.tasks.course import Course
from surefoot.tasks.duck_under import DuckUnder
from surefoot.tasks.follow_path import FollowPath
from surefoot.tasks.haul import PullCrate, PushCrate
from surefoot.tasks.reach import Reach
from surefoot.tasks.step_over import StepOver
from surefoot.tasks.task import Task

__all__ = [
    "LEFT", "RIGHT", "Actor", "Carry", "Climb", "Course", "DuckUnder", "FollowPath", "PullCrate", "PushCrate", "Reach",
    "StepOver", "Task", "load", "names",
]  # fmt: skip

_KINDS: dict[str, Callable[[str], Task]] = {  # each makes a task of what stands behind its name and a colon
    "carry": carry.from_text,
    "climb": climb.from_text,
    "course": course.from_text,
    "duck-under": duck_under.from_text,
    "follow-path": follow_path.from_text,
    "pull-crate": haul.pull_from_text,
    "push-crate": haul.push_from_text,
    "reach": reach.from_text,
    "step-over": step_over.from_text,
}


def names() -> tuple[str, ...]:
    """All tasks that can be asked for by name."""
    return tuple(_KINDS)


def load(text: str) -> Task:
    """The task a string describes: a name, and after a colon its arguments (`follow-path:2,0,4,2,speed=0.6`)."""
    name, _, rest = text.partition(":")
    if name not in _KINDS:
        raise UnknownNameError("task", name, names())
    return _KINDS[name](rest)
