"""What a running skill can be told, in the units that people write."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefoot.errors import CommandError

DEGREES = "°"  # the unit in which people write angles, which are radians inside


class Command(NamedTuple):
    """A number that a running skill can be told: its unit as people write it, and its limits as the law takes it."""

    unit: str  # DEGREES for angles, which are radians inside; "" for shares and for switches (0 … 1)
    low: float
    high: float

    @property
    def is_direction(self) -> bool:
        """Whether it is an angle that may go round and round."""
        return self.unit == DEGREES and self.high - self.low > 2.0 * math.pi

    @property
    def written_limits(self) -> tuple[float, float]:
        """Lowest and highest value in the unit that people write."""
        return (math.degrees(self.low), math.degrees(self.high)) if self.unit == DEGREES else (self.low, self.high)

    def to_written(self, value: float) -> float:
        """A value as people write it; directions lie within ± 180°."""
        if self.is_direction:
            value = math.remainder(value, 2.0 * math.pi)
        return math.degrees(value) if self.unit == DEGREES else value

    def from_written(self, name: str, value: float) -> float:
        """A written value as the law takes it.

        Args:
            name: of the command, for the message.
            value: in the unit that people write.

        Raises:
            CommandError: an angle beyond its limits, which are given in degrees.
        """
        if self.unit != DEGREES:
            return value  # whoever sets it checks the limits
        low, high = self.written_limits
        if not low <= value <= high:
            raise CommandError(f"command {name} must be within {low:.5g} … {high:.5g} degrees, got {value:g}")
        return float(np.clip(math.radians(value), self.low, self.high))
