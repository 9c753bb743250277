"""The largest lean from which the three-link model recovers (da Silva 2008, §3.3, figure 5), and an upper bound."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.linalg import solve_discrete_are

from surefoot.controllers.stylized.balance_policy import Weights
from surefoot.controllers.stylized.three_link import LinearSystem, ThreeLink, ThreeLinkDynamics, equilibrium

SECONDS = 5.0  # of a recovery
_OVER, _QUIET = 0.01, 0.2  # [m], [rad/s] of centre of mass and rates at the end: angles may still be on their way back
_LOST = 1.4  # [rad] of the base, from which nothing comes back
_CLIMB, _FINEST = 0.25, 0.05  # [°] between leans that are tried, and of the largest lean
_RATE = 4.0  # [1/s] about √(g / h): scales powers of A in the test of rank
_TOLERANCE = 1e-7  # of singular values, relative to the largest


def infinite_horizon_lqr(system: LinearSystem, weights: Weights) -> np.ndarray:
    """(m, n) gains of eq. 6, with Q of unit tracking cost times c."""
    A, B = system
    Q, R = weights.matrices(B.shape[1])
    P = solve_discrete_are(A, B, weights.tracking * Q, R)
    return np.asarray(-np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))


def controllable_dimension(link: ThreeLink, state: np.ndarray, control: np.ndarray) -> int:
    """How many dimensions of the state the controls reach at an equilibrium: the rank of [B, AB, A²B, …]."""
    A, B = ThreeLinkDynamics(link).linearize(state, control)
    dt, n = link.model.opt.timestep, len(A)
    rates, block = (A - np.eye(n)) / (dt * _RATE), B / dt
    blocks = [block]
    for _ in range(n - 1):
        block = rates @ block
        blocks.append(block)
    values = np.linalg.svd(np.hstack([b / np.linalg.norm(b) for b in blocks]), compute_uv=False)
    return int((values > _TOLERANCE * values[0]).sum())


class LeanTrial(NamedTuple):
    """A run of the three-link model from a lean: states (t + 1, n), torques (t, m) [N·m], and whether it came back."""

    states: np.ndarray
    torques: np.ndarray
    recovered: bool


class AnkleStand:
    """The three-link model kept upright by an infinite-horizon regulator (eqs. 6 and 7)."""

    def __init__(self, link: ThreeLink, weights: Weights) -> None:
        """Compute the gains of a model."""
        self.link, self.weights, self.steps = link, weights, ThreeLinkDynamics(link)
        self.state, self.control = equilibrium(link)
        self.gains = infinite_horizon_lqr(self.steps.linearize(self.state, self.control), weights)

    def lean(self, degrees: float, direction: np.ndarray, limit: float = np.inf, seconds: float = SECONDS) -> LeanTrial:
        """Release it from a lean, with all links turned as one.

        Args:
            degrees: of the lean [deg].
            direction: (axes,) pitch and roll of the turn, of unit length.
            limit: of each hip torque [N·m].
            seconds: how long it is simulated [s].
        """
        state, torques = self.state.copy(), []
        state[: self.link.axes] += np.radians(degrees) * direction
        states, good = [state], True
        for _ in range(round(seconds / self.link.model.opt.timestep)):
            torque = np.clip(self.control + self.gains @ (state - self.state), -limit, limit)
            state = self.steps.step(state, torque)
            states.append(state)
            torques.append(torque)
            if not np.abs(state[: self.link.axes] - self.state[: self.link.axes]).max() < _LOST:
                good = False
                break
        rates = state[self.link.model.nv :]
        good = good and bool(np.abs(self.steps.com(state)[:2]).max() < _OVER and np.abs(rates).max() < _QUIET)
        return LeanTrial(np.array(states), np.array(torques), good)

    def largest_lean(self, direction: np.ndarray, limit: float = np.inf, most: float = 30.0) -> float:
        """The largest lean it recovers from [deg], within 0.05°; it recovers from every smaller quarter degree too."""
        low = 0.0
        while low < most and self.lean(low + _CLIMB, direction, limit).recovered:
            low += _CLIMB
        high = low + _CLIMB
        while high - low > _FINEST:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.lean(middle, direction, limit).recovered else (low, middle)
        return low


def center_offset(link: ThreeLink, degrees: float) -> float:
    """Horizontal distance of the center of mass from the ankle at a lean [m]."""
    return float(ThreeLinkDynamics(link).com(equilibrium(link)[0])[2] * np.sin(np.radians(degrees)))


def com_shift_per_radian(link: ThreeLink) -> np.ndarray:
    """(2,) how far a swift turn by a radian, of upper body and of swing leg, moves the center of mass along x [m].

    The ankle gives no torque, and gravity takes time: in a swift turn the angular momentum about the ankle stays what
    it was, M₀₀ q̇₀ + M₀ⱼ q̇ⱼ = 0, and the base gives way. Let go at rest with its centre of mass x₀ ahead, the
    model stands again only if turns bring the centre back over the ankle before it has fallen further. So no hips,
    however strong, recover from more than x₀ = Σ |shift| θ, where θ are the turns a body can make.
    """
    steps, axes, model = ThreeLinkDynamics(link), link.axes, link.model
    data = steps.forward(equilibrium(link)[0])
    inertia, moves = np.zeros((model.nv, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    mujoco.mj_jacSubtreeCom(model, data, moves, 0)
    hips = [axes, 2 * axes]  # their pitch
    return np.asarray(moves[0, hips] - inertia[0, hips] / inertia[0, 0] * moves[0, 0])


def largest_lean_bound(link: ThreeLink, upper: float, swing: float) -> float:
    """Largest forward lean [deg] that turns of upper body and swing leg by some radians can make up for."""
    steps, (state, _) = ThreeLinkDynamics(link), equilibrium(link)
    reach = float(np.abs(com_shift_per_radian(link)) @ [upper, swing])
    return float(np.degrees(np.arcsin(min(1.0, reach / steps.com(state)[2]))))
