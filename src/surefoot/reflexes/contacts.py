"""What touches the ground, and what else, now: read from this step's own contact list."""

from __future__ import annotations

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.native.physics import ELSEWHERE, GROUND, OTHER, World


@kernel
def detect_foot_contacts(world: World, touch: np.ndarray) -> bool:
    """Set `touch` per foot; true if any other part of the character bears on the ground."""
    for foot in range(len(touch)):
        touch[foot] = 0.0
    fallen = False
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.part[world.geom_body[contact.geom1]], world.part[world.geom_body[contact.geom2]]
        if two == GROUND:
            one, two = two, one
        if one != GROUND or two == ELSEWHERE or contact.exclude != 0:
            continue
        if two == OTHER:
            fallen = True
        elif two >= 0.0:
            touch[int(two)] = 1.0
    return fallen


@kernel
def find_touched_object(world: World) -> tuple[int, int]:
    """A thing that the character touches, and with which body; 0 and 0 if there is none."""
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.geom_body[contact.geom1], world.geom_body[contact.geom2]
        if world.part[two] == ELSEWHERE:
            one, two = two, one
        if world.part[one] != ELSEWHERE or world.part[two] == ELSEWHERE or world.part[two] == GROUND:
            continue
        if contact.exclude == 0:
            return one, two
    return 0, 0
