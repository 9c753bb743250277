"""Quiet standing on two feet, and the weight shift that begins a walk (GENBICON §4.3, §4.4)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import apart, kernel
from surefoot.reflexes.limb_servo import anchor_of
from surefoot.reflexes.orientation import Vector
from surefoot.reflexes.pendulum import GRAVITY, frequency
from surefoot.reflexes.servo import clamp
from surefoot.reflexes.stance import bear, pressure_point, reaction
from surefoot.reflexes.steps import ankle_of
from surefoot.reflexes.vectors import ahead_and_left, cross, minus, scaled
from surefoot.reflexes.walker import SHIFT


@kernel
def standing_point(
    world: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector
) -> tuple[float, float]:
    """Where the centre of pressure should be while standing: beyond the capture point, as seen from the middle [m]."""
    numbers, biped = style.numbers[0], limbs.biped[0]
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    omega = frequency(com[2] - walker.ground)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    middle = 0.4 * (biped.ahead - biped.behind)
    mx, my = 0.5 * (left[0] + right[0]) + c * middle, 0.5 * (left[1] + right[1]) + s * middle
    k = numbers.stand_stiffness
    x = mx + (1.0 + k) * (com[0] + numbers.stand_damping * velocity[0] / omega - mx)
    y = my + (1.0 + k) * (com[1] + numbers.stand_damping * velocity[1] / omega - my)
    if walker.mode == SHIFT:  # press off with the foot that will swing
        off = left if walker.swing == 0.0 else right
        along, _ = ahead_and_left(walker.heading, x - mx, y - my)
        x, y = off[0] + c * (along + middle), off[1] + s * (along + middle)
    return x, y


@kernel
def _abreast(world: Any, limbs: Any, walker: Any, side: int, x: float, y: float) -> Vector:
    """The point under a foot that comes nearest to (x, y) along the heading alone [m].

    One foot ahead of the other, what soles can do along the heading is no reason to shift the weight to the side.
    """
    at = ankle_of(world, limbs, side)
    along, _ = ahead_and_left(walker.heading, x - at[0], y - at[1])
    return pressure_point(world, limbs, side, along * math.cos(walker.heading), along * math.sin(walker.heading))  # type: ignore[no-any-return]


@apart
def on_two_feet(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, poised: Vector,
    velocity: Vector, mass: float, torques: Any,
) -> None:  # fmt: skip
    """Torques of both legs while standing or shifting the weight; at the hips those its own reaction asks for."""
    x, y = standing_point(world, limbs, style, walker, intent, poised, velocity)
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    one, other = _abreast(world, limbs, walker, 0, x, y), _abreast(world, limbs, walker, 1, x, y)
    dx, dy = one[0] - other[0], one[1] - other[1]
    walker.load = clamp(((x - other[0]) * dx + (y - other[1]) * dy) / max(dx * dx + dy * dy, 1e-4), 0.02, 0.98)
    weight = mass * GRAVITY
    whole = reaction(com, (x, y, walker.ground), weight)
    for side in range(2):
        share = walker.load if side == 0 else 1.0 - walker.load
        at = left if side == 0 else right
        point = pressure_point(world, limbs, side, x - at[0], y - at[1])
        bear(world, limbs, style, walker, intent, point, scaled(share, whole), 1.0, side, torques)
        hip = int(limbs.legs[side].upper)
        borne = cross(minus(point, anchor_of(world, limbs.links[hip])), scaled(-share, whole))
        torques[hip, 0], torques[hip, 1], torques[hip, 2] = borne
