"""What a style of walking looks like over its cycle, and how much two of them differ."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from surefoot.errors import SurefootError
from surefoot.lab.measures import torso_pitch
from surefoot.motions.motion import Motion
from surefoot.motions.strikes import strikes

PHASES = 100  # points of the common phase grid
ANGLES = tuple(f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle"))


def mean_cycle(motion: Motion) -> np.ndarray | None:
    """(PHASES, 7) flexions [rad] of hip, knee and ankle, left then right, and pitch of the torso, over the mean cycle.

    A cycle lasts from a right foot strike to the next one. Every whole cycle of the motion is read at the
    same evenly spaced phases, the first at the strike, and these are averaged. None if there is no whole cycle.
    """
    if motion.scene is None:
        raise SurefootError("only a simulated motion has a style to compare")
    model = motion.scene.model
    columns = [int(model.joint(name).qposadr[0]) for name in ANGLES]
    angles = np.column_stack([motion.qpos[:, columns], np.unwrap(torso_pitch(motion))])
    right = [frame for frame, foot in strikes(motion) if foot == 1]
    cycles = [
        [np.interp(np.linspace(first, last, PHASES, endpoint=False), range(len(motion)), a) for a in angles.T]
        for first, last in pairwise(right)
    ]
    return np.mean(cycles, axis=0).T if cycles else None


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Root of the mean square, over all phases and all seven angles, of two mean cycles' difference [deg]."""
    return float(np.degrees(np.sqrt(((one - other) ** 2).mean())))
