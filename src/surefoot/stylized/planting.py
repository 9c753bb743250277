"""Feet that bear where they stand: contacts of retargeted motions, and feet held flush there (da Silva 2008, §5.4)."""

from __future__ import annotations

import numpy as np

from surefoot.motions.touches import spans
from surefoot.stylized.legs import Feet, Legs, tilt_of
from surefoot.stylized.patches import FLAT, footings

_NEAR, _SLOW = 0.02, (1.2, 0.7)  # [m], [m/s] of the sole's lowest end: it bears, when it comes and when it goes
_LEVEL = np.radians((8.0, 20.0))  # a bearing foot is level below the first tilt, and as it was above the second
_SHORT = 0.06  # [s] of gaps and of touches


class Soles:
    """Where the ends of the soles are, in the feet's frames (2, 3): rear, front [m]."""

    def __init__(self, legs: Legs) -> None:
        """Of one character."""
        patch = footings(legs.model, legs.table, 0)[FLAT][0]
        corners = patch.corners * [1.0, 0.0, 1.0]
        self.rear, self.front = corners[corners[:, 0].argmin()], corners[corners[:, 0].argmax()]
        self.height = -float(corners[:, 2].min())


def contacts(legs: Legs, feet: Feet, timestep: float, stands: np.ndarray) -> np.ndarray:
    """(n, 2) when feet bear: where a clip's feet are said to stand (n, 2), and before and after while an end does."""
    soles, found = Soles(legs), stands.copy()
    for side in (0, 1):
        for end, most, way in ((soles.rear, _SLOW[0], -1), (soles.front, _SLOW[1], 1)):
            place = feet.ankles[:, side] + feet.axes[:, side] @ end
            speed = np.linalg.norm(np.gradient(place[:, :2], timestep, axis=0), axis=1)
            bears = (place[:, 2] < _NEAR) & (speed < most)
            for first, last in spans(stands[:, side]):
                i = first - 1 if way < 0 else last
                while 0 <= i < len(bears) and bears[i]:
                    found[i, side] = True
                    i += way
        for value in (True, False):
            for first, last in spans(found[:, side] != value):
                if (last - first) * timestep < _SHORT and first > 0 and last < len(found):
                    found[first:last, side] = value
    return found


def planted(legs: Legs, feet: Feet, bears: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2, 3) and axes (n, 2, 3, 3) of feet that stay where they bear; swings lead from one to the next."""
    soles, n = Soles(legs), len(bears)
    ankles, axes = feet.ankles.copy(), feet.axes.copy()
    for side in (0, 1):
        moves, turned, known = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), bears[:, side].copy()
        for first, last in spans(bears[:, side]):
            tilts = np.array([tilt_of(a) for a in feet.axes[first:last, side]])
            level = np.abs(tilts) < _LEVEL[0] if (np.abs(tilts) < _LEVEL[0]).any() else np.ones(len(tilts), bool)
            ahead = np.median(feet.axes[first:last, side][level][:, :, 0], axis=0)
            yaw = np.arctan2(ahead[1], ahead[0])
            place = np.median(feet.ankles[first:last, side][level], axis=0)
            place[2] = soles.height
            flat = _axes(yaw, 0.0)
            for i, tilt in zip(range(first, last), tilts, strict=True):
                share = np.clip((abs(tilt) - _LEVEL[0]) / (_LEVEL[1] - _LEVEL[0]), 0.0, 1.0)
                there, pivot = _axes(yaw, share * tilt), soles.front if tilt < 0.0 else soles.rear
                moves[i] = place + flat @ pivot - there @ pivot - feet.ankles[i, side]
                turned[i] = there @ feet.axes[i, side].T
        _led(moves, turned, known)
        ankles[:, side] += moves
        axes[:, side] = turned @ feet.axes[:, side]
        ends = [ankles[:, side] + axes[:, side] @ end for end in (soles.rear, soles.front)]
        ankles[:, side, 2] += np.maximum(0.0, -np.minimum(ends[0][:, 2], ends[1][:, 2]))
    return ankles, axes


def _axes(yaw: float, tilt: float) -> np.ndarray:
    """(3, 3) of a foot that points along a yaw and up by a tilt, without roll."""
    cy, sy, ct, st = np.cos(yaw), np.sin(yaw), np.cos(tilt), np.sin(tilt)
    return np.array([[cy * ct, -sy, -cy * st], [sy * ct, cy, -sy * st], [st, 0.0, ct]])


def _led(moves: np.ndarray, turned: np.ndarray, known: np.ndarray) -> None:
    """Between frames that are known let corrections go over from one to the other; only the shares of turns."""
    at = np.flatnonzero(known)
    if not len(at):
        return
    for i in np.flatnonzero(~known):
        after = int(np.searchsorted(at, i))
        a, b = at[max(after - 1, 0)], at[min(after, len(at) - 1)]
        s = (i - a) / (b - a) if b > a else 0.0
        s = s * s * (3.0 - 2.0 * s)
        moves[i] = (1.0 - s) * moves[a] + s * moves[b]
        u, _, v = np.linalg.svd((1.0 - s) * turned[a] + s * turned[b])
        turned[i] = u @ v
