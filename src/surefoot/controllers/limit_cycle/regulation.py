"""Limit cycle control (Laszlo, van de Panne, Fiume 1996, §3, §5.2): what is regulated, and by which perturbation.

All of it is told as the swing leg sees it: `forward` is where the pelvis faces, `lateral` is towards the side of the
swing leg, so that left and right steps are mirror images.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.native.physics import World
from surefoot.reflexes.servo import clamp

OPEN_LOOP, TRIALS, PREDICTED = 0.0, 1.0, 2.0  # where the perturbation of a step comes from: nowhere, trials, a model
UP_VECTOR, SWING_COM, TORSO_UP_VECTOR = 0.0, 1.0, 2.0
"""Regulation variables (§3.2): the pelvis' up axis, the COM over the swing foot, the torso's up axis."""

REGULATION = np.dtype([(n, "f8") for n in (
    "mode", "full", "variable", "first", "forward", "lateral", "least", "most_pitch", "most_roll", "trial",
    "servo", "torso", "speed_bias", "speed_slope", "speed_gain", "speed_integral", "speed_rise", "speed_lean",
    "speed_upright", "holds", "usual", "slowest", "fastest", "twist_gain",
    "most_twist", "turn_rate", "side_gain", "bias_rate", "recentre")])  # fmt: skip
"""How a skill is regulated: `first` is the role of the hip that is perturbed, `usual` the speed of a skill that is told
none, if it `holds` one."""

CYCLE = np.dtype([(n, "f8") for n in (
    "fresh", "asked", "pitch", "roll", "forward", "lateral", "wanted_forward", "wanted_lateral",
    "nominal_forward", "nominal_lateral", "forward_by_pitch", "forward_by_roll", "lateral_by_pitch",
    "lateral_by_roll", "bias_forward", "bias_lateral", "singular", "lost", "twist", "begun", "x", "y",
    "speed", "sideways", "pace", "faster", "torso", "centre_pitch", "centre_roll")])  # fmt: skip
"""What is remembered of steps.

`asked` says that a perturbation for this step is wanted from outside; `pitch` and `roll` are it [rad]; `forward` and
`lateral` the regulation variables at the end of the last step; `nominal` what they would be at the end of this one
without a perturbation, and their derivatives by it; `singular` and `lost` count steps whose model could not be
inverted or not be made; speeds are of the last stride [m/s], `pace` is the commanded one on its way; `torso` is how
far that pitches the torso back [rad]; `centre` is the mean perturbation of late steps, about which trials are taken.
"""


@kernel
def yaw_direction(world: World, body: int) -> tuple[float, float]:
    """Cosine and sine of the world yaw of a body's x axis."""
    x, y = world.xmat[body, 0], world.xmat[body, 3]
    size = math.sqrt(x * x + y * y)
    if size < 1e-9:
        return 1.0, 0.0
    return x / size, y / size


@kernel
def regulation_variables(world: World, regulation: Any, swing: int) -> tuple[float, float]:
    """The regulation variables now, forward and lateral (§3.2)."""
    side = 1.0 if swing == 0 else -1.0
    c, s = yaw_direction(world, int(world.anatomy[0].pelvis))
    if regulation.variable == SWING_COM:
        foot = world.xpos[int(world.leg[swing, 2])]
        com = world.subtree_com[world.rootid[int(world.anatomy[0].pelvis)]]
        x, y = com[0] - foot[0], com[1] - foot[1]
    else:
        anatomy = world.anatomy[0]
        axes = world.xmat[int(anatomy.pelvis if regulation.variable == UP_VECTOR else anatomy.torso)]
        x, y = axes[2], axes[5]
    return c * x + s * y, side * (c * y - s * x)


@kernel
def solve_perturbation(
    regulation: Any,
    forward_by_pitch: float,
    forward_by_roll: float,
    lateral_by_pitch: float,
    lateral_by_roll: float,
    forward: float,
    lateral: float,
) -> tuple[float, float, float]:
    """Pitch and roll [rad] that change the regulation variables by `forward` and `lateral`: Δu = J⁻¹ Δx (§3).

    Returns:
        Both, and 1 where the model was singular: what has no effect is not used.
    """
    least, singular, pitch, roll = regulation.least, 0.0, 0.0, 0.0
    det = forward_by_pitch * lateral_by_roll - forward_by_roll * lateral_by_pitch
    size = math.sqrt(forward_by_pitch**2 + forward_by_roll**2 + lateral_by_pitch**2 + lateral_by_roll**2)
    if regulation.full != 0.0 and abs(det) >= least * size > 0.0:  # its smaller singular value is at least det / size
        pitch = (lateral_by_roll * forward - forward_by_roll * lateral) / det
        roll = (forward_by_pitch * lateral - lateral_by_pitch * forward) / det
    else:  # §5.2: the diagonal elements alone
        singular = regulation.full
        if abs(forward_by_pitch) >= least:
            pitch = forward / forward_by_pitch
        else:
            singular = 1.0
        if abs(lateral_by_roll) >= least:
            roll = lateral / lateral_by_roll
        else:
            singular = 1.0
    most, limit = regulation.most_pitch, regulation.most_roll
    return min(max(pitch, -most), most), min(max(roll, -limit), limit), singular


def feature_count(roles: int) -> int:
    """Numbers that describe the beginning of a step: root, twist, joint angles and rates."""
    return 10 + 2 * roles


@kernel
def write_features(world: World, cycle: Any, swing: int, features: np.ndarray) -> None:
    """Write what the body does at the beginning of a step, as the swing leg sees it."""
    anatomy = world.anatomy[0]
    pelvis, side, roles = int(anatomy.pelvis), 1.0 if swing == 0 else -1.0, int(anatomy.roles)
    c, s = yaw_direction(world, pelvis)
    axes, spin, v = world.xmat[pelvis], world.cvel[pelvis], world.qvel
    features[0] = world.xpos[pelvis, 2] - world.xpos[int(world.leg[1 - swing, 2]), 2]
    features[1], features[2] = c * axes[2] + s * axes[5], side * (c * axes[5] - s * axes[2])
    features[3], features[4], features[5] = c * v[0] + s * v[1], side * (c * v[1] - s * v[0]), v[2]
    features[6], features[7] = side * (c * spin[0] + s * spin[1]), c * spin[1] - s * spin[0]
    features[8], features[9] = side * spin[2], side * cycle.twist
    limbs = 2 * int(anatomy.side_roles)
    for role in range(roles):
        sign = side if role >= limbs and world.plane[role] != 0.0 else 1.0
        joint = int(world.role[swing, role])
        features[10 + role] = sign * world.qpos[int(world.qadr[joint])]
        features[10 + roles + role] = sign * world.qvel[int(world.dof[joint])]


FARTHEST = 3.0  # standard deviations beyond which a model is not asked


@kernel
def predict(model: np.ndarray, features: np.ndarray, output: int) -> float:
    """One output of a linear model of how a step begins: (2 + 6, n + 1) means, scales, weights, constants last."""
    total, n = model[2 + output, len(features)], len(features)
    for i in range(n):
        total += model[2 + output, i] * clamp((features[i] - model[0, i]) / model[1, i], -FARTHEST, FARTHEST)
    return total  # type: ignore[no-any-return]
