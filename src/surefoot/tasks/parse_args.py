"""What the command line says of a task: numbers, and options as NAME=NUMBER, all separated by commas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from surefoot.errors import CommandError


def parse_args(task: str, text: str, options: Sequence[str], usage: str) -> tuple[list[float], dict[str, float]]:
    """The numbers and the options of a text.

    Args:
        task: its name, for messages.
        text: what stands behind the colon: `2,0,4,2,speed=0.6`.
        options: names it may hold.
        usage: how it is written, for messages.
    """
    numbers: list[float] = []
    found: dict[str, float] = {}
    for part in text.split(",") if text else []:
        name, is_option, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (is_option and (name not in options or name in found)):
            raise CommandError(f"task {task} is {usage}, got {part[:40]!r}")
        if is_option:
            found[name] = number
        else:
            numbers.append(number)
    return numbers, found
