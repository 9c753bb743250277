"""Skills made from motion-capture clips: imitations of a gait's cycle, and stylized skills that follow a clip's frames.

`surefoot imitate` reads a clip, finds its gait cycle and searches for parameters with which the cycle walks.
`surefoot follow` makes the clip the reference of a stylized skill. Both tell what was understood of the clip.
"""

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
from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.reference_balancing import STRAIGHT, LegExtension
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import UnknownNameError
from surefoot.lab import pieces
from surefoot.lab.captured_walk_search import CapturedWalk, record_plain_walk, search_captured_walk
from surefoot.lab.imitation_search import FALLEN, HOPELESS, STAGES, Stage, imitate
from surefoot.lab.parameter_tuning import tuned_name
from surefoot.lab.reference_tracking import CLIP_TRACKING_PARAMETERS, TrackingRun, track_reference
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.tracking_error import BodyPoses, TrackingError, measure_tracking, record_frames
from surefoot.motions import clips, retargeting
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.gait_cycle import GaitCycle, describe_gait, step_in_place
from surefoot.motions.gait_search import find_gait_cycle, find_periodic_span
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills import files, library_path, load, with_parameters
from surefoot.skills.schema import Skill

_MEASURED = 5.0  # [s] after which a run is measured
_TRIAL = 10.0  # [s] that a first guess is let walk
_AWHILE = 4.0  # [s] if all replicas fall sooner, it is far from walking
_DECIMALS = 4


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
class ClipSource:
    """A clip and what the user knows better than the file.

    Attributes:
        clip: file, .bvh or .amc.
        skeleton: .asf file of an .amc clip.
        character: name of the body that shall move like it.
        in_place: whether it steps on the spot, without the clip's travel.
        scale: metres per unit of the file; None is guessed.
        up: axis of the file that points up; None is guessed.
        fps: true frames per second; None is the file's.
        knee_bias: by how much the clip's skeleton bends all knees too much [deg].
    """

    clip: Path
    skeleton: Path | None = None
    character: str = "human"
    in_place: bool = False
    scale: float | None = None
    up: str | None = None
    fps: float | None = None
    knee_bias: float = 0.0

    def corrected(self, found: RetargetedClip, table: CharacterTable) -> RetargetedClip:
        """A retargeted clip without the bias of its knees."""
        bias = float(np.radians(self.knee_bias))
        return retargeting.straighten_knees(found, table, bias) if bias else found


@dataclass(frozen=True)
class GaitClip:
    """The gait cycle of a clip on our body, and in words what was understood and what is unsure."""

    cycle: GaitCycle
    table: CharacterTable
    said: tuple[str, ...]
    unsure: tuple[str, ...]
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
            return HOPELESS if max(self.fallen_at) < _AWHILE else FALLEN + self.seconds / min(self.fallen_at)
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


def read_gait_clip(source: ClipSource) -> GaitClip:
    """Read, clean and retarget a clip and find its gait cycle.

    Args:
        source: the clip.

    Raises:
        SurefootError: the clip cannot be read, or holds no gait cycle; the message says why.
    """
    table = load_character(source.character)
    clip = clips.read_clip(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    parts, notes = find_body_parts(clip.motion)
    cleaned = clean(clip.motion, parts, fps=source.fps)
    ours = source.corrected(retargeting.retarget(cleaned.motion, parts, table), table)
    cycle = find_gait_cycle(ours, table)
    if source.in_place:
        cycle = step_in_place(cycle, table)
    said = (*clip.understood, *cleaned.understood, *ours.notes, *cycle.notes, describe_gait(cycle, table))
    return GaitClip(cycle, table, tuple(said), (*clip.unsure, *notes, *cleaned.unsure), source)


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
    population = Population(replicas, skill=skill)
    perturb_population(population, [seeded_generator(seed, "imitate", k) for k in range(replicas)])
    body, frames = BodyPoses(population.scene), record_frames(population, seconds)
    seen = [measure_tracking(f, cycle, body, min(_MEASURED, 0.3 * min(f.fallen_at, seconds))) for f in frames]
    return Walk(seconds, tuple(f.fallen_at for f in frames), tuple(seen), body.legs)


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
    return ImitationResult(
        document, measure_walk(files.validate(document, document["name"]), cycle, seconds, seed=seed)
    )


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
    return ImitationResult(document, measure_walk(files.validate(document, name), cycle, seconds, seed=seed))


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
        The skill's file as `text`, `walk_summary` as `summary`, whether it `stays_up`, and what was `said` of the clip
        and is `unsure`.
    """
    found = read_gait_clip(source)
    used = checkpoint if checkpoint and checkpoint.parent.is_dir() else None
    done = make_skill(
        found, name, credit, seconds, seed=seed, walk_speed=walk_speed, checkpoint=used, report=pieces.tell
    )
    if used is not None:
        remove_checkpoint(used)
    return {
        "text": files.text_of(done.document), "summary": walk_summary(done.walk), "stays_up": done.walk.stays_up,
        "said": found.said, "unsure": found.unsure,
    }  # fmt: skip


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


SOFTNESSES = (1e-3, 1e-2, 1e-1)  # tried one after the other until it stays up
# by body, the skill that one following a clip is made from, and the parameters that are changed
_BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "human_toes": ("human_toes/stylized-stand", CLIP_TRACKING_PARAMETERS),
    "human": ("human/stylized-stand", CLIP_TRACKING_PARAMETERS),
    "planar_arms": ("planar_arms/stylized-walk", {}),
}


@dataclass(frozen=True)
class ClipToFollow:
    """A retargeted clip, whether it loops, and in words what was understood and what is unsure."""

    found: RetargetedClip
    loops: bool
    said: tuple[str, ...]
    unsure: tuple[str, ...]
    source: ClipSource

    def reference(self, stretch: LegExtension | None = None) -> Reference:
        """The reference of the clip; `stretch` straightens bent legs."""
        scene = _scene(self.source)
        return (reference_sources.looping_reference if self.loops else reference_sources.one_shot_reference)(
            scene.model, scene.table, self.found, stretch
        )


def _scene(source: ClipSource) -> Scene:
    if source.character not in _BASES:
        raise UnknownNameError("body that follows clips", source.character, _BASES)
    return Simulation(skill=_BASES[source.character][0]).scene


def read_clip_to_follow(source: ClipSource, once: bool) -> ClipToFollow:
    """Read, clean and retarget a clip.

    Args:
        source: the clip.
        once: follow it from beginning to end, even if part of it repeats.

    Raises:
        UnknownNameError: a body that cannot follow clips.
        SurefootError: the clip cannot be read.
    """
    table = _scene(source).table
    clip = clips.read_clip(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    found = source.corrected(reference_sources.retarget_clip(clip, table), table)
    steady = None if once else find_periodic_span(found, table)
    how = "it is followed once, from beginning to end" if steady is None else "a cycle of it is looped"
    return ClipToFollow(found, steady is not None, (*clip.understood, *found.notes, how), clip.unsure, source)


def make_following_skill(
    retraced: ClipToFollow, path: Path, credit: str, seconds: float, report: Callable[[str, float], None]
) -> tuple[dict[str, Any], TrackingRun]:
    """Find the straightest legs and the least softness with which a clip is followed, and write its reference.

    Args:
        retraced: the clip.
        path: file of the skill; the reference is written beside it, as .npz.
        credit: line that the clip's licence asks for.
        seconds: how long a looping clip is followed [s].
        report: called with what is tried and the share of the work.

    Returns:
        The skill's document, and how its reference was followed.
    """
    beside = path.with_suffix(".npz")
    base, settings = _BASES[retraced.source.character]
    tries = [(stretch, softness) for stretch in (STRAIGHT, None) for softness in SOFTNESSES]
    for i, (stretch, softness) in enumerate(tries):
        report(f"{'straighter' if stretch else 'bent'} legs, softness {softness:g}", i / len(tries))
        reference, changes = retraced.reference(stretch), {**settings, "softness": softness}
        reference.save(beside)
        long = seconds if reference.loops else reference.duration
        followed = track_reference(with_parameters(load(base), {**changes, "reference": str(beside)}), long)
        if followed.stays_up:
            break
    document = files.read(library_path(base))[1]
    document["name"], document["summary"] = tuned_name(path), f"the clip {retraced.source.clip.stem}, followed"
    document["provenance"] = {"source": f"made of the clip {retraced.source.clip.stem} by surefoot follow"}
    document["clip"], document["credit"] = retraced.source.clip.stem, credit
    document["parameters"] |= {**changes, "reference": beside.name}
    return document, followed
