"""Numbers of a gait that depend on its speed: a table over a few speeds, interpolated when a step begins.

A gait that is found at several speeds becomes one gait for all of them. Which numbers of the parameter slot change, and
their values at each speed, lie behind the pose graph; the numbers the law reads are written anew once a step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import block, kernel
from surefoot.reflexes.servo import clamp

MAX_SPEEDS, MAX_ENTRIES = 12, 400  # speeds of a table; numbers of a slot that depend on them
ACCELERATION = 0.25  # [m/s²] at which the gait follows a commanded speed
TRIM_RATE = 0.06  # share of the missing speed that is added in every step once the gait has followed
PROMPT = 0.5  # share of it that is added at once
LARGEST_TRIM = 0.25  # [m/s]
_FOLLOWED = 0.15  # [m/s] of missing speed below which a gait has followed


class Schedule(NamedTuple):
    """Views of a table of numbers over speeds."""

    speeds: Any  # (MAX_SPEEDS,) [m/s] ascending
    places: Any  # (MAX_ENTRIES,) index in the slot
    values: Any  # (MAX_ENTRIES, MAX_SPEEDS)


def schedule_size() -> int:
    """Numbers that a schedule takes in a slot."""
    return MAX_SPEEDS + MAX_ENTRIES * (1 + MAX_SPEEDS)


@kernel
def schedule_of(slot: np.ndarray, begin: int) -> Schedule:
    """Lay the views of a schedule over a slot, from an index on."""
    speeds = block(slot, begin, (MAX_SPEEDS,))
    places = block(slot, begin + MAX_SPEEDS, (MAX_ENTRIES,))
    return Schedule(speeds, places, block(slot, begin + MAX_SPEEDS + MAX_ENTRIES, (MAX_ENTRIES, MAX_SPEEDS)))


@kernel
def set_gait_speed(slot: np.ndarray, schedule: Schedule, knots: int, entries: int, speed: float) -> None:
    """Write the numbers of a speed [m/s] into the slot; beyond the table those of its end."""
    upper = 1
    while upper < knots - 1 and schedule.speeds[upper] < speed:
        upper += 1
    low, high = schedule.speeds[upper - 1], schedule.speeds[upper]
    share = min(max((speed - low) / (high - low), 0.0), 1.0)
    for i in range(entries):
        below, above = schedule.values[i, upper - 1], schedule.values[i, upper]
        slot[int(schedule.places[i])] = below + share * (above - below)


@kernel
def follow_speed(machine: Any, x: float, y: float, time: float, wanted: float) -> bool:
    """When a step begins, move the gait's speed towards the wanted one [m/s]; true if it has to be set.

    Of what the last step's mean speed missed a share is added at once and, once the gait has followed, another one
    little by little.
    """
    if machine.speed_step == machine.steps:
        return False
    elapsed, prompt = time - machine.speed_time, 0.0
    if machine.speed_step > 0.0 and elapsed > 0.0:
        dx, dy = x - machine.speed_x, y - machine.speed_y
        machine.mean_speed = (math.cos(machine.heading) * dx + math.sin(machine.heading) * dy) / elapsed
        missing = wanted - machine.mean_speed
        prompt = clamp(PROMPT * missing, -LARGEST_TRIM, LARGEST_TRIM)
        if abs(missing) < _FOLLOWED:
            machine.speed_trim = clamp(machine.speed_trim + TRIM_RATE * missing, -LARGEST_TRIM, LARGEST_TRIM)
    else:
        elapsed = 0.0
    most = ACCELERATION * elapsed
    machine.gait_speed += clamp(wanted + machine.speed_trim + prompt - machine.gait_speed, -most, most)
    machine.speed_step, machine.speed_time, machine.speed_x, machine.speed_y = machine.steps, time, x, y
    return True
