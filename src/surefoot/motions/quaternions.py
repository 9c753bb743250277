"""Unit quaternions, w first, in arrays of any shape (…, 4)."""

from __future__ import annotations

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


def slerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The rotations a share (…) of the short way from `a` to `b`."""
    return multiply(a, exp(np.asarray(share)[..., None] * log(multiply(inverse(a), b))))


def continuous(q: np.ndarray) -> np.ndarray:
    """Frames (n, …, 4) with each one's signs nearest to those of the frame before."""
    flips = (q[1:] * q[:-1]).sum(axis=-1) < 0.0
    signs = np.where(np.cumsum(flips, axis=0) % 2, -1.0, 1.0)
    return np.concatenate([q[:1], q[1:] * signs[..., None]])


def yaw(q: np.ndarray) -> np.ndarray:
    """(n,) turn about the vertical of (n, 4) frames [rad], counted on over whole turns."""
    return np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0]))


def about_vertical(angles: np.ndarray) -> np.ndarray:
    """(n, 4) rotations by angles (n,) [rad] about z."""
    zeros = np.zeros_like(angles)
    return np.stack([np.cos(0.5 * angles), zeros, zeros, np.sin(0.5 * angles)], axis=-1)
