"""What planted feet do together is the root's fault: it is moved so that the legs need not bend for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from surefoot.motions.cleaning.contacts import Contacts, FootContacts
from surefoot.motions.cleaning.smoothing import spread
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Limb, Parts
from surefoot.motions.places import world

_ROLL = 0.08  # [s] at both ends of a contact in which a foot counts less and less: it still rolls
_SMOOTH = 0.04  # [s] over which the root's way is smoothed


def carry(motion: Motion, parts: Parts, contacts: Contacts, height: float) -> tuple[Motion, float]:
    """With a root that goes where the planted feet do not slide, and at heights where they are on the ground.

    Poses are kept; what the two feet do differently while both are planted remains.

    Args:
        motion: with its ground about at height 0.
        parts: of its body.
        contacts: of its feet.
        height: of planted toes (of ankles, where there are none) above the ground [m].

    Returns:
        The motion, and how far the root has been moved horizontally in the end [m].
    """
    places, _ = world(motion)
    weights = _both(contacts, motion.time)
    total = weights.sum(axis=0)
    steps, high = np.zeros((len(motion), 2)), np.zeros((len(motion), 1))
    for limb, weight in zip((parts.left, parts.right), weights, strict=True):
        there = places[:, joint(limb)]
        share = 0.5 * (weight[1:] + weight[:-1]) / np.maximum(0.5 * (total[1:] + total[:-1]), 1.0)
        steps[1:] -= share[:, None] * np.diff(there[:, :2], axis=0)
        high[:, 0] += weight / np.maximum(total, 1e-9) * (height - there[:, 2])
    lift = spread(high, total > 0.5, motion.time)
    moved = _smooth(np.column_stack([np.cumsum(steps, axis=0), lift]), motion.time)
    carried = replace(motion, root_position=motion.root_position + moved)
    return carried, float(np.linalg.norm(moved[-1, :2] - moved[0, :2]))


def follow(motion: Motion, parts: Parts, contacts: Contacts, ankles: list[np.ndarray]) -> Motion:
    """With a root that goes along with what the planted feet have in common.

    Args:
        motion: whose legs have not been moved yet.
        parts: of its body.
        contacts: of its feet.
        ankles: (n, 3) where the left and the right ankle shall be [m].
    """
    places, _ = world(motion)
    weights = _both(contacts, motion.time)
    total = weights.sum(axis=0)
    common = np.zeros((len(motion), 3))
    for limb, weight, goal in zip((parts.left, parts.right), weights, ankles, strict=True):
        common += (weight / np.maximum(total, 1e-9))[:, None] * (goal - places[:, limb.ankle])
    moved = _smooth(spread(common, total > 0.5, motion.time), motion.time)
    return replace(motion, root_position=motion.root_position + moved)


def _smooth(moved: np.ndarray, time: np.ndarray) -> np.ndarray:
    width = max(_SMOOTH / float(np.median(np.diff(time))), 0.5)
    return np.asarray(ndimage.gaussian_filter1d(moved, width, axis=0, mode="nearest"))


def _both(contacts: Contacts, time: np.ndarray) -> np.ndarray:
    """(2, n) weights of the left and the right foot."""
    return np.stack([_weights(contacts.left, time), _weights(contacts.right, time)])


def joint(limb: Limb) -> int:
    """The one that is planted: the toe's, or the ankle where there is none."""
    return limb.ankle if limb.toe is None else limb.toe


def _weights(foot: FootContacts, time: np.ndarray) -> np.ndarray:
    """(n,) how much a foot counts: 1 in its contacts, less towards their ends, but not towards those of the clip."""
    weights = np.zeros(len(time))
    for first, stop in foot.toe:
        since = (time[first:stop] - time[first]) / _ROLL if first > 0 else np.ones(stop - first)
        left = (time[stop - 1] - time[first:stop]) / _ROLL if stop < len(time) else np.ones(stop - first)
        weights[first:stop] = np.clip(np.minimum(since, left), 0.0, 1.0)
    return weights
