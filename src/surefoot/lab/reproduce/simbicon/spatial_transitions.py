"""§7.2: direct transitions are possible between most of the walking and running gaits."""

from __future__ import annotations

from surefoot.lab import transitions
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import human

GAITS = (
    "walk", "robust-walk", "fast-walk", "high-knee-walk", "in-place-walk", "crouch-walk", "bent-walk",
    "backwards-walk", "run", "fast-run",
)  # fmt: skip
_PHASES, _AFTER = 20, 8.0  # [s] a transition is watched
_MOST = 0.7  # share of the pairs that is "most"


def run(result: Result, setting: Setting) -> None:
    """Every walk and run that there is into every other, at random phases."""
    phases, skills = _PHASES, [found for name in GAITS if (found := human(name))]
    if setting.quick:
        phases, skills = 5, skills[:3]
    names = [found.name for found in skills]
    kept = transitions.matrix(
        skills, phases, _AFTER, setting.seed, lambda source, share: setting.progress(f"from {source}", share)
    )
    good, pairs = transitions.show(result, setting, names, kept, phases), len(names) * (len(names) - 1)
    result.row(
        "direct transitions between walks and runs", "most", f"{good} of {pairs}",
        f"pairs at ≥ 80 % of {phases} phases (≥ {100 * _MOST:g} % of the pairs)", pairs > 0 and good >= _MOST * pairs,
    )  # fmt: skip
    for name in GAITS:
        if not human(name):
            result.show(f"{name}: not in the matrix", "there is no such skill")
