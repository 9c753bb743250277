"""Target trajectories Θ(φ) of all joints over the phase of a gait cycle, as Fourier series (SIMBICON §5).

A plan lies in a parameter slot as one `PLAN` record, gains, offsets, feedback and feed-forward torques of every role,
and the series: those of the joints by actuator, then of the torso and of both thighs in the world (yaw, roll, pitch
from the heading), then of where the hips' midpoint is over each ankle and how fast it goes, which is what balance
feedback compares with.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import block, kernel, records
from surefoot.native.userdata import SLOT
from surefoot.reflexes.pose_graph import GAIN

PLAN = np.dtype([(n, "f8") for n in (
    *(SLOT.names or ()), "rate", "turn", "left_lands", "right_lands", "left_stays", "right_stays", "handoff",
    "earliest", "overrun", "catch_up", "reach", "clearance", "tuck", "support",
    "torso_kp", "torso_kd", "torso_limit", "hip_low", "hip_high", "torso", "torso_roll", "mean_speed",
    "learning_rate", "learning_limit", "bins", "displaces", "softness", "alarm", "reaction_delay", "reaction_time",
    "true_com", "delay", "noise_distance", "noise_velocity", "turn_rate", "load_lean")])  # fmt: skip
"""Of the times: `rate` [cycles/s], `turn` [rad/s], phases at which feet land, how long each stays after the
other has come down [cycles]; `earliest` is a share of a step."""

HARMONICS = 8
WIDTH = 2 * HARMONICS + 1  # coefficients of a series: the mean, then cosine and sine of each harmonic
KNOTS = 21  # of the feed-forward torques over a step, its beginning and its end included
TORSO, THIGHS, PLACES, PACE, EXTRA = 0, 3, 9, 15, 17  # where series begin behind those of the joints, and how many

_PLAN, _GAIN = PLAN.itemsize // 8, GAIN.itemsize // 8


class Plan(NamedTuple):
    """Views of one plan."""

    head: Any  # (1,) PLAN
    gains: Any  # (roles,) GAIN
    offsets: Any  # (roles,) [rad] added to the targets
    feedback: Any  # (roles, 2) [rad/m], [rad·s/m]
    feedforward: Any  # (roles, KNOTS) [N·m] over a step
    series: Any  # (actuators + EXTRA, WIDTH)


def slot_size(roles: int, actuators: int) -> int:
    """Numbers in a slot."""
    return _PLAN + roles * (_GAIN + 3 + KNOTS) + (actuators + EXTRA) * WIDTH


@kernel
def plan_of(slot: np.ndarray, roles: int, actuators: int) -> Plan:
    """Lay the views of a plan over a slot."""
    at = _PLAN
    gains = records(slot, at, roles, GAIN)
    at += _GAIN * roles
    offsets = slot[at : at + roles]
    at += roles
    feedback = block(slot, at, (roles, 2))
    at += 2 * roles
    feedforward = block(slot, at, (roles, KNOTS))
    at += KNOTS * roles
    count = actuators + EXTRA
    return Plan(records(slot, 0, 1, PLAN), gains, offsets, feedback, feedforward, block(slot, at, (count, WIDTH)))


@kernel
def evaluate_series(series: np.ndarray, phase: float, rate: float, values: np.ndarray, rates: np.ndarray) -> None:
    """Write the values of all series at a phase, and their rates [1/s] while it advances by `rate` [cycles/s]."""
    turn = 2.0 * math.pi
    c1, s1 = math.cos(turn * phase), math.sin(turn * phase)
    for i in range(len(series)):
        values[i], rates[i] = series[i, 0], 0.0
    c, s = 1.0, 0.0
    for k in range(1, HARMONICS + 1):
        c, s = c * c1 - s * s1, s * c1 + c * s1
        speed = turn * k * rate
        for i in range(len(series)):
            a, b = series[i, 2 * k - 1], series[i, 2 * k]
            values[i] += a * c + b * s
            rates[i] += speed * (b * c - a * s)


@kernel
def torque_at(torques: np.ndarray, share: float) -> float:
    """Feed-forward torque at a share of a step, from the knots (KNOTS,) [N·m]; beyond the ends it is the end's."""
    place = min(max(share, 0.0), 1.0) * (KNOTS - 1)
    knot = min(int(place), KNOTS - 2)
    return torques[knot] + (place - knot) * (torques[knot + 1] - torques[knot])  # type: ignore[no-any-return]


@kernel
def step_span(plan: Plan, swing: int) -> tuple[float, float]:
    """Phase at which a leg's step begins, the other foot having landed, and its length [cycles]."""
    head = plan.head[0]
    begin = head.right_lands if swing == 0 else head.left_lands
    end = head.left_lands if swing == 0 else head.right_lands
    return begin, (end - begin) % 1.0
