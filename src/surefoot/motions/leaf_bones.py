"""Where the bones without children end: a skeleton does not say it, but files and pictures need it."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.motions.forward_kinematics import rest_positions
from surefoot.motions.motion import Motion

_TOE = np.array([0.13, 0.0, -0.01])  # [leg lengths] from the ankle of a foot without toes
_ON = 0.5  # length of another leaf bone, as a share of its parent bone, whose direction it continues
_SHORTEST, _STUB = 0.02, 0.1  # [m]


def leaf_bone_ends(motion: Motion) -> np.ndarray:
    """(joints, 3) ends of the bones without children, in their joints' frames [m]; zero for the others.

    A simulated body's bones end where its shapes end, those of other skeletons where they are likely to.
    """
    skeleton = motion.skeleton
    rest = rest_positions(skeleton)
    ends = np.zeros_like(rest)
    for joint, name in enumerate(skeleton.names):
        if not (skeleton.parents == joint).any():
            found = None if motion.scene is None else _farthest(motion.scene.model, name)
            ends[joint] = _guess(skeleton.offsets[joint], rest[joint, 2], rest[:, 2].min()) if found is None else found
    return ends


def _guess(offset: np.ndarray, height: float, lowest: float) -> np.ndarray:
    """Forward for a foot, else on in the direction of the parent bone."""
    if lowest < -_STUB and height < 0.9 * lowest and -offset[2] > np.linalg.norm(offset[:2]):
        return -lowest * _TOE
    on = _ON * offset
    return np.asarray(on if np.linalg.norm(on) > _SHORTEST else np.array([0.0, 0.0, _STUB]))


def _farthest(model: mujoco.MjModel, name: str) -> np.ndarray | None:
    """The end of a shape's long axis that is farthest from its body's joint."""
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    found, reach, axes = None, _SHORTEST, np.empty(9)
    for geom in np.flatnonzero(model.geom_bodyid == body) if body > 0 else ():
        mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
        half = model.geom_aabb[geom, 3:]
        long = int(np.argmax(half))
        for side in (-1.0, 1.0):
            tip = model.geom_pos[geom] + side * half[long] * axes.reshape(3, 3)[:, long]
            if np.linalg.norm(tip) > reach:
                found, reach = tip, float(np.linalg.norm(tip))
    return found
