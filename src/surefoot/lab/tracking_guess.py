"""A first guess of the offsets of a motion: what its torques would be, by inverse dynamics, over the servos' gains.

Forces on the soles are those that explain the root's motion best: at the corners of soles, within their friction, and
the less the higher a corner is above the ground. A push-off needs offsets of half a radian, which samples around zero
do not find.
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.optimize import nnls

from surefoot.characters.table import CharacterTable
from surefoot.controllers.tracking.controller import STIFFNESS, joint_kind
from surefoot.controllers.tracking.table import FRAMES
from surefoot.lab.floor_contact import contact_points, uses_floor
from surefoot.lab.tracking_reference import MotionToTrack, velocities

_NEAR, _HIGHEST = 0.012, 0.06  # [m] height of a corner that doubles its cost, and above which it bears nothing
_FRICTION = 0.6  # less than the ground's, since the cone has four edges
_COST = 2e-3  # of forces against what remains unexplained
_EFFORT = 100.0  # [N] left unexplained that a torque at its limit is worth
_ARM = 0.3  # [m] that makes forces of moments
_MOST = 0.7  # [rad]


def guessed_offsets(model: mujoco.MjModel, body: CharacterTable, motion: MotionToTrack) -> np.ndarray:
    """(windows, actuators) [rad].

    Args:
        model: of the body on level ground.
        body: the body.
        motion: what it should do.
    """
    data, rates = mujoco.MjData(model), velocities(model, motion)
    step = motion.window / FRAMES
    if motion.loops:
        inner = np.concatenate([rates[-2:-1], rates, rates[1:2]])
        changes = (inner[2:] - inner[:-2]) / (2.0 * step)
    else:
        changes = np.gradient(rates, step, axis=0)
    dofs = np.array([int(model.joint(name).dofadr[0]) for name in body.gains])
    limits = np.array([gain.limit for gain in body.gains.values()])
    stiffness = np.array([STIFFNESS.get(joint_kind(joint), 1.0) * gain.kp for joint, gain in body.gains.items()])
    corners = contact_points(model, body, True, uses_floor(model, body, motion.poses))
    torques = np.empty((len(motion.poses), len(dofs)))
    for i, (pose, rate, change) in enumerate(zip(motion.poses, rates, changes, strict=True)):
        torques[i] = _torques(model, data, pose, rate, change, corners, dofs, limits)[dofs]
    torques = np.clip(torques, -limits, limits)
    offsets = np.clip(torques / stiffness, -_MOST, _MOST)
    return np.asarray(offsets[:-1].reshape(motion.windows, FRAMES, -1).mean(axis=1))


def _torques(
    model: mujoco.MjModel, data: mujoco.MjData, pose: np.ndarray, rate: np.ndarray, change: np.ndarray,
    corners: list[tuple[int, np.ndarray, float]], dofs: np.ndarray, limits: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(nv,) generalized forces of the joints for a motion, without what the ground gives.

    Torques cost too, as shares of their limits: the ground bears on a foot where its ankle can hold it.
    """
    data.qpos[:], data.qvel[:] = pose, rate
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    mujoco.mj_comVel(model, data)
    needed, bias = np.zeros(model.nv), np.zeros(model.nv)
    mujoco.mj_rne(model, data, 0, bias)
    mujoco.mj_mulM(model, data, needed, change)
    needed += bias
    columns, jacobian = [], np.zeros((3, model.nv))
    for part, end, radius in corners:
        point = data.xpos[part] + data.xmat[part].reshape(3, 3) @ end
        height = point[2] - radius
        if height > _HIGHEST:
            continue
        mujoco.mj_jac(model, data, jacobian, None, point, part)
        cost = 1.0 + (max(height, 0.0) / _NEAR) ** 2
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            columns.append((jacobian.T @ np.array([_FRICTION * x, _FRICTION * y, 1.0]), cost))
    if not columns:
        return needed
    forces = np.array([column for column, _ in columns]).T
    costs = np.array([cost for _, cost in columns])
    weights = np.array([1.0, 1.0, 1.0, *[1.0 / _ARM] * 3])
    effort = _EFFORT / limits
    explained = np.vstack(
        [weights[:, None] * forces[:6], effort[:, None] * forces[dofs], np.sqrt(_COST) * np.diag(costs)]
    )
    wanted = np.concatenate([weights * needed[:6], effort * needed[dofs], np.zeros(len(costs))])
    strength, _ = nnls(explained, wanted)
    return np.asarray(needed - forces @ strength)
