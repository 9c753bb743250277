"""The quadratic program: torques and ground forces that come closest to style and balance (da Silva 2008, eq. 9).

The equations of motion, q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h), eliminate the accelerations. The unknowns that remain are torques
within their limits and λ ≥ 0; the rows that hold the patches still are equalities. Every solution starts from scratch:
the same state always gives the same torques.

The mass matrix of a tree is factorized from its leaves, M = Lᵀ D L: L has entries only between a degree of freedom and
its ancestors. The compiled functions call only each other, because the compiler's cache notices edits of their own file
alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import daqp
import numpy as np
from numpy import ndarray

from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, ContactConstraints, compiled

REGULARIZER = 1e-7  # absolute: relative to the diagonal it would bias a standing body until it falls
MOST = 1e6  # [N] of a cone's edge
_EQUALITY = 5  # daqp's code of an equality


@compiled
def factorize(M: ndarray, parents: ndarray) -> ndarray:
    """L below the diagonal and D on it, of a mass matrix (n, n); `parents` (n,) are those of each degree of freedom."""
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
def solve_factorized(factor: ndarray, parents: ndarray, columns: ndarray) -> None:
    """Replace columns (n, m) by M⁻¹ times them."""
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
def assemble_qp(
    M: ndarray, h: ndarray, parents: ndarray, dofs: ndarray, limits: ndarray, style: ndarray, weights: ndarray,
    center_rows: ndarray, center_bias: ndarray, centers: ndarray, balance: float, held_rows: ndarray,
    held_bias: ndarray, held_speed: ndarray, forces: ndarray, settle: float,
) -> tuple[ndarray, ndarray, ndarray, ndarray, ndarray, ndarray, ndarray]:  # fmt: skip
    """All fields of a `QuadraticProgram`, from those of an `Objective` and of `ContactConstraints`."""
    # eq. 9b: q̈ = M⁻¹ (Sᵀ τ + Jᵀ V λ − h) = moves (τ, λ) + free
    n, nu, nz, k = len(h), len(dofs), len(dofs) + forces.shape[1], len(held_bias)
    moves, column, factor = np.zeros((n, nz)), np.empty((n, 1)), factorize(M, parents)
    for j in range(nu):
        moves[dofs[j], j] = 1.0
    moves[:, nu:], column[:, 0] = forces, -h
    solve_factorized(factor, parents, moves)
    solve_factorized(factor, parents, column)
    free = column[:, 0].copy()
    # eq. 9a: w_s ‖q̈ − a_s‖² + w_b ‖J_c q̈ + J̇_c q̇ − a_b‖², halved, and a little of ‖z‖²
    weighed = np.empty((n, nz))
    for i in range(n):
        for j in range(nz):
            weighed[i, j] = weights[i] * moves[i, j]
    H, f = moves.T @ weighed, weighed.T @ (free - style)
    if balance > 0.0:
        through = center_rows @ moves
        H += (balance * through.T) @ through
        f += balance * (through.T @ (center_rows @ free + center_bias - centers))
    for i in range(nz):
        H[i, i] += REGULARIZER
    # eq. 9c: torques within their limits, λ ≥ 0 and patches held still
    low, high = np.zeros(nz + k), np.full(nz + k, MOST)
    for i in range(nu):
        low[i], high[i] = -limits[i], limits[i]
    right = -held_bias - settle * held_speed - held_rows @ free
    for i in range(k):
        low[nz + i], high[nz + i] = right[i], right[i]
    return H, f, held_rows @ moves, low, high, moves, free


class Objective(NamedTuple):
    """Wanted accelerations: of the coordinates, for style, and of the links' centers of mass, for balance.

    Without balance `rows`, `bias` and `centers` are empty.
    """

    style: ndarray  # (nv,) a_s
    weights: ndarray  # (nv,) w_s
    rows: ndarray  # (9, nv) J_c
    bias: ndarray  # (9,) J̇_c q̇
    centers: ndarray  # (9,) a_b [m/s²]
    balance: float  # w_b


class QuadraticProgram(NamedTuple):
    """Minimize ½ zᵀ H z + fᵀ z over z = (τ, λ) with low ≤ (z, rows z) ≤ high, where low = high for rows z.

    Accelerations are q̈ = moves z + free.
    """

    H: ndarray
    f: ndarray
    rows: ndarray  # (k, nz)
    low: ndarray  # (nz + k,)
    high: ndarray
    moves: ndarray  # (nv, nz)
    free: ndarray  # (nv,)


class Solution(NamedTuple):
    """Torques (actuators,) [N·m], forces λ (edges,) [N], accelerations (nv,), and whether it solves the program."""

    torque: ndarray
    edges: ndarray
    acceleration: ndarray
    good: bool


def build_qp(body: BodyDynamics, wanted: Objective, contacts: ContactConstraints, settle: float) -> QuadraticProgram:
    """Build the program at the state that `body` is in.

    Args:
        body: equations of motion.
        wanted: accelerations to come close to.
        contacts: patches that bear.
        settle: rate at which a patch that moves is brought to rest [1/s].
    """
    return QuadraticProgram(
        *assemble_qp(body.M, body.h, body.parents, body.dofs, body.limits, *wanted, *contacts, settle)
    )


def penalize_internal_forces(problem: QuadraticProgram, against: ndarray, weight: float) -> None:
    """Add a cost of the forces by which the feet push against each other, in place.

    Two feet that are held can push against each other without moving anything. The costs of torques and forces alone
    let them push outwards along the legs, and feet creep apart on ground that is a little soft.

    Args:
        problem: of feet that all bear.
        against: (directions, edges) horizontal force of each edge [1], negative for those of the other foot.
        weight: of its square [N⁻²].
    """
    nu = len(problem.f) - against.shape[1]
    problem.H[nu:, nu:] += weight * against.T @ against


def solve_qp(problem: QuadraticProgram, actuators: int) -> Solution:
    """Solve the program; `good` of the solution is false if there is none."""
    sense = np.zeros(len(problem.low), dtype=np.int32)
    sense[len(problem.f) :] = _EQUALITY
    z, _, flag, _ = daqp.solve(problem.H, problem.f, problem.rows, problem.high, problem.low, sense)
    z = np.asarray(z)
    good = flag == 1 and math.isfinite(z.sum())
    return Solution(z[:actuators], z[actuators:], problem.moves @ z + problem.free, good)
