"""When a foot stands, by how high it is and how fast it goes."""

from __future__ import annotations

import numpy as np

_HIGH = 0.03, 0.05  # [leg lengths] above its standing height: it stands below the first until it is above the second
_FAST = 0.45, 0.75  # [leg lengths/s] in the same way
_SHORT = 0.05  # [s] shorter touches and shorter gaps do not count


def touches(time: np.ndarray, clearance: np.ndarray, speed: np.ndarray, leg: float) -> np.ndarray:
    """(n,) whether a foot stands.

    Args:
        time: (n,) [s].
        clearance: (n,) of the sole's lowest point [m].
        speed: (n,) of the slower end of the foot [m/s].
        leg: its length [m].
    """
    on = (clearance < _HIGH[0] * leg) & (speed < _FAST[0] * leg)
    off = (clearance > _HIGH[1] * leg) | (speed > _FAST[1] * leg)
    stands, found = False, np.zeros(len(time), bool)
    for i in range(len(time)):
        stands = bool(on[i]) or (stands and not off[i])
        found[i] = stands
    for value in (True, False):  # gaps first, then touches
        for first, last in spans(found != value):
            inside = first > 0 and last < len(time)
            if inside and time[last] - time[first] < _SHORT:
                found[first:last] = value
    return found


def spans(flags: np.ndarray) -> list[tuple[int, int]]:
    """First frame and frame after the last of every stretch of true frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
