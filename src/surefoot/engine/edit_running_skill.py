"""Other numbers for a skill while it runs: blended with another skill's, or those of another version of itself."""

from __future__ import annotations

import numpy as np

from surefoot.engine.commands import slot_of
from surefoot.engine.scene import Scene
from surefoot.errors import CommandError
from surefoot.native import userdata
from surefoot.skills.schema import Skill


def blend(scene: Scene, row: userdata.Row, running: Skill, wanted: Skill, share: float) -> None:
    """Interpolate the running skill's numbers towards another of the same structure (share 0 … 1)."""
    if not 0.0 <= share <= 1.0:
        raise CommandError(f"a blend takes a share of 0 … 1, got {share}")
    slot = row.slots[slot_of(scene, row, running)]
    mine, theirs = slot.copy(), slot.copy()
    for target, skill in ((mine, running), (theirs, wanted)):
        scene.fill_array(target, skill)
    if not scene.can_blend(mine, theirs):
        raise CommandError(
            f"{running.full_name} and {wanted.full_name} differ in their states' number or endings, "
            "or in how they measure or learn"
        )
    same = mine == theirs  # numbers of states are among these: they stay whole
    slot[:] = np.where(same, mine, (1.0 - share) * mine + share * theirs)


def edit_skill(scene: Scene, row: userdata.Row, running: Skill, wanted: Skill) -> bool:
    """Let the running skill be another version of itself; whether it can go on from here, else nothing is changed."""
    slot = row.slots[slot_of(scene, row, running)]
    if wanted.controller != running.controller or not scene.has_room(wanted):
        return False
    filled = np.zeros_like(slot)
    scene.fill_array(filled, wanted)
    if not scene.is_compatible(slot, filled):
        return False
    slot[:] = filled
    return True
