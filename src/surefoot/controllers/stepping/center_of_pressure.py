"""Rest lengths of the legs, adapted to the ground under each foot (Kenwright §5.2, figure 12).

Ankle torque: where the feet press, and the pendulum's force from there (Kenwright §5.1).

The paper keeps the pendulum's foot and adds a force on the mass; a centre of pressure beyond the capture point, as seen
from where the body should rest, is the same force, and the feet can only exert what lies within them.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.stepping.decision import capture_point
from surefoot.controllers.stepping.plan import CAREFUL, HIGHEST, SHIFT, STEP, WALK
from surefoot.controllers.stepping.slip import leg_force
from surefoot.controllers.stepping.support import is_beyond, on_sole, within_both, within_foot
from surefoot.native.kernels import kernel, noinline
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.pendulum import GRAVITY, capture_ahead, capture_beside, frequency, pressure_for
from surefoot.reflexes.servo import clamp

_SHORTEST_LEG = 0.3  # of a leg, that counts as reaching the hip


@kernel
def hip_height_over(foot_z: float, away: float, length: float) -> float:
    """How high the hip is when a leg of this length stands on a foot so far away on the plan [m]."""
    least = _SHORTEST_LEG * length
    return foot_z + math.sqrt(max(length * length - away * away, least * least))


@kernel
def hip_height(left_z: float, left_away: float, right_z: float, right_away: float, length: float) -> float:
    """Height of the hips at which both legs reach the ground, the longest at its full length [m]."""
    return min(hip_height_over(left_z, left_away, length), hip_height_over(right_z, right_away, length))


@kernel
def least_hip_height(thigh: float, shin: float, ahead: float, lean: float) -> float:
    """How high the hip is above the ankle when the shin leans forward as far as it can [m].

    Args:
        thigh: its length [m].
        shin: its length [m].
        ahead: of the ankle, where the hip is [m].
        lean: of the shin, forward [rad].
    """
    away = ahead - shin * math.sin(lean)
    return shin * math.cos(lean) + math.sqrt(max(0.0, thigh * thigh - away * away))


@kernel
def rest_length(foot_z: float, away: float, height: float) -> float:
    """Rest length of a leg whose foot is so far away on the plan of hips at a height [m]."""
    return math.sqrt(away * away + (height - foot_z) ** 2)


_SHORTEST = 0.08  # [s] within which a step's end is aimed at
_LEAST_LOAD, _MOST_LOAD = 0.2, 2.2  # of the weight, that legs bear
_RISING, _SINKING = 0.5, 0.8  # [m/s] at which the wanted height changes
_UPHILL, _STEEP = 0.99, 0.44  # rest length of a leg on a slope, of its full length; [rad] of that slope
_STRAIGHT, _STRETCHED = 0.992, 0.97  # of a leg, that bears and whose ankle cannot bend; that reaches for the ground
_SPARE = 0.05  # [rad] that is left to an ankle
_ABREAST = 0.1  # [m] along, within which feet are side by side
_DOWN, _LETS_GO, _FALLING = 0.04, 0.4, 0.6  # [m] that is a step down; phase; of the way
_HALVINGS = 6  # of the line on which pressure is sought
_HASTE = 6.0  # [1/s] of its error
_REACHES = 0.35  # phase from which the hips are let down to where the swing leg reaches its goal


@kernel
def _towards(plan: Any, x: float, y: float, cx: float, cy: float) -> tuple[float, float]:
    """Centre of pressure that drives the capture point (x, y) to a place; next to it, none is needed [m]."""
    dx, dy = x - cx, y - cy
    if math.sqrt(dx * dx + dy * dy) < plan.still:  # the first region: nothing
        return x, y
    return cx + (1.0 + plan.stiffness) * dx, cy + (1.0 + plan.stiffness) * dy


@noinline
def _straight(plan: Any, left: Any, right: Any, x: float, y: float, cx: float, cy: float) -> tuple[float, float]:
    """Centre of pressure under the feet that drives the capture point (x, y) to a place on the straight line [m].

    The nearest point under the feet to what `_towards` asks for may drive it aside, and off a foot's edge.
    """
    zx, zy = _towards(plan, x, y, cx, cy)
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
def _letting_go(stepper: Any, stance: Any) -> float:
    """Share of the way to its goal, to which a body that steps down carefully lets itself fall: no leg is so long."""
    if stepper.kind != CAREFUL or stepper.goal_z > stance.z - _DOWN:
        return 0.0
    return _FALLING * clamp((stepper.phase - _LETS_GO) / (1.0 - _LETS_GO), 0.0, 1.0)  # type: ignore[no-any-return]


@noinline
def press(plan: Any, stepper: Any, left: Any, right: Any, com: Vector, velocity: Vector) -> None:
    """Choose the centre of pressure and how the feet share it."""
    x, y = capture_point(stepper, com, velocity)
    side = int(stepper.swing)
    stance = right if side == 0 else left
    if stepper.mode == STEP:
        if stepper.kind == WALK:
            zx, zy = _steering(plan, stepper, stance, com, x, y)
        else:
            on = _letting_go(stepper, stance)
            cx, cy = stance.x + on * (stepper.goal_x - stance.x), stance.y + on * (stepper.goal_y - stance.y)
            zx, zy = _towards(plan, x, y, cx, cy)
        zx, zy = within_foot(stance, zx, zy)
        stepper.share = 1.0 if side == 1 else 0.0
        stepper.x, stepper.y, stepper.z = on_sole(stance, zx, zy)
        return
    foot = left if side == 0 else right
    if stepper.mode == SHIFT and stepper.kind == WALK:  # press off with the foot that will swing
        along, _ = to_heading_frame(stepper.heading, stance.x - foot.x, stance.y - foot.y)
        if abs(along) > _ABREAST:
            zx, zy = _straight(plan, left, right, x, y, stance.x, stance.y)
        else:
            zx, zy = _towards(plan, x, y, 0.5 * (left.x + right.x), 0.5 * (left.y + right.y))
            along, _ = to_heading_frame(stepper.heading, zx - foot.x, zy - foot.y)
            zx, zy = foot.x + along * math.cos(stepper.heading), foot.y + along * math.sin(stepper.heading)
    elif stepper.mode == SHIFT:
        zx, zy = _straight(plan, left, right, x, y, stance.x, stance.y)
    else:
        zx, zy = _towards(plan, x, y, 0.5 * (left.x + right.x), 0.5 * (left.y + right.y))
    zx, zy, share = within_both(left, right, zx, zy)
    stepper.x, stepper.y, stepper.share = zx, zy, share
    stepper.z = share * left.z + (1.0 - share) * right.z


@kernel
def _steering(plan: Any, stepper: Any, stance: Any, com: Vector, x: float, y: float) -> tuple[float, float]:
    """Centre of pressure by which the capture point is where a steady walk has it when the step ends [m]."""
    omega = frequency(com[2] - stance.z)
    time = max(_SHORTEST, (1.0 - stepper.phase) * stepper.duration)
    along, left = to_heading_frame(stepper.heading, x - stance.x, y - stance.y)
    width = (1.0 if stepper.swing == 0.0 else -1.0) * plan.step_width
    period = plan.step_time
    wanted = capture_ahead(stepper.speed + stepper.integral, omega, period)
    aside = capture_beside(width, omega, period) + capture_ahead(stepper.sideways, omega, period)
    px = plan.steering * pressure_for(along, wanted, omega, time)
    py = plan.steering * pressure_for(left, aside, omega, time)
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    return stance.x + c * px - s * py, stance.y + s * px + c * py


@kernel
def _away(hip: Vector, x: float, y: float) -> float:
    return math.sqrt((hip[0] - x) ** 2 + (hip[1] - y) ** 2)


@kernel
def _least_height(limbs: Any, servos: Any, leg: int, hip: Vector, ankle: Vector, foot: Any) -> float:
    """How low the hips can be for the ankle of a leg that bears not to bend too far [m]."""
    chain = limbs.legs[leg]
    size = max(math.sqrt(foot.ax * foot.ax + foot.ay * foot.ay), 1e-6)
    c, s = foot.ax / size, foot.ay / size
    tilt = -math.atan2(c * foot.up[0] + s * foot.up[1], foot.up[2])
    lean = servos[int(limbs.links[int(chain.end)].first), HIGHEST] - _SPARE - tilt
    thigh = math.sqrt(chain.ax**2 + chain.ay**2 + chain.az**2)
    shin = math.sqrt(chain.bx**2 + chain.by**2 + chain.bz**2)
    return ankle[2] + least_hip_height(thigh, shin, c * (hip[0] - ankle[0]) + s * (hip[1] - ankle[1]), lean)  # type: ignore[no-any-return]


@noinline
def adapt_height(
    limbs: Any, servos: Any, plan: Any, stepper: Any, hips: tuple[Vector, Vector], ankles: tuple[Vector, Vector],
    left: Any, right: Any, velocity: Vector, dt: float,
) -> None:  # fmt: skip
    """Follow the height at which every leg that bears, or is about to, reaches the ground (§5.2).

    It is no lower than ankles can bend, unless a leg would not reach.
    """
    side = int(stepper.swing)
    wanted, least, most = 1e9, -1e9, 1e9
    for leg in range(2):
        hip, ankle = hips[leg], ankles[leg]
        # uphill with straighter legs: an ankle bends only so far
        straight = plan.leg + clamp(stepper.slope / _STEEP, 0.0, 1.0) * max(0.0, _UPHILL - plan.leg)
        length = stepper.crouch * straight * limbs.legs[leg].reach
        if stepper.mode == STEP and leg == side:
            if stepper.phase < _REACHES:
                continue
            rest = max(0.0, 1.0 - stepper.phase) * stepper.duration
            soon = (hip[0] + rest * velocity[0], hip[1] + rest * velocity[1], hip[2])
            away = _away(soon, stepper.goal_x, stepper.goal_y)
            ground = stepper.goal_z + limbs.legs[leg].depth
            wanted = min(wanted, hip_height_over(ground, away, length))
            most = min(most, hip_height_over(ground, away, _STRETCHED * limbs.legs[leg].reach))
        else:
            away = _away(hip, ankle[0], ankle[1])
            wanted = min(wanted, hip_height_over(ankle[2], away, length))
            most = min(most, hip_height_over(ankle[2], away, _STRAIGHT * limbs.legs[leg].reach))
            least = max(least, _least_height(limbs, servos, leg, hip, ankle, left if leg == 0 else right))
    wanted = max(wanted, min(least, most))
    if stepper.height == 0.0:
        stepper.height = 0.5 * (hips[0][2] + hips[1][2])
    rate = clamp(_HASTE * (wanted - stepper.height), -_SINKING, _RISING)
    stepper.height, stepper.height_rate = stepper.height + rate * dt, rate


@kernel
def ground_force(
    plan: Any, stepper: Any, com: Vector, mass: float, own_mass: float, height: float, rate: float
) -> Vector:
    """Reaction of the ground that the pendulum asks for: along the leg, of its spring and the weight (eq. 4) [N].

    `own_mass` is what the spring is made for [kg]: the body's, so that it yields to what the body carries (§6.3).
    """
    weight = own_mass * GRAVITY
    spring = leg_force(
        plan.spring * own_mass, plan.damper * own_mass, stepper.height - height, rate - stepper.height_rate
    )
    lifting = clamp(weight + spring, _LEAST_LOAD * weight, _MOST_LOAD * mass * GRAVITY)
    above = max(com[2] - stepper.z, 0.1)
    return lifting * (com[0] - stepper.x) / above, lifting * (com[1] - stepper.y) / above, lifting
