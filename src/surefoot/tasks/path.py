"""A broken line on the ground, measured by the distance along it."""

from __future__ import annotations

import numpy as np


class Path:
    """Straight stretches from point to point.

    Attributes:
        points: (n, 2) corners, at least two, no two in a row the same [m].
        places: (n,) distance of each from the first, along the path [m].
    """

    def __init__(self, points: np.ndarray) -> None:
        """Measure it."""
        self.points = points
        self.places = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])

    def at(self, place: float) -> np.ndarray:
        """(2,) the point at a distance along it; beyond its end it goes straight on [m]."""
        beyond = max(0.0, place - float(self.places[-1]))
        last = (self.points[-1] - self.points[-2]) / (self.places[-1] - self.places[-2])
        return np.asarray([np.interp(place, self.places, column) for column in self.points.T] + beyond * last)

    def nearest(self, point: np.ndarray, low: float, high: float) -> float:
        """Distance along it, between two others, at which it comes nearest to a point [m]."""
        best, found = np.inf, low
        for i in range(len(self.points) - 1):
            first, last = max(self.places[i], low), min(self.places[i + 1], high)
            if first > last:
                continue
            start, end = self.at(first), self.at(last)
            way, length = end - start, max(last - first, 1e-12)
            along = float(np.clip((point - start) @ way / length, 0.0, length)) if last > first else 0.0
            off = float(np.hypot(*(self.at(first + along) - point)))
            if off < best:
                best, found = off, first + along
        return found

    def turns(self) -> np.ndarray:
        """(n,) how far it turns at each corner, 0 … π, 0 at its ends [rad]."""
        ways = np.diff(self.points, axis=0)
        yaw = np.arctan2(ways[:, 1], ways[:, 0])
        return np.concatenate([[0.0], np.abs((np.diff(yaw) + np.pi) % (2.0 * np.pi) - np.pi), [0.0]])
