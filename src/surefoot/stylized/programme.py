"""Torques and ground forces that come closest to what style and balance ask for (da Silva 2008, eq. 9).

Accelerations are eliminated by the equations of motion, q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h): what is left to find are torques
within their limits and λ ≥ 0, and the rows that hold the patches still are equalities. Every solve begins anew, without
what the last one found: the same state always gives the same torques.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import daqp
import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from surefoot.stylized.body_dynamics import BodyDynamics, Held

REGULARIZER = 1e-7  # absolute: relative to the diagonal it would bias a standing body until it falls
_EQUALITY = 5  # what daqp calls one
_MOST = 1e6  # [N] of a cone's edge


@dataclass(frozen=True)
class Wish:
    """What is asked for: accelerations of coordinates (nv,) with their weights, and of the links' centres of mass.

    `rows`, `bias` are J_c and J̇_c q̇, `centers` is a_b (9,) [m/s²], `balance` is w_b; without balance they are empty.
    """

    style: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    bias: np.ndarray
    centers: np.ndarray
    balance: float


class Problem(NamedTuple):
    """The programme ½ zᵀ H z + fᵀ z, z = (τ, λ), low ≤ z ≤ high, rows z = right; and q̈ = moves z + free."""

    H: np.ndarray
    f: np.ndarray
    rows: np.ndarray
    right: np.ndarray
    low: np.ndarray
    high: np.ndarray
    moves: np.ndarray  # (nv, nz)
    free: np.ndarray  # (nv,)


class Solution(NamedTuple):
    """Torques (actuators,) [N·m], forces λ (edges,) [N], accelerations (nv,); `good` tells whether it is one."""

    torque: np.ndarray
    edges: np.ndarray
    acceleration: np.ndarray
    good: bool


def build(body: BodyDynamics, wish: Wish, held: list[Held], settle: float) -> Problem:
    """The programme at the state that `body` is in.

    Args:
        body: equations of motion.
        wish: what is asked for.
        held: patches that bear.
        settle: rate at which a patch that moves is brought to rest [1/s].
    """
    nv, nu = len(body.h), len(body.dofs)
    forces = np.concatenate([h.forces for h in held], axis=1) if held else np.zeros((nv, 0))
    right_hand = np.zeros((nv, nu + forces.shape[1] + 1), order="F")
    right_hand[body.dofs, np.arange(nu)] = 1.0
    right_hand[:, nu:-1], right_hand[:, -1] = forces, -body.h
    factor, _ = dpotrf(body.M, lower=1)
    solved, _ = dpotrs(factor, right_hand, lower=1)
    moves, free = solved[:, :-1], solved[:, -1]
    weighed = wish.weights[:, None] * moves
    H, f = moves.T @ weighed, weighed.T @ (free - wish.style)
    if wish.balance > 0.0:
        through = wish.rows @ moves
        H += wish.balance * through.T @ through
        f += wish.balance * through.T @ (wish.rows @ free + wish.bias - wish.centers)
    H[np.diag_indices(len(H))] += REGULARIZER
    rows = np.concatenate([h.rows for h in held]) if held else np.zeros((0, nv))
    rest = np.concatenate([-h.bias - settle * h.speed for h in held]) if held else np.zeros(0)
    low = np.concatenate([-body.limits, np.zeros(forces.shape[1])])
    high = np.concatenate([body.limits, np.full(forces.shape[1], _MOST)])
    return Problem(H, f, rows @ moves, rest - rows @ free, low, high, moves, free)


def solve(problem: Problem, actuators: int) -> Solution:
    """The programme's solution, or one that says it is none."""
    bounds, k = len(problem.low), len(problem.right)
    sense = np.zeros(bounds + k, dtype=np.int32)
    sense[bounds:] = _EQUALITY
    z, _, flag, _ = daqp.solve(
        np.ascontiguousarray(problem.H), problem.f, np.ascontiguousarray(problem.rows),
        np.concatenate([problem.high, problem.right]), np.concatenate([problem.low, problem.right]), sense,
    )  # fmt: skip
    z = np.asarray(z)
    good = flag == 1 and bool(np.isfinite(z).all())
    return Solution(z[:actuators], z[actuators:], problem.moves @ z + problem.free, good)
