"""Where the rows of a population live: in `mujoco.batch` on a CPU, or on a GPU (`engine.gpu.worlds`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np
from mujoco.batch import Batch

from surefoot.engine import callback
from surefoot.errors import UnknownNameError

_UNHEARD = 20_000  # physics steps of all rows together in which Python is not asked
BODY_ARRAYS = ("xpos", "xquat", "xmat", "xipos", "subtree_com", "cvel")


def check_body_array(name: str) -> None:
    """Refuse a name that is not one of `BODY_ARRAYS`."""
    if name not in BODY_ARRAYS:
        raise UnknownNameError("array of bodies", name, BODY_ARRAYS)


class Worlds(Protocol):
    """n simulations of one kind that advance together.

    The arrays are views of the simulations, or copies of them that are valid until the next step; what is written into
    them before it counts.
    """

    @property
    def qpos(self) -> np.ndarray:
        """(n, nq) positions."""

    @property
    def qvel(self) -> np.ndarray:
        """(n, nv) velocities."""

    @property
    def userdata(self) -> np.ndarray:
        """(n, nuserdata) rows of memory."""

    @property
    def time(self) -> np.ndarray:
        """(n,) simulated seconds."""

    @property
    def states(self) -> np.ndarray:
        """(n, nstate) everything that a row is, to be copied or written."""

    def columns(self, begin: int, end: int) -> np.ndarray:
        """(n, end − begin) some numbers of every row of memory, to be read only."""

    def physics(self, name: str, bodies: Sequence[int] | None = None) -> np.ndarray:
        """(n, bodies, …) of an array of every row's `mjData` about bodies, to be read only.

        Args:
            name: one of `BODY_ARRAYS`.
            bodies: numbers of those that are wanted; None is all.
        """

    def frames(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Time, positions, velocities and memory of some rows, to be read only."""

    def row_time(self, row: int) -> float:
        """Simulated seconds of a row."""

    def step(self, rows: np.ndarray | None, count: int) -> None:
        """Advance some rows, or all, by physics steps."""

    def forward(self) -> None:
        """Compute what follows from positions and velocities."""

    def restore(self, states: np.ndarray) -> None:
        """Write `states`."""

    def reset(self) -> None:
        """Forget what was simulated: time 0, nothing to begin a solution with. Rows are to be written anew."""


class BatchWorlds:
    """The rows of a population on the cores of this machine."""

    def __init__(self, models: Sequence[mujoco.MjModel], threads: int) -> None:
        """Make them.

        Args:
            models: (n,) of each row; rows of the same body share theirs.
            threads: 0 is all cores.
        """
        self.batch = Batch(models[0], len(models), threads)
        if any(model is not models[0] for model in models):
            self.batch.set_models(list(models))
        self.qpos, self.qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self.userdata, self.time = self.batch.bind("userdata"), self.batch.bind("time")
        self._models, self._bound = models, dict[str, np.ndarray]()
        self._fresh = self.batch.state[0].copy()

    @property
    def states(self) -> np.ndarray:
        """(n, nstate) everything that a row is, to be copied or written."""
        states: np.ndarray = self.batch.state
        return states

    def columns(self, begin: int, end: int) -> np.ndarray:
        """(n, end − begin) some numbers of every row of memory, to be read only."""
        numbers: np.ndarray = self.userdata[:, begin:end]
        return numbers

    def physics(self, name: str, bodies: Sequence[int] | None = None) -> np.ndarray:
        """(n, bodies, …) of an array of every row's `mjData` about bodies, to be read only."""
        check_body_array(name)
        if name not in self._bound:
            self._bound[name] = self.batch.bind(name)
            self._fill(name, self._bound[name])
        return self._bound[name] if bodies is None else self._bound[name][:, list(bodies)]

    def _fill(self, name: str, array: np.ndarray) -> None:
        """Compute an array that has just been bound: the batch fills it in only at its next call."""
        array.flags.writeable = True
        data = {id(model): mujoco.MjData(model) for model in self._models}
        for i, model in enumerate(self._models):
            own = data[id(model)]
            own.qpos[:], own.qvel[:] = self.qpos[i], self.qvel[i]
            mujoco.mj_kinematics(model, own)
            mujoco.mj_comPos(model, own)
            mujoco.mj_comVel(model, own)
            array[i] = getattr(own, name)
        array.flags.writeable = False

    def frames(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Time, positions, velocities and memory of some rows, to be read only."""
        return self.time[rows], self.qpos[rows], self.qvel[rows], self.userdata[rows]

    def row_time(self, row: int) -> float:
        """Simulated seconds of a row."""
        return float(self.time[row])

    def step(self, rows: np.ndarray | None, count: int) -> None:
        """Advance some rows, or all, by physics steps."""
        callback.install()
        stretch = max(1, _UNHEARD // len(self._models if rows is None else rows))
        for begin in range(0, count, stretch):  # between stretches, Ctrl-C is heard
            self.batch.step(rows, nstep=min(stretch, count - begin))

    def forward(self) -> None:
        """Compute what follows from positions and velocities."""
        callback.install()
        self.batch.forward()

    def restore(self, states: np.ndarray) -> None:
        """Write `states`."""
        self.batch.state[:] = states

    def reset(self) -> None:
        """Forget what was simulated: time 0, nothing to begin a solution with. Rows are to be written anew."""
        self.batch.state[:] = self._fresh
