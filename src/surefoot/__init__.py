"""Surefoot: simulated people who walk, run, stumble and recover by control alone.

One sentence holds the vocabulary: a *character* on a *terrain*, driven by a *controller* with a *skill*,
recorded as a *motion*. World axes: x forward, y left, z up; SI units and radians.
"""

from __future__ import annotations

from surefoot.characters import names as characters
from surefoot.errors import SurefootError
from surefoot.motions.motion import Motion, load as load_motion
from surefoot.population import Population
from surefoot.scene import Push
from surefoot.simulation import Simulation, Snapshot
from surefoot.skills import Skill, load as load_skill, names as skills, varied
from surefoot.terrains import Terrain, names as terrains

__version__ = "0.1.0"

__all__ = [
    "Motion",
    "Population",
    "Push",
    "Simulation",
    "Skill",
    "Snapshot",
    "SurefootError",
    "Terrain",
    "characters",
    "load_motion",
    "load_skill",
    "skills",
    "terrains",
    "varied",
]
