"""Surefoot: simulated people who walk, run, stumble and recover by control alone.

One sentence holds the vocabulary: a *character* on a *terrain*, driven by a *controller* with a *skill*,
recorded as a *motion*. World axes: x forward, y left, z up; SI units and radians.
"""

from __future__ import annotations

from surefoot import tasks
from surefoot.characters import names as characters
from surefoot.errors import SurefootError
from surefoot.motions.motion import Motion
from surefoot.motions.motion import load as load_motion
from surefoot.population import Population
from surefoot.scene import Push
from surefoot.simulation import Simulation
from surefoot.skills import Skill, varied
from surefoot.skills import load as load_skill
from surefoot.skills import names as skills
from surefoot.snapshot import Snapshot
from surefoot.stylized.action_graph import ActionGraph, load_graph
from surefoot.terrains import Terrain, props
from surefoot.terrains import names as terrains

__version__ = "0.2.0"

__all__ = [
    "ActionGraph",
    "Motion",
    "Population",
    "Push",
    "Simulation",
    "Skill",
    "Snapshot",
    "SurefootError",
    "Terrain",
    "characters",
    "load_graph",
    "load_motion",
    "load_skill",
    "props",
    "skills",
    "tasks",
    "terrains",
    "varied",
]
