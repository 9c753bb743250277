"""What a gait is measured from: joint positions, angles in the sagittal plane, and loads over time.

Signals come from a simulated motion, from the rows of a population while it runs, or from a captured clip. A clip has
no forces: its contacts are found by height and speed, and everything that needs a force or a torque is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import ArmJoints, BodyParts, SkeletonError, find_body_parts
from surefoot.motions.floor_fit import stance_heights
from surefoot.motions.foot_contacts import LOADED_FORCE, SHORTEST_STANCE, SHORTEST_SWING, find_contacts
from surefoot.motions.forward_kinematics import sole_points, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.signals import fill_short, frame_time, span_mask

GRAVITY = 9.81
_STRIDE = 1.2  # [s] over which the facing is averaged: the pelvis turns within a stride, the heading does not
_LONGEST_FRAME = 0.0175  # [s] 60 frames a second, rounded
_SMOOTH_FORCE = 0.01  # [s] over which a foot's force is averaged, as the filters of force plates do
# Share of the body's mass of each part, and where its centre lies between its two ends (Winter 2009, table 4.1).
_MASSES = {"trunk": (0.578, 0.66), "thigh": (0.100, 0.433), "shank": (0.0465, 0.433), "foot": (0.0145, 0.5)}
_ARM_MASS = 0.050  # of the upper arm, forearm and hand of one arm, at the elbow


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
    joint_speed: np.ndarray  # (n, joints) [rad/s]
    leg_length: float  # [m] thigh and shank
    load: np.ndarray | None = None  # (n, 2) vertical force [body weights], averaged over 10 ms
    slip: np.ndarray | None = None  # (n, 2) [m] slid under load so far
    torque: np.ndarray | None = None  # (n, joints) [N·m]
    joints: tuple[str, ...] = ()  # names of the columns of `torque` and `joint_speed`
    mass: float = float("nan")  # [kg]


@dataclass(frozen=True)
class _Markers:
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


def signals_of(motion: Motion) -> GaitSignals:
    """Signals of a simulated or captured motion.

    Args:
        motion: 60 frames a second or more, z up.

    Raises:
        SurefootError: fewer than three frames, too few a second, or a body without two legs.
    """
    if len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("a gait is measured over at least three frames")
    if frame_time(motion.time) > _LONGEST_FRAME:
        raise SurefootError("a gait is measured at 60 frames a second or more; record the motion with a higher fps")
    places, turns = world_poses(motion)
    if motion.scene is None:
        return _clip_signals(motion, places, turns)
    scene = motion.scene
    dofs = [int(scene.model.joint(name).dofadr[0]) for name in scene.table.gains]
    return _simulated_signals(
        motion.time, places, turns, motion.skeleton, scene.table, motion.com, motion.contact_force, motion.slip,
        motion.torque, motion.qvel[:, dofs], float(scene.model.body_mass.sum()),
    )  # fmt: skip


def record_signals(
    population: Population, seconds: float, fps: float = 250.0, tell: Callable[[float], None] = lambda time: None
) -> list[GaitSignals | None]:
    """Run a population and return the signals of every row, None for rows that fell.

    Args:
        population: of one body; rows that fall stop.
        seconds: how long [s].
        fps: frames per second.
        tell: called with the time since the beginning [s] before every frame.
    """
    scene = population.scene
    bodies = slice(1, 1 + len(scene.table.segments))
    dofs = [int(scene.model.joint(name).dofadr[0]) for name in scene.table.gains]
    places, turns = population.batch.bind("xpos"), population.batch.bind("xquat")
    frames: list[tuple[np.ndarray, ...]] = []
    for frame in range(round(seconds * fps)):
        tell(frame / fps)
        population.run(1.0 / fps, stop_fallen=True)
        rows = population.rows
        frames.append((
            places[:, bodies].copy(), turns[:, bodies].copy(), np.array([r.com for r in rows]),
            np.array([r.contact_force for r in rows]), np.array([r.slip for r in rows]),
            np.array([r.torque for r in rows]), population.qvel[:, dofs].copy(),
        ))  # fmt: skip
    columns = [np.array(column) for column in zip(*frames, strict=True)]
    time, mass = np.arange(1, len(frames) + 1) / fps, float(scene.model.body_mass.sum())
    skeleton = _skeleton(population)
    found: list[GaitSignals | None] = []
    for i, fallen in enumerate(np.isfinite(population.fallen_at)):
        own = [column[:, i] for column in columns]
        xpos, xquat, com, force, slip, torque, rates = own
        found.append(
            None
            if fallen
            else _simulated_signals(time, xpos, xquat, skeleton, scene.table, com, force, slip, torque, rates, mass)
        )
    return found


def _skeleton(population: Population) -> Skeleton:
    model, bodies = population.scene.model, range(1, 1 + len(population.scene.table.segments))
    return Skeleton(
        names=tuple(model.body(b).name for b in bodies),
        parents=np.array([model.body_parentid[b] - 1 for b in bodies]),
        offsets=np.array([model.body_pos[b] for b in bodies]),
    )


def _simulated_signals(
    time: np.ndarray, places: np.ndarray, turns: np.ndarray, skeleton: Skeleton, table: CharacterTable,
    com: np.ndarray, force: np.ndarray, slip: np.ndarray, torque: np.ndarray, rates: np.ndarray, mass: float,
) -> GaitSignals:  # fmt: skip
    anatomy, names = table.anatomy, skeleton.names
    if table.root != "free":
        raise SurefootError("the gait of a body in space is measured; a planar body has no width, list or turn")
    upright = {
        part: np.asarray(table.imported.limbs.rest.get(part, (1.0, 0.0, 0.0, 0.0))) if table.imported else None
        for part in names
    }

    def turn(part: str) -> np.ndarray:
        """(n, 4) rotation of a part from where it is while the body stands upright and faces x."""
        own, rest = turns[:, names.index(part)], upright[part]
        return own if rest is None else quat.multiply(own, quat.inverse(rest))

    sides = (anatomy.left, anatomy.right)
    hip, knee, ankle = (
        np.stack([places[:, names.index(getattr(s, part))] for s in sides], axis=1)
        for part in ("thigh", "shin", "foot")
    )
    toe = ankle
    if not table.imported:
        tips = [max(sole_points(table, side)[0].tolist()) for side in (0, 1)]
        toe = np.stack([ankle[:, s] + quat.rotate(turn(sides[s].foot), np.array(tips[s])) for s in (0, 1)], axis=1)
    arms, head = _upper_body(skeleton, places, turns, time)
    trunk = turn(anatomy.torso)
    markers = _Markers(
        hip, knee, ankle, toe, np.zeros(0), np.zeros(0),
        None if arms is None else places[:, [a.shoulder for a in arms]],
        None if arms is None else places[:, [a.elbow for a in arms]],
        None if head is None else places[:, head],
    )  # fmt: skip
    heading = _heading(hip, time)
    up = quat.rotate(trunk, np.array([0.0, 0.0, 1.0]))
    left = quat.rotate(trunk, np.array([0.0, 1.0, 0.0]))
    feet = np.stack([quat.rotate(turn(s.foot), np.array([1.0, 0.0, 0.0])) for s in sides], axis=1)
    load = force[:, :2, 2] / (mass * GRAVITY)
    width = max(1, round(_SMOOTH_FORCE / frame_time(time)))
    load = uniform_filter1d(load, width, axis=0, mode="nearest") if width > 1 else load
    stands = _loaded(load * mass * GRAVITY > LOADED_FORCE, time)
    return _signals(
        time, heading, markers, np.arctan2(_ahead(up, heading), up[:, 2]), np.arcsin(np.clip(left[:, 2], -1.0, 1.0)),
        np.arctan2(feet[:, :, 2], np.hypot(feet[:, :, 0], feet[:, :, 1])), com, stands, rates,
        load=load, slip=slip[:, :2], torque=torque, joints=tuple(table.gains), mass=mass,
    )  # fmt: skip


def _loaded(loaded: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Stances without short gaps, and without scuffs."""
    stands = loaded.copy()
    for foot in (0, 1):
        closed = fill_short(loaded[:, foot], True, time, SHORTEST_SWING)
        stands[:, foot] = fill_short(closed, False, time, SHORTEST_STANCE)
    return stands


def _upper_body(
    skeleton: Skeleton, places: np.ndarray, turns: np.ndarray, time: np.ndarray
) -> tuple[tuple[ArmJoints, ArmJoints] | None, int | None]:
    """Arms and head of a simulated body, where it has them."""
    few = slice(None, None, max(len(time) // 20, 1))
    local = turns[few].copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            local[:, joint] = quat.multiply(quat.inverse(turns[few, parent]), turns[few, joint])
    try:
        parts, _ = find_body_parts(Motion(time[few], skeleton, places[few, 0], local))
    except SkeletonError:
        return None, None
    arms = None if parts.left_arm is None or parts.right_arm is None else (parts.left_arm, parts.right_arm)
    return arms, parts.head


def _clip_signals(motion: Motion, places: np.ndarray, turns: np.ndarray) -> GaitSignals:
    parts, _ = find_body_parts(motion)
    legs = (parts.left, parts.right)
    contacts = find_contacts(
        places,
        motion.time,
        parts,
        (stance_heights(places, motion.time, legs[0]), stance_heights(places, motion.time, legs[1])),
    )
    stands = np.stack([span_mask(c.any, len(motion)) for c in (contacts.left, contacts.right)], axis=1)
    flat = np.stack(
        [span_mask(c.toe, len(motion)) & span_mask(c.heel, len(motion)) for c in (contacts.left, contacts.right)],
        axis=1,
    )
    hip, knee, ankle, toe = (
        np.stack([places[:, getattr(leg, part)] for leg in legs], axis=1) for part in ("hip", "knee", "ankle", "tip")
    )
    heading = _heading(hip, motion.time)
    sole = toe - ankle
    pitch = np.arctan2(sole[:, :, 2], np.stack([_ahead(sole[:, s], heading) for s in (0, 1)], axis=1))
    for s in (0, 1):  # the line from ankle to toe falls forward while the foot is flat
        pitch[:, s] -= np.median(pitch[flat[:, s] if flat[:, s].any() else stands[:, s], s])
    low = hip.mean(axis=1)
    arms = None if parts.left_arm is None or parts.right_arm is None else (parts.left_arm, parts.right_arm)
    neck = places[:, parts.trunk[-1]] if parts.trunk else low + np.array([0.0, 0.0, 0.5])
    shoulder = None if arms is None else places[:, [a.shoulder for a in arms]]
    if shoulder is not None:
        neck = shoulder.mean(axis=1)
    markers = _Markers(
        hip, knee, ankle, toe, neck, low, shoulder,
        None if arms is None else places[:, [a.elbow for a in arms]],
        None if parts.head is None else places[:, parts.head],
    )  # fmt: skip
    spine = neck - low
    across = (hip if shoulder is None else shoulder)[:, 0] - (hip if shoulder is None else shoulder)[:, 1]
    return _signals(
        motion.time, heading, markers, np.arctan2(_ahead(spine, heading), spine[:, 2]),
        np.arctan2(across[:, 2], np.hypot(across[:, 0], across[:, 1])), pitch, _center_of_mass(markers), stands,
        _joint_speeds(motion, parts),
    )  # fmt: skip


def _center_of_mass(markers: _Markers) -> np.ndarray:
    """(n, 3) from the shares of mass of an average adult."""

    def between(one: np.ndarray, other: np.ndarray, part: str) -> np.ndarray:
        mass, share = _MASSES[part]
        return np.asarray(mass * (one + share * (other - one)))

    found = between(markers.trunk_low, markers.neck, "trunk")
    for leg in (0, 1):
        hip, knee, ankle = markers.hip[:, leg], markers.knee[:, leg], markers.ankle[:, leg]
        found = found + between(hip, knee, "thigh") + between(knee, ankle, "shank")
        found = found + between(ankle, markers.toe[:, leg], "foot")
        found = found + _ARM_MASS * (markers.neck if markers.elbow is None else markers.elbow[:, leg])
    return np.asarray(found)


def _joint_speeds(motion: Motion, parts: BodyParts) -> np.ndarray:
    """(n, 3 · joints) angular velocity of the limbs' and the trunk's joints in their parents' frames [rad/s]."""
    limbs = [j for leg in (parts.left, parts.right) for j in (leg.hip, leg.knee, leg.ankle)]
    arms = [j for arm in (parts.left_arm, parts.right_arm) if arm for j in (arm.shoulder, arm.elbow)]
    chosen = [*limbs, *arms, *parts.trunk[:1]]
    turns = quat.make_continuous(motion.rotations[:, chosen])
    change = quat.log(quat.multiply(quat.inverse(turns[:-1]), turns[1:])) / np.diff(motion.time)[:, None, None]
    flat = change.reshape(len(change), -1)
    return np.vstack([flat[:1], flat])


def _signals(
    time: np.ndarray, heading: np.ndarray, markers: _Markers, lean: np.ndarray, roll: np.ndarray, pitch: np.ndarray,
    com: np.ndarray, stands: np.ndarray, rates: np.ndarray, *, load: np.ndarray | None = None,
    slip: np.ndarray | None = None, torque: np.ndarray | None = None, joints: tuple[str, ...] = (),
    mass: float = float("nan"),
) -> GaitSignals:  # fmt: skip
    def forward_of_vertical(high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """(n, 2) angle of the line from a joint down to the next, forward positive [rad]."""
        line = low - high
        return np.stack([np.arctan2(_ahead(line[:, s], heading), -line[:, s, 2]) for s in (0, 1)], axis=1)

    thigh, shank = forward_of_vertical(markers.hip, markers.knee), forward_of_vertical(markers.knee, markers.ankle)
    knee = thigh - shank
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


def _heading(hip: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n,) facing of the pelvis, averaged over about a stride [rad]."""
    across = hip[:, 0] - hip[:, 1]
    yaw = np.unwrap(np.arctan2(-across[:, 0], across[:, 1]))
    return np.asarray(uniform_filter1d(yaw, max(1, round(_STRIDE / frame_time(time))), mode="nearest"))


def _ahead(vectors: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """(n,) the part of vectors (n, 3) along the heading."""
    return np.asarray(vectors[:, 0] * np.cos(heading) + vectors[:, 1] * np.sin(heading))
