"""Forward kinematics: world positions and orientations of the joints of a motion and of the segments of a character."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.characters.table import CharacterTable, Hinge
from surefoot.errors import CharacterError
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion, Skeleton


def parents_first(skeleton: Skeleton) -> list[int]:
    """All joints, each after its parent."""
    joints = [int(j) for j in np.flatnonzero(skeleton.parents < 0)]
    for joint in joints:  # the list grows while it is traversed
        joints += [int(j) for j in np.flatnonzero(skeleton.parents == joint)]
    return joints


def chain_from_root(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints from the root down to `joint`, both included."""
    found = [joint]
    while skeleton.parents[found[-1]] >= 0:
        found.append(int(skeleton.parents[found[-1]]))
    return found[::-1]


def rest_positions(skeleton: Skeleton) -> np.ndarray:
    """(joints, 3) positions relative to the root when all rotations are zero [m]."""
    positions = np.zeros((len(skeleton.names), 3))
    for joint in parents_first(skeleton):
        if skeleton.parents[joint] >= 0:
            positions[joint] = positions[skeleton.parents[joint]] + skeleton.offsets[joint]
    return positions


def world_poses(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """World positions (n, joints, 3) [m] and orientations (n, joints, 4) of all joints."""
    skeleton = motion.skeleton
    turns = motion.rotations.copy()
    places = np.empty((*turns.shape[:2], 3))
    for joint in parents_first(skeleton):
        parent = int(skeleton.parents[joint])
        if parent < 0:
            places[:, joint] = motion.root_position
        else:
            turns[:, joint] = quat.multiply(turns[:, parent], motion.rotations[:, joint])
            places[:, joint] = places[:, parent] + quat.rotate(turns[:, parent], skeleton.offsets[joint])
    return places, turns


def check_is_table(table: CharacterTable) -> None:
    """Refuse a character imported from an MJCF file: its axes and rest pose differ from those of our tables."""
    if table.imported is not None:
        raise CharacterError(f"{table.name} was read from a file; clips are retargeted to bodies written as tables")


def hinge_rotations(hinges: tuple[Hinge, ...], angles: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """(n, 3, 3) rotation of a segment in its parent's frame by the angles (n,) [rad] of its hinges."""
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    for hinge in hinges:
        turn = quat.multiply(turn, quat.exp(np.outer(angles[hinge.name], hinge.axis)))
    return quat.to_matrices(turn)


def segment_poses(
    table: CharacterTable, angles: Mapping[str, np.ndarray], root_position: np.ndarray, root_rotation: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """World positions (n, 3) [m] and orientations (n, 3, 3) of all segments by name.

    Args:
        table: the character.
        angles: (n,) [rad] by hinge.
        root_position: (n, 3) [m].
        root_rotation: (n, 4).

    Raises:
        CharacterError: the character was imported from a file.
    """
    check_is_table(table)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for part in table.segments:
        if part.parent == "world":
            found[part.name] = (root_position, quat.to_matrices(root_rotation))
            continue
        at, frame = found[part.parent]
        turn = hinge_rotations(part.hinges, angles, len(at))
        found[part.name] = (at + frame @ np.asarray(part.offset), frame @ turn)
    return found


def sole_points(table: CharacterTable, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends (m, 3) of the shapes a foot stands on, in the foot's frame, and their radii (m,) [m].

    Toes that are segments of their own do not count.
    """
    foot = (table.anatomy.left, table.anatomy.right)[side].foot
    part = next(part for part in table.segments if part.name == foot)
    shapes = [shape for shape in part.shapes if shape.sole]
    points = [np.asarray(end) for shape in shapes for end in (shape.start, shape.end)]
    radii = [shape.radius for shape in shapes for _ in range(2)]
    if not points:
        points, radii = [np.array([0.0, 0.0, -table.sole_depth])], [0.0]
    return np.array(points), np.array(radii)


def sole_depth_below_ankle(table: CharacterTable, side: int, foot: np.ndarray) -> np.ndarray:
    """(n,) how far the lowest point of a sole is below its ankle [m], for orientations (n, 3, 3) of the foot."""
    points, radii = sole_points(table, side)
    return np.asarray((radii - (foot @ points.T)[:, 2]).max(axis=1))
