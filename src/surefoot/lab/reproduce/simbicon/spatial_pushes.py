"""§7.2, "Robustness": the largest recoverable pushes in eight directions, at phase 0.1 of the cycle, for 0.4 s."""

from __future__ import annotations

import numpy as np

from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import human, missing
from surefoot.lab.robustness import (
    DIRECTIONS,
    NEEDED,
    PAPER_FORCES,
    REPLICAS,
    at_strike,
    direction_thresholds,
    push_survivors_3d,
)
from surefoot.skills.schema import Skill

PRINTED, ROBUST = "walk", "robust-walk"
_SUM, _WEAKEST = 0.85, 0.70  # of the paper's: all directions together, and each of them
_UNIT = "N per axis, 0.4 s"
WORDS = {
    (0, 1): "forwards", (1, 1): "forwards to the left", (1, 0): "to the left", (1, -1): "backwards to the left",
    (0, -1): "backwards", (-1, -1): "backwards to the right", (-1, 0): "to the right",
    (-1, 1): "forwards to the right",
}  # fmt: skip


def run(result: Result, setting: Setting) -> None:
    """Both walks, pushed after right foot strike as in the paper and, mirrored, after left foot strike."""
    found: dict[str, np.ndarray] = {"the paper": np.array(PAPER_FORCES)}
    for i, name in enumerate((PRINTED, ROBUST)):
        skill = human(name)
        if skill is None:
            missing(result, f"{name} in all eight directions", "8", name)
            continue
        for foot in (1,) if setting.quick else (1, 0):
            start = 0.5 * i + 0.25 * (1 - foot)
            levels = _levels(result, setting, skill, foot, start)
            found[_label(name, foot)] = levels
    if _label(PRINTED, 1) in found:
        _bar_printed(result, found[_label(PRINTED, 1)])
    if _label(ROBUST, 1) in found:
        for way, ours, paper in zip(DIRECTIONS, found[_label(ROBUST, 1)], PAPER_FORCES, strict=True):
            result.add_row(f"one walk, pushed {WORDS[way]}", f"{paper:g}", f"{ours:g}", _UNIT, ours >= paper)
    for label, levels in found.items():
        if label not in ("the paper", _label(ROBUST, 1)):
            for way, ours, paper in zip(DIRECTIONS, levels, PAPER_FORCES, strict=True):
                result.add_note(f"{label}: {WORDS[way]}", f"{ours:g}", _UNIT, f"{paper:g}")
    figures.push_rose(setting.figure_path(result.experiment, "directions.png"), DIRECTIONS, found)


def _label(name: str, foot: int) -> str:
    return f"human/{name}" + ("" if foot else ", mirrored")


def _levels(result: Result, setting: Setting, skill: Skill, foot: int, start: float) -> np.ndarray:
    """(8,) thresholds [N per axis]; a quick look tries the paper's levels only."""
    label = _label(skill.name, foot)
    setting.progress(f"pushing {label}", start)
    if not setting.quick:
        levels, runs = direction_thresholds(
            skill, setting.seed, foot=foot, tick=lambda share: setting.progress(f"pushing {label}", start + share / 4)
        )
        result.runs += [{"skill": skill.name, "foot": foot} | run for run in runs]
        return levels
    forces = [(way[0] * paper, way[1] * paper) for way, paper in zip(DIRECTIONS, PAPER_FORCES, strict=True)]
    alive = push_survivors_3d(
        skill, at_strike(skill, setting.seed, foot), [(f, k) for f in forces for k in range(REPLICAS)]
    )
    kept = alive.reshape(len(forces), REPLICAS).sum(axis=1)
    return np.where(kept >= NEEDED, PAPER_FORCES, 0.0)


def _bar_printed(result: Result, levels: np.ndarray) -> None:
    shares = levels / np.array(PAPER_FORCES)
    total, weakest = float(levels.sum()), int(shares.argmin())
    result.add_row(
        "Table 1's walk as printed, sum of eight directions", f"{sum(PAPER_FORCES):g}",
        f"{total:g} = {100 * total / sum(PAPER_FORCES):.0f} %", f"{_UNIT} (≥ {100 * _SUM:g} %)", total >= _SUM * sum(PAPER_FORCES),
    )  # fmt: skip
    result.add_row(
        "Table 1's walk as printed, weakest direction", f"{PAPER_FORCES[weakest]:g}",
        f"{levels[weakest]:g} = {100 * shares[weakest]:.0f} %, {WORDS[DIRECTIONS[weakest]]}",
        f"{_UNIT} (≥ {100 * _WEAKEST:g} %)", bool(shares[weakest] >= _WEAKEST),
    )  # fmt: skip
