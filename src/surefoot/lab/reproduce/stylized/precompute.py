"""§3.2: how long it takes to make a reference of a clip and a policy of the reference."""

from __future__ import annotations

import time
from pathlib import Path

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.balance_policy import balance_policy
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
from surefoot.controllers.stylized.three_link import three_link_groups
from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, find_clip
from surefoot.lab.reference_tracking import TOES
from surefoot.lab.reproduce.stylized.mocap import KINDS

LONGEST = 5.0  # [s] of CPU


def run(result: Result, setting: Setting) -> None:
    """Every clip of Table 1's kinds: reading and retargeting, feet and weight, regulators."""
    worst, sim = 0.0, Simulation(skill=TOES)
    for i, (kind, (stem, loops, _)) in enumerate(KINDS.items()):
        setting.progress(kind, i / len(KINDS))
        clip = find_clip(setting, stem)
        if clip is None:
            result.add_note(kind, NO_CLIPS)
            result.partial = True
            continue
        read, made, regulated, supports = timed(sim, clip, loops)
        result.add_note(f"{kind}: reading and retargeting, reference, {supports} regulators",
                    f"{read:.1f}, {made:.1f}, {regulated:.1f}", "s")  # fmt: skip
        result.runs.append({"clip": stem, "read": read, "made": made, "regulated": regulated})
        worst = max(worst, made + regulated)
    if result.runs:
        result.add_row("reference and regulators of a clip, the slowest, CPU", "< 2 min", f"{worst:.1f}",
                   f"s (≤ {LONGEST:g})", worst <= LONGEST)  # fmt: skip


def timed(sim: Simulation, clip: Path, loops: bool) -> tuple[float, float, float, int]:
    """CPU seconds of reading, of the reference and of its regulators, and how many there are."""
    model, table = sim.model, sim.scene.table
    begin = time.process_time()
    found = reference_sources.retarget_file(clip, table)
    read = time.process_time()
    reference = (reference_sources.looping_reference if loops else reference_sources.one_shot_reference)(
        model, table, found
    )
    made = time.process_time()
    sides = [three_link_groups(model, table, side) for side in (0, 1)]
    supports = len(balance_policy(BodyDynamics(model, table), sides, reference).gains)
    return read - begin, made - read, time.process_time() - made, supports
