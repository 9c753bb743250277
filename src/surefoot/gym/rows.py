"""Live arrays over one simulation or a population's rows, so that both are measured by the same code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.native import memory
from surefoot.population import Population
from surefoot.scene import Scene
from surefoot.simulation import Simulation

_ARRAYS = ("qpos", "qvel", "userdata", "xpos", "xmat", "xipos", "cvel", "subtree_com")


@dataclass(frozen=True)
class Rows:
    """n rows. `qpos`, `qvel` and `userdata` are the present; the rest is of the last solved physics step."""

    scene: Scene
    memory: Sequence[memory.Row]
    clock: Callable[[], np.ndarray]  # gives (n,) [s], a copy
    qpos: np.ndarray  # (n, nq)
    qvel: np.ndarray  # (n, nv)
    userdata: np.ndarray  # (n, nuserdata)
    xpos: np.ndarray  # (n, nbody, 3) [m] world, origins of bodies
    xmat: np.ndarray  # (n, nbody, 9) world, their axes
    xipos: np.ndarray  # (n, nbody, 3) [m] world, their centres of mass
    cvel: np.ndarray  # (n, nbody, 6) world, angular and linear velocity at the tree's centre of mass
    subtree_com: np.ndarray  # (n, nbody, 3) [m] world

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.qpos)

    def column(self, name: str) -> np.ndarray:
        """(n, …) copy of an array of the controllers' memories (`torque`) in all rows."""
        begin, one = self.places[name]
        return self.userdata[:, begin : begin + one.size].reshape(len(self), *one.shape).copy()

    def number(self, record: str, name: str) -> np.ndarray:
        """(n,) copy of a number of a record (`report`, `phase`) in all rows."""
        begin, one = self.places[record]
        return self.userdata[:, begin + one.dtype.fields[name][1] // 8].copy()

    @functools.cached_property
    def places(self) -> dict[str, tuple[int, Any]]:
        """Where in a row of `userdata` each view of a memory begins, and the first row's view."""
        first = self.userdata.__array_interface__["data"][0]
        views = self.memory[0]._asdict()
        return {name: ((view.__array_interface__["data"][0] - first) // 8, view) for name, view in views.items()}


def of_simulation(sim: Simulation) -> Rows:
    """The one row of a simulation."""
    data = sim.data
    arrays = {name: getattr(data, name)[None] for name in _ARRAYS}
    return Rows(sim.scene, [sim.memory], lambda: np.array([data.time]), **arrays)


def of_population(population: Population) -> Rows:
    """All rows of a population."""
    arrays = {name: population.batch.bind(name) for name in _ARRAYS}
    return Rows(population.scene, population.rows, lambda: population.time, **arrays)
