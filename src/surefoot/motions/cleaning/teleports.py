"""A root that is suddenly elsewhere: strays that come back, and teleports, cut off or bridged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.cleaning.glitches import around, frames
from surefoot.motions.motion import Motion

_SUDDEN = 3.0  # [m/s] change of speed from one frame to the next that no body can do
_AROUND = 0.1  # [s] before and after whose medians are the usual velocities
_SPIKE = 0.1  # [s] after which a root that strayed has come back
_BACK = 0.3  # of how far it strayed: what is left of it then
_SHORT = 0.15  # of the clip: a piece before the first or after the last teleport that is cut off
_OTHER = np.radians(10.0)  # mean step of all joints: it goes on in another pose, so it is another piece of motion


def repair_root(motion: Motion) -> tuple[Motion, list[str], list[str]]:
    """Without teleports of the root, and in words what was done and what is unsure.

    A short piece at either end is cut off, and so is the shorter one of two pieces in different poses; otherwise
    the later piece is moved to where the earlier one would have gone on.
    """
    understood, unsure = list[str](), list[str]()
    motion, strayed = _despike(motion)
    if strayed:
        understood.append(f"the root jumps and comes back at {strayed}: interpolated")
    for _ in range(20):
        jumps = _jumps(motion)
        if not len(jumps):
            break
        first = int(jumps[0])
        last = first
        while last + 1 in jumps:
            last += 1
        far = float(np.linalg.norm(motion.root_position[last + 1] - motion.root_position[first]))
        at = f"the root teleports by {far:.2f} m at {motion.time[first]:.2f} s"
        before, after, whole = first + 1, len(motion) - last - 1, len(motion)
        rotations = motion.rotations
        turned = np.linalg.norm(quat.log(quat.multiply(quat.inverse(rotations[first]), rotations[last + 1])), axis=-1)
        if min(before, after) < _SHORT * whole or turned.mean() > _OTHER:
            keep = slice(last + 1, None) if before < after else slice(None, first + 1)
            cut = "before" if before < after else "after"
            understood.append(f"{at}: the {min(before, after)} frames {cut} it were cut off")
            motion = frames(motion, keep)
        else:
            motion = _bridged(motion, first, last)
            unsure.append(f"{at}: bridged, the later part was moved to where the earlier one would have gone on")
    return motion, understood, unsure


def _usual(motion: Motion, now: np.ndarray, i: int) -> list[np.ndarray]:
    """Median velocities [m/s] before and after a step."""
    near = max(round(_AROUND / float(np.median(np.diff(motion.time)))), 3)
    return [np.median(own, axis=0) for own in around(now, i, near)]


def _velocities(motion: Motion) -> np.ndarray:
    """(n − 1, 3) from frame to frame [m/s]."""
    return np.asarray(np.diff(motion.root_position, axis=0) / np.diff(motion.time)[:, None])


def _jumps(motion: Motion) -> np.ndarray:
    """Frames after which the root is elsewhere: the step is unlike those before it and unlike those after it."""
    now = _velocities(motion)
    fast = np.flatnonzero(np.linalg.norm(now, axis=1) > 0.5 * _SUDDEN)
    found = [i for i in fast.tolist() if min(np.linalg.norm(now[i] - v) for v in _usual(motion, now, i)) > _SUDDEN]
    return np.array(found, dtype=int)


def _despike(motion: Motion) -> tuple[Motion, str]:
    places, jumps, times = motion.root_position.copy(), _jumps(motion), list[str]()
    longest, done = max(round(_SPIKE / float(np.median(np.diff(motion.time)))), 2), -1
    rotations = motion.rotations.copy()
    for jump in jumps:
        for end in jumps[(jumps > jump) & (jumps <= jump + longest)]:
            if jump <= done:
                break
            share = np.arange(1, end - jump + 1)[:, None] / (end + 1 - jump)
            straight = (1.0 - share) * places[jump] + share * places[end + 1]
            strayed = np.linalg.norm(places[jump + 1 : end + 1] - straight, axis=1).max()
            usual = _usual(motion, _velocities(motion), jump)[0]
            gone = places[end + 1] - places[jump] - usual * (motion.time[end + 1] - motion.time[jump])
            if np.linalg.norm(gone) < _BACK * strayed:
                places[jump + 1 : end + 1] = straight
                turn = quat.slerp(rotations[None, jump, 0], rotations[None, end + 1, 0], share[:, 0])
                rotations[jump + 1 : end + 1, 0] = turn
                times.append(f"{motion.time[jump + 1]:.2f}")
                done = int(end)
    return replace(motion, root_position=places, rotations=rotations), ", ".join(times) + " s" if times else ""


def _bridged(motion: Motion, first: int, last: int) -> Motion:
    ahead = _usual(motion, _velocities(motion), first)[0] * (motion.time[last + 1] - motion.time[first])
    places = motion.root_position.copy()
    places[last + 1 :] += places[first] + ahead - places[last + 1]
    share = np.arange(1, last - first + 1)[:, None] / (last + 1 - first)
    places[first + 1 : last + 1] = places[first] + share * ahead
    return replace(motion, root_position=places)
