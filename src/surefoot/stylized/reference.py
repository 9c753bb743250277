"""The motion that is followed: poses of a character over time, and which leg bears (da Silva 2008, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from surefoot.scene import Scene
    from surefoot.skills.schema import Skill

LEFT, RIGHT, BOTH = 0, 1, 2  # which leg bears


@dataclass(frozen=True)
class Moment:
    """The reference at one time: pose (nq,), rates and accelerations (nv,), which leg bears, where the feet are."""

    pose: np.ndarray
    rates: np.ndarray
    accelerations: np.ndarray
    stance: int
    ankles: np.ndarray  # (2, 3) [m]


@dataclass(frozen=True)
class Reference:
    """Moments at even times; a single one is held for ever."""

    poses: np.ndarray  # (n, nq)
    rates: np.ndarray  # (n, nv)
    accelerations: np.ndarray  # (n, nv)
    stances: np.ndarray  # (n,) LEFT, RIGHT or BOTH
    ankles: np.ndarray  # (n, 2, 3) [m]
    timestep: float

    def at(self, clock: float) -> Moment:
        """The reference at a time of its own [s]."""
        i = min(max(round(clock / self.timestep), 0), len(self.poses) - 1)
        return Moment(
            self.poses[i].copy(), self.rates[i], self.accelerations[i], int(self.stances[i]), self.ankles[i].copy()
        )


def held(scene: Scene, skill: Skill) -> Reference:
    """A skill's start pose, held on both feet."""
    model = scene.model
    qpos, qvel, userdata = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
    scene.begin(qpos, qvel, userdata, skill, 0)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    legs = (scene.table.anatomy.left, scene.table.anatomy.right)
    ankles = np.array([data.body(leg.foot).xpos for leg in legs])
    still = np.zeros((1, model.nv))
    return Reference(qpos[None], still, still, np.array([BOTH]), ankles[None], 1.0)
