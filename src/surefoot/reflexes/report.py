"""What every law reports of itself, for plots, tasks and hand-overs."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector
from surefoot.reflexes.servo import clamp

_LAST = 1.0 - 1e-9  # the end of a step: phases stay below 1


@kernel
def report_measured(row: Row, memory: Any, swing: float, feedback: float, feedforward: float) -> None:
    """Report measured d and v, the heading and the torques of a law whose record has d, v and their lateral parts."""
    report = row.report[0]
    report.swing, report.steps = swing, memory.steps
    report.distance, report.velocity, report.heading = memory.d, memory.v, memory.heading
    report.lateral_distance, report.lateral_velocity = memory.lateral_d, memory.lateral_v
    report.feedback, report.feedforward = feedback, feedforward


@kernel
def report_com(row: Row, memory: Any, com: Vector, velocity: Vector, foot_x: float, foot_y: float) -> None:
    """Report mode, step and phase of a law, and its COM relative to the stance foot at (foot_x, foot_y) [m]."""
    report = row.report[0]
    c, s = math.cos(memory.heading), math.sin(memory.heading)
    x, y = com[0] - foot_x, com[1] - foot_y
    report.state, report.swing, report.steps = memory.mode, memory.swing, memory.steps
    report.phase = cycle_phase(clamp(memory.phase, 0.0, _LAST), memory.swing)
    report.distance, report.velocity = c * x + s * y, c * velocity[0] + s * velocity[1]
    report.lateral_distance, report.lateral_velocity = c * y - s * x, c * velocity[1] - s * velocity[0]
    report.heading = memory.heading


@kernel
def cycle_phase(step_phase: float, swing: float) -> float:
    """Phase of the gait cycle, in which the right leg swings first, from the phase of a step."""
    return 0.5 * (step_phase + (1.0 if swing == 0.0 else 0.0))
