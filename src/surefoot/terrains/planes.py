"""Ground that is one endless plane through the origin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.terrains.solid import add_solid, facing


@dataclass(frozen=True)
class Plane:
    """Level, or rising everywhere by `angle` towards the yaw `direction` [rad]."""

    angle: float = 0.0
    direction: float = 0.0

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world [m]."""
        along = x * math.cos(self.direction) + y * math.sin(self.direction)
        return np.asarray(math.tan(self.angle) * along + 0.0)  # no negative zeros

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the plane to a model under construction."""
        where = facing(self.angle, self.direction)
        add_solid(world, "ground", mujoco.mjtGeom.mjGEOM_PLANE, friction, size=[0, 0, 1], quat=where)
