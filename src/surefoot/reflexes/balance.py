"""Where the body is over its stance foot, and how fast it moves (SIMBICON §3.3, figure 3b).

Imperfect senses: what a law measures comes late and with noise (SIMBICON §7.4 names both as missing).

Holding a commanded speed: once a step, lean a little more into the direction that is missing.

Soft while nothing happens, stiff some time after a surprise (SIMBICON §6).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.reflexes.servo import clamp


@kernel
def hip_midpoint(world: Any, axis: int) -> float:
    """Coordinate of the point midway between the hips, the paper's stand-in for the COM [m]."""
    left, right = world.xpos[int(world.leg[0, 0])], world.xpos[int(world.leg[1, 0])]
    return 0.5 * (left[axis] + right[axis])  # type: ignore[no-any-return]


@kernel
def over_stance_ankle(world: Any, stance: int, heading: float, true_com: bool) -> tuple[float, float, float, float]:
    """D and v of the hips' midpoint, or of the true COM, over the stance ankle [m], [m/s].

    Returns (d, v) in the sagittal plane and (d, v) in the coronal plane of the heading; left is positive.
    """
    ankle = world.xpos[int(world.leg[stance, 2])]
    pelvis = int(world.anatomy[0].pelvis)
    com = world.subtree_com[world.rootid[pelvis]]
    if true_com:
        x, y = com[0] - ankle[0], com[1] - ankle[1]
        vx, vy = _com_velocity(world, pelvis, com)
    else:
        mx, my, mz = hip_midpoint(world, 0), hip_midpoint(world, 1), hip_midpoint(world, 2)
        x, y = mx - ankle[0], my - ankle[1]
        vx, vy = _velocity_at(world, pelvis, mx - com[0], my - com[1], mz - com[2])
    c, s = math.cos(heading), math.sin(heading)
    return c * x + s * y, c * vx + s * vy, c * y - s * x, c * vy - s * vx


@kernel
def _velocity_at(world: Any, body: int, x: float, y: float, z: float) -> tuple[float, float]:
    """Horizontal velocity of a point of a body, given from the COM of its tree [m/s]."""
    v = world.cvel[body]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z


@kernel
def _com_velocity(world: Any, pelvis: int, com: Any) -> tuple[float, float]:
    """Horizontal velocity of the character's COM [m/s]."""
    root, total, px, py = world.rootid[pelvis], 0.0, 0.0, 0.0
    for body in range(1, len(world.mass)):
        if world.rootid[body] == root:
            at, m = world.xipos[body], world.mass[body]
            vx, vy = _velocity_at(world, body, at[0] - com[0], at[1] - com[1], at[2] - com[2])
            total += m
            px += m * vx
            py += m * vy
    return px / total, py / total


@kernel
def distance_to_stance_ankle(world: Any, stance: int) -> float:
    """d: how far the hips are ahead of the stance ankle, along x [m]."""
    return hip_midpoint(world, 0) - world.xpos[int(world.leg[stance, 2]), 0]  # type: ignore[no-any-return]


@kernel
def hip_velocity(world: Any) -> float:
    """v: speed of the hips' midpoint along x [m/s]."""
    pelvis = int(world.anatomy[0].pelvis)
    center, spin = world.subtree_com[world.rootid[pelvis]], world.cvel[pelvis, :3]
    y, z = hip_midpoint(world, 1) - center[1], hip_midpoint(world, 2) - center[2]
    return world.cvel[pelvis, 3] + spin[1] * z - spin[2] * y  # type: ignore[no-any-return]


@kernel
def pitch(world: Any, body: int) -> float:
    """World pitch of a body: positive turns x towards z (a torso leans back, a thigh swings forward) [rad]."""
    return math.atan2(world.xmat[body, 6], world.xmat[body, 0])


@kernel
def pitch_rate(world: Any, body: int) -> float:
    """Rate of `pitch` of a body that turns about the y axis [rad/s]."""
    return -world.cvel[body, 1]  # type: ignore[no-any-return]


SAMPLE = np.dtype([(n, "f8") for n in ("d", "v", "lateral_d", "lateral_v")])
_MODULUS, _MULTIPLIER = 2147483647, 48271  # the minimal standard generator (Park and Miller 1988)


@kernel
def seeded(seed: float) -> float:
    """State of the random generator for a seed: never 0."""
    return float((int(seed) * 2654435 + 12345) % (_MODULUS - 1) + 1)


@kernel
def _uniform(machine: Any) -> float:
    machine.random = float((int(machine.random) * _MULTIPLIER) % _MODULUS)
    return machine.random / _MODULUS  # type: ignore[no-any-return]


@kernel
def _gaussian(machine: Any) -> float:
    return math.sqrt(-2.0 * math.log(_uniform(machine))) * math.cos(2.0 * math.pi * _uniform(machine))


@kernel
def sense_balance(machine: Any, ring: Any, head: Any, sample: tuple[float, float, float, float]) -> None:
    """Take a new sample of (d, v, lateral d, lateral v); the machine keeps what the law gets to see of it."""
    late = sample
    if len(ring) > 0:
        at = int(machine.measured) % len(ring)
        ring[at].d, ring[at].v, ring[at].lateral_d, ring[at].lateral_v = sample
        old = ring[(at - min(int(head.delay), int(machine.measured))) % len(ring)]
        late = (old.d, old.v, old.lateral_d, old.lateral_v)
        machine.measured += 1.0
    machine.d, machine.v, machine.lateral_d, machine.lateral_v = late
    if head.noise_distance > 0.0 or head.noise_velocity > 0.0:
        machine.d += head.noise_distance * _gaussian(machine)
        machine.v += head.noise_velocity * _gaussian(machine)
        machine.lateral_d += head.noise_distance * _gaussian(machine)
        machine.lateral_v += head.noise_velocity * _gaussian(machine)


# From the planar walk: 1 rad of lean changes its speed by about 3.6 m/s, so that this gain removes a
# seventh of the error with every step.
LEAN_PER_SPEED = 0.04  # [rad per m/s and step]
LARGEST_LEAN = 0.3  # [rad]


@kernel
def lean_for_speed(machine: Any, x: float, y: float, time: float, wanted: float) -> None:
    """On the first moment of a step, compare the last step's mean speed along the heading with the wanted [m/s]."""
    if machine.speed_step == machine.steps:
        return
    elapsed = time - machine.speed_time
    if machine.speed_step > 0.0 and elapsed > 0.0:
        dx, dy = x - machine.speed_x, y - machine.speed_y
        missing = wanted - (math.cos(machine.heading) * dx + math.sin(machine.heading) * dy) / elapsed
        machine.lean = clamp(machine.lean - LEAN_PER_SPEED * missing, -LARGEST_LEAN, LARGEST_LEAN)
    machine.speed_step, machine.speed_time, machine.speed_x, machine.speed_y = machine.steps, time, x, y


@kernel
def stiffness(machine: Any, head: Any, error: float, time: float) -> float:
    """Factor of the learned servos' gains: `softness`, and 1 for a while after an unexpected torso error.

    The gains rise `reaction_delay` seconds after the torso was `alarm` [rad] off its target, for
    `reaction_time` seconds; a further alarm prolongs them.
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
