"""What a gait is like, measured from a recorded motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion
from surefoot.motions.strikes import LOADED, strikes

_STRIDE = 2.0  # [s] over which yaw is averaged: the swing of the hips is not a change of heading
GRAVITY = 9.81
IN_PLACE = 0.3  # [m/s] a slower gait counts as in place


@dataclass(frozen=True)
class Gait:
    """Measures of a stretch of motion."""

    speed: float  # [m/s] of the root along its mean heading
    sideways: float  # [m/s] of the root across it, to the left
    cadence: float  # [steps/s] foot strikes of both feet
    step_length: float  # [m] distance between the feet at a strike, along the heading
    step_width: float  # [m] how far the left foot is left of the right one at strikes, on average; < 0 is crossed
    narrowest: float  # [m] the same at the narrowest strike
    sway: float  # [deg] half the peak-to-peak pitch of the torso
    roll: float  # [deg] largest roll of the torso to either side
    drift: float  # [deg] largest turn of the root, averaged over strides, from its heading at the beginning
    flight: float  # share of the time with no foot loaded
    cost_of_transport: float  # |mechanical power| / (weight · speed)
    slip: float  # metres slid under load per metre travelled (per second of a gait in place)
    peak_torque: float  # [N·m]


def poses(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(n, joints, 3) origins [m] and (n, joints, 4) orientations of all parts in the world, by forward kinematics."""
    skeleton = motion.skeleton
    positions, turns = [motion.root_position], [motion.rotations[:, 0]]
    for joint in range(1, len(skeleton.names)):
        parent = int(skeleton.parents[joint])
        positions.append(positions[parent] + quat.rotate(turns[parent], skeleton.offsets[joint]))
        turns.append(quat.multiply(turns[parent], motion.rotations[:, joint]))
    return np.stack(positions, axis=1), np.stack(turns, axis=1)


def foot_positions(motion: Motion) -> np.ndarray:
    """(n, 2, 3) ankles of the left and the right foot in the world [m]."""
    names = ("left_foot", "right_foot")
    if motion.scene:
        names = (motion.scene.table.anatomy.left.foot, motion.scene.table.anatomy.right.foot)
    return poses(motion)[0][:, [motion.skeleton.names.index(name) for name in names]]


def measure(motion: Motion) -> Gait:
    """Measure a simulated motion; record it at 100 frames a second or more."""
    if motion.scene is None or len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("only a simulated motion of some length can be measured")
    duration = float(motion.time[-1] - motion.time[0])
    found, feet = strikes(motion), foot_positions(motion)
    yaw = np.unwrap(facing(motion))
    heading = float(yaw.mean())
    ahead, left = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    way = motion.root_position[-1, :2] - motion.root_position[0, :2]
    travelled = float(way @ ahead)
    apart = np.array([feet[frame, 0, :2] - feet[frame, 1, :2] for frame, _ in found]).reshape(-1, 2)
    facings = np.array([yaw[frame] for frame, _ in found])
    widths = apart[:, 1] * np.cos(facings) - apart[:, 0] * np.sin(facings)
    loaded = motion.contact_force[:, :, 2] > LOADED
    model = motion.scene.model
    dofs = [model.joint(j).dofadr[0] for j in motion.scene.table.gains]
    power = np.abs(motion.torque * motion.qvel[:, dofs]).sum(axis=1)
    weight = float(model.body_mass.sum()) * GRAVITY
    slid = float((motion.slip[-1] - motion.slip[0]).sum())
    distance = float(np.hypot(*way))
    pitch = np.unwrap(torso_pitch(motion))
    return Gait(
        speed=travelled / duration,
        sideways=float(way @ left) / duration,
        cadence=len(found) / duration,
        step_length=float(np.abs(apart @ ahead).mean()) if found else 0.0,
        step_width=float(widths.mean()) if found else 0.0,
        narrowest=float(widths.min()) if found else 0.0,
        sway=float(np.degrees(np.ptp(pitch)) / 2),
        roll=float(np.degrees(np.abs(roll_of(_torso(motion))).max())),
        drift=_drift(yaw, motion.time),
        flight=float((~loaded.any(axis=1)).mean()),
        cost_of_transport=float(power.mean() * duration / (weight * max(distance, 1e-9))),
        slip=slid / (distance if distance >= IN_PLACE * duration else duration),
        peak_torque=float(np.abs(motion.torque).max()),
    )


def _drift(yaw: np.ndarray, time: np.ndarray) -> float:
    """Largest turn from the heading of the first seconds, of the yaw averaged over `_STRIDE` seconds [deg]."""
    count = max(1, round(_STRIDE / float(time[1] - time[0])))
    if len(yaw) < 2 * count:
        return float(np.degrees(np.ptp(yaw)))
    mean = np.convolve(yaw, np.full(count, 1.0 / count), mode="valid")
    return float(np.degrees(np.abs(mean - mean[0]).max()))


def facing(motion: Motion) -> np.ndarray:
    """(n,) world yaw of the root body, or of the pelvis of a body from a file [rad], within ± π."""
    turns = motion.rotations[:, 0]
    if motion.scene and motion.scene.table.foreign:
        turns = _upright(motion, motion.scene.table.anatomy.pelvis)
    forward = quat.rotate(turns, np.array([1.0, 0.0, 0.0]))
    return np.asarray(np.arctan2(forward[:, 1], forward[:, 0]))


def _upright(motion: Motion, part: str) -> np.ndarray:
    """(n, 4) turns of a part from how it is while the body stands upright and faces x."""
    turns = poses(motion)[1][:, motion.skeleton.names.index(part)]
    foreign = motion.scene.table.foreign if motion.scene else None
    if foreign is None or part not in foreign.limbs.rest:
        return turns
    return quat.multiply(turns, quat.inverse(np.array(foreign.limbs.rest[part])))


def _torso(motion: Motion) -> np.ndarray:
    return _upright(motion, motion.scene.table.anatomy.torso if motion.scene else motion.skeleton.names[0])


def roll_of(turns: np.ndarray) -> np.ndarray:
    """(n,) roll of (n, 4) orientations: how much the part's left side points up [rad]."""
    return np.asarray(np.arcsin(np.clip(quat.rotate(turns, np.array([0.0, 1.0, 0.0]))[:, 2], -1.0, 1.0)))


def torso_pitch(motion: Motion) -> np.ndarray:
    """(n,) world pitch of the torso [rad], positive leaning back."""
    turns = _torso(motion)
    up = quat.rotate(turns, np.array([0.0, 0.0, 1.0]))
    ahead = quat.rotate(turns, np.array([1.0, 0.0, 0.0]))
    if np.allclose(turns[:, [1, 3]], 0.0):  # planar: any number of turns over head and heels
        return np.asarray(np.arctan2(ahead[:, 2], ahead[:, 0]))
    return np.asarray(np.arctan2(ahead[:, 2], up[:, 2]))
