"""The compiled law: every joint is a servo that holds its target angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.kernels import kernel, records
from surefoot.native.userdata import SLOT
from surefoot.reflexes.handover import NONE, TAKEN
from surefoot.reflexes.servo import actuate, servo

SERVO = np.dtype([(name, "f8") for name in ("kp", "kd", "limit", "target", "is_ankle")])
SLOT_SIZE, SERVO_SIZE = SLOT.itemsize // 8, SERVO.itemsize // 8
LEAN = 0  # place of the command


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    if is_new and row.header[0].handover == TAKEN:  # another controller has just handed over the body
        row.header[0].handover = NONE
    actuators = int(world.anatomy[0].actuators)
    servos = records(row.slots[int(row.header[0].active)], SLOT_SIZE, actuators, SERVO)
    for i in range(actuators):
        angle, rate = world.qpos[int(world.qadr[i])], world.qvel[int(world.dof[i])]
        target = servos[i].target + servos[i].is_ankle * row.commands[LEAN]
        actuate(world, row, i, servo(servos[i], target - angle, rate), servos[i])
    row.memory[0] = world.time  # what it remembers lies in the row's memory, so that snapshots hold it
