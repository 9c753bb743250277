"""Feedback-error learning of every tracked joint of a captured gait (SIMBICON §7.2).

Bins begin at a step's footstrike and not at a phase of the clip: a leg bears from its footstrike on, whenever that is.
"""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import apart, kernel
from surefoot.reflexes.feedback_error import absorb, lesson_of, slope_at, visits_of
from surefoot.reflexes.servo import clamp
from surefoot.reflexes.trajectory import step_span

_LONGEST = 1.2  # a step that bins are for, by the clip's


@apart
def track(
    world: Any, row: Any, imitator: Any, plan: Any, channel: int, kp: float, kd: float, limit: float, error: float,
    rate: float, is_new: bool,
) -> tuple[float, float]:  # fmt: skip
    """§7.2: feedback towards the displaced trajectory, and the torque learned from it [N·m].

    No more is learned than the joint's `limit` lets it exert.
    """
    head, channels = plan.head[0], int(world.anatomy[0].actuators) + 3
    bins, here = int(head.bins), int(imitator.bin)
    lesson = lesson_of(row.table, channels, bins, int(imitator.swing), channel)
    shift, slope = lesson.shift[here], slope_at(lesson.shift, here) * imitator.bins_per_second
    feedback = kp * (error + shift) + kd * (rate + slope)
    if is_new and head.learning_rate > 0.0:
        lesson.feedback[here] += clamp(feedback, -limit, limit)
        lesson.error[here] -= error
    return feedback, lesson.torque[here]


@apart
def learn(world: Any, row: Any, imitator: Any, plan: Any) -> None:
    """Find the bin of this moment of the step, since its footstrike; learn from a step when the next one begins."""
    head, channels = plan.head[0], int(world.anatomy[0].actuators) + 3
    bins, side = int(head.bins), int(imitator.swing)
    if imitator.steps != imitator.learned and head.learning_rate > 0.0:
        visits = visits_of(row.table, channels, bins, 1 - side)
        for channel in range(channels):
            kp = head.torso_kp if channel >= channels - 3 else _kp_of(world, plan, channel)
            lesson = lesson_of(row.table, channels, bins, 1 - side, channel)
            absorb(lesson, visits, head.learning_rate, head.learning_limit * kp, head.displaces)
        for n in range(bins):
            visits[n] = 0.0
    imitator.learned = imitator.steps
    imitator.bins_per_second = bins * head.rate / (_LONGEST * step_span(plan, side)[1])
    imitator.bin = float(min(int((world.time - imitator.step_start) * imitator.bins_per_second), bins - 1))
    if head.learning_rate > 0.0:
        visits_of(row.table, channels, bins, side)[int(imitator.bin)] += 1.0


@kernel
def _kp_of(world: Any, plan: Any, actuator: int) -> float:
    """The gain of a joint, whose role has the same on either side."""
    for role in range(int(world.anatomy[0].roles)):
        if int(world.role[0, role]) == actuator:
            return plan.gains[role].kp  # type: ignore[no-any-return]
    return 0.0
