"""The arrays that environments compute with: NumPy's on a CPU, torch's tensors on a GPU.

Measurements, actions and rewards are written once, with names that both libraries share; the functions here are those
that the two do differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from surefoot.terrains.terrain import Terrain

Height = Callable[[Any, Any], Any]  # of the ground at points (x, y) of the world [m]


class Library(Protocol):
    """What arrays are made of.

    Attributes:
        shared: the library itself, for functions that NumPy and torch call alike.
    """

    shared: Any

    def constant(self, values: np.ndarray) -> Any:
        """Fixed numbers, such as indices, as an array."""

    def copy(self, array: Any) -> Any:
        """A copy."""

    def cross(self, one: Any, other: Any) -> Any:
        """Cross products of vectors (…, 3)."""

    def angle(self, sine: Any, cosine: Any) -> Any:
        """(n,) angles [rad] of (n,) sines and cosines."""

    def sine_and_cosine(self, angle: Any) -> Any:
        """(n, 2) of (n,) angles [rad]."""

    def remainder(self, angle: Any) -> Any:
        """(n,) angles within ± π of (n,) angles [rad]."""

    def named(self, numbers: Any, names: Sequence[str]) -> Any:
        """(n,) the names of (n,) numbers, where arrays can hold names."""

    def ground(self, terrain: Terrain) -> Height:
        """The height of a terrain, for arrays of this library.

        Raises:
            SurefootError: its ground cannot be computed with them.
        """


class _NumPy:
    """NumPy; functions of angles are Python's, whose bits do not depend on how many rows there are."""

    shared: Any = np

    def constant(self, values: np.ndarray) -> Any:
        return values

    def copy(self, array: Any) -> Any:
        return array.copy()

    def cross(self, one: Any, other: Any) -> Any:
        return np.cross(one, other)

    def angle(self, sine: Any, cosine: Any) -> Any:
        return np.array([math.atan2(s, c) for s, c in zip(sine, cosine, strict=True)])

    def sine_and_cosine(self, angle: Any) -> Any:
        return np.array([[math.sin(a), math.cos(a)] for a in angle.tolist()])

    def remainder(self, angle: Any) -> Any:
        return np.array([math.remainder(a, 2.0 * math.pi) for a in angle])

    def named(self, numbers: Any, names: Sequence[str]) -> Any:
        return np.array([names[i] for i in numbers.astype(int)], dtype=object)

    def ground(self, terrain: Terrain) -> Height:
        return terrain.height


NUMPY: Library = _NumPy()
