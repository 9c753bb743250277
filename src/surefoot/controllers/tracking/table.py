"""What a tracking skill follows: targets, a state and a feedback matrix for every window of a motion.

The table is made once, is kept in an npz file beside the skill, and lies in the model's numeric data, where all rows
share it. Time is divided into windows of equal length. Within a window, the joints' targets follow the reference and
are displaced by the window's offsets and by its feedback: a matrix times the difference between the state of the body
and the window's own state.

That difference is seen along the window's heading:

    position (3) [m], rotation (3) [rad], velocity (3) [m/s], spin in the root's own axes (3) [rad/s], joints [rad],
    their rates [rad/s]

After its last window a motion goes on with the window `back_to`: a loop with its first one, moved by the travel and
turned by the turn of a cycle; a motion that is followed once holds its last window.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.errors import SurefootError
from surefoot.motions.npz import load_arrays, npz_bytes
from surefoot.native.kernels import block, kernel, records

ROOT = 12  # differences of the root: position, rotation, velocity, spin
FRAMES = 4  # frames of the reference in a window
HEAD = np.dtype([(n, "f8") for n in ("windows", "window", "back_to", "travel_x", "travel_y", "turn")])
"""`window` is its length [s]; `travel_x` and `travel_y` are from the state of window `back_to` to its next turn [m]."""
_HEAD = HEAD.itemsize // 8
_STATE = 15  # of the root in a window's state: place, quaternion, velocity, spin, heading, and one for the pace


class Table(NamedTuple):
    """Views of a table in the model's numeric data."""

    head: Any  # (1,) HEAD
    angles: Any  # (windows · FRAMES + 1, actuators) [rad] of the reference
    rates: Any  # (windows · FRAMES + 1, actuators) [rad/s]
    offsets: Any  # (windows, actuators) [rad] added to the reference
    states: Any  # (windows, _STATE + 2 · actuators)
    gains: Any  # (windows, actuators, ROOT + 2 · actuators)


@kernel
def has_table(numeric: Any, at: float, actuators: int) -> bool:
    """Whether a whole table can lie at an index of the model's numeric data.

    Args:
        numeric: (nnumericdata,) the model's own numbers.
        at: where the table is said to begin; any number, even NaN.
        actuators: how many the body has.
    """
    room = len(numeric) - _HEAD
    if not 0.0 <= at <= room:
        return False
    head = records(numeric, int(at), 1, HEAD)[0]
    if not (1.0 <= head.windows <= room and 0.0 <= head.back_to < head.windows and head.window > 0.0):
        return False
    each = (2 * FRAMES + 1) * actuators + _STATE + 2 * actuators + actuators * (ROOT + 2 * actuators)
    return at + int(head.windows) * each + 2 * actuators <= room  # type: ignore[no-any-return]


@kernel
def table_of(numeric: Any, at: int, actuators: int) -> Table:
    """Lay the views over the model's numeric data, in which the table begins at an index."""
    head = records(numeric, at, 1, HEAD)
    windows = int(head[0].windows)
    frames = windows * FRAMES + 1
    angles = at + _HEAD
    rates = angles + frames * actuators
    offsets = rates + frames * actuators
    states = offsets + windows * actuators
    gains = states + windows * (_STATE + 2 * actuators)
    return Table(
        head,
        block(numeric, angles, (frames, actuators)),
        block(numeric, rates, (frames, actuators)),
        block(numeric, offsets, (windows, actuators)),
        block(numeric, states, (windows, _STATE + 2 * actuators)),
        block(numeric, gains, (windows, actuators, ROOT + 2 * actuators)),
    )


@dataclass(frozen=True)
class TrackingTable:
    """The table as arrays, joints in the order of the actuators.

    Attributes:
        window: length of a window [s].
        back_to: number of the window that follows the last one.
        held: windows at the end that hold the last pose; 0 for a loop.
        travel: (2,) way from window `back_to` to the end, in the reference's own axes [m].
        turn: by which the reference is turned at the end [rad].
        angles: (windows · FRAMES + 1, actuators) of the reference [rad].
        rates: (windows · FRAMES + 1, actuators) of the reference [rad/s].
        offsets: (windows, actuators) added to the reference's angles [rad].
        qpos: (windows, 7 + actuators) state at the beginning of every window: root, joints.
        qvel: (windows, 6 + actuators) velocities there, the root's as those of a free joint of MuJoCo.
        headings: (windows,) direction along which differences are seen [rad].
        gains: (windows, actuators, ROOT + 2 · actuators) feedback.
        clip: (windows, 7 + actuators) the retargeted clip at the beginning of every window.
    """

    window: float
    back_to: int
    held: int
    travel: np.ndarray
    turn: float
    angles: np.ndarray
    rates: np.ndarray
    offsets: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    headings: np.ndarray
    gains: np.ndarray
    clip: np.ndarray

    @property
    def windows(self) -> int:
        """How many windows there are."""
        return len(self.offsets)

    @property
    def loops(self) -> bool:
        """Whether it goes on for ever from its beginning."""
        return self.back_to == 0

    @property
    def duration(self) -> float:
        """How long it lasts until it loops, or holds its last pose [s]."""
        return (self.windows - self.held) * self.window

    def packed(self) -> np.ndarray:
        """The numbers in the order in which `table_of` reads them."""
        states = np.column_stack(
            [self.qpos[:, :7], self.qvel[:, :6], self.headings, np.ones(self.windows), self.qpos[:, 7:],
             self.qvel[:, 6:]]
        )  # fmt: skip
        head = np.array([self.windows, self.window, self.back_to, *self.travel, self.turn], dtype=float)
        return np.concatenate([head, *(a.ravel() for a in (self.angles, self.rates, self.offsets, states, self.gains))])

    def save(self, path: Path) -> None:
        """Write an npz file; what is large is written with the digits that matter."""
        small = {"gains": np.float16, "clip": np.float32}
        arrays = {f.name: np.asarray(getattr(self, f.name), dtype=small.get(f.name)) for f in fields(self)}
        replace_file(path, npz_bytes(arrays, compressed=True))


def load_table(path: Path) -> TrackingTable:
    """Read a table that `TrackingTable.save` wrote.

    Args:
        path: of the npz file.

    Raises:
        SurefootError: the file cannot be read, or is no such table.
    """
    wanted = [f.name for f in fields(TrackingTable)]
    arrays = load_arrays(path, "a table of a tracking skill, which surefoot track makes")
    if set(arrays) != set(wanted):
        raise SurefootError(f"{path} is no table of a tracking skill: it holds {', '.join(sorted(arrays))}")
    if not all(np.issubdtype(array.dtype, np.number) for array in arrays.values()):
        raise SurefootError(f"{path} holds something else than numbers")
    found: dict[str, Any] = {name: np.asarray(array, dtype=float) for name, array in arrays.items()}
    if any(found[name].size != 1 for name in ("window", "back_to", "held", "turn")):
        raise SurefootError(f"{path} is no table of a tracking skill: its windows do not fit")
    if not all(np.isfinite(array).all() for array in found.values()):
        raise SurefootError(f"{path} holds numbers that are not finite")
    found |= {
        "window": float(found["window"]),
        "back_to": int(found["back_to"]),
        "held": int(found["held"]),
        "turn": float(found["turn"]),
    }
    table = TrackingTable(**found)
    windows, actuators = table.offsets.shape if table.offsets.ndim == 2 else (0, 0)
    shapes = {
        "angles": (windows * FRAMES + 1, actuators), "rates": (windows * FRAMES + 1, actuators),
        "qpos": (windows, 7 + actuators), "qvel": (windows, 6 + actuators), "headings": (windows,), "travel": (2,),
        "gains": (windows, actuators, ROOT + 2 * actuators), "clip": (windows, 7 + actuators),
    }  # fmt: skip
    wrong = [name for name, shape in shapes.items() if getattr(table, name).shape != shape]
    if (
        not windows
        or wrong
        or not 0 <= table.back_to < windows
        or not 0 <= table.held < windows
        or not 1e-3 <= table.window <= 1.0
    ):
        raise SurefootError(f"{path} is no table of a tracking skill: {', '.join(wrong) or 'its windows'} do not fit")
    return table
