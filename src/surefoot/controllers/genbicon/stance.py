"""Legs that bear: virtual forces through the feet, supporting knees, an upright pelvis (GENBICON §4.1, §4.3, §4.4).

A leg exerts a virtual force on the COM by a ground reaction that passes from a shifted centre of pressure through the
COM; Jᵀ of that reaction gives the torques of its joints (equation 8). In double stance both legs do so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.genbicon.foot_roll import (
    foot_pitch,
    lead_share,
    pitch_spin,
    point_of_sole,
    pressed_point,
    stance_foot_pitch,
)
from surefoot.controllers.genbicon.memory import SHIFT, STEP
from surefoot.controllers.genbicon.steps import (
    FLAT_COSINE,
    compensated_speed,
    knee_bend,
    knee_softness,
    sideways_speed,
    wanted_width,
)
from surefoot.controllers.genbicon.style import (
    PELVIS,
    ROLL_PRESSURE,
    ROLL_SWING_ANKLE,
    STANCE_ANKLE,
    STANCE_KNEE,
    STANCE_TOE,
    Style,
    curve_rotation,
    curve_value,
)
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import (
    Quaternion,
    Vector,
    add,
    cross,
    from_axis_angle,
    from_yaw_roll_pitch,
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
    ankle_of,
    body_turn,
    framed_torque,
    hip_of,
    link_torque,
    quaternion_of,
    relative_target,
    rotation_error,
    weight_torque,
)
from surefoot.reflexes.pendulum import (
    GRAVITY,
    pendulum_frequency,
    periodic_capture_ahead,
    periodic_capture_beside,
    pressure_to_reach,
)
from surefoot.reflexes.servo import clamp, world_servo

# Constants beyond the paper; docs/genbicon.md gives the reason of each.
PELVIS_SHARE = 0.4  # [bend]
_PLANTED_SPIN = 2.0  # [rad/s]
_USED_SOLE = 0.6  # [sole]
_SHORTEST_REST = 0.1  # [s]
_LOWEST_COM = 0.1  # [m]
_LATE_PHASE, _LATE_DROP = 0.2, 0.03  # [phase], [m]
_LONGEST_STEP, _LOWEST_SQUARE = 1.4, 0.25  # [leg], [leg²]
_FAST_LEVELLING = 0.8
_CROUCHED = 0.4  # [rad]
_LEAST_FIRM = 0.5  # [weight]
_PUSH_FADE = 0.2  # [rad]
_PUSHING_KNEE_DAMPING = 0.1  # [knee's damping]
_PUSH_PHASE, _PUSH_FROM, _PUSH_RANGE = 0.45, 0.8, 1.0  # [phase], [m/s], [m/s]
_STANDING_MIDDLE = 0.4  # [sole]
_LEAST_LOAD = 0.02  # [weight]
_HIP = 3.0  # place in `characters.links.KINDS`
_LEAN = 2  # place of the command


@kernel
def step_pressure_point(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, com: Vector, velocity: Vector
) -> Vector:
    """Centre of pressure under the stance foot that tunes speed and sway within a step (§4.3) [m]."""
    numbers, side = style.numbers[0], int(walker.swing)
    ankle = ankle_of(world, limbs, 1 - side)
    omega = pendulum_frequency(com[2] - walker.ground)
    x, y = to_heading_frame(walker.heading, com[0] - ankle[0], com[1] - ankle[1])
    vx, vy = to_heading_frame(walker.heading, velocity[0], velocity[1])
    period = walker.period
    time = max(_SHORTEST_REST, (1.0 - walker.phase) * period)
    width = (1.0 if side == 0 else -1.0) * wanted_width(row, limbs, style, walker)
    speed = compensated_speed(walker, numbers)
    wanted_x, wanted_y = periodic_capture_ahead(speed, omega, period), periodic_capture_beside(width, omega, period)
    wanted_y += periodic_capture_ahead(sideways_speed(row, walker), omega, period)
    ahead = numbers.speed_force * pressure_to_reach(x + vx / omega, wanted_x, omega, time)
    left = numbers.sway_force * pressure_to_reach(y + vy / omega, wanted_y, omega, time)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    flat = pressure_under_foot(world, limbs, 1 - side, c * ahead - s * left, s * ahead + c * left)
    if numbers.rolling != 0.0:
        ahead += numbers.rolling * _usual_pressure(limbs, style, 1 - side, walker.phase)
        rolled = pressure_under_rolling_foot(world, limbs, 1 - side, c * ahead - s * left, s * ahead + c * left)
        return add(flat, scale(numbers.rolling, subtract(rolled, flat)))  # type: ignore[no-any-return]
    return flat  # type: ignore[no-any-return]


@kernel
def _usual_pressure(limbs: Limbs, style: Style, side: int, phase: float) -> float:
    """Centre of pressure of a rolling foot by its style's curve, from the ankle along the sole [m]."""
    share = curve_value(style, ROLL_PRESSURE, phase)
    return share * (limbs.legs[side].ball if share > 0.0 else limbs.biped[0].behind)  # type: ignore[no-any-return]


@kernel
def _foot_frame(world: World, link: Any) -> tuple[float, float]:
    """Cosine and sine of a foot's own heading."""
    x = rotate(body_turn(world, link), (1.0, 0.0, 0.0))
    size = max(math.sqrt(x[0] * x[0] + x[1] * x[1]), 1e-6)
    return x[0] / size, x[1] / size


@kernel
def _is_planted(world: World, link: Any) -> bool:
    """Whether a foot neither tilts nor turns over its edges (§4.3)."""
    up, spin = rotate(body_turn(world, link), (0.0, 0.0, 1.0)), world.cvel[int(link.body)]
    return up[2] > FLAT_COSINE and spin[0] * spin[0] + spin[1] * spin[1] < _PLANTED_SPIN * _PLANTED_SPIN  # type: ignore[no-any-return]


@kernel
def pressure_under_foot(world: World, limbs: Limbs, side: int, dx: float, dy: float) -> Vector:
    """Point at (dx, dy) from a foot's ankle in world axes, moved to the nearest one within its sole [m]."""
    biped, chain = limbs.biped[0], limbs.legs[side]
    link = limbs.links[int(chain.end)]
    ankle = ankle_of(world, limbs, side)
    c, s = _foot_frame(world, link)
    along = clamp(c * dx + s * dy, -_USED_SOLE * biped.behind, _USED_SOLE * biped.ahead)
    across = clamp(c * dy - s * dx, -_USED_SOLE * biped.half_width, _USED_SOLE * biped.half_width)
    if not _is_planted(world, link):
        along, across = 0.0, 0.0
    return ankle[0] + c * along - s * across, ankle[1] + s * along + c * across, ankle[2] - chain.depth


@noinline
def pressure_under_rolling_foot(world: World, limbs: Limbs, side: int, dx: float, dy: float) -> Vector:
    """The same of a foot that rolls: once it is tilted it is pressed on at its heel or at its ball [m]."""
    biped, chain = limbs.biped[0], limbs.legs[side]
    link = limbs.links[int(chain.end)]
    ankle, pitch = ankle_of(world, limbs, side), foot_pitch(world, link)
    c, s = _foot_frame(world, link)
    along = pressed_point(limbs, side, clamp(c * dx + s * dy, -_USED_SOLE * biped.behind, chain.ball), pitch)
    across = clamp(c * dy - s * dx, -_USED_SOLE * biped.half_width, _USED_SOLE * biped.half_width)
    ahead, below = point_of_sole(chain, along, pitch)
    return ankle[0] + c * ahead - s * across, ankle[1] + s * ahead + c * across, ankle[2] + below


@kernel
def _store(torques: np.ndarray, link: int, torque: Vector) -> None:
    torques[link, 0], torques[link, 1], torques[link, 2] = torque


@kernel
def ground_reaction(com: Vector, point: Vector, weight: float) -> Vector:
    """Ground reaction from a centre of pressure through the COM that bears a weight [N]."""
    height = max(com[2] - point[2], _LOWEST_COM)
    return weight * (com[0] - point[0]) / height, weight * (com[1] - point[1]) / height, weight


@noinline
def stance_leg_torques(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, mass: float,
    point: Vector, torques: np.ndarray,
) -> None:  # fmt: skip
    """Torques of the stance leg of a step, except for its hip, from its centre of pressure."""
    side = 1 - int(walker.swing)
    weight = lead_share(walker, style.numbers[0]) * mass * GRAVITY
    force = ground_reaction(com, point, weight)
    firm = clamp(row.contact_force[side, 2] / weight, 0.0, 1.0)  # a light foot would only tip
    if row.touch[side] != 0.0:
        firm = max(firm, style.numbers[0].rolling * _LEAST_FIRM)
    support_torques(world, limbs, style, walker, intent, com, point, force, firm, side, torques)


@kernel
def support_torques(
    world: World, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, point: Vector, force: Vector,
    firm: float, side: int, torques: np.ndarray,
) -> None:  # fmt: skip
    """Servo torques of knee, ankle and toes, plus Jᵀ of the ground reaction at a centre of pressure (eq. 8)."""
    numbers, chain = style.numbers[0], limbs.legs[side]
    knee, ankle = limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    phase = walker.phase if walker.mode == STEP else 0.0
    bend = intent.crouch - curve_value(style, STANCE_KNEE, phase)
    support, damping = 1.0, knee.kd
    if walker.mode == STEP:
        support = clamp(numbers.knee_support * (1.0 - knee_softness(walker, numbers)) + bend / _CROUCHED, 0.0, 1.0)
        bend = max(bend, _level_bend(world, limbs, numbers, walker, side))
        # the knee yields to the footstrike: it goes from the bend it lands with to its target
        share = clamp(phase / max(numbers.yielding, 1e-3), 0.0, 1.0)
        damping *= 1.0 - numbers.knee_give * (1.0 - share)
        bend = max(bend, walker.knee) + share * share * (3.0 - 2.0 * share) * (bend - max(bend, walker.knee))
    else:  # with one foot ahead the knees differ: hold their mean, so that no servo shifts weight between the legs
        bend += 0.5 * (knee_bend(world, limbs, side) - knee_bend(world, limbs, 1 - side))
    bend *= chain.bend
    n = (chain.nx, chain.ny, chain.nz)
    torque = link_torque(world, knee, relative_target(world, knee, from_axis_angle(n, bend)), knee.kp, damping)
    lever = subtract(point, anchor_of(world, knee))
    torque = add(torque, scale(-support, cross(lever, force)))
    _store(torques, int(chain.lower), torque)
    pitch, rate = curve_value(style, STANCE_ANKLE, phase), 0.0
    if walker.mode == STEP and phase > _PUSH_PHASE:
        pitch -= numbers.push_off * clamp(abs(walker.speed) - _PUSH_FROM, 0.0, _PUSH_RANGE) * (phase - _PUSH_PHASE)
    if walker.mode == STEP and numbers.rolling != 0.0:
        at = anchor_of(world, ankle)
        ahead, _ = to_heading_frame(walker.heading, com[0] - at[0], com[1] - at[1])
        rolled, rate = stance_foot_pitch(style, walker, chain, phase, ahead)
        pitch, rate = pitch + numbers.rolling * (rolled - pitch), numbers.rolling * rate
    c, s = _foot_frame(world, ankle)
    flat = multiply(from_axis_angle((0.0, 0.0, 1.0), math.atan2(s, c)), from_yaw_roll_pitch(0.0, 0.0, pitch))
    torque = framed_torque(world, ankle, multiply(flat, (ankle.w, ankle.x, ankle.y, ankle.z)), ankle.kp, ankle.kd)
    torque = subtract(torque, scale(firm, cross(subtract(point, anchor_of(world, ankle)), force)))
    if numbers.rolling != 0.0 and walker.mode == STEP:
        torque = add(torque, scale(ankle.kd, pitch_spin(c, s, rate)))
        ball, _ = point_of_sole(chain, chain.ball, foot_pitch(world, ankle))
        within = _push_within(torque, c, s, numbers.push_force * max(ball, 0.0) * force[2])
        torque = add(torque, scale(numbers.rolling, subtract(within, torque)))
    _store(torques, int(chain.end), torque)
    if chain.tip >= 0.0:
        toe = limbs.links[int(chain.tip)]
        pose = from_yaw_roll_pitch(0.0, 0.0, curve_value(style, STANCE_TOE, phase))
        torque = link_torque(world, toe, relative_target(world, toe, pose), toe.kp, toe.kd)
        _store(torques, int(chain.tip), torque)


@kernel
def _push_within(torque: Vector, c: float, s: float, most: float) -> Vector:
    """An ankle's torque whose part that presses the ball down is at most `most` [N·m].

    A rolling foot pushes with what its leg is to bear: a servo that pushed harder would throw the body up.
    """
    down = c * torque[1] - s * torque[0]
    return add(torque, scale(min(down, most) - down, (-s, c, 0.0)))  # type: ignore[no-any-return]


@noinline
def push_off_torques(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, com: Vector, mass: float, torques: np.ndarray
) -> None:
    """Torques of the leg left behind in double support, except for its hip: its ankle pushes off by what it bears.

    Its reaction acts at the ball, through the COM; the knee only bears it, and bends as the heel rises.
    """
    side = int(walker.swing)
    chain, weight, numbers = limbs.legs[side], mass * GRAVITY, style.numbers[0]
    knee, ankle = limbs.links[int(chain.lower)], limbs.links[int(chain.end)]
    c, s = _foot_frame(world, ankle)
    point = pressure_under_rolling_foot(world, limbs, side, c * chain.ball, s * chain.ball)
    force = ground_reaction(com, point, (1.0 - lead_share(walker, numbers)) * weight)
    torque = scale(-_PUSHING_KNEE_DAMPING * knee.kd, _joint_spin(world, knee))
    torque = subtract(torque, scale(numbers.push_knee, cross(subtract(point, anchor_of(world, knee)), force)))
    _store(torques, int(chain.lower), torque)
    pitch = foot_pitch(world, ankle)
    turn = multiply(from_axis_angle((0.0, 0.0, 1.0), math.atan2(s, c)), from_yaw_roll_pitch(0.0, 0.0, pitch))
    torque = framed_torque(world, ankle, multiply(turn, (ankle.w, ankle.x, ankle.y, ankle.z)), ankle.kp, ankle.kd)
    # a torque, no servo: the ankle follows the body that leaves, until the foot has the pitch with which it lifts
    left = pitch - numbers.rolling * curve_value(style, ROLL_SWING_ANKLE, numbers.double_support)
    ball, _ = point_of_sole(chain, chain.ball, pitch)
    down = numbers.push_force * max(ball, 0.0) * force[2] * clamp(left / _PUSH_FADE, 0.0, 1.0)
    torque = add(torque, scale(down - (c * torque[1] - s * torque[0]), (-s, c, 0.0)))
    _store(torques, int(chain.end), torque)
    if chain.tip >= 0.0:
        toe = limbs.links[int(chain.tip)]
        pose = from_yaw_roll_pitch(0.0, 0.0, curve_value(style, STANCE_TOE, 1.0))
        _store(torques, int(chain.tip), link_torque(world, toe, relative_target(world, toe, pose), toe.kp, toe.kd))


@kernel
def _joint_spin(world: World, link: Any) -> Vector:
    """Angular velocity of a link against its base [rad/s]."""
    return subtract(world.cvel[int(link.body)], world.cvel[int(link.near)])  # type: ignore[no-any-return]


@kernel
def _level_bend(world: World, limbs: Limbs, numbers: Any, walker: Any, side: int) -> float:
    """Bend of the stance knee that keeps the hip, or part of its rise, at its height in double stance [rad].

    On straight legs the hip rises and drops by L − √(L² − (VT/2)²) in a step of length VT, and every footstrike takes
    the speed of that drop. L is the shorter leg, so that unequal legs walk level too.
    """
    chain, a, b = limbs.legs[side], hip_of(world, limbs, side), ankle_of(world, limbs, side)
    longest = min(limbs.legs[0].reach, limbs.legs[1].reach)
    half = 0.5 * clamp(walker.speed * walker.period, 0.0, _LONGEST_STEP * longest)
    share = numbers.levelling + knee_softness(walker, numbers) * max(0.0, _FAST_LEVELLING - numbers.levelling)
    level = longest - share * (longest - math.sqrt(longest * longest - half * half))
    late = clamp((walker.phase - 1.0) / _LATE_PHASE, 0.0, 1.0)
    if late > 0.0:  # the foot should have landed: go down until it can reach its foothold
        other = hip_of(world, limbs, 1 - side)
        dx, dy = other[0] - walker.aim_x, other[1] - walker.aim_y
        lowest = math.sqrt(max(longest * longest - (dx * dx + dy * dy), _LOWEST_SQUARE * longest * longest))
        level -= late * (level - lowest + _LATE_DROP)
    if numbers.rolling != 0.0:  # a raised heel lifts the ankle, and the knee takes that up
        level -= numbers.rolling * (b[2] - chain.depth - walker.ground)
    dx, dy = a[0] - b[0], a[1] - b[1]
    return chain.bend * middle_angle(chain, math.sqrt(level * level + (dx * dx + dy * dy)))  # type: ignore[no-any-return]


@kernel
def _weight_counted_twice(world: World, link: Any, intent: Any, single: bool) -> Vector:
    """Weight torque of a trunk link that the lever of the whole COM already contains [N·m]."""
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
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, mass: float,
    frame: Quaternion, torques: np.ndarray,
) -> None:  # fmt: skip
    """Give the bearing hips the net torque that holds the pelvis in the character frame (§4.1)."""
    biped, numbers, side = limbs.biped[0], style.numbers[0], int(walker.swing)
    mirror = 1.0 if side == 0 else -1.0
    lean = PELVIS_SHARE * (row.commands[_LEAN] - intent.bend)
    turn = curve_rotation(style, PELVIS, walker.phase, mirror, lean, 1.0)
    wanted = multiply(multiply(frame, turn), (biped.w, biped.x, biped.y, biped.z))
    body = int(biped.pelvis)
    error = rotation_error(wanted, quaternion_of(world, body))
    torque = world_servo(biped.root_kp, biped.root_kd, error, world.cvel[body])
    torque = limit_norm((torque[0], torque[1], numbers.yaw_gain * torque[2]), biped.root_limit)
    single = walker.mode == STEP
    pushing = single and walker.pushing != 0.0
    lead = lead_share(walker, numbers)
    weight = mass * GRAVITY
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.at_pelvis == 0.0 or (link.kind == _HIP and not (single and not pushing and int(link.side) == side)):
            continue
        torque = add(torque, (torques[i, 0], torques[i, 1], torques[i, 2]))
        if link.kind != _HIP:
            torque = subtract(torque, _weight_counted_twice(world, link, intent, single))
    rest = (0.0, 0.0, 0.0)
    for leg in range(2):
        if single and leg == side and not pushing:
            continue
        share = 1.0 if single else (walker.load if leg == 0 else 1.0 - walker.load)
        if pushing:
            share = 1.0 - lead if leg == side else lead
        link, ankle = int(limbs.legs[leg].upper), ankle_of(world, limbs, leg)
        borne = ground_reaction(com, (ankle[0], ankle[1], walker.ground), weight) if single else (0.0, 0.0, weight)
        lever = subtract(anchor_of(world, limbs.links[link]), com)
        wanted_here = scale(-share, add(torque, scale(-numbers.hip_support, cross(lever, borne))))
        if single:
            grip = numbers.yaw_limit * min(row.contact_force[leg, 2], weight) * biped.leg_length
            torques[link, 0], torques[link, 1] = wanted_here[0], wanted_here[1]
            torques[link, 2] = clamp(wanted_here[2], -grip, grip)  # a larger torque would twist the foot on the ground
        else:
            rest = add(rest, subtract(wanted_here, (torques[link, 0], torques[link, 1], torques[link, 2])))
    if not single:  # share only what the feet's own reactions leave: more would press the feet apart, and they creep
        for leg in range(2):
            share = walker.load if leg == 0 else 1.0 - walker.load
            link = int(limbs.legs[leg].upper)
            torques[link, 0] += share * rest[0]
            torques[link, 1] += share * rest[1]
            torques[link, 2] += share * rest[2]


@kernel
def standing_pressure_point(
    world: World, limbs: Limbs, style: Style, walker: Any, com: Vector, velocity: Vector
) -> tuple[float, float]:
    """Wanted centre of pressure while standing [m]: further from the middle of the feet than the capture point."""
    numbers, biped = style.numbers[0], limbs.biped[0]
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    omega = pendulum_frequency(com[2] - walker.ground)
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    middle = _STANDING_MIDDLE * (biped.ahead - biped.behind)
    mx, my = 0.5 * (left[0] + right[0]) + c * middle, 0.5 * (left[1] + right[1]) + s * middle
    k = numbers.stand_stiffness
    x = mx + (1.0 + k) * (com[0] + numbers.stand_damping * velocity[0] / omega - mx)
    y = my + (1.0 + k) * (com[1] + numbers.stand_damping * velocity[1] / omega - my)
    if walker.mode == SHIFT:  # push off with the foot that will swing
        off = left if walker.swing == 0.0 else right
        along, _ = to_heading_frame(walker.heading, x - mx, y - my)
        x, y = off[0] + c * (along + middle), off[1] + s * (along + middle)
    return x, y


@kernel
def _pressure_along_heading(world: World, limbs: Limbs, walker: Any, side: int, x: float, y: float) -> Vector:
    """Point under a foot that comes nearest to (x, y) along the heading alone [m].

    With one foot ahead of the other, reaching a point along the heading is no reason to shift weight sideways.
    """
    at = ankle_of(world, limbs, side)
    along, _ = to_heading_frame(walker.heading, x - at[0], y - at[1])
    return pressure_under_foot(world, limbs, side, along * math.cos(walker.heading), along * math.sin(walker.heading))  # type: ignore[no-any-return]


@noinline
def double_stance_torques(
    world: World, limbs: Limbs, style: Style, walker: Any, intent: Any, com: Vector, poised: Vector, velocity: Vector,
    mass: float, torques: np.ndarray,
) -> None:  # fmt: skip
    """Torques of both legs in double stance; each hip bears the reaction of its own foot."""
    x, y = standing_pressure_point(world, limbs, style, walker, poised, velocity)
    left, right = ankle_of(world, limbs, 0), ankle_of(world, limbs, 1)
    one = _pressure_along_heading(world, limbs, walker, 0, x, y)
    other = _pressure_along_heading(world, limbs, walker, 1, x, y)
    dx, dy = one[0] - other[0], one[1] - other[1]
    load = ((x - other[0]) * dx + (y - other[1]) * dy) / max(dx * dx + dy * dy, 1e-4)
    walker.load = clamp(load, _LEAST_LOAD, 1.0 - _LEAST_LOAD)
    weight = mass * GRAVITY
    whole = ground_reaction(com, (x, y, walker.ground), weight)
    for side in range(2):
        share = walker.load if side == 0 else 1.0 - walker.load
        at = left if side == 0 else right
        point = pressure_under_foot(world, limbs, side, x - at[0], y - at[1])
        support_torques(world, limbs, style, walker, intent, com, point, scale(share, whole), 1.0, side, torques)
        hip = int(limbs.legs[side].upper)
        borne = cross(subtract(point, anchor_of(world, limbs.links[hip])), scale(-share, whole))
        _store(torques, hip, borne)
