"""Torques and ground forces that come closest to what style and balance ask for (da Silva 2008, eq. 9).

Accelerations are eliminated by the equations of motion, q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h): what is left to find are torques
within their limits and λ ≥ 0, and the rows that hold the patches still are equalities. Every solve begins anew, without
what the last one found: the same state always gives the same torques.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import daqp
import numpy as np

from surefoot.stylized import elimination
from surefoot.stylized.body_dynamics import BodyDynamics, Held

_EQUALITY = 5  # what daqp calls one


class Wish(NamedTuple):
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
    """The programme ½ zᵀ H z + fᵀ z, z = (τ, λ), low ≤ (z, rows z) ≤ high, equal for rows z; and q̈ = moves z + free."""

    H: np.ndarray
    f: np.ndarray
    rows: np.ndarray  # (k, nz)
    low: np.ndarray  # (nz + k,)
    high: np.ndarray
    moves: np.ndarray  # (nv, nz)
    free: np.ndarray  # (nv,)


class Solution(NamedTuple):
    """Torques (actuators,) [N·m], forces λ (edges,) [N], accelerations (nv,); `good` tells whether it is one."""

    torque: np.ndarray
    edges: np.ndarray
    acceleration: np.ndarray
    good: bool


def build(body: BodyDynamics, wish: Wish, held: Held, settle: float) -> Problem:
    """The programme at the state that `body` is in.

    Args:
        body: equations of motion.
        wish: what is asked for.
        held: patches that bear.
        settle: rate at which a patch that moves is brought to rest [1/s].
    """
    found = elimination.build(body.M, body.h, body.parents, body.dofs, body.limits, *wish, *held, settle)
    return Problem(*found)


def calm(problem: Problem, against: np.ndarray, weight: float) -> None:
    """Add a cost of the forces by which feet work against each other, in place.

    Two feet that are held can press against each other without moving anything. What torques and forces cost alone
    lets them press outwards along the legs, and feet creep apart on ground that is a little soft.

    Args:
        problem: of feet that all bear.
        against: (directions, edges) horizontal force of each edge [1], negative for those of the other foot.
        weight: of its square [N⁻²].
    """
    nu = len(problem.f) - against.shape[1]
    problem.H[nu:, nu:] += weight * against.T @ against


def solve(problem: Problem, actuators: int) -> Solution:
    """The programme's solution, or one that says it is none."""
    sense = np.zeros(len(problem.low), dtype=np.int32)
    sense[len(problem.f) :] = _EQUALITY
    z, _, flag, _ = daqp.solve(problem.H, problem.f, problem.rows, problem.high, problem.low, sense)
    z = np.asarray(z)
    good = flag == 1 and math.isfinite(z.sum())
    return Solution(z[:actuators], z[actuators:], problem.moves @ z + problem.free, good)
