"""Changes of a model's own coordinates that keep them in step with a motion's root and rotations."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.motions import quaternions as quat

_SAME = 1e-6  # [m, rad]


def between(model: mujoco.MjModel, one: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, nq) coordinates a share (n,) of the way from one table of coordinates to another."""
    found, step = one.copy(), np.zeros(model.nv)
    for frame, goal, part in zip(found, other, share, strict=True):
        mujoco.mj_differentiatePos(model, step, 1.0, frame, goal)
        mujoco.mj_integratePos(model, frame, step, part)
    return found


def closed(model: mujoco.MjModel, qpos: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, nq) each frame moved by its share (n,) of the way from the last frame's coordinates to the first's."""
    found, step = qpos.copy(), np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, step, 1.0, qpos[-1], qpos[0])
    for frame, part in zip(found, share, strict=True):
        mujoco.mj_integratePos(model, frame, step, part)
    return found


def rooted(
    model: mujoco.MjModel, qpos: np.ndarray, here: np.ndarray, places: np.ndarray, turns: np.ndarray
) -> np.ndarray:
    """Move the root from `here` to other places (n, 3) and turns (n, 4).

    Returns:
        (n, nq), or nothing (0,) if the root's joints cannot take it there: a planar body does not turn.
    """
    found, joints = qpos.copy(), np.flatnonzero(model.jnt_bodyid == 1)
    for joint in joints:
        start = int(model.jnt_qposadr[joint])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            found[:, start : start + 3], found[:, start + 3 : start + 7] = places, turns
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
            found[:, start] += (places - here) @ model.jnt_axis[joint]
    data = mujoco.MjData(model)
    for frame, place, turn in zip(found, places, turns, strict=True):
        data.qpos[:] = frame
        mujoco.mj_kinematics(model, data)
        off = quat.log(quat.multiply(quat.inverse(data.xquat[1]), turn))
        if np.linalg.norm(data.xpos[1] - place) > _SAME or np.linalg.norm(off) > _SAME:
            return np.zeros(0)
    return found
