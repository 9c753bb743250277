"""The compiled part of the programme: accelerations eliminated from eq. 9 (da Silva 2008).

The mass matrix of a tree is factorized from its leaves, M = Lᵀ D L: L has entries only between a degree of freedom and
those it hangs on. This module imports no kernels of others, so that the compiler's cache sees every edit.

Torques and ground forces that come closest to what style and balance ask for (da Silva 2008, eq. 9).

Accelerations are eliminated by the equations of motion, q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h): what is left to find are torques
within their limits and λ ≥ 0, and the rows that hold the patches still are equalities. Every solve begins anew, without
what the last one found: the same state always gives the same torques.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import daqp
import numpy as np

from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, ContactConstraints, compiled

REGULARIZER = 1e-7  # absolute: relative to the diagonal it would bias a standing body until it falls
MOST = 1e6  # [N] of a cone's edge


@compiled
def factorize(M: Any, parents: Any) -> Any:
    """L below the diagonal and D on it, of a mass matrix (n, n); `parents` (n,) tell what each freedom hangs on."""
    factor = M.copy()
    for k in range(len(M) - 1, -1, -1):
        i = parents[k]
        while i >= 0:
            part, j = factor[k, i] / factor[k, k], i
            while j >= 0:
                factor[i, j] -= part * factor[k, j]
                j = parents[j]
            factor[k, i] = part
            i = parents[i]
    return factor


@compiled
def solve_factorized(factor: Any, parents: Any, columns: Any) -> None:
    """Put M⁻¹ of the columns (n, m) into their place."""
    n, m = columns.shape
    for k in range(n - 1, -1, -1):
        i = parents[k]
        while i >= 0:
            part = factor[k, i]
            for c in range(m):
                columns[i, c] -= part * columns[k, c]
            i = parents[i]
    for k in range(n):
        whole, i = 1.0 / factor[k, k], parents[k]
        for c in range(m):
            columns[k, c] *= whole
        while i >= 0:
            part = factor[k, i]
            for c in range(m):
                columns[k, c] -= part * columns[i, c]
            i = parents[i]


@compiled
def accelerations(M: Any, h: Any, parents: Any, dofs: Any, forces: Any) -> Any:
    """(n, nz) and (n,): q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h), eq. 9b, as `moves` (τ, λ) + `free`."""
    n, nu, edges = len(h), len(dofs), forces.shape[1]
    moves, free = np.zeros((n, nu + edges)), np.empty((n, 1))
    for j in range(nu):
        moves[dofs[j], j] = 1.0
    moves[:, nu:], free[:, 0] = forces, -h
    factor = factorize(M, parents)
    solve_factorized(factor, parents, moves)
    solve_factorized(factor, parents, free)
    return moves, free[:, 0].copy()


@compiled
def objective(
    moves: Any, free: Any, style: Any, weights: Any, rows: Any, bias: Any, centers: Any, balance: float
) -> Any:
    """H (nz, nz) and f (nz,) of eq. 9a: w_s ‖q̈ − a_s‖² + w_b ‖J_c q̈ + J̇_c q̇ − a_b‖², halved, and a little of ‖z‖²."""
    n, nz = moves.shape
    weighed = np.empty((n, nz))
    for i in range(n):
        for j in range(nz):
            weighed[i, j] = weights[i] * moves[i, j]
    H, f = moves.T @ weighed, weighed.T @ (free - style)
    if balance > 0.0:
        through = rows @ moves
        H += (balance * through.T) @ through
        f += balance * (through.T @ (rows @ free + bias - centers))
    for i in range(nz):
        H[i, i] += REGULARIZER
    return H, f


@compiled
def constraints(moves: Any, free: Any, limits: Any, rows: Any, bias: Any, speed: Any, settle: float) -> Any:
    """Rows (k, nz) and bounds (nz + k,): torques within their limits, λ ≥ 0 and patches held still, eq. 9c."""
    nu, nz, k = len(limits), moves.shape[1], len(bias)
    low, high = np.zeros(nz + k), np.full(nz + k, MOST)
    for i in range(nu):
        low[i], high[i] = -limits[i], limits[i]
    right = -bias - settle * speed - rows @ free
    for i in range(k):
        low[nz + i], high[nz + i] = right[i], right[i]
    return rows @ moves, low, high


@compiled
def assemble_qp(
    M: Any, h: Any, parents: Any, dofs: Any, limits: Any, style: Any, weights: Any, center_rows: Any,
    center_bias: Any, centers: Any, balance: float, held_rows: Any, held_bias: Any, held_speed: Any, forces: Any,
    settle: float,
) -> Any:  # fmt: skip
    """The fields of a `Problem`, in one go."""
    moves, free = accelerations(M, h, parents, dofs, forces)
    H, f = objective(moves, free, style, weights, center_rows, center_bias, centers, balance)
    rows, low, high = constraints(moves, free, limits, held_rows, held_bias, held_speed, settle)
    return H, f, rows, low, high, moves, free


_EQUALITY = 5  # what daqp calls one


class Objective(NamedTuple):
    """What is asked for: accelerations of coordinates (nv,) with their weights, and of the links' centres of mass.

    `rows`, `bias` are J_c and J̇_c q̇, `centers` is a_b (9,) [m/s²], `balance` is w_b; without balance they are empty.
    """

    style: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    bias: np.ndarray
    centers: np.ndarray
    balance: float


class QuadraticProgram(NamedTuple):
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


def build_qp(body: BodyDynamics, wish: Objective, held: ContactConstraints, settle: float) -> QuadraticProgram:
    """The programme at the state that `body` is in.

    Args:
        body: equations of motion.
        wish: what is asked for.
        held: patches that bear.
        settle: rate at which a patch that moves is brought to rest [1/s].
    """
    found = assemble_qp(body.M, body.h, body.parents, body.dofs, body.limits, *wish, *held, settle)
    return QuadraticProgram(*found)


def penalize_internal_forces(problem: QuadraticProgram, against: np.ndarray, weight: float) -> None:
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


def solve_qp(problem: QuadraticProgram, actuators: int) -> Solution:
    """The programme's solution, or one that says it is none."""
    sense = np.zeros(len(problem.low), dtype=np.int32)
    sense[len(problem.f) :] = _EQUALITY
    z, _, flag, _ = daqp.solve(problem.H, problem.f, problem.rows, problem.high, problem.low, sense)
    z = np.asarray(z)
    good = flag == 1 and math.isfinite(z.sum())
    return Solution(z[:actuators], z[actuators:], problem.moves @ z + problem.free, good)
