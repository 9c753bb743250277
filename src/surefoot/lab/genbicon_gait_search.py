"""The search that found GENBICON's walk with a rolling foot: what may change, where it begins, and what it costs.

The gait is measured at the speed of an ordinary walk, where it has to look like people's, and at slower and faster
speeds, where fewer things are asked for; at the ordinary speed it is also pushed. What is kept is the mean of the
search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from surefoot.lab.gait_objective import WALK, GaitObjective, Wish
from surefoot.lab.parameter_tuning import TuningResult, tune
from surefoot.skills import load
from surefoot.skills.schema import Skill

ORDINARY = 1.3  # [m/s]
OTHERS = (0.7, 1.0, 1.6)  # [m/s]
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
    **_knots("swing_ankle", [(-0.9, -0.3), (-1.3, -0.7), (-1.1, -0.4), (-0.4, 0.3), (0.15, 0.5), (0.2, 0.5)]),
    **_knots("height", [(-0.1, 0.2), (0.0, 0.5), (0.2, 1.2), (0.2, 1.5), (-0.2, 0.6), (-1.0, 0.0)]),
}

_LESS = ("strike_pitch", "toe_off_pitch", "double_support", "stance_knee", "first_peak", "work", "tremble", "slip")
OTHER_WISHES: Mapping[str, Wish] = {name: WALK[name] for name in (*_LESS, "asymmetry", "drift", "step_width")}


def objectives(pushed: bool = True) -> list[GaitObjective]:
    """Costs of the walk at the ordinary speed, pushed or not, and at other speeds."""
    pushes = ((180.0, 0.0), (-130.0, 0.0), (0.0, 130.0)) if pushed else ()
    ordinary = GaitObjective(
        ORDINARY, pushes=pushes, tried=1, push_weight=0.3, after_push=4.0, replicas=1, settle=4.5, measured=2.5,
        timestep=_TIMESTEP,
        commands={"speed": ORDINARY}, pushed_at=_PUSHED_AT,
    )  # fmt: skip
    others = [
        GaitObjective(
            speed, wishes=OTHER_WISHES, pushes=(), replicas=1, settle=4.0, measured=2.0, timestep=_TIMESTEP,
            commands={"speed": speed}, weight=0.4,
        )
        for speed in OTHERS
    ]  # fmt: skip
    return [ordinary, *others]


def search_walk(
    begin: Skill | None = None,
    *,
    generations: int = 40,
    popsize: int = 14,
    sigma: float = 0.08,
    seed: int = 0,
    threads: int = 0,
    pushed: bool = True,
    checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
) -> TuningResult:
    """Search for the parameters of the walk by CMA-ES and return the search's mean.

    Args:
        begin: a skill with a stride whose curves have as many knots as `BOUNDS` names; by default the library's walk.
        generations: how long to search.
        popsize: candidates per generation.
        sigma: first step size as a share of each range.
        seed: of the search.
        threads: 0 is all cores.
        pushed: whether candidates are pushed too; a search that begins far off is faster without.
        checkpoint: file from which a stopped search resumes.
        report: called after every generation with its number and the best cost so far.
    """
    skill = begin or load("biped/walk")
    return tune(
        skill, BOUNDS, objectives(pushed), generations=generations, popsize=popsize, sigma=sigma, seed=seed,
        threads=threads, checkpoint=checkpoint, keep_mean=True, report=report,
    )  # fmt: skip
