"""§7.2, "Robustness": other thighs and other masses, without retuning.

A body made with other proportions gets stronger servos with its weight and the length of its legs. A heavier body
would then walk just as before, which proves nothing: here the servos keep the gains of the unchanged body. The same
with the changed body's own gains is shown beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.builder import with_proportions
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import mean_cycle, style_difference
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, replicas_from_start, skill, typical, upright
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

_BODIES = {
    "femur +10 %": {"thigh_length": 1.10}, "femur +15 %": {"thigh_length": 1.15}, "femur −15 %": {"thigh_length": 0.85},
    "mass +20 %": {"mass": 1.20}, "mass −20 %": {"mass": 0.80},
}  # fmt: skip
_RECORDED = 5.0  # [s]


def run(result: Result, setting: Setting) -> None:
    """Table 1's walk on every body; how much its style changes is shown."""
    walk, seconds = skill("walk", "human"), 6.0 if setting.quick else 60.0
    ours, usual, _ = _walked(result, setting, "unchanged", walk, {}, seconds, None)
    result.add_note("unchanged", ours)
    for i, (case, proportions) in enumerate(_BODIES.items()):
        setting.progress(case, (i + 1) / (1 + len(_BODIES)))
        kept_gains = with_gains_of_the_unchanged_body(walk, proportions)
        ours, _, kept = _walked(result, setting, case, kept_gains, proportions, seconds, usual)
        paper = "maintains style and stability" if case == "femur +10 %" else "larger changes: robust"
        result.add_row(case, paper, ours, "with the gains of the unchanged body", kept == REPLICAS)
        if not setting.quick:
            own = f"{case}, with gains of its own"
            result.add_note(own, _walked(result, setting, own, walk, proportions, seconds, usual)[0])


def with_gains_of_the_unchanged_body(entry: Skill, proportions: Mapping[str, float]) -> Skill:
    """The skill with the servo gains that undo what other proportions add to the body's.

    Torque limits are lowered likewise; a body that is weaker than the unchanged one stays so.
    """
    table = load_character(entry.character)
    strength = with_proportions(table, proportions).strength / table.strength
    gains = {
        table.anatomy.kind(r): table.gains[j] for r, j in zip(table.anatomy.roles, table.anatomy.joints(0), strict=True)
    }
    changes: dict[str, float] = {}
    for place, gain in [(f"gains.{kind}", gain) for kind, gain in gains.items()] + [("torso_gain", table.torso_gain)]:
        changes |= {f"{place}.kp": gain.kp / strength, f"{place}.kd": gain.kd / strength}
        changes[f"{place}.limit"] = gain.limit / max(strength, 1.0)
    return with_parameters(entry, changes)


def _walked(
    result: Result,
    setting: Setting,
    case: str,
    entry: Skill,
    proportions: Mapping[str, float],
    seconds: float,
    usual: np.ndarray | None,
) -> tuple[str, np.ndarray | None, int]:
    """What the replicas on one body did: as text, the mean cycle of the first, and how many did not fall."""
    recorded = min(_RECORDED, 0.5 * seconds)
    population = replicas_from_start([entry], setting.seed, proportions=proportions)
    population.run(seconds - recorded, stop_fallen=True)
    motions = population.run(recorded, fps=200, stop_fallen=True)
    kept, gait, cycle = upright(population)[0], typical(motions), mean_cycle(motions[0])
    style = (
        "" if cycle is None or usual is None else f", {style_difference(cycle, usual):.1f}° RMSE from the usual style"
    )
    how = f", {gait.speed:.2f} m/s, width {100 * gait.step_width:.0f} cm" if gait else ""
    for k, fell in enumerate(population.fallen_at):
        result.runs.append({"case": case, "replica": k, "fallen_at": fell} | dict(proportions))
    figures.save_filmstrip(_picture(result, setting, case), motions[0], f"human/walk, {case}")
    return f"{kept} of {REPLICAS} walk {seconds:g} s{how}{style}", cycle, kept


def _picture(result: Result, setting: Setting, case: str) -> Path | None:
    words = case.replace("−", "minus ").replace("+", "plus ").replace("%", "").replace(",", "").split()
    return setting.figure_path(result.experiment, f"{'-'.join(words)}.png")
