"""Where a character bears on the ground: patches of its soles, and the forces they can give (da Silva 2008, eq. 9c).

A patch is held still by as many independent rows as it has freedoms: six for a face, five for an edge, which may roll
over itself, three or two in a plane; toes that lie flat beside their foot add one. Four corners of a foot as twelve
rows would be redundant, and solvers fail on them. The normal of the ground is the patch's own: a sole that lies flat
knows the slope it lies on.
"""

from __future__ import annotations

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


def footings(model: mujoco.MjModel, table: CharacterTable, side: int) -> tuple[tuple[Patch, ...], ...]:
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


def cone(friction: float, planar: bool) -> np.ndarray:
    """(edges, 3) edges of the friction cone about z, V of eq. 9b: each has a normal part of 1."""
    edges = [(friction, 0.0, 1.0), (-friction, 0.0, 1.0)]
    return np.array(edges if planar else [*edges, (0.0, friction, 1.0), (0.0, -friction, 1.0)])
