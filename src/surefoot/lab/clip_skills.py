"""Imitations of a clip's gait cycle (`surefoot imitate`): first guesses, and the search for one that walks like it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.imitation.captured_gait import skill_from_gait
from surefoot.controllers.imitation.parameters import Cycle
from surefoot.errors import SurefootError
from surefoot.lab import pieces
from surefoot.lab.captured_walk_search import CapturedWalk, record_plain_walk, search_captured_walk
from surefoot.lab.imitation_search import FALLEN, STAGES, Stage, imitate
from surefoot.lab.judging import ClipTarget, Verdict, disturbed_runs, verdict_on
from surefoot.lab.tracking_error import TrackingError, cycle_angles, measure_tracking
from surefoot.motions.clip_reading import ClipSource, ReadClip, read_clip_for
from surefoot.motions.findings import Findings
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.gait_description import describe_gait
from surefoot.motions.gait_search import NotCyclicError
from surefoot.skills import files
from surefoot.skills.schema import Skill

_MEASURED = 5.0  # [s] after which a run is measured
_TRIAL = 10.0  # [s] that a first guess is let walk
_DECIMALS = 4
_PHASES = 100  # of a cycle, in which joints are compared


@dataclass(frozen=True)
class Tolerance:
    """How far a walk may be from its clip: mean joint error and a leg joint's [rad], cadence and travel as shares."""

    joints: float
    leg: float
    cadence: float
    travel: float

    def __str__(self) -> str:
        joints, leg = np.degrees(self.joints), np.degrees(self.leg)
        return f"≤ {joints:.0f}°, {leg:.0f}°, {100 * self.cadence:.0f} %, {100 * self.travel:.0f} %"


PAPER_TOLERANCE = Tolerance(float(np.radians(12.0)), float(np.radians(20.0)), 0.05, 0.20)


@dataclass(frozen=True)
class GaitClip:
    """The gait cycle of a clip on our body."""

    cycle: GaitCycle
    table: CharacterTable
    source: ClipSource

    @property
    def followed(self) -> tuple[GaitCycle, ...]:
        """Cycles that a skill may follow: the original, unless it is nearly symmetric, and the symmetrized one."""
        even = self.cycle.symmetrized(self.table)
        return (even,) if self.cycle.symmetric else (self.cycle, even)


@dataclass(frozen=True)
class Walk:
    """How the replicas of a skill walked: when each fell [s], and how closely it tracked the cycle."""

    seconds: float
    fallen_at: tuple[float, ...]
    seen: tuple[TrackingError, ...]
    legs: tuple[str, ...]
    judged: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        """The judge's."""
        return self.judged or Verdict(self.seconds, self.fallen_at, float("inf"))

    @property
    def stays_up(self) -> bool:
        """Whether no replica fell."""
        return all(at > self.seconds for at in self.fallen_at)

    def is_near(self, near: Tolerance) -> bool:
        """Whether it is within a tolerance of its clip."""
        return self._share(near) <= 1.0

    def _share(self, near: Tolerance) -> float:
        """The largest of its differences from the clip, as a share of what is allowed."""
        joints, cadence = max(self.error / near.joints, self.worst_leg / near.leg), abs(self.cadence - 1.0)
        return max(joints, cadence / near.cadence, self.travel_error / near.travel)

    @property
    def is_alike(self) -> bool:
        """Whether it is as near to its clip as the paper's own imitations look."""
        return self.is_near(PAPER_TOLERANCE)

    @property
    def unlike(self) -> float:
        """The largest difference from the clip, as a share of `PAPER_TOLERANCE`; more than `FALLEN` after a fall."""
        if not self.stays_up:
            return FALLEN + self.seconds / max(float(np.mean(np.minimum(self.fallen_at, self.seconds))), 0.1)
        return self._share(PAPER_TOLERANCE)

    @property
    def likeness(self) -> str:
        """How near it is to its clip, in words."""
        return (
            f"joints {np.degrees(self.error):.1f}°, worst of the legs {np.degrees(self.worst_leg):.1f}°, "
            f"cadence × {self.cadence:.3f}, travel {100 * self.travel_error:.0f} % off"
        )

    @property
    def error(self) -> float:
        """Mean joint error of the worst replica [rad]."""
        return max(seen.error for seen in self.seen)

    @property
    def worst_leg(self) -> float:
        """The largest error of a leg's joint [rad]."""
        return max(seen.worst_joint(self.legs) for seen in self.seen)

    @property
    def cadence(self) -> float:
        """Cadence as a share of the clip's, of the replica that is farthest from it."""
        return max((seen.cadence for seen in self.seen), key=lambda c: abs(c - 1.0))

    @property
    def travel_error(self) -> float:
        """Travel error of the replica that is farthest from the clip."""
        return max(seen.travel_error for seen in self.seen)


def read_gait_clip(source: ClipSource, findings: Findings | None = None) -> GaitClip:
    """Read, clean and retarget a clip and find its gait cycle.

    Args:
        source: the clip.
        findings: where to say what was understood.

    Raises:
        SurefootError: the clip cannot be read, or holds no gait cycle; the message says why.
    """
    return gait_of(
        read_clip_for(load_character(source.character), source, Findings() if findings is None else findings)
    )


def gait_of(read: ReadClip) -> GaitClip:
    """The gait cycle of a clip.

    Raises:
        NotCyclicError: it has none.
    """
    if read.cycle is None:
        raise read.not_cyclic or NotCyclicError("no gait cycle", None)
    return GaitClip(read.cycle, read.table, read.source)


def untuned_skills(found: GaitClip, name: str, credit: str = "") -> tuple[tuple[dict[str, Any], ...], Cycle]:
    """Make skills of a clip that are not tuned yet.

    Args:
        found: the clip.
        name: of the skills.
        credit: line that the clip's licence asks for.

    Returns:
        Documents of skills, one per cycle that may be followed, and the cycle they are measured against.
    """
    about = describe_gait(found.cycle, found.table), found.source.clip.stem, credit, found.source.in_place
    documents = tuple(skill_from_gait(cycle, found.table, name, *about) for cycle in found.followed)
    own = skill_from_gait(found.cycle, found.table, name, *about)
    return documents, files.validate(own, name).parameters.cycle


def tune_skill(
    documents: Sequence[dict[str, Any]], cycle: Cycle, *, seed: int = 0, stages: tuple[Stage, ...] = STAGES,
    begin_with: Sequence[dict[str, float]] | None = None, checkpoint: Path | None = None,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> dict[str, Any]:  # fmt: skip
    """Search for the parameters of captured gaits (see `imitate`); returns the best document with its new numbers."""
    starts = [files.validate(document, document["name"]) for document in documents]
    found = imitate(
        starts, cycle, seed=seed, stages=stages, begin_with=begin_with, checkpoint=checkpoint, report=report,
        unlike=lambda skill: measure_walk(skill, cycle, seed=seed + 1).unlike,
    )  # fmt: skip
    kept = next(i for i, start in enumerate(starts) if start.parameters.cycle == found.parameters.cycle)
    return _with_numbers_of(found, documents[kept], ("cycle", "gains"))


def _with_numbers_of(skill: Skill, document: dict[str, Any], kept: Sequence[str]) -> dict[str, Any]:
    """A document with the parameters of a tuned skill, but for those that are kept."""
    tuned, before = skill.model_dump(by_alias=True, exclude_none=True)["parameters"], document["parameters"]
    changed = {key: _rounded(value) for key, value in tuned.items() if key not in kept}
    return document | {"parameters": before | {k: v for k, v in changed.items() if k in before or _differs(skill, k)}}


def _differs(skill: Skill, key: str) -> bool:
    """Whether a parameter is not what it is by default."""
    declared = type(skill.parameters).model_fields[key]
    return bool(getattr(skill.parameters, key) != declared.get_default(call_default_factory=True))


def _rounded(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _rounded(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_rounded(value) for value in node]
    return round(node, _DECIMALS) if isinstance(node, float) else node


def measure_walk(skill: Skill, cycle: Cycle, seconds: float = 60.0, replicas: int = 3, seed: int = 0) -> Walk:
    """Let a skill walk from slightly different starts and compare it with a cycle.

    Args:
        skill: a captured gait.
        cycle: what it should be like.
        seconds: how long it walks [s].
        replicas: noisy starts.
        seed: of the noise.
    """
    body, frames = disturbed_runs(skill, seconds, replicas, seed)
    phases = np.arange(_PHASES) / _PHASES
    angles = {name: cycle_angles(cycle, name, phases) for name in body.joints}
    velocity = np.array(cycle.travel) / cycle.period
    judged = verdict_on(frames, body, ClipTarget(angles, cycle.period / _PHASES, True, velocity), seconds)
    seen = [measure_tracking(f, cycle, body, min(_MEASURED, 0.3 * min(f.fallen_at, seconds))) for f in frames]
    return Walk(seconds, judged.fallen_at, tuple(seen), body.legs, judged)


@dataclass(frozen=True)
class ImitationResult:
    """The document of a skill, and how the skill walked."""

    document: dict[str, Any]
    walk: Walk


def make_imitation_skill(
    documents: Sequence[dict[str, Any]], cycle: Cycle, seconds: float, *, seed: int = 0,
    stages: tuple[Stage, ...] = STAGES, begin_with: Sequence[dict[str, float]] | None = None,
    checkpoint: Path | None = None, report: Callable[[str, float], None] = lambda text, share: None,
) -> ImitationResult:  # fmt: skip
    """Let the first document walk, and search for better parameters if it falls or is too unlike its clip.

    Args:
        documents: skills to begin with, see `untuned_skills`.
        cycle: what it should be like.
        seconds: how long it must walk in the end [s].
        seed: of the search and of the replicas.
        stages: of the search.
        begin_with: parameters to begin with; by default `initial_guesses()`.
        checkpoint: a stopped search resumes from files whose names begin so.
        report: called with what is done and the share of the work.
    """
    document = documents[0]
    if measure_walk(files.validate(document, document["name"]), cycle, _TRIAL, seed=seed).unlike > 1.0:
        document = tune_skill(
            documents, cycle, seed=seed, stages=stages, begin_with=begin_with, checkpoint=checkpoint, report=report
        )
    return _measured(document, cycle, seconds, seed)


def _measured(document: dict[str, Any], cycle: Cycle, seconds: float, seed: int) -> ImitationResult:
    """The walk of a skill's document, which from now on says what the judge says."""
    walk = measure_walk(files.validate(document, document["name"]), cycle, seconds, seed=seed)
    document["provenance"] |= {"why": str(walk.verdict)}
    return ImitationResult(document, walk)


GENERATIONS = 440  # of a search by the gait card


def make_walking_skill(
    found: GaitClip, name: str, credit: str, cycle: Cycle, speed: float, seconds: float, *, seed: int = 0,
    generations: int = GENERATIONS, checkpoint: Path | None = None,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> ImitationResult:  # fmt: skip
    """Make an imitation of a clip that walks as people do, beginning with the body's plain walk.

    Args:
        found: the clip.
        name: of the skill.
        credit: line that the clip's licence asks for.
        cycle: what it is compared with in the end.
        speed: to walk at [m/s].
        seconds: how long it must walk in the end [s].
        seed: of the search and of the replicas.
        generations: of the search.
        checkpoint: a stopped search resumes from a file whose name begins so.
        report: called with what is done and the share of the work.

    Raises:
        CommandError: the body has no plain walk to begin with.
    """
    plain = record_plain_walk(found.source.character, speed)
    about = name, describe_gait(found.cycle, found.table), found.source.clip.stem, credit
    walk = CapturedWalk(plain, found.cycle.symmetrized(found.table), found.table, about)
    document = search_captured_walk(
        walk, speed, generations=generations, seed=seed, report=report,
        checkpoint=checkpoint and checkpoint.with_name(f"{checkpoint.name}-walk.json"),
    )  # fmt: skip
    return _measured(document, cycle, seconds, seed)


def make_skill(
    found: GaitClip, name: str, credit: str, seconds: float, *, seed: int = 0, walk_speed: float | None = None,
    checkpoint: Path | None = None, report: Callable[[str, float], None] = lambda text, share: None,
) -> ImitationResult:  # fmt: skip
    """Make an imitation of a clip, or one that walks as people do; see `make_imitation_skill`, `make_walking_skill`.

    Args:
        found: the clip.
        name: of the skill.
        credit: line that the clip's licence asks for.
        seconds: how long it must walk in the end [s].
        seed: of the search and of the replicas.
        walk_speed: at which it walks as people do [m/s]; None is a plain imitation.
        checkpoint: a stopped search resumes from files whose names begin so.
        report: called with what is done and the share of the work.
    """
    documents, cycle = untuned_skills(found, name, credit)
    if walk_speed is None:
        return make_imitation_skill(documents, cycle, seconds, seed=seed, checkpoint=checkpoint, report=report)
    return make_walking_skill(
        found, name, credit, cycle, walk_speed, seconds, seed=seed, checkpoint=checkpoint, report=report
    )


def imitated_clip(
    source: ClipSource, name: str, credit: str, seconds: float, seed: int, walk_speed: float | None,
    checkpoint: Path | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A piece of work: read a clip and make its skill; see `make_skill`.

    The checkpoint is used where its folder is there, which another machine may not have.

    Returns:
        What was `said` of the clip and is `unsure`; if it was `refused`, why; otherwise the skill's file as `text`,
        `walk_summary` as `summary`, and whether it `stays_up`.
    """
    findings = Findings()
    about = {"said": findings.understood, "unsure": findings.unsure}
    try:
        found = read_gait_clip(source, findings)
    except SurefootError as error:
        return about | {"refused": str(error)}
    used = checkpoint if checkpoint and checkpoint.parent.is_dir() else None
    done = make_skill(
        found, name, credit, seconds, seed=seed, walk_speed=walk_speed, checkpoint=used, report=pieces.tell
    )
    if used is not None:
        remove_checkpoint(used)
    return {
        "text": files.text_of(done.document), "summary": walk_summary(done.walk), "stays_up": done.walk.stays_up,
    } | about  # fmt: skip


def remove_checkpoint(checkpoint: Path) -> None:
    """Remove the checkpoints of a finished search."""
    for file in checkpoint.parent.glob(f"{checkpoint.name}-*.json"):
        file.unlink(missing_ok=True)


def walk_summary(done: Walk) -> dict[str, Any]:
    """A walk in words, by what is told."""
    fallen = [at for at in done.fallen_at if np.isfinite(at)]
    walked = f"{done.seconds:g} s" if not fallen else f"fell after {min(fallen):.1f} s"
    if not all(seen.strides for seen in done.seen):
        return {"walked": walked}  # there is nothing to compare
    return {
        "walked": walked,
        "joints differ by": f"{np.degrees(done.error):.1f}° on average, legs {np.degrees(done.worst_leg):.1f}° at most",
        "cadence": f"{done.cadence:.2f} of the clip's",
        "step width": f"{done.seen[0].width:.2f} m, the clip's {done.seen[0].wanted_width:.2f} m",
        "travel": f"{100 * done.travel_error:.0f} % off the clip's",
        "torso": f"{np.degrees(max(seen.tilt for seen in done.seen)):.0f}° off the clip's",
    }
