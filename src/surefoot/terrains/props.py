"""Objects in the world that are not level ground: crates, obstacles, bars, tables and see-saws.

Each is a body of its own, built after the character's bodies. Touching one is no fall, except that a see-saw is ground:
a foot may stand on it, and any other part on it means a fall. Bodies are named after their kind and numbered within it:
`obstacle_0`, `obstacle_1`, … and `bar_0`, …; the first crate and table are `crate` and `table`, the next `crate_1` and
`table_1`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.terrains.ground_shapes import FAR, add_solid, quat_pitch_yaw
from surefoot.terrains.terrain import Terrain

Vector = tuple[float, float, float]
_WOOD, _STONE, _STEEL = (0.72, 0.55, 0.34, 1.0), (0.62, 0.45, 0.40, 1.0), (0.45, 0.50, 0.58, 1.0)
_LONGEST, _HEAVIEST, _ROUGHEST = 20.0, 1000.0, 5.0  # [m], [kg], friction
_NEAR = 1e-3  # [m] over which the slope of the ground is measured


class Prop(Protocol):
    """An object that can be put on a terrain."""

    @property
    def kind(self) -> str:
        """How its body's name begins."""

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add it to a model under construction; `friction` is the ground's."""


@dataclass(frozen=True)
class Crate:
    """A box that can be moved.

    Its friction coefficient holds for all its contacts, whatever it lies on.

    Attributes:
        size: edges along its own x, y, z [m].
        mass: [kg], evenly spread.
        position: of the middle of its bottom: world x and y, and height above the ground there [m]. On the ground (0)
            it lies flat on a slope; above it (on a table) it is level.
        friction: coefficient.
        handles: where the left and the right hand take hold, in its frame, whose origin is its middle [m]; None if it
            cannot be gripped.
        yaw: world yaw of its x axis [rad].
    """

    size: Vector = (0.5, 0.5, 0.5)
    mass: float = 20.0
    position: Vector = (2.0, 0.0, 0.0)
    friction: float = 0.2
    handles: tuple[Vector, Vector] | None = None
    yaw: float = 0.0

    kind = "crate"

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_box("a crate", self.size, (*self.position, self.yaw))
        if not (0.0 < self.mass <= _HEAVIEST and 0.0 <= self.friction <= _ROUGHEST):
            raise TerrainError(f"a crate takes a mass up to {_HEAVIEST:g} kg and friction 0 … {_ROUGHEST:g}")
        if self.handles is not None and (np.shape(self.handles) != (2, 3) or not np.isfinite(self.handles).all()):
            raise TerrainError("a crate's handles are two points (x, y, z), for the left hand and the right")

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add a free body with one box, and a site at each handle."""
        x, y, above = self.position
        turn, up = (
            _standing(terrain, x, y, self.yaw) if above == 0.0 else (quat_pitch_yaw(0.0, self.yaw), np.array([0, 0, 1]))
        )
        place = np.array([x, y, float(terrain.height(x, y)) + above]) + 0.5 * self.size[2] * up
        body = world.add_body(name=name, pos=place, quat=turn)
        body.add_freejoint(name=name)
        half = [0.5 * edge for edge in self.size]
        geom = add_solid(body, name, mujoco.mjtGeom.mjGEOM_BOX, self.friction, _WOOD, contype=1, size=half)
        geom.mass, geom.priority = self.mass, 1
        for side, point in zip(("left", "right"), self.handles or (), strict=False):
            body.add_site(name=f"{name}_{side}", pos=point, size=[0.02, 0.02, 0.02])


def _add_fixed_box(
    world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain, size: Vector, bottom: Vector,
    color: Sequence[float], yaw: float = 0.0,
) -> None:  # fmt: skip
    """Add a fixed body with one box; `bottom` is its bottom's middle: x, y and height above the ground [m]."""
    x, y, above = bottom
    place = [x, y, float(terrain.height(x, y)) + above + 0.5 * size[2]]
    body = world.add_body(name=name, pos=place, quat=quat_pitch_yaw(0.0, yaw))
    add_solid(body, name, mujoco.mjtGeom.mjGEOM_BOX, friction, color, size=[0.5 * edge for edge in size])


@dataclass(frozen=True)
class Obstacle:
    """A low box across the way, to step over.

    Attributes:
        x: world x of its middle [m].
        height: above the ground [m].
        depth: along x [m].
        width: along y [m].
        y: world y of its middle [m].
    """

    x: float
    height: float
    depth: float = 0.1
    width: float = 1.5
    y: float = 0.0

    kind = "obstacle"

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_box("an obstacle", (self.depth, self.width, self.height), (self.x, self.y))

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add a fixed body with one box."""
        size = (self.depth, self.width, self.height)
        _add_fixed_box(world, name, friction, terrain, size, (self.x, self.y, 0.0), _STONE)


@dataclass(frozen=True)
class Bar:
    """A beam across the way, to duck under.

    Attributes:
        x: world x of its middle [m].
        height: of its underside above the ground [m].
        thickness: along x and z [m].
        width: along y [m].
        y: world y of its middle [m].
    """

    x: float
    height: float
    thickness: float = 0.1
    width: float = 1.5
    y: float = 0.0

    kind = "bar"

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_box("a bar", (self.thickness, self.width, self.height), (self.x, self.y))

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add a fixed body with one box."""
        size = (self.thickness, self.width, self.thickness)
        _add_fixed_box(world, name, friction, terrain, size, (self.x, self.y, self.height), _STEEL)


@dataclass(frozen=True)
class Table:
    """A fixed block to put things on.

    Attributes:
        position: world x and y of its middle [m].
        size: edges along its own x, y and z; the last is its height above the ground [m].
        yaw: world yaw of its x axis [rad].
    """

    position: tuple[float, float]
    size: Vector = (0.6, 1.0, 0.75)
    yaw: float = 0.0

    kind = "table"

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_box("a table", self.size, (*self.position, self.yaw))

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add a fixed body with one box."""
        _add_fixed_box(world, name, friction, terrain, self.size, (*self.position, 0.0), _WOOD, self.yaw)


def with_props(terrain: Terrain, props: Sequence[Prop]) -> Terrain:
    """The terrain with more props on it.

    Args:
        terrain: the ground, and the props it has already.
        props: such as `Crate()` or `Obstacle(3.0, 0.1)`.

    Raises:
        TerrainError: one of them is no prop.
    """
    for prop in props:
        if not hasattr(prop, "build"):
            raise TerrainError(f"a prop is a Ball, Bar, Crate, Obstacle, SeeSaw or Table, got {prop!r:.40}")
    return Terrain(terrain.description, terrain.ground, (*terrain.props, *props))


def body_names(props: Sequence[Prop]) -> list[tuple[str, Prop]]:
    """Props with the names of their bodies, in their order."""
    count: dict[str, int] = {}
    found = []
    for prop in props:
        number = count[prop.kind] = count.get(prop.kind, -1) + 1
        alone = number == 0 and prop.kind in ("crate", "table")
        found.append((prop.kind if alone else f"{prop.kind}_{number}", prop))
    return found


def set_explicit_inertia(body: mujoco.MjsBody, prop: Prop, terrain: Terrain) -> None:
    """Give a prop's body an explicit mass and inertia: in a model from a file, geoms may have none."""
    alone = mujoco.MjSpec()
    prop.build(alone.worldbody, body.name, 1.0, terrain)
    it = alone.compile().body(body.name)
    body.mass, body.ipos, body.iquat, body.inertia = float(it.mass[0]), it.ipos, it.iquat, it.inertia
    body.explicitinertial = bool(it.mass[0] > 0.0)


def _check_box(what: str, size: Sequence[float], place: Sequence[float]) -> None:
    if not all(0.0 < edge <= _LONGEST for edge in size):
        raise TerrainError(f"{what} has edges and heights of more than 0 and up to {_LONGEST:g} m, got {tuple(size)}")
    if not all(abs(value) <= FAR for value in place):
        raise TerrainError(f"{what} stands within ± {FAR:g} m, got {tuple(place)}")


def _standing(terrain: Terrain, x: float, y: float, yaw: float) -> tuple[list[float], np.ndarray]:
    """Quaternion of a box that lies flat on the ground at a place, and its upward axis."""
    h = terrain.height
    rise = [float(h(x + _NEAR, y) - h(x - _NEAR, y)), float(h(x, y + _NEAR) - h(x, y - _NEAR))]
    up = np.array([-rise[0], -rise[1], 2.0 * _NEAR])
    up /= np.linalg.norm(up)
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    ahead -= (ahead @ up) * up
    ahead /= np.linalg.norm(ahead)
    turn = np.empty(4)
    mujoco.mju_mat2Quat(turn, np.column_stack([ahead, np.cross(up, ahead), up]).ravel())
    return turn.tolist(), up


_THICKNESS, _DENSITY = 0.04, 600.0  # [m], [kg/m³] of wood
_HEAVIER = 0.05  # [m] by which its centre of mass is nearer than its hinge
_STEEPEST_SEESAW = math.radians(30.0)


@dataclass(frozen=True)
class SeeSaw:
    """A board on a hinge across the way, its near end down until somebody has walked past its middle.

    The upper side meets the ground at whichever end is down, so that no edge is in the way. The near end is a little
    heavier.

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
        """Check the numbers."""
        if not (0.5 <= self.length <= 20.0 and 0.2 <= self.width <= 20.0 and 0.3 <= self.start <= 100.0):
            raise TerrainError("a see-saw is 0.5 … 20 m long and 0.2 … 20 m wide and starts at 0.3 … 100 m")
        most = 0.5 * self.length * math.sin(_STEEPEST_SEESAW)
        if not (0.01 <= self.height <= most and 0.0 <= self.damping <= 1e5):
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
        """World x of its far end when that end is down [m]."""
        return self.start + self.length * math.cos(self.tilt)

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add the board, whose hinge goes from 0, near end down, to twice the tilt."""
        x = self.hinge
        place = [x, 0.0, float(terrain.height(x, 0.0)) + self.height]
        body = world.add_body(name=name, pos=place, quat=quat_pitch_yaw(self.tilt, 0.0))
        body.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0), damping=self.damping,
            range=[0.0, 2.0 * self.tilt], limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        )  # fmt: skip
        mass = _DENSITY * self.length * self.width * _THICKNESS
        a, b, c = self.length**2, self.width**2, _THICKNESS**2
        body.mass, body.ipos = mass, [-_HEAVIER, 0.0, -0.5 * _THICKNESS]
        body.inertia = [mass * (b + c) / 12.0, mass * (a + c) / 12.0, mass * (a + b) / 12.0]
        body.explicitinertial = True
        half = [0.5 * self.length, 0.5 * self.width, 0.5 * _THICKNESS]
        add_solid(body, name, mujoco.mjtGeom.mjGEOM_BOX, friction, _WOOD, size=half, pos=[0.0, 0.0, -half[2]])


def tip_fraction(model: mujoco.MjModel, data: mujoco.MjData, number: int = 0) -> float:
    """How far a see-saw has tipped: 0 when its near end is down, 1 when its far end is."""
    joint = model.joint(f"{SeeSaw.kind}_{number}")
    return float(data.qpos[joint.qposadr[0]] / joint.range[1])
