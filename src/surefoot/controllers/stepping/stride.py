"""The stride on level ground: straight legs, long steps, a foot that rolls from its heel over its ball.

The paper's walk is a row of single supports on flat feet. While the ground ahead is level and the balance is good
(`ease`), legs are straight, and a walk ahead (`stride`) takes steps of a constant walk ratio, step length ÷ cadence,
with a double support between them. Seen from the pendulum, a centre of pressure that passes evenly from foot to foot is
the same as one that jumps in the middle of the double support. One that travels c along the sole within a step of T
seconds is a pendulum whose foot moves at u = c/T, and thus one that walks at V − u on a foot that rests. So the laws
for the speed, the foothold and the ankle torque hold with V − u and times from the middle of the double support on.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from surefoot.controllers.stepping.plan import BALANCE, SHIFT, STEP, WALK, begin_stand
from surefoot.controllers.stepping.support import Region, on_sole, within_foot
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.pendulum import (
    capture_point,
    horizontal_norm,
    pendulum_frequency,
    periodic_capture_ahead,
    periodic_capture_beside,
    pressure_to_reach,
)
from surefoot.reflexes.servo import clamp
from surefoot.terrains.ground_kernels import height_at

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_BACK, _AHEAD, _PLACES = 0.3, 1.2, 8  # [m], [m], count
_LEVEL, _UNEVEN = 0.012, 0.035  # [m]
_CALM, _UPSET, _ALONG = 0.1, 0.18, 0.4  # [m], [m], share
_STANDING_CALM, _STANDING_UPSET = 0.015, 0.04  # [m]
_STRAIGHTENING, _YIELDING, _SOFTENING = 1.2, 12.0, 2.5  # [1/s]
_SLOW, _FAST, _STARTING, _GOING = 0.02, 0.12, 0.02, 0.08  # [m/s]
_BRISK, _RISE_POWER = 0.85, 6  # [m/s], exponent
_GROWTH = 0.25  # by step
_LOST = 0.5  # [ease]
_ASIDE, _BACKWARD = 0.15, 0.2  # [m/s]
_LIGHT, _HEAVY = 0.02, 0.06  # [weight]
_CROUCHED, _UPRIGHT = 0.85, 0.95  # [leg length]
_LONGEST_PERIOD, _MINUTE = 0.85, 60.0  # [s], [s]
_SHORTEST_REST = 0.2  # [s]
_RISE_PHASE, _RISE_SHARE = 0.35, 0.4  # [phase], [toe_off_pitch]
_LOADING = 0.12  # [s]
_ON_TOES, _TOES = 0.2, 0.1  # [rad], [m]


@kernel
def mix(one: float, other: float, share: float) -> float:
    """`one`, or a share of the way from it to `other`."""
    return one + share * (other - one)


@kernel
def smooth_share(x: float, low: float, high: float) -> float:
    """0 below `low`, 1 above `high`, and smoothly between them."""
    s = clamp((x - low) / (high - low), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)  # type: ignore[no-any-return]


@kernel
def is_striding(stepper: Any) -> bool:
    """Whether it takes a step of a stride."""
    return bool(stepper.mode == STEP and stepper.kind == WALK and stepper.stride > 0.0)


@kernel
def leg_share(plan: Any, stepper: Any) -> float:
    """Rest length of a leg, as a share of its full length."""
    return plan.leg if plan.level_leg == 0.0 else mix(plan.leg, plan.level_leg, stepper.ease)  # type: ignore[no-any-return]


@kernel
def walking_period(plan: Any, stepper: Any) -> float:
    """Time from footstrike to footstrike of a walk [s]: step length = walk ratio × cadence, or `step_time`."""
    if plan.walk_ratio == 0.0 or stepper.stride == 0.0:
        return plan.step_time  # type: ignore[no-any-return]
    free = math.sqrt(_MINUTE * plan.walk_ratio / max(stepper.speed, _SLOW))
    return mix(plan.step_time, clamp(free, plan.step_time, max(plan.step_time, _LONGEST_PERIOD)), stepper.stride)  # type: ignore[no-any-return]


@kernel
def walking_width(plan: Any, stepper: Any) -> float:
    """Lateral distance of the feet in a walk [m]."""
    return plan.step_width if stepper.stride == 0.0 else mix(plan.step_width, plan.stride_width, stepper.stride)  # type: ignore[no-any-return]


@kernel
def _brisk_share(stepper: Any) -> float:
    """1 in a brisk walk, less in a slower one."""
    return clamp(stepper.speed / _BRISK, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def roll_speed(plan: Any, stepper: Any) -> float:
    """u, speed at which the centre of pressure travels along the sole [m/s]."""
    if stepper.stride == 0.0:
        return 0.0
    return stepper.stride * math.sqrt(_brisk_share(stepper)) * plan.roll / walking_period(plan, stepper)  # type: ignore[no-any-return]


@kernel
def begin_stride(plan: Any, stepper: Any, last: float) -> None:
    """Begin a step of a walk with a double support, if it strides; `last` is how much of a stride the last step was."""
    stepper.stride = min(wanted_stride(plan, stepper), last + _GROWTH)
    period = walking_period(plan, stepper)
    stepper.both = stepper.stride * plan.double_support * period
    stepper.duration = period - stepper.both
    stepper.phase = -stepper.both / stepper.duration


@kernel
def wanted_stride(plan: Any, stepper: Any) -> float:
    """How much of a stride a walk takes: 1 ahead at ease, 0 slowly, backward or sideways."""
    if plan.walk_ratio == 0.0:
        return 0.0
    return stepper.ease * told_stride(stepper) * smooth_share(stepper.pace, _STARTING, _GOING)  # type: ignore[no-any-return]


@kernel
def told_stride(stepper: Any) -> float:
    """How much of a stride the speed asks for: 1 in a brisk walk, 0 slowly."""
    return smooth_share(stepper.speed, _SLOW, _FAST)  # type: ignore[no-any-return]


@noinline
def _unevenness(world: World, row: Row, stepper: Any, x: float, y: float) -> float:
    """Difference between the highest and the lowest ground along the way, from a little behind [m]."""
    ground = int(row.header[0].ground)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    low, high = 1e9, -1e9
    for i in range(_PLACES):
        off = -_BACK + (_BACK + _AHEAD) * i / (_PLACES - 1)
        z = height_at(world, ground, x + c * off, y + s * off)
        low, high = min(low, z), max(high, z)
    return high - low


@noinline
def update_ease(
    world: World, row: Row, plan: Any, stepper: Any, left: Region, right: Region, com: Vector, velocity: Vector,
    burden: float,
) -> None:  # fmt: skip
    """Follow how much at ease it is: 1 on level ground with the capture point where it should be, else 0.

    Args:
        world: the physics.
        row: the simulation's memory.
        plan: PLAN record of the skill.
        stepper: STEPPER record.
        left: region of the left foot.
        right: region of the right foot.
        com: position of the pendulum's mass [m].
        velocity: its velocity [m/s].
        burden: what it carries and pulls [weight].
    """
    if plan.level_leg == 0.0 and plan.walk_ratio == 0.0:
        return
    level = 1.0 - smooth_share(_unevenness(world, row, stepper, com[0], com[1]), _LEVEL, _UNEVEN)
    free = 1.0 - smooth_share(burden, _LIGHT, _HEAVY)
    ahead = 1.0 - smooth_share(max(abs(stepper.sideways) / _ASIDE, -stepper.speed / _BACKWARD), 0.0, 1.0)
    upright = smooth_share(stepper.crouch, _CROUCHED, _UPRIGHT)
    stepper.level = level * free * ahead * upright
    upset = _upset(plan, stepper, left, right, com, velocity)
    if row.header[0].family != 0.0 and stepper.mode == SHIFT and stepper.kind == WALK:
        upset = 0.0  # it was handed a walk, and is on its way over a foot
    wanted = stepper.level * (1.0 - upset)
    stepper.ease += clamp(wanted - stepper.ease, -_YIELDING * world.dt, _STRAIGHTENING * world.dt)
    stepper.firm = max(stepper.ease, stepper.firm - _SOFTENING * world.dt)
    if stepper.mode == STEP and stepper.kind == WALK and stepper.ease < stepper.stride:
        if stepper.phase < 0.0 and stepper.ease < _LOST:  # on both feet: figure 13 decides which one steps
            begin_stand(stepper, world.time)
            return
        share = stepper.ease / stepper.stride
        stepper.stride, stepper.both = stepper.ease, stepper.both * share
        if stepper.phase < 0.0:
            stepper.phase *= share
        stepper.duration = max(plan.push_time, min(stepper.duration, walking_period(plan, stepper) - stepper.both))


@noinline
def _upset(plan: Any, stepper: Any, left: Region, right: Region, com: Vector, velocity: Vector) -> float:
    """How far the capture point is from where it should be now: 0 near it, 1 far away and in steps that balance."""
    x, y = capture_point(com, velocity, pendulum_frequency(com[2] - stepper.z))
    if stepper.mode != STEP:
        off = horizontal_norm(x - 0.5 * (left.x + right.x), y - 0.5 * (left.y + right.y))
        return smooth_share(off, _STANDING_CALM, _STANDING_UPSET)  # type: ignore[no-any-return]
    if stepper.kind == BALANCE:
        return 1.0
    if stepper.kind != WALK:
        return 0.0
    aim = aim_of(plan, stepper, left, right, com, x, y)
    shrink = math.exp(-aim.omega * aim.rest)
    off = horizontal_norm(_ALONG * (aim.along - aim.wanted * shrink), aim.beside - aim.aside * shrink)
    return smooth_share(off, _CALM, _UPSET)  # type: ignore[no-any-return]


class Aim(NamedTuple):
    """Where the capture point is and where it has to go, seen from the moving foot of the pendulum."""

    along: float  # [m] ahead of the foot
    beside: float  # [m] to its left
    wanted: float  # [m] ahead of it at the end of the step
    aside: float  # [m] to its left at the end of the step
    rest: float  # [s] until then
    omega: float  # [1/s] frequency of the pendulum
    roll: float  # [m] of the centre of pressure along the sole


@kernel
def front_share(stepper: Any, phase: float) -> float:
    """Share of the load on the foot that has landed: it grows evenly in the double support."""
    if phase >= 0.0 or stepper.both <= 0.0:
        return 1.0
    return clamp(1.0 + phase * stepper.duration / stepper.both, 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def time_since_switch(stepper: Any) -> float:
    """Time since the middle of the double support [s]; negative before."""
    return stepper.phase * stepper.duration + 0.5 * stepper.both  # type: ignore[no-any-return]


@noinline
def aim_of(plan: Any, stepper: Any, left: Region, right: Region, com: Vector, x: float, y: float) -> Aim:
    """Where the capture point (x, y) is and has to go [m], as seen from the foot that bears next."""
    stance, rear = (right, left) if stepper.swing == 0.0 else (left, right)
    omega = pendulum_frequency(com[2] - stance.z)
    period, u = walking_period(plan, stepper), roll_speed(plan, stepper)
    # the foot behind will still bear: as much as if it bore alone for this time
    free = 1.0 - front_share(stepper, stepper.phase)
    still = 0.5 * free * free * stepper.both
    along, beside = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    if still > 0.0:
        back, away = to_heading_frame(stepper.heading, rear.x - stance.x, rear.y - stance.y)
        back += 0.5 * u * period
        grown = math.exp(omega * still)
        along, beside = back + (along - back) * grown, away + (beside - away) * grown
    since = time_since_switch(stepper) + still
    roll = u * (clamp(since, 0.0, period) - 0.5 * period)
    width = (1.0 if stepper.swing == 0.0 else -1.0) * walking_width(plan, stepper)
    wanted = periodic_capture_ahead(stepper.speed + stepper.integral - u, omega, period)
    aside = periodic_capture_beside(width, omega, period) + periodic_capture_ahead(stepper.sideways, omega, period)
    return Aim(along - roll - u / omega, beside, wanted, aside, max(_SHORTEST_REST, period - since), omega, roll)


@noinline
def choose_stride_pressure(
    plan: Any, stepper: Any, left: Region, right: Region, left_bears: Region, right_bears: Region, com: Vector,
    velocity: Vector,
) -> None:  # fmt: skip
    """Choose the centre of pressure and the feet's shares of the load in a stride.

    Args:
        plan: PLAN record of the skill.
        stepper: STEPPER record.
        left: region of the left foot.
        right: region of the right foot.
        left_bears: the part of the left foot that is on the ground.
        right_bears: the part of the right foot that is on the ground.
        com: position of the pendulum's mass [m].
        velocity: its velocity [m/s].
    """
    x, y = capture_point(com, velocity, pendulum_frequency(com[2] - stepper.z))
    aim = aim_of(plan, stepper, left, right, com, x, y)
    px = aim.roll + plan.steering * pressure_to_reach(aim.along, aim.wanted, aim.omega, aim.rest)
    py = plan.steering * pressure_to_reach(aim.beside, aim.aside, aim.omega, aim.rest)
    rising = smooth_share(-bearing_pitch(plan, stepper, stepper.phase, False), 0.0, _ON_TOES)
    px = mix(px, max(px, _TOES), rising)  # a heel rises when the toes bear
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    first = stepper.swing == 0.0
    stance, front, rear = (right, right_bears, left_bears) if first else (left, left_bears, right_bears)
    fx, fy = within_foot(front, stance.x + c * px - s * py, stance.y + s * px + c * py)
    share = front_share(stepper, stepper.phase)
    ahead = on_sole(front, fx, fy)
    bx, by = within_foot(rear, ahead[0], ahead[1])
    behind = on_sole(rear, bx, by)
    stepper.x = mix(behind[0], ahead[0], share)
    stepper.y = mix(behind[1], ahead[1], share)
    stepper.z = mix(behind[2], ahead[2], share)
    stepper.share = 1.0 - share if first else share


@kernel
def bearing_pitch(plan: Any, stepper: Any, phase: float, is_rear: bool) -> float:
    """Wanted pitch of a foot that bears in a stride, toes up positive [rad].

    The foot that has landed comes down from its heel, stays flat, and lifts its heel before the other foot lands; the
    one behind goes on to lift it until it leaves the ground. In a slow walk the heel hardly rises before that: the toes
    alone would bear, ahead of where a slow body's centre of pressure has to be.
    """
    if is_rear:
        share = front_share(stepper, phase)
        return mix(stepper.pitch0, -plan.toe_off_pitch * stepper.stride, share)  # type: ignore[no-any-return]
    since = phase * stepper.duration + stepper.both
    landing = stepper.strike_pitch * (1.0 - smooth_share(since, 0.0, _LOADING))
    rise = _RISE_SHARE * plan.toe_off_pitch * stepper.stride * _brisk_share(stepper) ** _RISE_POWER
    s = clamp((phase - _RISE_PHASE) / (1.0 - _RISE_PHASE), 0.0, 1.0)
    return landing - rise * s * s  # type: ignore[no-any-return]


@kernel
def landing_pitch(plan: Any, stepper: Any) -> float:
    """Pitch of the swing foot against its foothold when it lands on its heel, toes up positive [rad]."""
    if stepper.kind != WALK:
        return 0.0
    return plan.strike_pitch * stepper.stride * math.sqrt(_brisk_share(stepper))  # type: ignore[no-any-return]


@kernel
def landing_rise(limbs: Limbs, plan: Any, stepper: Any) -> float:
    """Height of the sole's middle above the ground when a foot lands on its heel [m]."""
    half = 0.5 * (limbs.biped[0].ahead + limbs.biped[0].behind)
    return half * math.sin(landing_pitch(plan, stepper))  # type: ignore[no-any-return]


@kernel
def hermite(s: float, start: float, rate: float, end: float, end_rate: float) -> float:
    """A cubic at s of 0 … 1 from its values and its derivatives by s at both ends."""
    r = 1.0 - s
    return r * r * ((1.0 + 2.0 * s) * start + s * rate) + s * s * ((3.0 - 2.0 * s) * end - r * end_rate)
