"""The searches that found GENBICON's walk with a rolling foot and the strides of its styles.

The gait is measured at the speed of an ordinary walk, where it has to look like people's, and at slower and faster
speeds, where fewer things are asked for; at the ordinary speed it is also pushed. What is kept is the mean of the
search. A style keeps its upper body; its pace and its stride are searched for, with the bars of its feet as the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.errors import CommandError, SurefootError
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.lab.gait_objective import WALK, GaitObjective, Wish
from surefoot.lab.gait_signals import record_signals
from surefoot.lab.parameter_tuning import TuningResult, tune
from surefoot.lab.replicas import perturb_population, row_seeds, seeded_generator
from surefoot.skills.files import validate
from surefoot.skills.schema import Skill

OTHERS = (-0.6, -0.3, 0.3)  # [m/s] slower and faster than the walk that is searched for
CANDIDATES = 14  # of a generation
_TIMESTEP = 0.001  # [s] at longer ones light feet tremble
_PUSHED_AT = 4.5, 5.2  # [s] at the ordinary speed, which is reached after 2.5 s


def _knots(curve: str, spans: list[tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Bounds of the values of a curve's knots."""
    return {f"stride.curves.{curve}.{k}.1": span for k, span in enumerate(spans)}


BOUNDS: Mapping[str, tuple[float, float]] = {
    "stride.step_time": (1.0, 1.32),
    "stride.quicker": (0.0, 0.4),
    "stride.step_width": (0.4, 1.2),
    "stride.step_height": (0.4, 1.3),
    "stride.levelling": (0.1, 0.8),
    "stride.knee_support": (0.5, 1.2),
    "stride.yielding": (0.2, 0.7),
    "stride.double_support": (0.06, 0.26),
    "stride.push_force": (0.7, 1.5),
    "stride.push_knee": (-0.5, 1.0),
    "stride.alpha": (-0.1, 0.1),
    "stride.loss": (0.0, 0.4),
    "stride.drag": (0.0, 0.8),
    "stride.speed_force": (0.2, 1.2),
    "stride.foresight": (0.3, 1.1),
    "curves.pelvis": (-0.1, 0.05),
    **_knots("pressure", [(-1.0, 0.3), (-0.5, 0.6), (0.0, 1.0), (0.4, 1.0)]),
    **_knots(
        "stance_ankle",
        [
            (0.25, 0.45),
            (0.08, 0.25),
            (0.02, 0.15),
            (-0.02, 0.08),
            (-0.06, 0.04),
            (-0.35, -0.05),
            (-0.55, -0.15),
            (-0.75, -0.3),
        ],
    ),
    "stride.side_foresight": (0.3, 1.1),
    **_knots("swing_ankle", [(-0.9, -0.3), (-1.3, -0.7), (-1.1, -0.4), (-0.4, 0.3), (0.15, 0.5), (0.2, 0.5)]),
    **_knots("height", [(-0.1, 0.2), (0.0, 0.5), (0.2, 1.2), (0.2, 1.5), (-0.2, 0.6), (-1.0, 0.0)]),
}

_APART = Wish(0.1, 0.15, 0.01, 2.0)  # [m] of step width: narrower, a foot passes through the other leg
_WISHES: Mapping[str, Wish] = {**WALK, "step_width": _APART}
_LESS = ("strike_pitch", "toe_off_pitch", "double_support", "stance_knee", "first_peak", "work", "tremble", "slip")
OTHER_WISHES: Mapping[str, Wish] = {name: _WISHES[name] for name in (*_LESS, "asymmetry", "drift", "step_width")}


def objectives(speed: float) -> list[GaitObjective]:
    """Costs of the walk at its ordinary speed [m/s], pushed or not, and at other speeds."""
    ordinary = GaitObjective(
        speed, wishes=_WISHES, pushes=((180.0, 0.0), (-130.0, 0.0), (0.0, 130.0)), tried=1, push_weight=0.3,
        after_push=4.0, replicas=1, settle=4.5, measured=2.5, timestep=_TIMESTEP, commands={"speed": speed},
        pushed_at=_PUSHED_AT,
    )  # fmt: skip
    others = [
        GaitObjective(
            other, wishes=OTHER_WISHES, pushes=(), replicas=1, settle=4.0, measured=2.0, timestep=_TIMESTEP,
            commands={"speed": other}, weight=0.4,
        )
        for other in (speed + difference for difference in OTHERS)
    ]  # fmt: skip
    return [ordinary, *others]


def search_walk(
    begin: Skill,
    speed: float,
    *,
    generations: int = 40,
    sigma: float = 0.08,
    seed: int = 0,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
) -> TuningResult:
    """Search for the parameters of the walk by CMA-ES and return the search's mean.

    Args:
        begin: a skill with a stride whose curves have as many knots as `BOUNDS` names, as `biped/walk`.
        speed: of its ordinary walk [m/s].
        generations: how long to search.
        sigma: first step size as a share of each range.
        seed: of the search.
        threads: 0 is all cores.
        checkpoint: file from which a stopped search resumes.
        report: called after every generation with its number and the best cost so far.

    Raises:
        CommandError: the skill has no stride.
    """
    if getattr(begin.parameters, "stride", None) is None:
        raise CommandError(f"{begin.full_name} has no stride: begin with a style that has one, as biped/walk")
    return tune(
        begin, BOUNDS, objectives(speed), generations=generations, popsize=CANDIDATES, sigma=sigma, seed=seed,
        threads=threads, checkpoint=checkpoint, keep_mean=True, report=report,
    )  # fmt: skip


STYLE_BOUNDS: Mapping[str, tuple[float, float]] = {
    "step_time": (0.42, 0.62),
    "step_width": (0.1, 0.2),
    "stride.step_time": (0.95, 1.4),
    "stride.drag": (0.05, 0.9),
    "stride.loss": (0.0, 0.4),
    "stride.alpha": (-0.12, 0.12),
    "stride.push_force": (0.8, 2.2),
    "stride.knee_support": (0.5, 1.4),
    "stride.yielding": (0.3, 1.0),
    "stride.double_support": (0.08, 0.3),
    "stride.step_height": (0.4, 1.2),
    "stride.knee_give": (0.0, 0.8),
    "stride.levelling": (0.0, 0.8),
    "stride.side_foresight": (0.3, 1.1),
}
_SPEED_RANGE = 0.2  # [m/s] around the speed that is asked for, in which a style may go


@dataclass(frozen=True)
class StyleObjective:
    """Cost of feet that do not roll, stamp, or hand the weight over too quickly: beyond a bar, 1 for each tolerance.

    Attributes:
        replicas: with noisy starts.
        settle: before they are measured [s].
        measured: how long they are measured [s].
        body: which walks.
    """

    replicas: int = 2
    settle: float = 7.0
    measured: float = 7.0
    body: str = "humanoid"

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate."""
        skills = [skill for skill in candidates for _ in range(self.replicas)]
        seeds = row_seeds(seed, len(candidates), self.replicas)
        population = Population(len(skills), self.body, skills, seed=seeds, threads=threads)
        noise = [seeded_generator(seed, "style", k) for _ in candidates for k in range(self.replicas)]
        perturb_population(population, noise)
        population.run(self.settle, stop_fallen=True)
        costs = []
        for skill, signals in zip(skills, record_signals(population, self.measured), strict=True):
            try:
                costs.append(_FELL if signals is None else self.cost_of_card(gait_card(signals), skill))
            except SurefootError:  # it stands, or hops
                costs.append(_FELL)
        return np.asarray(np.reshape(costs, (len(candidates), -1)).mean(axis=1))

    def cost_of_card(self, card: GaitCard, skill: Skill) -> float:
        """Cost of what a card says of a style."""
        off = sum(max(0.0, low - value, value - high) / tolerance
                  for name, (low, high, tolerance) in _STYLE_BARS.items()
                  for value in [getattr(card, name)])  # fmt: skip
        return off + max(0.0, abs(card.speed - skill.parameters.speed) - _FREE_SPEED) / _SPEED_TOLERANCE  # type: ignore[no-any-return]


_FELL = 12.0
_FREE_SPEED, _SPEED_TOLERANCE = 0.08, 0.33  # [m/s]
# lowest and highest value with a margin to the bars that judge it, and the tolerance; angles in degrees, else SI units
_STYLE_BARS: Mapping[str, tuple[float, float, float]] = {
    "strike_pitch": (10.0, np.inf, 5.0),
    "toe_off_pitch": (-np.inf, -38.0, 8.0),
    "double_support": (0.13, 0.26, 0.04),
    "first_peak": (0.0, 1.32, 0.15),
    "score": (0.0, 11.0, 10.0),
    "slip": (0.0, 0.02, 0.05),
    "pelvis_turn": (0.0, 26.0, 10.0),  # a search found long steps by twisting the pelvis
    "step_width": (0.09, 0.2, 0.03),  # narrower, a foot passes through the other leg
}


def search_style(
    style: Skill,
    speed: float,
    *,
    generations: int = 14,
    sigma: float = 0.1,
    seed: int = 0,
    threads: int = 0,
    checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
) -> TuningResult:
    """Search for the pace and the stride of a style, without a change of its curves; the search's mean is kept.

    Args:
        style: a skill of GENBICON; one without a stride begins with the ordinary walk's.
        speed: about how fast it shall go [m/s]; the search may change it by 0.2.
        generations: how long to search.
        sigma: first step size as a share of each range.
        seed: of the search.
        threads: 0 is all cores.
        checkpoint: file from which a stopped search resumes.
        report: called after every generation with its number and the best cost so far.
    """
    document: dict[str, Any] = style.model_dump(by_alias=True, exclude_unset=True)
    given = document["parameters"]
    given["speed"] = speed
    if given.get("stride") is None:
        given |= {"stride": {}, "step_time": 0.5, "step_width": 0.15}  # those of the ordinary walk
    bounds = {"speed": (speed - _SPEED_RANGE, speed + _SPEED_RANGE), **STYLE_BOUNDS}
    return tune(
        validate(document, f"{style.full_name} with a stride"), bounds, [StyleObjective()], generations=generations,
        popsize=CANDIDATES, sigma=sigma, seed=seed, threads=threads, checkpoint=checkpoint, keep_mean=True,
        report=report,
    )  # fmt: skip
