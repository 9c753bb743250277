"""The floor under a clip's feet: how high the joints of a standing foot are, and how the floor slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_LOW = 0.15, 0.05, 0.03, 0.03  # [leg lengths] above the floor of the pass before: where a foot may stand
_SLOW = 0.25  # [leg lengths/s] of an ankle that stands
_FEWEST = 0.1  # of the low frames that are taken to stand, however fast they are
_STIFF = 0.3  # [m] over which stances must be spread for their slope to be believed


@dataclass(frozen=True)
class Floor:
    """A plane, and how high each foot's ankle is above it while it stands [m]; `still` tells when [frames]."""

    slope: np.ndarray  # (2,) rise along x and y
    ankle_heights: tuple[float, float]
    still: tuple[np.ndarray, np.ndarray]

    def below(self, places: np.ndarray) -> np.ndarray:
        """(n,) height of the plane at places (n, 3) of the world [m]."""
        return np.asarray(places[:, :2] @ self.slope)


def floor_of(time: np.ndarray, ankles: Sequence[np.ndarray], balls: Sequence[np.ndarray], leg: float) -> Floor:
    """Find the floor from the paths (n, 3) of the ankles and the balls of left and right foot [m].

    The feet have heights of their own, as captured skeletons do; the slope, which a tilted camera frame leaves
    behind, is the same for both.
    """
    slope, heights = np.zeros(2), [float(np.quantile(ankle[:, 2], 0.03)) for ankle in ankles]
    speeds = [np.linalg.norm(np.gradient(ankle, time, axis=0), axis=1) for ankle in ankles]
    centre = np.mean([ankle[:, :2].mean(axis=0) for ankle in ankles], axis=0)
    still = [np.arange(len(time))] * 2
    for low in _LOW:
        rows, values = [], []
        for foot, (ankle, ball, speed) in enumerate(zip(ankles, balls, speeds, strict=True)):
            height = ankle[:, 2] - ankle[:, :2] @ slope - heights[foot]
            near = np.flatnonzero(height < low * leg)
            near = near if len(near) >= 3 else np.argsort(height)[:3]
            flat = ankle[near, 2] - ball[near, 2]  # least while the heel is down
            order = np.argsort(speed[near] + 2.0 / leg * np.maximum(flat - np.median(flat), 0.0))
            fewest = max(int(_FEWEST * len(near)), 3)
            still[foot] = near[order[: max(fewest, int((speed[near] < _SLOW * leg).sum()))]]
            here = ankle[still[foot]]
            rows.append(np.column_stack([here[:, :2] - centre, np.eye(2)[np.full(len(here), foot)]]) / len(here) ** 0.5)
            values.append(here[:, 2] / len(here) ** 0.5)
        table, wanted = np.vstack(rows), np.concatenate(values)
        ridge = np.diag([_STIFF, _STIFF, 0.0, 0.0])
        found = np.linalg.lstsq(np.vstack([table, ridge]), np.concatenate([wanted, np.zeros(4)]))[0]
        slope, heights = found[:2], [float(h - centre @ found[:2]) for h in found[2:]]
    return Floor(slope, (heights[0], heights[1]), (still[0], still[1]))
