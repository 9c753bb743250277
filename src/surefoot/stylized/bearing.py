"""Which feet bear now: those that the reference says, as far as they have come to the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.stylized.patches import FLAT, FREE, HEEL, TOE

_TILTED = math.sin(math.radians(8.0))  # of a sole, from which on it bears on an edge


def bearing(wanted: Sequence[int], landed: Sequence[bool], axes: Sequence[np.ndarray]) -> tuple[int, int]:
    """How the feet bear.

    A foot that swings and touches has not landed: it scuffs, and would be pinned.

    Args:
        wanted: how the reference's do.
        landed: which feet have come to the ground since they were to.
        axes: (3, 3) of both feet.
    """
    return _one(0, wanted, landed, axes), _one(1, wanted, landed, axes)


def _one(side: int, wanted: Sequence[int], landed: Sequence[bool], axes: Sequence[np.ndarray]) -> int:
    if wanted[side] == FREE or (landed[1 - side] and not landed[side]):
        return FREE
    if wanted[side] == TOE:
        return TOE
    up = float(axes[side][2, 0])  # of the sole's x
    return HEEL if up > _TILTED else TOE if up < -_TILTED else FLAT
