"""What an agent sees: measurements chosen by name, one after another in one flat array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from gymnasium.spaces import Box

from surefoot.errors import SurefootError, UnknownNameError
from surefoot.gym.measurements import Measurer

DTYPE = np.float32

OBSERVABLE = (
    "height", "up", "velocity", "spin", "angles", "rates", "phase", "contacts", "load", "com", "com_velocity",
    "commands", "torque",
)  # fmt: skip
"""Measurements that do not depend on where a body is, which way it goes, or since when."""

DEFAULT = ("height", "up", "velocity", "spin", "angles", "rates", "phase", "contacts")
_BOUNDS = {"up": (-1.0, 1.0), "phase": (-1.0, 1.0), "contacts": (0.0, 1.0)}  # all others have none


class Observations:
    """A choice of measurements for a body and a skill."""

    def __init__(self, chosen: Sequence[str], measurer: Measurer) -> None:
        """Refuse what cannot be observed."""
        if isinstance(chosen, str) or not chosen or len(set(chosen)) < len(chosen):
            raise SurefootError(f"observations are a list of names, each once, of: {', '.join(OBSERVABLE)}")
        for name in chosen:
            if name not in OBSERVABLE:
                raise UnknownNameError("observation", name, OBSERVABLE)
        elements = {name: _elements(name, measurer) for name in chosen}
        if not any(elements.values()):
            raise SurefootError("the skill has no commands to observe; choose further observations")
        self.names = tuple(element for name in chosen for element in elements[name])
        bounds = [_BOUNDS.get(name, (-np.inf, np.inf)) for name in chosen for _ in elements[name]]
        low, high = np.array(bounds, DTYPE).T
        self.space = Box(low, high, dtype=DTYPE)
        self._chosen = tuple(chosen)

    def of(self, measured: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, elements) what is seen of all rows."""
        count = len(measured["time"])
        return np.concatenate([measured[name].reshape(count, -1) for name in self._chosen], axis=1).astype(DTYPE)


def _elements(name: str, measurer: Measurer) -> list[str]:
    """A name for every element of a measurement."""
    axes = ("x", "z") if measurer.planar else ("x", "y", "z")
    ends: dict[str, Sequence[str]] = {
        "up": axes,
        "velocity": axes,
        "spin": ("y",) if measurer.planar else axes,
        "angles": measurer.hinges,
        "rates": measurer.hinges,
        "phase": ("sine", "cosine"),
        "contacts": ("left", "right"),
        "load": ("left", "right"),
        "com": axes,
        "com_velocity": axes,
        "commands": measurer.commands,
        "torque": measurer.hinges,
    }
    return [f"{name} {end}" for end in ends[name]] if name in ends else [name]
