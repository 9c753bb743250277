"""Tasks: what a walking character is to do, in plain Python; they give commands and set named fields, never torques."""

from __future__ import annotations

import sys

from surefoot import plugins
from surefoot.engine.actor import LEFT, RIGHT, Actor
from surefoot.engine.task import Task
from surefoot.tasks.carry_crate import Carry
from surefoot.tasks.climb_stairs import Climb
from surefoot.tasks.duck_under import DuckUnder
from surefoot.tasks.follow_path import FollowPath
from surefoot.tasks.obstacle_course import Course
from surefoot.tasks.push_pull_crate import PullCrate, PushCrate
from surefoot.tasks.reach_target import Reach
from surefoot.tasks.step_over import StepOver

__all__ = [
    "LEFT", "RIGHT", "Actor", "Carry", "Climb", "Course", "DuckUnder", "FollowPath", "PullCrate", "PushCrate", "Reach",
    "StepOver", "Task", "load", "names",
]  # fmt: skip

sys.modules[__name__].__class__ = plugins.ListedModule


def names() -> tuple[str, ...]:
    """The names of all registered tasks."""
    return plugins.names(plugins.TASKS)


def load(text: str) -> Task:
    """The task that a text describes.

    Args:
        text: a name, and after a colon numbers and options: `follow-path:2,0,4,2,speed=0.6`.

    Raises:
        UnknownNameError: no task is registered under the name; the message lists the valid ones.
        CommandError: the arguments are not valid; the message says what is.
    """
    name, _, rest = text.partition(":")
    made: Task = plugins.load(plugins.TASKS, name)(rest)
    return made
