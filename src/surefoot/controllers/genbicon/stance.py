"""Legs that bear: virtual forces through the feet, knees that carry, and a pelvis held upright (GENBICON §4.1, §4.3).

A virtual force on the COM is exerted by a leg whose ground reaction passes through the COM from a shifted centre of
pressure; Jᵀ of that reaction gives its joints' torques (equation 8).

Quiet standing on two feet, and the weight shift that begins a walk (GENBICON §4.3, §4.4).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.memory import SHIFT, STEP
from surefoot.controllers.genbicon.steps import ankle_of, bend_of, driven_speed, softness, wanted_width
from surefoot.controllers.genbicon.style import PELVIS, STANCE_ANKLE, STANCE_KNEE, STANCE_TOE, value
from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    cross,
    from_axis_angle,
    from_yaw_roll_pitch,
    inverse,
    limit_norm,
    multiply,
    rotate,
    scale,
    subtract,
    to_heading_frame,
)
from surefoot.reflexes.leg_ik import middle_angle
from surefoot.reflexes.limb_servo import (
    anchor_of,
    framed_torque,
    link_torque,
    quaternion_of,
    relative_target,
    turn_to,
    weight_torque,
)
from surefoot.reflexes.pendulum import GRAVITY, capture_ahead, capture_beside, frequency, pressure_for
from surefoot.reflexes.servo import clamp

PELVIS_SHARE = 0.4  # of a bend
_PLANTED_TILT, _PLANTED_SPIN = 0.985, 2.0  # cosine of a foot's tilt, [rad/s]: beyond them it is not planted
_EDGE = 0.6  # of the sole that a centre of pressure may use
_SHORTEST = 0.1  # [s] within which a step's end is aimed at
_LATE, _LOWER = 0.2, 0.03  # [phase] within which the body is let down for a late foot, [m] how much more
_FAST_LEVELLING = 0.8  # of very fast walks
_CROUCHED = 0.4  # [rad] of a knee that is meant to be bent and gets all of the weight's torque
_PUSH_PHASE = 0.45  # when pushing off begins
_LEAN = 2  # place of the command


@kernel
def stepping_point(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector
) -> Vector:
    """Centre of pressure under the stance foot by which speed and sway are tuned within a step (§4.3) [m]."""
    numbers, side = style.numbers[0], int(walker.swing)
    ankle = ankle_of(world, limbs, 1 - side)
    omega = frequency(com[2] - walker.ground)
    x, y = to_heading_frame(walker.heading, com[0] - ankle[0], com[1] - ankle[1])
    vx, vy = to_heading_frame(walker.heading, velocity[0], velocity[1])
    period = walker.period
    time = max(_SHORTEST, (1.0 - walker.phase) * period)
    width = (1.0 if side == 0 else -1.0) * wanted_width(row, limbs, style, walker)
    speed = driven_speed(walker, numbers)
    ahead = numbers.speed_force * pressure_for(x + vx / omega, capture_ahead(speed, omega, period), omega, time)
    left = numbers.sway_force * pressure_for(y + vy / omega, capture_beside(width, omega, period), omega, time)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    return pressure_point(world, limbs, 1 - side, c * ahead - s * left, s * ahead + c * left)  # type: ignore[no-any-return]


@kernel
def _foot_frame(world: Any, link: Any) -> tuple[float, float]:
    """Cosine and sine of a foot's own heading."""
    x = rotate(
        multiply(quaternion_of(world, int(link.body)), inverse((link.w, link.x, link.y, link.z))), (1.0, 0.0, 0.0)
    )
    size = max(math.sqrt(x[0] * x[0] + x[1] * x[1]), 1e-6)
    return x[0] / size, x[1] / size


@kernel
def _is_planted(world: Any, link: Any) -> bool:
    """Whether a foot neither tilts nor turns over its edges (§4.3)."""
    body = int(link.body)
    up = rotate(multiply(quaternion_of(world, body), inverse((link.w, link.x, link.y, link.z))), (0.0, 0.0, 1.0))
    spin = world.cvel[body]
    return up[2] > _PLANTED_TILT and spin[0] * spin[0] + spin[1] * spin[1] < _PLANTED_SPIN * _PLANTED_SPIN  # type: ignore[no-any-return]


@kernel
def pressure_point(world: Any, limbs: Any, side: int, dx: float, dy: float) -> Vector:
    """The point under a foot, wanted at (dx, dy) from its ankle in world axes, kept within its sole [m]."""
    biped, chain = limbs.biped[0], limbs.legs[side]
    link = limbs.links[int(chain.end)]
    ankle = ankle_of(world, limbs, side)
    c, s = _foot_frame(world, link)
    along = clamp(c * dx + s * dy, -_EDGE * biped.behind, _EDGE * biped.ahead)
    across = clamp(c * dy - s * dx, -_EDGE * biped.half_width, _EDGE * biped.half_width)
    if not _is_planted(world, link):
        along, across = 0.0, 0.0
    return ankle[0] + c * along - s * across, ankle[1] + s * along + c * across, ankle[2] - chain.depth


@kernel
def reaction(com: Vector, point: Vector, weight: float) -> Vector:
    """Ground reaction that bears a weight and passes from a centre of pressure through the COM [N]."""
    height = max(com[2] - point[2], 0.1)
    return weight * (com[0] - point[0]) / height, weight * (com[1] - point[1]) / height, weight


@noinline
def bearing_leg(
    world: Any,
    row: Any,
    limbs: Any,
    style: Any,
    walker: Any,
    intent: Any,
    com: Vector,
    mass: float,
    point: Vector,
    torques: Any,
) -> None:
    """Torques of the leg on which a walker steps on, from a centre of pressure, but for its hip."""
    side = 1 - int(walker.swing)
    force = reaction(com, point, mass * GRAVITY)
    firm = clamp(row.contact_force[side, 2] / (mass * GRAVITY), 0.0, 1.0)  # a light foot would only tip
    bear(world, limbs, style, walker, intent, point, force, firm, side, torques)


@kernel
def bear(
    world: Any, limbs: Any, style: Any, walker: Any, intent: Any, point: Vector, force: Vector, firm: float, side: int,
    torques: Any,
) -> None:  # fmt: skip
    """Servos of knee, ankle and toes, and Jᵀ of the ground reaction at a centre of pressure."""
    numbers, chain = style.numbers[0], limbs.legs[side]
    knee, ankle = limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    phase = walker.phase if walker.mode == STEP else 0.0
    bend = intent.crouch - value(style, STANCE_KNEE, phase)
    support = 1.0
    if walker.mode == STEP:
        support = clamp(numbers.knee_support * (1.0 - softness(walker)) + bend / _CROUCHED, 0.0, 1.0)
        bend = max(bend, _level_bend(world, limbs, numbers, walker, side))
        # it yields to the footstrike: from the bend it lands with to its target
        share = clamp(phase / max(numbers.yielding, 1e-3), 0.0, 1.0)
        bend = max(bend, walker.knee) + share * share * (3.0 - 2.0 * share) * (bend - max(bend, walker.knee))
    else:  # one foot ahead, knees differ: their mean is held, so that no servo shifts the weight from leg to leg
        bend += 0.5 * (bend_of(world, limbs, side) - bend_of(world, limbs, 1 - side))
    bend *= chain.bend
    n = (chain.nx, chain.ny, chain.nz)
    torque = link_torque(world, knee, relative_target(world, knee, from_axis_angle(n, bend)), knee.kp, knee.kd)
    lever = subtract(point, anchor_of(world, knee))
    torque = add(torque, scale(-support, cross(lever, force)))
    torques[int(chain.lower), 0], torques[int(chain.lower), 1], torques[int(chain.lower), 2] = torque
    pitch = value(style, STANCE_ANKLE, phase)
    if walker.mode == STEP and phase > _PUSH_PHASE:
        pitch -= numbers.push_off * clamp(abs(walker.speed) - 0.8, 0.0, 1.0) * (phase - _PUSH_PHASE)
    c, s = _foot_frame(world, ankle)
    flat = multiply(from_axis_angle((0.0, 0.0, 1.0), math.atan2(s, c)), from_yaw_roll_pitch(0.0, 0.0, pitch))
    torque = framed_torque(world, ankle, multiply(flat, (ankle.w, ankle.x, ankle.y, ankle.z)), ankle.kp, ankle.kd)
    torque = subtract(torque, scale(firm, cross(subtract(point, anchor_of(world, ankle)), force)))
    torques[int(chain.end), 0], torques[int(chain.end), 1], torques[int(chain.end), 2] = torque
    if chain.tip >= 0.0:
        toe = limbs.links[int(chain.tip)]
        pose = from_yaw_roll_pitch(0.0, 0.0, value(style, STANCE_TOE, phase))
        torque = link_torque(world, toe, relative_target(world, toe, pose), toe.kp, toe.kd)
        torques[int(chain.tip), 0], torques[int(chain.tip), 1], torques[int(chain.tip), 2] = torque


@kernel
def _level_bend(world: Any, limbs: Any, numbers: Any, walker: Any, side: int) -> float:
    """Bend of the stance knee that keeps the hip on the level it has when both feet are down, or part of it [rad].

    With straight legs the hip rises and drops by L − √(L² − (VT/2)²) in a step of length VT, and every footstrike
    takes the speed of that drop. The shorter leg counts, so that unequal legs walk level too.
    """
    chain = limbs.legs[side]
    hip, ankle = limbs.links[int(chain.upper)], limbs.links[int(chain.end)]
    a, b = world.xanchor[int(hip.joint)], world.xanchor[int(ankle.joint)]
    longest = min(limbs.legs[0].reach, limbs.legs[1].reach)
    half = 0.5 * clamp(walker.speed * walker.period, 0.0, 1.4 * longest)
    share = numbers.levelling + softness(walker) * max(0.0, _FAST_LEVELLING - numbers.levelling)
    level = longest - share * (longest - math.sqrt(longest * longest - half * half))
    late = clamp((walker.phase - 1.0) / _LATE, 0.0, 1.0)
    if late > 0.0:  # the foot should have landed: go down until it can reach its place
        other = world.xanchor[int(limbs.links[int(limbs.legs[1 - side].upper)].joint)]
        away = (other[0] - walker.aim_x) ** 2 + (other[1] - walker.aim_y) ** 2
        level -= late * (level - math.sqrt(max(longest * longest - away, 0.25 * longest * longest)) + _LOWER)
    across = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    return chain.bend * middle_angle(chain, math.sqrt(level * level + across))  # type: ignore[no-any-return]


@kernel
def _borne_beyond(world: Any, link: Any, intent: Any, single: bool) -> Vector:
    """The part of a trunk's torque that bears weight, which the lever of the whole COM has in it already [N·m]."""
    borne = (0.0, 0.0, 0.0)
    if not single:
        borne = weight_torque(world, link)
    if intent.load_mass > 0.0:
        at = world.xipos[int(intent.load_body)]
        lever = subtract((at[0], at[1], at[2]), anchor_of(world, link))
        borne = add(borne, cross(lever, (0.0, 0.0, intent.load_mass * GRAVITY)))
    return borne


@noinline
def hold_pelvis(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, com: Vector, velocity: Vector, mass: float,
    frame: Quaternion, torques: Any,
) -> None:  # fmt: skip
    """Give the bearing hips the torque that holds the pelvis in the character frame, against all that turns it."""
    biped, numbers, side = limbs.biped[0], style.numbers[0], int(walker.swing)
    mirror = 1.0 if side == 0 else -1.0
    phase = walker.phase
    lean = PELVIS_SHARE * (row.commands[_LEAN] - intent.bend)
    turn = from_yaw_roll_pitch(
        mirror * value(style, PELVIS + 2, phase),
        mirror * value(style, PELVIS + 1, phase),
        value(style, PELVIS, phase) + lean,
    )
    wanted = multiply(multiply(frame, turn), (biped.w, biped.x, biped.y, biped.z))
    body = int(biped.pelvis)
    error, spin = turn_to(wanted, quaternion_of(world, body)), world.cvel[body]
    kp, kd = biped.root_kp, biped.root_kd
    torque = limit_norm(
        (
            kp * error[0] - kd * spin[0],
            kp * error[1] - kd * spin[1],
            numbers.yaw_gain * (kp * error[2] - kd * spin[2]),
        ),
        biped.root_limit,
    )
    single = walker.mode == STEP
    weight = mass * GRAVITY
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.at_pelvis == 0.0 or (link.kind == 3.0 and not (single and int(link.side) == side)):
            continue
        torque = add(torque, (torques[i, 0], torques[i, 1], torques[i, 2]))
        if link.kind != 3.0:
            torque = subtract(torque, _borne_beyond(world, link, intent, single))
    rest = (0.0, 0.0, 0.0)
    for leg in range(2):
        if single and leg == side:
            continue
        share = 1.0 if single else (walker.load if leg == 0 else 1.0 - walker.load)
        link, ankle = int(limbs.legs[leg].upper), ankle_of(world, limbs, leg)
        borne = reaction(com, (ankle[0], ankle[1], walker.ground), weight) if single else (0.0, 0.0, weight)
        lever = subtract(anchor_of(world, limbs.links[link]), com)
        wanted_here = scale(-share, add(torque, scale(-numbers.hip_support, cross(lever, borne))))
        if single:
            grip = numbers.yaw_limit * min(row.contact_force[leg, 2], weight) * biped.leg_length
            torques[link, 0], torques[link, 1] = wanted_here[0], wanted_here[1]
            torques[link, 2] = clamp(wanted_here[2], -grip, grip)  # more would twist the foot on the ground
        else:
            rest = add(rest, subtract(wanted_here, (torques[link, 0], torques[link, 1], torques[link, 2])))
    if not single:  # each hip has what its own foot asks for: more would press the feet apart, and they creep
        for leg in range(2):
            share = walker.load if leg == 0 else 1.0 - walker.load
            link = int(limbs.legs[leg].upper)
            torques[link, 0] += share * rest[0]
            torques[link, 1] += share * rest[1]
            torques[link, 2] += share * rest[2]


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
        along, _ = to_heading_frame(walker.heading, x - mx, y - my)
        x, y = off[0] + c * (along + middle), off[1] + s * (along + middle)
    return x, y


@kernel
def _abreast(world: Any, limbs: Any, walker: Any, side: int, x: float, y: float) -> Vector:
    """The point under a foot that comes nearest to (x, y) along the heading alone [m].

    One foot ahead of the other, what soles can do along the heading is no reason to shift the weight to the side.
    """
    at = ankle_of(world, limbs, side)
    along, _ = to_heading_frame(walker.heading, x - at[0], y - at[1])
    return pressure_point(world, limbs, side, along * math.cos(walker.heading), along * math.sin(walker.heading))  # type: ignore[no-any-return]


@noinline
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
        bear(world, limbs, style, walker, intent, point, scale(share, whole), 1.0, side, torques)
        hip = int(limbs.legs[side].upper)
        borne = cross(subtract(point, anchor_of(world, limbs.links[hip])), scale(-share, whole))
        torques[hip, 0], torques[hip, 1], torques[hip, 2] = borne
