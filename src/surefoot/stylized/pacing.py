"""When a step comes: sooner where the body is already where the reference's will be.

In single support what is off of c + ċ/ω, seen from the stance foot along the step, grows by e^{ωt}. A body that is
ahead by a share of it is ahead in time by that share of 1/ω: the reference goes on so much faster until the strike.
It never waits: a body that has not got there yet does not get there by waiting.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.stylized.reference import Moment, Swing
from surefoot.stylized.three_link_state import Points

_FASTEST = 1.0  # how much faster than time
_NEAREST = 0.25  # [m] less than which a place of the reference's is not taken for
_SHORTEST = 0.02  # [s] until the strike
_STEP = 0.1  # [m] a step that leads somewhere


def hasten(
    moment: Moment, swing: Swing, clock: float, stride: np.ndarray, points: Points, mass: np.ndarray, gain: float
) -> float:
    """Make a moment faster that is in a swing, in place, and say by how much [1].

    Args:
        moment: the reference.
        swing: that it is in.
        clock: its time [s].
        stride: (3,) from the stance ankle to where the other lands [m].
        points: of the three links, now, seen from the stance ankle.
        mass: (3,) of the links [kg].
        gain: how much of the time that the body is ahead is made up for.
    """
    far = math.hypot(stride[0], stride[1])
    if gain == 0.0 or far < _STEP or not math.isfinite(swing.strikes):
        return 0.0
    way, share = stride[:2] / far, mass / mass.sum()
    com, velocity = share @ points.place, share @ points.velocity
    rate = math.sqrt(9.81 / max(float(com[2]), 0.3))
    from_stance = moment.com - moment.ankles[1 - swing.foot]
    ours, theirs = (
        float(way @ (place[:2] + speed[:2] / rate))
        for place, speed in ((com, velocity), (from_stance, moment.com_velocity))
    )
    sooner = gain * (ours - theirs) / (rate * max(theirs, _NEAREST))
    left = max(swing.strikes - clock, _SHORTEST)
    pace = min(max(left / max(left - sooner, _SHORTEST) - 1.0, 0.0), _FASTEST)
    moment.rates[:] *= 1.0 + pace
    moment.twists[:] *= 1.0 + pace
    moment.accelerations[:] *= (1.0 + pace) ** 2
    return pace
