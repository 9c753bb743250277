"""Linear quadratic regulators (da Silva 2008, eqs. 4–7): gains K with Δu = K Δx, over a stretch of time or for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_discrete_are

from surefoot.stylized.linear import Linear


class Costs(NamedTuple):
    """What one plane's errors and controls cost: squared angles and rates of base, upper body, swing leg; torques."""

    angles: tuple[float, float, float]
    rates: tuple[float, float, float]
    controls: tuple[float, float]  # [(N·m)⁻²] of upper body and swing leg


@dataclass(frozen=True)
class Weights:
    """What errors and controls cost.

    Attributes:
        tracking: c of eq. 4, of errors on the way; the last error costs 1.
        pitch: in the sagittal plane.
        roll: in the plane across it, which a planar body has not.
    """

    tracking: float
    pitch: Costs
    roll: Costs

    @classmethod
    def alike(cls, tracking: float = 0.1, rates: float = 1.0, control: float = 1.0) -> Weights:
        """The same of all links and planes.

        Args:
            tracking: c.
            rates: of squared rates [rad²/s²] against squared angles; the paper's figure 5 has 0, eq. 4 has 1.
            control: of squared torques [(N·m)⁻²]; the paper's 1 makes 0.1 rad cost what 0.1 N·m does.
        """
        costs = Costs((1.0, 1.0, 1.0), (rates, rates, rates), (control, control))
        return cls(tracking, costs, costs)

    def matrices(self, controls: int) -> tuple[np.ndarray, np.ndarray]:
        """Q of unit tracking cost and R, for 2 controls (planar) or 4."""
        planes = (self.pitch, self.roll)[: controls // 2]
        angles, rates, torques = (np.column_stack([plane[i] for plane in planes]).ravel() for i in range(3))
        return np.diag(np.concatenate([angles, rates])), np.diag(torques)


def finite(system: Linear, weights: Weights) -> np.ndarray:
    """(t, m, n) gains of eq. 4 for steps A (t, n, n), B (t, n, m)."""
    steps, n, m = len(system.A), system.A.shape[-1], system.B.shape[-1]
    Q, R = weights.matrices(m)
    P, gains = Q.copy(), np.zeros((steps, m, n))
    for t in range(steps - 1, -1, -1):
        A, B = system.A[t], system.B[t]
        gains[t] = -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = weights.tracking * Q + A.T @ P @ (A + B @ gains[t])
        P = 0.5 * (P + P.T)
    return gains


def infinite(system: Linear, weights: Weights) -> np.ndarray:
    """(m, n) gains of eq. 6, with Q of unit tracking cost times c."""
    A, B = system
    Q, R = weights.matrices(B.shape[1])
    P = solve_discrete_are(A, B, weights.tracking * Q, R)
    return np.asarray(-np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))
