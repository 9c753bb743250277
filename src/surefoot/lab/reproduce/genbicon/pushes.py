"""Robustness to pushes in eight directions, at three speeds, beside SIMBICON's tuned walk (SIMBICON §7.2).

As there: 0.4 s at the height of the sternum, at phase 0.1 of the cycle after right foot strike; a force is that along
each axis pushed. Thresholds are robust thresholds of a grid of 10 N.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.genbicon.walks import SKILL
from surefoot.lab.reproduce.simbicon.gaits import human
from surefoot.lab.reproduce.simbicon.spatial_pushes import ROBUST, WORDS
from surefoot.lab.robustness import (
    DIRECTIONS,
    NEEDED,
    PAPER_FORCES,
    REPLICAS,
    at_strike,
    direction_thresholds,
    push_survivors_3d,
)
from surefoot.skills import load
from surefoot.skills.schema import Skill

SPEEDS, WEAKEST, STEP, HIGHEST = (0.0, 0.5, 1.0), 200.0, 10.0, 400.0  # [m/s], [N], [N], [N]
_SIMBICON = f"SIMBICON's {ROBUST}"
_UNIT = "N per axis, 0.4 s"


def run(result: Result, setting: Setting) -> None:
    """Ours at every speed, then SIMBICON's by the same measure."""
    speeds, skill = SPEEDS[1:2] if setting.quick else SPEEDS, load(f"biped/{SKILL}")
    found = {"SIMBICON, the paper": np.array(PAPER_FORCES)}
    for i, speed in enumerate(speeds):
        label = f"humanoid at {speed:g} m/s"
        levels = _levels(result, setting, label, skill, i / (len(speeds) + 1), "humanoid", {"speed": speed})
        found[label] = levels
        weakest = int(levels.argmin())
        result.add_row(
            f"{label}, weakest of eight directions", "", f"{levels[weakest]:g}, {WORDS[DIRECTIONS[weakest]]}",
            f"{_UNIT} (≥ {WEAKEST:g})", holds(levels),
        )  # fmt: skip
        whole = float((levels * np.hypot(*np.transpose(DIRECTIONS))).min())
        result.add_note(f"{label}, weakest by the whole force", f"{whole:.0f}", "N, 0.4 s")
    tuned = human(ROBUST)
    if tuned:
        found[_SIMBICON] = _levels(result, setting, _SIMBICON, tuned, len(speeds) / (len(speeds) + 1))
    for label, levels in found.items():
        for way, level, beside in zip(DIRECTIONS, levels, found.get(_SIMBICON, PAPER_FORCES), strict=True):
            cap = "≥ " if level >= HIGHEST else ""
            result.add_note(f"{label}: {WORDS[way]}", f"{cap}{level:g}", f"{_UNIT}; {_SIMBICON} {beside:g}")
    figures.push_rose(setting.figure_path(result.experiment, "directions.png"), DIRECTIONS, found)


def holds(levels: np.ndarray) -> bool:
    """Whether the weakest direction reaches the bar."""
    return bool(levels.min() >= WEAKEST)


def _levels(
    result: Result,
    setting: Setting,
    label: str,
    skill: Skill,
    begin: float,
    character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> np.ndarray:
    """(8,) thresholds [N per axis]; a quick look tries the bar only."""

    def tick(share: float) -> None:
        setting.progress(f"pushing {label}", begin + share / (2 if setting.quick else len(SPEEDS) + 1))

    tick(0.0)
    if not setting.quick:
        levels, runs = direction_thresholds(
            skill, setting.seed, step=STEP, highest=HIGHEST, tick=tick, character=character, commands=commands
        )
        result.runs += [{"walker": label} | run for run in runs]
        return levels
    start = at_strike(skill, setting.seed, character=character, commands=commands)
    cases = [((WEAKEST * way[0], WEAKEST * way[1]), k) for way in DIRECTIONS for k in range(REPLICAS)]
    alive = push_survivors_3d(skill, start, cases, character)
    for ((lateral, sagittal), k), survived in zip(cases, alive, strict=True):
        result.runs.append({
            "walker": label, "lateral": lateral, "sagittal": sagittal, "replica": k, "survived": int(survived),
        })  # fmt: skip
    return np.where(alive.reshape(-1, REPLICAS).sum(axis=1) >= NEEDED, WEAKEST, 0.0)
