"""Commands as displacements of the target pose (SIMBICON §7.2, "Parameterization")."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.reflexes.servo import clamp, nearest_turn

# Walking up a slope θ: the swing hip flexes by half of it, the ankles by all of it, the torso leans into it.
SLOPE_HIP, SLOPE_ANKLE, SLOPE_LEAN = 0.5, 1.0, -0.86  # [rad/rad]
LIFT_KNEE = -1.6  # [rad/rad] how much the knee bends for each radian the thigh is lifted further
STRAIGHT, ELBOW = 0.12, 0.35  # [rad] how far an arm hangs from the body; how far a swinging elbow bends


@kernel
def steer(machine: Any, wanted: float, rate: float, dt: float) -> None:
    """Turn the heading towards the wanted one [rad], the shorter way round, at most at `rate` [rad/s]."""
    step = rate * dt
    machine.heading += clamp(nearest_turn(wanted - machine.heading), -step, step)


@kernel
def displace_leg(
    anatomy: Any, displaced: np.ndarray, first: int, outward: float, sideways: float, width: float, slope: float,
    lift: float,
) -> None:  # fmt: skip
    """Displace the targets of the swing leg, whose roles begin at `first` (the stance hip has no target).

    `sideways` sets the foot down further right whichever leg swings (anti-symmetric), so that the body goes to the
    left; `width` sets it further outward (symmetric).
    """
    displaced[first] += SLOPE_HIP * slope + lift
    displaced[first + 1] += width - outward * sideways
    displaced[first + int(anatomy.knee)] += LIFT_KNEE * lift
    displaced[first + int(anatomy.ankle)] += SLOPE_ANKLE * slope


@kernel
def displace_arm(anatomy: Any, displaced: np.ndarray, first: int, swing: float, circle: float, phase: float) -> None:
    """Swing an arm by ± `swing` against its leg, or circle it on a cone of half angle `circle` [rad].

    `phase` is that of the gait cycle in which the leg of this side begins its swing at 0.
    """
    shoulder = first + int(anatomy.shoulder)
    turn = 2.0 * math.pi * phase
    displaced[shoulder] += (swing + circle) * math.cos(turn)
    displaced[shoulder + 1] += STRAIGHT + circle * (1.0 + math.sin(turn))
    displaced[shoulder + 3] += ELBOW * min(1.0, swing / 0.3)
