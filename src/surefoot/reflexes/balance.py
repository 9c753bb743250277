"""Balance measurements of SIMBICON, and what its laws do with them.

- d and v: where the hips (or the COM) are over the stance ankle, and how fast they move (SIMBICON §3.3, figure 3b).
- Imperfect sensing: a delay and noise on d and v (SIMBICON §7.4 names both as missing).
- Speed control: once a step, lean the torso a little further towards the missing speed.
- Reaction: soft servos that become stiff for a while after a surprise (SIMBICON §6).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.native.physics import World
from surefoot.native.vectors import Vector
from surefoot.reflexes.limb_servo import momentum, point_velocity
from surefoot.reflexes.servo import clamp


@kernel
def hip_midpoint(world: World, axis: int) -> float:
    """Coordinate of the point midway between the hips, the paper's stand-in for the COM [m]."""
    left, right = world.xpos[int(world.leg[0, 0])], world.xpos[int(world.leg[1, 0])]
    return 0.5 * (left[axis] + right[axis])  # type: ignore[no-any-return]


@kernel
def _hips(world: World) -> Vector:
    return hip_midpoint(world, 0), hip_midpoint(world, 1), hip_midpoint(world, 2)


@kernel
def over_stance_ankle(world: World, stance: int, heading: float, true_com: bool) -> tuple[float, float, float, float]:
    """The balance measurements d [m] and v [m/s] of the hips' midpoint, or of the true COM, over the stance ankle.

    Returns (d, v) in the sagittal plane of the heading, then (d, v) in its coronal plane; left is positive.
    """
    ankle = world.xpos[int(world.leg[stance, 2])]
    pelvis = int(world.anatomy[0].pelvis)
    com = world.subtree_com[world.rootid[pelvis]]
    if true_com:
        x, y = com[0] - ankle[0], com[1] - ankle[1]
        moved, mass = momentum(world, world.rootid[pelvis])
        vx, vy = moved[0] / mass, moved[1] / mass
    else:
        middle = _hips(world)
        x, y = middle[0] - ankle[0], middle[1] - ankle[1]
        vx, vy, _ = point_velocity(world, pelvis, middle)
    c, s = math.cos(heading), math.sin(heading)
    return c * x + s * y, c * vx + s * vy, c * y - s * x, c * vy - s * vx


@kernel
def distance_to_stance_ankle(world: World, stance: int) -> float:
    """d: distance of the hips ahead of the stance ankle, along x [m]."""
    return hip_midpoint(world, 0) - world.xpos[int(world.leg[stance, 2]), 0]  # type: ignore[no-any-return]


@kernel
def hip_velocity(world: World) -> float:
    """v: speed of the hips' midpoint along x [m/s]."""
    return point_velocity(world, int(world.anatomy[0].pelvis), _hips(world))[0]  # type: ignore[no-any-return]


@kernel
def pitch(world: World, body: int) -> float:
    """World pitch of a body: positive turns x towards z (a torso leans back, a thigh swings forward) [rad]."""
    return math.atan2(world.xmat[body, 6], world.xmat[body, 0])


@kernel
def pitch_rate(world: World, body: int) -> float:
    """Rate of `pitch` of a body that turns about the y axis [rad/s]."""
    return -world.cvel[body, 1]  # type: ignore[no-any-return]


SAMPLE = np.dtype([(n, "f8") for n in ("d", "v", "lateral_d", "lateral_v")])
_MODULUS, _MULTIPLIER = 2147483647, 48271  # the minimal standard generator (Park and Miller 1988)


@kernel
def random_state(seed: float) -> float:
    """First state of the random generator for a seed; it is never 0."""
    return float((int(seed) * 2654435 + 12345) % (_MODULUS - 1) + 1)


@kernel
def _draw_uniform(machine: Any) -> float:
    machine.random = float((int(machine.random) * _MULTIPLIER) % _MODULUS)
    return machine.random / _MODULUS  # type: ignore[no-any-return]


@kernel
def _draw_gaussian(machine: Any) -> float:
    return math.sqrt(-2.0 * math.log(_draw_uniform(machine))) * math.cos(2.0 * math.pi * _draw_uniform(machine))


@kernel
def sense_balance(machine: Any, ring: np.ndarray, head: Any, sample: tuple[float, float, float, float]) -> None:
    """Store a sample (d, v, lateral d, lateral v); write its delayed and noisy version into `machine`."""
    late = sample
    if len(ring) > 0:
        at = int(machine.measured) % len(ring)
        ring[at].d, ring[at].v, ring[at].lateral_d, ring[at].lateral_v = sample
        old = ring[(at - min(int(head.delay), int(machine.measured))) % len(ring)]
        late = (old.d, old.v, old.lateral_d, old.lateral_v)
        machine.measured += 1.0
    machine.d, machine.v, machine.lateral_d, machine.lateral_v = late
    if head.noise_distance > 0.0 or head.noise_velocity > 0.0:
        machine.d += head.noise_distance * _draw_gaussian(machine)
        machine.v += head.noise_velocity * _draw_gaussian(machine)
        machine.lateral_d += head.noise_distance * _draw_gaussian(machine)
        machine.lateral_v += head.noise_velocity * _draw_gaussian(machine)


# Measured on the planar walk: 1 rad of lean changes the speed by about 3.6 m/s, so this gain removes a seventh of
# the error in every step.
LEAN_PER_SPEED = 0.04  # [rad per m/s and step]
LARGEST_LEAN = 0.3  # [rad]


@kernel
def lean_for_speed(machine: Any, x: float, y: float, time: float, wanted: float) -> None:
    """When a step begins, change the lean by how much the last step's mean speed missed the wanted one [m/s]."""
    if machine.speed_step == machine.steps:
        return
    elapsed = time - machine.speed_time
    if machine.speed_step > 0.0 and elapsed > 0.0:
        dx, dy = x - machine.speed_x, y - machine.speed_y
        missing = wanted - (math.cos(machine.heading) * dx + math.sin(machine.heading) * dy) / elapsed
        machine.lean = clamp(machine.lean - LEAN_PER_SPEED * missing, -LARGEST_LEAN, LARGEST_LEAN)
    machine.speed_step, machine.speed_time, machine.speed_x, machine.speed_y = machine.steps, time, x, y


@kernel
def reaction_stiffness(machine: Any, head: Any, error: float, time: float) -> float:
    """Factor on the gains of learned servos: `softness` normally, 1 for a while after an unexpected torso error.

    The factor becomes 1 `reaction_delay` seconds after the torso error exceeded `alarm` [rad], and stays so for
    `reaction_time` seconds; another alarm prolongs it.
    """
    if head.alarm > 0.0 and error > head.alarm:
        if machine.alarmed == 0.0 or time > machine.alarmed + head.reaction_delay + head.reaction_time:
            machine.alarmed = time
        elif time > machine.alarmed + head.reaction_delay:  # already stiff, and still surprised
            machine.alarmed = time - head.reaction_delay
    since = time - machine.alarmed
    if machine.alarmed > 0.0 and head.reaction_delay - 1e-9 <= since <= head.reaction_delay + head.reaction_time:
        return 1.0
    return head.softness  # type: ignore[no-any-return]
