"""Where a character bears on the ground: patches of its soles, and the forces they can give (da Silva 2008, eq. 9c).

A patch is held still by as many independent rows as it has freedoms: six for a face, five for an edge, which may roll
over itself, three or two in a plane. Four corners of a foot as twelve rows would be redundant, and solvers fail on
them. The normal of the ground is the patch's own: a sole that lies flat knows the slope it lies on.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable

_FRONT = 0.02  # [m] behind the foremost corner up to which corners make up the front edge


@dataclass(frozen=True)
class Patch:
    """Points of a body's sole that bear, in the body's frame (m, 3) [m]; a face, or an edge along the body's y."""

    body: int
    corners: np.ndarray
    face: bool


def patches(model: mujoco.MjModel, table: CharacterTable, side: int) -> tuple[Patch, ...]:
    """What the left (0) or right (1) leg can stand on: its foot's sole, its foot's front edge, then its toes if any."""
    leg = (table.anatomy.left, table.anatomy.right)[side]
    found = []
    for segment in table.segments:
        if segment.name != leg.foot and segment.parent != leg.foot:
            continue
        ends = [(end, s.radius) for s in segment.shapes if s.sole for end in (s.start, s.end)]
        if not ends:
            continue
        corners = np.array([(x, y, z - radius) for (x, y, z), radius in ends])
        body = int(model.body(segment.name).id)
        found.append(Patch(body, corners, True))
        if segment.name == leg.foot:
            found.append(Patch(body, corners[corners[:, 0] >= corners[:, 0].max() - _FRONT], False))
    return tuple(found)


def cone(friction: float, planar: bool) -> np.ndarray:
    """(edges, 3) edges of the friction cone about z, V of eq. 9b: each has a normal part of 1."""
    edges = [(friction, 0.0, 1.0), (-friction, 0.0, 1.0)]
    return np.array(edges if planar else [*edges, (0.0, friction, 1.0), (0.0, -friction, 1.0)])
