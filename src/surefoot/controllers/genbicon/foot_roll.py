"""A foot that rolls: it lands on its heel, rolls over its ball and pushes off in double support.

The paper keeps the stance foot flat and lifts it at the other foot's strike. In the stride of a style, the pitch of the
foot follows the curves `stance_ankle` and then `swing_ankle` on the ground and in the air. A pitched foot stands on
its heel or on its ball, and there its centre of pressure is. After a footstrike the foot left behind goes on bearing
and pushing for `double_support` of the step, while its load passes to the new stance leg.
How far a foot rolls is the number `rolling` of the present style, 0 … 1: see `ease.py`.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.style import (
    ROLL_STANCE_ANKLE,
    ROLL_SWING_ANKLE,
    SWING_ANKLE,
    Style,
    curve_value,
)
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, rotate, to_heading_frame
from surefoot.reflexes.leg_ik import LOOKAHEAD
from surefoot.reflexes.limb_servo import ankle_of, body_turn, point_velocity
from surefoot.reflexes.servo import clamp

# Constants beyond the paper; docs/genbicon.md gives the reason of each.
_TILTED = 0.1  # [rad]
_LEAST_LEAD = 0.1  # [weight]
_LEAST_PUSH = 0.8  # [double support]
_ROUNDING = 0.15  # [rad]
_PITCH_BLEND = 0.25  # [phase]
_RISE_FROM, _RISE_RANGE = 0.5, 0.8  # [ball]


@kernel
def foot_pitch(world: World, link: Any) -> float:
    """Pitch of a foot in the world, toes up positive [rad]."""
    return math.asin(clamp(rotate(body_turn(world, link), (1.0, 0.0, 0.0))[2], -1.0, 1.0))


@kernel
def point_of_sole(chain: Any, along: float, pitch: float) -> tuple[float, float]:
    """Horizontal distance and height, from the ankle, of a point `along` the sole of a pitched foot [m]."""
    c, s = math.cos(pitch), math.sin(pitch)
    return along * c + chain.depth * s, along * s - chain.depth * c


@kernel
def sole_depth(limbs: Limbs, side: int, pitch: float) -> float:
    """How far below the ankle the heel or the ball of a pitched foot is, whichever is lower [m]."""
    chain = limbs.legs[side]
    along = -limbs.biped[0].behind if pitch > 0.0 else chain.ball
    return -point_of_sole(chain, along, pitch)[1]  # type: ignore[no-any-return]


@noinline
def ground_under(world: World, limbs: Limbs, side: int) -> float:
    """Height of the ground under a foot that stands flat, on its heel or on its ball [m]."""
    pitch = foot_pitch(world, limbs.links[int(limbs.legs[side].end)])
    return ankle_of(world, limbs, side)[2] - sole_depth(limbs, side, pitch)  # type: ignore[no-any-return]


@kernel
def swing_depth(limbs: Limbs, side: int, pitch: float) -> float:
    """The same, rounded where heel and ball change: a swing foot would jerk where it passes level."""
    chain, behind = limbs.legs[side], limbs.biped[0].behind
    c, s = math.cos(pitch), math.sin(pitch)
    return (  # type: ignore[no-any-return]
        chain.depth * c
        + 0.5 * (behind - chain.ball) * s
        + 0.5 * (behind + chain.ball) * math.sqrt(s * s + _ROUNDING * _ROUNDING)
    )


@kernel
def pressed_point(limbs: Limbs, side: int, along: float, pitch: float) -> float:
    """Where a foot can be pressed on, from its ankle along the sole [m]: at the heel or the ball once it is tilted."""
    edge = -limbs.biped[0].behind if pitch > 0.0 else limbs.legs[side].ball
    tilted = clamp(abs(pitch) / _TILTED, 0.0, 1.0)
    return along + tilted * (edge - along)  # type: ignore[no-any-return]


@kernel
def swing_foot_pitch(style: Style, walker: Any, phase: float) -> float:
    """Pitch of the foot that swings or is about to, at a phase [rad]: from what it had, over to the style's curve."""
    late = clamp(1.0 - (phase - walker.release) / _PITCH_BLEND, 0.0, 1.0)
    rolling = style.numbers[0].rolling
    pitch = (1.0 - rolling) * curve_value(style, SWING_ANKLE, phase)
    return pitch + rolling * curve_value(style, ROLL_SWING_ANKLE, phase) + late * walker.lift_pitch  # type: ignore[no-any-return]


@noinline
def swing_foot_motion(style: Style, walker: Any) -> tuple[float, float]:
    """Present pitch of the foot that swings or is about to [rad] and its rate [rad/s]."""
    now = swing_foot_pitch(style, walker, walker.phase)
    later = swing_foot_pitch(style, walker, walker.phase + LOOKAHEAD / walker.period)
    return now, (later - now) / LOOKAHEAD


@noinline
def remember_pitch(world: World, limbs: Limbs, style: Style, walker: Any) -> None:
    """Let the pitch of the foot that swings or is about to go on from what it is."""
    walker.lift_pitch = 0.0
    pitch = foot_pitch(world, limbs.links[int(limbs.legs[int(walker.swing)].end)])
    walker.lift_pitch = pitch - swing_foot_pitch(style, walker, walker.phase)


@noinline
def stance_foot_pitch(style: Style, walker: Any, chain: Any, phase: float, ahead: float) -> tuple[float, float]:
    """Pitch of a stance foot that rolls [rad] and its rate [rad/s]; `ahead` is how far the COM is ahead of it [m].

    The heel only rises once the COM has come over the ball: before, it would push the body back.
    """
    pitch = curve_value(style, ROLL_STANCE_ANKLE, phase)
    rate = (curve_value(style, ROLL_STANCE_ANKLE, phase + LOOKAHEAD / walker.period) - pitch) / LOOKAHEAD
    if pitch < 0.0:
        share = clamp((ahead - _RISE_FROM * chain.ball) / (_RISE_RANGE * chain.ball), 0.0, 1.0)
        return share * pitch, share * rate
    return pitch, rate


@kernel
def pitch_spin(cosine: float, sine: float, rate: float) -> Vector:
    """Angular velocity in world axes of a foot that heads along (cosine, sine) and pitches at a rate [rad/s]."""
    return sine * rate, -cosine * rate, 0.0


@kernel
def lead_share(walker: Any, numbers: Any) -> float:
    """Share of the weight that the new stance leg is to bear: it grows from little to all in double support."""
    if walker.pushing == 0.0:
        return 1.0
    s = clamp(walker.phase / max(numbers.double_support, 1e-3), 0.0, 1.0)
    return _LEAST_LEAD + (1.0 - _LEAST_LEAD) * s * s * (3.0 - 2.0 * s)  # type: ignore[no-any-return]


@noinline
def advance_push_off(world: World, row: Row, limbs: Limbs, style: Style, walker: Any, is_hasty: bool) -> None:
    """Let the pushing foot go when its time is over, it has left the ground, or the body needs a quick step."""
    side = int(walker.swing)
    lasts = style.numbers[0].double_support
    is_off = row.touch[side] == 0.0 and walker.phase > _LEAST_PUSH * lasts  # earlier, it only bounces
    if walker.phase < lasts and not is_off and not is_hasty:
        return
    ankle = ankle_of(world, limbs, side)
    velocity = point_velocity(world, int(limbs.links[int(limbs.legs[side].end)].body), ankle)
    walker.pushing, walker.release = 0.0, walker.phase
    walker.x0, walker.y0, walker.z0 = ankle
    walker.lift_speed, _ = to_heading_frame(walker.heading, velocity[0], velocity[1])
    walker.lift_rise = velocity[2]
    remember_pitch(world, limbs, style, walker)
