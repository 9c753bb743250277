"""What a skill file says of itself under `measured`: how it moves, once settled."""

from __future__ import annotations

import math

from surefoot.lab.measures import measure
from surefoot.simulation import Simulation
from surefoot.skills.schema import Measured, Skill
from surefoot.terrains.terrain import Terrain

_SETTLE, _JUDGED, _FPS = 15.0, 5.0, 200.0  # [s], [s], frames per second


def measured(skill: Skill, terrain: str | Terrain = "flat") -> Measured | None:
    """Speed along the heading, cadence and cost of transport of a skill simulated from its start; None if it falls.

    `terrain` is the ground it is made for.
    """
    sim = Simulation(skill.character, skill, terrain)
    sim.step(round(_SETTLE / sim.model.opt.timestep))
    gait = measure(sim.run(_JUDGED, fps=_FPS))
    if sim.fallen:
        return None
    moves = math.hypot(gait.speed, gait.sideways) > 0.05  # a cost per metre says nothing of what stays where it is
    return Measured(
        speed=round(gait.speed, 2) + 0.0,  # no negative zero
        cadence=round(gait.cadence, 2),
        cost_of_transport=round(gait.cost_of_transport, 2) if moves else None,
    )
