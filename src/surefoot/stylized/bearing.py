"""Which feet bear now: those that the reference says, as far as they have come to the ground."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.stylized.assembly import compiled
from surefoot.stylized.patches import FLAT, FREE, HEEL, TOE

_TILTED = math.radians(8.0)  # of a sole, from which on it bears on an edge


@compiled
def bearing(wanted: Any, landed: Any, axes: Any) -> Any:
    """(2,) how the feet bear.

    A foot that swings and touches has not landed: it scuffs, and would be pinned.

    Args:
        wanted: (2,) how the reference's do.
        landed: (2,) which feet have come to the ground since they were to.
        axes: (2, 3, 3) of the feet.
    """
    found = wanted.copy()
    for side in range(2):
        tilt = math.asin(min(max(axes[side, 2, 0], -1.0), 1.0))  # by how much its x points up
        if wanted[side] != FREE and not landed[side] and landed[1 - side]:
            found[side] = FREE
        elif wanted[side] != FREE and wanted[side] != TOE:
            found[side] = HEEL if tilt > _TILTED else TOE if tilt < -_TILTED else FLAT
    return found


@compiled
def stepped(bears: Any, before: int, after: int) -> bool:
    """Whether a foot comes to bear between two of the moments (n, 2)."""
    return bool(np.any((bears[before] == FREE) & (bears[after] != FREE)))
