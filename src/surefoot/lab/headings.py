"""Where a body in space faces while it goes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.population import Population

EVERY = 0.05  # [s] between two looks


def watch(
    population: Population, seconds: float, tell: Callable[[float], None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Run a population and return (looks, n) yaws of the root, unwrapped [rad], and (looks, n, 2) its places [m].

    Every `EVERY` seconds `tell` is called first, with the time since the beginning [s].
    """
    yaws, places = [], []
    for look in range(round(seconds / EVERY)):
        if tell is not None:
            tell(look * EVERY)
        population.run(EVERY, stop_fallen=True)
        forward = quat.rotate(population.qpos[:, 3:7], np.array([1.0, 0.0, 0.0]))
        yaws.append(np.arctan2(forward[:, 1], forward[:, 0]))
        places.append(population.qpos[:, :2].copy())
    return np.unwrap(np.array(yaws), axis=0), np.array(places)


def smoothed(values: np.ndarray, seconds: float) -> np.ndarray:
    """(looks − k + 1, n) mean over every stretch of k looks, about `seconds` long: the low-pass of a stride."""
    count = max(1, round(seconds / EVERY))
    window = np.full(count, 1.0 / count)
    return np.stack([np.convolve(column, window, mode="valid") for column in values.T], axis=1)
