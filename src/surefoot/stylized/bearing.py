"""Which feet bear now: those that the reference says, as far as they have come to the ground."""

from __future__ import annotations

import numpy as np

from surefoot.stylized.legs import tilt_of
from surefoot.stylized.patches import FLAT, FREE, HEEL, TOE

_TILTED = np.radians(8.0)  # of a sole, from which on it bears on an edge


def bearing(wanted: np.ndarray, landed: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(2,) how the feet bear.

    A foot that swings and touches has not landed: it scuffs, and would be pinned.

    Args:
        wanted: (2,) how the reference's do.
        landed: (2,) which feet have come to the ground since they were to.
        axes: (2, 3, 3) of the feet.
    """
    found, scheduled = wanted.copy(), wanted != FREE
    for side in (0, 1):
        tilt = tilt_of(axes[side])
        if scheduled[side] and not landed[side] and landed.any():
            found[side] = FREE
        elif scheduled[side] and wanted[side] != TOE:
            found[side] = HEEL if tilt > _TILTED else TOE if tilt < -_TILTED else FLAT
    return found
