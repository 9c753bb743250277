"""How anything that can be stood on is put into a model under construction."""

from __future__ import annotations

import math
from typing import Any

import mujoco

FAR = 1000.0  # [m] how far the level ground around a terrain reaches
DEPTH = 1.0  # [m] half the thickness of a box, and the thickness of a field below its lowest point
_COLOR = (0.80, 0.80, 0.76, 1.0)


def add_solid(world: mujoco.MjsBody, name: str, kind: mujoco.mjtGeom, friction: float, **where: Any) -> mujoco.MjsGeom:
    """Add one shape of the ground; it meets characters, and never another shape of the ground."""
    return world.add_geom(
        name=name, type=kind, contype=0, conaffinity=1, condim=3,
        friction=[friction, 0.005, 0.0001], solref=[0.01, 1.0], rgba=_COLOR, **where,
    )  # fmt: skip


def is_ground(body: str) -> bool:
    """Whether a body of this name is ground that moves: feet stand on it, and anything else on it is a fall."""
    return body.startswith("ground_")


def facing(angle: float, direction: float) -> list[float]:
    """Quaternion, w first, of a frame turned to the yaw `direction`, its x axis then raised by `angle` [rad]."""
    up, turn = (math.cos(angle / 2), math.sin(angle / 2)), (math.cos(direction / 2), math.sin(direction / 2))
    return [turn[0] * up[0], turn[1] * up[1], -turn[0] * up[1], turn[1] * up[0]]
