"""A see-saw across the way: a board on a hinge, its near end down until somebody has walked past its middle.

The upper side ends at the ground at whichever end is down, so that no edge is in the way. The near end is a little
heavier. It is ground to who walks on it: a foot on it touches, and anything else on it is a fall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco

from surefoot.errors import TerrainError
from surefoot.terrains.solid import add_solid, facing
from surefoot.terrains.terrain import Terrain

_THICKNESS, _DENSITY = 0.04, 600.0  # [m], [kg/m³] of wood
_HEAVIER = 0.05  # [m] by which its centre of mass is nearer than its hinge
_WOOD = (0.72, 0.55, 0.34, 1.0)
_STEEPEST = math.radians(30.0)


@dataclass(frozen=True)
class SeeSaw:
    """A board.

    Attributes:
        length: along x [m].
        height: of its upper side at the hinge, which is in its middle [m].
        start: world x of its near end [m].
        width: along y [m].
        damping: of the hinge [N·m·s].
    """

    length: float = 3.0
    height: float = 0.12
    start: float = 1.0
    width: float = 2.0
    damping: float = 200.0

    kind = "ground_seesaw"

    def __post_init__(self) -> None:
        """Refuse what cannot be walked on."""
        if not (0.5 <= self.length <= 20.0 and 0.2 <= self.width <= 20.0 and 0.3 <= self.start <= 100.0):
            raise TerrainError("a see-saw is 0.5 … 20 m long and 0.2 … 20 m wide and starts at 0.3 … 100 m")
        if not (0.01 <= self.height <= 0.5 * self.length * math.sin(_STEEPEST) and 0.0 <= self.damping <= 1e5):
            most = 0.5 * self.length * math.sin(_STEEPEST)
            raise TerrainError(
                f"a see-saw of {self.length:g} m takes a height of 0.01 … {most:.3g} m and a damping of 0 … 1e5 N·m·s"
            )

    @property
    def tilt(self) -> float:
        """Angle at which an end meets the ground [rad]."""
        return math.asin(2.0 * self.height / self.length)

    @property
    def hinge(self) -> float:
        """World x of its middle [m]."""
        return self.start + 0.5 * self.length * math.cos(self.tilt)

    @property
    def end(self) -> float:
        """World x of its far end, once that is down [m]."""
        return self.start + self.length * math.cos(self.tilt)

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add the board, whose hinge goes from 0, near end down, to twice the tilt."""
        x = self.hinge
        place = [x, 0.0, float(terrain.height(x, 0.0)) + self.height]
        body = world.add_body(name=name, pos=place, quat=facing(self.tilt, 0.0))
        body.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0), damping=self.damping,
            range=[0.0, 2.0 * self.tilt], limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        )  # fmt: skip
        mass = _DENSITY * self.length * self.width * _THICKNESS
        a, b, c = self.length**2, self.width**2, _THICKNESS**2
        body.mass, body.ipos = mass, [-_HEAVIER, 0.0, -0.5 * _THICKNESS]
        body.inertia = [mass * (b + c) / 12.0, mass * (a + c) / 12.0, mass * (a + b) / 12.0]
        body.explicitinertial = True
        board = add_solid(
            body, name, mujoco.mjtGeom.mjGEOM_BOX, friction,
            size=[0.5 * self.length, 0.5 * self.width, 0.5 * _THICKNESS], pos=[0.0, 0.0, -0.5 * _THICKNESS],
        )  # fmt: skip
        board.rgba = _WOOD


def tipped(model: mujoco.MjModel, data: mujoco.MjData, number: int = 0) -> float:
    """How far a see-saw has tipped: 0 with its near end down, 1 with the far one."""
    joint = model.joint(f"{SeeSaw.kind}_{number}")
    return float(data.qpos[joint.qposadr[0]] / joint.range[1])
