"""The text form of tasks on the command line: numbers, and options as NAME=NUMBER, all separated by commas."""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from dataclasses import dataclass

from surefoot.engine.task import Task
from surefoot.errors import CommandError


@dataclass(frozen=True)
class TaskText:
    """Makes a task from the text behind its name and the colon: `2,0,4,2,speed=0.6`.

    Attributes:
        usage: how the text is written, for messages; it begins with the task's name.
        options: names of the options.
        make: makes the task from a list of numbers and from the options as keywords.
        counts: how many numbers it takes; None if `multiple_of` says it.
        multiple_of: it takes as many numbers or a multiple of that.
    """

    usage: str
    options: tuple[str, ...]
    make: Callable[..., Task]
    counts: Container[int] | None = None
    multiple_of: int = 1

    def __call__(self, text: str) -> Task:
        """Make the task.

        Raises:
            CommandError: the text is not written that way; the message says how it is.
        """
        numbers: list[float] = []
        options: dict[str, float] = {}
        for part in text.split(",") if text else []:
            name, is_option, value = part.rpartition("=")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if not math.isfinite(number) or (is_option and (name not in self.options or name in options)):
                raise self._error(repr(part[:40]))
            if is_option:
                options[name] = number
            else:
                numbers.append(number)
        count = len(numbers)
        if not (count and count % self.multiple_of == 0 if self.counts is None else count in self.counts):
            raise self._error(f"{count} numbers")
        return self.make(numbers, **options)

    def _error(self, got: str) -> CommandError:
        return CommandError(f"task {self.usage.partition(':')[0]} is {self.usage}, got {got}")


def check_range(what: str, value: float, valid: tuple[float, float], unit: str) -> float:
    """The value as a float.

    Raises:
        CommandError: it is not within the valid range; the message names both.
    """
    low, high = valid
    if not low <= value <= high:
        raise CommandError(f"{what} must be within {low:g} … {high:g} {unit}, got {value}")
    return float(value)
