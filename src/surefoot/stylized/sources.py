"""Where references come from: a walk that another skill does, or a clip of motion capture."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from scipy.signal import butter, sosfiltfilt

from surefoot.characters.table import CharacterTable
from surefoot.motions import clips, retargeting
from surefoot.motions import quaternions as quat
from surefoot.motions.cleaning import clean
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.gait_search import gait_cycle
from surefoot.motions.motion import Motion
from surefoot.motions.parts import parts_of
from surefoot.motions.retargeting import Retargeted
from surefoot.stylized.reference import Reference, of_poses

RATE = 200.0  # [1/s] of references
_PASSED = 10.0  # [Hz] what is faster in a clip is noise
_BORE = 0.05  # of a body's weight: what a foot bears that touches
_ACCURACY = np.radians(0.5)  # of the series that a simulated walk becomes


def carried_over(clip: Path, table: CharacterTable) -> Retargeted:
    """A clip, cleaned and on a character."""
    motion = clips.read(clip).motion
    parts, _ = parts_of(motion)
    return retargeting.retarget(clean(motion, parts).motion, parts, table)


def told_by(motion: Motion, table: CharacterTable) -> Retargeted:
    """A simulated motion as if it had been retargeted."""
    hinges = retargeting.hinges(table)
    first = motion.qpos.shape[1] - len(hinges)
    weight = 9.81 * sum(segment.mass for segment in table.segments)
    return Retargeted(
        motion.time - motion.time[0], {name: motion.qpos[:, first + i] for i, name in enumerate(hinges)},
        motion.root_position, quat.continuous(motion.rotations[:, 0]),
        motion.contact_force[:, :, 2] > _BORE * weight, 1.0, (),
    )  # fmt: skip


def cyclic(model: mujoco.MjModel, table: CharacterTable, cycle: GaitCycle) -> Reference:
    """A cycle, looped."""
    n = round(cycle.period * RATE)
    played = cycle.played(3.0, n / cycle.period)
    poses = retargeting.coordinates(table, _turned(played, -cycle.turn, n))
    return of_poses(model, table, poses, played.contacts, cycle.period / n, slice(n, 2 * n), cycle.turn)


def walked(model: mujoco.MjModel, table: CharacterTable, motion: Motion) -> Reference:
    """A simulated walk that is on its cycle, averaged over its steps and looped."""
    return cyclic(model, table, gait_cycle(told_by(motion, table), table, _ACCURACY))


def once(model: mujoco.MjModel, table: CharacterTable, found: Retargeted) -> Reference:
    """A retargeted clip from its beginning to its end."""
    time = np.arange(found.time[0], found.time[-1], 1.0 / RATE)
    fps = 1.0 / float(np.median(np.diff(found.time)))
    low = butter(2, _PASSED, fs=fps, output="sos")

    def resampled(values: np.ndarray) -> np.ndarray:
        smooth = sosfiltfilt(low, values, axis=0)
        return np.column_stack([np.interp(time, found.time, column) for column in smooth.reshape(len(smooth), -1).T])

    turns = resampled(quat.continuous(found.root_rotation))
    even = Retargeted(
        time, {name: resampled(angle)[:, 0] for name, angle in found.angles.items()}, resampled(found.root_position),
        turns / np.linalg.norm(turns, axis=1, keepdims=True),
        found.contacts[np.searchsorted(found.time, time).clip(0, len(found.time) - 1)], found.scale, found.notes,
    )  # fmt: skip
    return of_poses(model, table, retargeting.coordinates(table, even), even.contacts, 1.0 / RATE)


def _turned(found: Retargeted, by: float, origin: int) -> Retargeted:
    """Turned about the vertical, with the root of one frame over the origin."""
    place = found.root_position * [1.0, 1.0, 1.0]
    place[:, :2] -= place[origin, :2]
    turn = quat.about_vertical(np.full(len(place), by))
    return Retargeted(
        found.time, found.angles, quat.rotate(turn, place), quat.multiply(turn, found.root_rotation), found.contacts,
        found.scale, found.notes,
    )  # fmt: skip
