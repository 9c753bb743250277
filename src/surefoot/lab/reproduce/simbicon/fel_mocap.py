"""§7.2: feedback-error learning on captured walks: torques are learned, gains are halved, the motion gets smoother.

Every tracked torque is learned, of the legs too: feedback and feed-forward are the norms over all joints, over the
swing thigh's and the torso's torque vectors. Balance feedback is neither learned nor made soft.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.imitating import Source, begin, understand
from surefoot.lab.clip_shelf import find_clip
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.likeness import FPS, Body, Frames, likeness
from surefoot.lab.reproduce.simbicon.gaits import human
from surefoot.population import Population
from surefoot.skills import varied
from surefoot.skills.imitation import Cycle
from surefoot.skills.schema import Skill

WALKS = ("captured-in-place", "captured-forward", "captured-backwards")
_BIN, _RATE, _CYCLES = 0.005, 0.1, 24  # [s]; α; cycles it learns for
_SOFT = 0.5  # of the gains
_SETTLE, _JUDGED, _WALKS = 8.0, 20.0, 60.0  # [s]
_FALLS, _RISES = 0.8, 1.0  # share by which the feedback's must fall; [deg] by which the error may rise
_STEP = 1.2 * 0.5  # of a cycle that the bins of a step cover


@dataclass(frozen=True)
class Seen:
    """A stretch of walking: feedback's share of the tracking torque, joint error [deg], mean squared jerk."""

    share: float
    error: float
    jerk: float
    fallen: bool


def run(result: Result, setting: Setting) -> None:
    """One captured walk after the other; the first is the one that rows are made of, the others too if there are."""
    names = [name for name in WALKS if human(name) is not None][: 1 if setting.quick else None]
    if not names:
        result.row("captured walks", "learn", f"there is none of human/{', human/'.join(WALKS)}", "", False)
    for i, name in enumerate(names):
        setting.progress(name, i / len(names))
        walk = human(name)
        if walk is not None:
            _learns(result, setting, walk)


def _learns(result: Result, setting: Setting, walk: Skill) -> None:
    cycle = walk.parameters.cycle
    path = find_clip(setting, getattr(walk, "clip", ""))
    original = (
        begin(understand(Source(path, in_place=getattr(walk, "in_place", False))), walk.name)[1] if path else cycle
    )
    bins = max(2, round(_STEP * cycle.period / _BIN))
    learner = varied(walk, {
        "learning.bins": bins, "learning.rate": 0.0, "learning.limit": 0.5, "reaction.softness": 1.0,
    })  # fmt: skip
    population = Population(1, skill=[learner], seed=setting.seed)
    judged = 4.0 if setting.quick else _JUDGED
    population.run(_SETTLE)
    before = _look(population, original, judged)
    _set(population, varied(learner, {"learning.rate": _RATE}))
    population.run((2 if setting.quick else _CYCLES) * cycle.period)
    _set(population, varied(learner, {"reaction.softness": _SOFT}))
    population.run(_SETTLE)
    after = _look(population, original, judged)
    population.run(1.0 if setting.quick else _WALKS - _SETTLE - judged)
    stands = bool(np.isinf(population.fallen_at[0]))
    result.runs.append({
        "skill": walk.name, "share_before": before.share, "share_after": after.share, "error_before": before.error,
        "error_after": after.error, "jerk_before": before.jerk, "jerk_after": after.jerk, "stands": stands,
    })  # fmt: skip
    label = walk.name
    result.row(
        f"{label}: feedback's share of the tracking torque", "low-gain control",
        f"{100 * before.share:.0f} % → {100 * after.share:.0f} %", f"(falls by ≥ {100 * _FALLS:.0f} %)",
        stands and after.share <= (1.0 - _FALLS) * before.share,
    )  # fmt: skip
    result.row(
        f"{label}: gains × {_SOFT:g} afterwards",
        "lower gains",
        f"{'walks' if stands else 'falls'}",
        f"{_WALKS:g} s",
        stands,
    )
    result.row(
        f"{label}: joint error against the clip's own cycle", "", f"{before.error:.2f}° → {after.error:.2f}°",
        f"(rises by ≤ {_RISES:g}°)", stands and after.error <= before.error + _RISES,
    )  # fmt: skip
    result.row(
        f"{label}: roughness (mean squared jerk)", "smoother", f"× {after.jerk / before.jerk:.2f}", "(falls)",
        stands and after.jerk < before.jerk,
    )  # fmt: skip


def _set(population: Population, skill: Skill) -> None:
    for row in population.rows:
        population.scene.fill(row, int(row.header[0].active), skill)


def _look(population: Population, cycle: Cycle, seconds: float) -> Seen:
    body, qpos, reports = Body(population.scene), [], []
    for _ in range(round(seconds * FPS)):
        population.run(1.0 / FPS)
        qpos.append(population.qpos[0].copy())
        reports.append(population.reports[0].copy())
    told, poses = np.array(reports), np.array(qpos)
    fell = bool(np.isfinite(population.fallen_at[0]))
    frames = Frames(np.arange(len(poses)) / FPS, poses, told, 0.0 if fell else np.inf)
    error = float(np.degrees(likeness(frames, cycle, body, 0.0).error))
    jerk = np.diff(poses[:, list(body.joints.values())], 3, axis=0) * FPS**3
    feedback, learned = float(told["feedback"].mean()), float(told["feedforward"].mean())
    return Seen(feedback / (feedback + learned), error, float((jerk**2).mean()), fell)
