"""What a controller needs around its law, as the rest of the package sees it; those there are stand in `kits`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from surefoot.controllers import simbicon
from surefoot.native import memory
from surefoot.skills.schema import Skill

DEGREES = "°"  # what people write angles in, which are radians inside
_ANGLES = dict.fromkeys(simbicon.COMMANDS, DEGREES) | {"speed": "m/s"}
UNITS: dict[str, dict[str, str]] = {
    "simbicon": _ANGLES,
    "imitation": _ANGLES | {"ahead": DEGREES},
    "genbicon": {
        "speed": "m/s", "heading": DEGREES, "lean": DEGREES, "step_time": "s", "step_height": "m", "step_width": "m",
        "sideways": "m/s", "stop": "",
    },
    "limit_cycle": {"speed": "m/s", "heading": DEGREES, "turn": DEGREES, "lean": "", "tilt": ""},
    "stepping": {
        "speed": "m/s", "sideways": "m/s", "heading": DEGREES, "crouch": "", "pull": "N", "lean": DEGREES, "stop": "",
    },
}  # fmt: skip
"""What people write the commands of each controller in."""


class Kit(Protocol):
    """The numbers around a law, for one body and one time step.

    `units` says what people write each command in; a share has none, nor has one that is on or off (0 … 1).
    """

    commands: tuple[str, ...]
    ranges: dict[str, tuple[float, float]]
    units: dict[str, str]

    @property
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""

    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers while it runs a skill; None: any that needs no more than usual."""

    def table_size(self, skill: Skill) -> int:
        """Numbers it learns."""

    def fill(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot."""

    def begin(self, row: memory.Row, skill: Skill, seed: int) -> None:
        """Write what it remembers at its start."""

    def grow(self, row: memory.Row, length: float, torque: float) -> None:
        """Let what it remembers follow a body whose legs and whose torques are so many times what they were."""

    def tell(self, row: memory.Row, name: str, value: float) -> None:
        """Set a command."""

    def told(self, row: memory.Row, skill: Skill, name: str) -> float | None:
        """What a command was set to; None: nothing, it is as the skill has it."""

    def release(self, row: memory.Row, skill: Skill, name: str) -> None:
        """Leave a command to the skill again."""

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two filled slots can be blended."""

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the law that runs with one filled slot can go on with the other from any moment."""


def own_value(skill: Skill, name: str) -> float:
    """What a command is that nobody has given."""
    return skill.start.heading if name == "heading" else 0.0
