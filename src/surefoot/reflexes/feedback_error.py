"""Feedback-error learning: a feed-forward torque over phase, learned from the feedback (SIMBICON §6)."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.servo import clamp


@kernel
def recall(table: Any, side: int, bins: int, phase: float) -> float:
    """Feed-forward torque learned for this phase of the step of this swing leg [N·m]."""
    return table[side * bins + int(phase * bins)]  # type: ignore[no-any-return]


@kernel
def learn(table: Any, machine: Any, side: int, head: Any, feedback: float) -> None:
    """Gather the feedback torque of the present bin; on leaving a bin, learn from its mean (eq. 2).

    v_ff' = (1 − α) v_ff + α (v_ff + v_fb), limited to |Δθ·kp| (§7.2).
    """
    bins = int(head.bins)
    here = float(side * bins + int(machine.phase * bins))
    if here != machine.bin:
        if machine.bin >= 0.0 and machine.bin_count > 0.0:
            at = int(machine.bin)
            rate, mean = head.learning_rate, machine.bin_sum / machine.bin_count
            limit = head.learning_limit * head.torso_kp
            table[at] = clamp((1.0 - rate) * table[at] + rate * (table[at] + mean), -limit, limit)
        machine.bin, machine.bin_sum, machine.bin_count = here, 0.0, 0.0
    machine.bin_sum += feedback
    machine.bin_count += 1.0
