"""A clip's motion on a body of ours: limbs that point as in the clip, feet on the ground where the clip's are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.characters.limbs import LEFT, RIGHT, Link, of_table
from surefoot.characters.table import CharacterTable
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Parts
from surefoot.motions.retarget_angles import angles_of
from surefoot.motions.retarget_frames import Frames, frames_of
from surefoot.motions.retarget_legs import above_ground, bones_of, goals, reached, root_moves, weights
from surefoot.motions.retarget_pose import check_written_down, places, quaternions
from surefoot.motions.sagittal import flattened
from surefoot.motions.touches import touches

_TURNED_OUT = np.radians(8.0)  # of a foot against its shank, from which on its loss is told


@dataclass(frozen=True)
class Retargeted:
    """What a body's joints and its root do; joints go by name."""

    time: np.ndarray  # (n,) [s]
    angles: dict[str, np.ndarray]  # (n,) [rad]
    root_position: np.ndarray  # (n, 3) [m]
    root_rotation: np.ndarray  # (n, 4) w first
    contacts: np.ndarray  # (n, 2) whether the left and the right foot stand
    scale: float  # of lengths, ours by the clip's
    notes: tuple[str, ...]  # what was understood and what is lost, in words


def retarget(motion: Motion, parts: Parts, table: CharacterTable) -> Retargeted:
    """Carry a clip over to a character.

    Bones point as in the clip, seen from an upright reference posture that both have; the root's path is scaled by
    leg length. Where thigh and shank have other shares of the leg, the root gives way to the foot that stands and
    the legs' bends make up for what is left, so that soles keep their height above the ground. A body in a plane gets
    the clip's shadow on its sagittal plane.

    Args:
        motion: the clip, cleaned; its floor is found anew for each foot.
        parts: which of its joints is what.
        table: a character that is written down as a table.
    """
    check_written_down(table)
    frames = frames_of(motion, parts)
    if table.root == "planar":
        frames = flattened(frames, motion.time)
    bones = [bones_of(table, side) for side in (LEFT, RIGHT)]
    scale = float(np.mean([bone.length for bone in bones])) / frames.leg_length
    root = frames.trunk if table.anatomy.torso == table.anatomy.pelvis else frames.pelvis
    counts = np.array([weights(leg, frames.leg_length) for leg in frames.legs])
    middle = 0.5 * scale * (frames.legs[0].hip + frames.legs[1].hip)
    middle[:, 2] -= scale * frames.floor
    errors, wanted = [], _wanted(table, frames)
    for bone, leg in zip(bones, frames.legs, strict=True):
        hip = middle + root @ bone.hip
        errors.append(goals(table, leg, scale, bone.length, hip) - hip - leg.thigh @ bone.knee - leg.shank @ bone.ankle)
    position = middle + root_moves(np.array(errors), counts)
    for side, (bone, leg) in enumerate(zip(bones, frames.legs, strict=True)):
        ours = (table.anatomy.left, table.anatomy.right)[side]
        farther = counts[side][:, None] * (errors[side] - (position - middle))
        thigh, shank = reached(bone, leg.thigh, leg.shank, farther)
        ankle = position + root @ bone.hip + thigh @ bone.knee + shank @ bone.ankle
        wanted |= {ours.thigh: thigh, ours.shin: shank}
        if leg.toes is not None:  # they bend; a foot without is as stiff as ours
            wanted[ours.foot] = above_ground(table, side, leg.foot, ankle[:, 2])
    angles, notes = angles_of(table, root, wanted)
    turn = quaternions(root)
    position = _settled(table, frames, scale, angles, position, turn, counts)
    said = [
        f"legs of {frames.leg_length:.3f} m become legs of {scale * frames.leg_length:.3f} m: lengths × {scale:.3f}"
    ]
    said += [*frames.notes, *_turned_out(table, frames), *notes]
    standing = np.column_stack(
        [touches(motion.time, leg.clearance, leg.speed, frames.leg_length) for leg in frames.legs]
    )
    return Retargeted(motion.time - motion.time[0], angles, position, turn, standing, scale, tuple(said))


def coordinates(table: CharacterTable, found: Retargeted) -> np.ndarray:
    """(n, nq) of a simulated model of this character: its root, then its hinges, a part's before its children's."""
    angles = np.column_stack([found.angles[name] for name in hinges(table)])
    if table.root == "free":
        return np.hstack([found.root_position, found.root_rotation, angles])
    pitch = -2.0 * np.arctan2(found.root_rotation[:, 2], found.root_rotation[:, 0])
    return np.column_stack([found.root_position[:, 0], found.root_position[:, 2], np.unwrap(pitch), angles])


def hinges(table: CharacterTable) -> list[str]:
    """Names of a character's hinges in the order of its model's coordinates."""
    parts, waiting, names = {part.name: part for part in table.segments}, ["world"], list[str]()
    while waiting:
        name = waiting.pop()
        names += [hinge.name for hinge in parts[name].hinges] if name in parts else []
        waiting += [part.name for part in reversed(table.segments) if part.parent == name]
    return names


def _wanted(table: CharacterTable, frames: Frames) -> dict[str, np.ndarray]:
    """World orientations of all parts that the clip says something about, but for thighs and shanks."""
    links = of_table(table).links
    single = not any(link.kind == "upper_back" for link in links)
    found = {}
    for link in links:
        frame = _frame(link, frames, single)
        if frame is not None:
            found[link.body] = frame
    return found


def _frame(link: Link, frames: Frames, single: bool) -> np.ndarray | None:
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
    table: CharacterTable, frames: Frames, scale: float, angles: dict[str, np.ndarray], position: np.ndarray,
    turn: np.ndarray, counts: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(n, 3) the root, up or down by what the limits of the joints have left over."""
    at, errors = places(table, angles, position, turn), []
    for side, leg in enumerate(frames.legs):
        ours = (table.anatomy.left, table.anatomy.right)[side]
        errors.append(goals(table, leg, scale, bones_of(table, side).length, at[ours.thigh][0]) - at[ours.foot][0])
    moves = root_moves(np.array(errors), counts)
    return np.asarray(position + moves * [0.0, 0.0, 1.0])


def _turned_out(table: CharacterTable, frames: Frames) -> list[str]:
    """Which feet are turned outward against their shanks, where our ankles cannot."""
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
