"""What a gait is like, measured from a recorded motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions.motion import Motion

_LOADED = 20.0  # [N] vertical force that counts as standing on a foot
_SHORTEST_SWING = 0.05  # [s] a foot unloaded for less has not left the ground
GRAVITY = 9.81
IN_PLACE = 0.3  # [m/s] a slower gait counts as in place


@dataclass(frozen=True)
class Gait:
    """Measures of a stretch of motion."""

    speed: float  # [m/s] of the root along x
    cadence: float  # [steps/s] foot strikes of both feet
    step_length: float  # [m] distance between the feet at a strike, along x
    sway: float  # [deg] half the peak-to-peak pitch of the torso
    flight: float  # share of the time with no foot loaded
    cost_of_transport: float  # |mechanical power| / (weight · speed)
    slip: float  # metres slid under load per metre travelled (per second of a gait in place)
    peak_torque: float  # [N·m]


def strikes(motion: Motion) -> list[tuple[int, int]]:
    """(frame, foot) of every foot strike, in order."""
    loaded = motion.contact_force[:, :, 2] > _LOADED
    found = []
    for foot in range(loaded.shape[1]):
        lifted = None
        for frame in range(len(motion)):
            if not loaded[frame, foot]:
                lifted = frame if lifted is None else lifted
            elif lifted is not None:
                if motion.time[frame] - motion.time[lifted] >= _SHORTEST_SWING:
                    found.append((frame, foot))
                lifted = None
    return sorted(found)


def foot_positions(motion: Motion) -> np.ndarray:
    """(n, 2, 3) ankles of the left and the right foot in the world [m], by forward kinematics."""
    skeleton, n = motion.skeleton, len(motion)
    positions, turns = [motion.root_position], [motion.rotations[:, 0]]
    for joint in range(1, len(skeleton.names)):
        parent = int(skeleton.parents[joint])
        offset = np.broadcast_to(skeleton.offsets[joint], (n, 3))
        positions.append(positions[parent] + rotate(turns[parent], offset))
        turns.append(multiply(turns[parent], motion.rotations[:, joint]))
    feet = [skeleton.names.index(f"{side}_foot") for side in ("left", "right")]
    return np.stack([positions[foot] for foot in feet], axis=1)


def measure(motion: Motion) -> Gait:
    """Measure a simulated motion; record it at 100 frames a second or more."""
    if motion.scene is None or len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("only a simulated motion of some length can be measured")
    duration = float(motion.time[-1] - motion.time[0])
    travelled = float(motion.root_position[-1, 0] - motion.root_position[0, 0])
    found, feet = strikes(motion), foot_positions(motion)
    gaps = [abs(feet[frame, foot, 0] - feet[frame, 1 - foot, 0]) for frame, foot in found]
    loaded = motion.contact_force[:, :, 2] > _LOADED
    model = motion.scene.model
    dofs = [model.joint(j).dofadr[0] for j in motion.scene.table.gains]
    power = np.abs(motion.torque * motion.qvel[:, dofs]).sum(axis=1)
    weight = float(model.body_mass.sum()) * GRAVITY
    slid = float((motion.slip[-1] - motion.slip[0]).sum())
    pitch = np.unwrap(torso_pitch(motion))
    return Gait(
        speed=travelled / duration,
        cadence=len(found) / duration,
        step_length=float(np.mean(gaps)) if gaps else 0.0,
        sway=float(np.degrees(np.ptp(pitch)) / 2),
        flight=float((~loaded.any(axis=1)).mean()),
        cost_of_transport=float(power.mean() * duration / (weight * max(abs(travelled), 1e-9))),
        slip=slid / (abs(travelled) if abs(travelled) >= IN_PLACE * duration else duration),
        peak_torque=float(np.abs(motion.torque).max()),
    )


def torso_pitch(motion: Motion) -> np.ndarray:
    """(n,) world pitch of the root body [rad], positive leaning back."""
    forward = rotate(motion.rotations[:, 0], np.broadcast_to([1.0, 0.0, 0.0], (len(motion), 3)))
    return np.asarray(np.arctan2(forward[:, 2], forward[:, 0]))


def rotate(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Turn (n, 3) vectors by (n, 4) quaternions, w first."""
    w, u = quaternions[:, :1], quaternions[:, 1:]
    t = 2.0 * np.cross(u, vectors)
    return np.asarray(vectors + w * t + np.cross(u, t))


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of (n, 4) quaternions, w first."""
    w = a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(axis=1)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.column_stack([w, v])
