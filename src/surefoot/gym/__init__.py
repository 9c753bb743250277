"""Gymnasium environments over any skill: one character (`SurefootEnv`) or many at once (`SurefootVectorEnv`).

Needs the optional dependency Gymnasium: `pip install 'surefoot[gym]'`.
"""

from __future__ import annotations

from surefoot.errors import SurefootError

try:
    import gymnasium as _gymnasium
except ImportError:
    raise SurefootError("surefoot.gym needs Gymnasium: pip install 'surefoot[gym]'") from None

from surefoot.gym.actions import Commands, Parameters, Residuals
from surefoot.gym.environments import SurefootEnv, SurefootVectorEnv
from surefoot.gym.episode import EnvironmentSettings, StartNoise, Tracking
from surefoot.gym.observations import MEASUREMENTS, OBSERVABLE

__all__ = [
    "IDS", "MEASUREMENTS", "OBSERVABLE", "Commands", "EnvironmentSettings", "Parameters", "Residuals", "StartNoise",
    "SurefootEnv", "SurefootVectorEnv", "Tracking",
]  # fmt: skip

IDS = {
    "Surefoot/PlanarWalk-v0": "planar/walk",
    "Surefoot/PlanarRun-v0": "planar/run",
    "Surefoot/HumanStand-v0": "human/stand",
    "Surefoot/HumanWalk-v0": "human/walk",
    "Surefoot/HumanFastWalk-v0": "human/fast-walk",
    "Surefoot/HumanRun-v0": "human/run",
}
"""Registered environments and the skill of each; any other skill is an argument: `gymnasium.make(id, skill=…)`."""


for _name, _skill in IDS.items():
    if _name not in _gymnasium.registry:
        _gymnasium.register(
            _name, "surefoot.gym:SurefootEnv", vector_entry_point="surefoot.gym:SurefootVectorEnv",
            kwargs={"skill": _skill},
        )  # fmt: skip
