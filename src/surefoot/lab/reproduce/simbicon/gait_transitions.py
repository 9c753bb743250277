"""Transitions from every gait directly into every other, at random phases.

§7.1: the chain of 25 transitions from random phases, and every gait into every other.
§7.2: direct transitions are possible between most of the walking and running gaits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import states_at_random_phases
from surefoot.lab.reproduce.simbicon.gaits import TABLE_1, human, missing, skill
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill


def transition_matrix(
    skills: Sequence[Skill],
    phases: int,
    seconds: float,
    seed: int,
    tick: Callable[[str, float], None] = lambda source, share: None,
) -> np.ndarray:
    """(n, n) from how many random phases of a gait (rows) each other one (columns) can be entered; −1 on the diagonal.

    A transition counts if the switch has happened and there was no fall within `seconds` of the request.
    """
    kept = np.full((len(skills), len(skills)), -1)
    if len(skills) < 2:
        return kept
    for i, source in enumerate(skills):
        tick(source.name, i / len(skills))
        targets = [k for k in range(len(skills)) if k != i]
        states = states_at_random_phases(source, phases, seed, skills)
        population = Population(len(targets) * phases, skill=[source] * (len(targets) * phases), skills=skills)
        population.restore(np.tile(states, (len(targets), 1)))
        for place, target in enumerate(targets):
            population.switch(skills[target], range(place * phases, (place + 1) * phases))
        population.run(seconds, stop_fallen=True)
        waiting = np.array([row.header[0].pending != 0.0 for row in population.rows])
        good = np.isinf(population.fallen_at) & ~waiting
        kept[i, targets] = good.reshape(len(targets), phases).sum(axis=1)
    return kept


def report_transitions(result: Result, setting: Setting, names: Sequence[str], kept: np.ndarray, phases: int) -> int:
    """Show, draw and record a matrix of transitions; return how many pairs succeed at 80 % of the phases or more."""
    for i, source in enumerate(names):
        others = [(name, int(kept[i, k])) for k, name in enumerate(names) if k != i]
        for target, count in others:
            result.runs.append({"case": "matrix", "from": source, "to": target, "kept": count, "phases": phases})
        result.add_note(f"{source} →", ", ".join(f"{target} {count}" for target, count in others),
                        f"of {phases} phases")  # fmt: skip
    share = np.where(kept < 0, np.nan, kept / phases)
    figures.transition_heatmap(setting.figure_path(result.experiment, "matrix.png"), names, share)
    return int((kept >= 0.8 * phases).sum())


CHAIN = (
    "walk", "in-place-walk", "stand", "back-flip", "in-place-walk", "walk", "big-step", "walk", "in-place-walk",
    "high-step-walk", "in-place-walk", "scissor-hop", "walk", "skip", "walk", "bent-walk", "walk", "crouch-walk",
    "walk", "in-place-walk", "backwards-walk", "in-place-walk", "back-and-forth", "walk", "run", "fast-run",
)  # fmt: skip
_PHASES = 20
_DWELL = 6.0  # [s] between two requests
_AFTER = 8.0  # [s] a single transition is watched


def run_planar(result: Result, setting: Setting) -> None:
    """The chain with and without waiting for stored phases; the matrix."""
    phases = 5 if setting.quick else _PHASES
    waiting = [skill(name) for name in CHAIN]
    done, failures = _chain(result, setting, waiting, phases, "chain")
    result.add_row(f"chain of {len(CHAIN) - 1} transitions", "completed", f"{done} of {phases}", "random start phases",
                   done == phases)  # fmt: skip
    for name, count in failures.items():
        result.add_note(f"chain: falls in {name}", str(count), "runs")
    for stored in {s.name: s.parameters for s in waiting}.items():
        for word, wanted in (("entered", stored[1].entry), ("left", stored[1].exit)):
            if wanted:
                result.add_note(f"{stored[0]} is {word} at", f"phase {wanted.phase:g}", "of a step")
    raw = [with_parameters(s, {"entry": None, "exit": None}) for s in waiting]
    done_raw, _ = _chain(result, setting, raw, phases, "raw chain")
    result.add_note("the raw chain, without waiting", f"{done_raw} of {phases}", "random start phases")
    if not setting.quick:
        _matrix(result, setting)


def _chain(result: Result, setting: Setting, chain: list[Skill], phases: int, label: str) -> tuple[int, dict[str, int]]:
    """Runs that complete, and in which skill the others fell."""
    population = Population(phases, skill=[chain[0]] * phases, skills=chain)
    population.restore(states_at_random_phases(chain[0], phases, setting.seed, chain))
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
    kept = transition_matrix(
        [skill(name) for name in TABLE_1], _PHASES, _AFTER, setting.seed,
        lambda source, share: setting.progress(f"matrix: from {source}", 0.35 + 0.6 * share),
    )  # fmt: skip
    good = report_transitions(result, setting, TABLE_1, kept, _PHASES)
    pairs = len(TABLE_1) * (len(TABLE_1) - 1)
    result.add_note("direct transitions at ≥ 16 of 20 phases", f"{good} of {pairs}", "pairs")


GAITS = (
    "walk-as-printed", "robust-walk", "fast-walk", "high-knee-walk", "in-place-walk", "crouch-walk", "bent-walk",
    "backwards-walk", "run", "fast-run",
)  # fmt: skip
_MOST = 0.7  # share of the pairs that is "most"


def run_spatial(result: Result, setting: Setting) -> None:
    """Every walk and run that there is into every other, at random phases."""
    phases, skills = _PHASES, [found for name in GAITS if (found := human(name))]
    if setting.quick:
        phases, skills = 5, skills[:3]
    names = [found.name for found in skills]
    kept = transition_matrix(
        skills, phases, _AFTER, setting.seed, lambda source, share: setting.progress(f"from {source}", share)
    )
    good, pairs = report_transitions(result, setting, names, kept, phases), len(names) * (len(names) - 1)
    result.add_row("direct transitions between walks and runs", "most", f"{good} of {pairs}",
                   f"pairs at ≥ 80 % of {phases} phases (≥ {100 * _MOST:g} % of the pairs)",
                   pairs > 0 and good >= _MOST * pairs)  # fmt: skip
    for name in GAITS:
        if not human(name):
            missing(result, f"{name}: not in the matrix", "most", name)
