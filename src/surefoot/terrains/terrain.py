"""A terrain: ground with a description and props, and its heights as the numbers that `ground_kernels` reads."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Protocol

import mujoco
import numpy as np

from surefoot.errors import TerrainError
from surefoot.terrains.ground_kernels import FIELD, PLANE, PLATFORM, PROFILE
from surefoot.terrains.ground_shapes import PLATFORM_BODY, HeightField, Plane, Platform, Profile

if TYPE_CHECKING:
    from surefoot.terrains.props import Prop


class Ground(Protocol):
    """What a terrain is made of: `Plane`, `Profile`, `HeightField` or `Platform`."""

    def height(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height of the ground at points of the world [m]."""

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the ground's shapes to a model under construction."""


@dataclass(frozen=True)
class Terrain:
    """What a character stands on; at height 0 at the origin, where the character starts.

    Attributes:
        description: name and arguments, as the command line takes them.
        made_of: the ground; an (n, 2) array stands for a `Profile` along x with these corners (x, z) [m], None
            for level ground.
        ground: the same, as an object.
        props: objects on it that are not ground; `with_props` adds to them.
    """

    description: str
    made_of: InitVar[Ground | np.ndarray | None] = None
    props: tuple[Prop, ...] = ()
    ground: Ground = field(init=False)

    def __post_init__(self, made_of: Ground | np.ndarray | None) -> None:
        """Check that the ground is at the height of the character's feet."""
        short = Profile(made_of) if isinstance(made_of, np.ndarray) else made_of
        object.__setattr__(self, "ground", Plane() if short is None else short)
        if float(self.height(0.0)) != 0.0:
            raise TerrainError("the ground must be at height 0 where the character starts (x = 0)")

    @property
    def vertices(self) -> np.ndarray | None:
        """(n, 2) corners (x, z) of a profile along x [m]; None for any other ground."""
        return self.ground.vertices if isinstance(self.ground, Profile) and not self.ground.direction else None

    @property
    def moves(self) -> bool:
        """Whether the ground moves; `height` is then that of the start."""
        return isinstance(self.ground, Platform)

    def at(self, time: float) -> Terrain:
        """The terrain as it is at a time [s]."""
        return Terrain(self.description, self.ground.plane_at(time)) if isinstance(self.ground, Platform) else self

    def height(self, x: float | np.ndarray, y: float | np.ndarray = 0.0) -> np.ndarray:
        """Height of the ground at points (x, y) of the world [m]; at a vertical face, that of its far side."""
        return self.ground.height(np.asarray(x, float), np.asarray(y, float))

    def build(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add the ground's shapes to a model under construction."""
        self.ground.build(world, friction)

    def build_moving(self, world: mujoco.MjsBody, friction: float) -> None:
        """Add moving ground; call it after the character is added, whose joints must be the first."""
        if isinstance(self.ground, Platform):
            self.ground.build_moving(world, friction)


_ZERO, _NAME = np.zeros(()), "surefoot_ground"


def packed_heights(terrain: Terrain) -> np.ndarray:
    """All numbers of a terrain's ground, in the order `ground_kernels.height_at` reads them."""
    ground = terrain.ground
    if isinstance(ground, Profile):
        xs, zs = ground.vertices.T
        head = [PROFILE, len(xs), math.cos(ground.direction), math.sin(ground.direction)]
        return np.concatenate([head, xs, zs])
    if isinstance(ground, HeightField):
        rows, columns = ground.normalized.shape
        heights = ground.normalized.astype(float) * ground.relief - float(ground.above_lowest(_ZERO, _ZERO))
        return np.concatenate([[FIELD, rows, columns, *ground.corner, *ground.spacing], heights.ravel()])
    if isinstance(ground, Platform):
        return np.array([PLATFORM, 0.0, ground.angle, ground.period, ground.ramp, 0.0, 0.0])
    east, north = (float(terrain.height(x, y)) for x, y in ((1.0, 0.0), (0.0, 1.0)))
    return np.array([PLANE, east, north])


def reserve_heights(spec: mujoco.MjSpec, terrain: Terrain) -> np.ndarray:
    """Make room for a terrain's numbers in a model under construction; returns them."""
    block = packed_heights(terrain)
    spec.add_numeric(name=_NAME, size=len(block)).data = [0.0]
    return block


def write_heights(model: mujoco.MjModel, block: np.ndarray) -> int:
    """Write a terrain's numbers into the compiled model; returns where they begin."""
    if block[0] == PLATFORM:  # which body it is, and where its hinges are, is known only now
        joint = model.joint(f"{PLATFORM_BODY}_x")
        block[1], block[5], block[6] = model.body(PLATFORM_BODY).id, joint.qposadr[0], joint.dofadr[0]
    at = int(model.numeric_adr[model.numeric(_NAME).id])
    model.numeric_data[at : at + len(block)] = block
    return at
