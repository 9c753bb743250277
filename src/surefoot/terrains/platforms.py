"""Ground that moves: a platform that gyrates about its middle, where the character starts (Kenwright §6.2).

Its upper side tilts by an angle towards a direction that goes round and round, so that it has its highest point now
here, now there. It grows out of the level within the first seconds. The platform hangs on two hinges so heavy that
nothing on it matters to them; a compiled part of the physics step gives them their speeds (`reflexes.platform`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.native.pointers import plain
from surefoot.reflexes.platform import platform_tilt
from surefoot.terrains.planes import Plane
from surefoot.terrains.solid import add_solid

NAME = "ground_platform"
_HALF, _THICKNESS = 15.0, 0.2  # [m]
_HEAVY = 1e4  # [kg·m²] of each hinge
_STEEPEST = math.radians(60.0)


@dataclass(frozen=True)
class Platform:
    """A plate through the origin.

    Attributes:
        angle: of its tilt [rad].
        period: in which the direction of the tilt goes once round [s].
        ramp: time in which it grows out of the level [s].
    """

    angle: float
    period: float = 15.0
    ramp: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what nobody could stand on."""
        if not (0.0 <= self.angle <= _STEEPEST and 1.0 <= self.period <= 1000.0 and 0.0 < self.ramp <= 1000.0):
            raise TerrainError(
                "a platform takes an angle of 0 … 60°, a period of 1 … 1000 s and a ramp of up to 1000 s"
            )

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world, before it moves [m]."""
        return np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y)))

    def at(self, time: float) -> Plane:
        """The plane that its upper side is a part of at a moment [s]."""
        tilt, way = plain(platform_tilt)(time, self.angle, self.period, self.ramp)
        return Plane(tilt, way + math.pi)

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add nothing: what moves comes after the character, whose joints are the first."""

    def build_moving(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the plate and its hinges to a model under construction."""
        body = world.add_body(name=NAME, gravcomp=1.0)
        for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
            body.add_joint(
                name=f"{NAME}_{name}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, armature=_HEAVY,
                limited=mujoco.mjtLimited.mjLIMITED_FALSE,
            )  # fmt: skip
        add_solid(
            body, NAME, mujoco.mjtGeom.mjGEOM_BOX, friction, size=[_HALF, _HALF, 0.5 * _THICKNESS],
            pos=[0.0, 0.0, -0.5 * _THICKNESS],
        )  # fmt: skip
