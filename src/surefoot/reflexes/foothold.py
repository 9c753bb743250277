"""Where and how the swing foot goes (GENBICON §4.2)."""

from __future__ import annotations

import math

from surefoot.native.pointers import apart, kernel
from surefoot.reflexes.pendulum import carried_on, frequency, speed_offset, stopping_distance, sway_offset
from surefoot.reflexes.servo import clamp

_ARRIVES = 0.9  # of the step: the foot is above its place, and only comes down
_SINKING = 0.3  # [m/s] of a foot that has not met the ground when its time is over


@apart
def wanted_step(
    x: float, v: float, height: float, remaining: float, period: float, speed: float, alpha: float, reach: float
) -> float:
    """Sagittal place of the next foothold from the stance ankle, equation 7 [m].

    Args:
        x: of the COM, ahead of the stance ankle [m].
        v: of the COM [m/s].
        height: of the COM above the ground [m].
        remaining: time until the foot lands [s]; the pendulum is carried on by it.
        period: of a step [s].
        speed: wanted [m/s].
        alpha: added to that of the periodic gait [s].
        reach: longest step, from the COM [m].
    """
    omega = frequency(height)
    at, velocity = carried_on(x, v, omega, remaining)
    offset = (speed_offset(omega, period) + alpha) * speed
    return at + clamp(stopping_distance(velocity, height) - offset, -reach, reach)  # type: ignore[no-any-return]


@apart
def wanted_side(
    y: float, v: float, height: float, remaining: float, period: float, width: float, speed: float, reach: float
) -> float:
    """Lateral place of the next foothold from the stance ankle: the capture point and a share of the width [m].

    `width` is signed: positive where the left foot swings.
    """
    omega = frequency(height)
    at, velocity = carried_on(y, v, omega, remaining)
    outward = 0.5 * width * sway_offset(omega, period) - speed_offset(omega, period) * speed
    return at + clamp(stopping_distance(velocity, height) + outward, -reach, reach)  # type: ignore[no-any-return]


@kernel
def arrived(phase: float) -> float:
    """Share of the time until the foot is above its place."""
    return clamp(phase / _ARRIVES, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def share_of_way(phase: float, eager: float) -> float:
    """How much of the way the swing foot has gone: from rest to rest, or (eager 1) at once and then slower."""
    s = arrived(phase)
    return s * ((1.0 - eager) * s * (3.0 - 2.0 * s) + eager * (2.0 - s))


@kernel
def sunk(phase: float, period: float) -> float:
    """How far below its path's end the foot is sent when the ground was not where it should be [m]."""
    return _SINKING * max(0.0, phase - 1.0) * period


@apart
def step_time(base: float, speed: float, leg_length: float) -> float:
    """Duration of a step: grows with √leg length, falls with the speed of a fast walk [s]."""
    scale = math.sqrt(leg_length / 0.92)
    fast = clamp((abs(speed) / scale - 1.1) / 0.7, 0.0, 1.0)
    return scale * base * (1.0 - 0.22 * fast)
