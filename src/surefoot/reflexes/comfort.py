"""Comfort: feet that neither cross nor turn away from the facing direction (Kenwright §5.4, figure 15)."""

from __future__ import annotations

import math
from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.servo import nearest_turn
from surefoot.reflexes.vectors import ahead_and_left

_FAR = 0.6  # [m] beyond which a foot is brought nearer in more than one step


@kernel
def discomfort(plan: Any, stepper: Any, left: Any, right: Any) -> float:
    """How uncomfortable the feet stand: up to 1 they need no step.

    Measured are their distances along and across the facing direction from standing side by side, by `comfort_width`
    [m], and how they are turned away from it, by `comfort_angle` [rad].
    """
    along, beside = ahead_and_left(stepper.heading, left.x - right.x, left.y - right.y)
    off = math.sqrt(along * along + (beside - plan.step_width) ** 2) / plan.comfort_width
    return max(off, turned_away(stepper, left) / plan.comfort_angle, turned_away(stepper, right) / plan.comfort_angle)  # type: ignore[no-any-return]


@kernel
def turned_away(stepper: Any, region: Any) -> float:
    """Angle between a foot and the facing direction [rad]."""
    return abs(nearest_turn(math.atan2(region.ay, region.ax) - stepper.heading))  # type: ignore[no-any-return]


@kernel
def comfortable_place(plan: Any, stepper: Any, stance: Any, side: int) -> tuple[float, float]:
    """Where a foot stands well beside the other [m]."""
    outward = 1.0 if side == 0 else -1.0
    c, s = math.cos(stepper.heading), math.sin(stepper.heading)
    return stance.x - s * outward * plan.step_width, stance.y + c * outward * plan.step_width


@kernel
def foot_to_move(plan: Any, stepper: Any, left: Any, right: Any) -> int:
    """The foot whose step helps more: the one that is turned away more, or else the one that is behind."""
    a, b = turned_away(stepper, left), turned_away(stepper, right)
    if abs(a - b) > 0.5 * plan.comfort_angle:
        return 0 if a > b else 1
    along, _ = ahead_and_left(stepper.heading, left.x - right.x, left.y - right.y)
    return 0 if along < 0.0 else 1
