"""A body, a terrain and a task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.characters.parametric_biped import HUMANOID, table_from_measures
from surefoot.characters.table import CharacterTable
from surefoot.errors import CommandError
from surefoot.tasks import Actor, Task
from surefoot.terrains import Terrain


def stilter() -> CharacterTable:
    """The humanoid with longer shins."""
    return table_from_measures(replace(HUMANOID, name="stilter", shin=1.15 * HUMANOID.shin))


def waves(height: float = 0.02, length: float = 2.0) -> Terrain:
    """Ground that rises and falls along x.

    Args:
        height: of a wave [m].
        length: of a wave [m].
    """
    along = np.arange(1.0, 40.0, 0.05)
    heights = 0.5 * height * (1.0 - np.cos(2.0 * np.pi * (along - 1.0) / length))
    return Terrain(f"waves:{height:g},{length:g}", np.column_stack([along, heights]))


class HoldStill(Task):
    """Stand for some time without falling."""

    controllers = ("statue", "genbicon", "stepping")

    def __init__(self, seconds: float = 1.0) -> None:
        """Stand.

        Args:
            seconds: how long [s].
        """
        super().__init__(timeout=seconds + 1.0)
        self.seconds = seconds

    def tick(self, actor: Actor) -> None:
        """End when the time is over."""
        if actor.time - self.began >= self.seconds:
            self.finish(f"stood for {self.seconds:g} s")


def hold_still_from_text(text: str) -> HoldStill:
    """The task of `hold-still:SECONDS`."""
    try:
        return HoldStill(float(text or 1.0))
    except ValueError:
        raise CommandError(f"task hold-still is hold-still:SECONDS, got {text!r}") from None
