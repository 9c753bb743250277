"""How a foot bears on the ground, and the patches of its sole that carry weight then (da Silva 2008, eq. 9c).

A patch is held still by as many independent constraint rows as it has degrees of freedom: six for a face, five for an
edge, which may roll over itself, three or two in a plane; toes that lie flat beside their foot add one. Twelve rows for
the four corners of a foot would be redundant, and solvers fail on them. A patch uses its own normal as the ground's: a
sole that lies flat knows the slope it lies on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable

FREE, FLAT, TOE, HEEL = range(4)  # contact modes of a foot: none, whole sole, what is in front, rear edge
FACE, EDGE, HINGE = range(3)  # rows that hold a patch: all, all but rolling about its y axis, only that rolling
PITCHED = math.sin(math.radians(7.0))  # sine of a sole's pitch from which on a reference's foot bears on an edge
TILTED = math.sin(math.radians(8.0))  # the same of a simulated foot
_HEEL_RISES = math.sin(math.radians(0.4))  # sine of the pitch at which the heel of a rolling foot leaves the ground
_EDGE = 0.02  # [m] from the outermost corner within which corners make up an edge


@dataclass(frozen=True)
class Patch:
    """Points of a body's sole that bear: (m, 3) in the body's frame [m], and which rows hold them."""

    body: int
    corners: np.ndarray
    rows: int


def foot_patches(model: mujoco.MjModel, table: CharacterTable, side: int) -> tuple[tuple[Patch, ...], ...]:
    """Patches that the left (0) or right (1) leg can stand on, by contact mode; none for `FREE`.

    Toes, if the body has them, lie flat with the whole sole, and are what is in front.
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
    """(edges, 3) edges of the friction cone about z, V of eq. 9b; each has a normal component of 1."""
    edges = [(friction, 0.0, 1.0), (-friction, 0.0, 1.0)]
    return np.array(edges if planar else [*edges, (0.0, friction, 1.0), (0.0, -friction, 1.0)])


def contact_modes(
    wanted: Sequence[int], landed: Sequence[bool], axes: Sequence[np.ndarray] | np.ndarray, tilted: float = TILTED
) -> tuple[int, int]:
    """How the simulated feet bear now: as the reference's, as far as they have come to the ground.

    A swing foot that touches has not landed: it scuffs, and would be pinned.

    Args:
        wanted: contact modes of the reference's feet.
        landed: which feet have touched the ground since their swing ended.
        axes: (3, 3) orientation of each foot.
        tilted: sine of a sole's pitch from which on it bears on an edge.
    """
    found = [FREE, FREE]
    for side in (0, 1):
        if wanted[side] != FREE and (landed[side] or not landed[1 - side]):
            up = float(axes[side][2, 0])  # sine of the sole's pitch
            found[side] = TOE if wanted[side] == TOE or up < -tilted else HEEL if up > tilted else FLAT
    return found[0], found[1]


def reference_contact_modes(axes: np.ndarray, bears: np.ndarray, pitched: float = PITCHED) -> np.ndarray:
    """(n, 2) contact modes of a motion's feet with axes (n, 2, 3, 3) that bear when `bears` (n, 2) says so."""
    up = axes[:, :, 2, 0]
    return np.where(bears, np.where(up < -pitched, TOE, np.where(up > pitched, HEEL, FLAT)), FREE)


def rolling_contact_modes(axes: np.ndarray, bears: np.ndarray, pitched: float) -> np.ndarray:
    """(n, 2) contact modes of a looped motion whose feet roll: once its heel rises for good, a foot is on its toes.

    A foot that lands dips its toes a little into soft ground before it lies flat. That is no rolling: only the tilt
    that lasts until the foot lifts is, and it counts from when it begins (`_HEEL_RISES`), not from `pitched` on.

    Args:
        axes: (n, 2, 3, 3) of the feet.
        bears: (n, 2) when they bear.
        pitched: sine of a sole's pitch from which on a foot that lands bears on its heel.
    """
    found, up, n = reference_contact_modes(axes, bears, pitched), axes[:, :, 2, 0], len(bears)
    found[found == TOE] = FLAT
    for side in (0, 1):
        for lift in np.flatnonzero(bears[:, side] & ~np.roll(bears[:, side], -1)):
            for i in range(lift, lift - n, -1):
                if not bears[i, side] or up[i, side] > -_HEEL_RISES:
                    break
                found[i, side] = TOE
    return found
