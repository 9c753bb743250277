"""Where a reference is set down in the world: anew at every tick where the feet are, or once and for all.

The paper does not say. Set down once, the reference runs away from a body that is pushed, or pulls it back.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from surefoot.stylized.reference import Reference
from surefoot.stylized.three_link import turn_by


def set_down(state: SimpleNamespace, feet: np.ndarray, share: float) -> np.ndarray:
    """(3,) from the reference's places to the world's [m].

    Args:
        state: of the tracker; it remembers where the reference was first set down.
        feet: (3,) by which the feet that bear are elsewhere than the reference's [m].
        share: 1 is where the feet are, 0 where it was first.
    """
    if not state.anchored:
        state.anchored, (state.x, state.y, state.z) = 1.0, feet.tolist()
    return share * feet + (1.0 - share) * np.array((state.x, state.y, state.z))


def go_round(state: SimpleNamespace, reference: Reference) -> None:
    """Begin another round of a reference that loops, turned and where the last one ended."""
    end = reference.com[-1] + reference.timestep * reference.com_velocity[-1]
    way = turn_by(state.heading) @ end - turn_by(state.heading + reference.turn) @ reference.com[0]
    state.x, state.y, state.z = state.x + float(way[0]), state.y + float(way[1]), state.z + float(way[2])
    state.heading += reference.turn
