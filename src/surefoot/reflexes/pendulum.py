"""The inverted pendulum that tells where to step (GENBICON §4.2, equations 5–7)."""

from __future__ import annotations

import math

from surefoot.native.kernels import kernel

GRAVITY = 9.81  # [m/s²]


@kernel
def stopping_distance(v: float, height: float) -> float:
    """Equation 6: how far ahead a pendulum of this height must stand to come to rest above its foot [m]."""
    return v * math.sqrt(max(0.0, height) / GRAVITY + v * v / (4.0 * GRAVITY * GRAVITY))


@kernel
def frequency(height: float) -> float:
    """ω = √(g/h) [1/s]."""
    return math.sqrt(GRAVITY / max(height, 0.1))


@kernel
def carried_on(x: float, v: float, omega: float, time: float) -> tuple[float, float]:
    """Position over the foot and velocity of a linear pendulum after a time, from its x and v [m], [m/s]."""
    c, s = math.cosh(omega * time), math.sinh(omega * time)
    return x * c + v / omega * s, x * omega * s + v * c


@kernel
def speed_offset(omega: float, period: float) -> float:
    """α of equation 7 for a periodic gait [s]: per m/s, the foot lands so much nearer than where it would stop.

    A linear pendulum that goes V·T a step has its capture point V (T/2) coth(ωT/2) ahead at footstrike and its
    foot V T/2. The paper's constant 0.05 gives about half the commanded speed.
    """
    half = 0.5 * period
    return half * (1.0 / math.tanh(omega * half) - 1.0)


@kernel
def sway_offset(omega: float, period: float) -> float:
    """Share of half the step width that the foot lands outside the capture point, for a periodic sway."""
    return 1.0 - math.tanh(0.5 * omega * period)


@kernel
def pressure_for(capture: float, wanted: float, omega: float, time: float) -> float:
    """Centre of pressure that takes the capture point x + v/ω to a wanted place within a time [m].

    ξ(t) = z + (ξ − z) e^ωt is solved for z. It is the virtual force of §4.3, −(m g/h) z, that hits the speed at the
    end of the step; k_V (V_d − V) would fight the pendulum's own slowing and hastening within it.
    """
    growth = math.exp(omega * time)
    return (wanted - capture * growth) / (1.0 - growth)


@kernel
def capture_ahead(speed: float, omega: float, period: float) -> float:
    """Capture point from the stance foot at the end of a periodic step of this speed [m]."""
    half = 0.5 * period
    return speed * half * (1.0 + 1.0 / math.tanh(omega * half))


@kernel
def capture_beside(width: float, omega: float, period: float) -> float:
    """Capture point from the stance foot at the end of a periodic step of this signed width [m]."""
    return 0.5 * width * (1.0 + math.tanh(0.5 * omega * period))
