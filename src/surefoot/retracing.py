"""What `surefoot follow` does: from a stranger's clip to a stylized skill that follows it, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import UnknownNameError
from surefoot.imitating import Source
from surefoot.lab.reproduce.stylized.following import SETTINGS, Followed, follow
from surefoot.motions import clips
from surefoot.motions.retargeting import Retargeted
from surefoot.motions.steady import find_steady
from surefoot.scene import Scene
from surefoot.simulation import Simulation
from surefoot.skills import files, library_path, load, varied
from surefoot.stylized import sources
from surefoot.stylized.legs import STRAIGHT, Stretch
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
    """A clip on a body, and in words what was understood and what is unsure."""

    found: Retargeted
    loops: bool
    said: tuple[str, ...]
    unsure: tuple[str, ...]
    source: Source

    def reference(self, stretch: Stretch | None = None) -> Reference:
        """What is to be followed."""
        scene = _scene(self.source)
        return (sources.looped if self.loops else sources.once)(scene.model, scene.table, self.found, stretch)


def _scene(source: Source) -> Scene:
    if source.character not in _BASES:
        raise UnknownNameError("body that follows clips", source.character, _BASES)
    return Simulation(skill=_BASES[source.character][0]).scene


def understand(source: Source, once: bool) -> Retraced:
    """Read, clean and retarget a clip.

    Args:
        source: the clip.
        once: from beginning to end, even where something repeats itself.
    """
    table = _scene(source).table
    clip = clips.read(source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps)
    found = sources.on_body(clip, table)
    steady = None if once else find_steady(found, table)
    how = "it is followed once, from beginning to end" if steady is None else "a cycle of it is looped"
    return Retraced(found, steady is not None, (*clip.understood, *found.notes, how), clip.unsure, source)


def make(
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
