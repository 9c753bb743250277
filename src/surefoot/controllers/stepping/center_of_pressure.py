"""Ankle torque as a centre of pressure (Kenwright §5.1), and rest lengths of the legs (§5.2, figure 12).

The paper keeps the pendulum's foot and adds a force on the mass. A centre of pressure further from the point of rest
than the capture point is the same force, and limiting it to the feet limits the force to what feet can exert.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.stepping.plan import CAREFUL, HIGHEST, SHIFT, STEP, WALK
from surefoot.controllers.stepping.slip import leg_force
from surefoot.controllers.stepping.stride import is_striding, landing_pitch, leg_share, mix
from surefoot.controllers.stepping.support import Region, is_beyond, on_sole, within_both, within_foot
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.vectors import Vector, norm, to_heading_frame
from surefoot.reflexes.pendulum import (
    GRAVITY,
    capture_point,
    horizontal_norm,
    pendulum_frequency,
    periodic_capture_ahead,
    periodic_capture_beside,
    pressure_to_reach,
)
from surefoot.reflexes.servo import clamp

# Constants beyond the paper; docs/stepping.md gives the reason of each.
_SHORTEST_LEG = 0.3  # [leg]
_SHORTEST_REST = 0.08  # [s]
_LEAST_LOAD, _MOST_LOAD = 0.2, 2.2  # [weight]
_STRIDE_SPRING, _STRIDE_DAMPER = 4.0, 4.0  # [spring], [damper]
_LOWEST_COM = 0.1  # [m]
_HEIGHT_RATE, _FIRM_RATE, _STRIDE_RATE = 6.0, 20.0, 40.0  # [1/s]
_RISING, _SINKING = 0.5, 0.8  # [m/s]
_MOST_LIFT, _HEIGHT_LEAD, _ROCKER = 4.0, 0.05, 0.7  # [m/s²], [s], share
_UPHILL_LEG, _STEEP_SLOPE = 0.99, 0.44  # [leg], [rad]
_STANCE_LEG, _REACHING_LEG = 0.992, 0.97  # [leg]
_LANDING_LEG, _LET_DOWN = 0.997, 1.5  # [leg], [m/s²]
_REACHING_PHASE = 0.35  # [phase]
_ANKLE_SPARE = 0.05  # [rad]
_STAGGER = 0.1  # [m]
_STEP_DOWN, _LET_GO_PHASE, _LET_GO_SHARE = 0.04, 0.4, 0.6  # [m], [phase], [way]
_HALVINGS = 6  # iterations


@kernel
def hip_height_over(foot_z: float, away: float, length: float) -> float:
    """Height of the hip on a leg of this length whose foot is `away` from it horizontally [m]."""
    least = _SHORTEST_LEG * length
    return foot_z + math.sqrt(max(length * length - away * away, least * least))


@kernel
def hip_height(left_z: float, left_away: float, right_z: float, right_away: float, length: float) -> float:
    """Height of the hips at which both legs reach the ground, the longer one at its full length [m]."""
    return min(hip_height_over(left_z, left_away, length), hip_height_over(right_z, right_away, length))


@kernel
def lowest_hip_height(thigh: float, shin: float, ahead: float, lean: float) -> float:
    """Height of the hip above the ankle when the shin leans forward as far as it can [m].

    Args:
        thigh: length of the thigh [m].
        shin: length of the shin [m].
        ahead: distance of the hip ahead of the ankle [m].
        lean: largest forward lean of the shin [rad].
    """
    away = ahead - shin * math.sin(lean)
    return shin * math.cos(lean) + math.sqrt(max(0.0, thigh * thigh - away * away))


@kernel
def rest_length(foot_z: float, away: float, height: float) -> float:
    """Rest length of a leg whose foot is `away` horizontally from hips at a height [m]."""
    return horizontal_norm(away, height - foot_z)


@kernel
def _pressure_towards(plan: Any, x: float, y: float, cx: float, cy: float) -> tuple[float, float]:
    """Centre of pressure that drives the capture point (x, y) to (cx, cy) [m]; near that place it does nothing."""
    dx, dy = x - cx, y - cy
    if horizontal_norm(dx, dy) < plan.still:  # the first region of figure 13: do nothing
        return x, y
    return cx + (1.0 + plan.stiffness) * dx, cy + (1.0 + plan.stiffness) * dy


@noinline
def _pressure_within_feet(
    plan: Any, left: Region, right: Region, x: float, y: float, cx: float, cy: float
) -> tuple[float, float]:
    """Centre of pressure within the feet that drives the capture point (x, y) straight to (cx, cy) [m].

    The point within the feet nearest to that of `_pressure_towards` might drive it sideways, off a foot's edge.
    """
    zx, zy = _pressure_towards(plan, x, y, cx, cy)
    low, high = 0.0, 1.0
    if not is_beyond(left, right, 0.0, x, y) and is_beyond(left, right, 0.0, zx, zy):
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if is_beyond(left, right, 0.0, x + middle * (zx - x), y + middle * (zy - y)):
                high = middle
            else:
                low = middle
        return x + low * (zx - x), y + low * (zy - y)
    return zx, zy


@kernel
def _falling_share(stepper: Any, stance: Region) -> float:
    """Share of the way to its goal over which a careful step down lets the body fall: no leg is long enough."""
    if stepper.kind != CAREFUL or stepper.goal_z > stance.z - _STEP_DOWN:
        return 0.0
    return _LET_GO_SHARE * clamp((stepper.phase - _LET_GO_PHASE) / (1.0 - _LET_GO_PHASE), 0.0, 1.0)  # type: ignore[no-any-return]


@noinline
def choose_pressure(plan: Any, stepper: Any, left: Region, right: Region, com: Vector, velocity: Vector) -> None:
    """Choose the centre of pressure and the feet's shares of the load."""
    x, y = capture_point(com, velocity, pendulum_frequency(com[2] - stepper.z))
    side = int(stepper.swing)
    stance = right if side == 0 else left
    if stepper.mode == STEP:
        if stepper.kind == WALK:
            zx, zy = _walking_pressure(plan, stepper, stance, com, x, y)
        else:
            on = _falling_share(stepper, stance)
            cx, cy = stance.x + on * (stepper.goal_x - stance.x), stance.y + on * (stepper.goal_y - stance.y)
            zx, zy = _pressure_towards(plan, x, y, cx, cy)
        zx, zy = within_foot(stance, zx, zy)
        stepper.share = 1.0 if side == 1 else 0.0
        stepper.x, stepper.y, stepper.z = on_sole(stance, zx, zy)
        return
    foot = left if side == 0 else right
    if stepper.mode == SHIFT and stepper.kind == WALK:  # push off with the foot that will swing
        along, _ = to_heading_frame(stepper.heading, stance.x - foot.x, stance.y - foot.y)
        if abs(along) > _STAGGER:
            zx, zy = _pressure_within_feet(plan, left, right, x, y, stance.x, stance.y)
        else:
            zx, zy = _pressure_towards(plan, x, y, 0.5 * (left.x + right.x), 0.5 * (left.y + right.y))
            along, _ = to_heading_frame(stepper.heading, zx - foot.x, zy - foot.y)
            zx, zy = foot.x + along * math.cos(stepper.heading), foot.y + along * math.sin(stepper.heading)
    elif stepper.mode == SHIFT:
        zx, zy = _pressure_within_feet(plan, left, right, x, y, stance.x, stance.y)
    else:
        zx, zy = _pressure_towards(plan, x, y, 0.5 * (left.x + right.x), 0.5 * (left.y + right.y))
    zx, zy, share = within_both(left, right, zx, zy)
    stepper.x, stepper.y, stepper.share = zx, zy, share
    stepper.z = share * left.z + (1.0 - share) * right.z


@kernel
def _walking_pressure(plan: Any, stepper: Any, stance: Region, com: Vector, x: float, y: float) -> tuple[float, float]:
    """Centre of pressure that brings the capture point where a steady walk has it at the end of the step [m]."""
    omega = pendulum_frequency(com[2] - stance.z)
    time = max(_SHORTEST_REST, (1.0 - stepper.phase) * stepper.duration)
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    width = (1.0 if stepper.swing == 0.0 else -1.0) * plan.step_width
    period = plan.step_time
    wanted = periodic_capture_ahead(stepper.speed + stepper.integral, omega, period)
    aside = periodic_capture_beside(width, omega, period) + periodic_capture_ahead(stepper.sideways, omega, period)
    px = plan.steering * pressure_to_reach(along, wanted, omega, time)
    py = plan.steering * pressure_to_reach(left, aside, omega, time)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    return stance.x + c * px - s * py, stance.y + s * px + c * py


@kernel
def _lowest_hip_height(limbs: Limbs, servos: np.ndarray, leg: int, hip: Vector, ankle: Vector, foot: Region) -> float:
    """Lowest height of the hips at which the ankle of a bearing leg does not bend too far [m]."""
    chain = limbs.legs[leg]
    size = max(math.sqrt(foot.ax * foot.ax + foot.ay * foot.ay), 1e-6)
    c, s = foot.ax / size, foot.ay / size
    tilt = -math.atan2(c * foot.up[0] + s * foot.up[1], foot.up[2])
    lean = servos[int(limbs.links[int(chain.end)].first), HIGHEST] - _ANKLE_SPARE - tilt
    thigh = norm((chain.ax, chain.ay, chain.az))
    shin = norm((chain.bx, chain.by, chain.bz))
    return ankle[2] + lowest_hip_height(thigh, shin, c * (hip[0] - ankle[0]) + s * (hip[1] - ankle[1]), lean)  # type: ignore[no-any-return]


@kernel
def _landing_ankle(limbs: Limbs, plan: Any, stepper: Any, leg: int, hip: Vector) -> tuple[float, float]:
    """Horizontal distance from a hip and height of the ankle of a foot that lands on its heel [m]."""
    biped, depth, pitch = limbs.biped[0], limbs.legs[leg].depth, landing_pitch(plan, stepper)
    # the ankle from the sole's middle, which is half a sole ahead of the heel
    half = 0.5 * (biped.ahead + biped.behind)
    back = half - biped.behind * math.cos(pitch) + depth * math.sin(pitch)
    x, y = stepper.goal_x - back * math.cos(stepper.heading), stepper.goal_y - back * math.sin(stepper.heading)
    rise = biped.behind * math.sin(pitch) + depth * math.cos(pitch)
    return horizontal_norm(hip[0] - x, hip[1] - y), stepper.goal_z + rise


@kernel
def _rocker_height(
    limbs: Limbs, stepper: Any, leg: int, hip: Vector, ankle: Vector, foot: Region, length: float
) -> float:
    """Height of the hip on a leg whose foot is flat behind the hip and rolls over its toes once the hip is ahead [m].

    A foot that rolls lets its ankle follow the hip: the hip goes down as if it were only a share as far ahead.
    """
    biped = limbs.biped[0]
    along, beside = to_heading_frame(stepper.heading, hip[0] - ankle[0], hip[1] - ankle[1])
    tilt, _ = to_heading_frame(stepper.heading, foot.up[0], foot.up[1])
    ground = foot.z - 0.5 * (biped.ahead + biped.behind) * abs(tilt)
    if along > 0.0:
        along *= mix(1.0, _ROCKER, stepper.stride)
    return hip_height_over(ground + limbs.legs[leg].depth, horizontal_norm(along, beside), length)  # type: ignore[no-any-return]


@noinline
def adapt_height(
    limbs: Limbs, servos: np.ndarray, plan: Any, stepper: Any, hips: tuple[Vector, Vector],
    ankles: tuple[Vector, Vector], left: Region, right: Region, velocity: Vector, dt: float,
) -> None:  # fmt: skip
    """Follow the hip height at which every leg that bears, or is about to, reaches the ground (§5.2).

    The hips stay above the height at which ankles would bend too far, unless a leg would then not reach.
    """
    side = int(stepper.swing)
    wanted, least, most = 1e9, -1e9, 1e9
    for leg in range(2):
        hip, ankle = hips[leg], ankles[leg]
        # uphill, legs are straighter: an ankle bends only so far
        rest_share = leg_share(plan, stepper)
        straight = rest_share + clamp(stepper.slope / _STEEP_SLOPE, 0.0, 1.0) * max(0.0, _UPHILL_LEG - rest_share)
        length = stepper.crouch * straight * limbs.legs[leg].reach
        if stepper.mode == STEP and leg == side:
            if stepper.phase < _REACHING_PHASE:
                continue
            rest = max(0.0, 1.0 - stepper.phase) * stepper.duration
            soon = (hip[0] + rest * velocity[0], hip[1] + rest * velocity[1], hip[2])
            away = horizontal_norm(soon[0] - stepper.goal_x, soon[1] - stepper.goal_y)
            ground = stepper.goal_z + limbs.legs[leg].depth
            if is_striding(stepper):
                away, ground = _landing_ankle(limbs, plan, stepper, leg, soon)
            if is_striding(stepper):  # it comes down when the foot lands, and no sooner
                length = mix(length, stepper.crouch * _LANDING_LEG * limbs.legs[leg].reach, stepper.stride)
                ground += 0.5 * stepper.stride * _LET_DOWN * rest * rest
            wanted = min(wanted, hip_height_over(ground, away, length))
            most = min(most, hip_height_over(ground, away, _REACHING_LEG * limbs.legs[leg].reach))
        else:
            away = horizontal_norm(hip[0] - ankle[0], hip[1] - ankle[1])
            if is_striding(stepper):
                soon = (hip[0] + _HEIGHT_LEAD * velocity[0], hip[1] + _HEIGHT_LEAD * velocity[1], hip[2])
                foot = left if leg == 0 else right
                wanted = min(wanted, _rocker_height(limbs, stepper, leg, soon, ankle, foot, length))
            else:
                wanted = min(wanted, hip_height_over(ankle[2], away, length))
            most = min(most, hip_height_over(ankle[2], away, _STANCE_LEG * limbs.legs[leg].reach))
            least = max(least, _lowest_hip_height(limbs, servos, leg, hip, ankle, left if leg == 0 else right))
    wanted = max(wanted, min(least, most))
    if stepper.height == 0.0:
        stepper.height = 0.5 * (hips[0][2] + hips[1][2])
    if is_striding(stepper):  # a critically damped follower, whose acceleration is fed forward
        lift = _STRIDE_RATE * (_STRIDE_RATE * (wanted - stepper.height) - 2.0 * stepper.height_rate)
        stepper.lift = clamp(lift, -_MOST_LIFT, _MOST_LIFT)
        stepper.height_rate += stepper.lift * dt
        stepper.height += stepper.height_rate * dt
        return
    stepper.lift = 0.0
    rate = clamp(mix(_HEIGHT_RATE, _FIRM_RATE, stepper.firm) * (wanted - stepper.height), -_SINKING, _RISING)
    stepper.height, stepper.height_rate = stepper.height + rate * dt, rate


@kernel
def ground_force(
    plan: Any, stepper: Any, com: Vector, mass: float, own_mass: float, height: float, rate: float
) -> Vector:
    """Ground reaction of the pendulum: along the leg, from its spring and the weight (eq. 4) [N].

    `own_mass` [kg] is the mass for which the spring is made: the body's, so that it yields to a load (§6.3).
    """
    weight = own_mass * GRAVITY
    firm, damped = mix(1.0, _STRIDE_SPRING, stepper.firm), mix(1.0, _STRIDE_DAMPER, stepper.firm)
    spring = leg_force(
        firm * plan.spring * own_mass,
        damped * plan.damper * own_mass,
        stepper.height - height,
        rate - stepper.height_rate,
    )
    lifting = clamp(weight + own_mass * stepper.lift + spring, _LEAST_LOAD * weight, _MOST_LOAD * mass * GRAVITY)
    above = max(com[2] - stepper.z, _LOWEST_COM)
    return lifting * (com[0] - stepper.x) / above, lifting * (com[1] - stepper.y) / above, lifting
