"""Unit quaternions, w first, in arrays of any shape (…, 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation `a` after the rotation `b`."""
    w, u = a[..., :1], a[..., 1:]
    s, v = b[..., :1], b[..., 1:]
    scalar = w * s - (u * v).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, w * v + s * u + np.cross(u, v)], axis=-1)


def inverse(q: np.ndarray) -> np.ndarray:
    """The rotation back."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) turned."""
    twice = 2.0 * np.cross(q[..., 1:], vectors)
    return np.asarray(vectors + q[..., :1] * twice + np.cross(q[..., 1:], twice))


def log(q: np.ndarray) -> np.ndarray:
    """(…, 3) rotation vectors [rad], the short way round."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    tiny = sine < 1e-12
    factor = np.where(tiny, 2.0, 2.0 * np.arctan2(sine, q[..., :1]) / np.where(tiny, 1.0, sine))
    return np.asarray(factor * q[..., 1:])


def exp(vectors: np.ndarray) -> np.ndarray:
    """Rotations by vectors (…, 3) [rad]."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def rotate_about_own_axis(q: np.ndarray, axis: int, angles: np.ndarray) -> np.ndarray:
    """The rotations `q` (…, 4) after those by angles (…) [rad] about one of their own axes: 0, 1 or 2."""
    cosine, sine = np.cos(0.5 * angles)[..., None], np.sin(0.5 * angles)[..., None]
    one, two, three = (1 + (axis + k) % 3 for k in range(3))
    order, signs = np.empty(4, int), np.empty(4)
    order[[0, one, two, three]] = one, 0, three, two
    signs[[0, one, two, three]] = -1.0, 1.0, 1.0, -1.0
    return np.asarray(cosine * q + sine * signs * q[..., order])


def euler_angles(q: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """(n, 3) angles [rad] of frames (n, 4) as turns about three different axes, each carried along by those before.

    They go on smoothly from frame to frame. The other way to write the same rotations, where the middle angle lies
    beyond a right angle, is half a turn more, half a turn less the middle angle, and half a turn more.
    """
    first, middle, last = axes
    sign = 1.0 if (middle - first) % 3 == 1 else -1.0
    table = np.stack([rotate(q, axis) for axis in np.eye(3)], axis=-1)  # (n, 3, 3)
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


def other_euler_solution(found: np.ndarray) -> np.ndarray:
    """The other three angles (…, 3) that make the rotations of three `angles`."""
    return np.asarray(found * np.array([1.0, -1.0, 1.0]) + np.pi)


def slerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The rotations a share (…) of the short way from `a` to `b`."""
    return multiply(a, exp(np.asarray(share)[..., None] * log(multiply(inverse(a), b))))


def make_continuous(q: np.ndarray) -> np.ndarray:
    """Frames (n, …, 4) with each one's signs nearest to those of the frame before."""
    flips = np.einsum("...i,...i->...", q[1:], q[:-1]) < 0.0
    found = q.copy()
    found[1:] *= np.where(np.logical_xor.accumulate(flips, axis=0), -1.0, 1.0)[..., None]
    return found


def yaw(q: np.ndarray) -> np.ndarray:
    """(n,) turn about the vertical of (n, 4) frames [rad], counted on over whole turns."""
    return np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0]))


def about_vertical(angles: np.ndarray) -> np.ndarray:
    """(n, 4) rotations by angles (n,) [rad] about z."""
    zeros = np.zeros_like(angles)
    return np.stack([np.cos(0.5 * angles), zeros, zeros, np.sin(0.5 * angles)], axis=-1)
