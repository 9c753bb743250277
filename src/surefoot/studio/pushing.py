"""Which pushes act on the figure now, and their directions in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.simulation import Simulation

_WAYS = (
    "forward", "forward and left", "to its left", "back and left",
    "back", "back and right", "to its right", "forward and right",
)  # fmt: skip
_STEEP, _RISING = math.radians(65.0), math.radians(20.0)  # [rad] that is simply up, that is worth a word


@dataclass(frozen=True)
class Acting:
    """A push that acts: on which point of a body's frame (None: its COM), and its force (3,) [N]."""

    body: int
    point: tuple[float, float, float] | None
    force: np.ndarray

    def place(self, data: mujoco.MjData) -> np.ndarray:
        """(3,) where the point is in the world [m]."""
        if self.point is None:
            return np.array(data.xipos[self.body])
        return np.asarray(data.xpos[self.body] + data.xmat[self.body].reshape(3, 3) @ self.point)


def acting(sim: Simulation) -> list[Acting]:
    """All pushes that act on a simulation now, whatever made them."""
    now, dt, row = sim.time, sim.model.opt.timestep, sim.memory
    if now > row.header[0].pushed_until:
        return []
    return [
        Acting(
            int(push.body),
            (float(push.px), float(push.py), float(push.pz)) if push.at_point else None,
            np.array([push.fx, push.fy, push.fz]),
        )
        for push in row.pushes
        if push.start - 0.5 * dt <= now < push.stop - 0.5 * dt
    ]


def forward_of(sim: Simulation) -> float:
    """World yaw of straight ahead [rad]."""
    return float(sim.memory.report[0].heading)


def pushed(yaw: float, rise: float = 0.0) -> np.ndarray:
    """(3,) unit vector towards a yaw, raised above the horizontal [rad]."""
    return np.array([math.cos(rise) * math.cos(yaw), math.cos(rise) * math.sin(yaw), math.sin(rise)])


def in_words(force: np.ndarray, forward: float) -> str:
    """How hard and where to, as seen by a figure whose straight ahead is the yaw `forward` [rad]."""
    newtons = f"{np.linalg.norm(force):.0f} N"
    rise = math.atan2(force[2], math.hypot(force[0], force[1]))
    if abs(rise) > _STEEP:
        return f"{newtons}, {'up' if rise > 0.0 else 'down'}"
    way = _WAYS[round((math.atan2(force[1], force[0]) - forward) / (0.25 * math.pi)) % len(_WAYS)]
    height = f", {abs(math.degrees(rise)):.0f}° {'up' if rise > 0.0 else 'down'}" if abs(rise) > _RISING else ""
    return f"{newtons}, {way}{height}"
