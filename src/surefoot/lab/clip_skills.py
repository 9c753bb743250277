"""What `surefoot imitate` does: from a stranger's clip to a skill that walks, and what was understood on the way.

What `surefoot follow` does: from a stranger's clip to a stylized skill that follows it, frame by frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.imitation.captured_gait import captured
from surefoot.controllers.imitation.parameters import Cycle
from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.foot_planting import STRAIGHT, Stretch
from surefoot.controllers.stylized.reference import Reference
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import UnknownNameError
from surefoot.lab.imitation_search import FALLS, HOPELESS, STAGES, Stage, imitate
from surefoot.lab.parameter_tuning import tuned_name
from surefoot.lab.reference_tracking import SETTINGS, Followed, follow
from surefoot.lab.replicas import disturb, generator
from surefoot.lab.tracking_error import Body, Likeness, likeness, watch
from surefoot.motions import clips, retargeting
from surefoot.motions.body_parts import parts_of
from surefoot.motions.cleaning import clean
from surefoot.motions.gait_cycle import GaitCycle, manner, treading
from surefoot.motions.gait_search import find_steady, gait_cycle
from surefoot.motions.retargeting import Retargeted
from surefoot.skills import files, library_path, load, varied
from surefoot.skills.schema import Skill

_MEASURED = 5.0  # [s] after which a run is measured
_TRIAL = 10.0  # [s] that a first guess is let walk
_AWHILE = 4.0  # [s] if all replicas fall sooner, it is far from walking
_DECIMALS = 4


@dataclass(frozen=True)
class Nearness:
    """How far a walk may be from its clip: mean joint error and a leg joint's [rad], cadence and travel as shares."""

    joints: float
    leg: float
    cadence: float
    travel: float


ALIKE = Nearness(float(np.radians(12.0)), float(np.radians(20.0)), 0.05, 0.20)


@dataclass(frozen=True)
class Source:
    """A clip and what the user knows better than the file."""

    clip: Path
    skeleton: Path | None = None  # of an .amc clip
    character: str = "human"
    in_place: bool = False
    scale: float | None = None
    up: str | None = None
    fps: float | None = None


@dataclass(frozen=True)
class Understood:
    """A clip on our body: its cycle as it was, and in words what was understood and what is unsure."""

    cycle: GaitCycle
    table: CharacterTable
    said: tuple[str, ...]
    unsure: tuple[str, ...]
    source: Source

    @property
    def followed(self) -> tuple[GaitCycle, ...]:
        """What a skill may follow: the cycle made symmetric, and as it is unless it nearly is symmetric."""
        even = self.cycle.symmetrized(self.table)
        return (even,) if self.cycle.symmetric else (self.cycle, even)


@dataclass(frozen=True)
class Walk:
    """How a skill did: of every replica when it fell, and how like its cycle it was."""

    seconds: float
    fallen_at: tuple[float, ...]
    seen: tuple[Likeness, ...]
    legs: tuple[str, ...]

    @property
    def stays_up(self) -> bool:
        """Whether no replica fell."""
        return all(at > self.seconds for at in self.fallen_at)

    def is_near(self, near: Nearness) -> bool:
        """Whether it is as near to its clip as is asked for."""
        return self._share(near) <= 1.0

    def _share(self, near: Nearness) -> float:
        """The largest of its differences from the clip by what is allowed."""
        joints, cadence = max(self.error / near.joints, self.worst_leg / near.leg), abs(self.cadence - 1.0)
        return max(joints, cadence / near.cadence, self.travel_error / near.travel)

    @property
    def is_alike(self) -> bool:
        """Whether it is as near to its clip as the paper's own imitations look."""
        return self.is_near(ALIKE)

    @property
    def unlike(self) -> float:
        """The largest of its differences from the clip by what `ALIKE` allows; after a fall more than `FALLS`."""
        if not self.stays_up:
            return HOPELESS if max(self.fallen_at) < _AWHILE else FALLS + self.seconds / min(self.fallen_at)
        return self._share(ALIKE)

    @property
    def error(self) -> float:
        """Mean joint error of the worst replica [rad]."""
        return max(seen.error for seen in self.seen)

    @property
    def worst_leg(self) -> float:
        """The largest error of a leg's joint [rad]."""
        return max(seen.worst(self.legs) for seen in self.seen)

    @property
    def cadence(self) -> float:
        """Of the clip's; of the replica that is farthest from it."""
        return max((seen.cadence for seen in self.seen), key=lambda c: abs(c - 1.0))

    @property
    def travel_error(self) -> float:
        """Of the replica that is farthest from the clip's."""
        return max(seen.travel_error for seen in self.seen)


def read_gait_clip(source: Source) -> Understood:
    """Read, clean and retarget a clip and find its cycle; what has none is refused with the reason."""
    table = load_character(source.character)
    clip = clips.read(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    parts, notes = parts_of(clip.motion)
    cleaned = clean(clip.motion, parts, fps=source.fps)
    ours = retargeting.retarget(cleaned.motion, parts, table)
    cycle = gait_cycle(ours, table)
    if source.in_place:
        cycle = treading(cycle, table)
    said = (*clip.understood, *cleaned.understood, *ours.notes, *cycle.notes, manner(cycle, table))
    return Understood(cycle, table, tuple(said), (*clip.unsure, *notes, *cleaned.unsure), source)


def begin(found: Understood, name: str, credit: str = "") -> tuple[tuple[dict[str, Any], ...], Cycle]:
    """Documents of skills that follow a clip, before they are tuned, and the cycle they are measured against."""
    about = manner(found.cycle, found.table), found.source.clip.stem, credit, found.source.in_place
    documents = tuple(captured(cycle, found.table, name, *about) for cycle in found.followed)
    own = captured(found.cycle, found.table, name, *about)
    return documents, files.validate(own, name).parameters.cycle


def improve(
    documents: Sequence[dict[str, Any]], cycle: Cycle, *, seed: int = 0, stages: tuple[Stage, ...] = STAGES,
    begin_with: Sequence[dict[str, float]] | None = None, checkpoint: Path | None = None,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> dict[str, Any]:  # fmt: skip
    """The one of some documents that a search prefers, with the numbers it has found."""
    starts = [files.validate(document, document["name"]) for document in documents]
    found = imitate(
        starts, cycle, seed=seed, stages=stages, begin_with=begin_with, checkpoint=checkpoint, report=report,
        unlike=lambda skill: walk(skill, cycle, seed=seed + 1).unlike,
    )  # fmt: skip
    kept = next(i for i, start in enumerate(starts) if start.parameters.cycle == found.parameters.cycle)
    tuned, before = found.model_dump(by_alias=True)["parameters"], documents[kept]["parameters"]
    changed = {key: _rounded(tuned[key]) for key in tuned if key not in ("cycle", "gains") and tuned[key] is not None}
    return documents[kept] | {
        "parameters": before | {k: v for k, v in changed.items() if k in before or _differs(found, k)}
    }


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


def walk(skill: Skill, cycle: Cycle, seconds: float = 60.0, replicas: int = 3, seed: int = 0) -> Walk:
    """Let a skill walk from slightly different starts and compare it with a cycle."""
    population = Population(replicas, skill=skill)
    disturb(population, [generator(seed, "imitate", k) for k in range(replicas)])
    body, frames = Body(population.scene), watch(population, seconds)
    seen = [likeness(f, cycle, body, min(_MEASURED, 0.3 * min(f.fallen_at, seconds))) for f in frames]
    return Walk(seconds, tuple(f.fallen_at for f in frames), tuple(seen), body.legs)


@dataclass(frozen=True)
class Made:
    """A skill's document and how it walked."""

    document: dict[str, Any]
    walk: Walk


def make_imitation_skill(
    documents: Sequence[dict[str, Any]], cycle: Cycle, seconds: float, *, seed: int = 0,
    stages: tuple[Stage, ...] = STAGES, begin_with: Sequence[dict[str, float]] | None = None,
    checkpoint: Path | None = None, report: Callable[[str, float], None] = lambda text, share: None,
) -> Made:  # fmt: skip
    """Let the first guess walk, and search for better numbers if it falls or is too unlike its clip."""
    document = documents[0]
    if walk(files.validate(document, document["name"]), cycle, _TRIAL, seed=seed).unlike > 1.0:
        document = improve(
            documents, cycle, seed=seed, stages=stages, begin_with=begin_with, checkpoint=checkpoint, report=report
        )
    return Made(document, walk(files.validate(document, document["name"]), cycle, seconds, seed=seed))


def forget(checkpoint: Path) -> None:
    """Remove what a finished search would be resumed from."""
    for file in checkpoint.parent.glob(f"{checkpoint.name}-*.json"):
        file.unlink(missing_ok=True)


def told(done: Walk) -> dict[str, Any]:
    """What is printed of a walk."""
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


SOFTNESSES = (1e-3, 1e-2, 1e-1)  # that are tried, one after the other, until it stays up
# what a skill that follows a clip begins with, by body, and what of it is changed
_BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "human_toes": ("human_toes/stylized-stand", SETTINGS),
    "human": ("human/stylized-stand", SETTINGS),
    "planar_arms": ("planar_arms/stylized-walk", {}),
}


@dataclass(frozen=True)
class Retraced:
    """A clip on a body, and in words what was understood and what is unsure."""

    found: Retargeted
    loops: bool
    said: tuple[str, ...]
    unsure: tuple[str, ...]
    source: Source

    def reference(self, stretch: Stretch | None = None) -> Reference:
        """What is to be followed."""
        scene = _scene(self.source)
        return (reference_sources.looped if self.loops else reference_sources.once)(
            scene.model, scene.table, self.found, stretch
        )


def _scene(source: Source) -> Scene:
    if source.character not in _BASES:
        raise UnknownNameError("body that follows clips", source.character, _BASES)
    return Simulation(skill=_BASES[source.character][0]).scene


def read_clip_to_follow(source: Source, once: bool) -> Retraced:
    """Read, clean and retarget a clip.

    Args:
        source: the clip.
        once: from beginning to end, even where something repeats itself.
    """
    table = _scene(source).table
    clip = clips.read(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    found = reference_sources.on_body(clip, table)
    steady = None if once else find_steady(found, table)
    how = "it is followed once, from beginning to end" if steady is None else "a cycle of it is looped"
    return Retraced(found, steady is not None, (*clip.understood, *found.notes, how), clip.unsure, source)


def make_following_skill(
    retraced: Retraced, path: Path, credit: str, seconds: float, report: Callable[[str, float], None]
) -> tuple[dict[str, Any], Followed]:
    """Find how straight legs may be and how softly feet have to be led, and write the reference beside a skill's file.

    Returns:
        The skill's document, whose reference is named as it lies beside it, and how it was followed.
    """
    beside = path.with_suffix(".npz")
    base, settings = _BASES[retraced.source.character]
    tries = [(stretch, softness) for stretch in (STRAIGHT, None) for softness in SOFTNESSES]
    for i, (stretch, softness) in enumerate(tries):
        report(f"{'straighter' if stretch else 'bent'} legs, softness {softness:g}", i / len(tries))
        reference, changes = retraced.reference(stretch), {**settings, "softness": softness}
        reference.save(beside)
        long = seconds if reference.loops else reference.duration
        followed = follow(varied(load(base), {**changes, "reference": str(beside)}), long)
        if followed.stays_up:
            break
    document = files.read(library_path(base))[1]
    document["name"], document["summary"] = tuned_name(path), f"the clip {retraced.source.clip.stem}, followed"
    document["provenance"] = {"source": f"made of the clip {retraced.source.clip.stem} by surefoot follow"}
    document["clip"], document["credit"] = retraced.source.clip.stem, credit
    document["parameters"] |= {**changes, "reference": beside.name}
    return document, followed
