"""Proportional-derivative servos: τ = kp (θd − θ) − kd θ̇, within a limit (SIMBICON §3.1)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.kernels import kernel
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
def actuate(world: Any, row: Any, joint: int, torque: float, gain: Any) -> float:
    """Drive one actuator with a torque within its limit; return the torque.

    A residual moves the servo's target from outside. The actuator damps its joint by itself, implicitly in the
    integrator; that share is added back here, so that the net torque is the one asked for.
    """
    torque = clamp(torque + gain.kp * row.residual[joint], -gain.limit, gain.limit)
    world.ctrl[joint] = torque + world.damping[joint] * world.qvel[int(world.dof[joint])]
    return torque


@kernel
def world_servo(kp: float, kd: float, error: Vector, spin: Any) -> Vector:
    """Torque vector kp·error − kd·ω of a virtual servo in the world frame [N·m]."""
    return kp * error[0] - kd * spin[0], kp * error[1] - kd * spin[1], kp * error[2] - kd * spin[2]


@kernel
def along_axis(world: Any, actuator: int, torque: Vector) -> float:
    """Share of a torque vector that a hinge can exert: its projection on the hinge's axis [N·m]."""
    axis = world.xaxis[int(world.joint[actuator])]
    return axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2]  # type: ignore[no-any-return]
