"""The same moment in another body: how a simulation goes on when lengths and masses change under it.

Angles, rates and places in the world stay; what depends on the body's size or strength follows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.characters.table import standing_height
from surefoot.engine.commands import running_part
from surefoot.engine.scene import Scene
from surefoot.errors import CommandError
from surefoot.skills.schema import Skill

if TYPE_CHECKING:
    from surefoot.engine.simulation import Simulation


def check_can_rescale(sim: Simulation) -> None:
    """Refuse a change of body where something relies on the present one."""
    if not all(task.is_over for task in sim.tasks):
        raise CommandError("its body cannot change while it has a task to do; wait until that is over")


def skills_needing_most_memory(scene: Scene, running: Skill) -> tuple[Skill, ...]:
    """Skills for which a new scene has to make as much room as a scene has, beside the running one."""
    known = [running, scene.skill, *scene.may_run]
    learned = max(known, key=lambda skill: scene.controller(skill).table_size(skill))
    remembered = max(known, key=lambda skill: scene.controller(skill).memory_size(skill))
    return tuple(skill for skill in (learned, remembered) if skill is not running)


def transfer_state(old: Simulation, new: Simulation) -> None:
    """Let a fresh simulation go on from where another is.

    Its root is lifted or lowered so that the lower sole keeps its height above the ground.

    Args:
        old: where it is; nothing of it is changed.
        new: of the same character, with other proportions; changed in place.
    """
    snapshot = old.snapshot()
    new.restore(replace(snapshot, world=""))  # of another body
    height = 1 if new.scene.table.root == "planar" else 2
    change = old.scene.clearance(old.data.qpos) - new.scene.clearance(new.data.qpos)
    if change != 0.0:
        new.data.qpos[height] += change
    header = new.memory.header[0]
    active, running = int(header.active), running_part(new.scene, new.memory, snapshot.skill)
    _rescale(new.memory.slots[active], old.scene, new.scene, running)
    if snapshot.requested is not None:
        new.scene.fill(new.memory, 1 - active, snapshot.requested)
    elif header.family != 0.0 and snapshot.skill.slow is not None:
        other = new.scene.find(snapshot.skill.slow.skill) if running is snapshot.skill else snapshot.skill
        new.scene.fill(new.memory, 1 - active, other)
    before, after = old.scene.table, new.scene.table
    length, torque = standing_height(after) / standing_height(before), after.strength / before.strength
    new.scene.controller(running).rescale(new.memory, length, torque)
    mujoco.mj_fwdPosition(new.model, new.data)


def _rescale(slot: np.ndarray, old: Scene, new: Scene, skill: Skill) -> None:
    """Let the running skill's numbers follow the body, in place, also where they are a blend with another skill's."""
    before, after = np.zeros_like(slot), np.zeros_like(slot)
    old.fill_array(before, skill)
    new.fill_array(after, skill)
    ratio = np.divide(after, before, out=np.ones_like(slot), where=before != 0.0)
    slot[:] = np.where(slot == before, after, slot * ratio)
