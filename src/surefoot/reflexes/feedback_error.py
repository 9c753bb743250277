"""Feedback-error learning: a feed-forward torque over phase, learned from the feedback (SIMBICON §6).

Any servo can use it: it needs a stretch of the learned table, and a `LEARNER` record to gather a bin in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.pointers import kernel
from surefoot.reflexes.servo import clamp

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


@kernel
def displacement(table: Any, learner: Any, here: int, rate: float, error: float) -> tuple[float, float]:
    """The displacement of a target at the present bin [rad], and its slope [rad/bin]; with a `rate` > 0 it learns.

    On leaving a bin, δθ' = (1 − α) δθ + α (θ − θd) with the mean of `error` = θ − θd in it (§7.2).
    """
    count = len(table)
    if rate > 0.0:
        if here != learner.bin:
            if learner.bin >= 0.0 and learner.count > 0.0:
                at = int(learner.bin)
                table[at] = (1.0 - rate) * table[at] + rate * learner.total / learner.count
            learner.bin, learner.total, learner.count = float(here), 0.0, 0.0
        learner.total += error
        learner.count += 1.0
    ahead, behind = table[(here + 1) % count], table[(here - 1) % count]
    return table[here], 0.5 * (ahead - behind)
