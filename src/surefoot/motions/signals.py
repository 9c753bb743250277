"""Small operations on sampled signals: frame times, stretches of frames, smooth steps, variance in a window."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Span = tuple[int, int]  # first frame, and the frame after the last one


def frame_time(time: np.ndarray) -> float:
    """The median time between two frames [s], given their times (n,)."""
    return float(np.median(np.diff(time)))


def smoothstep(values: np.ndarray) -> np.ndarray:
    """3 x² − 2 x³ of values clipped to 0 … 1: a step from 0 to 1 that starts and ends with slope 0."""
    values = np.clip(values, 0.0, 1.0)
    return np.asarray(values * values * (3.0 - 2.0 * values))


def true_spans(flags: np.ndarray) -> list[Span]:
    """The stretches of true frames in flags (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def span_mask(spans: Iterable[Span], count: int) -> np.ndarray:
    """(count,) whether each frame lies in one of the spans."""
    inside = np.zeros(count, dtype=bool)
    for first, stop in spans:
        inside[first:stop] = True
    return inside


def fill_short(flags: np.ndarray, value: bool, clock: np.ndarray, shortest: float, at_ends: bool = False) -> np.ndarray:
    """Replace stretches of the other value that are too short.

    Args:
        flags: (n,).
        value: True closes gaps, False drops short stretches of true frames.
        clock: (n,) or, if stretches at the ends count, (n + 1,): when each frame begins, in the unit of `shortest`.
        shortest: stretches that last less are replaced.
        at_ends: also replace stretches that touch the first or the last frame.
    """
    filled = flags.copy()
    for first, stop in true_spans(flags != value):
        if (at_ends or (first > 0 and stop < len(flags))) and clock[stop] - clock[first] < shortest:
            filled[first:stop] = value
    return filled


def windowed_variance(values: np.ndarray, count: int) -> np.ndarray:
    """(n − count + 1,) variance of values (n, m), summed over the columns, in each window of `count` frames."""
    squares = np.concatenate([[0.0], np.cumsum((values**2).sum(axis=1))])
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    mean = (sums[count:] - sums[:-count]) / count
    return np.asarray((squares[count:] - squares[:-count]) / count - (mean**2).sum(axis=1))
