"""Stylized locomotion (da Silva, Abe, Popović 2008): torques of a quadratic programme, and a low-gain servo on top.

Two clocks. The programme (§4.3) is solved in Python between short native runs, `rate` times a second, by the skill's
intention (`surefoot.controllers.stylized.tracker`). It reads a row's state and writes torques and the reference pose with its rates
into the row's memory; it keeps nothing of its own and never begins from an earlier solution, so a simulation, a row of
a population and a restored snapshot do the same, bit for bit, however they are stepped. This law runs at every physics
step: it holds the programme's torques and adds the servo of "Adjustment with PD", whose set point moves on with the
reference's rates. So it answers disturbances at once, and guides the limbs through changes of contact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import kernel, records
from surefoot.native.userdata import SLOT
from surefoot.reflexes.handover import NONE, TAKEN
from surefoot.reflexes.pose_graph import GAIN
from surefoot.reflexes.servo import actuate

TRACKER_STATE = np.dtype([(n, "f8") for n in (
    "ticked", "clock", "stance", "steps", "phase", "began", "solves", "failures", "heading", "left", "right",
    "late", "anchored", "x", "y", "z", "leave", "enter", "goal", "arrives", "faded",
    "rise_x", "rise_y", "pace")])  # fmt: skip
"""`ticked`: when the programme was last solved [s]; `clock`: where in the reference it then was [s]; `stance`: which
leg bears, 0 left, 1 right, 2 both; `began`: 0 before the first tick; `solves`, `failures`: counts; `heading` [rad];
`left`, `right`: whether that foot has landed since it was last to swing; `late`: for how long one should have [s];
`anchored`: 0 before the reference was set down in the world, `x`, `y`, `z`: where it first was [m];
`leave`, `enter`: at which share of its reference it is left for the requested skill, and at which of that one's that
begins, −1 where nothing is said; `goal`: 1 + the number of the action graph's node it is on its way to, 0 for none;
`arrives`: 1 between two skills; `faded`: since when it follows the present one, if it followed another [s];
`rise_x`, `rise_y`: of the ground from one foot to the next; `pace`: how much faster than time the reference goes on."""
_TRACKER, _GAIN, _SLOT = (
    TRACKER_STATE.itemsize // 8,
    GAIN.itemsize // 8,
    SLOT.itemsize // 8 + 1,
)  # its skill's number too
_ROOT = 6  # freedoms of a root, at most


class TrackerMemory(NamedTuple):
    """What the intention writes and the law reads."""

    tracker: Any  # (1,) TRACKER
    torque: Any  # (actuators,) [N·m] of the programme
    targets: Any  # (actuators,) [rad] of the reference when it was solved
    rates: Any  # (actuators,) [rad/s]
    off: Any  # (6 + actuators,) by what the body was off the reference when that began to be followed
    off_rates: Any  # (6 + actuators,) the same of velocities


def slot_size(actuators: int) -> int:
    """Numbers of a parameter slot: what every slot begins with, the skill's number, the servos' gains by actuator."""
    return _SLOT + _GAIN * actuators


def memory_size(actuators: int) -> int:
    """Numbers it remembers."""
    return _TRACKER + 3 * actuators + 2 * (_ROOT + actuators)


@kernel
def tracker_memory(memory: Any, actuators: int) -> TrackerMemory:
    """Lay the views over a row's memory."""
    at, off = _TRACKER, _TRACKER + 3 * actuators
    return TrackerMemory(
        records(memory, 0, 1, TRACKER_STATE),
        memory[at : at + actuators],
        memory[at + actuators : at + 2 * actuators],
        memory[at + 2 * actuators : at + 3 * actuators],
        memory[off : off + _ROOT + actuators],
        memory[off + _ROOT + actuators : off + 2 * (_ROOT + actuators)],
    )


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    actuators = int(world.anatomy[0].actuators)
    tracked = tracker_memory(row.memory, actuators)
    tracker = tracked.tracker[0]
    if is_new and row.header[0].handover == TAKEN:
        row.header[0].handover = NONE
    gains = records(row.slots[int(row.header[0].active)], _SLOT, actuators, GAIN)
    since, squares = world.time - tracker.ticked, 0.0
    for joint in range(actuators):
        gain, rate = gains[joint], tracked.rates[joint]
        error = tracked.targets[joint] + since * rate - world.qpos[int(world.qadr[joint])]
        servo = gain.kp * error + gain.kd * (rate - world.qvel[int(world.dof[joint])])
        squares += servo * servo
        actuate(world, row, joint, tracked.torque[joint] + servo, gain)
    report = row.report[0]
    report.state, report.steps, report.phase = tracker.stance, tracker.steps, tracker.phase
    report.swing = 1.0 - tracker.stance if tracker.stance < 2.0 else report.swing
    report.heading, report.feedback = tracker.heading, squares**0.5
