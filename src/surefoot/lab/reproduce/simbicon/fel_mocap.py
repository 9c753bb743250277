"""§7.2: feedback-error learning on captured walks: torques are learned, gains are halved, the motion gets smoother.

Every tracked torque is learned, of the legs too: feedback and feed-forward are the norms over all joints, over the
swing thigh's and the torso's torque vectors. Balance feedback is not learned. As tracking alone needs high gains, it
begins with those of the skill × 1.3; what is halved afterwards are these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.characters import load as load_character
from surefoot.controllers.imitation.parameters import Cycle
from surefoot.controllers.simbicon.slot import body_gains, merge_gain
from surefoot.engine.population import Population
from surefoot.lab.clip_skills import read_gait_clip, untuned_skills
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.simbicon.gaits import human, missing
from surefoot.lab.tracking_error import FPS, BodyPoses, Frames, measure_tracking
from surefoot.motions.clip_reading import ClipSource
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

WALKS = ("captured-in-place", "captured-forward", "captured-backwards")
_STIFF, _SOFT = 1.3, 0.5  # of the gains, while it learns and afterwards
_BIN, _RATE, _CYCLES = 0.01, 0.1, 26  # [s]; α; cycles it learns for
_DISPLACES = 0.9  # share of the error that targets are displaced by: with all of it they drift away from the clip
_SETTLE, _JUDGED, _WALKS = 8.0, 20.0, 60.0  # [s]
REPLICAS = 3
_FALLS, _RISES = 0.8, 1.0  # share by which the feedback's must fall; [deg] by which the error may rise
_STEP = 1.2 * 0.5  # of a cycle that the bins of a step cover


@dataclass(frozen=True)
class Seen:
    """A stretch of walking: feedback's share of the tracking torque, joint error [deg], mean squared jerk."""

    share: float
    error: float
    jerk: float


def run(result: Result, setting: Setting) -> None:
    """The walk in place has the bars; what the others do is shown."""
    for name in setting.each(WALKS[: 1 if setting.quick else None]):
        walk = human(name)
        if walk is None:
            missing(result, name, "learns", name)
        elif name == WALKS[0]:
            _learns(result, setting, walk)
        else:
            aside = Result(result.experiment, result.paper)
            _learns(aside, setting, walk)
            result.partial |= aside.partial
            for row in aside.rows:
                result.add_note(row.case, row.ours, row.unit)


def _learns(result: Result, setting: Setting, walk: Skill) -> None:
    cycle = walk.parameters.cycle
    path = find_clip(setting, getattr(walk, "clip", ""))
    original = (
        untuned_skills(read_gait_clip(ClipSource(path, in_place=getattr(walk, "in_place", False))), walk.name)[1]
        if path
        else cycle
    )
    bins = max(2, round(_STEP * cycle.period / _BIN))
    learner = with_parameters(stiffened(walk, _STIFF), {
        "learning.bins": bins, "learning.rate": 0.0, "learning.limit": 0.5, "displaces": _DISPLACES,
        "reaction.softness": 1.0,
    })  # fmt: skip
    population = Population(REPLICAS, skill=learner, seed=setting.seed)
    perturb_population(population, [seeded_generator(setting.seed, "fel mocap", k) for k in range(REPLICAS)])
    judged = 4.0 if setting.quick else _JUDGED
    population.run(_SETTLE)
    before = _look(population, original, judged)
    _set(population, with_parameters(learner, {"learning.rate": _RATE}))
    population.run((2 if setting.quick else _CYCLES) * cycle.period)
    _set(population, with_parameters(learner, {"reaction.softness": _SOFT}))
    population.run(_SETTLE)
    after = _look(population, original, judged)
    after_soft = _SETTLE + judged + 1.0 if setting.quick else _WALKS
    population.run(after_soft - _SETTLE - judged)
    up = np.isinf(population.fallen_at)
    for k, (one, two) in enumerate(zip(before, after, strict=True)):
        result.runs.append({
            "skill": walk.name, "replica": k, "share_before": one.share, "share_after": two.share,
            "error_before": one.error, "error_after": two.error, "jerk_before": one.jerk, "jerk_after": two.jerk,
            "stands": bool(up[k]),
        })  # fmt: skip
    fall = [1.0 - two.share / one.share for one, two in zip(before, after, strict=True)]
    rise = [two.error - one.error for one, two in zip(before, after, strict=True)]
    rough = [two.jerk / one.jerk for one, two in zip(before, after, strict=True)]
    stands, kept, label = bool(up.all()), int(up.sum()), walk.name
    result.add_row(f"{label}: feedback's share of the tracking torque", "low-gain control",
                   f"{100 * before[0].share:.0f} % → {100 * max(two.share for two in after):.0f} %",
                   f"in the worst of {REPLICAS} replicas (falls by ≥ {100 * _FALLS:.0f} %)",
                   stands and min(fall) >= _FALLS)  # fmt: skip
    result.add_row(f"{label}: gains × {_SOFT:g} afterwards", "lower gains",
                   f"{kept} of {REPLICAS} walk {after_soft:g} s", "replicas", stands)  # fmt: skip
    errors = f"{before[int(np.argmax(rise))].error:.2f}° → {after[int(np.argmax(rise))].error:.2f}°"
    if path is None:
        result.add_missing(f"{label}: joint error against the clip's own cycle")
        result.add_note(f"{label}: joint error against the cycle in the skill", errors, "in the worst replica")
    else:
        result.add_row(f"{label}: joint error against the clip's own cycle", "", errors,
                       f"in the worst replica (rises by ≤ {_RISES:g}°)", stands and max(rise) <= _RISES)  # fmt: skip
    result.add_row(f"{label}: roughness (mean squared jerk)", "smoother", f"× {max(rough):.2f}",
                   "in the worst replica (falls)", stands and max(rough) < 1.0)  # fmt: skip


def stiffened(walk: Skill, share: float) -> Skill:
    """The same skill with other gains of all joints and of the torso; balance torques of the stance leg stay."""
    table = load_character(walk.character)
    values: dict[str, float] = {}
    for role, gain in zip(table.anatomy.roles, body_gains(walk, table), strict=True):
        kind = table.anatomy.kind(role)
        values |= {f"gains.{kind}.kp": share * gain.kp, f"gains.{kind}.kd": share * gain.kd}
    torso = merge_gain(table.torso_gain, walk.parameters.torso_gain, table.strength)
    values |= {"torso_gain.kp": share * torso.kp, "torso_gain.kd": share * torso.kd}
    for role, (cd, cv) in walk.parameters.feedback.items():
        values |= {f"feedback.{role}.0": cd / share, f"feedback.{role}.1": cv / share}
    return with_parameters(walk, values)


def _set(population: Population, skill: Skill) -> None:
    for row in population.rows:
        population.scene.fill(row, int(row.header[0].active), skill)


def _look(population: Population, cycle: Cycle, seconds: float) -> list[Seen]:
    """What every row does in the next seconds."""
    body, qpos, reports = BodyPoses(population.scene), [], []
    for _ in range(round(seconds * FPS)):
        population.run(1.0 / FPS)
        qpos.append(population.qpos.copy())
        reports.append(population.reports)
    told, poses, time = np.array(reports), np.array(qpos), np.arange(len(qpos)) / FPS
    found = []
    for k, fallen_at in enumerate(population.fallen_at):
        frames = Frames(time, poses[:, k], told[:, k], np.inf if np.isinf(fallen_at) else 0.0)
        error = float(np.degrees(measure_tracking(frames, cycle, body, 0.0).error))
        jerk = np.diff(poses[:, k, list(body.joints.values())], 3, axis=0) * FPS**3
        feedback, learned = float(told["feedback"][:, k].mean()), float(told["feedforward"][:, k].mean())
        found.append(Seen(feedback / (feedback + learned), error, float((jerk**2).mean())))
    return found
