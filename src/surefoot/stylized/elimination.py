"""The compiled part of the programme: accelerations eliminated from eq. 9 (da Silva 2008).

The mass matrix of a tree is factorized from its leaves, M = Lᵀ D L: L has entries only between a degree of freedom and
those it hangs on. This module imports no kernels of others, so that the compiler's cache sees every edit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.stylized.assembly import compiled

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
def solve(factor: Any, parents: Any, columns: Any) -> None:
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
    solve(factor, parents, moves)
    solve(factor, parents, free)
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
def build(
    M: Any, h: Any, parents: Any, dofs: Any, limits: Any, style: Any, weights: Any, center_rows: Any,
    center_bias: Any, centers: Any, balance: float, held_rows: Any, held_bias: Any, held_speed: Any, forces: Any,
    settle: float,
) -> Any:  # fmt: skip
    """The fields of a `Problem`, in one go."""
    moves, free = accelerations(M, h, parents, dofs, forces)
    H, f = objective(moves, free, style, weights, center_rows, center_bias, centers, balance)
    rows, low, high = constraints(moves, free, limits, held_rows, held_bias, held_speed, settle)
    return H, f, rows, low, high, moves, free
