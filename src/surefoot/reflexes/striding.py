"""The steps of a captured gait: a phase that goes on evenly, and footstrikes that exchange the legs (SIMBICON §5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.pointers import kernel
from surefoot.reflexes.trajectory import plan_of, step_span

IMITATOR = np.dtype([(n, "f8") for n in (
    "swing", "done", "phase", "pace", "step_start", "period", "steps", "late", "landed", "wait",
    "heading", "alarmed", "random", "measured",
    "d", "v", "lateral_d", "lateral_v", "sunk", "speed_step", "speed_time", "speed_x", "speed_y", "lean",
    "learned", "bin", "bins_per_second")])  # fmt: skip
"""`done` is the share of a cycle since the step began, `pace` how fast the phase advances [cycles/s]; d and v are what
the body has more than the clip, `sunk` how much lower its hips are [m], `late` how
long it has been waiting for a footstrike [s]. Once it has `landed`, the legs are exchanged after `wait` [cycles]."""


@kernel
def advance(world: Any, row: Any, imitator: Any, roles: int, actuators: int) -> None:
    """Let the phase go on; a footstrike, not too early in a step, begins the other leg's step and resets it (§5).

    A reset that the printed law does at once is done at a faster pace here, so that targets do not jump. A step that
    ends late waits for its footstrike a little after the phase of the clip's own. The leg that stood may go on bearing
    for a share `handoff` of the time that both feet stand in the clip; printed, it is 0.
    """
    plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
    head, swing = plan.head[0], int(imitator.swing)
    begin, span = step_span(plan, swing)
    before, is_up = imitator.done, imitator.landed == 0.0
    hurries = before < 0.0 or (not is_up and before < span)
    pace = head.rate * (head.catch_up if hurries else 1.0)
    imitator.done = before + pace * world.dt
    if is_up:
        imitator.done = min(imitator.done, span + head.overrun)
    imitator.pace = pace if imitator.done != before else 0.0
    imitator.late = imitator.late + world.dt if imitator.done == before else 0.0
    if is_up and row.touch[swing] != 0.0 and imitator.done >= head.earliest * span:
        imitator.landed, imitator.late = 1.0, 0.0
        imitator.wait = head.handoff * (head.left_stays if swing == 1 else head.right_stays)
    if imitator.landed != 0.0:
        imitator.wait -= pace * world.dt
        if imitator.wait <= 0.0:
            begin = _exchange(row, imitator, span, roles, actuators, world.time)
    imitator.phase = (begin + imitator.done) % 1.0


@kernel
def _exchange(row: Any, imitator: Any, span: float, roles: int, actuators: int, time: float) -> float:
    """Let the other leg swing, and a requested skill begin; returns the phase at which its step begins."""
    imitator.period = time - imitator.step_start
    imitator.step_start, imitator.steps = time, imitator.steps + 1.0
    imitator.done, imitator.landed = imitator.done - span, 0.0
    imitator.swing = 1.0 - imitator.swing
    if row.header[0].pending != 0.0:
        row.header[0].active, row.header[0].pending = 1.0 - row.header[0].active, 0.0
    plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
    return step_span(plan, int(imitator.swing))[0]
