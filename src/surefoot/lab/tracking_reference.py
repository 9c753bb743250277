"""The motion that a tracking skill should follow: a clip on a body, cut into windows of whole physics steps."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference_sources import REFERENCE_RATE, Cycle
from surefoot.controllers.tracking.table import FRAMES, ROOT, TrackingTable
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.motions.retargeting import RetargetedClip, hinge_order

WINDOW = 0.05  # [s] about
HOLD = 1.0  # [s] for which the last pose of a motion that does not loop is held
_SWAY = 0.15  # [rad] of turn in a cycle that is not meant
_ALOFT = 0.02  # [m] of the soles above the ground, from which a body flies


@dataclass(frozen=True)
class MotionToTrack:
    """Poses of a body at even times, `FRAMES` a window.

    Attributes:
        window: length of a window [s], a whole number of physics steps.
        poses: (windows · FRAMES + 1, nq) root and joints, in the order of the model's coordinates.
        clip: the same of the retargeted clip itself.
        loops: whether its end goes on with its beginning.
        turn: by which the end is turned against the beginning [rad].
        held: windows at the end that hold the last pose; 0 for a loop.
    """

    window: float
    poses: np.ndarray
    clip: np.ndarray
    loops: bool
    turn: float
    held: int

    @property
    def windows(self) -> int:
        """How many windows there are."""
        return (len(self.poses) - 1) // FRAMES

    @property
    def duration(self) -> float:
        """Length of a cycle, or of the motion without what is held [s]."""
        return (self.windows - self.held) * self.window


def looping_motion(table: CharacterTable, found: RetargetedClip, timestep: float) -> MotionToTrack:
    """The cycle of a clip that closes best.

    Args:
        table: the body.
        found: the clip on it.
        timestep: physics step [s].

    Raises:
        SurefootError: nothing in the clip repeats.
    """
    cycle = _begun_aloft(table, _straightened(reference_sources.best_cycle(table, found)))
    ahead = 0.5 * cycle.turn - float(quat.yaw(quat.make_continuous(cycle.poses[:, 3:7])).mean())
    return _cut(_moved(cycle, ahead), len(cycle.poses) - 1, True, cycle.turn, timestep)


def whole_motion(table: CharacterTable, found: RetargetedClip, timestep: float) -> MotionToTrack:
    """All of a clip, then its last pose; arguments as of `looping_motion`."""
    cycle = reference_sources.whole_motion(table, found)
    return _cut(cycle, len(cycle.poses) - 1, False, 0.0, timestep)


def _straightened(cycle: Cycle) -> Cycle:
    """A cycle that turns by a little, within what a pelvis sways, without its turn."""
    if abs(cycle.turn) > _SWAY:
        return cycle
    share = np.arange(len(cycle.poses)) / (len(cycle.poses) - 1) - 0.5

    def turned(poses: np.ndarray) -> np.ndarray:
        about = quat.about_vertical(-cycle.turn * share[: len(poses)])
        return np.column_stack([poses[:, :3], quat.multiply(about, poses[:, 3:7]), poses[:, 7:]])

    return cycle._replace(poses=turned(cycle.poses), turn=0.0)


def _begun_aloft(table: CharacterTable, cycle: Cycle) -> Cycle:
    """A cycle of a run from the middle of its flight on; any other as it is.

    In stance, a foot of the clip that is a centimetre too high would have the body drop before it is pushed off.
    """
    poses, n = cycle.poses, len(cycle.poses) - 1
    angles = dict(zip(hinge_order(table), poses[:n, 7:].T, strict=True))
    places = segment_poses(table, angles, poses[:n, :3], poses[:n, 3:7])
    lowest = np.full(n, np.inf)
    for part in table.segments:
        where, axes = places[part.name]
        for shape in part.shapes:
            for end in (shape.start, shape.end) if shape.sole else ():
                lowest = np.minimum(lowest, where[:, 2] + axes[:, 2] @ np.asarray(end) - shape.radius)
    first = int(lowest.argmax())
    if lowest[first] < _ALOFT:
        return cycle
    about = np.tile(quat.about_vertical(np.array(cycle.turn)), (n, 1))
    later = poses[1:].copy()
    later[:, :3] = quat.rotate(about, poses[1:, :3] - poses[0, :3]) + poses[n, :3]
    later[:, 2] = poses[1:, 2]
    later[:, 3:7] = quat.multiply(about, poses[1:, 3:7])
    clip = cycle.clip.copy()
    clip[:, :3] = quat.rotate(about, cycle.clip[:, :3] - poses[0, :3]) + poses[n, :3]
    clip[:, 2] = cycle.clip[:, 2]
    clip[:, 3:7] = quat.multiply(about, cycle.clip[:, 3:7])
    return Cycle(
        np.concatenate([poses[first:], later[:first]]), np.roll(cycle.stands, -first, axis=0), cycle.turn,
        np.concatenate([cycle.clip[first:], clip[:first]]),
    )  # fmt: skip


def _moved(cycle: Cycle, turn: float) -> Cycle:
    """A cycle turned about the vertical [rad], from over the origin."""
    about = quat.about_vertical(np.array(turn))

    def moved(poses: np.ndarray) -> np.ndarray:
        found, turned = poses.copy(), np.tile(about, (len(poses), 1))
        found[:, :3] = quat.rotate(turned, poses[:, :3] - cycle.poses[0, :3] * [1.0, 1.0, 0.0])
        found[:, 3:7] = quat.multiply(turned, poses[:, 3:7])
        return found

    return cycle._replace(poses=moved(cycle.poses), clip=moved(cycle.clip))


def _cut(cycle: Cycle, intervals: int, loops: bool, turn: float, timestep: float) -> MotionToTrack:
    """Resample poses at `REFERENCE_RATE` so that they last a whole number of windows of whole physics steps."""
    long = intervals / REFERENCE_RATE
    windows = max(round(long / WINDOW), 2)
    window = max(round(long / windows / timestep), 1) * timestep
    held = 0 if loops else round(HOLD / window)
    places = np.linspace(0.0, intervals, windows * FRAMES + 1)
    poses = _at(cycle.poses, places)
    clip = _at(cycle.clip, np.minimum(places, len(cycle.clip) - 1))
    if not loops:
        poses, clip = (np.concatenate([a, np.tile(a[-1], (held * FRAMES, 1))]) for a in (poses, clip))
    return MotionToTrack(window, poses, clip, loops, turn, held)


def _at(poses: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Poses at places between frames."""
    poses = np.column_stack([poses[:, :3], quat.make_continuous(poses[:, 3:7]), poses[:, 7:]])
    below = np.minimum(places.astype(int), len(poses) - 2)
    share = (places - below)[:, None]
    found = (1.0 - share) * poses[below] + share * poses[below + 1]
    found[:, 3:7] /= np.linalg.norm(found[:, 3:7], axis=1, keepdims=True)
    return np.asarray(found)


def velocities(model: mujoco.MjModel, motion: MotionToTrack) -> np.ndarray:
    """(frames, nv) how the poses move; those of a loop go on beyond its ends."""
    step = motion.window / FRAMES
    poses = motion.poses
    if motion.loops:
        before, after = _beyond(poses, -motion.turn, -2), _beyond(poses, motion.turn, 1)
    else:
        before, after = poses[0], poses[-1]
    padded = np.concatenate([before[None], poses, after[None]])
    found = np.empty((len(poses), model.nv))
    for i in range(len(poses)):
        mujoco.mj_differentiatePos(model, found[i], 2.0 * step, padded[i], padded[i + 2])
    if not motion.loops:
        found[0] *= 2.0
    return found


def _beyond(poses: np.ndarray, turn: float, index: int) -> np.ndarray:
    """The pose of a neighbouring cycle: frame `index` of this one, moved."""
    about = quat.about_vertical(np.array([turn]))
    first, last = (poses[-1], poses[0]) if index < 0 else (poses[0], poses[-1])
    found = poses[index].copy()
    found[:3] = quat.rotate(about, (poses[index, :3] - first[:3])[None])[0] + last[:3]
    found[2] = poses[index, 2]
    found[3:7] = quat.multiply(about, poses[index : index + 1, 3:7])[0]
    return np.asarray(found)


def blank_table(model: mujoco.MjModel, table: CharacterTable, motion: MotionToTrack) -> TrackingTable:
    """The table of a motion before anything was learned: its states are the reference's, all else is zero."""
    at = [int(model.joint(name).qposadr[0]) for name in table.gains]
    dof = [int(model.joint(name).dofadr[0]) for name in table.gains]
    rates = velocities(model, motion)
    begins = slice(0, motion.windows * FRAMES, FRAMES)
    poses, moves, clip = motion.poses[begins], rates[begins], motion.clip[begins]
    far = motion.poses[-1, :2] - motion.poses[0, :2] if motion.loops else np.zeros(2)
    yaw = quat.yaw(quat.make_continuous(poses[:, 3:7]))
    headings = np.arange(len(poses)) / len(poses) * motion.turn if motion.loops else yaw
    count = len(at)
    return TrackingTable(
        window=motion.window, back_to=0 if motion.loops else motion.windows - 1, held=motion.held, travel=far,
        turn=motion.turn,
        angles=motion.poses[:, at], rates=rates[:, dof], offsets=np.zeros((motion.windows, count)),
        qpos=np.column_stack([poses[:, :7], poses[:, at]]), qvel=np.column_stack([moves[:, :6], moves[:, dof]]),
        headings=headings, gains=np.zeros((motion.windows, count, ROOT + 2 * count)),
        clip=np.column_stack([clip[:, :7], clip[:, at]]),
    )  # fmt: skip
