"""Where a character bears on the ground: patches of its soles, and the forces they can give (da Silva 2008, eq. 9c).

A patch is held still by as many independent rows as it has freedoms: six for a face, five for an edge, which may roll
over itself, three or two in a plane; toes that lie flat beside their foot add one. Four corners of a foot as twelve
rows would be redundant, and solvers fail on them. The normal of the ground is the patch's own: a sole that lies flat
knows the slope it lies on.

Which feet bear now: those that the reference says, as far as they have come to the ground.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable

FREE, FLAT, TOE, HEEL = range(4)  # how a foot bears: not, on its whole sole, on what is in front, on its rear edge
FACE, EDGE, HINGE = range(3)  # what holds a patch: every freedom, all but rolling about its y, only that
_EDGE = 0.02  # [m] from the outermost corner up to which corners make up an edge


@dataclass(frozen=True)
class Patch:
    """Points of a body's sole that bear, in the body's frame (m, 3) [m], and which rows hold them."""

    body: int
    corners: np.ndarray
    rows: int


def foot_patches(model: mujoco.MjModel, table: CharacterTable, side: int) -> tuple[tuple[Patch, ...], ...]:
    """What the left (0) or right (1) leg can stand on, by how it bears: nothing for `FREE`.

    Toes, where there are any, are flat with the whole sole, and are what is in front.
    """
    leg = (table.anatomy.left, table.anatomy.right)[side]
    found = {}
    for segment in table.segments:
        ends = [(end, s.radius) for s in segment.shapes if s.sole for end in (s.start, s.end)]
        if ends and (segment.name == leg.foot or segment.parent == leg.foot):
            corners = np.array([(x, y, z - radius) for (x, y, z), radius in ends])
            found[segment.name == leg.foot] = (int(model.body(segment.name).id), corners)
    body, corners = found[True]
    rear = Patch(body, corners[corners[:, 0] <= corners[:, 0].min() + _EDGE], EDGE)
    if False not in found:
        front = Patch(body, corners[corners[:, 0] >= corners[:, 0].max() - _EDGE], EDGE)
        return (), (Patch(body, corners, FACE),), (front,), (rear,)
    toes, tips = found[False]
    ahead = tips[tips[:, 0] >= tips[:, 0].max() - _EDGE]
    return (), (Patch(body, corners, FACE), Patch(toes, ahead, HINGE)), (Patch(toes, tips, FACE),), (rear,)


def friction_cone_edges(friction: float, planar: bool) -> np.ndarray:
    """(edges, 3) edges of the friction cone about z, V of eq. 9b: each has a normal part of 1."""
    edges = [(friction, 0.0, 1.0), (-friction, 0.0, 1.0)]
    return np.array(edges if planar else [*edges, (0.0, friction, 1.0), (0.0, -friction, 1.0)])


_TILTED = math.sin(math.radians(8.0))  # of a sole, from which on it bears on an edge


def contact_modes(wanted: Sequence[int], landed: Sequence[bool], axes: Sequence[np.ndarray]) -> tuple[int, int]:
    """How the feet bear.

    A foot that swings and touches has not landed: it scuffs, and would be pinned.

    Args:
        wanted: how the reference's do.
        landed: which feet have come to the ground since they were to.
        axes: (3, 3) of both feet.
    """
    return _contact_mode(0, wanted, landed, axes), _contact_mode(1, wanted, landed, axes)


def _contact_mode(side: int, wanted: Sequence[int], landed: Sequence[bool], axes: Sequence[np.ndarray]) -> int:
    if wanted[side] == FREE or (landed[1 - side] and not landed[side]):
        return FREE
    if wanted[side] == TOE:
        return TOE
    up = float(axes[side][2, 0])  # of the sole's x
    return HEEL if up > _TILTED else TOE if up < -_TILTED else FLAT
