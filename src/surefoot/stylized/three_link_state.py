"""From the character's state to the three-link model's and back (da Silva 2008, §3.2, figure 3; §4.2).

Angles come from directions: of the stance leg's centre of mass seen from the ankle, which tells where the model's hip
is, then of the other two centres of mass seen from there. Rates come from the relative velocities of the same points.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.stylized import assembly
from surefoot.stylized.three_link import ThreeLink


class Points(NamedTuple):
    """Where the links' centres of mass are and how they move, seen from the stance ankle along a heading."""

    place: np.ndarray  # (3, 3) [m], a row a link
    velocity: np.ndarray  # (3, 3) [m/s]


def state_of(link: ThreeLink, points: Points, heading: float = 0.0) -> np.ndarray:
    """(6·axes,) the state x of points seen in the world: angles, then rates, along a heading [rad]."""
    return np.asarray(assembly.three_link_state(*points, heading, link.hip, link.axes))


class Simple:
    """The three-link model at work: its points in a state, and how a control accelerates them."""

    def __init__(self, link: ThreeLink) -> None:
        """Of one model, with room to compute."""
        self.link = link
        self._data = mujoco.MjData(link.model)
        self._bodies = np.arange(1, 4)
        data = self._data
        self._inputs = (data.qpos, data.qvel, data.qfrc_applied, data.ctrl)
        self._spatial = (data.cvel, data.cacc, data.xipos, data.subtree_com[1], link.model.opt.gravity)

    def set(
        self, state: np.ndarray, control: np.ndarray | None = None, ankle: np.ndarray | None = None
    ) -> mujoco.MjData:
        """Its data at a state, a control and torques of the ankle (axes,) [N·m], forward dynamics included."""
        qpos, qvel, applied, ctrl = self._inputs
        qpos[:], qvel[:], ctrl[:] = state[: len(qpos)], state[len(qpos) :], 0.0 if control is None else control
        applied[: self.link.axes] = 0.0 if ankle is None else ankle
        mujoco.mj_forward(self.link.model, self._data)
        return self._data

    def points(self, state: np.ndarray) -> Points:
        """The inverse of `state_of`, up to the links' fixed lengths."""
        data, model = self.set(state), self.link.model
        velocity, six = np.empty((3, 3)), np.empty(6)
        for i, body in enumerate(self._bodies):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, six, 0)
            velocity[i] = six[3:]
        return Points(data.xipos[self._bodies].copy(), velocity)

    def accelerations(
        self, state: np.ndarray, control: np.ndarray, ankle: np.ndarray | None = None, heading: float = 0.0
    ) -> np.ndarray:
        """(3, 3) of the links' centres of mass in the world [m/s²] under a control: a_b of eq. 9a."""
        data = self.set(state, control, ankle)
        mujoco.mj_rnePostConstraint(self.link.model, data)
        return np.asarray(assembly.accelerations(*self._spatial, heading))
