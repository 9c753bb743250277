"""Feedback-error learning: a feed-forward torque over phase, learned from the feedback (SIMBICON §6).

Any servo can use it: it needs a stretch of the learned table, and a `LEARNER` record to gather a bin in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import array_kernel, kernel, python_impl
from surefoot.reflexes.servo import clamp

_AROUND = 1  # bins on either side that a bin is averaged with
LEARNER = np.dtype([(n, "f8") for n in ("bin", "total", "count")])


@kernel
def bin_of(side: int, bins: int, phase: float) -> int:
    """Bin of a phase of the step of a swing leg: n = t N / T̂, each leg has its own; a late step stays in the last."""
    return side * bins + min(int(phase * bins), bins - 1)


@kernel
def feed_forward(table: np.ndarray, learner: Any, here: int, rate: float, limit: float, feedback: float) -> float:
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
    """What a channel has learned for the steps of one leg, and what it has gathered in the present step, by bin."""

    torque: Any  # (bins,) [N·m]
    shift: Any  # (bins,) [rad] displacement δθ of the target
    feedback: Any  # (bins,) sum of the feedback [N·m]
    error: Any  # (bins,) sum of θ − θd [rad]


def lessons_size(channels: int, bins: int) -> int:
    """Numbers in a table of lessons: for both legs' steps four for every channel and bin, and the bins' visits."""
    return 2 * (4 * channels + 1) * bins


def rescale_lessons(table: np.ndarray, channels: int, torque: float) -> None:
    """Multiply all learned and gathered torques, in place."""
    bins = len(table) // (2 * (4 * channels + 1))
    for side in range(2):
        for channel in range(channels):
            lesson = python_impl(lesson_of)(table, channels, bins, side, channel)
            lesson.torque[:] *= torque
            lesson.feedback[:] *= torque


@kernel
def lesson_of(table: np.ndarray, channels: int, bins: int, side: int, channel: int) -> Lesson:
    """The views of one channel in the steps of a leg."""
    at = (side * (4 * channels + 1) + 4 * channel) * bins
    return Lesson(
        table[at : at + bins], table[at + bins : at + 2 * bins], table[at + 2 * bins : at + 3 * bins],
        table[at + 3 * bins : at + 4 * bins],
    )  # fmt: skip


@array_kernel
def visits_of(table: np.ndarray, channels: int, bins: int, side: int) -> Any:
    """(bins,) how often each bin of a leg's step was visited."""
    at = (side * (4 * channels + 1) + 4 * channels) * bins
    return table[at : at + bins]


@kernel
def slope_at(values: np.ndarray, here: int) -> float:
    """How fast a learned table rises at a bin, by bin."""
    before, after = max(here - 1, 0), min(here + 1, len(values) - 1)
    return (values[after] - values[before]) / max(after - before, 1)  # type: ignore[no-any-return]


@kernel
def learn_from_step(lesson: Lesson, visits: np.ndarray, rate: float, limit: float, displaces: float) -> None:
    """Learn from a whole step at once: torque and displacement change together, so that their sum does not.

    v_ff' = (1 − α) v_ff + α (v_ff + v_fb) (eq. 2) and δθ' = (1 − α) δθ + α (θ − θd) (§7.2), of which `displaces` is
    the share that is taken (1 in the paper: what is left draws the motion towards the clip). Then both are smoothed:
    noise of a single bin would be a jump of the target.
    """
    for n in range(len(visits)):
        if visits[n] > 0.0:
            mean, off = lesson.feedback[n] / visits[n], lesson.error[n] / visits[n]
            value = (1.0 - rate) * lesson.torque[n] + rate * (lesson.torque[n] + mean)
            lesson.feedback[n] = clamp(value, -limit, limit)
            lesson.error[n] = (1.0 - rate) * lesson.shift[n] + rate * displaces * off
        else:  # after the end of the step: a longer one goes on as this one ended
            lesson.feedback[n] = lesson.feedback[n - 1] if n > 0 else lesson.torque[n]
            lesson.error[n] = lesson.error[n - 1] if n > 0 else lesson.shift[n]
    _smooth(lesson.feedback, lesson.torque)
    _smooth(lesson.error, lesson.shift)
    for n in range(len(visits)):
        lesson.feedback[n] = lesson.error[n] = 0.0


@kernel
def _smooth(rough: np.ndarray, even: np.ndarray) -> None:
    """Write the means of the neighbourhoods of all bins, which weigh less the farther they are."""
    bins = len(rough)
    for n in range(bins):
        total, weight = 0.0, 0.0
        for k in range(max(n - _AROUND, 0), min(n + _AROUND, bins - 1) + 1):
            share = float(_AROUND + 1 - abs(n - k))
            total += share * rough[k]
            weight += share
        even[n] = total / weight
