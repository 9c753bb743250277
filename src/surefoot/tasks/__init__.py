"""Intentions in plain Python: what a walking character is to do, told through named fields, never by torques."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.errors import UnknownNameError
from surefoot.tasks import follow_path
from surefoot.tasks.actor import LEFT, RIGHT, Actor
from surefoot.tasks.follow_path import FollowPath
from surefoot.tasks.task import Task

__all__ = ["LEFT", "RIGHT", "Actor", "FollowPath", "Task", "load", "names"]

_KINDS: dict[str, Callable[[str], Task]] = {  # each makes a task of what stands behind its name and a colon
    "follow-path": follow_path.from_text,
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
