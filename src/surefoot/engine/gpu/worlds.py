"""The rows of a population on a GPU, with copies on the host of what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import mujoco
import numpy as np

from surefoot.controllers.base import NEVER
from surefoot.engine.gpu.physics import CPU, WarpWorlds, check_available
from surefoot.engine.scheduler import Row as Handle
from surefoot.engine.worlds import check_body_array
from surefoot.errors import SurefootError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.native.userdata import Row
from surefoot.reflexes.balance import random_state
from surefoot.skills.schema import Skill

if TYPE_CHECKING:
    from surefoot.engine.scene import Scene


def check_device(device: str) -> bool:
    """Whether a device is the CPU; any other is checked.

    Args:
        device: `cpu`, `cuda`, `cuda:1`, …

    Raises:
        SurefootError: it cannot be used here, or is no device's name.
    """
    kind, _, number = device.partition(":")
    if device != CPU and (kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit()))):
        raise SurefootError(f"unknown device {device!r}; valid: cpu, cuda, cuda:N")
    if device == "cpu":
        return True
    check_available(device)
    return False


def check_native(scene: Scene, tasks: Sequence[Sequence[Any]], graph: Any) -> None:
    """Refuse what has to be decided in Python between physics steps, which a GPU does not wait for.

    Args:
        scene: of the rows.
        tasks: of each row.
        graph: of actions, or None.

    Raises:
        SurefootError: naming what it is.
    """
    instead = "run them with device='cpu'"
    if any(tasks):
        raise SurefootError(f"tasks decide in Python between physics steps and do not run on a GPU: {instead}")
    if graph is not None:
        raise SurefootError(f"an action graph decides in Python between physics steps and not on a GPU: {instead}")
    for skill in scene.parts:
        qpos, qvel = np.zeros(scene.model.nq), np.zeros(scene.model.nv)
        row = scene.begin(qpos, qvel, np.zeros(scene.model.nuserdata), skill, 0)
        handle = Handle(scene, row, qpos, qvel, lambda: 0.0, lambda: np.zeros(0))
        if handle.steps_to_next() < NEVER:
            raise SurefootError(
                f"skill {skill.full_name} decides in Python between physics steps and does not run on a GPU: {instead}"
            )


class RowViews(Sequence[Row]):
    """Named views of rows of memory, each made when it is first looked at: there may be very many."""

    def __init__(self, memory: np.ndarray) -> None:
        """Look at rows (n, nuserdata)."""
        self._memory, self._made = memory, dict[int, Row]()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._memory)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        """Views of one row, or of some."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        if at not in self._made:
            self._made[at] = userdata.view(self._memory[at])
        return self._made[at]


def begin_alike(
    scenes: Sequence[Scene], skills: Sequence[Skill], qpos: np.ndarray, qvel: np.ndarray, memory: np.ndarray,
    rows: Sequence[Row], seeds: Sequence[int],
) -> None:  # fmt: skip
    """Put rows into their start states, as `Scene.begin` does, but each combination of body and skill only once.

    Args:
        scenes: (n,) of each row.
        skills: (n,) of each row.
        qpos: (n, nq) written in place.
        qvel: (n, nv) likewise.
        memory: (n, nuserdata) likewise.
        rows: (n,) views of `memory`.
        seeds: (n,) of each row.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for i, (scene, skill) in enumerate(zip(scenes, skills, strict=True)):
        groups.setdefault((id(scene), id(skill)), []).append(i)
    for group in groups.values():
        first, *others = group
        scene, skill = scenes[first], skills[first]
        row = scene.begin(qpos[first], qvel[first], memory[first], skill, seeds[first])
        if not others:
            continue
        qpos[others], qvel[others], memory[others] = qpos[first], qvel[first], memory[first]
        other = seeds[first] + 1
        probe = memory[first].copy()
        own = userdata.view(probe)
        own.memory[:] = own.table[:] = 0.0
        own.header[0].seed = other
        scene.controller(skill).begin(own, skill, other)
        probe[userdata.SEED] = row.header[0].seed
        memory[others, userdata.SEED] = [seeds[i] for i in others]
        changed = np.flatnonzero(probe != memory[first])  # by the seed: nothing, or the first state of what it draws
        draws = python_impl(random_state)
        if (memory[first, changed] == draws(seeds[first])).all() and (probe[changed] == draws(other)).all():
            memory[np.ix_(np.array(others), changed)] = np.array([draws(seeds[i]) for i in others])[:, None]
            continue
        for i in others:
            own = rows[i]
            own.memory[:] = own.table[:] = 0.0
            scene.controller(skill).begin(own, skill, seeds[i])


class GpuWorlds:
    """Worlds on a GPU behind the interface of those on a CPU.

    Numbers are fetched when they are asked for. An array that was handed out may have been written into, so it goes
    back to the device before the next step; `columns` is for reading alone, and cheap.
    """

    def __init__(self, models: Sequence[mujoco.MjModel], controllers: Sequence[str], device: str) -> None:
        """Put them on a device.

        Args:
            models: (n,) of each row; rows of the same body share theirs.
            controllers: names of those whose skills the rows may run.
            device: as `gpu.physics.check_available` takes it.
        """
        distinct = list({id(model): model for model in models}.values())
        number = {id(model): i for i, model in enumerate(distinct)}
        names = sorted(set(controllers))  # the same code for the same controllers, in whatever order
        self.device = WarpWorlds(distinct, [number[id(model)] for model in models], names, device)
        n, first = len(models), models[0]
        self._qpos, self._qvel = np.zeros((n, first.nq)), np.zeros((n, first.nv))
        self._userdata, self._time = np.zeros((n, first.nuserdata)), np.zeros(n)
        self._motion_is_here, self._motion_changed = True, True  # positions, velocities, times
        self._rows_are_here, self._rows_changed = True, True
        self._moving: np.ndarray | None = np.ones(n, dtype=bool)  # None: only the device knows

    @property
    def qpos(self) -> np.ndarray:
        """(n, nq) positions."""
        self._fetch_motion()
        return self._qpos

    @property
    def qvel(self) -> np.ndarray:
        """(n, nv) velocities."""
        self._fetch_motion()
        return self._qvel

    @property
    def time(self) -> np.ndarray:
        """(n,) simulated seconds."""
        self._fetch_motion()
        return self._time

    @property
    def userdata(self) -> np.ndarray:
        """(n, nuserdata) rows of memory."""
        if not self._rows_are_here:
            self._userdata[:] = self.device.rows.numpy()
        self._rows_are_here = self._rows_changed = True
        return self._userdata

    def _fetch_motion(self) -> None:
        if not self._motion_is_here:
            data = self.device.data
            self._qpos[:], self._qvel[:] = data.qpos.numpy(), data.qvel.numpy()
            self._time[:] = self.device.times.numpy()
        self._motion_is_here = self._motion_changed = True

    def _send(self) -> None:
        """Bring to the device what may have been changed here."""
        if self._motion_changed:
            data = self.device.data
            data.qpos.assign(self._qpos.astype(np.float32))
            data.qvel.assign(self._qvel.astype(np.float32))
            self.device.times.assign(self._time)
        if self._rows_changed:
            self.device.rows.assign(self._userdata)
        self._motion_changed = self._rows_changed = False

    def leave_to_device(self) -> WarpWorlds:
        """Bring to the device what was changed here; from then on its arrays count, and what is here is fetched anew.

        Returns:
            The device's worlds, whose arrays and `active` may be written until the next call of a method here.
        """
        self._send()
        self._rows_are_here = self._motion_is_here = False
        self._moving = None
        return self.device

    @property
    def states(self) -> np.ndarray:
        """(n, nstate) everything that a row is, as a copy: time, positions, velocities, warm start, memory."""
        warm = self.device.data.qacc_warmstart.numpy().astype(float)
        return np.hstack([self.time[:, None], self.qpos, self.qvel, warm, self.userdata])

    def restore(self, states: np.ndarray) -> None:
        """Write `states`."""
        nq, nv = self._qpos.shape[1], self._qvel.shape[1]
        time, qpos, qvel, warm, rows = np.split(states, np.cumsum([1, nq, nv, nv]), axis=1)
        self.time[:], self.qpos[:], self.qvel[:], self.userdata[:] = time[:, 0], qpos, qvel, rows
        self.device.data.qacc_warmstart.assign(warm.astype(np.float32))

    def reset(self) -> None:
        """Forget what was simulated: time 0, nothing to begin a solution with. Rows are to be written anew."""
        self._rows_are_here = self._rows_changed = True  # what the device holds of them is not worth fetching
        self.time[:] = 0.0
        self.device.forget()
        self._moving = np.ones(self.device.n, dtype=bool)

    def columns(self, begin: int, end: int) -> np.ndarray:
        """(n, end − begin) some numbers of every row of memory, to be read only."""
        if self._rows_are_here:
            return self._userdata[:, begin:end]
        numbers: np.ndarray = self.device.rows[:, begin:end].contiguous().numpy()
        return numbers

    def physics(self, name: str, bodies: Sequence[int] | None = None) -> np.ndarray:
        """(n, bodies, …) of an array of every row's `mjData` about bodies, to be read only."""
        check_body_array(name)
        numbers = self.device.fetch_bodies(name, bodies)
        return numbers.reshape(*numbers.shape[:2], -1).astype(float)

    def frames(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Time, positions, velocities and memory of some rows, to be read only; no others are fetched."""
        time, qpos, qvel, memory = self.device.fetch(rows)
        if self._motion_is_here:  # it may have been written into
            time, qpos, qvel = self._time[rows], self._qpos[rows], self._qvel[rows]
        return time, qpos, qvel, self._userdata[rows] if self._rows_are_here else memory

    def row_time(self, row: int) -> float:
        """Simulated seconds of a row."""
        return float(self.time[row])

    def step(self, rows: np.ndarray | None, count: int) -> None:
        """Advance some rows, or all, by physics steps; a GPU steps all, and the others are put back."""
        self._send()
        moving = np.full(self.device.n, rows is None)
        if rows is not None:
            moving[rows] = True
        if self._moving is None or not np.array_equal(moving, self._moving):
            self.device.hold(moving)
            self._moving = moving
        self._rows_are_here = self._motion_is_here = False
        self.device.step(count)

    def forward(self) -> None:
        """Do nothing: every step begins with what follows from positions and velocities."""
