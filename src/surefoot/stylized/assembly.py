"""The compiled part of a character's equations of motion: Jacobians of patches and of the links' centres of mass.

All of it comes from the engine's recursive quantities: motion axes `cdof`, spatial velocities and accelerations about
`center`. This module imports no kernels of others, so that the compiler's cache sees every edit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile for calls from Python, and keep the machine code."""
    return njit(cache=True, error_model="numpy")(function)  # type: ignore[no-any-return]


@compiled
def cross(a: Any, b: Any, out: Any) -> None:
    """Write a × b, (3,)."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def jacobian(cdof: Any, moves: Any, center: Any, point: Any, count: int) -> Any:
    """(6, count) of a body's point: velocity, then spin, in world axes; `moves` (nv,) tells what moves the body."""
    out, arm, turned = np.zeros((6, count)), point - center, np.empty(3)
    for j in range(count):
        if moves[j] != 0.0:
            cross(cdof[j, :3], arm, turned)
            for k in range(3):
                out[k, j], out[3 + k, j] = cdof[j, 3 + k] + turned[k], cdof[j, k]
    return out


@compiled
def drift(cvel: Any, cacc: Any, center: Any, point: Any, gravity: Any, speed: Any, turned: Any) -> None:
    """Write a point's velocity [m/s] and its acceleration J̇ q̇ [m/s²], (3,) each."""
    arm, side = point - center, np.empty(3)
    cross(cvel[:3], arm, side)
    for k in range(3):
        speed[k] = cvel[3 + k] + side[k]
    cross(cacc[:3], arm, side)
    for k in range(3):
        turned[k] = cacc[3 + k] + side[k] + gravity[k]
    cross(cvel[:3], speed, side)
    for k in range(3):
        turned[k] += side[k]


@compiled
def wrenches(six: Any, axes: Any, corners: Any, middle: Any, edges: Any) -> Any:
    """(count, corners · edges) generalized forces of a cone's edges (e, 3), in body axes, at world corners (c, 3)."""
    c, e = len(corners), len(edges)
    wrench, side = np.empty((6, c * e)), np.empty(3)
    for i in range(c):
        arm = corners[i] - middle
        for j in range(e):
            way = axes @ edges[j]
            cross(arm, way, side)
            wrench[:3, i * e + j] = way
            wrench[3:, i * e + j] = side
    return six.T @ wrench


@compiled
def link_center(
    cdof: Any, cvel: Any, cacc: Any, xipos: Any, moves: Any, center: Any, gravity: Any, bodies: Any, masses: Any,
    count: int,
) -> Any:  # fmt: skip
    """Of some bodies' common centre of mass: place, velocity (3,), J (3, count) and J̇ q̇ (3,)."""
    place, velocity, bias = np.zeros(3), np.zeros(3), np.zeros(3)
    rows, speed, turned, side = np.zeros((3, count)), np.empty(3), np.empty(3), np.empty(3)
    borne, lever, total = np.zeros(count), np.zeros((count, 3)), masses.sum()
    for i in range(len(bodies)):
        body, share = bodies[i], masses[i] / total
        drift(cvel[body], cacc[body], center, xipos[body], gravity, speed, turned)
        for k in range(3):
            place[k] += share * xipos[body, k]
            velocity[k] += share * speed[k]
            bias[k] += share * turned[k]
        for j in range(count):
            if moves[body, j] != 0.0:
                borne[j] += share
                for k in range(3):
                    lever[j, k] += share * (xipos[body, k] - center[k])
    for j in range(count):
        if borne[j] != 0.0:
            cross(cdof[j, :3], lever[j], side)
            for k in range(3):
                rows[k, j] = borne[j] * cdof[j, 3 + k] + side[k]
    return place, velocity, rows, bias


@compiled
def three_link_angles(place: Any, velocity: Any, hip: Any, angles: Any, rates: Any) -> None:
    """Write pitch and roll (3, 2) of base, upper body and swing leg in their parents' frames, and their rates.

    Args:
        place: (3, 3) centres of mass of the links, seen from the ankle along the heading [m].
        velocity: (3, 3) of them [m/s].
        hip: (3,) where upper body and swing leg hang, in the base's frame [m].
        angles: (3, 2) out [rad].
        rates: (3, 2) out [rad/s].
    """
    frame, spin, joint, moved, side = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.empty(3)
    for i in range(3):
        sign = -1.0 if i == 2 else 1.0  # the swing leg's axis points down
        arm = place[i] - joint
        cross(spin, arm, side)
        seen, moves = frame.T @ (sign * arm), frame.T @ (sign * (velocity[i] - moved - side))
        size = np.sqrt(seen @ seen)
        along = seen @ moves / size**2
        x, y, z = seen[0] / size, seen[1] / size, seen[2] / size
        dx, dy, dz = moves[0] / size - x * along, moves[1] / size - y * along, moves[2] / size - z * along
        angles[i, 0], angles[i, 1] = np.arctan2(x, z), -np.arcsin(min(max(y, -1.0), 1.0))
        rates[i, 0], rates[i, 1] = (dx * z - x * dz) / (x * x + z * z), -dy / np.sqrt(1.0 - y * y)
        if i == 0:
            cp, sp, cr, sr = np.cos(angles[0, 0]), np.sin(angles[0, 0]), np.cos(angles[0, 1]), np.sin(angles[0, 1])
            frame[0, 0], frame[0, 1], frame[0, 2] = cp, sp * sr, sp * cr
            frame[1, 0], frame[1, 1], frame[1, 2] = 0.0, cr, -sr
            frame[2, 0], frame[2, 1], frame[2, 2] = -sp, cp * sr, cp * cr
            spin[0], spin[1], spin[2] = rates[0, 1] * cp, rates[0, 0], -rates[0, 1] * sp
            joint[:] = frame @ hip
            cross(spin, joint, moved)
