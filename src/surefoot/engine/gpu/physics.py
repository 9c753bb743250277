"""Many worlds of `mujoco_warp`, with the rows of memory that our laws keep.

The physics computes with float32; a row is float64, as on a CPU. One step is recorded once as a CUDA graph and
replayed. On Warp's own CPU device the same code runs without a GPU, slowly: that is what tests use.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import mujoco
import numpy as np
from numba import cfunc, types

from surefoot.controllers import base
from surefoot.engine.callback import fingerprint
from surefoot.engine.gpu.row_copies import copy_rows
from surefoot.engine.gpu.step import SOURCES, WorldKernels, world_kernels
from surefoot.errors import SurefootError
from surefoot.native import cuda
from surefoot.native.compiling import compiling
from surefoot.native.kernels import kernel
from surefoot.native.worlds import COUNTS, Placed, contact_dtype, table_of

CPU = "warp-cpu"  # the device on which Warp runs without a GPU
_GRAPH_STEPS = 10  # physics steps of the longer of the two recorded graphs
_SPARE_CONTACTS = 8  # of a world, beyond two for each solid shape of the character
_MOST_CONTACTS = 64  # of a world
_PER_CONTACT = 3  # rows of constraints
_UNUSED = ("dof_length",)  # which only decides when a body sleeps
_PER_CONSTRAINT, _PER_BODY = 84, 80  # numbers that the physics keeps, about


def check_available(device: str) -> None:
    """Refuse a device that cannot be used here, in one line that says what is missing.

    Args:
        device: `cuda`, `cuda:1`, …, or `warp-cpu`.

    Raises:
        SurefootError: packages are missing, there is no such GPU, or the name is not one of a device.
    """
    lacks = cuda.missing()
    if lacks:
        raise SurefootError(f"device {device!r} needs {lacks}: {cuda.EXTRA}")
    if device == CPU:
        return
    warp = _warp()
    number = int(device.partition(":")[2] or 0)
    if number >= warp.get_cuda_device_count():
        found = ", ".join(f"cuda:{i}" for i in range(warp.get_cuda_device_count())) or "none"
        raise SurefootError(f"there is no GPU {device!r} here; found: {found}")


@functools.cache
def _warp() -> Any:
    warp = importlib.import_module("warp")  # of an extra; it has no types
    warp.config.log_level = logging.ERROR  # no line for every kernel that is loaded; what is missing, we say
    warp.init()
    return warp


class WarpWorlds:
    """Worlds on a device: their physics, their rows, and the recorded step.

    Attributes:
        n: how many.
        device: Warp's.
        data: `mujoco_warp`'s.
        model: `mujoco_warp`'s.
        rows: (n, nuserdata) rows of memory, float64.
        times: (n,) simulated seconds, float64.
        active: (n,) 1 for worlds that move.
    """

    def __init__(
        self, models: Sequence[mujoco.MjModel], which: Sequence[int], controllers: Sequence[str], device: str
    ) -> None:
        """Put them on a device.

        Args:
            models: distinct bodies on the same terrain.
            which: (n,) number of each world's model.
            controllers: names of those whose skills the rows may run.
            device: as `check_available` takes it.
        """
        check_available(device)
        self._wp = wp = _warp()
        self._mjw: Any = importlib.import_module("mujoco_warp")
        self.n, self.name = len(which), device
        self.device = wp.get_device("cpu" if device == CPU else device)
        first = models[0]
        self._check_room(first)
        with wp.ScopedDevice(self.device):
            self.model = _batched_model(self._mjw, wp, models, which)
            self.model.opt.warn_overflow = 0  # a body that lies on the ground may touch it in more points than it needs
            self.capacity = _contact_capacity(first)
            self.data = self._mjw.make_data(
                first, nworld=self.n, nconmax=self.capacity, njmax=_constraint_capacity(first, self.capacity)
            )
            self.data.userdata = wp.zeros((self.n, 0), dtype=float)  # ours is float64
            self.rows = wp.zeros((self.n, first.nuserdata), dtype=wp.float64)
            self.times = wp.zeros(self.n, dtype=wp.float64)
            self.active = wp.full(self.n, 1, dtype=wp.int32)
            self._kept = wp.zeros_like(self.data.qpos), wp.zeros_like(self.data.qvel)
            self._make_tables(first, models, which)
            self._kernels = _launchers(wp, self.device, tuple(controllers))
        self._graphs: dict[tuple[int, bool], Any] = {}

    def _check_room(self, model: mujoco.MjModel) -> None:
        """Refuse more worlds than the device has memory for."""
        if not self.device.is_cuda:
            return
        constraints, nv = _constraint_capacity(model, _contact_capacity(model)), model.nv
        each = 8 * model.nuserdata + 4 * (constraints * (nv + _PER_CONSTRAINT) + _PER_BODY * model.nbody + 4 * nv * nv)
        room = int(0.9 * self.device.free_memory)
        if each * self.n > room:
            raise SurefootError(
                f"{self.n} rows take about {each * self.n / 1e9:.1f} GB and {self.name} has {room / 1e9:.1f} GB free: "
                f"about {room // each} fit"
            )

    def _make_tables(self, model: mujoco.MjModel, models: Sequence[mujoco.MjModel], which: Sequence[int]) -> None:
        """Write down where everything lies."""
        wp, data = self._wp, self.data
        item = contact_dtype(np.float32)
        self._lists = wp.zeros(self.n * self.capacity * item.itemsize, dtype=wp.uint8)
        self._list_lengths = wp.zeros(self.n, dtype=wp.int32)
        self._dt = wp.array([model.opt.timestep], dtype=wp.float64)
        self._shared = [  # what laws read of the model, by row where bodies differ
            wp.array(np.ascontiguousarray(value, dtype=kind), dtype=warp_kind)
            for value, kind, warp_kind in (
                (_by_row([m.numeric_data for m in models], which), np.float64, wp.float64),
                (_by_row([m.body_mass for m in models], which), np.float64, wp.float64),
                (model.body_rootid, np.int32, wp.int32), (model.geom_bodyid, np.int32, wp.int32),
            )
        ]  # fmt: skip
        numeric, mass, rootid, geom_body = self._shared
        placed = {
            name: _place(getattr(data, field)) for name, field in (
                ("qpos", "qpos"), ("qvel", "qvel"), ("xpos", "xpos"), ("xmat", "xmat"), ("xquat", "xquat"),
                ("xaxis", "xaxis"), ("xanchor", "xanchor"), ("xipos", "xipos"), ("cvel", "cvel"),
                ("subtree_com", "subtree_com"), ("ctrl", "ctrl"), ("xfrc", "xfrc_applied"),
                ("actuator_force", "actuator_force"))
        }  # fmt: skip
        placed |= {"numeric": _place(numeric), "mass": _place(mass), "userdata": _place(self.rows)}
        placed |= {"rootid": Placed(rootid.ptr, 0), "geom_body": Placed(geom_body.ptr, 0)}
        placed |= {"time": Placed(self.times.ptr, 8), "dt": Placed(self._dt.ptr, 0)}
        placed |= {"ncon": Placed(self._list_lengths.ptr, 4)}
        placed |= {"contact": Placed(self._lists.ptr, self.capacity * item.itemsize)}
        placed |= {"efc_force": _place(data.efc.force)}
        counts = {size: data.njmax if size == "nefc" else int(getattr(model, size)) for size in COUNTS}
        contact = data.contact
        found = {
            "contacts": data.nacon, "worldid": contact.worldid, "geom": contact.geom, "dist": contact.dist,
            "margin": contact.includemargin, "pos": contact.pos, "frame": contact.frame, "dim": contact.dim,
            "efc_address": contact.efc_address, "lists": self._lists, "list_lengths": self._list_lengths,
            "times": self.times, "dt": self._dt, "active": self.active, "kept_qpos": self._kept[0],
            "kept_qvel": self._kept[1], "warmstart": data.qacc_warmstart,
        }  # fmt: skip
        numbers = {
            "most_contacts": data.naconmax, "most_forces": data.njmax, "efc_width": contact.efc_address.shape[1],
            "capacity": self.capacity, "worlds": self.n, "nq": model.nq, "nv": model.nv,
        }  # fmt: skip
        sources = [found[name].ptr if name in found else numbers[name] for name in SOURCES]
        self._table = wp.array(table_of(placed, counts), dtype=wp.int64)
        self._sources = wp.array(np.array(sources, dtype=np.int64), dtype=wp.int64)

    def _launch(self, name: str, count: int) -> None:
        self._kernels[name](self.device, count, self._table.ptr, self._sources.ptr)

    def _control(self, model: Any, data: Any) -> None:
        """Do what the physics asks for when positions, velocities and contacts of a step are known."""
        self._launch("gather", self.data.naconmax)
        self._launch("control", self.n)

    def _step(self, controlled: bool) -> None:
        self.model.callback.control = self._control if controlled else None
        self._mjw.step(self.model, self.data)
        if controlled:
            self._launch("finish", self.n)

    def step(self, count: int, controlled: bool = True) -> None:
        """Advance all active worlds by physics steps.

        Args:
            count: of steps.
            controlled: without control, for measuring, it is the bare physics.
        """
        with self._wp.ScopedDevice(self.device):
            while count:
                size = _GRAPH_STEPS if count >= _GRAPH_STEPS and self.device.is_cuda else 1
                if self.device.is_cuda:
                    self._wp.capture_launch(self._graph(size, controlled))
                else:
                    self._step(controlled)
                count -= size

    def _graph(self, size: int, controlled: bool) -> Any:
        """A recorded graph of so many physics steps."""
        key = size, controlled
        if key not in self._graphs:
            with self._wp.ScopedCapture(device=self.device) as capture:
                for _ in range(size):
                    self._step(controlled)
            self._graphs[key] = capture.graph
        return self._graphs[key]

    def copy_state(self) -> list[Any]:
        """A copy, on the device, of all that a step begins with."""
        return [self._wp.clone(array) for array in self._state]

    def write_state(self, state: Sequence[Any]) -> None:
        """Go back to a state that `copy_state` gave."""
        for array, saved in zip(self._state, state, strict=True):
            self._wp.copy(array, saved)

    @property
    def _state(self) -> tuple[Any, ...]:
        data = self.data
        return (
            data.qpos, data.qvel, data.qacc_warmstart, data.xfrc_applied, data.ctrl, self.rows, self.times,
            self._list_lengths,
        )  # fmt: skip

    def fetch(self, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Copies, on the host, of times, positions, velocities and rows of some worlds.

        Args:
            worlds: their numbers.
        """
        wp = self._wp
        with wp.ScopedDevice(self.device):
            chosen = wp.array(np.asarray(worlds, dtype=np.int32), dtype=wp.int32)
            arrays = self.times, self.data.qpos, self.data.qvel, self.rows
            time, qpos, qvel, rows = (array[chosen].numpy() for array in arrays)
        return time, qpos.astype(float), qvel.astype(float), rows

    def fetch_bodies(self, name: str, bodies: Sequence[int] | None) -> np.ndarray:
        """A copy, on the host, of an array about bodies.

        Args:
            name: of the array.
            bodies: numbers of those that are wanted; None is all.
        """
        wp, array = self._wp, getattr(self.data, name)
        if bodies is not None:
            with wp.ScopedDevice(self.device):
                array = wp.indexedarray(array, [None, wp.array(np.asarray(bodies, dtype=np.int32), dtype=wp.int32)])
        found: np.ndarray = array.numpy()
        return found

    def forget(self) -> None:
        """Forget what the last step left for the next one; every world moves."""
        for array in (self.data.qacc_warmstart, self.data.xfrc_applied, self.data.ctrl, self._list_lengths):
            array.zero_()
        self.active.fill_(1)

    def hold(self, moving: np.ndarray) -> None:
        """Say which worlds move from now on; the others stay as they are.

        Args:
            moving: (n,) of truth values.
        """
        with self._wp.ScopedDevice(self.device):
            self.active.assign(moving.astype(np.int32))
        self.keep_still()

    def overwrite_rows(self, which: Any, places: Any, source: Any) -> None:
        """Copy rows of memory into those of some worlds.

        Args:
            which: (n,) truth values on the device, the worlds.
            places: (n,) int64 on the device, the number of the row that each gets.
            source: (m, nuserdata) rows on the device.
        """
        with self._wp.ScopedDevice(self.device):
            copy_rows(self._wp, self.device, which, places, source, self.rows)

    def keep_still(self) -> None:
        """Let the worlds that `active` does not name stay as they are now; needed whenever it was written."""
        wp = self._wp
        with wp.ScopedDevice(self.device):
            wp.copy(self._kept[0], self.data.qpos)
            wp.copy(self._kept[1], self.data.qvel)

    def synchronize(self) -> None:
        """Wait until the device has done what it was told."""
        self._wp.synchronize_device(self.device)


def _place(array: Any) -> Placed:
    return Placed(array.ptr, array.strides[0] if array.shape[0] > 1 else 0)


def _by_row(values: Sequence[np.ndarray], which: Sequence[int]) -> np.ndarray:
    """(n, …) if bodies differ, (1, …) if they share their numbers."""
    if all(np.array_equal(value, values[0]) for value in values):
        return values[0][None]
    return np.stack([values[i] for i in which])


def _contact_capacity(model: mujoco.MjModel) -> int:
    """How many contacts a world has room for."""
    own = (model.body_rootid[model.geom_bodyid] != 0) & ((model.geom_contype | model.geom_conaffinity) != 0)
    return min(_SPARE_CONTACTS + 2 * int(np.count_nonzero(own)), _MOST_CONTACTS)


def _constraint_capacity(model: mujoco.MjModel, contacts: int) -> int:
    """How many rows of constraints a world has room for: contacts, joints at their limits, grips."""
    return _PER_CONTACT * contacts + int(np.count_nonzero(model.jnt_limited)) // 2 + 6 * int(model.neq)


def _put_model(mjw: Any, model: mujoco.MjModel) -> Any:
    """A model on the device; the one flag that it does not know only says what a CPU does with numbers gone wild."""
    plain = copy.copy(model)
    plain.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    try:
        return mjw.put_model(plain)
    except NotImplementedError as error:
        raise SurefootError(f"the physics of the GPU does not know something in this model: {error}") from None


def _batched_model(mjw: Any, wp: Any, models: Sequence[mujoco.MjModel], which: Sequence[int]) -> Any:
    """A model whose numbers differ by world where the bodies do."""
    first = _put_model(mjw, models[0])
    if len(models) == 1:
        return first
    others = [first, *(_put_model(mjw, model) for model in models[1:])]
    for field in fields(first):
        value = getattr(first, field.name)
        if not isinstance(value, wp.array) or not value.size:
            continue
        arrays = [getattr(other, field.name).numpy() for other in others]
        if field.name in _UNUSED or all(np.array_equal(array, arrays[0]) for array in arrays):
            continue
        if getattr(field.type, "shape", ("",))[0] != "*" or arrays[0].shape[0] != 1:
            raise SurefootError(f"bodies that differ in {field.name} cannot be in one population on a GPU")
        setattr(first, field.name, wp.array(np.concatenate([arrays[i] for i in which]), dtype=value.dtype))
    return first


Launch = Callable[[Any, int, int, int], None]  # with Warp's device, a count, and the addresses of both tables


def kernel_entries(controllers: tuple[str, ...]) -> dict[str, Callable[[], Callable[..., None]]]:
    """The functions of a step for a GPU, by name, each made when it is called.

    Args:
        controllers: names of those whose laws are in `control`.
    """
    made: list[WorldKernels] = []

    def make(name: str) -> Callable[..., None]:
        if not made:
            made.append(world_kernels(controllers, np.float32, cuda.atomic_claim()))
        return cuda.entry(getattr(made[0], name))

    return {name: functools.partial(make, name) for name in WorldKernels._fields}


def fingerprint_of(controllers: tuple[str, ...]) -> int:
    """A number of all sources that the functions of a step are compiled from."""
    laws = [base.load(name).law_module for name in controllers]
    return fingerprint(world_kernels.__module__, cuda.__name__, *laws)


def _launchers(wp: Any, device: Any, controllers: tuple[str, ...]) -> dict[str, Launch]:
    return _on_gpu(device.ordinal, controllers) if device.is_cuda else _on_cpu(controllers)


@functools.cache
def _on_gpu(ordinal: int, controllers: tuple[str, ...]) -> dict[str, Launch]:
    device = _warp().get_device(f"cuda:{ordinal}")
    capability, key = divmod(device.arch, 10), fingerprint_of(controllers)
    launchers: dict[str, Launch] = {}
    for name, make in kernel_entries(controllers).items():
        label = f"{name}-{'-'.join(controllers)}" if name == "control" else name
        with device.context_guard:
            loaded = cuda.LoadedKernel(cuda.cached_ptx(label, key, capability, make))
        launchers[name] = functools.partial(_launch_on_gpu, loaded)
    return launchers


def _launch_on_gpu(loaded: cuda.LoadedKernel, device: Any, count: int, table: int, sources: int) -> None:
    with device.context_guard:
        loaded.launch(device.stream.cuda_stream, count, table, sources)


@functools.cache
def _on_cpu(controllers: tuple[str, ...]) -> dict[str, Launch]:
    """The same functions as loops over all worlds."""
    with compiling("the step of many worlds"):
        kernels = world_kernels(controllers, np.float32, _claim)
        return {name: functools.partial(_launch_on_cpu, _looped(one)) for name, one in kernels._asdict().items()}


@kernel
def _claim(numbers: Any, at: int) -> int:
    numbers[at] += 1
    return numbers[at] - 1  # type: ignore[no-any-return]


def _looped(one: Callable[[int, int, int], None]) -> Any:
    """A compiled loop over all worlds, or contacts."""

    def loop(table: int, sources: int, count: int) -> None:
        for at in range(count):
            one(table, sources, at)

    return cfunc(types.void(types.int64, types.int64, types.int64), error_model="numpy", _nrt=False)(loop)


def _launch_on_cpu(compiled: Any, device: Any, count: int, table: int, sources: int) -> None:
    ctypes.CFUNCTYPE(None, *(ctypes.c_int64,) * 3)(compiled.address)(table, sources, count)
