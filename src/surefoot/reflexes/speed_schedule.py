"""Numbers of a gait that depend on its speed: a table over a few speeds, interpolated when a step begins.

Some also depend on the slope of the ground, which the feet find: a change for ground that rises and one for ground
that falls is added to them.

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
SLOPE_SHARE = 0.6  # share of the last step's slope in what is taken for the slope of the ground
MOST_SLOPE = 1.5  # largest slope that is answered, in units of the skill's
_USUAL_UNEVENNESS = 0.015  # [m] by which ankles differ at footstrikes on even ground
_LARGEST_UNEVENNESS = 0.08  # [m] that is answered
_SHORTEST_STEP = 0.15  # [m] from which on the heights of two footholds tell a slope
_FOLLOWED = 0.15  # [m/s] of missing speed below which a gait has followed


class Schedule(NamedTuple):
    """Views of a table of numbers over speeds."""

    speeds: Any  # (MAX_SPEEDS,) [m/s] ascending
    places: Any  # (MAX_ENTRIES,) index in the slot
    values: Any  # (MAX_ENTRIES, MAX_SPEEDS)
    slopes: Any  # (MAX_ENTRIES, 2) added on ground that rises and on ground that falls by the slope's unit


def schedule_size() -> int:
    """Numbers that a schedule takes in a slot."""
    return MAX_SPEEDS + MAX_ENTRIES * (1 + MAX_SPEEDS + 2)


@kernel
def schedule_of(slot: np.ndarray, begin: int) -> Schedule:
    """Lay the views of a schedule over a slot, from an index on."""
    speeds = block(slot, begin, (MAX_SPEEDS,))
    begin += MAX_SPEEDS
    places = block(slot, begin, (MAX_ENTRIES,))
    begin += MAX_ENTRIES
    values = block(slot, begin, (MAX_ENTRIES, MAX_SPEEDS))
    return Schedule(speeds, places, values, block(slot, begin + MAX_ENTRIES * MAX_SPEEDS, (MAX_ENTRIES, 2)))


@kernel
def set_gait_speed(slot: np.ndarray, schedule: Schedule, knots: int, entries: int, speed: float, slope: float) -> None:
    """Write the numbers of a speed [m/s] into the slot; beyond the table those of its end.

    `slope` is that of the ground in units of the skill's, positive where it rises.
    """
    upper = 1
    while upper < knots - 1 and schedule.speeds[upper] < speed:
        upper += 1
    low, high = schedule.speeds[upper - 1], schedule.speeds[upper]
    share = min(max((speed - low) / (high - low), 0.0), 1.0)
    for i in range(entries):
        below, above = schedule.values[i, upper - 1], schedule.values[i, upper]
        change = schedule.slopes[i, 0] * max(slope, 0.0) + schedule.slopes[i, 1] * max(-slope, 0.0)
        slot[int(schedule.places[i])] = below + share * (above - below) + change


@kernel
def find_unevenness(machine: Any, x: float, y: float, z: float) -> None:
    """At a footstrike, measure how far the ankle at (x, y, z) [m] is below or above the slope that was expected."""
    ahead = math.cos(machine.heading) * (x - machine.strike_x) + math.sin(machine.heading) * (y - machine.strike_y)
    off = machine.strike_z + math.tan(machine.slope) * ahead - z
    machine.uneven = clamp(abs(off) - _USUAL_UNEVENNESS, 0.0, _LARGEST_UNEVENNESS) if machine.steps > 1.0 else 0.0
    machine.strike_x, machine.strike_y, machine.strike_z = x, y, z


@kernel
def find_slope(machine: Any, x: float, y: float, z: float, order: float) -> bool:
    """Once a step, take in the slope from the last stance ankle to this one at (x, y, z) [m]; true if it changed.

    Both are looked at when the foot is flat, at the same moment of their steps: not in the first state, of order 0.
    """
    if machine.foothold_step == machine.steps or order == 0.0:
        return False
    is_next = machine.foothold_step > 0.0 and machine.steps - machine.foothold_step == 1.0
    ahead = math.cos(machine.heading) * (x - machine.foothold_x) + math.sin(machine.heading) * (y - machine.foothold_y)
    if is_next and ahead > _SHORTEST_STEP:
        machine.slope += SLOPE_SHARE * (math.atan2(z - machine.foothold_z, ahead) - machine.slope)
    machine.foothold_step = machine.steps
    machine.foothold_x, machine.foothold_y, machine.foothold_z = x, y, z
    return bool(is_next)


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
