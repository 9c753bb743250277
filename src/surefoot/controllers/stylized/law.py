"""The compiled law of stylized locomotion: it holds the quadratic program's torques and adds a low-gain servo.

Two clocks run (da Silva, Abe, Popović 2008, §4.3). The planner solves the quadratic program in Python between short
native runs, `rate` times a second (`surefoot.controllers.stylized.tracker`). It reads a row's state and writes torques
and the reference pose with its rates into the row's memory. It keeps no state of its own and never starts from an
earlier solution, so a simulation, a row of a population and a restored snapshot give the same bits however they are
stepped. This law runs at every physics step. It holds those torques and adds the servo of "Adjustment with PD", whose
set point moves on with the reference's rates: it answers disturbances at once and guides the limbs through contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import kernel, records
from surefoot.native.userdata import SLOT
from surefoot.reflexes.handover import NONE, TAKEN
from surefoot.reflexes.pose_graph import GAIN
from surefoot.reflexes.servo import actuate


@dataclass(slots=True)
class TrackerState:
    """What the tracker remembers of a row from one solution of the quadratic program to the next."""

    ticked: float  # when the program was last solved [s]
    clock: float  # the reference's own time then [s]
    stance: float  # the leg that bears: 0 left, 1 right, 2 both
    steps: float  # taken so far
    phase: float  # share of the reference that is over
    began: float  # 0 before the first solution
    solves: float  # number of programs solved
    failures: float  # number of those without a solution
    heading: float  # by which the reference is turned [rad]
    left: float  # 1 if the left foot has landed since its last swing
    right: float
    late: float  # for how long a foot should have landed [s]
    anchored: float  # 0 before the reference was placed in the world
    x: float  # where it was first placed [m]
    y: float
    z: float
    leave: float  # share of this reference at which to switch to the requested skill, −1 if unspecified
    enter: float  # share of the requested skill's reference at which to begin it, −1 if unspecified
    goal: float  # 1 + index of the action graph's node it is going to, 0 for none
    arrives: float  # 1 between two skills
    faded: float  # when it began to follow this reference after another one [s]
    rise_x: float  # slope of the ground from one foot to the next
    rise_y: float
    pace: float  # by how much the reference runs faster than time


TRACKER_STATE = np.dtype([(field.name, "f8") for field in fields(TrackerState)])
_TRACKER, _GAIN = TRACKER_STATE.itemsize // 8, GAIN.itemsize // 8
_SLOT = SLOT.itemsize // 8 + 1  # the header of every slot, and the skill's number
_ROOT = 6  # degrees of freedom of a root, at most


class TrackerMemory(NamedTuple):
    """Views of a row's memory: the planner writes them, the law reads them."""

    tracker: Any  # (1,) TRACKER_STATE
    torque: np.ndarray  # (actuators,) [N·m] of the quadratic program
    targets: np.ndarray  # (actuators,) [rad] of the reference at that solution
    rates: np.ndarray  # (actuators,) [rad/s]
    off: np.ndarray  # (6 + actuators,) the body minus the reference when it began to follow that
    off_rates: np.ndarray  # (6 + actuators,) the same of velocities


def slot_size(actuators: int) -> int:
    """Numbers of a parameter slot: the header, the skill's number, the servos' gains by actuator."""
    return _SLOT + _GAIN * actuators


def memory_size(actuators: int) -> int:
    """Numbers of a row's memory."""
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


def tracker_state(memory: np.ndarray) -> Any:
    """The live `TRACKER_STATE` record of a row's memory, for Python."""
    return records(memory, 0, 1, TRACKER_STATE)[0]


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same time is evaluated again."""
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
