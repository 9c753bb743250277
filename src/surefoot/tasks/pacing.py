"""When a task acts: once per step, after the character has stood for a while, and how gently things change."""

from __future__ import annotations

import math

from surefoot.engine.actor import Actor


class OncePerStep:
    """Tells each step of a walk from the one before, so that a command is given once per step."""

    def __init__(self) -> None:
        """Count the step that is being taken as new."""
        self._step = -1

    def is_new(self, actor: Actor) -> bool:
        """Whether this is the first call during the present step."""
        is_new, self._step = actor.steps != self._step, actor.steps
        return is_new

    def reset(self) -> None:
        """Count the present step as new again."""
        self._step = -1


class Stopwatch:
    """Simulated time since a moment; it does not run until it is restarted."""

    def __init__(self) -> None:
        """Do not run yet."""
        self._since = math.nan  # [s]

    @property
    def is_running(self) -> bool:
        """Whether it was restarted and not stopped since."""
        return not math.isnan(self._since)

    def restart(self, actor: Actor) -> None:
        """Measure from now on."""
        self._since = actor.time

    def stop(self) -> None:
        """Do not run."""
        self._since = math.nan

    def is_over(self, actor: Actor, seconds: float) -> bool:
        """Whether it has run for longer than this [s]."""
        return actor.time - self._since > seconds

    def has_stood(self, actor: Actor, seconds: float, ready: bool = True) -> bool:
        """Whether the character has stood, and been `ready`, for longer than this [s] without a break."""
        if ready and actor.standing:
            return self.is_over(actor, seconds)
        self.restart(actor)
        return False


def smoothstep(share: float) -> float:
    """A share 0 … 1, eased: it starts and ends with no slope."""
    return share * share * (3.0 - 2.0 * share)
