"""When a character counts as fallen; the verdict and its time stay until the state is restored."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.memory import SLOT
from surefoot.native.pointers import kernel, records

TOUCHED, TOO_LOW, TILTED, NOT_FINITE = 1.0, 2.0, 3.0, 4.0
FARTHEST, FASTEST = 1e5, 1e3  # [m], [rad]; [m/s], [rad/s]: beyond them a body has blown up


@kernel
def watch_fall(world: Any, row: Any, body_on_ground: bool) -> None:
    """Judge this step and write the first fall's time and cause into the clock."""
    clock = row.clock[0]
    if _is_beyond(world.qvel, FASTEST) or _is_beyond(world.qpos, FARTHEST):
        clock.blown_up = 1.0
    limits = records(row.slots[int(row.header[0].active)], 0, 1, SLOT)[0]
    if clock.fallen_at <= world.time:
        return
    cause = NOT_FINITE if clock.blown_up != 0.0 else 0.0
    if cause == 0.0:
        cause = _posture(world, clock, limits)
        if body_on_ground:
            cause = TOUCHED
    if cause != 0.0:
        clock.fallen_at = world.time
        clock.fall_cause = cause


@kernel
def _is_beyond(values: Any, limit: float) -> bool:
    for value in values:
        if not abs(value) < limit:  # true of NaN too
            return True
    return False


@kernel
def freeze_if_blown_up(world: Any, row: Any) -> bool:
    """Hold a body whose numbers blew up in place, limp: what follows stays finite, and cheap."""
    if row.clock[0].blown_up == 0.0:
        return False
    for i in range(len(world.qvel)):
        world.qvel[i] = 0.0
    for i in range(len(world.qpos)):
        if not abs(world.qpos[i]) < FARTHEST:
            world.qpos[i] = 0.0
    for i in range(len(world.ctrl)):
        world.ctrl[i] = 0.0
    for body in range(len(world.xfrc)):
        for k in range(6):
            world.xfrc[body, k] = 0.0
    return True


@kernel
def _posture(world: Any, clock: Any, limits: Any) -> float:
    """Judge height and tilt of the pelvis."""
    pelvis = int(world.anatomy[0].pelvis)
    lowest = np.inf
    for side in range(2):
        lowest = min(lowest, world.xpos[int(world.leg[side, 2]), 2])
    height = world.xpos[pelvis, 2] - (lowest - world.anatomy[0].sole_depth)
    axes, body = world.xmat[pelvis], world.anatomy[0]
    up = axes[6] * body.up_x + axes[7] * body.up_y + axes[8] * body.up_z
    if up >= limits.fall_tilt_cosine:
        clock.tilted_since = -1.0
    elif clock.tilted_since < 0.0:
        clock.tilted_since = world.time
    elif world.time - clock.tilted_since > limits.fall_tilt_time:
        return TILTED
    if height < limits.fall_height * world.anatomy[0].standing_height:
        return TOO_LOW
    return 0.0
