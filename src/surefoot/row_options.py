"""What a population is built with: one thing for all rows, or one for each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from surefoot.errors import SurefootError
from surefoot.scene import Push, Scene
from surefoot.tasks.task import Task

Proportions = Mapping[str, float]
Tasks = Sequence[Task] | Sequence[Sequence[Task]] | Callable[[int], Sequence[Task]]


def per_body(
    proportions: Proportions | Sequence[Proportions] | None, n: int, make: Callable[[Proportions], Scene]
) -> list[Scene]:
    """The scene of each row, made once for each distinct body."""
    if proportions is None or isinstance(proportions, Mapping):
        return [make(proportions or {})] * n
    if len(proportions) != n:
        raise SurefootError(f"{len(proportions)} bodies for {n} rows")
    made: dict[str, Scene] = {}
    keys = [repr(list(own.items())) for own in proportions]
    for key, own in zip(keys, proportions, strict=True):
        if key not in made:
            made[key] = make(own)
    return [made[key] for key in keys]


def per_row(pushes: Sequence[Push] | Sequence[Sequence[Push]], n: int) -> list[list[Push]]:
    """The pushes of each row."""
    shared = [p for p in pushes if isinstance(p, Push)]
    if len(shared) == len(pushes):
        return [shared] * n
    lists = [list(p) for p in pushes if not isinstance(p, Push)]
    if len(lists) != n:
        raise SurefootError(f"{len(lists)} lists of pushes for {n} rows")
    return lists


def tasks_per_row(tasks: Tasks, n: int) -> list[list[Task]]:
    """The tasks of each row, no two of which share one."""
    if callable(tasks):
        return [list(tasks(i)) for i in range(n)]
    shared = [t for t in tasks if isinstance(t, Task)]
    if len(shared) == len(tasks):
        return [copy.deepcopy(shared) for _ in range(n)]
    lists = [list(t) for t in tasks if not isinstance(t, Task)]
    if len(lists) != n:
        raise SurefootError(f"{len(lists)} lists of tasks for {n} rows")
    return lists
