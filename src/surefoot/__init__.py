"""Surefoot: simulated people who walk, run, stumble and recover by control alone.

One sentence holds the vocabulary: a *character* on a *terrain*, driven by a *controller* with a *skill*,
recorded as a *motion*. World axes: x forward, y left, z up; SI units and radians.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import characters, skills, tasks, terrains
    from surefoot.controllers.action_graph import ActionGraph, load_graph
    from surefoot.engine.devices import using_device
    from surefoot.engine.population import Population
    from surefoot.engine.scene import Push, Setup
    from surefoot.engine.simulation import Simulation, Snapshot
    from surefoot.errors import SurefootError
    from surefoot.motions.motion import Motion
    from surefoot.motions.motion import load as load_motion
    from surefoot.skills import load as load_skill
    from surefoot.skills import with_parameters
    from surefoot.skills.schema import Skill
    from surefoot.terrains import Terrain, props

__version__ = "0.3.0.dev0"

__all__ = [
    "ActionGraph",
    "Motion",
    "Population",
    "Push",
    "Setup",
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
    "using_device",
    "with_parameters",
]

_HOMES = {  # module and name there of every public name; none is imported before it is used
    "ActionGraph": ("controllers.action_graph", "ActionGraph"),
    "Motion": ("motions.motion", "Motion"),
    "Population": ("engine.population", "Population"),
    "Push": ("engine.scene", "Push"),
    "Setup": ("engine.scene", "Setup"),
    "Simulation": ("engine.simulation", "Simulation"),
    "Skill": ("skills.schema", "Skill"),
    "Snapshot": ("engine.simulation", "Snapshot"),
    "SurefootError": ("errors", "SurefootError"),
    "Terrain": ("terrains.terrain", "Terrain"),
    "load_graph": ("controllers.action_graph", "load_graph"),
    "load_motion": ("motions.motion", "load"),
    "load_skill": ("skills", "load"),
    "using_device": ("engine.devices", "using_device"),
    "with_parameters": ("skills", "with_parameters"),
}
_MODULES = {
    "characters": "characters",
    "props": "terrains.props",
    "skills": "skills",
    "tasks": "tasks",
    "terrains": "terrains",
}

_RENAMED = {"varied": "with_parameters"}  # public names of version 0.2, which keep working for one release


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        return importlib.import_module(f"surefoot.{_MODULES[name]}")
    if name in _RENAMED:
        warnings.warn(f"surefoot.{name} is called surefoot.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    module, own = _HOMES[name]
    found = getattr(importlib.import_module(f"surefoot.{module}"), own)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Public names, whether they have been used or not."""
    return sorted({*globals(), *__all__})
