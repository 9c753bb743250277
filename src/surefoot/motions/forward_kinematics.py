"""Where a motion's joints are in the world, and how they are turned there.

Where the parts of a written-down body are in many poses at once, without a simulation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.characters.table import CharacterTable, Hinge
from surefoot.errors import CharacterError
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion, Skeleton


def parents_first(skeleton: Skeleton) -> list[int]:
    """All joints, each one after its parent."""
    joints = [int(j) for j in np.flatnonzero(skeleton.parents < 0)]
    for joint in joints:  # grows while it is gone through
        joints += [int(j) for j in np.flatnonzero(skeleton.parents == joint)]
    return joints


def chain_from_root(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints from the root down to one, itself included."""
    found = [joint]
    while skeleton.parents[found[-1]] >= 0:
        found.append(int(skeleton.parents[found[-1]]))
    return found[::-1]


def world_poses(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(n, joints, 3) places [m] and (n, joints, 4) turns of all joints in the world."""
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


def heading(places: np.ndarray, left: int, right: int) -> np.ndarray:
    """(n, 2) where a body faces, by the line from its right hip to its left one; horizontal and of length 1."""
    across = places[:, left, :2] - places[:, right, :2]
    ahead = np.column_stack([across[:, 1], -across[:, 0]])
    return np.asarray(ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9))


def check_is_table(table: CharacterTable) -> None:
    """Refuse a body read from a file: its own axes and rest pose are not those of our tables."""
    if table.imported is not None:
        raise CharacterError(f"{table.name} was read from a file; clips are retargeted to bodies written as tables")


def to_matrices(q: np.ndarray) -> np.ndarray:
    """(…, 3, 3) of unit quaternions (…, 4)."""
    columns = [quat.rotate(q, np.broadcast_to(axis, (*q.shape[:-1], 3))) for axis in np.eye(3)]
    return np.stack(columns, axis=-1)


def from_matrices(m: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions, continuous over the frames, of rotation matrices (n, 3, 3)."""
    t = np.trace(m, axis1=1, axis2=2)
    squares = np.stack([t, *(2.0 * m[:, i, i] - t for i in range(3))], axis=1)  # 4 q² − 1
    skew = np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], axis=1)
    rows = np.zeros((len(m), 4, 4))  # row k is 4 q_k q
    rows[:, 0, 0], rows[:, 0, 1:], rows[:, 1:, 0] = 1.0 + squares[:, 0], skew, skew
    rows[:, 1:, 1:] = m + np.swapaxes(m, 1, 2)
    for i in range(3):
        rows[:, 1 + i, 1 + i] = 1.0 + squares[:, 1 + i]
    best = rows[np.arange(len(m)), squares.argmax(axis=1)]
    return quat.make_continuous(best / np.linalg.norm(best, axis=1, keepdims=True))


def hinge_rotations(hinges: tuple[Hinge, ...], angles: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """(n, 3, 3) rotation of a part in its parent's frame by the angles (n,) [rad] of its hinges."""
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    for hinge in hinges:
        turn = quat.multiply(turn, quat.exp(np.outer(angles[hinge.name], hinge.axis)))
    return to_matrices(turn)


def segment_poses(
    table: CharacterTable, angles: Mapping[str, np.ndarray], root_position: np.ndarray, root_rotation: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """World positions (n, 3) [m] and orientations (n, 3, 3) of all parts by name."""
    check_is_table(table)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for part in table.segments:
        if part.parent == "world":
            found[part.name] = (root_position, to_matrices(root_rotation))
            continue
        at, frame = found[part.parent]
        turn = hinge_rotations(part.hinges, angles, len(at))
        found[part.name] = (at + frame @ np.asarray(part.offset), frame @ turn)
    return found


def sole_points(table: CharacterTable, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends (m, 3) of the shapes a foot stands on, in the foot's frame, and their radii (m,) [m].

    Toes that are parts of their own do not count.
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
