"""Kinematics of one row at a time, computed from its positions and velocities alone.

After a physics step MuJoCo's derived fields describe the moment before it, and a population's rows share the fields
of a few threads. What tasks measure is computed here instead, for the present moment and in one way for all, so that
a row of a population sees the same bits as a simulation of its own.
"""

from __future__ import annotations

import mujoco
import numpy as np


class Posture:
    """A state of its own into which a row is copied to be measured."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Measure rows of this model."""
        self._model, self._data = model, mujoco.MjData(model)
        self._key: tuple[object, int] | None = None
        self._collided = False

    def of(self, who: object, moment: int, qpos: np.ndarray, qvel: np.ndarray) -> mujoco.MjData:
        """The state of a row with current positions and velocities of bodies, joints and sites.

        `who` and `moment` tell one row and moment from another; the same ones are computed once.
        """
        if self._key is None or self._key[0] is not who or self._key[1] != moment:
            model, data = self._model, self._data
            data.qpos[:], data.qvel[:] = qpos, qvel
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_subtreeVel(model, data)
            self._key, self._collided = (who, moment), False
        return self._data

    def with_contacts(self, who: object, moment: int, qpos: np.ndarray, qvel: np.ndarray) -> mujoco.MjData:
        """The same, with the contacts of this moment."""
        data = self.of(who, moment, qpos, qvel)
        if not self._collided:
            mujoco.mj_collision(self._model, data)
            self._collided = True
        return data
