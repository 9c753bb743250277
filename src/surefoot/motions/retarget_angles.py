"""Hinge angles that turn a body's parts as wanted, within its limits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.characters.table import CharacterTable, Hinge, Segment
from surefoot.motions.retarget_pose import turned_by

_TOLD = np.radians(1.0)  # beyond a limit, from which on it is told
_OUTSIDE = 0.3  # what a radian beyond a limit costs in every frame, against a radian between two frames


def angles_of(
    table: CharacterTable, root: np.ndarray, wanted: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Angles (n,) [rad] of all hinges, and in words which limits were in the way.

    Args:
        table: hinges of a part go in the order flexion, roll, yaw.
        root: (n, 3, 3) orientation of the root.
        wanted: (n, 3, 3) orientations in the world of parts by name; parts that are not named keep their hinges at 0.
            Each is reached from where its parent really is, so that one part's limit is made up for by the next.
    """
    angles: dict[str, np.ndarray] = {}
    frames, notes = {}, []
    for part in table.segments:
        if part.parent == "world":
            frames[part.name] = root
            continue
        parent = frames[part.parent]
        if part.name in wanted:
            turn = np.swapaxes(parent, 1, 2) @ wanted[part.name]
            found = _angles(part, turn)
        else:
            found = {hinge.name: np.zeros(len(root)) for hinge in part.hinges}
        for hinge in part.hinges:
            angles[hinge.name] = np.clip(found[hinge.name], hinge.low, hinge.high)
            notes += _beyond(hinge, found[hinge.name] - angles[hinge.name])
        frames[part.name] = parent @ turned_by(part.hinges, angles, len(root))
    return angles, notes


def _beyond(hinge: Hinge, excess: np.ndarray) -> list[str]:
    """One line if an angle lies beyond its limits."""
    outside = np.abs(excess) > _TOLD
    if not outside.any():
        return []
    most, share = np.degrees(np.abs(excess).max()), 100.0 * outside.mean()
    return [
        f"{hinge.name} goes up to {most:.0f}° beyond its limits, in {max(share, 1.0):.0f} % of the frames: held there"
    ]


def _angles(part: Segment, turn: np.ndarray) -> dict[str, np.ndarray]:
    """Unlimited angles of a part's hinges for rotations (n, 3, 3) in its parent's frame."""
    if len(part.hinges) == 1:  # the nearest rotation about y
        one = np.arctan2(turn[:, 0, 2] - turn[:, 2, 0], turn[:, 0, 0] + turn[:, 2, 2])
        return {part.hinges[0].name: _near(one * part.hinges[0].axis[1], part.hinges[0])}
    first = np.arctan2(turn[:, 0, 2], turn[:, 2, 2])  # of Ry Rx Rz
    second = np.arctan2(-turn[:, 1, 2], np.hypot(turn[:, 1, 0], turn[:, 1, 1]))
    third = np.arctan2(turn[:, 1, 0], turn[:, 1, 1])
    ways = np.array([[first, second, third], [first + np.pi, np.pi - second, third + np.pi]])[:, : len(part.hinges)]
    signs = [hinge.axis[axis] for hinge, axis in zip(part.hinges, (1, 0, 2), strict=False)]
    ways = np.array([[_near(s * a, h) for s, a, h in zip(signs, way, part.hinges, strict=True)] for way in ways])
    chosen = _path(ways, part.hinges)[None]
    picked = np.where(chosen == 0, ways[0], ways[1])
    return {hinge.name: picked[i] for i, hinge in enumerate(part.hinges)}


def _near(angles: np.ndarray, hinge: Hinge) -> np.ndarray:
    """The same angles within half a turn of the middle of a hinge's range."""
    middle = 0.5 * (hinge.low + hinge.high)
    return np.asarray(angles - 2.0 * np.pi * np.round((angles - middle) / (2.0 * np.pi)))


def _path(ways: np.ndarray, hinges: tuple[Hinge, ...]) -> np.ndarray:
    """(n,) which of two ways (2, hinges, n) to write each rotation is taken, so that the angles go on calmly."""
    low, high = (np.array([getattr(h, end) for h in hinges])[None, :, None] for end in ("low", "high"))
    cost = _OUTSIDE * (np.maximum(low - ways, 0.0) + np.maximum(ways - high, 0.0)).sum(axis=1)  # (2, n)
    steps = np.abs(ways[None, :, :, 1:] - ways[:, None, :, :-1]).sum(axis=2)  # (to, from, n − 1)
    count = ways.shape[2]
    best, came = cost[:, 0], np.zeros((count, 2), int)
    for i in range(1, count):
        total = steps[:, :, i - 1] + best[None]
        came[i] = total.argmin(axis=1)
        best = total.min(axis=1) + cost[:, i]
    chosen = np.zeros(count, int)
    chosen[-1] = int(best.argmin())
    for i in range(count - 1, 0, -1):
        chosen[i - 1] = came[i, chosen[i]]
    return chosen
