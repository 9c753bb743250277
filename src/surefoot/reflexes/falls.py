"""When a character counts as fallen; the verdict and its time stay until the state is restored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.memory import SLOT
from surefoot.native.pointers import kernel, records

TOUCHED, TOO_LOW, TILTED, NOT_FINITE = 1.0, 2.0, 3.0, 4.0


@kernel
def watch_fall(world: Any, row: Any, body_on_ground: bool) -> None:
    """Judge this step and write the first fall's time and cause into the clock."""
    clock = row.clock[0]
    limits = records(row.slots[int(row.header[0].active)], 0, 1, SLOT)[0]
    if clock.fallen_at <= world.time:
        return
    cause = 0.0
    for value in world.qvel:
        if not math.isfinite(value):
            cause = NOT_FINITE
    for value in world.qpos:
        if not math.isfinite(value):
            cause = NOT_FINITE
    if cause == 0.0:
        cause = _posture(world, clock, limits)
        if body_on_ground:
            cause = TOUCHED
    if cause != 0.0:
        clock.fallen_at = world.time
        clock.fall_cause = cause


@kernel
def _posture(world: Any, clock: Any, limits: Any) -> float:
    """Judge height and tilt of the pelvis."""
    pelvis = int(world.anatomy[0].pelvis)
    lowest = np.inf
    for side in range(2):
        lowest = min(lowest, world.xpos[int(world.leg[side, 2]), 2])
    height = world.xpos[pelvis, 2] - (lowest - world.anatomy[0].sole_depth)
    up = world.xmat[pelvis, 8]
    if up >= math.cos(limits.fall_tilt):
        clock.tilted_since = -1.0
    elif clock.tilted_since < 0.0:
        clock.tilted_since = world.time
    elif world.time - clock.tilted_since > limits.fall_tilt_time:
        return TILTED
    if height < limits.fall_height * world.anatomy[0].standing_height:
        return TOO_LOW
    return 0.0
