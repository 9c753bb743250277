"""What a physics step of many worlds does around its physics: the same bookkeeping and the same laws as on a CPU.

Three functions of one world each, for any number of threads: `gather` copies a contact into the list of its world,
since the physics keeps one list for all worlds; `control` does what MuJoCo's control callback does on a CPU; `finish`
does what its sensor callback does, and counts the time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.controllers import base
from surefoot.engine.bookkeeping import begin_moment, hand_over, report_loads
from surefoot.native.kernels import array_at, kernel
from surefoot.native.userdata import row_of
from surefoot.native.worlds import contact_dtype, userdata_at, world_at

SOURCES = (
    "contacts", "worldid", "geom", "dist", "margin", "pos", "frame", "dim", "efc_address",
    "lists", "list_lengths", "times", "dt", "active", "kept_qpos", "kept_qvel", "warmstart",
    "most_contacts", "most_forces", "efc_width", "capacity", "worlds", "nq", "nv",
)  # fmt: skip
"""What else the functions need, as a table of integers: addresses, of the arrays of all worlds' contacts, of the lists
of each world, of times [s], of which worlds move and of where the others are held; then counts."""
(
    _CONTACTS, _WORLDID, _GEOM, _DIST, _MARGIN, _POS, _FRAME, _DIM, _EFC_ADDRESS,
    _LISTS, _LIST_LENGTHS, _TIMES, _DT, _ACTIVE, _KEPT_QPOS, _KEPT_QVEL, _WARMSTART,
    _MOST_CONTACTS, _MOST_FORCES, _EFC_WIDTH, _CAPACITY, _WORLDS, _NQ, _NV,
) = range(len(SOURCES))  # fmt: skip
_COUNT = len(SOURCES)


class WorldKernels(NamedTuple):
    """The functions of a step; each is called with both tables and a number."""

    gather: Callable[[int, int, int], None]  # of a contact
    control: Callable[[int, int, int], None]  # of a world
    finish: Callable[[int, int, int], None]  # of a world


def world_kernels(controllers: Sequence[str], real: Any, claim: Callable[[Any, int], int]) -> WorldKernels:
    """Make the functions for skills of some controllers.

    Args:
        controllers: names; rows of any other stay limp.
        real: numpy.float32 or numpy.float64, what the physics computes with.
        claim: adds 1 to a number of an array, whatever other threads do, and returns what it was before.
    """
    call_law = _chain(tuple(dict.fromkeys(controllers)))
    item = contact_dtype(real)

    @kernel
    def gather(table: int, sources: int, at: int) -> None:
        source = array_at(sources, (_COUNT,), np.int64)
        if at >= min(array_at(source[_CONTACTS], (1,), np.int32)[0], source[_MOST_CONTACTS]):
            return
        most, capacity, worlds = source[_MOST_CONTACTS], source[_CAPACITY], source[_WORLDS]
        # everything is read before anything is written: a GPU waits for a read before the next write, not for each read
        geoms, position = array_at(source[_GEOM], (most, 2), np.int32), array_at(source[_POS], (most, 3), real)
        frame = array_at(source[_FRAME], (most, 9), real)
        world = array_at(source[_WORLDID], (most,), np.int32)[at]
        one, two, dim = geoms[at, 0], geoms[at, 1], array_at(source[_DIM], (most,), np.int32)[at]
        address = array_at(source[_EFC_ADDRESS], (most, source[_EFC_WIDTH]), np.int32)[at, 0]
        gap = array_at(source[_DIST], (most,), real)[at] - array_at(source[_MARGIN], (most,), real)[at]
        x, y, z = position[at, 0], position[at, 1], position[at, 2]
        nx, ny, nz = frame[at, 0], frame[at, 1], frame[at, 2]
        ax, ay, az = frame[at, 3], frame[at, 4], frame[at, 5]
        bx, by, bz = frame[at, 6], frame[at, 7], frame[at, 8]
        place = claim(array_at(source[_LIST_LENGTHS], (worlds,), np.int32), world)
        if place >= capacity:
            return
        contact = array_at(source[_LISTS], (worlds, capacity), item)[world, place]
        contact.geom1, contact.geom2, contact.dim = one, two, dim
        contact.efc_address = address if address + dim <= source[_MOST_FORCES] else -1
        contact.exclude = 0 if gap < 0.0 else 1
        contact.pos[0], contact.pos[1], contact.pos[2] = x, y, z
        contact.frame[0], contact.frame[1], contact.frame[2] = nx, ny, nz
        contact.frame[3], contact.frame[4], contact.frame[5] = ax, ay, az
        contact.frame[6], contact.frame[7], contact.frame[8] = bx, by, bz

    @kernel
    def control(table: int, sources: int, at: int) -> None:
        source = array_at(sources, (_COUNT,), np.int64)
        lengths = array_at(source[_LIST_LENGTHS], (source[_WORLDS],), np.int32)
        lengths[at] = min(lengths[at], source[_CAPACITY])
        if array_at(source[_ACTIVE], (source[_WORLDS],), np.int32)[at] == 0:
            return
        row = row_of(userdata_at(table, at))
        world = world_at(table, at, int(row.header[0].anatomy), real)
        steps = row.report[0].steps
        if begin_moment(world, row, True):
            call_law(int(row.slots[int(row.header[0].active), 0]), world, row)
            hand_over(world, row, steps)
        else:  # the solver must not begin with numbers gone wild
            warmstart = array_at(source[_WARMSTART], (source[_WORLDS], source[_NV]), real)
            for k in range(source[_NV]):
                warmstart[at, k] = 0.0
        row.clock[0].advanced = world.time

    @kernel
    def finish(table: int, sources: int, at: int) -> None:
        source = array_at(sources, (_COUNT,), np.int64)
        worlds = source[_WORLDS]
        lengths = array_at(source[_LIST_LENGTHS], (worlds,), np.int32)
        row = row_of(userdata_at(table, at))
        world = world_at(table, at, int(row.header[0].anatomy), real)
        if array_at(source[_ACTIVE], (worlds,), np.int32)[at] != 0:
            report_loads(world, row)
            times = array_at(source[_TIMES], (worlds,), np.float64)
            times[at] += array_at(source[_DT], (1,), np.float64)[0]
        else:  # a world that does not move is put back to where it was
            kept = array_at(source[_KEPT_QPOS], (worlds, source[_NQ]), real)
            for k in range(source[_NQ]):
                world.qpos[k] = kept[at, k]
            kept = array_at(source[_KEPT_QVEL], (worlds, source[_NV]), real)
            for k in range(source[_NV]):
                world.qvel[k] = kept[at, k]
        lengths[at] = 0

    return WorldKernels(gather, control, finish)


@kernel
def _no_law(number: int, world: Any, row: Any) -> None:
    """Stand in for the law of a controller that is not among those asked for."""
    for i in range(len(world.ctrl)):
        world.ctrl[i] = 0.0


def _chain(names: tuple[str, ...]) -> Callable[[int, Any, Any], None]:
    """A kernel that calls the law of a controller's number, one of some controllers."""
    if not names:
        return _no_law  # type: ignore[no-any-return]
    number, law = base.names().index(names[0]), importlib.import_module(base.load(names[0]).law_module).law
    other = _chain(names[1:])

    @kernel
    def call(which: int, world: Any, row: Any) -> None:
        if which == number:
            law(world, row, True)
        else:
            other(which, world, row)

    return call  # type: ignore[no-any-return]
