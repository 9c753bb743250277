"""Unit quaternions, w first, in arrays of any shape (…, 4), and unit vectors (…, 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation `b` followed by the rotation `a`."""
    w, u = a[..., :1], a[..., 1:]
    s, v = b[..., :1], b[..., 1:]
    scalar = w * s - (u * v).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, w * v + s * u + np.cross(u, v)], axis=-1)


def inverse(q: np.ndarray) -> np.ndarray:
    """The inverse rotations."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) rotated."""
    twice = 2.0 * np.cross(q[..., 1:], vectors)
    return np.asarray(vectors + q[..., :1] * twice + np.cross(q[..., 1:], twice))


def log(q: np.ndarray) -> np.ndarray:
    """(…, 3) rotation vectors [rad] of at most half a turn."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    tiny = sine < 1e-12
    factor = np.where(tiny, 2.0, 2.0 * np.arctan2(sine, q[..., :1]) / np.where(tiny, 1.0, sine))
    return np.asarray(factor * q[..., 1:])


def exp(vectors: np.ndarray) -> np.ndarray:
    """The rotations of rotation vectors (…, 3) [rad]."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def slerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The rotations a share (…) of the shortest way from `a` to `b`."""
    return multiply(a, exp(np.asarray(share)[..., None] * log(multiply(inverse(a), b))))


def make_continuous(q: np.ndarray) -> np.ndarray:
    """Frames (n, …, 4) with signs chosen so that each frame is nearest to the one before."""
    flips = np.einsum("...i,...i->...", q[1:], q[:-1]) < 0.0
    found = q.copy()
    found[1:] *= np.where(np.logical_xor.accumulate(flips, axis=0), -1.0, 1.0)[..., None]
    return found


def about_axis(axis: int, angles: np.ndarray) -> np.ndarray:
    """(n, 4) rotations by angles (n,) [rad] about x (0), y (1) or z (2)."""
    return exp(np.asarray(angles)[:, None] * np.eye(3)[axis])


def about_vertical(angles: np.ndarray) -> np.ndarray:
    """(n, 4) rotations by angles (n,) [rad] about z."""
    zeros = np.zeros_like(angles)
    return np.stack([np.cos(0.5 * angles), zeros, zeros, np.sin(0.5 * angles)], axis=-1)


def yaw(q: np.ndarray) -> np.ndarray:
    """(n,) rotation about the vertical of frames (n, 4) [rad], without jumps of a whole turn."""
    return np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0]))


def rotate_about_own_axis(q: np.ndarray, axis: int, angles: np.ndarray) -> np.ndarray:
    """The rotations `q` (…, 4), each preceded by a rotation by angles (…) [rad] about x (0), y (1) or z (2)."""
    cosine, sine = np.cos(0.5 * angles)[..., None], np.sin(0.5 * angles)[..., None]
    one, two, three = (1 + (axis + k) % 3 for k in range(3))
    order, signs = np.empty(4, int), np.empty(4)
    order[[0, one, two, three]] = one, 0, three, two
    signs[[0, one, two, three]] = -1.0, 1.0, 1.0, -1.0
    return np.asarray(cosine * q + sine * signs * q[..., order])


def to_matrices(q: np.ndarray) -> np.ndarray:
    """(…, 3, 3) rotation matrices."""
    columns = [rotate(q, np.broadcast_to(axis, (*q.shape[:-1], 3))) for axis in np.eye(3)]
    return np.stack(columns, axis=-1)


def from_matrices(m: np.ndarray) -> np.ndarray:
    """(n, 4) continuous unit quaternions of rotation matrices (n, 3, 3)."""
    t = np.trace(m, axis1=1, axis2=2)
    squares = np.stack([t, *(2.0 * m[:, i, i] - t for i in range(3))], axis=1)  # 4 q² − 1
    skew = np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], axis=1)
    rows = np.zeros((len(m), 4, 4))  # row k is 4 q_k q
    rows[:, 0, 0], rows[:, 0, 1:], rows[:, 1:, 0] = 1.0 + squares[:, 0], skew, skew
    rows[:, 1:, 1:] = m + np.swapaxes(m, 1, 2)
    for i in range(3):
        rows[:, 1 + i, 1 + i] = 1.0 + squares[:, 1 + i]
    best = rows[np.arange(len(m)), squares.argmax(axis=1)]
    return make_continuous(best / np.linalg.norm(best, axis=1, keepdims=True))


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) scaled to length 1; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def shortest_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 4) the smallest rotations that turn the directions of vectors (n, 3) `a` into those of `b`.

    Opposite directions are turned about x, zero vectors not at all.
    """
    a, b = unit_vectors(a), unit_vectors(b)
    half = np.concatenate([1.0 + (a * b).sum(axis=-1, keepdims=True), np.cross(a, b)], axis=-1)
    size = np.linalg.norm(half, axis=-1, keepdims=True)
    return np.where(size > 1e-9, half / np.maximum(size, 1e-9), [0.0, 1.0, 0.0, 0.0])


def euler_angles(q: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """(n, 3) angles [rad] of frames (n, 4) about three different axes, each rotated by the turns before it.

    The angles are continuous from frame to frame.
    """
    first, middle, last = axes
    sign = 1.0 if (middle - first) % 3 == 1 else -1.0
    table = to_matrices(q)  # (n, 3, 3)
    one = np.stack(
        [
            np.arctan2(-sign * table[:, middle, last], table[:, last, last]),
            np.arctan2(sign * table[:, first, last], np.hypot(table[:, first, first], table[:, first, middle])),
            np.arctan2(-sign * table[:, first, middle], table[:, first, first]),
        ],
        axis=-1,
    )
    ways = np.stack([one, other_euler_solution(one)])
    steps = ways[:, 1:] - one[:-1]
    steps -= 2.0 * np.pi * np.round(steps / (2.0 * np.pi))
    crossed = np.diff((steps**2).sum(axis=-1), axis=0)[0] < 0.0
    other = np.concatenate([[False], np.cumsum(crossed) % 2 == 1])
    return np.asarray(np.unwrap(np.where(other[:, None], ways[1], ways[0]), axis=0))


def other_euler_solution(angles: np.ndarray) -> np.ndarray:
    """The second triple of angles (…, 3) [rad] that makes the same rotations as `euler_angles`."""
    return np.asarray(angles * np.array([1.0, -1.0, 1.0]) + np.pi)
