"""A retargeted clip as a motion of the body it was made for, to be drawn and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.retarget_pose import quaternions, turned_by
from surefoot.motions.retargeting import Retargeted, coordinates

if TYPE_CHECKING:
    from surefoot.scene import Scene


def motion_of(found: Retargeted, table: CharacterTable, scene: Scene | None = None) -> Motion:
    """The same frames as a motion of the character's parts.

    Args:
        found: what its joints do.
        table: the character.
        scene: with one of this character, it is drawn with its own body; without, as a stick figure.
    """
    order = [part.name for part in table.segments]
    rotations = np.empty((len(found.time), len(order), 4))
    for i, part in enumerate(table.segments):
        root = part.parent == "world"
        turn = turned_by(part.hinges, found.angles, len(found.time))
        rotations[:, i] = found.root_rotation if root else quaternions(turn)
    skeleton = Skeleton(
        tuple(order),
        np.array([-1 if part.parent == "world" else order.index(part.parent) for part in table.segments]),
        np.array([part.offset for part in table.segments]),
    )
    qpos = np.zeros(0)
    if scene is not None:
        qpos = np.tile(scene.model.qpos0, (len(found.time), 1))
        own = coordinates(table, found)
        qpos[:, : own.shape[1]] = own
    return Motion(found.time, skeleton, found.root_position, rotations, qpos=qpos, scene=scene)
