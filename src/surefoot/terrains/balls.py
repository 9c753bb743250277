"""Balls to throw: they are parked high above the start until `Simulation.throw` lets one fly.

A parked ball is weightless (MuJoCo compensates its gravity) and at rest, so it stays where it is. Throwing gives it a
place, a velocity and its weight, which is an applied force: all three are part of MuJoCo's integration state, so a
snapshot taken while a ball flies is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.errors import CommandError, TerrainError
from surefoot.terrains.ground_shapes import add_solid
from surefoot.terrains.terrain import Terrain

KIND = "ball"
FASTEST = 40.0  # [m/s] a ball is thrown at: rolling, the smallest one still spins slower than what counts as blown up
_HIGH, _APART = 500.0, 4.0  # [m] of the first above the start, where the ground is at height 0, and to the next
_FARTHEST = 10_000.0  # [m] from the origin that one is thrown
_SMALLEST, _LARGEST, _DENSEST = 0.05, 1.0, 20_000.0  # [m], [m], [kg/m³]
_RUBBER = (0.86, 0.36, 0.26, 1.0)


@dataclass(frozen=True)
class Ball:
    """A ball; its number is its place among the balls of a terrain.

    It collides with the character, the ground, other props and other balls. Touching one is no fall.

    Attributes:
        radius: [m].
        density: [kg/m³], evenly spread; 50 is a foam ball, 400 a medicine ball.
    """

    radius: float = 0.12
    density: float = 400.0

    kind = KIND

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (_SMALLEST <= self.radius <= _LARGEST and 0.0 < self.density <= _DENSEST):
            raise TerrainError(
                f"a ball takes a radius of {_SMALLEST:g} … {_LARGEST:g} m and a density of up to {_DENSEST:g} kg/m³, "
                f"got {self.radius} m and {self.density} kg/m³"
            )

    @property
    def mass(self) -> float:
        """Of the ball [kg]."""
        return self.density * 4.0 / 3.0 * math.pi * self.radius**3

    def build(self, world: mujoco.MjsBody, name: str, friction: float, terrain: Terrain) -> None:
        """Add a free body with one sphere, parked."""
        body = world.add_body(name=name, pos=_parking(int(name.rpartition("_")[2])), gravcomp=1.0)
        body.add_freejoint(name=name)
        add_solid(
            body, name, mujoco.mjtGeom.mjGEOM_SPHERE, friction, _RUBBER, contype=1, size=[self.radius, 0, 0],
            density=self.density,
        )  # fmt: skip


def ball_bodies(model: mujoco.MjModel) -> list[int]:
    """Numbers of the bodies that are balls, in their order."""
    found: list[int] = []
    while (body := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{KIND}_{len(found)}")) >= 0:
        found.append(int(body))
    return found


def is_parked(place: np.ndarray) -> bool:
    """Whether a ball at this place (3,) [m] is parked."""
    return bool(place[2] > _HIGH - 0.5 * _APART and max(abs(place[0]), abs(place[1])) < 0.5 * _APART)


def throw(
    model: mujoco.MjModel, data: mujoco.MjData, ball: int, position: Sequence[float], velocity: Sequence[float]
) -> None:
    """Let a ball fly, without spin.

    Args:
        model: with the ball.
        data: written in place.
        ball: its number among the balls.
        position: (3,) where it starts in the world [m].
        velocity: (3,) with which it starts [m/s].

    Raises:
        CommandError: there is no such ball, or a number is out of range.
    """
    if np.shape(position) != (3,) or np.shape(velocity) != (3,):
        raise CommandError("a throw takes a position of three numbers and a velocity of three numbers")
    if not (np.abs(position).max() <= _FARTHEST and np.linalg.norm(velocity) <= FASTEST):
        raise CommandError(f"a ball is thrown from within ± {_FARTHEST:g} m at up to {FASTEST:g} m/s")
    if is_parked(np.asarray(position)):
        raise CommandError(f"balls are parked {_HIGH - _APART:g} m above the start: none can be thrown from there")
    body = _put(model, data, ball, position, velocity)
    data.xfrc_applied[body, :3] = model.body_mass[body] * model.opt.gravity


def park(model: mujoco.MjModel, data: mujoco.MjData, ball: int) -> None:
    """Park a ball again."""
    data.xfrc_applied[_put(model, data, ball, _parking(ball), (0.0, 0.0, 0.0))] = 0.0


def _parking(ball: int) -> tuple[float, float, float]:
    return (0.0, 0.0, _HIGH + _APART * ball)


def _put(
    model: mujoco.MjModel, data: mujoco.MjData, ball: int, position: Sequence[float], velocity: Sequence[float]
) -> int:
    """Place a ball that does not spin; returns the number of its body."""
    found = ball_bodies(model)
    if not found:
        raise CommandError("there is no ball to throw; put one on the terrain: with_props(terrain, [Ball()])")
    if ball not in range(len(found)):
        raise CommandError(f"there is no ball {ball}; valid: 0 … {len(found) - 1}")
    joint = int(model.body_jntadr[found[ball]])
    place, speed = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    data.qpos[place : place + 7] = (*position, 1.0, 0.0, 0.0, 0.0)
    data.qvel[speed : speed + 6] = (*velocity, 0.0, 0.0, 0.0)
    data.qacc_warmstart[speed : speed + 6] = 0.0
    return found[ball]
