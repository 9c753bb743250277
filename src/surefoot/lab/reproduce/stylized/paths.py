"""How far a pelvis is from where its reference's would be, if both began at the same place."""

from __future__ import annotations

import numpy as np

from surefoot.stylized.reference import Reference
from surefoot.stylized.three_link import turn_by


class Walked:
    """Goes along a reference's path as its clock goes on."""

    def __init__(self, reference: Reference, ways: int, place: np.ndarray) -> None:
        """From a place (ways,) of the pelvis on."""
        self._reference, self._ways, self._turn, self._clock = reference, ways, 0.0, 0.0
        self._begun, self._loop = place - reference.poses[0, :ways], np.zeros(ways)
        self._squares: list[float] = []

    def look(self, clock: float, place: np.ndarray) -> None:
        """Compare with a place (ways,) at a time of the reference [s]."""
        reference, ways = self._reference, self._ways
        if reference.loops and clock < self._clock:
            path = reference.poses[:, :ways]
            far = path[-1] - path[0] + reference.timestep * reference.rates[-1, :ways]
            first = path[0]
            self._loop = self._loop + self._turned(first + far) - self._rotated(first, reference.turn)
            self._turn += reference.turn
        self._clock = clock
        there = self._begun + self._loop + self._turned(reference.poses[reference.index(clock), :ways])
        self._squares.append(float(((place - there) ** 2).sum()))

    def _turned(self, place: np.ndarray) -> np.ndarray:
        return self._rotated(place, 0.0)

    def _rotated(self, place: np.ndarray, more: float) -> np.ndarray:
        """A place (ways,) of the reference, turned as the loop it is in."""
        return place if self._ways == 1 else np.asarray(turn_by(self._turn + more)[:2, :2] @ place)

    @property
    def drift(self) -> tuple[float, float]:
        """Root mean square of the distances, and the last one [m]."""
        if not self._squares:
            return 0.0, 0.0
        return float(np.sqrt(np.mean(self._squares))), float(np.sqrt(self._squares[-1]))
