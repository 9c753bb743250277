"""Periodic signals as Fourier series over a phase of 0 … 1: fit, evaluate, shift, and find the period of data.

Coefficients are (2k + 1,) or (2k + 1, m): the mean, then cosine and sine of each of k harmonics.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.errors import SurefootError

_FINE = 0.05  # step of the searched frequencies, as a share of the resolution of the signal's length
_AS_GOOD = 0.03  # of the variance: a shorter period may explain less by this and still be the period


def basis(phase: np.ndarray, harmonics: int) -> np.ndarray:
    """(n, 2k + 1) values of the constant, the cosines and the sines at phases (n,)."""
    angles = 2.0 * np.pi * np.outer(np.atleast_1d(phase), np.arange(1, harmonics + 1))
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)
    return np.hstack([np.ones((len(angles), 1)), waves])


def fit(phase: np.ndarray, values: np.ndarray, harmonics: int) -> np.ndarray:
    """The coefficients that fit values (n,) or (n, m) at phases (n,) by least squares."""
    return np.asarray(np.linalg.lstsq(basis(phase, harmonics), values)[0])


def evaluate(coefficients: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """(n,) or (n, m) values at phases (n,)."""
    return np.asarray(basis(phase, len(coefficients) // 2) @ coefficients)


def derivative(coefficients: np.ndarray) -> np.ndarray:
    """The coefficients of the derivative with respect to the phase."""
    found = np.zeros_like(coefficients)
    for k in range(1, len(coefficients) // 2 + 1):
        found[2 * k - 1] = 2.0 * np.pi * k * coefficients[2 * k]
        found[2 * k] = -2.0 * np.pi * k * coefficients[2 * k - 1]
    return found


def shifted(coefficients: np.ndarray, by: float) -> np.ndarray:
    """The coefficients of the signal shifted to earlier phases: its value at p is this one's at p + `by`."""
    found = coefficients.copy()
    for k in range(1, len(coefficients) // 2 + 1):
        cosine, sine = np.cos(2.0 * np.pi * k * by), np.sin(2.0 * np.pi * k * by)
        a, b = coefficients[2 * k - 1], coefficients[2 * k]
        found[2 * k - 1], found[2 * k] = a * cosine + b * sine, b * cosine - a * sine
    return found


def peak_phase(coefficients: np.ndarray) -> float:
    """The phase at which a signal (2k + 1,) is largest."""
    step = 1.0 / 720.0
    grid = np.arange(0.0, 1.0, step)
    near = float(grid[np.argmax(evaluate(coefficients, grid))])
    peak, _ = _minimum(lambda phase: -float(evaluate(coefficients, np.array([phase]))[0]), near - step, near + step)
    return peak % 1.0


def unexplained(time: np.ndarray, values: np.ndarray, period: float, harmonics: int) -> float:
    """The share of a signal's variance that no series of this period explains."""
    phase = time / period
    rest = values - evaluate(fit(phase, values, harmonics), phase)
    return float((rest**2).sum() / max(float(((values - values.mean(axis=0)) ** 2).sum()), 1e-300))


def find_period(
    time: np.ndarray, values: np.ndarray, shortest: float, longest: float, harmonics: int = 3
) -> tuple[float, float]:
    """Find the period of a signal by fitting harmonic series of many periods.

    Multiples of the period always fit nearly as well; of good periods the shortest is taken.

    Args:
        time: (n,) [s].
        values: (n,) or (n, m).
        shortest: least period to look for [s].
        longest: largest period to look for [s]; at most the duration of the signal counts.
        harmonics: of the series.

    Returns:
        The period [s], and the share of the variance that it does not explain.

    Raises:
        SurefootError: the signal is shorter than the shortest period.
    """
    span = float(np.ptp(time))
    longest = min(longest, span)
    if not 0.0 < shortest < longest:
        raise SurefootError(f"a period of {shortest:g} … {longest:g} s cannot be found in {span:g} s")
    step = _FINE / span
    rates = np.arange(1.0 / longest, 1.0 / shortest + step, step)
    left = np.array([unexplained(time, values, 1.0 / rate, harmonics) for rate in rates])
    good = np.flatnonzero(left <= left.min() + _AS_GOOD)
    last = int(good[-1])  # descend to the minimum near the shortest good period
    while last > 0 and left[last - 1] < left[last]:
        last -= 1
    low, high = max(rates[last] - step, 1.0 / longest), min(rates[last] + step, 1.0 / shortest)
    rate, rest = _minimum(lambda rate: unexplained(time, values, 1.0 / rate, harmonics), low, high)
    return 1.0 / rate, rest


def _minimum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where a function is least between two bounds, and its value there."""
    from scipy.optimize import minimize_scalar  # which takes a while to import

    found = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return float(found.x), float(found.fun)
