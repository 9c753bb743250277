"""Regulation variables and the perturbation that controls them (Laszlo, van de Panne, Fiume 1996, §3, §5.2).

All quantities are given as seen from the swing leg: `forward` is where the pelvis faces, `lateral` points towards the
side of the swing leg. Left and right steps are then mirror images of each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.native.physics import World
from surefoot.reflexes.servo import clamp

OPEN_LOOP, TRIALS, PREDICTED = 0.0, 1.0, 2.0  # source of the perturbation of a step: none, trial steps, a learned model
UP_VECTOR, SWING_COM, TORSO_UP_VECTOR = 0.0, 1.0, 2.0
"""Regulation variables (§3.2): the pelvis' up axis, the COM over the swing foot, the torso's up axis."""

REGULATION = np.dtype([(n, "f8") for n in (
    "mode", "full", "variable", "first", "forward", "lateral", "least", "most_pitch", "most_roll", "trial",
    "servo", "torso", "speed_bias", "speed_slope", "speed_gain", "speed_integral", "speed_rise", "speed_lean",
    "speed_upright", "holds", "usual", "slowest", "fastest", "twist_gain",
    "most_twist", "turn_rate", "side_gain", "bias_rate", "recentre")])  # fmt: skip
"""How a skill is regulated: `first` is the role of the perturbed hip; `usual` is the speed without a command, if the
skill `holds` one."""

CYCLE = np.dtype([(n, "f8") for n in (
    "fresh", "asked", "pitch", "roll", "forward", "lateral", "wanted_forward", "wanted_lateral",
    "nominal_forward", "nominal_lateral", "forward_by_pitch", "forward_by_roll", "lateral_by_pitch",
    "lateral_by_roll", "bias_forward", "bias_lateral", "singular", "lost", "twist", "begun", "x", "y",
    "speed", "sideways", "pace", "faster", "torso", "centre_pitch", "centre_roll")])  # fmt: skip
"""What the law remembers of steps.

`asked` is 1 while a planner has to give the perturbation of this step; `pitch` and `roll` are the perturbation [rad].
`forward` and `lateral` are the regulation variables at the end of the last step, `nominal_…` what they would be at the
end of this one without a perturbation, `…_by_…` their derivatives. `singular` and `lost` count steps whose model could
not be inverted or not be made. Speeds are of the last stride [m/s]; `pace` approaches the commanded speed; `torso` is
the backward pitch of the torso for it [rad]. `centre_…` is the mean perturbation of recent steps, about which trial
steps are taken.
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
    """The present regulation variables, forward and lateral (§3.2)."""
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
    regulation: Any, forward_by_pitch: float, forward_by_roll: float, lateral_by_pitch: float, lateral_by_roll: float,
    forward: float, lateral: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Pitch and roll [rad] that change the regulation variables by `forward` and `lateral`: Δu = J⁻¹ Δx (§3).

    Returns:
        Pitch, roll, and 1 if the model was singular; an angle without effect is 0.
    """
    least, singular, pitch, roll = regulation.least, 0.0, 0.0, 0.0
    det = forward_by_pitch * lateral_by_roll - forward_by_roll * lateral_by_pitch
    size = forward_by_pitch * forward_by_pitch + forward_by_roll * forward_by_roll
    size = math.sqrt(size + lateral_by_pitch * lateral_by_pitch + lateral_by_roll * lateral_by_roll)
    if regulation.full != 0.0 and abs(det) >= least * size > 0.0:  # the smaller singular value is at least det / size
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
    # not `clamp`: the planner calls this function as plain Python, where a kernel cannot be called
    return min(max(pitch, -most), most), min(max(roll, -limit), limit), singular


def feature_count(roles: int) -> int:
    """Number of features that describe how a step begins: root, twist, joint angles and rates."""
    return 10 + 2 * roles


@kernel
def write_features(world: World, cycle: Any, swing: int, features: np.ndarray) -> None:
    """Write the features of the body at the beginning of a step, as seen from the swing leg."""
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


FARTHEST = 3.0  # [standard deviations] beyond the paper: docs/limit_cycle.md


@kernel
def predict(model: np.ndarray, features: np.ndarray, output: int) -> float:
    """One output of a linear model (2 + 6, n + 1): rows of means and scales, then weights with the constant last."""
    total, n = model[2 + output, len(features)], len(features)
    for i in range(n):
        total += model[2 + output, i] * clamp((features[i] - model[0, i]) / model[1, i], -FARTHEST, FARTHEST)
    return total  # type: ignore[no-any-return]
