"""Holding a commanded speed: once a step, lean a little more into the direction that is missing."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.servo import clamp

# From the planar walk: 1 rad of lean changes its speed by about 3.6 m/s, so that this gain removes a
# seventh of the error with every step.
LEAN_PER_SPEED = 0.04  # [rad per m/s and step]
LARGEST_LEAN = 0.3  # [rad]


@kernel
def lean_for_speed(machine: Any, x: float, y: float, time: float, wanted: float) -> None:
    """On the first moment of a step, compare the last step's mean speed along the heading with the wanted [m/s]."""
    if machine.speed_step == machine.steps:
        return
    elapsed = time - machine.speed_time
    if machine.speed_step > 0.0 and elapsed > 0.0:
        dx, dy = x - machine.speed_x, y - machine.speed_y
        missing = wanted - (math.cos(machine.heading) * dx + math.sin(machine.heading) * dy) / elapsed
        machine.lean = clamp(machine.lean - LEAN_PER_SPEED * missing, -LARGEST_LEAN, LARGEST_LEAN)
    machine.speed_step, machine.speed_time, machine.speed_x, machine.speed_y = machine.steps, time, x, y
