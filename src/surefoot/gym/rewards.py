"""What a step is worth: the default reward, and the form of any other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Reward = Callable[[Mapping[str, Any]], float]
"""Takes the measurements of one row after a step by name (`surefoot.gym.MEASUREMENTS`), gives its reward."""


@dataclass(frozen=True)
class Tracking:
    """alive · [not fallen] + tracking · exp(−((speed − wanted) / width)²) − cost · effort.

    Attributes:
        speed: wanted [m/s], along where it faces.
        alive: for every step without a fall.
        tracking: for the wanted speed, less for others.
        width: [m/s] how far off the speed is when it is worth 1/e of that.
        cost: of `effort` [1/m²].
    """

    speed: float
    alive: float = 1.0
    tracking: float = 1.0
    width: float = 0.5
    cost: float = 1.0

    def __call__(self, measured: Mapping[str, Any]) -> float:
        """The reward of a step that ended with these measurements."""
        off = (measured["speed"] - self.speed) / self.width
        alive = 0.0 if measured["fallen"] else self.alive
        return float(alive + self.tracking * math.exp(-off * off) - self.cost * measured["effort"])
