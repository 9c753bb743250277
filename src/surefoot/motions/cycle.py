"""Where a motion's cleanest whole cycle begins and ends: by its foot strikes, its phase, or its likeness to itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.ends import leaf_ends
from surefoot.motions.motion import Motion
from surefoot.motions.strikes import strikes

_SHORTEST, _LONGEST = 0.2, 5.0  # [s] of a cycle
_SLACK = 0.025  # [s] by which a cycle's end is moved to where the pose fits best
_AHEAD = 0.05  # [s] over which a difference of joint speeds counts as a difference of pose
_SEAM = 0.3  # largest mismatch at the seam, as a share of how far the pose strays from its mean within the cycle
_STILL = 0.02  # [rad] a pose that strays less is not a gait
_SEARCH_FPS = (120.0, 30.0)  # of the search for likeness: steps of its period and of its beginning
_LIVELY = 0.3  # of the most that any stretch of its length strays: what a cycle strays at least
_SHORTER = 0.05  # more mismatch than the least is allowed to a shorter cycle


def find(motion: Motion) -> tuple[int, int]:
    """First and last frame of the whole cycle whose ends fit best."""
    if len(motion) >= 3:
        poses = pose_vectors(motion)
        for candidates in (_between_strikes(motion), _between_wraps(motion), _alike(motion, poses)):
            found = _cleanest(motion.time, poses, list(candidates))
            if found is not None:
                return found
    raise OutputError(
        f"cannot cut a loop: this motion has no cycle of {_SHORTEST:g} … {_LONGEST:g} s that ends nearly as it began"
    )


def pose_vectors(motion: Motion) -> np.ndarray:
    """(n, 3 · joints) joint rotations from their mean as rotation vectors [rad], the root's without its yaw.

    Each is weighted by how much of the body it moves, so that fingers and toes hardly count.
    """
    turns = quat.continuous(motion.rotations)
    turns[:, 0] = quat.multiply(quat.about_vertical(-quat.yaw(turns[:, 0])), turns[:, 0])
    turns = quat.continuous(turns)
    mean = turns.mean(axis=0)
    size = np.linalg.norm(mean, axis=-1, keepdims=True)
    mean = np.where(size > 1e-6, mean / np.maximum(size, 1e-6), turns[0])
    vectors = quat.log(quat.multiply(quat.inverse(mean), turns))
    return np.asarray(_levers(motion)[:, None] * vectors).reshape(len(motion), -1)


def _levers(motion: Motion) -> np.ndarray:
    """(joints,) length of the longest chain of bones that hangs from each joint, as a share of the longest of all."""
    parents, lengths = motion.skeleton.parents, np.linalg.norm(motion.skeleton.offsets, axis=1)
    levers = np.linalg.norm(leaf_ends(motion), axis=1)
    for _ in parents:  # at most as many passes as the chain is long
        longer = levers.copy()
        np.maximum.at(longer, parents[parents >= 0], (levers + lengths)[parents >= 0])
        if np.array_equal(longer, levers):
            break
        levers = longer
    return np.asarray(levers / max(float(levers.max()), 1e-9))


def _between_strikes(motion: Motion) -> Iterator[tuple[int, int]]:
    """From each foot's strike to its next one."""
    if not motion.contact_force.size:
        return
    found = strikes(motion)
    for foot in range(motion.contact_force.shape[1]):
        yield from pairwise(frame for frame, which in found if which == foot)


def _between_wraps(motion: Motion) -> Iterator[tuple[int, int]]:
    """From each beginning of the controller's cycle to the next."""
    wraps = [int(i) + 1 for i in np.flatnonzero(np.diff(motion.phase) < -0.5)]
    yield from pairwise(wraps)


def _alike(motion: Motion, poses: np.ndarray) -> Iterator[tuple[int, int]]:
    """Around the shortest of the stretches that end most nearly as they began."""
    pace = float(np.median(np.diff(motion.time)))
    finer, coarser = (max(round(1.0 / (fps * pace)), 1) for fps in _SEARCH_FPS)
    speeds = _AHEAD * np.gradient(poses, motion.time, axis=0)
    found = []
    for lag in range(max(int(_SHORTEST / pace), 2), min(int(_LONGEST / pace), len(poses) - 1) + 1, finer):
        starts = np.arange(0, len(poses) - lag, coarser)
        ends, strayed = starts + lag, _strayed(poses, lag)[starts]
        seams = np.sqrt(((poses[ends] - poses[starts]) ** 2 + (speeds[ends] - speeds[starts]) ** 2).sum(axis=1))
        seams = np.where(strayed >= _LIVELY * strayed.max(), seams / np.maximum(strayed, _STILL), np.inf)
        found.append((float(seams.min()), int(starts[seams.argmin()]), lag))
    good = _SHORTER + min((seam for seam, _, _ in found), default=0.0)
    for i, (seam, first, lag) in enumerate(found):
        if seam <= good and seam <= min(item[0] for item in found[i : i + 1 + int(_SLACK / (pace * finer))]):
            around = range(max(first - coarser, 0), min(first + coarser, len(poses) - 1 - lag) + 1)
            yield from ((start, start + lag) for start in around)
            return


def _strayed(poses: np.ndarray, lag: int) -> np.ndarray:
    """(n − lag,) how far the pose strays from its mean in each stretch of so many frames."""
    sums = np.cumsum(np.concatenate([np.zeros((1, poses.shape[1])), poses]), axis=0)
    squares = np.concatenate([[0.0], np.cumsum((poses**2).sum(axis=1))])
    means = (sums[lag:-1] - sums[: -lag - 1]) / lag
    spread = (squares[lag:-1] - squares[: -lag - 1]) / lag - (means**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(spread, 0.0)))


def _cleanest(time: np.ndarray, poses: np.ndarray, candidates: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The candidate with the least mismatch at its seam, its end moved to where it fits best."""
    speeds = _AHEAD * np.gradient(poses, time, axis=0)
    slack = int(_SLACK / float(np.median(np.diff(time))))
    best, found = _SEAM, None
    for first, last in candidates:
        ends = np.arange(max(last - slack, first + 2), min(last + slack, len(time) - 1) + 1)
        if not len(ends):
            continue
        seams = np.sqrt(
            ((poses[ends] - poses[first]) ** 2).sum(axis=1) + ((speeds[ends] - speeds[first]) ** 2).sum(axis=1)
        )
        end = int(ends[np.argmin(seams)])
        strayed = float(np.sqrt(poses[first:end].var(axis=0).sum()))
        if _SHORTEST <= time[end] - time[first] <= _LONGEST and strayed > _STILL and seams.min() < best * strayed:
            best, found = float(seams.min()) / strayed, (first, end)
    return found
