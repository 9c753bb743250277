"""Proportional-derivative servos: τ = kp (θd − θ) − kd θ̇, within a limit (SIMBICON §3.1)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector


@kernel
def clamp(value: float, low: float, high: float) -> float:
    """The nearest value within [low, high]."""
    return min(max(value, low), high)


@kernel
def nearest_turn(angle: float) -> float:
    """The same angle within ± π, for errors of world orientations [rad]."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel
def servo(gain: Any, error: float, rate: float) -> float:
    """Torque of a servo of `error` = θd − θ [rad] and `rate` = θ̇ [rad/s], before its limit [N·m]."""
    return gain.kp * error - gain.kd * rate  # type: ignore[no-any-return]


@kernel
def actuate(world: World, row: Row, joint: int, torque: float, gain: Any) -> float:
    """Drive one actuator with a torque within its limit; return that torque [N·m].

    `row.residual` moves the servo's target from outside. MuJoCo damps the joint implicitly in its integrator; that
    damping torque is added back here, so that the net torque is the requested one.
    """
    return exert(world, row, joint, torque, gain.kp, gain.limit)  # type: ignore[no-any-return]


@kernel
def exert(world: World, row: Row, joint: int, torque: float, kp: float, limit: float) -> float:
    """Drive one actuator as `actuate` does, with its stiffness `kp` [N·m/rad] and torque limit [N·m] as numbers."""
    torque = clamp(torque + kp * row.residual[joint], -limit, limit)
    world.ctrl[joint] = torque + world.damping[joint] * world.qvel[int(world.dof[joint])]
    return torque


@kernel
def world_servo(kp: float, kd: float, error: Vector, spin: Any) -> Vector:
    """Torque vector kp·error − kd·ω of a virtual servo in the world frame [N·m]."""
    return kp * error[0] - kd * spin[0], kp * error[1] - kd * spin[1], kp * error[2] - kd * spin[2]


@kernel
def along_axis(world: World, actuator: int, torque: Vector) -> float:
    """The part of a torque vector that a hinge can exert: its projection on the hinge's axis [N·m]."""
    axis = world.xaxis[int(world.joint[actuator])]
    return axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2]  # type: ignore[no-any-return]
