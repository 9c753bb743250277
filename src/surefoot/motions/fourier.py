"""Periodic signals as Fourier series over a phase of 0 … 1: fitted, evaluated, moved, and found in data.

Coefficients are (2k + 1,) or (2k + 1, m): the mean, then cosine and sine of each of k harmonics.
"""

from __future__ import annotations

import numpy as np

from surefoot.errors import SurefootError

_FINE = 0.05  # step of the frequencies looked at, as a share of what the signal's length can tell apart
_AS_GOOD = 0.03  # of the variance: what a shorter period may explain less and still be the period


def basis(phase: np.ndarray, harmonics: int) -> np.ndarray:
    """(n, 2k + 1) the mean, cosines and sines at phases (n,)."""
    angles = 2.0 * np.pi * np.outer(np.atleast_1d(phase), np.arange(1, harmonics + 1))
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)
    return np.hstack([np.ones((len(angles), 1)), waves])


def fit(phase: np.ndarray, values: np.ndarray, harmonics: int) -> np.ndarray:
    """The coefficients nearest to values (n,) or (n, m) at phases (n,)."""
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
    """The coefficients of the signal that is at every phase what this one is at the phase plus `by`."""
    found = coefficients.copy()
    for k in range(1, len(coefficients) // 2 + 1):
        cosine, sine = np.cos(2.0 * np.pi * k * by), np.sin(2.0 * np.pi * k * by)
        a, b = coefficients[2 * k - 1], coefficients[2 * k]
        found[2 * k - 1], found[2 * k] = a * cosine + b * sine, b * cosine - a * sine
    return found


def left_out(coefficients: np.ndarray, harmonics: int) -> float:
    """Root mean square of what is lost if only so many harmonics are kept."""
    return float(np.sqrt(0.5 * (coefficients[2 * harmonics + 1 :] ** 2).sum()))


def peak_phase(coefficients: np.ndarray) -> float:
    """The phase at which a signal (2k + 1,) is largest."""
    grid = np.arange(0.0, 1.0, 1.0 / 720.0)
    near = float(grid[np.argmax(evaluate(coefficients, grid))])
    from scipy.optimize import minimize_scalar  # which takes a while to import

    found = minimize_scalar(
        lambda phase: -float(evaluate(coefficients, np.array([phase]))[0]),
        bounds=(near - 1.0 / 720.0, near + 1.0 / 720.0), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return float(found.x) % 1.0


def unexplained(time: np.ndarray, values: np.ndarray, period: float, harmonics: int) -> float:
    """The share of a signal's variance that no periodic signal of this period explains."""
    phase = time / period
    rest = values - evaluate(fit(phase, values, harmonics), phase)
    return float((rest**2).sum() / max(float(((values - values.mean(axis=0)) ** 2).sum()), 1e-300))


def find_period(
    time: np.ndarray, values: np.ndarray, shortest: float, longest: float, harmonics: int = 3
) -> tuple[float, float]:
    """The period [s] of a signal by its spectrum, and the share of its variance that is not explained by it.

    The spectrum is that of harmonic series, so that it is exact for signals of any length; of periods that explain
    it nearly as well, which multiples always do, the shortest is taken.

    Args:
        time: (n,) [s].
        values: (n,) or (n, m).
        shortest: least period to look for [s].
        longest: largest period to look for [s]; no more than the time there is.
        harmonics: of the series; fewer where there are few samples.
    """
    span = float(np.ptp(time))
    longest = min(longest, span)
    if not 0.0 < shortest < longest:
        raise SurefootError(f"a period of {shortest:g} … {longest:g} s cannot be found in {span:g} s")
    step = _FINE / span
    rates = np.arange(1.0 / longest, 1.0 / shortest + step, step)
    left = np.array([unexplained(time, values, 1.0 / rate, harmonics) for rate in rates])
    good = np.flatnonzero(left <= left.min() + _AS_GOOD)
    last = int(good[-1])  # climb to the top of the peak of the shortest period that is good enough
    while last > 0 and left[last - 1] < left[last]:
        last -= 1
    from scipy.optimize import minimize_scalar  # which takes a while to import

    found = minimize_scalar(
        lambda rate: unexplained(time, values, 1.0 / rate, harmonics),
        bounds=(max(rates[last] - step, 1.0 / longest), min(rates[last] + step, 1.0 / shortest)),
        method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return 1.0 / float(found.x), float(found.fun)
