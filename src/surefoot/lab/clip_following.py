"""Stylized skills that follow a clip frame by frame (`surefoot follow`): which legs and which softness keep it up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.reference_balancing import STRAIGHT, LegExtension
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import UnknownNameError
from surefoot.lab.judging import EARLY, LOOPED, ClipTarget, Verdict, judge, target_of_clip, target_of_cycle
from surefoot.lab.parameter_tuning import tuned_name
from surefoot.lab.reference_tracking import CLIP_TRACKING_PARAMETERS
from surefoot.motions.clip_reading import ClipSource, ReadClip, read_clip_for
from surefoot.motions.findings import Findings
from surefoot.skills import files, library_path, load, with_parameters

SOFTNESSES = (1e-3, 1e-2, 1e-1)  # tried one after the other until it stays up
# by body, the skill that one following a clip is made from, and the parameters that are changed
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "human_toes": ("human_toes/stylized-stand", CLIP_TRACKING_PARAMETERS),
    "human": ("human/stylized-stand", CLIP_TRACKING_PARAMETERS),
    "planar_arms": ("planar_arms/stylized-walk", {}),
}


@dataclass(frozen=True)
class ClipToFollow:
    """A clip on a body that can follow it, and whether its best cycle is looped."""

    read: ReadClip
    loops: bool

    @property
    def how(self) -> str:
        """In words."""
        return "a cycle of it is looped" if self.loops else "it is followed once, from beginning to end"

    @property
    def target(self) -> ClipTarget:
        """What is to be gone through."""
        cycle = self.read.cycle
        return target_of_cycle(cycle) if self.loops and cycle is not None else target_of_clip(self.read.found)

    def reference(self, stretch: LegExtension | None = None) -> Reference:
        """The reference of the clip; `stretch` straightens bent legs."""
        scene = _scene(self.read.source.character)
        return (reference_sources.looping_reference if self.loops else reference_sources.one_shot_reference)(
            scene.model, scene.table, self.read.found, stretch
        )


def _scene(character: str) -> Scene:
    if character not in BASES:
        raise UnknownNameError("body that follows clips", character, BASES)
    return Simulation(skill=BASES[character][0]).scene


def read_clip_to_follow(source: ClipSource, once: bool, findings: Findings | None = None) -> ClipToFollow:
    """Read, clean and retarget a clip.

    Args:
        source: the clip.
        once: follow it from beginning to end, even if it has a gait cycle.
        findings: where to say what was understood.

    Raises:
        UnknownNameError: a body that cannot follow clips.
        SurefootError: the clip cannot be read.
    """
    findings = Findings() if findings is None else findings
    read = read_clip_for(_scene(source.character).table, source, findings)
    if read.not_cyclic is not None:
        findings.add(str(read.not_cyclic))
    clip = ClipToFollow(read, not once and read.cycle is not None)
    findings.add(clip.how)
    return clip


@dataclass(frozen=True)
class FollowingResult:
    """The document of a skill, and the judge's verdict."""

    document: dict[str, Any]
    verdict: Verdict


@dataclass(frozen=True)
class _Try:
    reference: Reference
    changes: dict[str, Any]
    verdict: Verdict
    is_whole: bool  # judged with all replicas and to the end


def make_following_skill(
    clip: ClipToFollow, path: Path, credit: str, seconds: float = LOOPED, *, seed: int = 0,
    report: Callable[[str, float], None] = lambda text, share: None,
) -> FollowingResult:  # fmt: skip
    """Find the straightest legs and the least softness with which a clip is followed, and write its reference.

    Each try is let run with one replica for a short while; the whole judgement is for those that last. Without one
    that stays up, the one that lasts longest is kept.

    Args:
        clip: to be followed.
        path: file of the skill; the reference is written beside it, as .npz.
        credit: line that the clip's licence asks for.
        seconds: how long a looping clip is followed [s].
        seed: of the disturbances.
        report: called with what is tried and the share of the work.

    Returns:
        The skill's document, which is not written, and the verdict on it.
    """
    beside, target = path.with_suffix(".npz"), clip.target
    base, settings = BASES[clip.read.source.character]
    lasts = seconds if clip.loops else target.duration
    tries = [(stretch, softness) for stretch in (STRAIGHT, None) for softness in SOFTNESSES]
    tried = list[_Try]()
    for i, (stretch, softness) in enumerate(tries):
        what = f"{'straighter' if stretch else 'bent'} legs, softness {softness:g}"
        report(f"{what}: a first look", i / len(tries))
        reference, changes = clip.reference(stretch), {**settings, "softness": softness}
        reference.save(beside)
        skill = with_parameters(load(base), {**changes, "reference": str(beside)})
        verdict = judge(skill, target, min(EARLY, lasts), replicas=1, seed=seed)
        if is_whole := verdict.stays_up:
            report(f"{what}: {lasts:.0f} s", (i + 0.5) / len(tries))
            verdict = judge(skill, target, lasts, seed=seed)
        tried.append(_Try(reference, changes, verdict, is_whole))
        if is_whole and verdict.stays_up:
            break
    best = max(tried, key=lambda one: (one.is_whole, one.verdict.lasted))
    best.reference.save(beside)
    verdict = best.verdict
    if not best.is_whole:
        report("the best of them", 1.0)
        skill = with_parameters(load(base), {**best.changes, "reference": str(beside)})
        verdict = judge(skill, target, lasts, seed=seed)
    stem, document = clip.read.source.clip.stem, files.read(library_path(base))[1]
    document["name"], document["summary"] = tuned_name(path), f"the clip {stem}, followed"
    document["provenance"] = {"source": f"made of the clip {stem} by surefoot follow", "why": str(verdict)}
    document["clip"], document["credit"] = stem, credit
    document["parameters"] |= {**best.changes, "reference": beside.name}
    return FollowingResult(document, verdict)
