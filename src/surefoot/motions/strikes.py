"""When feet come down, from the loads of a simulated motion."""

from __future__ import annotations

from surefoot.motions.motion import Motion

LOADED = 20.0  # [N] vertical force that counts as standing on a foot
SHORTEST_SWING = 0.05  # [s] a foot unloaded for less has not left the ground


def strikes(motion: Motion) -> list[tuple[int, int]]:
    """(frame, foot) of every foot strike, in order."""
    loaded = motion.contact_force[:, :, 2] > LOADED
    found = []
    for foot in range(loaded.shape[1]):
        lifted = None
        for frame in range(len(motion)):
            if not loaded[frame, foot]:
                lifted = frame if lifted is None else lifted
            elif lifted is not None:
                if motion.time[frame] - motion.time[lifted] >= SHORTEST_SWING:
                    found.append((frame, foot))
                lifted = None
    return sorted(found)
