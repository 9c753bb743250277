"""The spring-loaded inverted pendulum that plans steps (Kenwright, "Watch your step", §4.1, equations 1–4).

Equation 1 conserves energy, m g h + ½ m v² (the printed ½ before m g h is an error). From it follows where a foot has
to stand for the mass to come to rest above it.
"""

from __future__ import annotations

import math

from surefoot.native.kernels import kernel
from surefoot.reflexes.pendulum import GRAVITY

_LOWEST_PENDULUM = 0.1  # [m]


@kernel
def step_distance(v: float, height: float, rise: float) -> float:
    """Equation 2: how far ahead of the mass the foot has to stand for it to come to rest above the foot [m].

    Args:
        v: speed of the mass [m/s]; the distance has its sign.
        height: h, height of the mass above the present stance foot [m].
        rise: s, height of the next foothold above the present one [m].
    """
    return v / (2.0 * GRAVITY) * math.sqrt(v * v + 4.0 * GRAVITY * max(height - rise, _LOWEST_PENDULUM))


@kernel
def pull_bias(force: float, mass: float, scale: float) -> float:
    """Equation 3: β k_p, the displacement of the steps by a lasting horizontal force of the world [m].

    Args:
        force: F_p, force on the body along the wanted direction [N].
        mass: mass of the body [kg].
        scale: k_p [m]; if it is the height at which the force acts, moments about the foot balance exactly.
    """
    return scale * force / (mass * GRAVITY)


@kernel
def leg_force(stiffness: float, damping: float, short: float, rate: float) -> float:
    """Equation 4: force of a leg's damped spring that is `short` too short [m] and lengthens at `rate` [m/s] [N]."""
    return stiffness * short - damping * rate


@kernel
def with_spring_loss(distance: float, short: float, length: float, bias: float) -> float:
    """A step distance, biased by the spring's error (§4.1): damping takes energy, so a short leg steps less far [m].

    `short` is by how much a leg of `length` is too short [m]; `bias` is the weight of this error.
    """
    return distance * (1.0 - bias * short / length)
