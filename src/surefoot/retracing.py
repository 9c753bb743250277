"""What `surefoot follow` does: from a stranger's clip to a stylized skill that follows it, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError, UnknownNameError
from surefoot.imitating import Source
from surefoot.lab.reproduce.stylized.following import SETTINGS, Followed, follow
from surefoot.motions import clips
from surefoot.motions.retargeting import Retargeted
from surefoot.simulation import Simulation
from surefoot.skills import files, library_path, load, varied
from surefoot.stylized import sources
from surefoot.stylized.reference import Reference
from surefoot.tuning import tuned_name

SOFTNESSES = (1e-3, 1e-2, 1e-1)  # that are tried, one after the other, until it stays up
# what a skill that follows a clip begins with, by body, and what of it is changed
_BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "human_toes": ("human_toes/stylized-stand", SETTINGS),
    "human": ("human/stylized-stand", SETTINGS),
    "planar_arms": ("planar_arms/stylized-walk", {}),
}


@dataclass(frozen=True)
class Retraced:
    """A clip as a reference, and in words what was understood and what is unsure."""

    reference: Reference
    said: tuple[str, ...]
    unsure: tuple[str, ...]
    source: Source


def understand(source: Source, once: bool) -> Retraced:
    """Read, clean and retarget a clip, plant its feet and move its weight over them.

    Args:
        source: the clip.
        once: from beginning to end, even where something repeats itself.
    """
    if source.character not in _BASES:
        raise UnknownNameError("body that follows clips", source.character, _BASES)
    scene = Simulation(skill=_BASES[source.character][0]).scene
    clip = clips.read(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    found = sources.on_body(clip, scene.table)
    reference = None if once else _looped(scene.model, scene.table, found)
    if reference is None:
        reference = sources.once(scene.model, scene.table, found)
    how = "a cycle of it is looped" if reference.loops else "it is followed once, from beginning to end"
    said = (*clip.understood, *found.notes, f"{how}: {reference.duration:.2f} s")
    return Retraced(reference, said, clip.unsure, source)


def _looped(model: Any, table: Any, found: Retargeted) -> Reference | None:
    try:
        return sources.looped(model, table, found)
    except SurefootError:
        return None


def make(
    found: Retraced, path: Path, credit: str, seconds: float, report: Callable[[str, float], None]
) -> tuple[dict[str, Any], Followed]:
    """Write the reference beside a skill's file, and find how softly its feet have to be led.

    Returns:
        The skill's document, whose reference is named as it lies beside it, and how it was followed.
    """
    beside = path.with_suffix(".npz")
    found.reference.save(beside)
    base, settings = _BASES[found.source.character]
    seconds = seconds if found.reference.loops else found.reference.duration
    for i, softness in enumerate(SOFTNESSES):
        report(f"softness {softness:g}", i / len(SOFTNESSES))
        changes = {**settings, "softness": softness}
        followed = follow(varied(load(base), {**changes, "reference": str(beside)}), seconds)
        if followed.stays_up:
            break
    document = files.read(library_path(base))[1]
    document["name"], document["summary"] = tuned_name(path), f"the clip {found.source.clip.stem}, followed"
    document["provenance"] = {"source": f"made of the clip {found.source.clip.stem} by surefoot follow"}
    document["clip"], document["credit"] = found.source.clip.stem, credit
    document["parameters"] |= {**changes, "reference": beside.name}
    return document, followed
