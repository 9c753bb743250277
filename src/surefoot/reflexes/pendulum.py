"""The inverted pendulum that says where to step (GENBICON §4.2, equations 5–7).

A linear pendulum of height h has the frequency ω = √(g/h). Its capture point x + v/ω is where a foot has to stand
for it to come to rest. The `periodic_` functions describe the walk that repeats itself step by step.
"""

from __future__ import annotations

import math

from surefoot.native.kernels import kernel
from surefoot.native.vectors import Vector

GRAVITY = 9.81  # [m/s²]
_LOWEST = 0.1  # [m] a lower pendulum counts as this high: ω stays finite when the body falls


@kernel
def horizontal_norm(x: float, y: float) -> float:
    """Length of a horizontal vector; products, not powers, so that compiled and plain Python round alike."""
    return math.sqrt(x * x + y * y)


@kernel
def stopping_distance(v: float, height: float) -> float:
    """Equation 6: how far ahead the foot must stand for a pendulum of this height to come to rest above it [m]."""
    return v * math.sqrt(max(0.0, height) / GRAVITY + v * v / (4.0 * GRAVITY * GRAVITY))


@kernel
def pendulum_frequency(height: float) -> float:
    """ω = √(g/h) [1/s]."""
    return math.sqrt(GRAVITY / max(height, _LOWEST))


@kernel
def capture_point(com: Vector, velocity: Vector, omega: float) -> tuple[float, float]:
    """World x and y at which the pendulum would come to rest, p + v/ω [m]."""
    return com[0] + velocity[0] / omega, com[1] + velocity[1] / omega


@kernel
def pendulum_after(x: float, v: float, omega: float, time: float) -> tuple[float, float]:
    """Position over its foot [m] and velocity [m/s] of a linear pendulum after a time, from its present x and v."""
    c, s = math.cosh(omega * time), math.sinh(omega * time)
    return x * c + v / omega * s, x * omega * s + v * c


@kernel
def speed_offset(omega: float, period: float) -> float:
    """α of equation 7 for a periodic gait [s]: the foot lands α·V nearer than the point where the body would stop.

    At footstrike, a linear pendulum that travels V·T in a step has its capture point V (T/2) coth(ωT/2) ahead and its
    foot V T/2 ahead. The paper's constant 0.05 gives about half the commanded speed.
    """
    half = 0.5 * period
    return half * (1.0 / math.tanh(omega * half) - 1.0)


@kernel
def sway_offset(omega: float, period: float) -> float:
    """How far outside the capture point the foot lands in a periodic sway, as a share of half the step width."""
    return 1.0 - math.tanh(0.5 * omega * period)


@kernel
def pressure_to_reach(capture: float, wanted: float, omega: float, time: float) -> float:
    """Centre of pressure z that takes the capture point ξ to a wanted place within a time [m].

    ξ(t) = z + (ξ − z) e^ωt is solved for z. The virtual force of §4.3, −(m g/h) z, then reaches the wanted speed at
    the end of the step; k_V (V_d − V) would fight the pendulum's own change of speed within the step.
    """
    growth = math.exp(omega * time)
    return (wanted - capture * growth) / (1.0 - growth)


@kernel
def periodic_capture_ahead(speed: float, omega: float, period: float) -> float:
    """Capture point from the stance foot at the end of a periodic step of this speed [m]."""
    half = 0.5 * period
    return speed * half * (1.0 + 1.0 / math.tanh(omega * half))


@kernel
def periodic_capture_beside(width: float, omega: float, period: float) -> float:
    """Capture point from the stance foot at the end of a periodic step of this signed width [m]."""
    return 0.5 * width * (1.0 + math.tanh(0.5 * omega * period))
