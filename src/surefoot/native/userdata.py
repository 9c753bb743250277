"""Everything a controller knows, as named and typed views of `mjData.userdata`.

`userdata` is one flat row of float64, saved and restored with MuJoCo's integration state. This module
alone knows what lies where in it. A kernel and a Python program see the same `Row` of views.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import kernel, python_impl, records
from surefoot.native.sections import Layout, Section, layer

MAGIC = 5.07e7 + 0.1996  # first number of a row that is ours: no counter, angle or force equals it
SCHEMA = 1.0
COMMANDS = 16  # numbers of a row that hold what a user commands: values, then which of them were given
COMMAND_GIVEN = COMMANDS // 2  # where the second half begins


def _record(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in names])


HEADER = _record(
    "magic", "schema", "anatomy", "actuators", "feet", "pushes", "slot_size", "memory_size", "table_size",
    "active", "pending", "pushed_until", "seed", "limbs", "handover", "asked", "ground", "planned_until", "overdue",
    "hold", "family",
)  # fmt: skip
SLOT = _record(  # how every parameter slot begins; `fall_touch` is 0 if any part may touch the ground
    "controller", "fall_height", "fall_tilt_cosine", "fall_tilt_time", "fall_touch"
)
CLOCK = _record("advanced", "sensed", "fallen_at", "fall_cause", "tilted_since", "blown_up")
PUSH = _record("start", "stop", "body", "fx", "fy", "fz", "at_point", "px", "py", "pz", "acting")
REPORT = _record(
    "state", "phase", "swing", "steps", "distance", "velocity", "lateral_distance", "lateral_velocity", "heading",
    "feedback", "feedforward", "peak_torque",
)  # fmt: skip

_HEADER, _CLOCK = HEADER.itemsize // 8, CLOCK.itemsize // 8
_REPORT, _PUSH = REPORT.itemsize // 8, PUSH.itemsize // 8
_FIXED = _HEADER + _CLOCK + _REPORT + 2 * COMMANDS + 6  # numbers of the sections whose sizes are always the same

FALL_CAUSES = ("none", "touched the ground", "too low", "tilted", "not finite", "far from its motion")


class Sizes(NamedTuple):
    """What has to be known of a row before it can be laid out (counts of float64)."""

    actuators: int
    feet: int
    pushes: int
    slot_size: int
    memory_size: int
    table_size: int

    @property
    def total(self) -> int:
        """`nuserdata` of a model with such rows."""
        per_foot = 1 + 3 + 1
        pushes = self.pushes * _PUSH
        own = 2 * self.slot_size + self.memory_size + self.table_size
        return _FIXED + per_foot * self.feet + pushes + 2 * self.actuators + own


class Row(NamedTuple):
    """Views of one simulation's memory; writing to them writes the state."""

    header: Any  # (1,) HEADER
    clock: Any  # (1,) CLOCK
    report: Any  # (1,) REPORT, for plotting
    commands: Any  # (COMMANDS,) of the skill that runs
    other_commands: Any  # (COMMANDS,) of the one in the other slot; a hand-over exchanges them
    center_of_pressure: Any  # (3,) [m] world, NaN-free: zero while nothing touches
    com: Any  # (3,) [m] world
    touch: Any  # (feet,) 1 where a foot touches the ground at this step
    contact_force: Any  # (feet, 3) [N] world, of the last solved step
    slip: Any  # (feet,) [m] path slid under load since the start
    pushes: Any  # (pushes,) PUSH
    torque: Any  # (actuators,) [N·m] of the last solved step
    residual: Any  # (actuators,) [rad] added to each servo's target, from outside
    slots: Any  # (2, slot_size) parameters of the active skill and of the requested one
    memory: Any  # (memory_size,) what the controller remembers
    table: Any  # (table_size,) what it has learned


_lay = layer(
    Layout(
        Row,
        ("feet", "pushes", "actuators", "slot_size", "memory_size", "table_size"),
        {
            "header": Section((1,), HEADER),
            "clock": Section((1,), CLOCK),
            "report": Section((1,), REPORT),
            "commands": Section((COMMANDS,)),
            "other_commands": Section((COMMANDS,)),
            "center_of_pressure": Section((3,)),
            "com": Section((3,)),
            "touch": Section(("feet",)),
            "contact_force": Section(("feet", 3)),
            "slip": Section(("feet",)),
            "pushes": Section(("pushes",), PUSH),
            "torque": Section(("actuators",)),
            "residual": Section(("actuators",)),
            "slots": Section((2, "slot_size")),
            "memory": Section(("memory_size",)),
            "table": Section(("table_size",)),
        },
    )
)


@kernel
def row_of(userdata: Any) -> Row:
    """Lay the named views over a row whose header is filled in."""
    sizes = records(userdata, 0, 1, HEADER)[0]
    feet, pushes, actuators = int(sizes.feet), int(sizes.pushes), int(sizes.actuators)
    slot, remembered, learned = int(sizes.slot_size), int(sizes.memory_size), int(sizes.table_size)
    return _lay(userdata, 0, (feet, pushes, actuators, slot, remembered, learned))  # type: ignore[no-any-return]


@kernel
def is_row(userdata: Any, numbers: int) -> bool:
    """Whether a row is ours and its header says what can be: its sections fill it exactly.

    A header that a user has overwritten must not make us read or write outside of the row.

    Args:
        userdata: (nuserdata,) any numbers at all.
        numbers: how many numbers the model has in its numeric data.
    """
    count = len(userdata)
    if count < _FIXED or userdata[0] != MAGIC:
        return False
    header = records(userdata, 0, 1, HEADER)[0]
    if not (0.0 <= header.feet <= count and 0.0 <= header.pushes <= count and 0.0 <= header.actuators <= count):
        return False
    if not (0.0 <= header.slot_size <= count and 0.0 <= header.memory_size <= count and header.table_size >= 0.0):
        return False
    if not (-1.0 <= header.limbs < numbers and -1.0 <= header.ground < numbers):
        return False
    if header.active != 0.0 and header.active != 1.0:
        return False
    total = _FIXED + 5.0 * header.feet + _PUSH * header.pushes + 2.0 * (header.actuators + header.slot_size)
    return total + header.memory_size + header.table_size == count  # type: ignore[no-any-return]


def format_row(userdata: np.ndarray, sizes: Sizes, anatomy: int, limbs: int = -1, ground: int = -1) -> Row:
    """Clear a row, write its header and return its views.

    Args:
        userdata: (nuserdata,) the row, written in place.
        sizes: how it is divided.
        anatomy: where the character's table begins in `mjModel.numeric_data`.
        limbs: where its links begin there; −1 for a body without.
        ground: where the heights of the ground begin there; −1 for level ground.
    """
    userdata[:] = 0.0
    header = records(userdata, 0, 1, HEADER)[0]
    header.magic, header.schema, header.anatomy, header.limbs = MAGIC, SCHEMA, anatomy, limbs
    header.ground = ground
    for name, value in sizes._asdict().items():
        header[name] = value
    row = view(userdata)
    clock = row.clock[0]
    clock.advanced = clock.sensed = clock.tilted_since = -1.0
    clock.fallen_at = np.inf
    row.header[0].pushed_until, row.header[0].planned_until = -1.0, np.inf
    return row


def view(userdata: np.ndarray) -> Row:
    """The named views of a formatted row, for Python."""
    return python_impl(row_of)(userdata)


def place_of(row: Row, section: np.ndarray) -> tuple[int, int]:
    """From where to where in a row one of its sections is.

    Args:
        row: its views.
        section: one of them.
    """
    begin = (section.ctypes.data - row.header.ctypes.data) // 8
    return begin, begin + section.size * section.itemsize // 8


OUTPUTS = ("contact_force", "center_of_pressure", "com", "touch", "slip", "torque")
"""Sections of a row that a step leaves its results in."""
SEED = HEADER.names.index("seed")  # type: ignore[union-attr]
FALLEN_AT = (_HEADER + CLOCK.names.index("fallen_at"), _HEADER + CLOCK.names.index("fallen_at") + 1)  # type: ignore[union-attr]
REPORTS = (_HEADER + _CLOCK, _HEADER + _CLOCK + _REPORT)
"""From where to where in a row the time of its fall and its REPORT are."""


def reports(columns: np.ndarray) -> np.ndarray:
    """(n,) copies of REPORT records from the numbers `REPORTS` of rows (n, numbers)."""
    return np.ascontiguousarray(columns).view(REPORT)[:, 0]
