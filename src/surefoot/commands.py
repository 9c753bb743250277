"""Commands as people write them: angles in degrees, everything else as the simulation takes it."""

from __future__ import annotations

import math

import numpy as np

from surefoot.errors import CommandError
from surefoot.kit import DEGREES, Kit

_TURN = 2.0 * math.pi


def written_range(kit: Kit, name: str) -> tuple[float, float]:
    """Lowest and highest value of a command, as written."""
    low, high = kit.ranges[name]
    return (math.degrees(low), math.degrees(high)) if kit.units[name] == DEGREES else (low, high)


def is_direction(kit: Kit, name: str) -> bool:
    """Whether a command is an angle that may go round and round."""
    low, high = kit.ranges[name]
    return kit.units[name] == DEGREES and high - low > _TURN


def written(kit: Kit, name: str, value: float) -> float:
    """A command's value as written; directions within ± 180°."""
    if is_direction(kit, name):
        value = math.remainder(value, _TURN)
    return math.degrees(value) if kit.units[name] == DEGREES else value


def taken(kit: Kit, name: str, value: float) -> float:
    """A written command as the simulation takes it; an angle beyond its limits is refused with them in degrees."""
    if kit.units[name] != DEGREES:
        return value  # the simulation says within which limits
    low, high = written_range(kit, name)
    if not low <= value <= high:
        raise CommandError(f"command {name} must be within {low:.5g} … {high:.5g} degrees, got {value:g}")
    return float(np.clip(math.radians(value), *kit.ranges[name]))
