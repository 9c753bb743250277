"""Robust thresholds of pushes from eight directions, on a CPU and on a GPU: SIMBICON's printed walk in space."""

from __future__ import annotations

from surefoot.lab.experiment import NOT_QUICK, Result, Setting
from surefoot.lab.reproduce.scale.devices import Figures, compared_device, on_both, unusable
from surefoot.lab.robustness import DIRECTIONS, direction_thresholds
from surefoot.skills import load

SKILL, _STEP = "human/walk-as-printed", 10.0  # [N] between two levels
_UNIT = "N per axis, 0.4 s"


def run(result: Result, setting: Setting) -> None:
    """A row for each direction."""
    device = compared_device()
    reason = NOT_QUICK if setting.quick else unusable(device)
    if reason:
        for way in DIRECTIONS:
            result.add_missing(_label(way), f"within {_STEP:g} N", reason)
        return
    cpu, gpu = on_both(result.experiment, setting, device, {"walk": _measure})["walk"]
    for way in DIRECTIONS:
        label = _label(way)
        ours, other = cpu[label]["threshold"], gpu[label]["threshold"]
        result.add_row(label, f"{ours:g} ± {_STEP:g}", f"{other:g}", _UNIT, abs(ours - other) <= _STEP)
        result.runs.append({"direction": label, "cpu": ours, "gpu": other})


def _label(way: tuple[int, int]) -> str:
    lateral, sagittal = way
    along = {1: "forwards", 0: "", -1: "backwards"}[sagittal]
    across = {1: "to the left", 0: "", -1: "to the right"}[lateral]
    return f"{SKILL}, pushed {' '.join(word for word in (along, across) if word)}"


def _measure(setting: Setting) -> Figures:
    levels, _ = direction_thresholds(load(SKILL), setting.seed, step=_STEP)
    return {_label(way): {"threshold": float(level)} for way, level in zip(DIRECTIONS, levels, strict=True)}
