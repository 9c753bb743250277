"""Steps a planar walk with the kernels of a GPU in numba's CUDA simulator, around MuJoCo's own physics.

usage: cuda_simulator_run.py FILE.npz STEPS TIMESTEP   with NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numba import cuda

from surefoot.engine.gpu import physics
from surefoot.engine.gpu.step import SOURCES, world_kernels
from surefoot.engine.scene import Scene, Setup
from surefoot.native.worlds import COUNTS, ENTRIES, Placed, contact_dtype, table_of

CONTACTS, FORCES = 16, 64  # there is room for


def claim(numbers: Any, at: int) -> int:
    """`native.cuda.atomic_claim`; the simulator finds `cuda` only among a module's own names."""
    return cuda.atomic.add(numbers, at, 1)  # type: ignore[no-any-return]


def entry(function: Callable[[int, int, int], None]) -> Callable[[int, int, int], None]:
    """`native.cuda.entry`, likewise."""

    def start(table: int, sources: int, count: int) -> None:
        at = cuda.grid(1)
        if at < count:
            function(table, sources, at)

    return start


class HostWorld:
    """One world, its arrays in memory of the host, in the places where a GPU's kernels look for them."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Lay the tables over a fresh state."""
        self.model, self.data = model, mujoco.MjData(model)
        self.row, self.time = np.zeros(model.nuserdata), np.zeros(1)
        self.list = np.zeros(CONTACTS, contact_dtype(np.float64))
        self.count, self.length = np.zeros(1, np.int32), np.zeros(1, np.int32)
        self.forces = np.zeros(FORCES)
        self.found = {
            "worldid": np.zeros(CONTACTS, np.int32), "geom": np.zeros((CONTACTS, 2), np.int32),
            "dist": np.zeros(CONTACTS), "margin": np.zeros(CONTACTS), "pos": np.zeros((CONTACTS, 3)),
            "frame": np.zeros((CONTACTS, 9)), "dim": np.zeros(CONTACTS, np.int32),
            "efc_address": np.zeros((CONTACTS, 1), np.int32),
        }  # fmt: skip
        data, dt, active = self.data, np.array([model.opt.timestep]), np.ones(1, np.int32)
        own = {
            "userdata": self.row, "numeric": model.numeric_data, "mass": model.body_mass, "rootid": model.body_rootid,
            "geom_body": model.geom_bodyid, "time": self.time, "dt": dt, "ncon": self.length, "contact": self.list,
            "efc_force": self.forces, "xfrc": data.xfrc_applied,
        }  # fmt: skip
        placed = {name: Placed((own[name] if name in own else getattr(data, name)).ctypes.data, 0) for name in ENTRIES}
        counts = {name: FORCES if name == "nefc" else int(getattr(model, name)) for name in COUNTS}
        kept = np.zeros(model.nq), np.zeros(model.nv)
        addresses = self.found | {
            "contacts": self.count, "lists": self.list, "list_lengths": self.length, "times": self.time, "dt": dt,
            "active": active, "kept_qpos": kept[0], "kept_qvel": kept[1], "warmstart": data.qacc_warmstart,
        }  # fmt: skip
        numbers = {
            "most_contacts": CONTACTS, "most_forces": FORCES, "efc_width": 1, "capacity": CONTACTS, "worlds": 1,
            "nq": model.nq, "nv": model.nv,
        }  # fmt: skip
        sources = [addresses[name].ctypes.data if name in addresses else numbers[name] for name in SOURCES]
        self.table, self.sources = table_of(placed, counts), np.array(sources, np.int64)
        self.alive = [dt, active, kept, addresses]

    def step(self, kernels: dict[str, object]) -> None:
        """One physics step, in the order of a GPU's."""
        mujoco.mj_step1(self.model, self.data)
        found, contact, n = self.found, self.data.contact, self.data.ncon
        self.count[0] = n
        for name, source in (("geom", contact.geom), ("dist", contact.dist), ("margin", contact.includemargin),
                             ("pos", contact.pos), ("frame", contact.frame), ("dim", contact.dim),
                             ("efc_address", contact.efc_address[:, None])):  # fmt: skip
            found[name][:n] = source
        self.launch(kernels["gather"], CONTACTS)
        self.launch(kernels["control"], 1)
        mujoco.mj_step2(self.model, self.data)
        self.forces[: self.data.nefc] = self.data.efc_force
        self.launch(kernels["finish"], 1)

    def launch(self, kernel: object, threads: int) -> None:
        """Call a kernel with so many threads."""
        kernel[1, threads](self.table.ctypes.data, self.sources.ctypes.data, threads)  # type: ignore[index]


def main(path: Path, steps: int, timestep: float) -> None:
    """Step and write down where it is."""
    scene = Scene(Setup("planar/walk", timestep=timestep, device=physics.CPU))
    world = HostWorld(scene.model)
    row = scene.begin(world.data.qpos, world.data.qvel, world.row, scene.skill, 0)
    made = world_kernels(("simbicon",), np.float64, claim)
    kernels = {name: cuda.jit(entry(one)) for name, one in made._asdict().items()}
    for _ in range(steps):
        world.step(kernels)
    np.savez(
        path, qpos=world.data.qpos, qvel=world.data.qvel, steps=row.report[0].steps, torque=row.torque,
        contact_force=row.contact_force,
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
