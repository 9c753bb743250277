"""The compiled part of a character's equations of motion: Jacobians of patches and of the links' centres of mass.

All of it comes from the engine's recursive quantities: motion axes `cdof`, spatial velocities and accelerations about
`center`. This module imports no kernels of others, so that the compiler's cache sees every edit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

from surefoot.stylized.patches import EDGE, FACE, HINGE

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
def kept(rows: int, planar: bool, axes: Any, keep: Any) -> int:
    """Write into (6, 6) which motions of a patch are held, and say how many: all, all but rolling about its y, that."""
    keep[:] = 0.0
    if planar:
        ways = (0, 2, 4)
        first, last = (0, 3) if rows == FACE else (0, 2) if rows == EDGE else (2, 3)
        for i in range(first, last):
            keep[i - first, ways[i]] = 1.0
        return last - first
    if rows == HINGE:
        keep[0, 3:] = axes[:, 1]
        return 1
    for i in range(3):
        keep[i, i] = 1.0
    if rows == EDGE:
        keep[3, 3:], keep[4, 3:] = axes[:, 0], axes[:, 2]
        return 5
    for i in range(3, 6):
        keep[i, i] = 1.0
    return 6


@compiled
def held(
    xpos: Any, xmat: Any, cdof: Any, cvel: Any, cacc: Any, moves: Any, center: Any, gravity: Any, bodies: Any,
    kinds: Any, ends: Any, corners: Any, edges: Any, planar: bool, count: int,
) -> Any:  # fmt: skip
    """Of patches: rows (k, count) that hold them, J̇ q̇ (k,), J q̇ (k,) and Jᵀ V (count, corners · edges) of eq. 9.

    Args:
        xpos: the engine's.
        xmat: the engine's, (nbody, 3, 3).
        cdof: the engine's.
        cvel: the engine's.
        cacc: the engine's, with q̈ = 0.
        moves: (nbody, nv) what moves which body.
        center: (3,) that spatial quantities are about [m].
        gravity: (3,) [m/s²].
        bodies: (patches,) of the patches.
        kinds: (patches,) what holds them.
        ends: (patches,) how many of the corners belong to this patch or one before it.
        corners: (c, 3) in the bodies' frames [m].
        edges: (e, 3) of the friction cone, in the bodies' frames.
        planar: whether the character moves in a plane.
        count: degrees of freedom.
    """
    e = len(edges)
    rows, bias, speed = np.empty((6 * len(bodies), count)), np.empty(6 * len(bodies)), np.empty(6 * len(bodies))
    forces, wrench = np.empty((count, len(corners) * e)), np.empty(6)
    keep, rates, drifts = np.empty((6, 6)), np.empty(6), np.empty(6)
    k, first = 0, 0
    for p in range(len(bodies)):
        body, last = bodies[p], ends[p]
        axes = xmat[body]
        places = np.empty((last - first, 3))
        middle = np.zeros(3)
        for i in range(last - first):
            places[i] = xpos[body] + axes @ corners[first + i]
            middle += places[i] / (last - first)
        six = jacobian(cdof, moves[body], center, middle, count)
        drift(cvel[body], cacc[body], center, middle, gravity, rates[:3], drifts[:3])
        rates[3:], drifts[3:] = cvel[body, :3], cacc[body, :3]
        more = kept(kinds[p], planar, axes, keep)
        rows[k : k + more] = keep[:more] @ six
        bias[k : k + more], speed[k : k + more] = keep[:more] @ drifts, keep[:more] @ rates
        for i in range(last - first):
            for j in range(e):
                wrench[:3] = axes @ edges[j]
                cross(places[i] - middle, wrench[:3], wrench[3:])
                forces[:, (first + i) * e + j] = wrench @ six
        k, first = k + more, last
    return rows[:k], bias[:k], speed[:k], forces


@compiled
def centers(
    cdof: Any, cvel: Any, cacc: Any, xipos: Any, moves: Any, center: Any, gravity: Any, bodies: Any, masses: Any,
    count: int,
) -> Any:  # fmt: skip
    """Of the links' centres of mass: places, velocities (links, 3), J_c (3 · links, count) and J̇_c q̇ (3 · links,).

    `bodies` and `masses` hold an array a link; the rest is as in `held`.
    """
    links = len(bodies)
    place, velocity, bias = np.zeros((links, 3)), np.zeros((links, 3)), np.zeros(3 * links)
    rows, speed, turned, side = np.zeros((3 * links, count)), np.empty(3), np.empty(3), np.empty(3)
    borne, lever = np.empty(count), np.empty((count, 3))
    for link in range(links):
        borne[:], lever[:], total = 0.0, 0.0, masses[link].sum()
        for i in range(len(bodies[link])):
            body, share = bodies[link][i], masses[link][i] / total
            drift(cvel[body], cacc[body], center, xipos[body], gravity, speed, turned)
            for k in range(3):
                place[link, k] += share * xipos[body, k]
                velocity[link, k] += share * speed[k]
                bias[3 * link + k] += share * turned[k]
            for j in range(count):
                if moves[body, j] != 0.0:
                    borne[j] += share
                    for k in range(3):
                        lever[j, k] += share * (xipos[body, k] - center[k])
        for j in range(count):
            if borne[j] != 0.0:
                cross(cdof[j, :3], lever[j], side)
                for k in range(3):
                    rows[3 * link + k, j] = borne[j] * cdof[j, 3 + k] + side[k]
    return place, velocity, rows, bias


@compiled
def accelerations(cvel: Any, cacc: Any, xipos: Any, center: Any, gravity: Any) -> Any:
    """(bodies, 3) of all bodies' centres of mass but the world's [m/s²]."""
    found, speed = np.empty((len(xipos) - 1, 3)), np.empty(3)
    for i in range(len(found)):
        drift(cvel[1 + i], cacc[1 + i], center, xipos[1 + i], gravity, speed, found[i])
    return found


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
