"""The three-link model to first order (da Silva 2008, eq. 3): Δx' = A Δx + B Δu, from the engine's own derivatives."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.optimize import root

from surefoot.stylized.limbs_of_three import STANCE, SWING, UPPER
from surefoot.stylized.three_link import ThreeLink, direction_angles, frame_of

_STEP = 1e-6  # of the centred differences
_RATE = 4.0  # [1/s] about √(g / h): scales powers of A in the test of rank
_TOLERANCE = 1e-7  # of singular values, relative to the largest


class Linear(NamedTuple):
    """A step to first order, or steps (t, …) of an LTV system."""

    A: np.ndarray  # (n, n)
    B: np.ndarray  # (n, m)


class Steps:
    """The three-link model's steps x' = G(x, u) and their derivatives."""

    def __init__(self, link: ThreeLink) -> None:
        """Of one model, with room to compute."""
        self.link, self._data = link, mujoco.MjData(link.model)

    def step(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
        """X' = G(x, u); `known` are torques of the ankle (axes,) [N·m] that no control decides on."""
        data = self._set(state, control, known)
        mujoco.mj_step(self.link.model, data)
        return np.concatenate([data.qpos, data.qvel])

    def linear(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None = None) -> Linear:
        """A = D₁G and B = D₂G there."""
        data, model = self._set(state, control, known), self.link.model
        found = Linear(np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu)))
        mujoco.mjd_transitionFD(model, data, _STEP, True, found.A, found.B, None, None)
        return found

    def needed(self, state: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """(nv,) torques of all hinges, the ankle's first, that accelerate it so [N·m]."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        data.qacc[:] = acceleration
        mujoco.mj_inverse(self.link.model, data)
        return np.array(data.qfrc_inverse)

    def com(self, state: np.ndarray) -> np.ndarray:
        """(3,) of the whole model, seen from the ankle [m]."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        mujoco.mj_kinematics(self.link.model, data)
        mujoco.mj_comPos(self.link.model, data)
        return np.array(data.subtree_com[0])

    def at_rest(self, state: np.ndarray) -> mujoco.MjData:
        """Data with positions, centres of mass and inertias of a state."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        mujoco.mj_fwdPosition(self.link.model, data)
        return data

    def inertia(self, out: np.ndarray) -> None:
        """Write the mass matrix (nv, nv) of the state last given to `at_rest`."""
        mujoco.mj_fullM(self.link.model, self._data, out)

    def _set(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None) -> mujoco.MjData:
        data, model = self._data, self.link.model
        nq = model.nq
        data.qpos[:], data.qvel[:], data.ctrl[:] = state[:nq], state[nq:], control
        data.qfrc_applied[:] = 0.0
        if known is not None:
            data.qfrc_applied[: self.link.axes] = known
        data.qacc_warmstart[:] = 0.0
        return data


def controllable(link: ThreeLink, state: np.ndarray, control: np.ndarray) -> int:
    """How many dimensions of the state the controls reach at an equilibrium: the rank of [B, AB, A²B, …]."""
    A, B = Steps(link).linear(state, control)
    dt, n = link.model.opt.timestep, len(A)
    rates, block = (A - np.eye(n)) / (dt * _RATE), B / dt
    blocks = [block]
    for _ in range(n - 1):
        block = rates @ block
        blocks.append(block)
    values = np.linalg.svd(np.hstack([b / np.linalg.norm(b) for b in blocks]), compute_uv=False)
    return int((values > _TOLERANCE * values[0]).sum())


def equilibrium(link: ThreeLink) -> tuple[np.ndarray, np.ndarray]:
    """State and hip torques [N·m] of standing on the ankle with upper body and swing leg upright."""
    axes, steps, n = link.axes, Steps(link), link.model.nv

    def pose(lean: np.ndarray) -> np.ndarray:
        base = frame_of(lean[0], lean[1] if axes == 2 else 0.0)
        angles = np.zeros((3, 2))
        angles[STANCE, :axes] = lean
        for i in (UPPER, SWING):
            angles[i] = direction_angles(base.T @ np.array([0.0, 0.0, 1.0]))
        return np.concatenate([angles[:, :axes].ravel(), np.zeros(n)])

    solved = root(lambda lean: steps.com(pose(lean))[:axes], np.zeros(axes), tol=1e-12)
    state = pose(solved.x)
    return state, steps.needed(state, np.zeros(n))[axes:]
