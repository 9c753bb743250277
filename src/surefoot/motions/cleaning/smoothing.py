"""Corrections that hold in some frames, spread over the others by a hierarchy of B-splines (Lee and Shin 1999)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.sparse import linalg

from surefoot.motions.cleaning.contacts import runs

_SPACINGS = (0.8, 0.4, 0.2, 0.1)  # [s] between the knots of each level
_RIDGE = 1e-3  # weight of a coefficient against that of a frame: keeps the fit of a short clip well posed
_FADE = 0.12  # [s] in which what the splines leave over fades out beside the frames where it holds


def spread(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, k) the values where `held` (n,), and a smooth way between them elsewhere; all zero if none are held.

    The way goes from what mostly holds on one side to what mostly holds on the other. How the values change just
    before they are let go is no reason to go on like that: it fades out.
    """
    if not held.any():
        return np.zeros_like(values)
    guess, smooth = _guess(values, held, time), np.zeros_like(values)
    for spacing in _SPACINGS:
        smooth += _fit(guess - smooth, time, spacing)
    rest, factor = np.where(held[:, None], values - smooth, 0.0), np.ones(len(time))
    for first, stop in runs(~held):
        edges = [first - 1] * (first > 0) + [stop] * (stop < len(time))
        near = [np.clip(1.0 - np.abs(time[first:stop] - time[edge]) / _FADE, 0.0, 1.0) for edge in edges]
        fades = [own**2 * (3.0 - 2.0 * own) for own in near]
        for edge, fade in zip(edges, fades, strict=True):
            rest[first:stop] += fade[:, None] * rest[edge]
        factor[first:stop] = 1.0 / np.maximum(sum(fades), 1.0)  # two that meet in a short gap do not add up
    return np.asarray(smooth + factor[:, None] * rest)


def _guess(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, k) the values where held; between two spans, the way from the median of the one to that of the other."""
    guess = values.copy()
    usual = {edge: np.median(values[a:b], axis=0) for a, b in runs(held) for edge in (a, b - 1)}
    for first, stop in runs(~held):
        start, end = usual.get(first - 1), usual.get(stop)
        if start is None or end is None:
            guess[first:stop] = end if start is None else start
        else:
            share = (time[first:stop] - time[first - 1]) / (time[stop] - time[first - 1])
            guess[first:stop] = start + (share**2 * (3.0 - 2.0 * share))[:, None] * (end - start)
    return guess


def _fit(values: np.ndarray, time: np.ndarray, spacing: float) -> np.ndarray:
    """(n, k) the cubic spline of a level that is nearest to the values."""
    count = max(int(np.ceil(np.ptp(time) / spacing)), 1)
    step = max(float(np.ptp(time)), 1e-9) / count
    knots = time[0] + step * np.arange(-3, count + 4)
    basis = BSpline.design_matrix(np.clip(time, knots[3], knots[-4]), knots, 3)
    normal = (basis.T @ basis + _RIDGE * sparse.identity(basis.shape[1])).tocsc()
    return np.asarray(basis @ linalg.splu(normal).solve(np.asarray(basis.T @ values)))
