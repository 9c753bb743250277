"""What a gait is measured from: joint positions, angles in the sagittal plane, and loads over time.

Signals come from a simulated motion, from the rows of a population while it runs, or from a captured clip. A clip has
no forces: its contacts are found by where its feet are (`gait_events`), and what needs a force or a torque is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.ndimage import uniform_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.lab.gait_events import FootEvents, FootPaths, find_events, narrow_to_ground, steady_stretch
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import ArmJoints, BodyParts, SkeletonError, find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.floor_fit import leg_length, stance_heights
from surefoot.motions.foot_contacts import LOADED_FORCE, SHORTEST_STANCE, SHORTEST_SWING
from surefoot.motions.forward_kinematics import rest_positions, sole_points, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.signals import fill_short, frame_time, true_spans

GRAVITY = 9.81
_UPRIGHT = 0.8  # cosine of the angle between the vertical and spine and legs of a skeleton that stands
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
    joint_speed: np.ndarray  # (n, joints) [rad/s] of a simulated body's hinges, or of a clip's angles
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


def signals_of(motion: Motion, start: float | None = None, end: float | None = None) -> GaitSignals:
    """Signals of a simulated or captured motion.

    Of a simulated motion all frames count. Of a clip those of the longest stretch of even strides forward count,
    straight on if there is one.

    Args:
        motion: 60 frames a second or more, z up.
        start: frames count from here on [s].
        end: and up to here [s].

    Raises:
        SurefootError: fewer than three frames, too few a second, a body without two legs, or a clip without a stride.
    """
    if len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("a gait is measured over at least three frames")
    if frame_time(motion.time) > _LONGEST_FRAME:
        raise SurefootError("a gait is measured at 60 frames a second or more; record the motion with a higher fps")
    if motion.scene is None:
        return _clip_signals(motion, start, end)
    within = (motion.time >= (-np.inf if start is None else start)) & (motion.time <= (np.inf if end is None else end))
    if within.sum() < 3:
        raise SurefootError(
            f"a motion of {motion.time[0]:.2f} … {motion.time[-1]:.2f} s has no frames within the window"
        )
    motion = motion.select(within)
    places, turns = world_poses(motion)
    scene = motion.scene
    assert scene is not None
    dofs = [int(scene.model.joint(name).dofadr[0]) for name in scene.table.gains]
    return _simulated_signals(
        motion.time, places, turns, motion.skeleton, scene.table, motion.com, motion.contact_force, motion.slip,
        motion.torque, motion.qvel[:, dofs], float(scene.model.body_mass.sum()),
    )  # fmt: skip


def _within(time: np.ndarray, start: float | None, end: float | None) -> np.ndarray:
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


def _clip_signals(motion: Motion, start: float | None, end: float | None) -> GaitSignals:
    """Signals of the longest even stretch of a clip."""
    parts, _ = find_body_parts(motion)
    if not motion.contact_force.size:
        cleaned = clean(motion, parts, feet=False)
        motion = replace(cleaned.motion, time=cleaned.motion.time + motion.time[cleaned.first])
    places, _ = world_poses(motion)
    legs = (parts.left, parts.right)
    hip, knee, ankle, toe = (
        np.stack([places[:, getattr(leg, part)] for leg in legs], axis=1) for part in ("hip", "knee", "ankle", "tip")
    )
    heading, low = _heading(hip, motion.time), hip.mean(axis=1)
    arms = None if parts.left_arm is None or parts.right_arm is None else (parts.left_arm, parts.right_arm)
    shoulder = None if arms is None else places[:, [a.shoulder for a in arms]]
    neck = places[:, parts.trunk[-1]] if parts.trunk else low + np.array([0.0, 0.0, 0.5])
    if shoulder is not None:
        neck = shoulder.mean(axis=1)
    markers = _Markers(
        hip, knee, ankle, toe, neck, low, shoulder,
        None if arms is None else places[:, [a.elbow for a in arms]],
        None if parts.head is None else places[:, parts.head],
    )  # fmt: skip
    stands, (first, last) = _clip_stances(motion.time, places, markers, heading, parts, start, end)
    sole = toe - ankle
    pitch = np.arctan2(sole[:, :, 2], np.stack([_ahead(sole[:, s], heading) for s in (0, 1)], axis=1))
    pitch = np.unwrap(pitch, axis=0)
    for s in (0, 1):  # the line from ankle to toe falls forward while the foot is flat
        pitch[:, s] -= np.median(pitch[_flat(stands[:, s]), s])
    spine = neck - low
    across = (hip if shoulder is None else shoulder)[:, 0] - (hip if shoulder is None else shoulder)[:, 1]
    whole = _signals(
        motion.time, heading, markers,
        np.arctan2(_ahead(spine, heading), spine[:, 2]) - _standing_lean(motion.skeleton, parts),
        np.arctan2(across[:, 2], np.hypot(across[:, 0], across[:, 1])), pitch, _center_of_mass(markers), stands,
        np.zeros((len(motion), 0)),
    )  # fmt: skip
    return cut(replace(whole, joint_speed=_sagittal_speeds(whole)), first, last + 1)


def cut(signals: GaitSignals, first: int, stop: int) -> GaitSignals:
    """The signals of the frames from `first` to before `stop`."""
    count = len(signals.time)
    pieces: dict[str, Any] = {
        f.name: value[first:stop]
        for f in fields(signals)
        if isinstance(value := getattr(signals, f.name), np.ndarray) and len(value) == count
    }
    return replace(signals, **pieces)


def _clip_stances(
    time: np.ndarray, places: np.ndarray, markers: _Markers, heading: np.ndarray, parts: BodyParts,
    start: float | None, end: float | None,
) -> tuple[np.ndarray, tuple[int, int]]:  # fmt: skip
    """(n, 2) whether each foot is on the ground, and the first and last frame of the longest even stretch."""
    legs = (parts.left, parts.right)
    pelvis, length = markers.hip.mean(axis=1), leg_length(places, parts.left)
    stances = [stance_heights(places, time, leg) for leg in legs]

    def ahead(joint: np.ndarray, base: np.ndarray) -> np.ndarray:
        return np.stack([_ahead(joint[:, s] - base, heading) for s in (0, 1)], axis=1)

    still = np.zeros(3)
    paths = FootPaths(
        ahead(markers.ankle, pelvis), ahead(markers.toe, pelvis),
        markers.ankle[:, :, 2] - [own.ankle for own in stances], markers.toe[:, :, 2] - [own.toe for own in stances],
        *(ahead(np.gradient(joint, time, axis=0), still) for joint in (markers.ankle, markers.toe)),
    )  # fmt: skip
    inside = np.flatnonzero(
        (time >= (-np.inf if start is None else start)) & (time <= (np.inf if end is None else end))
    )
    if len(inside) < 3:
        raise SurefootError(
            f"the clip lasts from {time[0]:.2f} to {time[-1]:.2f} s; a gait is measured over a stretch within, "
            f"got {time[0] if start is None else start:g} … {time[-1] if end is None else end:g} s"
        )
    events = [
        FootEvents(*(tuple(f for f in frames if inside[0] <= f <= inside[-1]) for frames in (e.strikes, e.offs)))
        for e in find_events(time, paths, length)
    ]
    way = np.concatenate([[0.0], np.cumsum(_ahead(np.diff(pelvis, axis=0), heading[1:]))])
    first, last = steady_stretch(time, (events[0], events[1]), way, heading)
    speed = float(way[last] - way[first]) / float(time[last] - time[first])
    grounded = [narrow_to_ground(own, paths, foot, length, speed) for foot, own in enumerate(events)]
    kept = [
        after
        for rough, fine in zip(events, grounded, strict=True)
        for before, after in zip((*rough.strikes, *rough.offs), (*fine.strikes, *fine.offs), strict=True)
        if first <= before <= last
    ]
    return np.stack([own.stands(len(time)) for own in grounded], axis=1), (max(min(kept) - 1, 0), max(kept))


def _flat(stands: np.ndarray) -> np.ndarray:
    """(n,) the middle of the stances, in which a foot is flat: a third of each, or all of them if none is whole."""
    flat = np.zeros(len(stands), dtype=bool)
    for a, b in true_spans(stands):
        if a > 0 and b < len(stands):
            flat[a + (b - a) // 4 : max(a + (b - a) // 2, a + (b - a) // 4 + 1)] = True
    return flat if flat.any() else stands


def _standing_lean(skeleton: Skeleton, parts: BodyParts) -> float:
    """Forward lean of the line from hips to shoulders where the skeleton stands with all rotations zero [rad].

    The hips of captured skeletons are set ahead of the spine, so that people seem to lean back by about 10°. It is 0
    where the skeleton's zero pose is no stance.
    """
    at, arms = rest_positions(skeleton), (parts.left_arm, parts.right_arm)
    if arms[0] is None or arms[1] is None:
        return 0.0
    hips = at[[parts.left.hip, parts.right.hip]]
    spine = at[[arms[0].shoulder, arms[1].shoulder]].mean(axis=0) - hips.mean(axis=0)
    legs = [at[leg.ankle] - at[leg.hip] for leg in (parts.left, parts.right)]
    across = hips[0] - hips[1]
    upright = spine[2] > _UPRIGHT * np.linalg.norm(spine)
    upright &= all(-leg[2] > _UPRIGHT * np.linalg.norm(leg) for leg in legs) and bool(np.linalg.norm(across) > 0.0)
    if not upright:
        return 0.0
    facing = np.arctan2(-across[0], across[1])
    return float(np.arctan2(_ahead(spine[None], np.array([facing]))[0], spine[2]))


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


def _sagittal_speeds(signals: GaitSignals) -> np.ndarray:
    """(n, angles) rates of the angles of legs, arms and trunk in the sagittal plane [rad/s].

    Turns of bones about their own axes, which capture finds poorly, do not count.
    """
    angles = [signals.thigh, signals.knee, signals.ankle, signals.trunk_lean[:, None]]
    if signals.upper_arm is not None:
        angles.append(signals.upper_arm)
    return np.asarray(np.gradient(np.hstack(angles), signals.time, axis=0))


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


def _heading(hip: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n,) facing of the pelvis, averaged over about a stride [rad]."""
    across = hip[:, 0] - hip[:, 1]
    yaw = np.unwrap(np.arctan2(-across[:, 0], across[:, 1]))
    return np.asarray(uniform_filter1d(yaw, max(1, round(_STRIDE / frame_time(time))), mode="nearest"))


def _ahead(vectors: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """(n,) the part of vectors (n, 3) along the heading."""
    return np.asarray(vectors[:, 0] * np.cos(heading) + vectors[:, 1] * np.sin(heading))
