"""The search that found the walks and runs of the human: what may change, where it begins, and what it costs.

A step has four states: the weight is taken over, the leg swings through, it reaches ahead, and it waits for its
footstrike. Targets, durations, balance feedback, stiffness and push-off of every state are searched for by CMA-ES with
`gait_objective` as the cost; what is kept is the mean of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from surefoot.errors import SkillError
from surefoot.lab.gait_objective import RUN, WALK, GaitObjective, SturdinessObjective
from surefoot.lab.parameter_tuning import CostFunction, TuningResult, parameter_value, tune, tuned_name
from surefoot.skills import load, with_lists, with_parameters
from surefoot.skills.files import validate, write
from surefoot.skills.schema import Skill

Kind = Literal["walk", "run"]
Ability = Literal["recovery", "uphill", "downhill"]
Bounds = Mapping[str, tuple[float, float]]

_TARGETS = {
    "swing_hip": (-0.3, 1.0), "swing_knee": (-1.6, 0.0), "swing_ankle": (-0.7, 0.6), "stance_knee": (-0.6, 0.0),
    "stance_ankle": (-0.8, 0.5),
}  # fmt: skip

WALK_BOUNDS: Bounds = {
    "states.0.duration": (0.04, 0.25),
    "states.1.duration": (0.08, 0.35),
    "states.2.duration": (0.03, 0.25),
    "states.*.torso": (-0.2, 0.1),
    "states.*.cd": (-0.2, 1.0),
    "states.*.cv": (0.0, 0.6),
    "states.*.cd_lateral": (0.0, 1.2),
    "states.*.cv_lateral": (0.0, 0.8),
    **{f"states.{i}.targets.{role}": span for i in range(4) for role, span in _TARGETS.items()},
    "states.*.targets.swing_hip_roll": (-0.12, 0.12),
    "states.0.targets.waist_yaw": (-0.25, 0.25),
    "states.2.targets.waist_yaw": (-0.25, 0.25),
    "states.3.targets.waist_yaw": (-0.25, 0.25),
    "states.2.push_off": (0.0, 0.15),
    "states.3.push_off": (0.0, 0.15),
    "states.0.trailing_push_off": (0.0, 0.15),
    **{f"states.{i}.stiffness.stance_ankle": (0.1, 2.0) for i in range(4)},
    **{f"states.{i}.stiffness.stance_knee": (0.3, 2.5) for i in (0, 1)},
    **{f"states.{i}.stiffness.swing_knee": (0.1, 2.0) for i in range(4)},
    "states.0.stiffness.swing_ankle": (0.1, 2.0),
    "gains.ankle.kp": (60.0, 500.0),
    "gains.ankle.kd": (5.0, 60.0),
    "gains.knee.kd": (10.0, 80.0),
    "gains.hip.kd": (10.0, 80.0),
    "gains.knee.kp": (150.0, 700.0),
    "gains.hip.kp": (150.0, 700.0),
    "states.*.feedback.stance_ankle.0": (-0.5, 1.0),
    "states.*.feedback.stance_ankle.1": (-0.5, 0.5),
    "states.*.feedback.stance_ankle_roll.0": (-1.0, 1.0),
    "states.*.feedback.stance_ankle_roll.1": (-0.6, 0.6),
    "ease": (0.0, 0.12),
}

_RUN_TARGETS = {
    "swing_hip": (-0.5, 1.5), "swing_knee": (-2.3, -0.1), "swing_ankle": (-0.6, 0.8), "stance_knee": (-1.6, 0.0),
    "stance_ankle": (-0.9, 0.7),
}  # fmt: skip
RUN_BOUNDS: Bounds = {
    **WALK_BOUNDS,
    "states.0.duration": (0.03, 0.2),
    "states.1.duration": (0.03, 0.2),
    "states.2.duration": (0.02, 0.2),
    "states.*.torso": (-0.35, 0.1),
    **{f"states.{i}.targets.{role}": span for i in range(4) for role, span in _RUN_TARGETS.items()},
    "states.1.push_off": (0.0, 0.15),
    "gains.knee.kp": (200.0, 1200.0),
    "gains.ankle.kp": (100.0, 800.0),
}

RECOVERY_BOUNDS: Bounds = {
    "recovery.ahead": (0.5, 1.3),
    "recovery.behind": (0.3, 0.9),
    "recovery.to_stance": (0.5, 1.0),
    "recovery.to_swing": (0.3, 0.9),
    "recovery.lean": (-0.35, 0.0),
    "recovery.states.0.duration": (0.08, 0.3),
    **{f"recovery.states.{i}.{name}": span for i in range(2) for name, span in {
        "cd": (0.0, 1.2), "cv": (0.0, 0.6), "cd_lateral": (-0.2, 1.0), "cv_lateral": (0.0, 0.6),
        "targets.swing_hip": (-0.1, 1.0), "targets.swing_knee": (-2.2, -0.1), "targets.swing_ankle": (-0.3, 1.2),
        "targets.stance_knee": (-0.6, 0.0), "targets.stance_ankle": (-0.4, 0.6),
        "targets.swing_hip_roll": (-0.15, 0.15),
        "feedback.stance_ankle.0": (-0.6, 0.9), "feedback.stance_ankle.1": (-0.8, 0.4),
        "feedback.stance_ankle_roll.0": (-1.5, 0.4), "feedback.stance_ankle_roll.1": (-0.8, 0.4),
        "stiffness.stance_ankle": (0.5, 2.5), "stiffness.swing_hip": (0.5, 2.5),
    }.items()},
}  # fmt: skip
SLOPE, SLOPE_DEGREES = 0.105, 6  # [rad], [deg] for which the changes by slope are searched
_BOUNDS: Mapping[Kind, Bounds] = {"walk": WALK_BOUNDS, "run": RUN_BOUNDS}


def slope_bounds(way: Literal["up", "down"]) -> Bounds:
    """Ranges of what the states change by on ground that rises or falls."""
    found: dict[str, tuple[float, float]] = {}
    for i in range(4):
        found |= {f"by_slope.{way}.{i}.targets.{role}": (-0.35, 0.35) for role in _TARGETS}
        found |= {f"by_slope.{way}.{i}.torso": (-0.25, 0.25), f"by_slope.{way}.{i}.push_off": (-0.05, 0.05)}
    return found | {f"by_slope.{way}.{i}.duration": (-0.05, 0.05) for i in range(3)}


_JOINED = ("feedback_speed", "arms.swing", "states.*.targets.swing_elbow", "states.*.targets.stance_elbow")
RATIO_FROM = 0.65  # [m/s] from which on the walk ratio of people is constant
CANDIDATES = 18  # of a generation
_SPLIT = (0.3, 0.5)  # of the first of two states: where a step of two states is cut into four


def objective(kind: Kind, speed: float) -> GaitObjective:
    """The cost of a walk or a run at a speed [m/s]."""
    if kind == "run":
        return GaitObjective(speed, RUN, pushes=((60.0, 0.0), (-60.0, 0.0), (0.0, 50.0)))
    if speed < RATIO_FROM:
        slow = {name: wish for name, wish in WALK.items() if name not in ("walk_ratio", "com_rise", "second_peak")}
        return GaitObjective(speed, slow, pushes=((40.0, 0.0), (-40.0, 0.0), (0.0, 30.0)))
    return GaitObjective(speed, WALK)


def four_states(skill: Skill) -> Skill:
    """A gait of two states a step as one of four that moves alike: the timed state is cut in three.

    Raises:
        SkillError: its steps do not have two states, the first of which is timed.
    """
    document: dict[str, Any] = skill.model_dump(by_alias=True)
    states = document["parameters"]["states"]
    if len(states) != 2 or states[0]["duration"] is None or not document["parameters"]["mirrored"]:
        raise SkillError(f"{skill.full_name}: only a mirrored step of a timed state and another is cut into four")
    cuts = (0.0, *_SPLIT, 1.0)
    parts = [{**states[0], "duration": states[0]["duration"] * (b - a)} for a, b in pairwise(cuts)]
    document["parameters"]["states"] = [*parts, states[1]]
    return validate(document, f"{skill.full_name} in four states")


def single_speed(skill: Skill, speed: float) -> Skill:
    """A gait whose numbers depend on the speed as it is at one speed [m/s]; others are returned as they are."""
    given = skill.parameters.by_speed
    if given is None:
        return skill
    values: dict[str, float | None] = {"by_speed": None, "by_slope": None, "recovery": None}
    kept = {path: own for path, own in given.values.items() if not path.startswith("recovery.")}
    values |= {path: float(np.interp(speed, given.speeds, own)) for path, own in kept.items()}
    return with_parameters(skill, values)


def find_gait(
    kind: Kind, speed: float, start: Skill, *, generations: int = 150, seed: int = 0, sigma: float = 0.02,
    threads: int = 0, checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
) -> TuningResult:  # fmt: skip
    """Search for a gait that moves as people do; the mean of the search is kept.

    Args:
        kind: `walk` or `run`.
        speed: at which it shall go [m/s].
        start: where to begin: a gait of four states a step.
        generations: how long to search.
        seed: of the search.
        sigma: first step size as a share of each range.
        threads: 0 is all cores.
        checkpoint: file that a stopped search resumes from.
        report: called after every generation with its number and the best cost so far.

    Raises:
        SkillError: the start does not have four states a step.
    """
    begin = single_speed(start, speed)
    if len(begin.parameters.states) != 4:
        raise SkillError(f"{start.full_name} has {len(begin.parameters.states)} states a step; the search needs four")
    begin = with_parameters(begin, {"feedback_speed": speed})
    return tune(
        begin, _BOUNDS[kind], [objective(kind, speed)], generations=generations, seed=seed, sigma=sigma,
        popsize=CANDIDATES, threads=threads, checkpoint=checkpoint, keep_mean=True, report=report,
    )  # fmt: skip


def find_ability(
    ability: Ability, speed: float, start: Skill, *, generations: int = 100, seed: int = 0, sigma: float = 0.04,
    threads: int = 0, checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda generation, best: None,
) -> TuningResult:  # fmt: skip
    """Search for what a gait of several speeds needs beside its cycle; the mean of the search is kept.

    Args:
        ability: `recovery` from pushes and unseen steps down, or a slope of ± 6° walked `uphill` or `downhill`.
        speed: at which it is tried [m/s].
        start: a gait with `by_speed`; what it lacks begins with `human/robust-walk`'s steps, or with no change.
        generations: how long to search.
        seed: of the search.
        sigma: first step size as a share of each range.
        threads: 0 is all cores.
        checkpoint: file that a stopped search resumes from.
        report: called after every generation with its number and the best cost so far.

    Raises:
        SkillError: the start has no `by_speed`.
    """
    begin = _with_abilities(start)
    objectives: list[CostFunction]
    if ability == "recovery":
        pushes = (*[(210.0, 0.0)] * 3, (-130.0, 0.0), (0.0, 130.0), (0.0, 130.0))
        bounds = RECOVERY_BOUNDS
        objectives = [
            SturdinessObjective(speed, pushes, seconds=8.0),
            SturdinessObjective(speed, ground="steps:{edge},-0.04", replicas=3, seconds=6.0, weight=0.6),
        ]
    else:
        bounds = slope_bounds("up" if ability == "uphill" else "down")
        angle = SLOPE_DEGREES if ability == "uphill" else -SLOPE_DEGREES
        objectives = [SturdinessObjective(speed, ground=f"slope:{angle},{{edge}}", replicas=4, seconds=12.0)]
    return tune(
        begin, bounds, objectives, generations=generations, seed=seed, sigma=sigma, popsize=CANDIDATES,
        threads=threads, checkpoint=checkpoint, keep_mean=True, report=report,
    )  # fmt: skip


def _with_abilities(skill: Skill) -> Skill:
    """A gait of several speeds with recovering steps of its own and room for changes by slope."""
    if skill.parameters.by_speed is None:
        raise SkillError(f"{skill.full_name} has no `by_speed`: join the gaits of several speeds first")
    document: dict[str, Any] = skill.model_dump(by_alias=True)
    given = document["parameters"]
    given["recovery"] = given["recovery"] or {"skill": "robust-walk"}
    if given["recovery"].get("states") is None:
        sturdier = load(f"{skill.character}/{given['recovery']['skill']}")
        given["recovery"] |= {"skill": None, "states": sturdier.model_dump(by_alias=True)["parameters"]["states"]}
    none: list[dict[str, float]] = [{} for _ in given["states"]]
    given["by_slope"] = given["by_slope"] or {"angle": SLOPE, "up": none, "down": none}
    return validate(with_lists(document), f"{skill.full_name} with abilities")


def joined(gaits: Mapping[float, Skill], usual: float) -> Skill:
    """One gait of several that were found at different speeds.

    Args:
        gaits: of the same structure, by speed [m/s].
        usual: the speed at which it goes unless told [m/s].
    """
    speeds = sorted(gaits)
    paths = dict.fromkeys([*WALK_BOUNDS, *RUN_BOUNDS, *_JOINED])
    values = {path: [round(parameter_value(gaits[v], path), 4) for v in speeds] for path in paths}
    changing = {path: own for path, own in values.items() if len(set(own)) > 1}
    base = gaits[min(speeds, key=lambda v: abs(v - usual))]
    document: dict[str, Any] = base.model_dump(by_alias=True)
    document["parameters"]["by_speed"] = {"speeds": speeds, "usual": usual, "values": changing}
    return validate(document, f"{base.full_name} at several speeds")


def write_found(skill: Skill, path: Path) -> None:
    """Write a skill that was found as a file, its numbers rounded to four decimals."""
    document = _written(skill.model_dump(by_alias=True, exclude_defaults=True))
    document["name"] = tuned_name(path)
    document["provenance"] = {"source": f"found by surefoot find-gait, beginning with {skill.full_name}"}
    write(document, path)


def _written(node: Any) -> Any:
    """A document as it is written: without what is not given, rows of numbers on one line."""
    if isinstance(node, dict):
        kept: Any = CommentedMap({key: _written(value) for key, value in node.items() if value is not None})
        values = kept.values()
    elif isinstance(node, (list, tuple)):
        kept = values = CommentedSeq([_written(value) for value in node])
    else:
        return round(node, 4) + 0.0 if isinstance(node, float) else node
    if not any(isinstance(value, (dict, list)) for value in values):
        kept.fa.set_flow_style()
    return kept
