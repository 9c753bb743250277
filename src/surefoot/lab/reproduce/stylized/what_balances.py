"""§5.2: which term keeps the body up: regulator, root rows, steps, rate, in pushes and on slopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reference_tracking import track_reference
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.stylized.slopes import SKILL, ground
from surefoot.lab.robustness import REPLICAS, robust_threshold
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

CASES: dict[str, dict[str, Any]] = {
    "all of it": {},
    "w_b = 0": {"balance_weight": 0.0},
    "w_b = 1": {"balance_weight": 1.0},
    "w_b = 5": {"balance_weight": 5.0},
    "root rows × 1": {"root_weight": 1.0},
    "reference set down once": {"anchoring": 0.0},
    "steps as recorded": {"leading": 0.0},
    "steps as recorded, w_b = 0": {"leading": 0.0, "balance_weight": 0.0},
    "steps as recorded, w_b = 1": {"leading": 0.0, "balance_weight": 1.0},
    "50 solutions a second": {"rate": 50.0},
}
ABLATED = tuple(name for name in CASES if name.startswith("steps as recorded"))
SECONDS, PUSHED, LASTS, AFTER, BETTER = 20.0, 3.0, 0.2, 5.0, 1.5
LEVELS = (25.0, 50.0, 75.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0)  # [N]


def run(result: Result, setting: Setting) -> None:
    """Every case: level ground, ± 5°, and the largest sideways push."""
    found, seconds = {}, 8.0 if setting.quick else SECONDS
    for i, (name, changes) in enumerate(CASES.items()):
        setting.progress(name, i / len(CASES))
        skill = with_parameters(load(SKILL), changes)
        runs = [track_reference(skill, seconds, ground(degrees)) for degrees in (0.0, 5.0, -5.0)]
        texts = ["up" if one.stays_up else f"fell at {one.fallen_at:.1f} s" for one in runs]
        found[name] = lateral(skill, setting) if runs[0].stays_up else 0.0
        result.add_note(f"{name}: level, +5°, −5°; sideways push of {LASTS:g} s",
                    f"{', '.join(texts)}; {found[name]:g} N")  # fmt: skip
        result.runs.append({"case": name, "push": found[name], "fallen_at": [one.fallen_at for one in runs]})
    best = max(found[name] for name in ABLATED)
    result.add_row(
        "sideways push with steps from the same model against the best without", "",
        f"{found['all of it']:g} against {best:g}", f"N (× {BETTER:g})",
        found["all of it"] >= BETTER * best and found["all of it"] > 0.0,
    )  # fmt: skip


def lateral(skill: Skill, setting: Setting) -> float:
    """The largest push to the left that most replicas survive [N]."""
    replicas = 2 if setting.quick else REPLICAS

    def survives(levels: list[float]) -> list[int]:
        cases = [(level, k) for level in levels for k in range(replicas)]
        pushes = [[Push((0.0, level, 0.0), LASTS, PUSHED + 0.13 * k)] for level, k in cases]
        population = Population(len(cases), skill=skill, pushes=pushes)
        perturb_population(population, [seeded_generator(setting.seed, "balances", k) for _, k in cases])
        population.run(PUSHED + 0.13 * replicas + AFTER, stop_fallen=True)
        up = np.isinf(population.fallen_at).reshape(-1, replicas).sum(axis=1)
        return [int(count) * REPLICAS // replicas for count in up]

    return robust_threshold(survives, list(LEVELS), 1)[0]
