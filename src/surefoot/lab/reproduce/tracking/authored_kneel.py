"""A clip of our own: somebody steps forward, kneels on one knee, waits, and gets up again."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from scipy.interpolate import PchipInterpolator

from surefoot.engine.recorder import Recorder
from surefoot.engine.simulation import Simulation
from surefoot.lab.floor_contact import contact_points
from surefoot.motions import bvh

_FPS = 120.0
_JOINTS = ("left_hip", "left_knee", "left_ankle", "right_hip", "right_knee", "right_ankle")
_KEYS = np.array([  # [s], then the angles of `_JOINTS` [deg]
    (0.0, 0, 0, 0, 0, 0, 0), (0.5, 0, 0, 0, 0, 0, 0), (0.8, 45, -60, 0, -5, -3, 5), (1.15, 35, -20, -15, -20, -15, 20),
    (1.7, 60, -62, 2, -5, -60, 10), (2.1, 93, -97, 4, 0, -95, -20), (3.0, 93, -97, 4, 0, -95, -20),
    (3.4, 60, -62, 2, -5, -60, 10), (3.95, 35, -20, -15, -20, -15, 20), (4.3, 45, -60, 0, -5, -3, 5),
    (4.6, 0, 0, 0, 0, 0, 0), (5.2, 0, 0, 0, 0, 0, 0),
])  # fmt: skip
_RIGHT_BEARS = (1.15, 3.95)  # [s] until and from when the right foot stays where it is; between them the left one does


def author(path: Path) -> None:
    """Write the clip as a BVH file."""
    sim = Simulation("human", "stand")
    model, data = sim.model, mujoco.MjData(sim.model)
    points = contact_points(model, sim.scene.table, True, True)
    feet = [model.body(leg.foot).id for leg in (sim.scene.table.anatomy.left, sim.scene.table.anatomy.right)]
    joints = [int(model.joint(name).qposadr[0]) for name in _JOINTS]
    angles, recorder = PchipInterpolator(_KEYS[:, 0], np.radians(_KEYS[:, 1:])), Recorder(sim.scene)
    place, before = 0.0, (-1, 0.0)
    for i in range(round(float(_KEYS[-1, 0]) * _FPS)):
        time = i / _FPS
        pose = model.qpos0.copy()
        pose[joints] = angles(time)
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        foot = feet[0] if _RIGHT_BEARS[0] <= time <= _RIGHT_BEARS[1] else feet[1]
        if before[0] == foot:
            place += before[1] - float(data.xpos[foot, 0])
        before = (foot, float(data.xpos[foot, 0]))
        lowest = min(
            data.xpos[part, 2] + data.xmat[part].reshape(3, 3)[2] @ end - radius for part, end, radius in points
        )
        pose[0], pose[2] = place, pose[2] - lowest
        recorder.add(time, pose, sim.data.qvel, sim.data.userdata)
    bvh.save(recorder.motion(), path)
