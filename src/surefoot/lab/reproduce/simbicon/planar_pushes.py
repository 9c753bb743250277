"""§7.1: ten pushes of 0.1 s, 5 s apart; the largest that every one of them is survived."""

from __future__ import annotations

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import TABLE_1, skill
from surefoot.lab.robustness import NEEDED, planar_grid, push_survivors, robust_threshold

FORWARD, BACKWARD = 600.0, 500.0  # [N] the paper's walk
SKIP = (40.0, 50.0)  # [N] the paper's skip
_HIGHEST, _HIGHEST_OTHERS = 600.0, 100.0  # [N] no level above is tried: of the two walks, of the other gaits
_ROBUST_WALK = "robust-walk"


def run(result: Result, setting: Setting) -> None:
    """Robust thresholds forwards and backwards of all gaits and of the tuned walk."""
    names = (_ROBUST_WALK, "walk", "skip") if setting.quick else (_ROBUST_WALK, *TABLE_1)
    found = {}
    for i, name in enumerate(names):
        for direction, word in ((1.0, "forwards"), (-1.0, "backwards")):
            setting.progress(f"pushing {name} {word}", i / len(names))
            grid = planar_grid(_HIGHEST if name in (_ROBUST_WALK, "walk") else _HIGHEST_OTHERS)
            levels = grid[-1:] if setting.quick else grid
            threshold, tried = robust_threshold(push_survivors(skill(name), direction, setting.seed), levels)
            found[name, direction] = threshold
            for level, count in tried:
                result.runs.append({
                    "skill": name, "direction": direction, "force": level, "survived": count, "needed": NEEDED,
                })  # fmt: skip
    _bar(result, "one tuned walk", found[_ROBUST_WALK, 1.0], found[_ROBUST_WALK, -1.0], FORWARD, BACKWARD)
    if not setting.quick:
        _bar(result, "skip", found["skip", 1.0], found["skip", -1.0], *SKIP)
    printed = found["walk", 1.0], found["walk", -1.0]
    result.add_note("walk of Table 1 as printed", _pair(*printed), "N forwards / backwards", _pair(FORWARD, BACKWARD))
    for name in names[2:]:
        result.add_note(name, _pair(found[name, 1.0], found[name, -1.0]), "N forwards / backwards")
    result.add_note("highest level tried", f"{_HIGHEST:g}, {_HIGHEST_OTHERS:g} for the other gaits", "N")


def _bar(result: Result, case: str, ahead: float, back: float, paper_ahead: float, paper_back: float) -> None:
    for word, ours, paper in (("forwards", ahead, paper_ahead), ("backwards", back, paper_back)):
        result.add_row(f"{case}, pushed {word}", f"{paper:g}", f"{ours:g}", "N, 0.1 s, ten pushes", ours >= paper)


def _pair(ahead: float, back: float) -> str:
    return f"{ahead:g} / {back:g}"
