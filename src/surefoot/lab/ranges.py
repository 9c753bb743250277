"""The stretch of a parameter's values, around a nominal one, over which something goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Stretch:
    """Lowest and highest value, and whether more may go on beyond the ends of what was tried."""

    low: float
    high: float
    open_below: bool
    open_above: bool

    @property
    def width(self) -> float:
        """From the lowest to the highest value."""
        return self.high - self.low

    def __str__(self) -> str:
        """As text: `≤` and `≥` where it was not tried further."""
        return f"{'≤ ' if self.open_below else ''}{self.low:g} … {'≥ ' if self.open_above else ''}{self.high:g}"


def around(values: np.ndarray, goes: np.ndarray, center: int) -> Stretch:
    """The contiguous stretch of (n,) ascending `values` around index `center` for which `goes` is true."""
    low = high = center
    while low > 0 and goes[low - 1]:
        low -= 1
    while high < len(values) - 1 and goes[high + 1]:
        high += 1
    return Stretch(float(values[low]), float(values[high]), low == 0, high == len(values) - 1)
