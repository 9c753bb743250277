"""The ground as the numbers from which a law reads heights, see `reflexes.ground`."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from surefoot.reflexes.ground import FIELD, PLANE, PLATFORM, PROFILE
from surefoot.terrains.fields import Field
from surefoot.terrains.platforms import NAME, Platform
from surefoot.terrains.profiles import Profile
from surefoot.terrains.terrain import Terrain

_ZERO, _NAME = np.zeros(()), "surefoot_ground"


def heights_block(terrain: Terrain) -> np.ndarray:
    """All numbers of a terrain's ground, in the order `reflexes.ground.height_at` reads them."""
    ground = terrain.ground
    if isinstance(ground, Profile):
        xs, zs = ground.vertices.T
        head = [PROFILE, len(xs), math.cos(ground.direction), math.sin(ground.direction)]
        return np.concatenate([head, xs, zs])
    if isinstance(ground, Field):
        rows, columns = ground.shares.shape
        heights = ground.shares.astype(float) * ground.relief - float(ground.above_lowest(_ZERO, _ZERO))
        return np.concatenate([[FIELD, rows, columns, *ground.corner, *ground.spacing], heights.ravel()])
    if isinstance(ground, Platform):
        return np.array([PLATFORM, 0.0, ground.angle, ground.period, ground.ramp, 0.0, 0.0])
    east, north = (float(terrain.height(x, y)) for x, y in ((1.0, 0.0), (0.0, 1.0)))
    return np.array([PLANE, east, north])


def add_heights(spec: mujoco.MjSpec, terrain: Terrain) -> np.ndarray:
    """Make room for a terrain's numbers in a model under construction; returns them."""
    block = heights_block(terrain)
    spec.add_numeric(name=_NAME, size=len(block)).data = [0.0]
    return block


def write_heights(model: mujoco.MjModel, block: np.ndarray) -> int:
    """Write a terrain's numbers into the compiled model; returns where they begin."""
    if block[0] == PLATFORM:  # which body it is, and where its hinges are, is known only now
        joint = model.joint(f"{NAME}_x")
        block[1], block[5], block[6] = model.body(NAME).id, joint.qposadr[0], joint.dofadr[0]
    at = int(model.numeric_adr[model.numeric(_NAME).id])
    model.numeric_data[at : at + len(block)] = block
    return at
