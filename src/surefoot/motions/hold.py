"""Which bones hold the vertices of a skin: each by one, and near a joint by the two that meet there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_NEAR, _FAR = 1.5, 2.5  # [reaches] from a joint up to where its blend is whole, and from where on there is none


@dataclass(frozen=True)
class Hold:
    """Of every vertex two joints (n, 2) and how much it follows each, weights (n, 2): 1 in all, the larger first."""

    joints: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Hinge:
    """Where a bone meets its parent: place (3,) [m], the way (3,) from the parent's side to the bone's, and reach [m].

    The blend goes from one bone to the other over one reach before the place to one reach behind it.
    """

    joint: int
    parent: int
    place: np.ndarray
    way: np.ndarray
    reach: float

    def share(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) what the farther bone has of points (n, 3) near the joint: 0 on the parent's side, 1 on its own."""
        along = (vertices - self.place) @ self.way
        return np.asarray(_smooth(0.5 + 0.5 * along / self.reach))

    def nearness(self, vertices: np.ndarray) -> np.ndarray:
        """(n,) 1 for points (n, 3) near the joint, 0 for those far from it."""
        far = np.linalg.norm(vertices - self.place, axis=1) / self.reach
        return np.asarray(1.0 - _smooth((far - _NEAR) / (_FAR - _NEAR)))


def hold(vertices: np.ndarray, joint: int, hinges: list[Hinge]) -> Hold:
    """Who holds points (n, 3) of a bone's own shape, given all hinges at rest.

    Where two hinges are equally near, as between the legs, none of them takes part.
    """
    best, second = np.zeros(len(vertices)), np.zeros(len(vertices))
    other = np.full(len(vertices), joint)
    for hinge in hinges:
        if joint not in (hinge.joint, hinge.parent):
            continue
        share, neighbour = hinge.share(vertices), hinge.joint
        if joint == hinge.joint:
            share, neighbour = 1.0 - share, hinge.parent
        share = share * hinge.nearness(vertices)
        better = share > best
        second = np.where(better, best, np.maximum(second, share))
        best, other = np.where(better, share, best), np.where(better, neighbour, other)
    shares = np.round(best - second, 6)
    joints = np.column_stack([np.full(len(vertices), joint), np.where(shares > 0.0, other, joint)])
    weights = np.column_stack([1.0 - shares, shares])
    order = np.argsort(-weights, axis=1, kind="stable")
    return Hold(np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1))


def _smooth(values: np.ndarray) -> np.ndarray:
    """From 0 at 0 to 1 at 1 without a corner."""
    values = np.clip(values, 0.0, 1.0)
    return np.asarray(values * values * (3.0 - 2.0 * values))
