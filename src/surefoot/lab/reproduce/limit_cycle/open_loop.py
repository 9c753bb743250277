"""Figure 10: without control the march takes several steps and falls; with it, the same start goes on."""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.limit_cycle.marches import REPLICAS, begun, gaits, is_fair, march, note, quality, upright

FALLS_WITHIN, WALKS = 10.0, 600.0  # [s]


def run(result: Result, setting: Setting) -> None:
    """The same starts, without control and with it."""
    setting.progress("open loop", 0.02)
    alone = begun([march({"regulation.control": "open-loop"})], setting.seed, "open loop")
    motions = alone.run(FALLS_WITHIN, fps=60.0)
    fallen, steps = alone.fallen_at, [float(row.report[0].steps) for row in alone.rows]
    result.add_row(
        "open loop", "several steps, then falls", f"falls at {fallen.min():.1f} … {fallen.max():.1f} s",
        f"s (all replicas ≤ {FALLS_WITHIN:g} s)", bool((fallen <= FALLS_WITHIN).all()),
    )  # fmt: skip
    before = [_steps_before(m.state, m.time, at) for m, at in zip(motions, fallen, strict=True)]
    result.add_note("open loop: steps until it has fallen", f"{min(before)} … {max(before)}", "steps")
    figures.save_filmstrip(
        setting.figure_path(result.experiment, "open-loop.png"), motions[0], "without control", start=0.0,
        end=float(min(fallen[0], FALLS_WITHIN)),
    )  # fmt: skip
    seconds = 20.0 if setting.quick else WALKS
    setting.progress("with control", 0.1)
    walking = begun([march()], setting.seed, "open loop")
    found, motions = gaits(walking, seconds)
    result.add_row(
        f"with limit cycle control, {seconds:g} s", "walks", upright(walking, 0), f"replicas ({REPLICAS})",
        all(map(is_fair, found)),
    )  # fmt: skip
    result.add_note("with control: how it walks", quality(walking, 0, found))
    if found[0]:
        result.add_note("with control: speed", f"{found[0].speed:.2f}", "m/s")
    note(result, "controlled", walking, 0, found)
    result.runs += [{"case": "open loop", "fallen_at": t, "steps": n} for t, n in zip(fallen, steps, strict=True)]
    figures.save_filmstrip(
        setting.figure_path(result.experiment, "controlled.png"), motions[0], "with limit cycle control"
    )


def _steps_before(state: np.ndarray, time: np.ndarray, end: float) -> int:
    """Changes of the swing leg until a moment: the states of one leg come first, then those of the other."""
    half = (int(state.max()) + 1) // 2 or 1
    return int((np.diff(state[time <= end] // half) != 0).sum())
