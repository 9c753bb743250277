"""Which feet touch the ground now, read from this step's own contact list."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel
from surefoot.native.world import ELSEWHERE, GROUND, OTHER


@kernel
def feel_ground(world: Any, touch: Any) -> bool:
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
