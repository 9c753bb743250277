"""Linear quadratic regulators (da Silva 2008, eqs. 4–7): gains K with Δu = K Δx, over a stretch of time or for ever."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_discrete_are

from surefoot.stylized.linear import Linear


@dataclass(frozen=True)
class Weights:
    """What errors and controls cost.

    Attributes:
        tracking: c of eq. 4, of errors on the way; the last error costs 1.
        rates: of squared rates [rad²/s²] against squared angles; the paper's figure 5 has 0, eq. 4 has 1.
        links: of squared angles and rates of base, upper body and swing leg; the paper's are alike.
        control: of squared torques [(N·m)⁻²]; the paper's 1 makes 0.1 rad cost what 0.1 N·m does.
    """

    tracking: float = 0.1
    rates: float = 1.0
    control: float = 1.0
    links: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def matrices(self, states: int, controls: int) -> tuple[np.ndarray, np.ndarray]:
        """Q of unit tracking cost, (states, states), and R (controls, controls)."""
        each = np.repeat(self.links, states // 6)
        return np.diag(np.concatenate([each, self.rates * each])), self.control * np.eye(controls)


def finite(system: Linear, weights: Weights) -> np.ndarray:
    """(t, m, n) gains of eq. 4 for steps A (t, n, n), B (t, n, m)."""
    steps, n, m = len(system.A), system.A.shape[-1], system.B.shape[-1]
    Q, R = weights.matrices(n, m)
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
    Q, R = weights.matrices(len(A), B.shape[1])
    P = solve_discrete_are(A, B, weights.tracking * Q, R)
    return np.asarray(-np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))
