"""The spring-loaded inverted pendulum that plans steps (Kenwright, "Watch your step", §4.1, equations 1–4).

Equation 1 conserves energy, m g h + ½ m v² (its ½ before m g h is a slip); from it comes where a foot has to stand for
the mass to come to rest above it.
"""

from __future__ import annotations

import math

from surefoot.native.kernels import kernel
from surefoot.reflexes.pendulum import GRAVITY

_LOWEST = 0.1  # [m] that a pendulum is high


@kernel
def step_distance(v: float, height: float, rise: float) -> float:
    """Equation 2: how far ahead of the mass the foot has to stand for it to come to rest above the foot [m].

    Args:
        v: speed of the mass [m/s]; the distance has its sign.
        height: of the mass above the foot on which it stands, h [m].
        rise: of the ground where the foot will stand above the present one, s [m].
    """
    return v / (2.0 * GRAVITY) * math.sqrt(v * v + 4.0 * GRAVITY * max(height - rise, _LOWEST))


@kernel
def pull_bias(force: float, mass: float, scale: float) -> float:
    """Equation 3: β k_p, by which a lasting horizontal force of the world displaces the steps [m].

    Args:
        force: on the body, along the direction that is asked for, F_p [N].
        mass: of the body [kg].
        scale: k_p [m]; with the height at which the force acts, moments about the foot balance exactly.
    """
    return scale * force / (mass * GRAVITY)


@kernel
def leg_force(stiffness: float, damping: float, short: float, rate: float) -> float:
    """Equation 4: force of a leg that is so much too short and lengthens at a rate [N]."""
    return stiffness * short - damping * rate


@kernel
def lossy(distance: float, short: float, length: float, bias: float) -> float:
    """A step distance with the spring's error as its bias (§4.1): as damping takes energy, a short leg steps less [m].

    `short` is by how much the leg is too short, of its `length`; `bias` weighs it.
    """
    return distance * (1.0 - bias * short / length)
