"""Tunes a skill made of a clip until it walks: first that it stays up, then that it is like the clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.lab.following import BOUNDS, FALL, Following
from surefoot.lab.tune import tune
from surefoot.skills import varied
from surefoot.skills.imitation import Cycle
from surefoot.skills.schema import Skill


@dataclass(frozen=True)
class Stage:
    """One search: how long it must walk, how many generations at most, and how widely it looks."""

    seconds: float
    generations: int
    sigma: float
    replicas: int = 2
    push: float = 0.0
    share_up: float = 0.5  # of the candidates that stay up: then the next stage begins; above 1: never before the end


STAGES = (
    Stage(3.0, 60, 0.15, replicas=1, share_up=0.5),
    Stage(4.5, 30, 0.10, share_up=0.6),
    Stage(7.0, 20, 0.08, share_up=0.6),
    Stage(10.0, 30, 0.06, push=60.0, share_up=2.0),
)
_CANDIDATES = 14
_NEAR = 0.2  # cost of leaving where a stage began by a whole range
GUESSES: tuple[dict[str, float], ...] = (
    {},  # as the skill is: a brisk walk
    {
        "handoff": 0.6, "clearance": 0.25, "earliest": 0.75, "feedback.stance_ankle.0": -3.0,
        "feedback.stance_ankle.1": -1.2, "feedback.stance_ankle_roll.0": -3.0, "feedback.stance_ankle_roll.1": -1.2,
    },  # a slow one, long on both feet and balanced by its ankles
)  # fmt: skip
"""Where the first stage begins, one after the other until one of them stays up."""


def imitate(
    skill: Skill,
    cycle: Cycle,
    *,
    seed: int = 0,
    stages: tuple[Stage, ...] = STAGES,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[Stage, int, float], None] = lambda stage, generation, best: None,
) -> Skill:
    """Search for the numbers with which a captured gait walks like its cycle.

    Args:
        skill: where to begin.
        cycle: what it should be like: the cleaned cycle, which the skill may have made symmetric.
        seed: of the search.
        stages: one after the other, each from what the last one found.
        threads: 0 is all cores.
        checkpoint: a killed search is resumed from files of this name with the stage's number added.
        report: called after every generation.
    """

    def search(begin: Skill, stage: Stage, label: str) -> tuple[Skill, float, bool]:
        is_enough = [False]

        def enough(costs: Sequence[float]) -> bool:
            is_enough[0] = bool(np.mean(np.array(costs) < FALL) >= stage.share_up)
            return is_enough[0]

        found = tune(
            begin, BOUNDS, [Following(cycle, stage.seconds, stage.replicas, stage.push)],
            generations=stage.generations, seed=seed, near=_NEAR, sigma=stage.sigma, popsize=_CANDIDATES,
            threads=threads, checkpoint=checkpoint and checkpoint.with_name(f"{checkpoint.name}-{label}.json"),
            report=lambda generation, best: report(stage, generation, best), enough=enough,
        )  # fmt: skip
        return found.skill, found.cost, is_enough[0]

    tries = []
    for number, guess in enumerate(GUESSES):
        tries.append(search(varied(skill, guess) if guess else skill, stages[0], f"0-{number}"))
        if tries[-1][2] or tries[-1][1] < FALL:
            break
    skill = min(tries, key=lambda tried: (not tried[2], tried[1]))[0]
    for number, stage in enumerate(stages[1:], 1):
        skill = search(skill, stage, str(number))[0]
    return skill
