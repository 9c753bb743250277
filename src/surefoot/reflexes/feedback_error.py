"""Feedback-error learning: a feed-forward torque over phase, learned from the feedback (SIMBICON §6).

Any servo can use it: it needs a stretch of the learned table, and a `LEARNER` record to gather a bin in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.pointers import kernel
from surefoot.reflexes.servo import clamp

_AROUND = 3  # bins on either side that a bin is averaged with
LEARNER = np.dtype([(n, "f8") for n in ("bin", "total", "count")])


@kernel
def bin_of(side: int, bins: int, phase: float) -> int:
    """Bin of a phase of the step of a swing leg: n = t N / T̂, each leg has its own; a late step stays in the last."""
    return side * bins + min(int(phase * bins), bins - 1)


@kernel
def feed_forward(table: Any, learner: Any, here: int, rate: float, limit: float, feedback: float) -> float:
    """The learned torque of the present bin [N·m]; with a `rate` > 0, learn on leaving a bin from its mean (eq. 2).

    v_ff' = (1 − α) v_ff + α (v_ff + v_fb), limited to ± `limit` = |Δθ·kp| (§7.2) [N·m].
    """
    learned = table[here]
    if rate > 0.0:
        if here != learner.bin:
            if learner.bin >= 0.0 and learner.count > 0.0:
                at, mean = int(learner.bin), learner.total / learner.count
                table[at] = clamp((1.0 - rate) * table[at] + rate * (table[at] + mean), -limit, limit)
            learner.bin, learner.total, learner.count = float(here), 0.0, 0.0
        learner.total += feedback
        learner.count += 1.0
    return learned  # type: ignore[no-any-return]


class Lesson(NamedTuple):
    """What a tracked channel has learned, and what it has gathered in the present cycle, by phase bin."""

    torque: Any  # (bins,) [N·m]
    shift: Any  # (bins,) [rad] displacement δθ of the target
    feedback: Any  # (bins,) sum of the feedback [N·m]
    error: Any  # (bins,) sum of θ − θd [rad]


def lessons_size(channels: int, bins: int) -> int:
    """Numbers in a table of lessons: four for every channel and bin, and how often each bin was visited."""
    return (4 * channels + 1) * bins


@kernel
def lesson_of(table: Any, channels: int, bins: int, channel: int) -> Lesson:
    """The views of one channel."""
    at, all_of_one = channel * bins, channels * bins
    return Lesson(
        table[at : at + bins], table[at + all_of_one : at + all_of_one + bins],
        table[at + 2 * all_of_one : at + 2 * all_of_one + bins], table[at + 3 * all_of_one : at + 3 * all_of_one + bins],
    )  # fmt: skip


@kernel
def _smooth(rough: Any, even: Any) -> None:
    """Write the means of the neighbourhoods of all bins, which weigh less the farther they are."""
    bins = len(rough)
    for n in range(bins):
        total = 0.0
        for k in range(-_AROUND, _AROUND + 1):
            total += (_AROUND + 1 - abs(k)) * rough[(n + k) % bins]
        even[n] = total / (_AROUND + 1) ** 2


@kernel
def absorb(lesson: Lesson, visits: Any, rate: float, limit: float) -> None:
    """Learn from a whole cycle at once, evenly: torque and displacement change together, so that their sum does not.

    v_ff' = (1 − α) v_ff + α (v_ff + v_fb) (eq. 2) and δθ' = (1 − α) δθ + α (θ − θd) (§7.2), then both are smoothed:
    spikes, which come a little earlier or later every cycle, would be learned at the wrong place and grow.
    """
    bins = len(visits)
    for n in range(bins):
        mean = lesson.feedback[n] / visits[n] if visits[n] > 0.0 else 0.0
        off = lesson.error[n] / visits[n] if visits[n] > 0.0 else lesson.shift[n]
        lesson.feedback[n] = clamp((1.0 - rate) * lesson.torque[n] + rate * (lesson.torque[n] + mean), -limit, limit)
        lesson.error[n] = (1.0 - rate) * lesson.shift[n] + rate * off
    _smooth(lesson.feedback, lesson.torque)
    _smooth(lesson.error, lesson.shift)
    for n in range(bins):
        lesson.feedback[n] = lesson.error[n] = 0.0
