"""Signals of motions without a scene: captured clips, and simulated motions that were saved and read again.

A clip is cleaned first, its contacts are found by where its feet are (`gait_events`), and the longest stretch of even
strides forward counts. It has no forces, so what needs a force or a torque is missing. A saved simulated motion has
forces of its feet; which joint a torque belongs to is not saved.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from surefoot.lab.gait_events import FootEvents, FootPaths, find_events, narrow_to_ground, steady_stretch
from surefoot.lab.gait_markers import (
    GRAVITY,
    GaitSignals,
    Markers,
    along_heading,
    assemble_signals,
    cut,
    facing_of,
    frames_within,
    loads_and_stances,
)
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts, find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.floor_fit import horizontal_speeds, leg_length, stance_heights
from surefoot.motions.forward_kinematics import rest_positions, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.signals import true_spans

_UPRIGHT = 0.8  # cosine of the angle between the vertical and spine and legs of a skeleton that stands
_BALL = 0.16, -0.07  # [leg lengths] how far ahead of and above the ankle the ball of a foot without toe joint is
_STILL = 0.2  # of all frames: those in which an ankle is slowest, and its foot flat
# Share of the body's mass of each part, and where its centre lies between its two ends (Winter 2009, table 4.1).
_MASSES = {"trunk": (0.578, 0.66), "thigh": (0.100, 0.433), "shank": (0.0465, 0.433), "foot": (0.0145, 0.5)}
_ARM_MASS = 0.050  # of the upper arm, forearm and hand of one arm, at the elbow


def clean_clip(motion: Motion) -> Motion:
    """A captured motion with glitches repaired, on a level floor at height 0, at its own times.

    Raises:
        SurefootError: it is too short or not finite, or has no two legs.
    """
    cleaned = clean(motion, find_body_parts(motion)[0], feet=False)
    return replace(cleaned.motion, time=cleaned.motion.time + motion.time[cleaned.first])


def clip_signals(motion: Motion, start: float | None = None, end: float | None = None) -> GaitSignals:
    """Signals of the longest even stretch of a clip, or of all frames of a saved simulated motion.

    Args:
        motion: without a scene, z up.
        start: frames count from here on [s].
        end: and up to here [s].

    Raises:
        SurefootError: it has no two legs, no stride forward, or no frames within the window.
    """
    saved = motion.contact_force.size > 0
    motion = motion if saved else clean_clip(motion)
    parts, _ = find_body_parts(motion)
    time, (places, turns) = motion.time, world_poses(motion)
    heading = facing_of(places[:, [parts.left.hip, parts.right.hip]], time)
    standing_lean = _standing_lean(motion.skeleton, parts)
    places, parts = _with_toes(time, places, turns, heading, parts)
    markers = _markers(places, parts)
    load, stride_time = None, float("nan")
    if saved:
        force = motion.contact_force[:, :2, 2]
        mass = float(force.sum(axis=1).mean()) / GRAVITY
        load, stands = loads_and_stances(force, mass * GRAVITY, time)
        inside = np.flatnonzero(frames_within(time, start, end))
        first, last = int(inside[0]), int(inside[-1])
    else:
        stands, (first, last), stride_time = _clip_stances(time, places, markers, heading, parts, start, end)
    sole = markers.toe - markers.ankle
    pitch = np.stack([np.arctan2(sole[:, s, 2], along_heading(sole[:, s], heading)) for s in (0, 1)], axis=1)
    pitch = np.unwrap(pitch, axis=0)
    for s in (0, 1):  # the line from ankle to toe falls forward while the foot is flat
        pitch[:, s] -= np.median(pitch[_flat(stands[:, s]), s])
    spine = markers.neck - markers.trunk_low
    across = (markers.hip if markers.shoulder is None else markers.shoulder)[:, 0]
    across = across - (markers.hip if markers.shoulder is None else markers.shoulder)[:, 1]
    whole = assemble_signals(
        time, heading, markers,
        np.arctan2(along_heading(spine, heading), spine[:, 2]) - standing_lean,
        np.arctan2(across[:, 2], np.hypot(across[:, 0], across[:, 1])), pitch,
        motion.com if saved else _center_of_mass(markers), stands, np.zeros((len(motion), 0)),
        load=load, slip=motion.slip[:, :2] if saved else None,
    )  # fmt: skip
    whole = replace(whole, joint_speed=_sagittal_speeds(whole), stride_time=stride_time)
    return cut(whole, first, last + 1)


def _markers(places: np.ndarray, parts: BodyParts) -> Markers:
    legs = (parts.left, parts.right)
    hip, knee, ankle, toe = (
        np.stack([places[:, getattr(leg, part)] for leg in legs], axis=1) for part in ("hip", "knee", "ankle", "tip")
    )
    low = hip.mean(axis=1)
    arms = None if parts.left_arm is None or parts.right_arm is None else (parts.left_arm, parts.right_arm)
    shoulder = None if arms is None else places[:, [a.shoulder for a in arms]]
    neck = places[:, parts.trunk[-1]] if parts.trunk else low + np.array([0.0, 0.0, 0.5])
    return Markers(
        hip, knee, ankle, toe, neck if shoulder is None else shoulder.mean(axis=1), low, shoulder,
        None if arms is None else places[:, [a.elbow for a in arms]],
        None if parts.head is None else places[:, parts.head],
    )  # fmt: skip


def _with_toes(
    time: np.ndarray, places: np.ndarray, turns: np.ndarray, heading: np.ndarray, parts: BodyParts
) -> tuple[np.ndarray, BodyParts]:
    """Places and parts of a body with toes: a foot that has no toe joint gets one that turns as its ankle does."""
    legs = [parts.left, parts.right]
    ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))], axis=1)
    for s, leg in enumerate(legs):
        if leg.toe is not None:
            continue
        speed, length = horizontal_speeds(places[:, leg.ankle], time), leg_length(places, leg)
        flat = speed <= np.quantile(speed, _STILL)
        ball = length * (_BALL[0] * ahead[flat] + np.array([0.0, 0.0, _BALL[1]]))
        own = quat.rotate(quat.inverse(turns[flat, leg.ankle]), ball).mean(axis=0)
        toe = places[:, leg.ankle] + quat.rotate(turns[:, leg.ankle], own)
        legs[s] = replace(leg, toe=places.shape[1])
        places = np.concatenate([places, toe[:, None]], axis=1)
    return places, replace(parts, left=legs[0], right=legs[1])


def _clip_stances(
    time: np.ndarray, places: np.ndarray, markers: Markers, heading: np.ndarray, parts: BodyParts,
    start: float | None, end: float | None,
) -> tuple[np.ndarray, tuple[int, int], float]:  # fmt: skip
    """(n, 2) whether each foot is on the ground, the ends of the longest even stretch, and its mean stride time [s]."""
    legs = (parts.left, parts.right)
    pelvis, length = markers.hip.mean(axis=1), leg_length(places, parts.left)
    stances = [stance_heights(places, time, leg) for leg in legs]

    def ahead(joint: np.ndarray, base: np.ndarray) -> np.ndarray:
        return np.stack([along_heading(joint[:, s] - base, heading) for s in (0, 1)], axis=1)

    still = np.zeros(3)
    paths = FootPaths(
        ahead(markers.ankle, pelvis), ahead(markers.toe, pelvis),
        markers.ankle[:, :, 2] - [own.ankle for own in stances], markers.toe[:, :, 2] - [own.toe for own in stances],
        *(ahead(np.gradient(joint, time, axis=0), still) for joint in (markers.ankle, markers.toe)),
    )  # fmt: skip
    inside = np.flatnonzero(frames_within(time, start, end))
    events = [
        FootEvents(*(tuple(f for f in frames if inside[0] <= f <= inside[-1]) for frames in (e.strikes, e.offs)))
        for e in find_events(time, paths, length)
    ]
    way = np.concatenate([[0.0], np.cumsum(along_heading(np.diff(pelvis, axis=0), heading[1:]))])
    first, last = steady_stretch(time, (events[0], events[1]), way, heading)
    speed = float(way[last] - way[first]) / float(time[last] - time[first])
    grounded = [narrow_to_ground(own, paths, foot, length, speed) for foot, own in enumerate(events)]
    kept = [
        after
        for rough, fine in zip(events, grounded, strict=True)
        for before, after in zip((*rough.strikes, *rough.offs), (*fine.strikes, *fine.offs), strict=True)
        if first <= before <= last
    ]
    strides = [
        float(time[b] - time[a])
        for own in events for frames in (own.strikes, own.offs) for a, b in pairwise(frames) if first <= a and b <= last
    ]  # fmt: skip
    stands = np.stack([own.stands(len(time)) for own in grounded], axis=1)
    return stands, (max(min(kept) - 1, 0), max(kept)), float(np.mean(strides))


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
    return float(np.arctan2(along_heading(spine[None], np.array([facing]))[0], spine[2]))


def _center_of_mass(markers: Markers) -> np.ndarray:
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
