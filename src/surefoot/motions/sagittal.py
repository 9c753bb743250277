"""A clip seen from its side: heading, sway and twist taken out, as a body in a plane needs it.

Every part points where its bone's shadow on the sagittal plane does. That plane turns with the body, slowly: what a
pelvis twists from step to step is no change of heading. The way over the ground is counted along the heading, so that
a clip that turns goes straight on, and both hips are where the middle between them is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from surefoot.motions.retarget_frames import Frames, Leg

_SLOW = 0.6  # [s] over which a heading is averaged


def flattened(frames: Frames, time: np.ndarray) -> Frames:
    """The same motion in the plane y = 0, going along x or against it; `time` (n,) [s] is that of the frames."""
    left, right = frames.legs
    middle, across = 0.5 * (left.hip + right.hip), left.hip - right.hip
    width = _SLOW / float(np.median(np.diff(time)))
    heading = gaussian_filter1d(np.unwrap(np.arctan2(-across[:, 0], across[:, 1])), width, mode="nearest")
    ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)])
    steps = np.diff(middle, axis=0) * 0.5 * (ahead[1:] + ahead[:-1])
    way = np.concatenate([[0.0], np.cumsum(steps.sum(axis=1))])

    def limb(frame: np.ndarray) -> np.ndarray:
        return _pitched(np.arctan2((frame[..., 2] * ahead).sum(axis=1), frame[:, 2, 2]))

    def sole(frame: np.ndarray) -> np.ndarray:
        return _pitched(np.arctan2(-frame[:, 2, 0], (frame[..., 0] * ahead).sum(axis=1)))

    def leg(one: Leg) -> Leg:
        toes, hip = None if one.toes is None else sole(one.toes), np.column_stack([way, 0.0 * way, middle[:, 2]])
        ankle = np.column_stack([way + ((one.ankle - middle) * ahead).sum(axis=1), 0.0 * way, one.ankle[:, 2]])
        return replace(
            one, thigh=limb(one.thigh), shank=limb(one.shank), foot=sole(one.foot), toes=toes, hip=hip, ankle=ankle
        )

    arms = tuple(None if arm is None else (limb(arm[0]), limb(arm[1]), limb(arm[2])) for arm in frames.arms)
    return replace(
        frames, pelvis=limb(frames.pelvis), belly=limb(frames.belly), chest=limb(frames.chest),
        trunk=limb(frames.trunk), head=limb(frames.head), legs=(leg(left), leg(right)), arms=arms,
    )  # fmt: skip


def _pitched(angles: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations about y [rad]."""
    found = np.zeros((len(angles), 3, 3))
    found[:, 0, 0] = found[:, 2, 2] = np.cos(angles)
    found[:, 0, 2], found[:, 2, 0] = np.sin(angles), -np.sin(angles)
    found[:, 1, 1] = 1.0
    return found
