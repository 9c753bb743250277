"""§7.1: the chain of 25 transitions from random phases, and every gait into every other."""

from __future__ import annotations

import numpy as np

from surefoot.lab import transitions
from surefoot.lab.cycles import at_random_phases
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import TABLE_1, skill
from surefoot.population import Population
from surefoot.skills import varied
from surefoot.skills.schema import Skill

CHAIN = (
    "walk", "in-place-walk", "stand", "back-flip", "in-place-walk", "walk", "big-step", "walk", "in-place-walk",
    "high-step-walk", "in-place-walk", "scissor-hop", "walk", "skip", "walk", "bent-walk", "walk", "crouch-walk",
    "walk", "in-place-walk", "backwards-walk", "in-place-walk", "back-and-forth", "walk", "run", "fast-run",
)  # fmt: skip
_PHASES = 20
_DWELL = 6.0  # [s] between two requests
_AFTER = 8.0  # [s] a single transition is watched


def run(result: Result, setting: Setting) -> None:
    """The chain with and without waiting for stored phases; the matrix."""
    phases = 5 if setting.quick else _PHASES
    waiting = [skill(name) for name in CHAIN]
    done, failures = _chain(result, setting, waiting, phases, "chain")
    result.row(
        f"chain of {len(CHAIN) - 1} transitions", "completed", f"{done} of {phases}",
        "random start phases", done == phases,
    )  # fmt: skip
    for name, count in failures.items():
        result.show(f"chain: falls in {name}", str(count), "runs")
    for stored in {s.name: s.parameters for s in waiting}.items():
        for word, wanted in (("entered", stored[1].entry), ("left", stored[1].exit)):
            if wanted:
                result.show(f"{stored[0]} is {word} at", f"phase {wanted.phase:g}", "of a step")
    raw = [_without_waiting(s) for s in waiting]
    done_raw, _ = _chain(result, setting, raw, phases, "raw chain")
    result.show("the raw chain, without waiting", f"{done_raw} of {phases}", "random start phases")
    if not setting.quick:
        _matrix(result, setting)


def _without_waiting(entry: Skill) -> Skill:
    return varied(entry, {"entry": None, "exit": None})


def _chain(result: Result, setting: Setting, chain: list[Skill], phases: int, label: str) -> tuple[int, dict[str, int]]:
    """Runs that complete, and in which skill the others fell."""
    population = Population(phases, skill=[chain[0]] * phases)
    population.restore(at_random_phases(chain[0], phases, setting.seed))
    fell_in: dict[str, int] = {}
    for i, wanted in enumerate(chain[1:]):
        setting.progress(f"{label}: {wanted.name}", 0.3 * i / len(chain))
        upright = np.flatnonzero(np.isinf(population.fallen_at))
        population.switch(wanted, upright.tolist())
        population.run(_DWELL, stop_fallen=True)
        lost = len(upright) - int(np.isinf(population.fallen_at).sum())
        if lost:
            fell_in[f"{i + 1}: {wanted.name}"] = lost
    pending = np.array([row.header[0].pending != 0.0 for row in population.rows])
    completed = np.isinf(population.fallen_at) & ~pending
    for row, good in enumerate(completed):
        result.runs.append(
            {"case": label, "phase": row, "completed": bool(good), "fallen_at": population.fallen_at[row]}
        )
    return int(completed.sum()), fell_in


def _matrix(result: Result, setting: Setting) -> None:
    """Fraction of phases from which each gait can be entered directly from each other."""
    kept = transitions.matrix(
        [skill(name) for name in TABLE_1], _PHASES, _AFTER, setting.seed,
        lambda source, share: setting.progress(f"matrix: from {source}", 0.35 + 0.6 * share),
    )  # fmt: skip
    good = transitions.show(result, setting, TABLE_1, kept, _PHASES)
    pairs = len(TABLE_1) * (len(TABLE_1) - 1)
    result.show("direct transitions at ≥ 16 of 20 phases", f"{good} of {pairs}", "pairs")
