"""What a gait is measured from, and how it is put together of the places of a body's joints."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.ndimage import uniform_filter1d

from surefoot.errors import SurefootError
from surefoot.motions.foot_contacts import LOADED_FORCE, SHORTEST_STANCE, SHORTEST_SWING
from surefoot.motions.signals import fill_short, frame_time

GRAVITY = 9.81
_STRIDE = 1.2  # [s] over which the facing is averaged: the pelvis turns within a stride, the heading does not
_SMOOTH_FORCE = 0.01  # [s] over which a foot's force is averaged, as the filters of force plates do


@dataclass(frozen=True)
class GaitSignals:
    """Signals of a body over n frames; the second axis of legs and arms is left, right.

    Positions are in the world, z up [m]. Angles are in the sagittal plane of the heading: the thigh's forward of the
    vertical, the knee's flexion, the foot's pitch with the toes up positive, the ankle's dorsiflexion
    = pitch + knee − thigh.
    """

    time: np.ndarray  # (n,) [s]
    heading: np.ndarray  # (n,) [rad] facing of the pelvis, averaged over a stride
    ankle_place: np.ndarray  # (n, 2, 3)
    toe_place: np.ndarray  # (n, 2, 3) foremost point of the sole, or the toe joint of a clip
    thigh: np.ndarray  # (n, 2) [rad]
    knee: np.ndarray  # (n, 2) [rad]
    ankle: np.ndarray  # (n, 2) [rad]
    foot_pitch: np.ndarray  # (n, 2) [rad]
    trunk_lean: np.ndarray  # (n,) [rad] forward positive
    trunk_roll: np.ndarray  # (n,) [rad] left side up positive
    pelvis_turn: np.ndarray  # (n,) [rad] of the pelvis away from the heading, to the left
    pelvis_list: np.ndarray  # (n,) [rad] left hip higher positive
    upper_arm: np.ndarray | None  # (n, 2) [rad] forward of the vertical
    head_place: np.ndarray | None  # (n, 3)
    com: np.ndarray  # (n, 3)
    stands: np.ndarray  # (n, 2) whether each foot is on the ground
    joint_speed: np.ndarray  # (n, joints) [rad/s] of a simulated body's hinges, or of a clip's angles
    leg_length: float  # [m] thigh and shank
    load: np.ndarray | None = None  # (n, 2) vertical force [body weights], averaged over 10 ms
    slip: np.ndarray | None = None  # (n, 2) [m] slid under load so far
    torque: np.ndarray | None = None  # (n, joints) [N·m]
    joints: tuple[str, ...] = ()  # names of the columns of `torque` and `joint_speed`
    mass: float = float("nan")  # [kg]
    stride_time: float = float("nan")  # [s] mean, where it is known better than by `stands`


@dataclass(frozen=True)
class Markers:
    """Where the parts of a body are: world positions (n, 3) or, of legs, (n, 2, 3)."""

    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    toe: np.ndarray
    neck: np.ndarray
    trunk_low: np.ndarray
    shoulder: np.ndarray | None
    elbow: np.ndarray | None
    head: np.ndarray | None


def assemble_signals(
    time: np.ndarray, heading: np.ndarray, markers: Markers, lean: np.ndarray, roll: np.ndarray, pitch: np.ndarray,
    com: np.ndarray, stands: np.ndarray, rates: np.ndarray, *, load: np.ndarray | None = None,
    slip: np.ndarray | None = None, torque: np.ndarray | None = None, joints: tuple[str, ...] = (),
    mass: float = float("nan"),
) -> GaitSignals:  # fmt: skip
    """Signals of a body from its markers; the arguments are called as the fields they become."""

    def forward_of_vertical(high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """(n, 2) angle of the line from a joint down to the next, forward positive [rad]."""
        line = low - high
        return np.stack([np.arctan2(along_heading(line[:, s], heading), -line[:, s, 2]) for s in (0, 1)], axis=1)

    thigh, shank = forward_of_vertical(markers.hip, markers.knee), forward_of_vertical(markers.knee, markers.ankle)
    knee = np.angle(np.exp(1j * (thigh - shank)))
    across = markers.hip[:, 0] - markers.hip[:, 1]
    facing = np.arctan2(-across[:, 0], across[:, 1])
    length = np.linalg.norm(markers.knee - markers.hip, axis=2) + np.linalg.norm(markers.ankle - markers.knee, axis=2)
    arm = None
    if markers.shoulder is not None and markers.elbow is not None:
        arm = forward_of_vertical(markers.shoulder, markers.elbow)
    return GaitSignals(
        time=time, heading=heading, ankle_place=markers.ankle, toe_place=markers.toe, thigh=thigh, knee=knee,
        ankle=pitch + knee - thigh, foot_pitch=pitch, trunk_lean=lean, trunk_roll=roll,
        pelvis_turn=np.angle(np.exp(1j * (facing - heading))),
        pelvis_list=np.arctan2(across[:, 2], np.hypot(across[:, 0], across[:, 1])),
        upper_arm=arm, head_place=markers.head, com=com, stands=stands, joint_speed=rates,
        leg_length=float(np.median(length)), load=load, slip=slip, torque=torque, joints=joints, mass=mass,
    )  # fmt: skip


def cut(signals: GaitSignals, first: int, stop: int) -> GaitSignals:
    """The signals of the frames from `first` to before `stop`."""
    count = len(signals.time)
    pieces: dict[str, Any] = {
        f.name: value[first:stop]
        for f in fields(signals)
        if isinstance(value := getattr(signals, f.name), np.ndarray) and len(value) == count
    }
    return replace(signals, **pieces)


def facing_of(hip: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n,) facing of the pelvis, averaged over about a stride [rad]."""
    across = hip[:, 0] - hip[:, 1]
    yaw = np.unwrap(np.arctan2(-across[:, 0], across[:, 1]))
    return np.asarray(uniform_filter1d(yaw, max(1, round(_STRIDE / frame_time(time))), mode="nearest"))


def along_heading(vectors: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """(n,) the part of vectors (n, 3) along the heading."""
    return np.asarray(vectors[:, 0] * np.cos(heading) + vectors[:, 1] * np.sin(heading))


def frames_within(time: np.ndarray, start: float | None, end: float | None) -> np.ndarray:
    """(n,) whether each frame lies between two moments [s].

    Raises:
        SurefootError: fewer than three do.
    """
    low, high = -np.inf if start is None else start, np.inf if end is None else end
    inside = (time >= low) & (time <= high)
    if inside.sum() < 3:
        raise SurefootError(
            f"the motion lasts from {time[0]:.2f} to {time[-1]:.2f} s and a gait is measured over a part of it, "
            f"got {max(low, time[0]):g} … {min(high, time[-1]):g} s"
        )
    return np.asarray(inside)


def loads_and_stances(force: np.ndarray, weight: float, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) vertical forces of the feet [body weights], and whether each bears any, without short gaps and scuffs.

    Args:
        force: (n, 2) vertical [N].
        weight: of the body [N].
        time: (n,) [s].
    """
    width = max(1, round(_SMOOTH_FORCE / frame_time(time)))
    load = force / weight
    load = uniform_filter1d(load, width, axis=0, mode="nearest") if width > 1 else load
    loaded = load * weight > LOADED_FORCE
    stands = loaded.copy()
    for foot in (0, 1):
        closed = fill_short(loaded[:, foot], True, time, SHORTEST_SWING)
        stands[:, foot] = fill_short(closed, False, time, SHORTEST_STANCE)
    return load, stands
