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
from surefoot.lab.reproduce.simbicon.spatial_robustness import ROBUST, WORDS, survivors_by_direction
from surefoot.lab.robustness import DIRECTIONS, NEEDED, PAPER_FORCES, REPLICAS, direction_thresholds
from surefoot.skills import load
from surefoot.skills.schema import Skill

SPEEDS, WEAKEST, STEP, HIGHEST = (0.0, 0.5, 1.0), 200.0, 10.0, 400.0  # [m/s], [N], [N], [N]
_SIMBICON = f"SIMBICON's {ROBUST}"
_UNIT = "N per axis, 0.4 s"


def run(result: Result, setting: Setting) -> None:
    """Ours at every speed, then SIMBICON's by the same measure; a quick look tries one speed and the bar only."""
    skill, tuned = load(f"biped/{SKILL}"), human(ROBUST)
    if tuned is None:
        result.add_missing(_SIMBICON, reason=f"there is no skill human/{ROBUST}")
    if setting.quick:
        kept = survivors_by_direction(result, skill, setting.seed, [WEAKEST] * 8, "humanoid", {"speed": SPEEDS[1]})
        result.add_row(f"humanoid at {SPEEDS[1]:g} m/s, weakest of eight directions", "",
                       f"{kept.min()} of {REPLICAS} survive {WEAKEST:g}, {WORDS[DIRECTIONS[int(kept.argmin())]]}",
                       f"{_UNIT} (≥ {NEEDED}; lower forces not tried)", bool(kept.min() >= NEEDED))  # fmt: skip
        if tuned:
            theirs = survivors_by_direction(result, tuned, setting.seed, [WEAKEST] * 8)
            for way, count in zip(DIRECTIONS, theirs, strict=True):
                result.add_note(f"{_SIMBICON}: {WORDS[way]}", f"{count} of {REPLICAS} survive {WEAKEST:g}", _UNIT)
        return
    found = {"SIMBICON, the paper": np.array(PAPER_FORCES)}
    for i, speed in enumerate(SPEEDS):
        label = f"humanoid at {speed:g} m/s"
        levels = _levels(result, setting, label, skill, i / (len(SPEEDS) + 1), "humanoid", {"speed": speed})
        found[label] = levels
        weakest = int(levels.argmin())
        result.add_row(f"{label}, weakest of eight directions", "",
                       f"{levels[weakest]:g}, {WORDS[DIRECTIONS[weakest]]}", f"{_UNIT} (≥ {WEAKEST:g})",
                       holds(levels))  # fmt: skip
        whole = float((levels * np.hypot(*np.transpose(DIRECTIONS))).min())
        result.add_note(f"{label}, weakest by the whole force", f"{whole:.0f}", "N, 0.4 s")
    if tuned:
        found[_SIMBICON] = _levels(result, setting, _SIMBICON, tuned, len(SPEEDS) / (len(SPEEDS) + 1))
    for label, levels in found.items():
        for d, (way, level) in enumerate(zip(DIRECTIONS, levels, strict=True)):
            cap = "≥ " if level >= HIGHEST else ""
            beside = f"; {_SIMBICON} {found[_SIMBICON][d]:g}" if tuned else ""
            result.add_note(f"{label}: {WORDS[way]}", f"{cap}{level:g}", f"{_UNIT}{beside}")
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
    """(8,) thresholds [N per axis]."""
    levels, runs = direction_thresholds(
        skill, setting.seed, step=STEP, highest=HIGHEST, character=character, commands=commands,
        tick=lambda share: setting.progress(f"pushing {label}", begin + share / (len(SPEEDS) + 1)),
    )  # fmt: skip
    result.runs += [{"walker": label} | run for run in runs]
    return levels
