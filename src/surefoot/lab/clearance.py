"""How near a walker's legs come to each other: bodies whose parts do not collide could walk through themselves."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions.motion import Motion

_FAR = 0.5  # [m] beyond which distances do not matter
_FPS = 50.0  # frames per second that are looked at


def leg_clearance(motion: Motion) -> float:
    """Least distance between the solid parts of the left and of the right leg [m]; negative if they overlap."""
    if motion.scene is None or not len(motion):
        raise SurefootError("only a simulated motion has legs whose distance can be measured")
    model, anatomy = motion.scene.model, motion.scene.table.anatomy
    left, right = (_solids(model, model.body(side.thigh).id) for side in (anatomy.left, anatomy.right))
    data, nearest = mujoco.MjData(model), _FAR
    every = max(1, round(1.0 / (_FPS * float(motion.time[1] - motion.time[0])))) if len(motion) > 1 else 1
    for qpos in motion.qpos[::every]:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        for one in left:
            for other in right:
                nearest = min(nearest, mujoco.mj_geomDistance(model, data, one, other, _FAR, None))
    return float(nearest)


def _solids(model: mujoco.MjModel, top: int) -> list[int]:
    """Geoms that can touch something, of a body and of all that hangs on it."""
    bodies = {top}
    for body in range(top + 1, model.nbody):
        if int(model.body_parentid[body]) in bodies:
            bodies.add(body)
    geoms = np.flatnonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    return [int(geom) for geom in geoms if int(model.geom_bodyid[geom]) in bodies]
