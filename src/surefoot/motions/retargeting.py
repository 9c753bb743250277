"""Retargeting: the motion of a captured clip on one of our characters.

Limbs point as in the clip, soles keep their height above the ground, and hinges stay within their limits. `retarget`
does it; `qpos_of` and `to_motion` turn the result into coordinates of the simulated model and into a motion to save.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from surefoot.characters.links import LEFT, RIGHT, Link, limbs_of_table
from surefoot.characters.table import CharacterTable, Hinge, Segment
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts
from surefoot.motions.clip_leg_ik import (
    ankle_goals,
    extend_leg,
    ground_weights,
    leg_bones_of,
    level_foot_above_ground,
    root_correction,
)
from surefoot.motions.foot_contacts import foot_stands
from surefoot.motions.forward_kinematics import check_is_table, hinge_rotations, segment_poses
from surefoot.motions.motion import Motion, SimulatedScene, Skeleton
from surefoot.motions.segment_frames import SegmentFrames, project_to_sagittal, segment_frames_of

_REPORTED = np.radians(1.0)  # a hinge that would go farther beyond its limits is reported
_OUTSIDE = 0.3  # cost of a radian beyond a limit in a frame, against that of a radian between two frames
_TURNED_OUT = np.radians(8.0)  # yaw of a foot against its shank from which on its loss is reported


def hinge_angles_of(
    table: CharacterTable, root: np.ndarray, wanted: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Find hinge angles that orient the segments of a character.

    Each segment starts from where its parent really is, so that it makes up for limits of the hinges before it.

    Args:
        table: the character; the hinges of a segment are in the order flexion, roll, yaw.
        root: (n, 3, 3) world orientation of the root.
        wanted: (n, 3, 3) world orientations by segment; hinges of segments that are not named stay at 0.

    Returns:
        Angles (n,) [rad] of all hinges, and a sentence for each hinge whose limits were in the way.
    """
    angles: dict[str, np.ndarray] = {}
    frames, notes = {}, []
    for part in table.segments:
        if part.parent == "world":
            frames[part.name] = root
            continue
        parent = frames[part.parent]
        if part.name in wanted:
            turn = np.swapaxes(parent, 1, 2) @ wanted[part.name]
            found = _angles(part, turn)
        else:
            found = {hinge.name: np.zeros(len(root)) for hinge in part.hinges}
        for hinge in part.hinges:
            angles[hinge.name] = np.clip(found[hinge.name], hinge.low, hinge.high)
            notes += _beyond(hinge, found[hinge.name] - angles[hinge.name])
        frames[part.name] = parent @ hinge_rotations(part.hinges, angles, len(root))
    return angles, notes


def _beyond(hinge: Hinge, excess: np.ndarray) -> list[str]:
    """One sentence if a hinge was clipped, given by how much (n,) [rad]."""
    outside = np.abs(excess) > _REPORTED
    if not outside.any():
        return []
    most, share = np.degrees(np.abs(excess).max()), 100.0 * outside.mean()
    return [
        f"{hinge.name} would go up to {most:.0f}° beyond its limits in {max(share, 1.0):.0f} % of the frames and is "
        "held at them"
    ]


def _angles(part: Segment, turn: np.ndarray) -> dict[str, np.ndarray]:
    """Angles of a segment's hinges, without limits, for rotations (n, 3, 3) in its parent's frame."""
    if len(part.hinges) == 1:  # the nearest rotation about y
        one = np.arctan2(turn[:, 0, 2] - turn[:, 2, 0], turn[:, 0, 0] + turn[:, 2, 2])
        return {part.hinges[0].name: _near(one * part.hinges[0].axis[1], part.hinges[0])}
    first = np.arctan2(turn[:, 0, 2], turn[:, 2, 2])  # of Ry Rx Rz
    second = np.arctan2(-turn[:, 1, 2], np.hypot(turn[:, 1, 0], turn[:, 1, 1]))
    third = np.arctan2(turn[:, 1, 0], turn[:, 1, 1])
    ways = np.array([[first, second, third], [first + np.pi, np.pi - second, third + np.pi]])[:, : len(part.hinges)]
    signs = [hinge.axis[axis] for hinge, axis in zip(part.hinges, (1, 0, 2), strict=False)]
    ways = np.array([[_near(s * a, h) for s, a, h in zip(signs, way, part.hinges, strict=True)] for way in ways])
    chosen = _path(ways, part.hinges)[None]
    picked = np.where(chosen == 0, ways[0], ways[1])
    return {hinge.name: picked[i] for i, hinge in enumerate(part.hinges)}


def _near(angles: np.ndarray, hinge: Hinge) -> np.ndarray:
    """Angles shifted by whole turns to within half a turn of the middle of a hinge's range."""
    middle = 0.5 * (hinge.low + hinge.high)
    return np.asarray(angles - 2.0 * np.pi * np.round((angles - middle) / (2.0 * np.pi)))


def _path(ways: np.ndarray, hinges: tuple[Hinge, ...]) -> np.ndarray:
    """(n,) which of two solutions (2, hinges, n) to take in each frame, by dynamic programming over the frames.

    The sum of the angles' changes, and of what lies beyond the limits, is least.
    """
    low, high = (np.array([getattr(h, end) for h in hinges])[None, :, None] for end in ("low", "high"))
    cost = _OUTSIDE * (np.maximum(low - ways, 0.0) + np.maximum(ways - high, 0.0)).sum(axis=1)  # (2, n)
    steps = np.abs(ways[None, :, :, 1:] - ways[:, None, :, :-1]).sum(axis=2)  # (to, from, n − 1)
    count = ways.shape[2]
    best, came = cost[:, 0], np.zeros((count, 2), int)
    for i in range(1, count):
        total = steps[:, :, i - 1] + best[None]
        came[i] = total.argmin(axis=1)
        best = total.min(axis=1) + cost[:, i]
    chosen = np.zeros(count, int)
    chosen[-1] = int(best.argmin())
    for i in range(count - 1, 0, -1):
        chosen[i - 1] = came[i, chosen[i]]
    return chosen


@dataclass(frozen=True)
class RetargetedClip:
    """A clip on a character: the path of its root and the angles of its hinges by name."""

    time: np.ndarray  # (n,) [s]
    angles: dict[str, np.ndarray]  # (n,) [rad]
    root_position: np.ndarray  # (n, 3) [m]
    root_rotation: np.ndarray  # (n, 4) w first
    contacts: np.ndarray  # (n, 2) whether the left and the right foot stand
    scale: float  # lengths of the character over those of the clip
    notes: tuple[str, ...]  # what was understood and what was lost, in sentences


def retarget(motion: Motion, parts: BodyParts, table: CharacterTable) -> RetargetedClip:
    """Carry a clip over to a character.

    Bones point as in the clip, relative to an upright reference posture; the root's path is scaled by leg length. If
    thigh and shank have other proportions, the root gives way to the foot that stands and the knees make up for what
    is left, so that soles keep their height above the ground. A planar character gets the clip's projection onto its
    sagittal plane.

    Args:
        motion: the clip, cleaned.
        parts: which of its joints is which.
        table: a character written as a table.

    Raises:
        CharacterError: the character was imported from a file.
        OutputError: the clip has fewer than 3 frames.
    """
    check_is_table(table)
    frames = segment_frames_of(motion, parts)
    if table.root == "planar":
        frames = project_to_sagittal(frames, motion.time)
    bones = [leg_bones_of(table, side) for side in (LEFT, RIGHT)]
    scale = float(np.mean([bone.length for bone in bones])) / frames.leg_length
    root = frames.trunk if table.anatomy.torso == table.anatomy.pelvis else frames.pelvis
    counts = np.array([ground_weights(leg, frames.leg_length) for leg in frames.legs])
    middle = 0.5 * scale * (frames.legs[0].hip + frames.legs[1].hip)
    middle[:, 2] -= scale * frames.floor
    errors, wanted = [], _wanted(table, frames)
    for bone, leg in zip(bones, frames.legs, strict=True):
        hip = middle + root @ bone.hip
        errors.append(
            ankle_goals(table, leg, scale, bone.length, hip) - hip - leg.thigh @ bone.knee - leg.shank @ bone.ankle
        )
    position = middle + root_correction(np.array(errors), counts)
    for side, (bone, leg) in enumerate(zip(bones, frames.legs, strict=True)):
        ours = (table.anatomy.left, table.anatomy.right)[side]
        farther = counts[side][:, None] * (errors[side] - (position - middle))
        thigh, shank = extend_leg(bone, leg.thigh, leg.shank, farther)
        ankle = position + root @ bone.hip + thigh @ bone.knee + shank @ bone.ankle
        wanted |= {ours.thigh: thigh, ours.shin: shank}
        if leg.toes is not None:  # toes bend; a foot without them is as stiff as ours
            wanted[ours.foot] = level_foot_above_ground(table, side, leg.foot, ankle[:, 2])
    angles, notes = hinge_angles_of(table, root, wanted)
    turn = quat.from_matrices(root)
    position = _settled(table, frames, scale, angles, position, turn, counts)
    said = [
        f"legs of {frames.leg_length:.3f} m become legs of {scale * frames.leg_length:.3f} m: lengths × {scale:.3f}"
    ]
    said += [*frames.notes, *_turned_out(table, frames), *notes]
    standing = np.column_stack(
        [foot_stands(motion.time, leg.clearance, leg.speed, frames.leg_length) for leg in frames.legs]
    )
    return RetargetedClip(motion.time - motion.time[0], angles, position, turn, standing, scale, tuple(said))


def straighten_knees(found: RetargetedClip, table: CharacterTable, bias: float) -> RetargetedClip:
    """Take out a constant bias of a clip's skeleton that bends the knees too much.

    Skeletons that were fitted to markers with bones that are a little too long read every knee too bent, at all times
    and by the same angle. Thigh and ankle turn by half of it each, so that feet keep their pitch and the ankles stay
    under the hips as they were; the root comes up by as much as the leg that stands gets longer.

    Args:
        found: a clip on a character in space.
        table: the character.
        bias: by how much the knees are too bent [rad].

    Returns:
        The clip with straighter knees, none of them overextended.
    """
    angles, where = dict(found.angles), segment_poses(table, found.angles, found.root_position, found.root_rotation)
    for name in ("left", "right"):
        knee, hip, ankle = (table.hinges[f"{name}_{kind}"] for kind in ("knee", "hip", "ankle"))
        bent = angles[knee.name]  # negative
        straighter = np.minimum(bent + bias, np.maximum(bent, 0.0))
        half = 0.5 * (straighter - bent)
        angles[knee.name] = straighter
        for hinge in (hip, ankle):
            angles[hinge.name] = np.clip(angles[hinge.name] - half, hinge.low, hinge.high)
    moved = segment_poses(table, angles, found.root_position, found.root_rotation)
    feet = (table.anatomy.left.foot, table.anatomy.right.foot)
    lower = np.stack([where[foot][0][:, 2] - moved[foot][0][:, 2] for foot in feet], axis=1)
    rise = float(lower[found.contacts].mean()) if found.contacts.any() else 0.0
    said = f"knees were straightened by {np.degrees(bias):.0f}°, as told: the root came up by {100.0 * rise:.1f} cm"
    return replace(
        found, angles=angles, root_position=found.root_position + np.array([0.0, 0.0, rise]), notes=(*found.notes, said)
    )


def qpos_of(table: CharacterTable, found: RetargetedClip) -> np.ndarray:
    """(n, nq) coordinates of the character's simulated model: its root, then its hinges.

    Args:
        table: the character.
        found: a clip that was retargeted to it.
    """
    angles = np.column_stack([found.angles[name] for name in hinge_order(table)])
    if table.root == "free":
        return np.hstack([found.root_position, found.root_rotation, angles])
    pitch = -2.0 * np.arctan2(found.root_rotation[:, 2], found.root_rotation[:, 0])
    return np.column_stack([found.root_position[:, 0], found.root_position[:, 2], np.unwrap(pitch), angles])


def hinge_order(table: CharacterTable) -> list[str]:
    """Names of a character's hinges in the order of its model's coordinates, parents before children."""
    parts, waiting, names = {part.name: part for part in table.segments}, ["world"], list[str]()
    while waiting:
        name = waiting.pop()
        names += [hinge.name for hinge in parts[name].hinges] if name in parts else []
        waiting += [part.name for part in reversed(table.segments) if part.parent == name]
    return names


def _wanted(table: CharacterTable, frames: SegmentFrames) -> dict[str, np.ndarray]:
    """World orientations, as in the clip, of all segments except thighs and shanks."""
    links = limbs_of_table(table).links
    single = not any(link.kind == "upper_back" for link in links)
    found = {}
    for link in links:
        frame = _frame(link, frames, single)
        if frame is not None:
            found[link.body] = frame
    return found


def _frame(link: Link, frames: SegmentFrames, single: bool) -> np.ndarray | None:
    middle: Mapping[str, np.ndarray] = {
        "lower_back": frames.trunk if single else frames.belly,
        "upper_back": frames.chest,
        "neck": frames.head,
    }
    if link.kind in middle:
        return middle[link.kind]
    if link.kind in ("ankle", "toe"):
        leg = frames.legs[link.side]
        return leg.foot if link.kind == "ankle" or leg.toes is None else leg.toes
    arm = frames.arms[link.side] if link.kind in ("shoulder", "elbow", "wrist") else None
    return None if arm is None else arm[("shoulder", "elbow", "wrist").index(link.kind)]


def _settled(
    table: CharacterTable, frames: SegmentFrames, scale: float, angles: dict[str, np.ndarray], position: np.ndarray,
    turn: np.ndarray, counts: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(n, 3) the root, moved up or down to make up for the limits of the hinges."""
    at, errors = segment_poses(table, angles, position, turn), []
    for side, leg in enumerate(frames.legs):
        ours = (table.anatomy.left, table.anatomy.right)[side]
        errors.append(
            ankle_goals(table, leg, scale, leg_bones_of(table, side).length, at[ours.thigh][0]) - at[ours.foot][0]
        )
    moves = root_correction(np.array(errors), counts)
    return np.asarray(position + moves * [0.0, 0.0, 1.0])


def _turned_out(table: CharacterTable, frames: SegmentFrames) -> list[str]:
    """A sentence for each foot that is turned against its shank, which our ankles cannot do."""
    notes = []
    for name, sign, leg in zip(("left", "right"), (1.0, -1.0), frames.legs, strict=True):
        turn = np.swapaxes(leg.shank, 1, 2) @ leg.foot
        out = sign * float(np.median(np.arctan2(turn[:, 1, 0], turn[:, 1, 1])))
        if abs(out) > _TURNED_OUT:
            way = "outward" if out > 0.0 else "inward"
            notes.append(
                f"the {name} foot is turned {way} by {abs(np.degrees(out)):.0f}°; {table.name}'s ankles cannot"
            )
    return notes


def to_motion(found: RetargetedClip, table: CharacterTable, scene: SimulatedScene | None = None) -> Motion:
    """A retargeted clip as a motion of the character, to draw and save.

    Args:
        found: the retargeted clip.
        table: the character.
        scene: one with this character, so that the motion is drawn with its body; without, as a stick figure.
    """
    order = [part.name for part in table.segments]
    rotations = np.empty((len(found.time), len(order), 4))
    for i, part in enumerate(table.segments):
        root = part.parent == "world"
        turn = hinge_rotations(part.hinges, found.angles, len(found.time))
        rotations[:, i] = found.root_rotation if root else quat.from_matrices(turn)
    skeleton = Skeleton(
        tuple(order),
        np.array([-1 if part.parent == "world" else order.index(part.parent) for part in table.segments]),
        np.array([part.offset for part in table.segments]),
    )
    qpos = np.zeros(0)
    if scene is not None:
        qpos = np.tile(scene.model.qpos0, (len(found.time), 1))
        own = qpos_of(table, found)
        qpos[:, : own.shape[1]] = own
    return Motion(found.time, skeleton, found.root_position, rotations, qpos=qpos, scene=scene)
